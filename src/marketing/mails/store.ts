/** SQL of the sources of marketing mail and of where their links lead. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet } from '../../platform/database/raw-sql.ts';
import { mergeLinks, mergeSources } from './tables.ts';

const idOfHash = rawGet<{ id: number }, [number, string]>(
  'SELECT id FROM merge_sources WHERE project_id = ? AND hash = ?',
);

export function findSourceId(read: Tx, project_id: number, hash: string): number | null {
  return idOfHash(read, project_id, hash)?.id ?? null;
}

const hashOfId = rawGet<{ hash: string }, [number, number]>(
  'SELECT hash FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSourceHash(read: Tx, project_id: number, id: number): string | null {
  return hashOfId(read, id, project_id)?.hash ?? null;
}

const contentOf = rawGet<{ content: string }, [number, number]>(
  'SELECT content FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSource(read: Tx, project_id: number, id: number): string | null {
  return contentOf(read, id, project_id)?.content ?? null;
}

const untrackedOf = rawGet<{ content: string }, [number, number]>(`
    SELECT u.content FROM merge_sources s JOIN merge_sources u
      ON u.project_id = s.project_id AND u.hash = coalesce(json_extract(s.content, '$.untracked'), s.hash)
    WHERE s.id = ? AND s.project_id = ?`);

/** What those get of a source who are not tracked: of one without that, itself. Null once it is gone. */
export function findUntracked(read: Tx, project_id: number, id: number): string | null {
  return untrackedOf(read, id, project_id)?.content ?? null;
}

/** Stores a source with the targets of its links, from position 1 on; returns its id. */
export function insertSource(
  tx: Tx,
  source: Omit<typeof mergeSources.$inferSelect, 'id'>,
  links: readonly Omit<LinkRow, 'project_id'>[],
): number {
  const { id } = tx.insert(mergeSources).values(source).returning({ id: mergeSources.id }).get();
  if (links.length > 0)
    tx.insert(mergeLinks)
      .values(links.map((link, index) => ({ ...link, source_id: id, position: index + 1 })))
      .run();
  return id;
}

const namedBefore = rawAll<{ source_id: number }, [number]>(
  'SELECT source_id FROM merge_source_names WHERE former_id = ?',
);

/** Sources that had this id before their project moved here. */
export function listFormerlyNamed(read: Tx, id: number): number[] {
  return namedBefore(read, id).map(({ source_id }) => source_id);
}

/** Where a link leads, as it is stored, and whose it is. */
export type LinkRow = Pick<typeof mergeLinks.$inferSelect, 'target' | 'token_hosts' | 'utm'> & {
  project_id: number;
};

export const findLink = rawGet<LinkRow, [source_id: number, position: number]>(`
    SELECT s.project_id, l.target, l.token_hosts, l.utm FROM merge_links l JOIN merge_sources s ON s.id = l.source_id
    WHERE l.source_id = +? AND l.position = +?`);

/** The links of these sources, in the order of their positions. */
export function listLinks(read: Tx, source_ids: readonly number[]) {
  return linksOf(read, JSON.stringify(source_ids));
}
const linksOf = rawAll<Pick<typeof mergeLinks.$inferSelect, 'source_id' | 'position' | 'target'>, [string]>(
  `SELECT source_id, position, target FROM merge_links
   WHERE source_id IN (SELECT value FROM json_each(?)) ORDER BY source_id, position`,
);

/** The project of a source; null for one that is gone. */
export const findSourceOwner = rawGet<{ project_id: number }, [id: number]>(
  'SELECT project_id FROM merge_sources WHERE id = ?',
);
