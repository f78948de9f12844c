/** SQL of broadcasts and of their numbers. */
import { and, asc, count, desc, eq, inArray, notInArray, type SQL, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import {
  type BroadcastRow,
  type BroadcastStatus,
  broadcastCounts,
  broadcastHours,
  broadcastLinks,
  broadcasts,
} from './tables.ts';

const byPublicId = statement((tx) =>
  tx
    .select()
    .from(broadcasts)
    .where(
      and(
        eq(broadcasts.project_id, sql.placeholder('project_id')),
        eq(broadcasts.public_id, sql.placeholder('public_id')),
      ),
    )
    .prepare(),
);

export function findBroadcast(read: Tx, project_id: number, public_id: string): BroadcastRow | undefined {
  return byPublicId(read).get({ project_id, public_id });
}

/** Of whatever project. */
export function findAnyBroadcast(read: Tx, public_id: string): BroadcastRow | undefined {
  return read.select().from(broadcasts).where(eq(broadcasts.public_id, public_id)).get();
}

/** Newest first. */
export function listBroadcastsCalled(read: Tx, project_id: number, name: string): BroadcastRow[] {
  return read
    .select()
    .from(broadcasts)
    .where(and(eq(broadcasts.project_id, project_id), eq(broadcasts.name, name)))
    .orderBy(desc(broadcasts.id))
    .all();
}

// Written out, where every mail of a broadcast passes that ends.
const byId = rawSql<BroadcastRow, [number]>('SELECT * FROM broadcasts WHERE id = ?', broadcasts);

export function findBroadcastById(read: Tx, id: number): BroadcastRow | undefined {
  return byId.get(read, id) ?? undefined;
}

interface BroadcastFilter {
  project_id: number;
  status?: BroadcastStatus | undefined;
}

function matches({ project_id, status }: BroadcastFilter): SQL | undefined {
  return and(
    eq(broadcasts.project_id, project_id),
    status === undefined ? undefined : eq(broadcasts.status, status),
  );
}

/** Newest first. */
export function listBroadcasts(
  read: Tx,
  filter: BroadcastFilter,
  page: { limit: number; offset: number },
): BroadcastRow[] {
  return read
    .select()
    .from(broadcasts)
    .where(matches(filter))
    .orderBy(desc(broadcasts.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countBroadcasts(read: Tx, filter: BroadcastFilter): number {
  if (filter.status === undefined)
    return readRowCount(read, { list: 'broadcasts', project_id: filter.project_id });
  return read.select({ n: count() }).from(broadcasts).where(matches(filter)).get()?.n ?? 0;
}

export function insertBroadcast(tx: Tx, row: Omit<BroadcastRow, 'id'>): BroadcastRow {
  return tx.insert(broadcasts).values(row).returning().get();
}

export function updateBroadcast(
  tx: Tx,
  id: number,
  changes: Partial<Omit<BroadcastRow, 'id'>>,
): BroadcastRow {
  return tx.update(broadcasts).set(changes).where(eq(broadcasts.id, id)).returning().get();
}

export function deleteBroadcast(tx: Tx, id: number): void {
  tx.delete(broadcasts).where(eq(broadcasts.id, id)).run();
}

/** A literal, so that SQLite sees that the partial index holds every row asked for. */
const IS_OPEN = sql`${broadcasts.status} IN ('scheduled', 'sending', 'paused')`;

/** Those of all projects that wait for their time, are sending or are paused. */
export function listOpen(read: Tx): BroadcastRow[] {
  return read.select().from(broadcasts).where(IS_OPEN).orderBy(asc(broadcasts.id)).all();
}

/** Those of a list. */
export function listOpenOfList(read: Tx, list_id: number): BroadcastRow[] {
  return read
    .select()
    .from(broadcasts)
    .where(and(eq(broadcasts.list_id, list_id), IS_OPEN))
    .all();
}

/** Those of all projects that are paused, but not by hand, nor as their project moved. */
export function listPausedByThemselves(read: Tx): BroadcastRow[] {
  return read
    .select()
    .from(broadcasts)
    .where(
      and(
        IS_OPEN,
        sql`${broadcasts.status} = 'paused'`,
        notInArray(broadcasts.pause_reason, ['manual', 'moved']),
      ),
    )
    .all();
}

/* --- Numbers -------------------------------------------------------------------------------------------------------- */

type Count = typeof broadcastCounts.$inferSelect;

/** Every counter of these broadcasts: they cost the same for a million recipients. */
export function listCounts(read: Tx, ids: readonly number[]): Count[] {
  if (ids.length === 0) return [];
  return read
    .select()
    .from(broadcastCounts)
    .where(inArray(broadcastCounts.broadcast_id, [...ids]))
    .all();
}

// Written out, where every mail of a broadcast passes that ends.
const waiting = rawSql<{ n: number }, [number]>(
  "SELECT n FROM broadcast_counts WHERE broadcast_id = ? AND what = 'waiting'",
);

/** How many of its mails wait for their relay. */
export function countWaiting(read: Tx, id: number): number {
  return waiting.get(read, id)?.n ?? 0;
}

/** How many had their turn. */
export function countDecided(read: Tx, id: number): number {
  const counted = read
    .select({ n: sql<number>`coalesce(sum(${broadcastCounts.n}), 0)` })
    .from(broadcastCounts)
    .where(
      and(
        eq(broadcastCounts.broadcast_id, id),
        sql`(${broadcastCounts.what} IN ('waiting', 'sent', 'lost') OR ${broadcastCounts.what} LIKE 'left\\_out:%' ESCAPE '\\')`,
      ),
    )
    .get();
  return counted?.n ?? 0;
}

const addCount = rawSql<never, [number, string, number]>(
  'INSERT INTO broadcast_counts (broadcast_id, what, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
);

/** Counts what a piece decided. */
export function addCounts(tx: Tx, id: number, counts: ReadonlyMap<string, number>): void {
  for (const [what, n] of counts) addCount.run(tx, id, what, n);
}

type Hour = typeof broadcastHours.$inferSelect;

/** What happened hour by hour, oldest first. */
export function listHours(read: Tx, id: number): Hour[] {
  return read
    .select()
    .from(broadcastHours)
    .where(eq(broadcastHours.broadcast_id, id))
    .orderBy(asc(broadcastHours.hour))
    .all();
}

type LinkCount = typeof broadcastLinks.$inferSelect;

export function listLinkCounts(read: Tx, ids: readonly number[]): LinkCount[] {
  if (ids.length === 0) return [];
  return read
    .select()
    .from(broadcastLinks)
    .where(inArray(broadcastLinks.broadcast_id, [...ids]))
    .all();
}

const addLink = rawSql<never, [number, number, number]>(
  `INSERT INTO broadcast_links (broadcast_id, position, people, clicks) VALUES (?, ?, ?, 1)
   ON CONFLICT DO UPDATE SET people = people + excluded.people, clicks = clicks + 1`,
);

/** Counts a click on a link, and whoever made it unless they had before. */
export function addClick(
  tx: Tx,
  id: number,
  { position, is_first }: { position: number; is_first: boolean },
): void {
  addLink.run(tx, id, position, Number(is_first));
}

/** Whether everybody who was on the list when it began had their turn. */
export function isDecided({ decided_to, last_contact_id }: BroadcastRow): boolean {
  return last_contact_id !== null && decided_to >= last_contact_id;
}
