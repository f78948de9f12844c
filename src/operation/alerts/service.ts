/**
 * Doctor speaks: problems are told by mail and to a URL, each once, again after a day, and once it is mended. What was told by
 * which way is in the database, so that a restart neither repeats nor forgets it.
 */
import { conflict, type FieldErrors, refuseAll, toDo, messageOf as wordsOf } from '../../errors.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import type { Finding, HealthCheck } from '../../platform/host/health-check.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { until } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import type { Destinations } from '../../platform/http/destinations.ts';
import { merge, present } from '../../platform/http/fields.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { requestOf, type Sender, whyNotTaken } from '../../platform/http/sender.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { type Doctor, runAll } from '../doctor/service.ts';
import { dueOf, keepWays, listUntold, noteFindings, type State, settle, URL_WAY } from './known.ts';
import { bodyOf, type Message, messageOf, testMessage } from './message.ts';
import { type AlertsChanges, type AlertsRecord, type AlertsTest, FIELDS } from './schemas.ts';
import { findAlerts, saveAlerts } from './store.ts';
import type { AlertsRow } from './tables.ts';

/** Decision: as of a try at a webhook. */
const URL_TIMEOUT_MS = 15 * SECOND_MS;
const TESTS_PER_MINUTE = 10;
const URL_CONTEXT = ['alerts', 'url'];

interface AlertsDeps {
  config: { public_url: string };
  database: Database;
  clock: Clock;
  logger: Logger;
  key_ring: Pick<KeyRing, 'seal' | 'openText'>;
  limiter: RateLimiter;
  destinations: Destinations;
  sender: Sender;
  doctor: Pick<Doctor, 'listen' | 'examine'>;
  /** Sends a mail at once, and answers why it was not taken; null where it was. Throws where none can go. */
  sendNotice(mail: { to: string; subject: string; text: string }): Promise<string | null>;
}

/** Before anybody is told. */
const NOBODY: Readonly<AlertsRow> = {
  id: 1,
  email: [],
  sealed_url: null,
  url: null,
  format: null,
  backups_here: true,
  last_sent_at: null,
  findings: {},
  ways: {},
};

const waysOf = ({ email, url }: AlertsRow): string[] => (url === null ? email : [...email, URL_WAY]);

export class Alerts {
  /** What a full disk did not take: it is told of all the same. */
  #unsaved: State | null = null;
  /** When everything was looked at last, by whoever asked. */
  #examined_ms = Number.NEGATIVE_INFINITY;
  readonly #under_way = new Set<string>();
  #is_running = false;
  #timer: Timer | undefined;

  constructor(private readonly deps: AlertsDeps) {
    deps.doctor.listen((findings, at_ms) => {
      this.#examined_ms = at_ms;
      this.#note(findings, false).catch((error: unknown) => this.#complain(error));
    });
  }

  /** Tells what is due at once, not only at the next look. */
  start(): void {
    this.#is_running = true;
    this.#plan();
  }

  /** Begins nothing more, and waits for what is under way: it would be told again. */
  async stop(deadline_ms: number): Promise<void> {
    this.#is_running = false;
    clearTimeout(this.#timer);
    await until(() => this.#under_way.size === 0, deadline_ms);
  }

  /* --- Whom to tell ------------------------------------------------------------------------------------------------ */

  show(): AlertsRecord {
    const row = this.#row();
    const failing = this.listFailing().map(({ way, words }) => `${this.nameOf(way)}: ${words}`);
    return present(FIELDS, { ...row, problem: failing.length === 0 ? null : failing.join(' ') });
  }

  /** What is wrong with a change. */
  errorsIn({ url, format }: AlertsChanges): FieldErrors {
    const refusal = typeof url === 'string' ? this.deps.destinations.refusalOf(new URL(url)) : null;
    if (refusal !== null) return { url: [refusal] };
    const has_url = url === undefined ? this.#row().url !== null : url !== null;
    return typeof format === 'string' && !has_url ? { format: ['goes with url'] } : {};
  }

  /** Changes what is given; null takes it away. Throws AppError `invalid` by field. */
  async set(actor: Actor, changes: AlertsChanges): Promise<AlertsRecord> {
    const { database, clock, key_ring } = this.deps;
    refuseAll(this.errorsIn(changes));
    await database.write((tx) => {
      const row = this.#row(tx);
      const old = { ...row, url: this.#openUrl(row, tx) };
      const { email, url, format, backups_here } = merge(FIELDS, old, changes);
      const is_same = url === old.url;
      const asked = {
        email: [...new Set(email)],
        url,
        format: url === null ? null : (format ?? 'json'),
        backups_here,
      };
      const told = changesOf(old, asked, { secret: ['url'] });
      if (Object.keys(told).length === 0) return;
      const at = url === null ? null : new URL(url);
      const fresh: AlertsRow = {
        ...row,
        ...asked,
        url: at && `${at.protocol}//${at.host}`,
        sealed_url: is_same ? row.sealed_url : at && key_ring.seal(tx, PLATFORM_SCOPE, URL_CONTEXT, at.href),
      };
      // Behind another URL nobody was told of anything yet.
      keepWays(fresh, is_same ? waysOf(fresh) : fresh.email);
      if (waysOf(fresh).length === 0) fresh.findings = {};
      saveAlerts(tx, fresh);
      recordAudit(
        tx,
        actor,
        { event: 'alerts.changed', target: null, project: null, changes: told },
        clock.now(),
      );
    });
    this.#plan();
    return this.show();
  }

  /* --- Looking ----------------------------------------------------------------------------------------------------- */

  /** Each minute: looks at what is urgent, and hourly at everything. */
  async tick(urgent: readonly HealthCheck[]): Promise<void> {
    if (waysOf(this.#row()).length === 0) return;
    const now_ms = this.deps.clock.now();
    const age_ms = now_ms - this.#examined_ms;
    if (age_ms >= HOUR_MS || age_ms < 0) {
      this.#examined_ms = now_ms;
      // It takes seconds where much is stored, and what it finds is noted as it ends.
      this.deps.doctor.examine(MINUTE_MS).catch((error: unknown) => this.#complain(error));
    }
    await this.#note(await runAll(urgent), true);
  }

  async #note(found: readonly Finding[], is_urgent: boolean): Promise<void> {
    if (waysOf(this.#row()).length === 0) return;
    const now_ms = this.deps.clock.now();
    await this.#change((state) => noteFindings(state, found, { is_urgent, now_ms }));
    this.#plan();
  }

  /* --- Telling ----------------------------------------------------------------------------------------------------- */

  /** Tells what is due, by each way at once. */
  async tell(): Promise<void> {
    const row = this.#row();
    const now_ms = this.deps.clock.now();
    const isDue = (way: string): boolean => (dueOf(row, way, now_ms) ?? Number.POSITIVE_INFINITY) <= now_ms;
    const ways = waysOf(row).filter((way) => !this.#under_way.has(way) && isDue(way));
    await Promise.all(ways.map((way) => this.#tellBy(way, row, now_ms)));
    this.#plan();
  }

  async #tellBy(way: string, row: AlertsRow, now_ms: number): Promise<void> {
    this.#under_way.add(way);
    try {
      const told = listUntold(row, way, now_ms);
      const { words } = await this.#send(way, row, messageOf(told, this.deps.config.public_url));
      await this.#change((now) => {
        // It may have been taken away meanwhile, or lead elsewhere.
        const is_there = waysOf(now).includes(way) && (way !== URL_WAY || now.sealed_url === row.sealed_url);
        if (is_there) settle(now, way, { told, words, now_ms: this.deps.clock.now() });
      });
      if (words !== null)
        this.deps.logger.warn('an alert was not taken', { way: this.nameOf(way), reason: words });
    } finally {
      this.#under_way.delete(way);
    }
  }

  /** Sends a test by each way, and answers what came of it. Throws AppError `conflict` where there is none, `rate_limited`. */
  async test(actor: Actor): Promise<AlertsTest> {
    const { limiter, config, database, clock } = this.deps;
    const row = this.#row();
    const ways = waysOf(row);
    if (ways.length === 0)
      throw conflict('Nobody is told yet:', { remedy: toDo('alerts', 'satchel alert set --email ADDRESS') });
    limiter.take('alert tests', { limit: TESTS_PER_MINUTE, per: 'minute', what: 'Tests of alerts' });
    const message = testMessage(config.public_url);
    const sent = await Promise.all(
      ways.map(async (way) => ({ way, ...(await this.#send(way, row, message)) })),
    );
    await database.write((tx) =>
      recordAudit(tx, actor, { event: 'alerts.tested', target: null, project: null }, clock.now()),
    );
    await this.#change((state) => {
      for (const { way, words } of sent)
        settle(state, way, { told: [], words, now_ms: clock.now(), is_test: true });
    });
    const by_url = sent.find(({ way }) => way === URL_WAY);
    return {
      email: sent
        .filter(({ way }) => way !== URL_WAY)
        .map(({ way, words }) => ({ to: way, ok: words === null, words })),
      url: by_url ? { ok: by_url.words === null, status: by_url.status, words: by_url.words } : null,
    };
  }

  async #send(way: string, row: AlertsRow, message: Message): Promise<Sent> {
    try {
      if (way === URL_WAY) return await this.#post(row, message);
      const { title: subject, text } = message;
      return { status: null, words: await this.deps.sendNotice({ to: way, subject, text }) };
    } catch (error) {
      return { status: null, words: wordsOf(error) };
    }
  }

  async #post(row: AlertsRow, message: Message): Promise<Sent> {
    const { destinations, sender, database } = this.deps;
    const text = this.#openUrl(row, database.read);
    if (text === null) return { status: null, words: 'Its URL does not decrypt: set it again.' };
    const url = new URL(text);
    const destination = await destinations.find(url);
    if ('refusal' in destination) return { status: null, words: `Not sent: ${destination.refusal}.` };
    const { headers, body } = bodyOf(row.format ?? 'json', message);
    const outgoing = { ...requestOf('POST', url, headers, body), timeout_ms: URL_TIMEOUT_MS };
    const answer = await sender.sendToFirst(destination.addresses, outgoing);
    return { status: 'status' in answer ? answer.status : null, words: whyNotTaken(answer) };
  }

  /** Tells at the time when something is due, as far as this server tells. */
  #plan(): void {
    clearTimeout(this.#timer);
    if (!this.#is_running) return;
    const row = this.#row();
    const now_ms = this.deps.clock.now();
    const due = waysOf(row).flatMap((way) =>
      this.#under_way.has(way) ? [] : (dueOf(row, way, now_ms) ?? []),
    );
    if (due.length === 0) return;
    const wait_ms = Math.min(Math.max(Math.min(...due) - now_ms, SECOND_MS), HOUR_MS);
    this.#timer = setTimeout(
      () => void this.tell().catch((error: unknown) => this.#complain(error)),
      wait_ms,
    );
  }

  #complain(error: unknown): void {
    this.deps.logger.error('problems could not be looked for, or told', { error: wordsOf(error) });
  }

  /* --- How alerts do ----------------------------------------------------------------------------------------------- */

  /** The ways by which they do not arrive, and why. */
  listFailing(): { way: string; words: string }[] {
    const { ways } = this.#row();
    return Object.entries(ways).flatMap(([way, { failure }]) => (failure ? [{ way, words: failure }] : []));
  }

  listWays(): string[] {
    return waysOf(this.#row());
  }

  /** As people may see it: of the URL its scheme and host. */
  nameOf(way: string): string {
    return way === URL_WAY ? (this.#row().url ?? way) : way;
  }

  hasLostUrl(): boolean {
    const row = this.#row();
    return row.sealed_url !== null && this.#openUrl(row, this.deps.database.read) === null;
  }

  #openUrl({ sealed_url }: AlertsRow, read: Tx): string | null {
    return sealed_url === null ? null : this.deps.key_ring.openText(read, sealed_url, URL_CONTEXT);
  }

  #row(read: Tx = this.deps.database.read): AlertsRow {
    return structuredClone({ ...(findAlerts(read) ?? NOBODY), ...this.#unsaved });
  }

  /** Writes only where it changes something. On a full disk what was to be written is kept until it can be. */
  async #change(change: (row: AlertsRow) => void): Promise<void> {
    const { database, logger } = this.deps;
    const changed = (row: AlertsRow): AlertsRow => {
      change(row);
      return row;
    };
    const before = this.#row();
    if (!this.#unsaved && JSON.stringify(changed(structuredClone(before))) === JSON.stringify(before)) return;
    try {
      await database.write((tx) => saveAlerts(tx, changed(this.#row(tx))));
      this.#unsaved = null;
    } catch (error) {
      logger.error('what was told could not be written down', { error: wordsOf(error) });
      const { findings, ways, last_sent_at } = changed(this.#row());
      this.#unsaved = { findings, ways, last_sent_at };
    }
  }
}

interface Sent {
  /** What the URL answered; null where it did not. */
  status: number | null;
  /** Why it was not taken; null where it was. */
  words: string | null;
}
