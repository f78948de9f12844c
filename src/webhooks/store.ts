/** SQL of webhooks. */
import { desc, eq, sql } from 'drizzle-orm';
import type { Tx } from '../platform/database/database.ts';
import { rawSql } from '../platform/database/raw-sql.ts';
import { HELD_FROM, IS_HELD_BY_RESTORE } from '../platform/jobs/restore-hold.ts';
import { isHeld, LAST_DATE_MS } from '../platform/jobs/store.ts';
import {
  type DeliveryRow,
  type EventRow,
  type TryRow,
  type WebhookRow,
  webhookDeliveries,
  webhookEvents,
  webhooks,
  webhookTries,
} from './tables.ts';

export type NewWebhook = Omit<WebhookRow, 'id' | 'deliveries' | 'after_event'>;

/** Adds a webhook, which gets what happens from now on. */
export function insertWebhook(tx: Tx, row: NewWebhook): WebhookRow {
  const after_event = sql<number>`(SELECT coalesce(max(id), 0) FROM webhook_events)`;
  return tx
    .insert(webhooks)
    .values({ ...row, deliveries: 0, after_event })
    .returning()
    .get();
}

export function updateWebhook(tx: Tx, id: number, changes: Partial<WebhookRow>): WebhookRow | undefined {
  return tx.update(webhooks).set(changes).where(eq(webhooks.id, id)).returning().get();
}

export function deleteWebhook(tx: Tx, id: number): void {
  tx.delete(webhooks).where(eq(webhooks.id, id)).run();
}

const byId = rawSql<WebhookRow, [number]>('SELECT * FROM webhooks WHERE id = +?', webhooks);

export function findWebhook(read: Tx, id: number): WebhookRow | null {
  return byId.get(read, id);
}

export function findWebhookByPublicId(read: Tx, public_id: string): WebhookRow | undefined {
  return read.select().from(webhooks).where(eq(webhooks.public_id, public_id)).get();
}

const ofProject = rawSql<WebhookRow, [number]>(
  'SELECT * FROM webhooks WHERE project_id = +? ORDER BY id DESC',
  webhooks,
);

/** The webhooks of a project, newest first; there are few. */
export function listWebhooks(read: Tx, project_id: number): WebhookRow[] {
  return ofProject.all(read, project_id);
}

export function listAllWebhooks(read: Tx): WebhookRow[] {
  return read.select().from(webhooks).orderBy(webhooks.id).all();
}

const listening = rawSql<{ id: number }, [number, string]>(
  `SELECT id FROM webhooks WHERE project_id = ? AND is_active = 1
     AND (types IS NULL OR EXISTS (SELECT 1 FROM json_each(types) WHERE value = ?)) LIMIT 1`,
);

/** Whether any webhook of a project listens to this. Runs for all that happens: one seek if none. */
export function isListenedTo(tx: Tx, project_id: number, type: string): boolean {
  return listening.get(tx, project_id, type) !== null;
}

/* --- Events ----------------------------------------------------------------------------------------------------- */

const addEvent = rawSql<{ id: number }, [number, string, string, string | null, number, number]>(
  `INSERT INTO webhook_events (project_id, type, body, address, is_fanned_out, created_at) VALUES (?, ?, ?, ?, ?, ?)
   RETURNING id`,
);

export function insertEvent(tx: Tx, row: Omit<EventRow, 'id'>): number {
  const { project_id, type, body, address, is_fanned_out, created_at } = row;
  return addEvent.get(tx, project_id, type, body, address, Number(is_fanned_out), created_at)?.id ?? 0;
}

const toFanOut = rawSql<Omit<EventRow, 'body'>, [number]>(
  `SELECT id, project_id, type, address, is_fanned_out, created_at FROM webhook_events
   WHERE is_fanned_out = 0 ORDER BY id LIMIT +?`,
  webhookEvents,
);

/** Events that no delivery was made of yet, oldest first. */
export function listToFanOut(read: Tx, limit: number): Omit<EventRow, 'body'>[] {
  return toFanOut.all(read, limit);
}

const fannedOut = rawSql<never, [number]>('UPDATE webhook_events SET is_fanned_out = 1 WHERE id = ?');

export function markFannedOut(tx: Tx, id: number): void {
  fannedOut.run(tx, id);
}

const bodyOf = rawSql<Pick<EventRow, 'body'>, [number]>('SELECT body FROM webhook_events WHERE id = ?');

/** What is sent of an event; null once it is forgotten. */
export function findBody(read: Tx, event_id: number): string | null {
  return bodyOf.get(read, event_id)?.body ?? null;
}

const eventsTo = rawSql<{ id: number }, [number, string, number]>(
  `SELECT id FROM webhook_events INDEXED BY webhook_events_by_address
   WHERE project_id = +?1 AND address = +?2 AND id > +?3 ORDER BY id LIMIT 500`,
);

/** Ids of events that speak of an address, behind one, in order; none once there are no more. */
export function listEventsTo(
  read: Tx,
  of: { project_id: number; address: string; behind: number },
): number[] {
  return eventsTo.all(read, of.project_id, of.address, of.behind).map(({ id }) => id);
}

/** Deletes an event, delivered or not. */
export function deleteEvent(tx: Tx, id: number): void {
  tx.delete(webhookDeliveries).where(eq(webhookDeliveries.event_id, id)).run();
  tx.delete(webhookEvents).where(eq(webhookEvents.id, id)).run();
}

/* --- Deliveries ------------------------------------------------------------------------------------------------- */

const addDelivery = rawSql<
  never,
  [string, number, number, string, string, number, number | null, number | null, string | null, number]
>(
  `INSERT INTO webhook_deliveries
     (id, webhook_id, event_id, type, status, attempts, next_at, response_status, error, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

export function insertDelivery(tx: Tx, row: DeliveryRow): void {
  const { id, webhook_id, event_id, type, status, attempts, next_at, response_status, error } = row;
  addDelivery.run(
    tx,
    id,
    webhook_id,
    event_id,
    type,
    status,
    attempts,
    next_at,
    response_status,
    error,
    row.created_at,
  );
}

const delivery = rawSql<DeliveryRow, [string]>('SELECT * FROM webhook_deliveries WHERE id = +?');

export function findDelivery(read: Tx, id: string): DeliveryRow | null {
  return delivery.get(read, id);
}

/** Deliveries of a webhook, newest first. */
export function listDeliveries(
  read: Tx,
  webhook_id: number,
  { limit, offset }: { limit: number; offset: number },
): DeliveryRow[] {
  return read
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhook_id, webhook_id))
    .orderBy(desc(webhookDeliveries.id))
    .limit(limit)
    .offset(offset)
    .all();
}

/** What an attempt, or whoever looks after it, changes of a delivery. */
export type DeliveryState = Pick<
  DeliveryRow,
  'status' | 'attempts' | 'next_at' | 'response_status' | 'error'
>;

const change = rawSql<never, [string, number, number | null, number | null, string | null, string]>(
  'UPDATE webhook_deliveries SET status = ?, attempts = ?, next_at = ?, response_status = ?, error = ? WHERE id = ?',
);

export function updateDelivery(tx: Tx, id: string, to: DeliveryState): void {
  change.run(tx, to.status, to.attempts, to.next_at, to.response_status, to.error, id);
}

const dueOf = rawSql<DeliveryRow, [number, number, number]>(
  `SELECT * FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id = +? AND next_at <= +?
   ORDER BY next_at, id LIMIT +?`,
);

/** Deliveries of a webhook that are due, longest first. */
export function listDue(read: Tx, webhook_id: number, now_ms: number, limit: number): DeliveryRow[] {
  return dueOf.all(read, webhook_id, now_ms, limit);
}

const waiting = rawSql<{ webhook_id: number; project_id: number; first_at: number }, []>(`
  WITH RECURSIVE hooks (id) AS (
    SELECT min(webhook_id) FROM webhook_deliveries WHERE status = 'waiting'
    UNION ALL
    SELECT (SELECT min(webhook_id) FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id > hooks.id)
    FROM hooks WHERE hooks.id IS NOT NULL
  )
  SELECT webhooks.id AS webhook_id, webhooks.project_id, (
    SELECT min(next_at) FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id = webhooks.id
  ) AS first_at
  FROM hooks JOIN webhooks ON webhooks.id = hooks.id WHERE webhooks.is_active = 1`);

/**
 * Active webhooks for which something waits that is not held, with when that is due: some seeks each, however
 * much waits.
 */
export function listWaiting(read: Tx): { webhook_id: number; project_id: number; first_at: number }[] {
  return waiting.all(read).filter(({ first_at }) => !isHeld(first_at));
}

const drop = rawSql<never, [string, number, number]>(
  `UPDATE webhook_deliveries SET status = 'failed', next_at = NULL, error = ?
   WHERE status = 'waiting' AND webhook_id = ? AND created_at < ?`,
);

/** Ends what has waited from before a moment. */
export function dropWaiting(tx: Tx, webhook_id: number, of: { before_ms: number; error: string }): void {
  drop.run(tx, of.error, webhook_id, of.before_ms);
}

const nextOf = rawSql<{ next_at: number | null }, [number, number]>(
  "SELECT min(next_at) AS next_at FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id = ? AND next_at > ?",
);

/** When something of a webhook falls due after a moment; null where nothing does. */
export function nextAfter(read: Tx, webhook_id: number, now_ms: number): number | null {
  return nextOf.get(read, webhook_id, now_ms)?.next_at ?? null;
}

const IS_LATE = `status = 'waiting' AND next_at <= ${LAST_DATE_MS}
  AND next_at > +? + json_extract(+?, '$[' || attempts || ']')`;
const anyLate = rawSql<{ id: string }, [number, string]>(
  `SELECT id FROM webhook_deliveries WHERE ${IS_LATE} LIMIT 1`,
);
const mendLate = rawSql<never, [number, number, string]>(
  `UPDATE webhook_deliveries SET next_at = ? WHERE ${IS_LATE}`,
);

/** Whether anything waits longer than `longest_ms` allows for its tries. Looks at all that waits. */
export function hasLate(read: Tx, now_ms: number, longest_ms: readonly number[]): boolean {
  return anyLate.get(read, now_ms, JSON.stringify(longest_ms)) !== null;
}

/** Has what waits longer than that be due now, as a clock that ran ahead for a while leaves it. */
export function mendTimes(tx: Tx, now_ms: number, longest_ms: readonly number[]): void {
  mendLate.run(tx, now_ms, now_ms, JSON.stringify(longest_ms));
}

/* --- Tries ------------------------------------------------------------------------------------------------------ */

/** Of so many deliveries of a webhook the last try is kept. */
const TRIES_KEPT = 100;

const oldestKept = rawSql<{ id: string }, [number]>(
  `SELECT id FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${TRIES_KEPT - 1}`,
);
const replaceTry = rawSql<never, [string, number, number, number, string, string, string | null, number]>(
  `INSERT OR REPLACE INTO webhook_tries (delivery_id, webhook_id, at, ms, url, headers, answer, is_inside)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const dropTry = rawSql<never, [string]>('DELETE FROM webhook_tries WHERE delivery_id = ?');
const dropTriesBehind = rawSql<never, [number, string]>(
  'DELETE FROM webhook_tries WHERE webhook_id = ? AND delivery_id < ?',
);

/** Keeps the last try of a delivery, which is null where nothing was sent, and those of the newest ones. */
export function saveTry(
  tx: Tx,
  { id, webhook_id }: Pick<DeliveryRow, 'id' | 'webhook_id'>,
  made: Omit<TryRow, 'delivery_id' | 'webhook_id'> | null,
): void {
  if (made === null) {
    dropTry.run(tx, id);
    return;
  }
  const { at, ms, url, headers, answer, is_inside } = made;
  const said = answer && JSON.stringify(answer);
  replaceTry.run(tx, id, webhook_id, at, ms, url, JSON.stringify(headers), said, Number(is_inside));
  const oldest = oldestKept.get(tx, webhook_id);
  if (oldest) dropTriesBehind.run(tx, webhook_id, oldest.id);
}

/** Null once it is no longer kept. */
export function findTry(read: Tx, delivery_id: string): TryRow | null {
  return read.select().from(webhookTries).where(eq(webhookTries.delivery_id, delivery_id)).get() ?? null;
}

const oldTries = rawSql<never, [number, number]>(
  'DELETE FROM webhook_tries WHERE delivery_id IN (SELECT delivery_id FROM webhook_tries WHERE at < ? ORDER BY at LIMIT ?)',
);

/** Deletes up to `limit` tries from before a moment, and returns how many there were. */
export function deleteOldTries(tx: Tx, before_ms: number, limit: number): number {
  return oldTries.run(tx, before_ms, limit);
}

/* --- Held by a restore ---------------------------------------------------------------------------------------------- */

const IS_HELD = `status = 'waiting' AND next_at ${IS_HELD_BY_RESTORE}`;
const heldIds = rawSql<{ id: string }, [number | null]>(
  `SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
   WHERE ${IS_HELD} AND (?1 IS NULL OR webhook_id IN (SELECT id FROM webhooks WHERE project_id = ?1))`,
);
const release = rawSql<never, [string]>(
  `UPDATE webhook_deliveries SET next_at = next_at - ${HELD_FROM} WHERE id = ? AND ${IS_HELD}`,
);
const endHeld = rawSql<never, [string, string]>(
  `UPDATE webhook_deliveries SET status = 'failed', next_at = NULL, error = ? WHERE id = ? AND ${IS_HELD}`,
);

/** What a restore holds, of one project or of all. */
export function listHeld(read: Tx, project_id: number | null): string[] {
  return heldIds.all(read, project_id).map(({ id }) => id);
}

/** Has a delivery that is held come when it is due, or was; returns whether it was held. */
export function releaseHeld(tx: Tx, id: string): boolean {
  return release.run(tx, id) > 0;
}

/** Ends a delivery that is held; returns whether it was. */
export function failHeld(tx: Tx, id: string, error: string): boolean {
  return endHeld.run(tx, error, id) > 0;
}

/* --- Forgetting ------------------------------------------------------------------------------------------------- */

const oldDeliveries = rawSql<never, [number, number]>(
  `DELETE FROM webhook_deliveries WHERE id IN
     (SELECT id FROM webhook_deliveries WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
);
const oldEvents = rawSql<never, [number, number]>(
  `DELETE FROM webhook_events WHERE id IN
     (SELECT id FROM webhook_events WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
);

/** Deletes up to `limit` deliveries and as many events from before a moment. Returns how many there were. */
export function deleteOld(tx: Tx, before_ms: number, limit: number): number {
  return oldDeliveries.run(tx, before_ms, limit) + oldEvents.run(tx, before_ms, limit);
}

const lostWebhook = rawSql<{ webhook_id: number | null }, [number]>(
  'SELECT min(webhook_id) AS webhook_id FROM webhook_deliveries WHERE webhook_id > ?',
);
const someOfWebhook = rawSql<never, [number, number]>(
  'DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_id = ? LIMIT ?)',
);
const nextProject = rawSql<{ project_id: number | null }, [number]>(
  'SELECT min(project_id) AS project_id FROM webhook_events WHERE project_id > ?',
);
const someOfProject = rawSql<never, [number, number]>(
  'DELETE FROM webhook_events WHERE id IN (SELECT id FROM webhook_events WHERE project_id = ? LIMIT ?)',
);

/** The webhook behind an id of which there are deliveries, whether or not it is there itself. */
export function nextWithDeliveries(read: Tx, after_id: number): number | null {
  return lostWebhook.get(read, after_id)?.webhook_id ?? null;
}

export function deleteDeliveriesOf(tx: Tx, webhook_id: number, limit: number): number {
  return someOfWebhook.run(tx, webhook_id, limit);
}

/** The project behind an id of which there are events, whether or not it is there itself. */
export function nextWithEvents(read: Tx, after_id: number): number | null {
  return nextProject.get(read, after_id)?.project_id ?? null;
}

export function deleteEventsOf(tx: Tx, project_id: number, limit: number): number {
  return someOfProject.run(tx, project_id, limit);
}
