/** SQL of broadcasts and of their numbers. */
import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { campaignStore } from '../campaign-store.ts';
import {
  type BroadcastRow,
  broadcastCounts,
  broadcastHours,
  broadcastLinks,
  broadcasts,
  broadcastVariants,
  type VariantRow,
} from './tables.ts';

/** Open are those that wait for their time, are sending, testing or paused. */
export const rows = campaignStore(
  broadcasts,
  sql`${broadcasts.status} IN ('scheduled', 'sending', 'testing', 'paused')`,
);

export function deleteBroadcast(tx: Tx, id: number): void {
  tx.delete(broadcasts).where(eq(broadcasts.id, id)).run();
}

const waitingFor = rawSql<Pick<BroadcastRow, 'public_id' | 'name'>, [number]>(
  `SELECT public_id, name FROM broadcasts INDEXED BY broadcasts_by_segment
   WHERE segment_id = ? AND status IN ('scheduled', 'paused') AND started_at IS NULL ORDER BY id LIMIT 1`,
);

/** One that is to begin with the filter of a segment, as soon as its time has come or somebody resumes it. */
export function findWaitingFor(
  read: Tx,
  segment_id: number,
): Pick<BroadcastRow, 'public_id' | 'name'> | null {
  return waitingFor.get(read, segment_id);
}

/** Gives those that have none the filter of their segment. */
export function copyFilter(tx: Tx, segment_id: number, filter: BroadcastRow['filter']): void {
  tx.update(broadcasts)
    .set({ filter })
    .where(and(eq(broadcasts.segment_id, segment_id), isNull(broadcasts.filter)))
    .run();
}

/** The templates that broadcasts of all projects name. */
export function listTemplates(read: Tx): { project_id: number; template: string | null }[] {
  const { project_id, template } = broadcasts;
  return read.selectDistinct({ project_id, template }).from(broadcasts).where(isNotNull(template)).all();
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

/** The counters of an A/B's draw: who was in it, and who got each variant. They are in no stats. */
const SEEN = 'share';
const gotOf = (place: number): string => `share:${place}`;

/** What the draw of a share came to. */
export interface Drawn {
  /** People who were in it: those who are to get a mail, now or as the rest. */
  seen: number;
  /** How many of them got each variant, by its place. */
  got: readonly number[];
}

/** Of all its pieces so far. */
export function readDrawn(read: Tx, id: number, variants: number): Drawn {
  const counted = new Map(listCounts(read, [id]).map(({ what, n }) => [what, n]));
  return {
    seen: counted.get(SEEN) ?? 0,
    got: Array.from({ length: variants }, (_, place) => counted.get(gotOf(place)) ?? 0),
  };
}

/** Counts what a piece of the draw came to. */
export function addDrawn(tx: Tx, id: number, { seen, got }: Drawn): void {
  addCounts(tx, id, new Map([[SEEN, seen], ...got.map((n, place) => [gotOf(place), n] as const)]));
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

/* --- Variants ------------------------------------------------------------------------------------------------------- */

/** In the order of the plan; none before sending began. */
export function listVariants(read: Tx, ids: readonly number[]): VariantRow[] {
  if (ids.length === 0) return [];
  return read
    .select()
    .from(broadcastVariants)
    .where(inArray(broadcastVariants.broadcast_id, [...ids]))
    .orderBy(asc(broadcastVariants.broadcast_id), asc(broadcastVariants.variant))
    .all();
}

export function insertVariant(tx: Tx, of: Pick<VariantRow, 'broadcast_id' | 'variant' | 'source_id'>): void {
  tx.insert(broadcastVariants)
    .values({ ...of, sent: 0, untracked: 0, clicked: 0, unsubscribed: 0 })
    .run();
}
