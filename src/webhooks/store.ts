/** SQL of webhooks. */
import { eq, sql } from 'drizzle-orm';
import type { Tx } from '../platform/database/database.ts';
import { rawAll, rawGet, rawHas, rawRun, rawValue, rawValues } from '../platform/database/raw-sql.ts';
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

export const deleteWebhook = rawRun<[id: number]>('DELETE FROM webhooks WHERE id = ?');

export const findWebhook = rawGet<WebhookRow, [id: number]>('SELECT * FROM webhooks WHERE id = +?', webhooks);

export const findWebhookByPublicId = rawGet<WebhookRow, [public_id: string]>(
  'SELECT * FROM webhooks WHERE public_id = ?',
  webhooks,
);

/** The webhooks of a project, newest first; there are few. */
export const listWebhooks = rawAll<WebhookRow, [project_id: number]>(
  'SELECT * FROM webhooks WHERE project_id = +? ORDER BY id DESC',
  webhooks,
);

export const listAllWebhooks = rawAll<WebhookRow>('SELECT * FROM webhooks ORDER BY id', webhooks);

/** True where any webhook of a project listens to this. Runs for all that happens: one seek if none. */
export const isListenedTo = rawHas<[project_id: number, type: string]>(
  `SELECT 1 FROM webhooks WHERE project_id = ? AND is_active = 1
     AND (types IS NULL OR EXISTS (SELECT 1 FROM json_each(types) WHERE value = ?)) LIMIT 1`,
);

/* --- Events ----------------------------------------------------------------------------------------------------- */

/** Adds an event, and returns its id. */
export const insertEvent = rawValue<number, [Omit<EventRow, 'id'>]>(
  `INSERT INTO webhook_events (project_id, type, body, address, is_fanned_out, created_at)
   VALUES (:project_id, :type, :body, :address, :is_fanned_out, :created_at) RETURNING id`,
);

/** Events that no delivery was made of yet, oldest first. */
export const listToFanOut = rawAll<Omit<EventRow, 'body'>, [limit: number]>(
  `SELECT id, project_id, type, address, is_fanned_out, created_at FROM webhook_events
   WHERE is_fanned_out = 0 ORDER BY id LIMIT +?`,
  webhookEvents,
);

export const markFannedOut = rawRun<[id: number]>('UPDATE webhook_events SET is_fanned_out = 1 WHERE id = ?');

/** The body of an event; null once it is forgotten. */
export const findBody = rawValue<string, [event_id: number]>('SELECT body FROM webhook_events WHERE id = ?');

/** Ids of events that speak of an address, behind one, in order; none once there are no more. */
export const listEventsTo = rawValues<number, [{ project_id: number; address: string; behind: number }]>(
  `SELECT id FROM webhook_events INDEXED BY webhook_events_by_address
   WHERE project_id = +:project_id AND address = +:address AND id > +:behind ORDER BY id LIMIT 500`,
);

/** Deletes an event, delivered or not. */
export function deleteEvent(tx: Tx, id: number): void {
  tx.delete(webhookDeliveries).where(eq(webhookDeliveries.event_id, id)).run();
  tx.delete(webhookEvents).where(eq(webhookEvents.id, id)).run();
}

/* --- Deliveries ------------------------------------------------------------------------------------------------- */

export const insertDelivery = rawRun<[DeliveryRow]>(
  `INSERT INTO webhook_deliveries
     (id, webhook_id, event_id, type, status, attempts, next_at, response_status, error, created_at)
   VALUES (:id, :webhook_id, :event_id, :type, :status, :attempts, :next_at, :response_status, :error, :created_at)`,
);

export const findDelivery = rawGet<DeliveryRow, [id: string]>(
  'SELECT * FROM webhook_deliveries WHERE id = +?',
);

/** Deliveries of a webhook, newest first. */
export const listDeliveries = rawAll<DeliveryRow, [{ webhook_id: number; limit: number; offset: number }]>(
  'SELECT * FROM webhook_deliveries WHERE webhook_id = +:webhook_id ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
);

/** The columns of a delivery that an attempt changes, or an operator. */
export type DeliveryState = Pick<
  DeliveryRow,
  'status' | 'attempts' | 'next_at' | 'response_status' | 'error'
>;

export const updateDelivery = rawRun<[DeliveryState & Pick<DeliveryRow, 'id'>]>(
  `UPDATE webhook_deliveries SET status = :status, attempts = :attempts, next_at = :next_at,
     response_status = :response_status, error = :error WHERE id = :id`,
);

/** Deliveries of a webhook that are due, longest first. */
export const listDue = rawAll<DeliveryRow, [webhook_id: number, now_ms: number, limit: number]>(
  `SELECT * FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id = +? AND next_at <= +?
   ORDER BY next_at, id LIMIT +?`,
);

const waiting = rawAll<{ webhook_id: number; project_id: number; first_at: number }>(`
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
  return waiting(read).filter(({ first_at }) => !isHeld(first_at));
}

/** Ends what has waited from before a moment. */
export const dropWaiting = rawRun<[{ webhook_id: number; before_ms: number; error: string }]>(
  `UPDATE webhook_deliveries SET status = 'failed', next_at = NULL, error = :error
   WHERE status = 'waiting' AND webhook_id = :webhook_id AND created_at < :before_ms`,
);

/** When something of a webhook falls due after a moment; null where nothing does. */
export const nextAfter = rawValue<number, [webhook_id: number, now_ms: number]>(
  "SELECT min(next_at) FROM webhook_deliveries WHERE status = 'waiting' AND webhook_id = ? AND next_at > ?",
);

const IS_LATE = `status = 'waiting' AND next_at <= ${LAST_DATE_MS}
  AND next_at > +? + json_extract(+?, '$[' || attempts || ']')`;
const anyLate = rawHas<[number, string]>(`SELECT 1 FROM webhook_deliveries WHERE ${IS_LATE} LIMIT 1`);
const mendLate = rawRun<[number, number, string]>(
  `UPDATE webhook_deliveries SET next_at = ? WHERE ${IS_LATE}`,
);

/** True where anything waits longer than `longest_ms` allows for its tries. Looks at all that waits. */
export function hasLate(read: Tx, now_ms: number, longest_ms: readonly number[]): boolean {
  return anyLate(read, now_ms, JSON.stringify(longest_ms));
}

/** Has what waits longer than that be due now, as a clock that ran ahead for a while leaves it. */
export function mendTimes(tx: Tx, now_ms: number, longest_ms: readonly number[]): void {
  mendLate(tx, now_ms, now_ms, JSON.stringify(longest_ms));
}

/* --- Tries ------------------------------------------------------------------------------------------------------ */

/** Of so many deliveries of a webhook the last try is kept. */
const TRIES_KEPT = 100;

const oldestKept = rawValue<string, [number]>(
  `SELECT id FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${TRIES_KEPT - 1}`,
);
const replaceTry = rawRun<[string, number, number, number, string, string, string | null, number]>(
  `INSERT OR REPLACE INTO webhook_tries (delivery_id, webhook_id, at, ms, url, headers, answer, is_inside)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const dropTry = rawRun<[string]>('DELETE FROM webhook_tries WHERE delivery_id = ?');
const dropTriesBehind = rawRun<[number, string]>(
  'DELETE FROM webhook_tries WHERE webhook_id = ? AND delivery_id < ?',
);

/** Keeps the last try of a delivery, which is null where nothing was sent, and those of the newest ones. */
export function saveTry(
  tx: Tx,
  { id, webhook_id }: Pick<DeliveryRow, 'id' | 'webhook_id'>,
  made: Omit<TryRow, 'delivery_id' | 'webhook_id'> | null,
): void {
  if (made === null) {
    dropTry(tx, id);
    return;
  }
  const { at, ms, url, headers, answer, is_inside } = made;
  const said = answer && JSON.stringify(answer);
  replaceTry(tx, id, webhook_id, at, ms, url, JSON.stringify(headers), said, Number(is_inside));
  const oldest = oldestKept(tx, webhook_id);
  if (oldest !== null) dropTriesBehind(tx, webhook_id, oldest);
}

/** Null once it is no longer kept. */
export const findTry = rawGet<TryRow, [delivery_id: string]>(
  'SELECT * FROM webhook_tries WHERE delivery_id = ?',
  webhookTries,
);

/** Deletes up to `limit` tries from before a moment, and returns how many there were. */
export const deleteOldTries = rawRun<[before_ms: number, limit: number]>(
  'DELETE FROM webhook_tries WHERE delivery_id IN (SELECT delivery_id FROM webhook_tries WHERE at < ? ORDER BY at LIMIT ?)',
);

/* --- Held by a restore ---------------------------------------------------------------------------------------------- */

const IS_HELD = `status = 'waiting' AND next_at ${IS_HELD_BY_RESTORE}`;
/** Ids of deliveries that a restore holds, of one project or of all. */
export const listHeld = rawValues<string, [project_id: number | null]>(
  `SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
   WHERE ${IS_HELD} AND (?1 IS NULL OR webhook_id IN (SELECT id FROM webhooks WHERE project_id = ?1))`,
);

const release = rawRun<[string]>(
  `UPDATE webhook_deliveries SET next_at = next_at - ${HELD_FROM} WHERE id = ? AND ${IS_HELD}`,
);
const endHeld = rawRun<[string, string]>(
  `UPDATE webhook_deliveries SET status = 'failed', next_at = NULL, error = ? WHERE id = ? AND ${IS_HELD}`,
);

/** Has a delivery that is held come when it is due, or was; returns whether it was held. */
export function releaseHeld(tx: Tx, id: string): boolean {
  return release(tx, id) > 0;
}

/** Ends a delivery that is held; returns whether it was. */
export function failHeld(tx: Tx, id: string, error: string): boolean {
  return endHeld(tx, error, id) > 0;
}

/* --- Forgetting ------------------------------------------------------------------------------------------------- */

const oldDeliveries = rawRun<[number, number]>(
  `DELETE FROM webhook_deliveries WHERE id IN
     (SELECT id FROM webhook_deliveries WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
);
const oldEvents = rawRun<[number, number]>(
  `DELETE FROM webhook_events WHERE id IN
     (SELECT id FROM webhook_events WHERE created_at < ? ORDER BY created_at LIMIT ?)`,
);

/** Deletes up to `limit` deliveries and as many events from before a moment. Returns how many there were. */
export function deleteOld(tx: Tx, before_ms: number, limit: number): number {
  return oldDeliveries(tx, before_ms, limit) + oldEvents(tx, before_ms, limit);
}

/** The webhook behind an id of which there are deliveries, whether or not it is there itself. */
export const nextWithDeliveries = rawValue<number, [after_id: number]>(
  'SELECT min(webhook_id) FROM webhook_deliveries WHERE webhook_id > ?',
);

export const deleteDeliveriesOf = rawRun<[webhook_id: number, limit: number]>(
  'DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_id = ? LIMIT ?)',
);
/** The project behind an id of which there are events, whether or not it is there itself. */
export const nextWithEvents = rawValue<number, [after_id: number]>(
  'SELECT min(project_id) FROM webhook_events WHERE project_id > ?',
);

export const deleteEventsOf = rawRun<[project_id: number, limit: number]>(
  'DELETE FROM webhook_events WHERE id IN (SELECT id FROM webhook_events WHERE project_id = ? LIMIT ?)',
);
