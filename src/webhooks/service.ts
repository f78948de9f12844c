/** Webhooks: where a project has what happens told, with which secret, and what became of it. */
import type { Projects } from '../access/projects/service.ts';
import { conflict, type FieldErrors, invalid, notFound, refuseAll } from '../errors.ts';
import { SWEEP_BATCH, WEBHOOK_PATIENCE_MS } from '../limits.ts';
import { changesOf, type Note } from '../platform/database/audit-trail.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type Clock, DAY_MS, toIso } from '../platform/host/clock.ts';
import { isUlid, newId } from '../platform/host/ids.ts';
import { ADMINISTER, type ManagementCaller } from '../platform/http/callers.ts';
import { type Destinations, hostOf } from '../platform/http/destinations.ts';
import { setBy } from '../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../platform/http/pagination.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import { COUNTS_AS_DONE, inPieces, type Release } from '../platform/jobs/restore-hold.ts';
import { isHeld } from '../platform/jobs/store.ts';
import type { AddressHolder } from '../platform/mail/address.ts';
import { type KeyRing, projectScope } from '../platform/secrets/key-ring.ts';
import type { Dispatcher } from './dispatcher.ts';
import {
  CHANGED_FIELDS,
  type DeliveryDetails,
  type DeliveryRecord,
  type EventType,
  type NewWebhookInput,
  presentWebhook,
  TEST_TYPE,
  type WebhookChanges,
  type WebhookRecord,
  type WebhookWithSecret,
} from './schemas.ts';
import * as store from './store.ts';
import type { DeliveryRow, TryRow, WebhookRow } from './tables.ts';
import { contextOf, createSecret, SIGNATURE_HEADER, type Tries } from './tries.ts';

/** Of one project: each gets a copy of what happens. */
export const MAX_WEBHOOKS_PER_PROJECT = 20;
/** Decision: both secrets sign for so long after a rotation. */
const WEBHOOK_OLD_SECRET_MS = 24 * 3_600_000;
/** Decision: deliveries and what they carry are kept 30 days. */
const WEBHOOK_RETENTION_MS = 30 * 86_400_000;
/** Test deliveries of a project: each is made while the client waits. */
const WEBHOOK_TESTS_PER_MINUTE = 30;

export type { WebhookRow } from './tables.ts';

/** The outcome of a try is kept so long. */
const TRY_RETENTION_MS = DAY_MS;

interface Owner {
  readonly id: number;
  readonly public_id: string;
}

export interface WebhooksDeps {
  database: Database;
  clock: Clock;
  key_ring: Pick<KeyRing, 'seal'>;
  limiter: RateLimiter;
  projects: Pick<Projects, 'findById'>;
  destinations: Destinations;
  tries: Tries;
  dispatcher: Pick<Dispatcher, 'wake'>;
}

export class Webhooks {
  constructor(private readonly deps: WebhooksDeps) {}

  /* --- Looking ----------------------------------------------------------------------------------------------------- */

  /** The webhooks of a project, newest first. */
  list(project_id: number): WebhookRecord[] {
    return store.listWebhooks(this.deps.database.read, project_id).map(presentWebhook);
  }

  /** Throws AppError `not_found`, for another project's webhook too. */
  require(project_id: number, public_id: string, read: Tx = this.deps.database.read): WebhookRow {
    const row = isUlid(public_id) ? store.findWebhookByPublicId(read, public_id.toUpperCase()) : undefined;
    if (row?.project_id !== project_id) throw notFound('Webhook', 'satchel webhook list --project REF');
    return row;
  }

  get(project_id: number, public_id: string): WebhookRecord {
    return presentWebhook(this.require(project_id, public_id));
  }

  /** What is wrong with where a webhook leads. */
  errorsIn({ url }: { url?: string | undefined }): FieldErrors {
    const refusal = url === undefined ? null : this.deps.destinations.refusalOf(new URL(url));
    return refusal === null ? {} : { url: [refusal] };
  }

  /** Deliveries of a webhook, newest first. */
  listDeliveries(webhook: WebhookRow, query: PageQuery): Page<DeliveryRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: webhook.deliveries,
      fetch: (limit, offset) => store.listDeliveries(read, { webhook_id: webhook.id, limit, offset }),
    }).map((row) => presentDelivery(row, webhook));
  }

  /** A delivery as whoever asks may see it. Throws AppError `not_found`. */
  getDelivery(webhook: WebhookRow, id: string, caller: ManagementCaller | null): DeliveryDetails {
    const { database, clock } = this.deps;
    const { read } = database;
    const row = this.#requireDelivery(read, webhook, id);
    const last = store.findTry(read, row.id);
    return {
      ...presentDelivery(row, webhook),
      body: store.findBody(read, row.event_id),
      last_try: last && last.at > clock.now() - TRY_RETENTION_MS ? presentTry(last, caller) : null,
    };
  }

  #requireDelivery(read: Tx, webhook: WebhookRow, id: string): DeliveryRow {
    const row = store.findDelivery(read, id.toUpperCase());
    if (row?.webhook_id !== webhook.id) throw notFound('Delivery');
    return row;
  }

  /* --- Changing ---------------------------------------------------------------------------------------------------- */

  /** Makes a webhook, which is told of what happens from now on. Throws AppError `invalid` by field. */
  async create(owner: Owner, input: NewWebhookInput, note: Note): Promise<WebhookWithSecret> {
    const { database, clock } = this.deps;
    const { url, types = null, description = null } = input;
    refuseAll(this.errorsIn(input));
    const secret = createSecret();
    const now = clock.now();
    const public_id = newId(now);
    const row = await database.write((tx) => {
      if (store.listWebhooks(tx, owner.id).length >= MAX_WEBHOOKS_PER_PROJECT)
        throw invalid({ _: [`a project has at most ${MAX_WEBHOOKS_PER_PROJECT} webhooks`] });
      note(tx, entryOf('webhook.created', { public_id, url }));
      return store.insertWebhook(tx, {
        public_id,
        project_id: owner.id,
        url: new URL(url).href,
        description,
        types,
        sealed_secret: this.#seal(tx, owner, { public_id }, secret),
        sealed_old_secret: null,
        old_secret_until: null,
        is_active: true,
        disabled_reason: null,
        failing_since: null,
        created_at: now,
        updated_at: now,
      });
    });
    return { ...presentWebhook(row), secret };
  }

  /**
   * Changes what is given. Switched on, it continues with what waited at most WEBHOOK_PATIENCE_MS. Throws
   * AppError `not_found`, and `invalid` by field.
   */
  async change(owner: Owner, public_id: string, changes: WebhookChanges, note: Note): Promise<WebhookRecord> {
    const { database, clock, dispatcher } = this.deps;
    refuseAll(this.errorsIn(changes));
    const { url, is_active } = changes;
    const row = await database.write((tx) => {
      const current = this.require(owner.id, public_id, tx);
      if (Object.keys(changes).length === 0) return current;
      const now = clock.now();
      if (is_active === true && !current.is_active) this.#dropOld(tx, current, now);
      const changed = store.updateWebhook(tx, current.id, {
        ...setBy(CHANGED_FIELDS, changes),
        ...(url === undefined ? {} : { url: new URL(url).href }),
        // Whoever switches it begins anew.
        ...(is_active === undefined ? {} : { disabled_reason: null, failing_since: null }),
        updated_at: now,
      });
      if (!changed) throw notFound('Webhook');
      // Some receivers know who may call them by a secret in the address.
      const told = changesOf(current, changed, { secret: ['url'] });
      note(tx, { ...entryOf('webhook.changed', current), changes: told });
      return changed;
    });
    dispatcher.wake();
    return presentWebhook(row);
  }

  #dropOld(tx: Tx, webhook: WebhookRow, now_ms: number): void {
    const error = 'It had waited for more than three days when its webhook was switched on.';
    store.dropWaiting(tx, { webhook_id: webhook.id, before_ms: now_ms - WEBHOOK_PATIENCE_MS, error });
  }

  /** A new secret; the former one signs for WEBHOOK_OLD_SECRET_MS, too. Throws AppError `not_found`. */
  async rotate(owner: Owner, public_id: string, note: Note): Promise<WebhookWithSecret> {
    const { database, clock } = this.deps;
    const secret = createSecret();
    const row = await database.write((tx) => {
      const current = this.require(owner.id, public_id, tx);
      const now = clock.now();
      note(tx, entryOf('webhook.rotated', current));
      return store.updateWebhook(tx, current.id, {
        sealed_secret: this.#seal(tx, owner, current, secret),
        sealed_old_secret: current.sealed_secret,
        old_secret_until: now + WEBHOOK_OLD_SECRET_MS,
        updated_at: now,
      });
    });
    if (!row) throw notFound('Webhook');
    return { ...presentWebhook(row), secret };
  }

  /** Deletes a webhook; what waits for it is not sent. Throws AppError `not_found`. */
  async remove(owner: Owner, public_id: string, note: Note): Promise<WebhookRecord> {
    const row = await this.deps.database.write((tx) => {
      const current = this.require(owner.id, public_id, tx);
      note(tx, entryOf('webhook.deleted', current));
      store.deleteWebhook(tx, current.id);
      return current;
    });
    await this.#sweepDeleted();
    return presentWebhook(row);
  }

  #seal(tx: Tx, owner: Owner, webhook: Pick<WebhookRow, 'public_id'>, secret: string): string {
    return this.deps.key_ring.seal(tx, projectScope(owner.public_id), contextOf(webhook), secret);
  }

  /* --- Sending by hand --------------------------------------------------------------------------------------------- */

  /**
   * Sends one test message now, active or not, and answers what came of it. Throws AppError `rate_limited`,
   * and `not_found` where the webhook is deleted meanwhile.
   */
  async test(owner: Owner, public_id: string, note: Note): Promise<DeliveryRecord> {
    const { database, clock, tries, limiter } = this.deps;
    const webhook = this.require(owner.id, public_id);
    limiter.take(`webhook tests:${owner.id}`, {
      limit: WEBHOOK_TESTS_PER_MINUTE,
      per: 'minute',
      what: 'Tests of webhooks of this project',
    });
    const created_at = clock.now();
    const id = newId(created_at);
    const body = bodyOf(TEST_TYPE, created_at, presentWebhook(webhook));
    const { response_status, error, made } = await tries.send(webhook, { id, body });
    return database.write((tx) => {
      const current = this.require(owner.id, public_id, tx);
      const event = { project_id: owner.id, type: TEST_TYPE, body, address: null, created_at };
      const delivery: DeliveryRow = {
        id,
        webhook_id: current.id,
        event_id: store.insertEvent(tx, { ...event, is_fanned_out: true }) ?? 0,
        type: TEST_TYPE,
        status: error === null ? 'delivered' : 'failed',
        attempts: 1,
        next_at: null,
        response_status,
        error,
        created_at,
      };
      store.insertDelivery(tx, delivery);
      store.saveTry(tx, delivery, made);
      note(tx, entryOf('webhook.tested', current, { status: delivery.status }));
      return presentDelivery(delivery, current);
    });
  }

  /**
   * Sends a delivery again, with its id and a new series of tries; a waiting one is tried now. Throws
   * AppError `not_found`, and `conflict` where the webhook is off.
   */
  async replay(owner: Owner, public_id: string, delivery_id: string, note: Note): Promise<DeliveryRecord> {
    const { database, clock, dispatcher } = this.deps;
    const record = await database.write((tx) => {
      const webhook = this.require(owner.id, public_id, tx);
      const row = this.#requireDelivery(tx, webhook, delivery_id);
      if (!webhook.is_active)
        throw conflict('The webhook is switched off: set is_active to true, then replay the delivery.');
      const attempts = row.status === 'waiting' ? row.attempts : 0;
      const { response_status, error } = row;
      const to = { status: 'waiting', attempts, next_at: clock.now(), response_status, error } as const;
      store.updateDelivery(tx, { ...to, id: row.id });
      note(tx, entryOf('webhook.replayed', webhook, { delivery: row.id }));
      return presentDelivery({ ...row, ...to }, webhook);
    });
    dispatcher.wake();
    return record;
  }

  /* --- For the operator -------------------------------------------------------------------------------------------- */

  /**
   * Has deliveries that a restore held go on, or fail where what was due before it counts as done. Returns how
   * many.
   */
  async letGoHeld({ project_id, done_until }: Release): Promise<number> {
    const { database, dispatcher } = this.deps;
    const end = (tx: Tx, id: string): boolean =>
      done_until === null ? store.releaseHeld(tx, id) : store.failHeld(tx, id, COUNTS_AS_DONE);
    const count = await inPieces(database, store.listHeld(database.read, project_id), end);
    dispatcher.wake();
    return count;
  }

  /** Those that were switched off by themselves, and those whose secret does not decrypt. */
  listInTrouble(): { disabled: WebhookRow[]; undecryptable: WebhookRow[] } {
    const all = store.listAllWebhooks(this.deps.database.read);
    return {
      disabled: all.filter(({ disabled_reason }) => disabled_reason !== null),
      undecryptable: all.filter((webhook) => this.deps.tries.secretsOf(webhook) === null),
    };
  }

  /** Since when what an active webhook is to be told has been due, or will be; null where nothing waits. */
  waitingSince(read: Tx): number | null {
    const first = store
      .listWaiting(read)
      .filter(({ project_id }) => this.deps.projects.findById(project_id)?.status === 'active')
      .reduce((least, { first_at }) => Math.min(least, first_at), Number.POSITIVE_INFINITY);
    return Number.isFinite(first) ? first : null;
  }

  /** How webhooks take part in what is held about an address: what is told, or was, of it. */
  holderOfAddresses(): AddressHolder {
    const { database } = this.deps;
    return {
      name: 'webhook_events',
      *find({ id: project_id }, address) {
        for (let behind = 0; ; ) {
          const ids = store.listEventsTo(database.read, { project_id, address, behind });
          const last = ids.at(-1);
          if (last === undefined) return;
          behind = last;
          yield ids.map((id) => ({
            show: () => JSON.parse(store.findBody(database.read, id) ?? 'null'),
            forget: (tx) => store.deleteEvent(tx, id),
          }));
        }
      },
    };
  }

  /** Takes part in the deletion of a project: what webhooks told goes after the commit, in small steps. */
  projectCascade() {
    return { count: () => ({}), afterCommit: () => this.#sweepDeleted() };
  }

  /** Forgets what is old, and what a deletion that a crash cut off has left. */
  async sweep(): Promise<void> {
    const { database, clock } = this.deps;
    const now_ms = clock.now();
    const before_ms = now_ms - WEBHOOK_RETENTION_MS;
    while ((await database.writePiece((tx) => store.deleteOld(tx, before_ms, SWEEP_BATCH))) > 0) {}
    await this.#sweepDeleted();
  }

  /** Forgets what came of tries that are a day old. */
  async sweepTries(): Promise<void> {
    const { database, clock } = this.deps;
    const before_ms = clock.now() - TRY_RETENTION_MS;
    while ((await database.writePiece((tx) => store.deleteOldTries(tx, before_ms, SWEEP_BATCH))) > 0) {}
  }

  async #sweepDeleted(): Promise<void> {
    const { database, projects } = this.deps;
    for (let id = store.nextWithDeliveries(database.read, 0); id !== null; ) {
      const of = id;
      const is_gone = store.findWebhook(database.read, of) === null;
      while (is_gone && (await database.write((tx) => store.deleteDeliveriesOf(tx, of, SWEEP_BATCH))) > 0) {}
      id = store.nextWithDeliveries(database.read, of);
    }
    for (let id = store.nextWithEvents(database.read, 0); id !== null; ) {
      const of = id;
      const is_gone = projects.findById(of) === null;
      while (is_gone && (await database.write((tx) => store.deleteEventsOf(tx, of, SWEEP_BATCH))) > 0) {}
      id = store.nextWithEvents(database.read, of);
    }
  }
}

/** One that waits for a webhook that is off, or is held by a restore, is not tried at any time. */
function presentDelivery(row: DeliveryRow, { is_active }: WebhookRow): DeliveryRecord {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    next_at: is_active && !isHeld(row.next_at ?? 0) ? toIso(row.next_at) : null,
    response_status: row.response_status,
    error: row.error,
    created_at: toIso(row.created_at),
  };
}

/** What a receiver says may be for few: it may stand within somebody's network. `caller` is null for the shell. */
function presentTry(
  { at, ms, url, headers, answer, is_inside }: TryRow,
  caller: ManagementCaller | null,
): NonNullable<DeliveryDetails['last_try']> {
  const is_read_only = caller?.read_only ?? false;
  const may_read = !is_read_only && (!is_inside || (caller?.capabilities.has(ADMINISTER) ?? true));
  const { [SIGNATURE_HEADER]: _, ...unsigned } = headers;
  return {
    at: toIso(at),
    ms,
    url,
    headers: is_read_only ? unsigned : headers,
    answer: answer && { ...answer, body: may_read ? answer.body : null },
  };
}

/** For the trail; of the address its host alone, as paths of such addresses often hold a token. */
function entryOf(
  event: string,
  { public_id, url }: Pick<WebhookRow, 'public_id' | 'url'>,
  more: Record<string, unknown> = {},
) {
  return { event, target: `webhook:${public_id}`, metadata: { host: hostOf(new URL(url)), ...more } };
}

/** The contents of an event. */
export interface EventData {
  /** The record as GET answers it, at the moment of the event. */
  data: object;
  /** Whom it speaks of, so that it can be forgotten with them. */
  address?: string | null;
}

export class WebhookEvents {
  constructor(private readonly deps: { clock: Clock; onEvent(): void }) {}

  /**
   * Notes an event within its transaction. Where no webhook of the project listens that costs one seek:
   * `describe` is not asked, and nothing is kept. Null tells nothing.
   */
  tell(tx: Tx, project_id: number, type: EventType, describe: () => EventData | null): void {
    if (!store.isListenedTo(tx, project_id, type)) return;
    const told = describe();
    if (!told) return;
    const created_at = this.deps.clock.now();
    const address = told.address?.toLowerCase() ?? null;
    const body = bodyOf(type, created_at, told.data);
    store.insertEvent(tx, { project_id, type, body, address, is_fanned_out: false, created_at });
    this.deps.onEvent();
  }
}

/** The body by the specification: the same over tries and replays. */
export function bodyOf(type: string, at_ms: number, data: object): string {
  return JSON.stringify({ type, timestamp: toIso(at_ms), data });
}
