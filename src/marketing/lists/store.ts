/** SQL of contact lists. Their counters stand in `contact_counts`, which triggers keep. */
import { and, asc, desc, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { contactCounts, contactFacets, contactLists, type ListRow } from './tables.ts';

const byId = statement((tx) =>
  tx
    .select()
    .from(contactLists)
    .where(eq(contactLists.id, sql.placeholder('id')))
    .prepare(),
);

export function findList(read: Tx, project_id: number, public_id: string): ListRow | undefined {
  const is_it = and(eq(contactLists.project_id, project_id), eq(contactLists.public_id, public_id));
  return read.select().from(contactLists).where(is_it).get();
}

/** Of whatever project. */
export function findAnyList(read: Tx, public_id: string): ListRow | undefined {
  return read.select().from(contactLists).where(eq(contactLists.public_id, public_id)).get();
}

/** Newest first. */
export function listListsCalled(read: Tx, project_id: number, name: string): ListRow[] {
  return read
    .select()
    .from(contactLists)
    .where(and(eq(contactLists.project_id, project_id), eq(contactLists.name, name)))
    .orderBy(desc(contactLists.id))
    .all();
}

export function findListById(read: Tx, id: number): ListRow | undefined {
  return byId(read).get({ id });
}

/** Newest first. */
export function listLists(
  read: Tx,
  of: { project_id: number; include_archived: boolean },
  page: { limit: number; offset: number },
): ListRow[] {
  return read
    .select()
    .from(contactLists)
    .where(
      and(
        eq(contactLists.project_id, of.project_id),
        of.include_archived ? undefined : isNull(contactLists.archived_at),
      ),
    )
    .orderBy(desc(contactLists.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

/** Numeric ids of all lists of a project, archived ones too. */
export function listIds(read: Tx, project_id: number): number[] {
  const { id, project_id: of_project } = contactLists;
  const rows = read.select({ id }).from(contactLists).where(eq(of_project, project_id)).all();
  return rows.map((row) => row.id);
}

/** What the confirmations of a project's lists go out from, each once; none where no list asks for any. */
export function listConfirmingAddresses(read: Tx, project_id: number): (string | null)[] {
  const is_asking = and(
    ...[eq(contactLists.project_id, project_id), eq(contactLists.double_opt_in, true)],
    isNull(contactLists.archived_at),
  );
  const { from_address } = contactLists;
  const rows = read.selectDistinct({ from_address }).from(contactLists).where(is_asking).all();
  return rows.map((row) => row.from_address);
}

export function countLists(read: Tx, of: { project_id: number; include_archived: boolean }): number {
  const { project_id, include_archived } = of;
  return readRowCount(read, {
    list: 'contact_lists',
    project_id,
    ...(include_archived ? {} : { facet: 'current' }),
  });
}

/** How many contacts all lists of a project have. */
export function countContactsOfProject(read: Tx, project_id: number): number {
  const counted = read
    .select({ n: sql<number>`coalesce(sum(${contactCounts.n}), 0)` })
    .from(contactLists)
    .innerJoin(contactCounts, and(eq(contactCounts.list_id, contactLists.id), eq(contactCounts.tag, '')))
    .where(eq(contactLists.project_id, project_id))
    .get();
  return counted?.n ?? 0;
}

export function insertList(tx: Tx, row: Omit<ListRow, 'id'>): ListRow {
  return tx.insert(contactLists).values(row).returning().get();
}

export function updateList(tx: Tx, id: number, changes: Partial<Omit<ListRow, 'id'>>): ListRow {
  return tx.update(contactLists).set(changes).where(eq(contactLists.id, id)).returning().get();
}

/**
 * How many contacts each of these lists has, by status. Triggers count, so it costs the same for a million.
 */
export function countContacts(
  read: Tx,
  list_ids: readonly number[],
): { list_id: number; status: string; n: number }[] {
  if (list_ids.length === 0) return [];
  return read
    .select({ list_id: contactCounts.list_id, status: contactCounts.status, n: contactCounts.n })
    .from(contactCounts)
    .where(and(inArray(contactCounts.list_id, [...list_ids]), eq(contactCounts.tag, '')))
    .all();
}

/** How many contacts a list has with a tag, a status, both or neither, by the same counters. */
export function countContactsWith(
  read: Tx,
  list_id: number,
  of: { status?: string | undefined; tag?: string | undefined },
): number {
  const counted = read
    .select({ n: sql<number>`coalesce(sum(${contactCounts.n}), 0)` })
    .from(contactCounts)
    .where(
      and(
        eq(contactCounts.list_id, list_id),
        eq(contactCounts.tag, of.tag ?? ''),
        of.status === undefined ? undefined : eq(contactCounts.status, of.status),
      ),
    )
    .get();
  return counted?.n ?? 0;
}

export interface Facet {
  name: string;
  count: number;
}

/** The custom fields or events that most contacts of a list have, most first. */
export function listFacets(
  read: Tx,
  of: { list_id: number; kind: 'custom' | 'event' },
  limit: number,
): Facet[] {
  const { list_id, kind, name, n } = contactFacets;
  return read
    .select({ name, count: n })
    .from(contactFacets)
    .where(and(eq(list_id, of.list_id), eq(kind, of.kind)))
    .orderBy(desc(n), asc(name))
    .limit(limit)
    .all();
}

/** The tags that most contacts of a list have, whatever their status, most first. */
export function listTopTags(read: Tx, list_id: number, limit: number): Facet[] {
  const { tag, n } = contactCounts;
  const count = sql<number>`sum(${n})`;
  return read
    .select({ name: tag, count })
    .from(contactCounts)
    .where(and(eq(contactCounts.list_id, list_id), gt(tag, ''), gt(n, 0)))
    .groupBy(tag)
    .orderBy(desc(count), asc(tag))
    .limit(limit)
    .all();
}

/** The lists of a project that people choose from, by name; archived ones too. */
export function listPublicLists(read: Tx, project_id: number): ListRow[] {
  return read
    .select()
    .from(contactLists)
    .where(and(eq(contactLists.project_id, project_id), eq(contactLists.is_public, true)))
    .orderBy(contactLists.name, contactLists.id)
    .all();
}
