/** SQL of contact lists. Their counters stand in `contact_counts`, which triggers keep. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet } from '../../platform/database/raw-sql.ts';
import { recordStore } from '../../platform/database/record-store.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { type contactCounts, contactLists, type ListRow } from './tables.ts';

export const lists = recordStore<ListRow>(contactLists);

/** A page of a project's, newest first. */
export function listLists(
  read: Tx,
  { project_id, include_archived }: { project_id: number; include_archived: boolean },
  page: { limit: number; offset: number },
): ListRow[] {
  const is_shown = include_archived ? undefined : isNull(contactLists.archived_at);
  return lists.list(read, and(eq(contactLists.project_id, project_id), is_shown), page);
}

const ids = rawAll<{ id: number }, [number]>('SELECT id FROM contact_lists WHERE project_id = ?');

/** Numeric ids of all lists of a project, archived ones too. */
export function listIds(read: Tx, project_id: number): number[] {
  return ids(read, project_id).map(({ id }) => id);
}

const confirming = rawAll<Pick<ListRow, 'from_address'>, [number]>(
  'SELECT DISTINCT from_address FROM contact_lists WHERE project_id = ? AND double_opt_in = 1 AND archived_at IS NULL',
);

/** What the confirmations of a project's lists go out from, each once; none where no list asks for any. */
export function listConfirmingAddresses(read: Tx, project_id: number): (string | null)[] {
  return confirming(read, project_id).map(({ from_address }) => from_address);
}

export function countLists(read: Tx, of: { project_id: number; include_archived: boolean }): number {
  const { project_id, include_archived } = of;
  return readRowCount(read, {
    list: 'contact_lists',
    project_id,
    ...(include_archived ? {} : { facet: 'current' }),
  });
}

const ofProject = rawGet<{ n: number }, [number]>(
  `SELECT coalesce(sum(n), 0) AS n FROM contact_lists l JOIN contact_counts c ON c.list_id = l.id AND c.tag = ''
   WHERE l.project_id = +?`,
);

/** How many contacts all lists of a project have. */
export function countContactsOfProject(read: Tx, project_id: number): number {
  return ofProject(read, project_id)?.n ?? 0;
}

const countsOf = rawAll<Pick<typeof contactCounts.$inferSelect, 'list_id' | 'status' | 'n'>, [string]>(
  `SELECT list_id, status, n FROM contact_counts
   WHERE list_id IN (SELECT value FROM json_each(?)) AND tag = ''`,
);

/** How many contacts each of these lists has, by status. Triggers count, so it costs the same for a million. */
export function countContacts(read: Tx, list_ids: readonly number[]) {
  return countsOf(read, JSON.stringify(list_ids));
}

const countWith = rawGet<{ n: number }, [list_id: number, tag: string, status: string | null]>(
  `SELECT coalesce(sum(n), 0) AS n FROM contact_counts
   WHERE list_id = ?1 AND tag = ?2 AND (?3 IS NULL OR status = ?3)`,
);

/** How many contacts a list has with a tag, a status, both or neither, by the same counters. */
export function countContactsWith(
  read: Tx,
  list_id: number,
  of: { status?: string | undefined; tag?: string | undefined },
): number {
  return countWith(read, list_id, of.tag ?? '', of.status ?? null)?.n ?? 0;
}

export interface Facet {
  name: string;
  count: number;
}

/** The custom fields or events that most contacts of a list have, most first. */
export const listFacets = rawAll<Facet, [list_id: number, kind: 'custom' | 'event', limit: number]>(
  'SELECT name, n AS count FROM contact_facets WHERE list_id = +? AND kind = +? ORDER BY n DESC, name LIMIT +?',
);

/** The tags that most contacts of a list have, whatever their status, most first. */
export const listTopTags = rawAll<Facet, [list_id: number, limit: number]>(
  `SELECT tag AS name, sum(n) AS count FROM contact_counts WHERE list_id = +? AND tag > '' AND n > 0
   GROUP BY tag ORDER BY count DESC, tag LIMIT +?`,
);

/** The lists of a project that people choose from, by name; archived ones too. */
export const listPublicLists = rawAll<ListRow, [project_id: number]>(
  'SELECT * FROM contact_lists WHERE project_id = +? AND is_public = 1 ORDER BY name, id',
  contactLists,
);
