/** SQL of broadcasts and of their numbers. */
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { campaignStore } from '../campaign-store.ts';
import {
  type BroadcastRow,
  type broadcastCounts,
  type broadcastHours,
  type broadcastLinks,
  broadcasts,
  broadcastVariants,
  type VariantRow,
} from './tables.ts';

/** Open are those that wait for their time, are sending, testing or paused. */
export const rows = campaignStore(
  broadcasts,
  sql`${broadcasts.status} IN ('scheduled', 'sending', 'testing', 'paused')`,
);

export const deleteBroadcast = rawRun<[id: number]>('DELETE FROM broadcasts WHERE id = ?');

const IN_ARCHIVE = "list_id = ? AND status = 'sent' AND in_archive = 1 AND title IS NOT NULL";

/** Those of a list that anybody may read, newest first. */
export const listArchived = rawAll<
  { id: string; title: string; summary: string | null; sent_at: number },
  [list_id: number, limit: number, offset: number]
>(
  `SELECT public_id AS id, title, summary, started_at AS sent_at
   FROM broadcasts INDEXED BY broadcasts_archived WHERE ${IN_ARCHIVE} ORDER BY started_at DESC, broadcasts.id DESC LIMIT +? OFFSET +?`,
);

/** One of them. */
export const findArchived = rawGet<BroadcastRow, [list_id: number, public_id: string]>(
  `SELECT * FROM broadcasts WHERE ${IN_ARCHIVE} AND public_id = ?`,
  broadcasts,
);

/** One that is to begin with the filter of a segment, as soon as its time has come or somebody resumes it. */
export const findWaitingFor = rawGet<Pick<BroadcastRow, 'public_id' | 'name'>, [segment_id: number]>(
  `SELECT public_id, name FROM broadcasts INDEXED BY broadcasts_by_segment
   WHERE segment_id = ? AND status IN ('scheduled', 'paused') AND started_at IS NULL ORDER BY id LIMIT 1`,
);

/** Gives those that have none the filter of their segment. */
export function copyFilter(tx: Tx, segment_id: number, filter: BroadcastRow['filter']): void {
  tx.update(broadcasts)
    .set({ filter })
    .where(and(eq(broadcasts.segment_id, segment_id), isNull(broadcasts.filter)))
    .run();
}

/** The templates that broadcasts of all projects name. */
export const listTemplates = rawAll<Pick<BroadcastRow, 'project_id' | 'template'>>(
  'SELECT DISTINCT project_id, template FROM broadcasts WHERE template IS NOT NULL',
);

/* --- Numbers -------------------------------------------------------------------------------------------------------- */

const countsOf = rawAll<typeof broadcastCounts.$inferSelect, [string]>(
  'SELECT * FROM broadcast_counts WHERE broadcast_id IN (SELECT value FROM json_each(?))',
);

/** Every counter of these broadcasts: they cost the same for a million recipients. */
export function listCounts(read: Tx, ids: readonly number[]) {
  return countsOf(read, JSON.stringify(ids));
}

const waiting = rawGet<{ n: number }, [number]>(
  "SELECT n FROM broadcast_counts WHERE broadcast_id = ? AND what = 'waiting'",
);

/** How many of its mails wait for their relay. */
export function countWaiting(read: Tx, id: number): number {
  return waiting(read, id)?.n ?? 0;
}

const decided = rawGet<{ n: number }, [number]>(
  `SELECT coalesce(sum(n), 0) AS n FROM broadcast_counts WHERE broadcast_id = ?
   AND (what IN ('waiting', 'sent', 'lost') OR what LIKE 'left\\_out:%' ESCAPE '\\')`,
);

/** How many had their turn. */
export function countDecided(read: Tx, id: number): number {
  return decided(read, id)?.n ?? 0;
}

const addCount = rawRun<[number, string, number]>(
  'INSERT INTO broadcast_counts (broadcast_id, what, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
);

/** Counts what a piece decided. */
export function addCounts(tx: Tx, id: number, counts: ReadonlyMap<string, number>): void {
  for (const [what, n] of counts) addCount(tx, id, what, n);
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

/** What happened hour by hour, oldest first. */
export const listHours = rawAll<typeof broadcastHours.$inferSelect, [id: number]>(
  'SELECT * FROM broadcast_hours WHERE broadcast_id = ? ORDER BY hour',
);

const linkCounts = rawAll<typeof broadcastLinks.$inferSelect, [string]>(
  'SELECT * FROM broadcast_links WHERE broadcast_id IN (SELECT value FROM json_each(?))',
);

export function listLinkCounts(read: Tx, ids: readonly number[]) {
  return linkCounts(read, JSON.stringify(ids));
}

const addLink = rawRun<[id: number, position: number, people: number]>(
  `INSERT INTO broadcast_links (broadcast_id, position, people, clicks) VALUES (?, ?, ?, 1)
   ON CONFLICT DO UPDATE SET people = people + excluded.people, clicks = clicks + 1`,
);

/** Counts a click on a link, and whoever made it unless they had before. */
export function addClick(
  tx: Tx,
  id: number,
  { position, is_first }: { position: number; is_first: boolean },
): void {
  addLink(tx, id, position, Number(is_first));
}

/* --- Variants ------------------------------------------------------------------------------------------------------- */

const variantsOf = rawAll<VariantRow, [string]>(
  `SELECT * FROM broadcast_variants WHERE broadcast_id IN (SELECT value FROM json_each(?))
   ORDER BY broadcast_id, variant`,
);

/** In the order of the plan; none before sending began. */
export function listVariants(read: Tx, ids: readonly number[]): VariantRow[] {
  return variantsOf(read, JSON.stringify(ids));
}

export function insertVariant(tx: Tx, of: Pick<VariantRow, 'broadcast_id' | 'variant' | 'source_id'>): void {
  tx.insert(broadcastVariants)
    .values({ ...of, sent: 0, untracked: 0, clicked: 0, unsubscribed: 0 })
    .run();
}
