/**
 * Deliveries on their way: makes them of events, tries what is due and notes what came of it. They are rows
 * of their own and no jobs: the engine steps over every lane at each claim, and any number of webhooks may
 * wait to retry while mail must go at once. Only tries under way are in memory, so a crash loses none: they
 * are sent again, with the same id.
 */
import { messageOf } from '../errors.ts';
import { WEBHOOK_PATIENCE_MS } from '../limits.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import {
  DATABASE_RETRY_MS,
  type Database,
  mayPass,
  persist,
  type Tx,
} from '../platform/database/database.ts';
import { type Clock, monotonicMs, SECOND_MS } from '../platform/host/clock.ts';
import { newId } from '../platform/host/ids.ts';
import type { Logger } from '../platform/host/logger.ts';
import { inTurn } from '../platform/host/turns.ts';
import { until } from '../platform/host/waiting.ts';
import { SYSTEM } from '../platform/http/callers.ts';
import * as store from './store.ts';
import type { DeliveryRow, EventRow, WebhookRow } from './tables.ts';
import type { Outcome, Tries } from './tries.ts';

/** Decision: the wait after each failed try of a delivery, up to a tenth longer. The last one fails it. */
export const WEBHOOK_RETRY_DELAYS_S: readonly number[] = [
  5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
];
/** Decision: tries of one webhook at once. */
const WEBHOOK_TRIES_AT_ONCE = 4;

/** Events that one transaction makes deliveries of. */
const FAN_OUT_PIECE = 50;
/** Tries of all webhooks at once, each a connection; and fewer of failing ones, to leave room. */
const MOST_AT_ONCE = 256;
const MOST_FAILING_AT_ONCE = 128;
/** So seldom it looks for what is due: with a thousand webhooks that wait this takes some milliseconds. */
const LOOK_EVERY_MS = 100;
/** It looks by itself after so long at the latest: the clock may jump, and a project may become active. */
const MOST_SLEEP_MS = 60_000;
/** What this machine could not try waits so long. */
const OURS_RETRY_MS = 5_000;
/** A receiver that hangs holds no stop up. */
const STOP_DEADLINE_MS = 2_000;
/** While a try's result is unwritten for so long, nothing more is sent: a crash would repeat it. */
const UNWRITTEN_MS = 200;
/** A clock that is set back by more than this may have left times behind that are too late. */
const CLOCK_STEP_MS = SECOND_MS;
/** Each wait is up to so much longer, so that what failed together does not come back together. */
const JITTER = 0.1;
/** The longest wait after so many tries. */
const LONGEST_MS = [0, ...WEBHOOK_RETRY_DELAYS_S].map((delay_s) =>
  Math.max(OURS_RETRY_MS, delay_s * SECOND_MS * (1 + JITTER)),
);

const UNMADE: Outcome = {
  response_status: null,
  error: 'Something went wrong on the server.',
  is_ours: false,
  made: null,
};

export interface DispatcherDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  projects: { findById(id: number): { id: number; public_id: string; status: 'active' | 'inactive' } | null };
  tries: Tries;
}

/** The tries of one webhook that are under way, or whose end is not written yet. */
interface Lane {
  in_hand: Set<string>;
  under_way: number;
  /** Those that have ended, the oldest first, with when that was by the monotonic clock. */
  unwritten: Map<string, number>;
  is_failing: boolean;
}

function newLane(): Lane {
  return { in_hand: new Set(), under_way: 0, unwritten: new Map(), is_failing: false };
}

export class Dispatcher {
  readonly #lanes = new Map<number, Lane>();
  #under_way = 0;
  #failing_under_way = 0;
  #is_running = false;
  #is_fanning_out = false;
  #has_new_events = false;
  /** By the monotonic clock. */
  #looked_at = Number.NEGATIVE_INFINITY;
  #timer: { at_ms: number; handle: ReturnType<typeof setTimeout> } | null = null;
  /** How far the clock was ahead of the monotonic one. The first look is as after a step back. */
  #ahead_ms = Number.POSITIVE_INFINITY;
  /** The webhook that had no room last: the next look begins there. */
  #first_webhook = 0;

  constructor(private readonly deps: DispatcherDeps) {}

  /** Goes on with what the last stop, or a crash, has left. */
  start(): void {
    this.#is_running = true;
    this.#has_new_events = false;
    this.#ahead_ms = Number.POSITIVE_INFINITY;
    this.wake();
  }

  /** Something may be due, or another process has written. */
  wake(): void {
    this.noteEvents();
    this.#planLook(0);
  }

  /** There are events that no delivery was made of, or will be once the present transaction has committed. */
  noteEvents(): void {
    if (!this.#is_running || this.#has_new_events) return;
    this.#has_new_events = true;
    setTimeout(() => void this.#fanOut(), 0);
  }

  /** Begins nothing more, and waits a moment for what is under way. The rest is sent after the next start. */
  async stop(deadline_ms = STOP_DEADLINE_MS): Promise<void> {
    this.#is_running = false;
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
    await until(() => this.#lanes.size === 0 && !this.#is_fanning_out, deadline_ms);
  }

  /* --- From events to deliveries ----------------------------------------------------------------------------------- */

  async #fanOut(): Promise<void> {
    if (this.#is_fanning_out) return;
    this.#is_fanning_out = true;
    try {
      while (this.#has_new_events && this.#is_running) {
        this.#has_new_events = false;
        while (this.#is_running && store.listToFanOut(this.deps.database.read, 1).length > 0)
          for (const id of await this.deps.database.write((tx) => this.#fanOutPiece(tx))) this.#fill(id);
      }
    } catch (error) {
      this.deps.logger.error('events were not handed to webhooks', { error: messageOf(error) });
      setTimeout(() => {
        this.#has_new_events = false;
        this.noteEvents();
      }, DATABASE_RETRY_MS);
    } finally {
      this.#is_fanning_out = false;
    }
  }

  /** The webhooks that have something to deliver now. */
  #fanOutPiece(tx: Tx): Set<number> {
    const told = new Set<number>();
    const listeners = new Map<number, WebhookRow[]>();
    for (const event of store.listToFanOut(tx, FAN_OUT_PIECE)) {
      const { project_id } = event;
      const webhooks = listeners.get(project_id) ?? store.listWebhooks(tx, project_id);
      listeners.set(project_id, webhooks);
      for (const { id: webhook_id } of webhooks.filter((webhook) => listens(webhook, event))) {
        store.insertDelivery(tx, newDelivery(event, webhook_id, this.deps.clock.now()));
        told.add(webhook_id);
      }
      store.markFannedOut(tx, event.id);
    }
    return told;
  }

  /* --- What is due ------------------------------------------------------------------------------------------------- */

  #planLook(in_ms: number): void {
    if (!this.#is_running) return;
    const now_ms = monotonicMs();
    const wait_ms = Math.max(0, Math.min(in_ms, MOST_SLEEP_MS));
    const at_ms = Math.max(now_ms + wait_ms, this.#looked_at + LOOK_EVERY_MS);
    if (this.#timer && this.#timer.at_ms <= at_ms) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    // A turn later at least, when what is to be looked at has committed.
    this.#timer = { at_ms, handle: setTimeout(() => this.#look(), at_ms - now_ms) };
  }

  #look(): void {
    this.#timer = null;
    if (!this.#is_running) return;
    this.#guard(() => this.#lookNow());
  }

  /** A disk that fails to be read ends no timer and no try: it is looked at again a little later. */
  #guard(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.deps.logger.error('webhooks were not looked at', { error: messageOf(error) });
      this.#planLook(DATABASE_RETRY_MS);
    }
  }

  #lookNow(): void {
    this.#looked_at = monotonicMs();
    const now_ms = this.deps.clock.now();
    this.#mendTimes(now_ms);
    let next_at = Number.POSITIVE_INFINITY;
    const waiting = store.listWaiting(this.deps.database.read);
    const first = this.#first_webhook;
    this.#first_webhook = 0;
    for (const { webhook_id, first_at } of inTurn(waiting, (one) => one.webhook_id >= first))
      if (first_at <= now_ms) this.#fill(webhook_id);
      else next_at = Math.min(next_at, first_at);
    this.#planLook(next_at - now_ms);
  }

  /** After a step back of the clock, and at the start, which may come after one. */
  #mendTimes(now_ms: number): void {
    const { database } = this.deps;
    const ahead_ms = now_ms - monotonicMs();
    const is_set_back = ahead_ms < this.#ahead_ms - CLOCK_STEP_MS;
    this.#ahead_ms = ahead_ms;
    if (!is_set_back || !store.hasLate(database.read, now_ms, LONGEST_MS)) return;
    database
      .write((tx) => store.mendTimes(tx, now_ms, LONGEST_MS))
      .then(
        () => this.#planLook(0),
        (error: unknown) => {
          this.deps.logger.error('times of webhooks were not mended', { error: messageOf(error) });
          this.#ahead_ms = Number.POSITIVE_INFINITY;
          this.#planLook(DATABASE_RETRY_MS);
        },
      );
  }

  /** Begins due tries of a webhook while there is room, and plans the next look. */
  #fill(webhook_id: number): void {
    const { database, clock, projects } = this.deps;
    const lane = this.#lanes.get(webhook_id) ?? newLane();
    if (!this.#is_running || lane.under_way >= WEBHOOK_TRIES_AT_ONCE) return;
    const [oldest_ms = Number.POSITIVE_INFINITY] = lane.unwritten.values();
    if (monotonicMs() - oldest_ms > UNWRITTEN_MS) return;
    const webhook = store.findWebhook(database.read, webhook_id);
    if (!webhook?.is_active || projects.findById(webhook.project_id)?.status !== 'active') return;
    lane.is_failing = webhook.failing_since !== null;
    const room = Math.min(WEBHOOK_TRIES_AT_ONCE - lane.under_way, this.#roomFor(lane));
    if (room <= 0) {
      this.#first_webhook ||= webhook_id;
      return;
    }
    const now_ms = clock.now();
    const next_at = store.nextAfter(database.read, webhook_id, now_ms);
    if (next_at !== null) this.#planLook(next_at - now_ms);
    const due = store
      .listDue(database.read, webhook_id, now_ms, room + lane.in_hand.size)
      .filter(({ id }) => !lane.in_hand.has(id))
      .slice(0, room);
    for (const delivery of due) void this.#run(webhook, lane, delivery);
  }

  #roomFor({ is_failing }: Lane): number {
    const left = MOST_AT_ONCE - this.#under_way;
    return is_failing ? Math.min(left, MOST_FAILING_AT_ONCE - this.#failing_under_way) : left;
  }

  /* --- One try ----------------------------------------------------------------------------------------------------- */

  async #run(webhook: WebhookRow, lane: Lane, delivery: DeliveryRow): Promise<void> {
    const { database, tries, logger } = this.deps;
    const failing = Number(lane.is_failing);
    this.#lanes.set(webhook.id, lane);
    lane.in_hand.add(delivery.id);
    lane.under_way += 1;
    this.#under_way += 1;
    this.#failing_under_way += failing;
    let outcome = UNMADE;
    try {
      const body = store.findBody(database.read, delivery.event_id);
      if (body !== null) outcome = await tries.send(webhook, { id: delivery.id, body });
    } catch (error) {
      logger.error('a webhook could not be told', { webhook: webhook.public_id, error: messageOf(error) });
      outcome = { ...UNMADE, is_ours: mayPass(error) };
    }
    lane.under_way -= 1;
    this.#under_way -= 1;
    this.#failing_under_way -= failing;
    const is_full_no_more = this.#first_webhook !== 0;
    lane.unwritten.set(delivery.id, monotonicMs());
    this.#guard(() => this.#fill(webhook.id));
    if (is_full_no_more) this.#planLook(0);
    // What a stop has cut off is sent again at the next start.
    if (this.#is_running || !outcome.is_ours) await this.#settle(webhook.id, delivery.id, outcome);
    const [oldest] = lane.unwritten.keys();
    lane.unwritten.delete(delivery.id);
    lane.in_hand.delete(delivery.id);
    if (lane.in_hand.size === 0) this.#lanes.delete(webhook.id);
    if (oldest === delivery.id) this.#guard(() => this.#fill(webhook.id));
  }

  /** Writes what came of a try, waiting out a full disk: what was taken must not be sent time and again. */
  async #settle(webhook_id: number, id: string, outcome: Outcome): Promise<void> {
    const { database, clock, logger } = this.deps;
    try {
      const next_at = await persist(
        () => database.write((tx) => this.#conclude(tx, webhook_id, id, outcome)),
        () => !this.#is_running,
      );
      if (next_at !== null) this.#planLook(next_at - clock.now());
    } catch (error) {
      logger.error('a delivery was not noted', { delivery: id, error: messageOf(error) });
    }
  }

  /** Returns when it is tried again; null for never. */
  #conclude(tx: Tx, webhook_id: number, id: string, outcome: Outcome): number | null {
    const webhook = store.findWebhook(tx, webhook_id);
    const delivery = store.findDelivery(tx, id);
    // It may have been deleted, or dropped, meanwhile.
    if (!webhook || delivery?.status !== 'waiting') return null;
    const now_ms = this.deps.clock.now();
    this.#ahead_ms = Math.max(this.#ahead_ms, now_ms - monotonicMs());
    const to = stateAfter(delivery, outcome, { now_ms, random: Math.random() });
    store.updateDelivery(tx, { ...to, id });
    if (!outcome.is_ours) store.saveTry(tx, delivery, outcome.made);
    this.#judge(tx, webhook, outcome, now_ms);
    return to.next_at;
  }

  /** Notes how it goes with a webhook, and switches it off where it is gone or has failed for too long. */
  #judge(tx: Tx, webhook: WebhookRow, { error, response_status, is_ours }: Outcome, now_ms: number): void {
    if (is_ours) return;
    if (error === null) {
      if (webhook.failing_since !== null) store.updateWebhook(tx, webhook.id, { failing_since: null });
      return;
    }
    const { failing_since } = webhook;
    if (failing_since === null) store.updateWebhook(tx, webhook.id, { failing_since: now_ms });
    const is_gone = response_status === 410;
    const is_patient = now_ms - (failing_since ?? now_ms) < WEBHOOK_PATIENCE_MS;
    if (!webhook.is_active || (!is_gone && is_patient)) return;
    const disabled_reason = is_gone ? 'gone' : 'failing';
    store.updateWebhook(tx, webhook.id, { is_active: false, disabled_reason, updated_at: now_ms });
    const project = this.deps.projects.findById(webhook.project_id);
    const target = `webhook:${webhook.public_id}`;
    recordAudit(
      tx,
      SYSTEM,
      { event: 'webhook.disabled', target, project, metadata: { reason: disabled_reason } },
      now_ms,
    );
  }
}

/** True of an event that is for a webhook: of its types, and not from before it was made. */
function listens(webhook: WebhookRow, { id, type }: Pick<EventRow, 'id' | 'type'>): boolean {
  const { is_active, after_event, types } = webhook;
  return is_active && id > after_event && (types?.some((each) => each === type) ?? true);
}

function newDelivery(
  { id: event_id, type, created_at }: Omit<EventRow, 'body'>,
  webhook_id: number,
  now_ms: number,
): DeliveryRow {
  return {
    id: newId(now_ms),
    webhook_id,
    event_id,
    type,
    status: 'waiting',
    attempts: 0,
    next_at: now_ms,
    response_status: null,
    error: null,
    created_at,
  };
}

/** What a try makes of a delivery. */
export function stateAfter(
  { attempts: before }: Pick<DeliveryRow, 'attempts'>,
  { response_status, error, is_ours }: Omit<Outcome, 'made'>,
  { now_ms, random }: { now_ms: number; random: number },
): store.DeliveryState {
  if (is_ours)
    return { status: 'waiting', attempts: before, next_at: now_ms + OURS_RETRY_MS, response_status, error };
  const attempts = before + 1;
  if (error === null) return { status: 'delivered', attempts, next_at: null, response_status, error };
  const delay_s = WEBHOOK_RETRY_DELAYS_S[before];
  // Who is gone needs no other try.
  if (delay_s === undefined || response_status === 410)
    return { status: 'failed', attempts, next_at: null, response_status, error };
  const next_at = now_ms + Math.round(delay_s * SECOND_MS * (1 + random * JITTER));
  return { status: 'waiting', attempts, next_at, response_status, error };
}
