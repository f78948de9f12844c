/**
 * Reading inboxes over IMAP, each over a connection that waits in IDLE and looks at least each minute, and that is made
 * anew after any trouble. What the server sends is bounded in size and time.
 */
import { isIP } from 'node:net';
import type { ImapFlow } from 'imapflow';
import { messageOf } from '../../errors.ts';
import { INBOX_LOOK_EVERY_MS, MAX_REPORT_HEADER_BYTES } from '../../limits.ts';
import { type Database, mayPass, type Tx } from '../../platform/database/database.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { AGGREGATE_FETCH_BYTES } from '../../platform/mail/aggregate-reports.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { isLinkLocal, LINK_LOCAL, serverLookup } from '../../platform/mail/server-lookup.ts';
import type { Inboxes, InboxRow, Taken } from './service.ts';

/** As SMTP's deadlines: for the connection with TLS, and the greeting. */
const IMAP_CONNECT_TIMEOUT_MS = 10_000;
const IMAP_GREETING_TIMEOUT_MS = 10_000;
/** One command with its whole answer: a server that says a byte now and then keeps nothing waiting for longer. */
const IMAP_STEP_DEADLINE_MS = 60_000;
/** After this long without a command IDLE begins, so that a look with many commands is not cut up by it. */
const IMAP_IDLE_AFTER_MS = 1_000;
/** One line of an answer: the UIDs of some 500,000 messages. */
const MAX_IMAP_LINE_BYTES = 4 * 1024 * 1024;
/** What a server sends in answer to one command: more than the longest line and all that it fetches. */
export const MAX_IMAP_STEP_BYTES = 32 * 1024 * 1024;
/** Between two looks, whatever the server tells of news. */
const INBOX_LOOK_PAUSE_MS = 250;
/** An inbox that could not be read is tried again after this, doubling up to the other. */
const INBOX_RETRY_MIN_MS = 5_000;
const INBOX_RETRY_MAX_MS = 15 * 60_000;
/**
 * Parts whose types and names are asked for: receivers pack reports in few. BODYSTRUCTURE tells of all, and stops the server for a second
 * over a message of 10,000.
 */
const PARTS_ASKED_FOR = ['1', '2', '3', '4', '5', '6', '1.1', '1.2', '1.3', '1.4'];
const MAX_PART_HEADER_BYTES = 2 * 1024;
/** Messages whose type is asked for at once. */
const INBOX_CHUNK_MESSAGES = 50;
/** A server's words about trouble, in `mailbox list` and `doctor`: a sentence or two. */
const MAX_INBOX_ERROR_CHARS = 300;

/** Set on messages that took effect. */
const HANDLED_FLAG = '$Satchel';

/** What is done with messages. */
interface ArrivalsOf<Arrival> {
  /** Fields by which `wanted` judges. */
  fields: readonly string[];
  /** How many bytes of a message are to be read, by its fields, those of its parts, and its size; 0 where it is left alone. */
  wanted(mailbox_id: number, fields: string, of: { parts: string; size: number }): number;
  /** What is in a message; null where there is nothing for us. Rejects where it can't be read. */
  read(mailbox_id: number, message: Uint8Array): Promise<Arrival | null>;
  /** Has it take effect, and says what it told of mails, or that it could not be read; null where it is not believed. */
  take(tx: Tx, arrival: Arrival, of: { mailbox_id: number; arrived_at: number | null }): Taken | null;
}

export interface ReaderDeps<Arrival = unknown> {
  inboxes: Inboxes;
  database: Database;
  logger: Logger;
  resolver: Resolver;
  arrivals: ArrivalsOf<Arrival>;
  /** Shorter waits, for tests. */
  waits?: Partial<Waits>;
}

/** How often what a server sends is measured. */
const METER_EVERY_MS = 250;

interface Waits {
  look_every_ms: number;
  retry_min_ms: number;
  step_ms: number;
}

/** The inbox was replaced or removed: this reader stops. */
class Replaced extends Error {}

export class InboxReader<Arrival = unknown> {
  readonly #waits: Waits;
  readonly #stopping = new AbortController();
  #client: ImapFlow | null = null;
  /** Sessions in a row that ended without any progress. */
  #failures = 0;
  /** Until the server has failed over it. */
  #asks_for_parts = true;
  /** Messages up to this one are fetched one by one, as a fetch of many failed. */
  #one_by_one_to = 0;
  /** The message that could not be fetched or read when that was tried last. */
  #trouble: number | null = null;
  #wake: () => void = () => {};

  constructor(
    private readonly inbox: InboxRow,
    private readonly deps: ReaderDeps<Arrival>,
  ) {
    this.#waits = {
      look_every_ms: INBOX_LOOK_EVERY_MS,
      retry_min_ms: INBOX_RETRY_MIN_MS,
      step_ms: IMAP_STEP_DEADLINE_MS,
      ...deps.waits,
    };
  }

  /** Reads until it is stopped. Never rejects. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#session();
      } catch (error) {
        if (error instanceof Replaced) return;
        if (this.#stopping.signal.aborted) return;
        this.#failures += 1;
        await this.#noteFailure(error);
      } finally {
        this.#client?.close();
        this.#client = null;
      }
      const retry_ms = Math.min(
        this.#waits.retry_min_ms * 2 ** Math.min(this.#failures - 1, 30),
        INBOX_RETRY_MAX_MS,
      );
      await this.#pause(retry_ms, { until_news: false });
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#client?.close();
  }

  async #noteFailure(error: unknown): Promise<void> {
    const reason = wordsOf(error);
    const { host, mailbox_id } = this.inbox;
    this.deps.logger.warn('an inbox could not be read', { mailbox_id, host, error: reason });
    await this.deps.inboxes.noteFailure(this.inbox, reason).catch((cause: unknown) => {
      this.deps.logger.error('trouble with an inbox could not be noted', { error: messageOf(cause) });
    });
  }

  /** From the log-in to the end of the connection. */
  async #session(): Promise<never> {
    const client = await this.#connect();
    let has_news = true;
    client.on('exists', () => {
      has_news = true;
      this.#wake();
    });
    client.on('close', () => this.#wake());
    const { uidValidity, permanentFlags, readOnly } = await this.#step(
      client,
      client.mailboxOpen(this.inbox.folder),
    );
    const takes_flags =
      !readOnly &&
      (permanentFlags === undefined || permanentFlags.has('\\*') || permanentFlags.has(HANDLED_FLAG));
    const { inboxes } = this.deps;
    const state = await inboxes.open(this.inbox, String(uidValidity));
    if (!state) throw new Replaced();
    let { last_uid } = state;
    // Those whose flag a crash or a lost connection left out.
    let unflagged: readonly number[] = state.unflagged;
    for (;;) {
      has_news = false;
      if (unflagged.length > 0) await this.#flag(client, takes_flags ? unflagged : []);
      unflagged = [];
      last_uid = await this.#look(client, { last_uid, takes_flags });
      await inboxes.noteLook(this.inbox);
      this.#failures = 0;
      // However often a server announces news, it is not read all the time.
      await this.#pause(INBOX_LOOK_PAUSE_MS, { until_news: false });
      if (!has_news) await this.#pause(this.#waits.look_every_ms, { until_news: true });
      if (this.#stopping.signal.aborted || !client.usable) throw new Error('The connection was closed.');
      await this.#step(client, client.noop());
    }
  }

  async #connect(): Promise<ImapFlow> {
    const { host, port, security, username } = this.inbox;
    const pass = this.deps.inboxes.passwordOf(this.inbox);
    if (pass === null) throw new Error('The password of the inbox does not decrypt.');
    if (isLinkLocal(host)) throw new Error(`The server ${LINK_LOCAL}.`);
    // Loaded where there is an inbox: most servers have none.
    const { ImapFlow } = await import('imapflow');
    const client = new ImapFlow({
      host,
      port,
      secure: security === 'tls',
      ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
      tls: {
        ...serverLookup(this.deps),
        // For an IP address it would pass `false`, which Bun refuses.
        ...(isIP(host) === 0 ? {} : { servername: undefined }),
      },
      auth: { user: username, pass },
      logger: false,
      // Compressed answers could not be bounded.
      disableCompression: true,
      disableBinary: true,
      autoIdleDelay: IMAP_IDLE_AFTER_MS,
      missingIdleCommand: 'NOOP',
      connectionTimeout: IMAP_CONNECT_TIMEOUT_MS,
      greetingTimeout: IMAP_GREETING_TIMEOUT_MS,
      maxLineLength: MAX_IMAP_LINE_BYTES,
      maxLiteralSize: AGGREGATE_FETCH_BYTES,
      maxResponseSize: MAX_IMAP_LINE_BYTES + AGGREGATE_FETCH_BYTES,
    });
    // The command under way fails with the connection; without a listener the event would end the process.
    client.on('error', () => {});
    if (this.#stopping.signal.aborted) throw new Error('The reader was stopped.');
    this.#client = client;
    await this.#step(client, client.connect());
    return client;
  }

  /** Looks at all messages after one, and returns the last. */
  async #look(client: ImapFlow, from: { last_uid: number; takes_flags: boolean }): Promise<number> {
    const wanted = { uid: `${from.last_uid + 1}:*`, unKeyword: HANDLED_FLAG };
    const found = await this.#step(client, client.search(wanted, { uid: true }));
    // A range that begins after the last message means the last message (RFC 3501 6.4.8).
    const uids = (found || []).filter((uid) => uid > from.last_uid).sort((a, b) => a - b);
    let last_uid = from.last_uid;
    while (uids.length > 0) {
      const is_alone = (uids[0] ?? 0) <= this.#one_by_one_to;
      const chunk = uids.splice(0, is_alone ? 1 : INBOX_CHUNK_MESSAGES);
      const candidates = is_alone
        ? new Map(chunk.map((uid) => [uid, AGGREGATE_FETCH_BYTES]))
        : await this.#candidatesOf(client, chunk);
      for (const uid of chunk) {
        if (this.#stopping.signal.aborted) throw new Error('The reader was stopped.');
        const max_bytes = candidates.get(uid) ?? 0;
        if (max_bytes === 0 && uid !== chunk.at(-1)) continue;
        const is_taken = await (max_bytes > 0 ? this.#take(client, uid, max_bytes) : this.#note(uid, null));
        if (is_taken) await this.#flag(client, from.takes_flags ? [uid] : []);
      }
      last_uid = chunk.at(-1) ?? last_uid;
    }
    return last_uid;
  }

  /**
   * How many bytes are to be read of messages that may be for us, by UID. Where one of them breaks the answer, they are fetched one by
   * one from then on.
   */
  async #candidatesOf(client: ImapFlow, uids: readonly number[]): Promise<Map<number, number>> {
    const { arrivals } = this.deps;
    const bodyParts = PARTS_ASKED_FOR.map((part) => ({
      key: `${part}.mime`,
      start: 0,
      maxLength: MAX_PART_HEADER_BYTES,
    }));
    const query = {
      ...(this.#asks_for_parts ? { bodyParts } : {}),
      uid: true,
      size: true,
      headers: [...arrivals.fields],
    };
    try {
      const heads = await this.#step(client, client.fetchAll(uids.join(','), query, { uid: true }));
      return new Map(
        heads.map(({ uid, headers, size = 0, bodyParts: told }) => {
          const fields = headers?.subarray(0, MAX_REPORT_HEADER_BYTES).toString('latin1') ?? '';
          return [uid, arrivals.wanted(this.inbox.mailbox_id, fields, { parts: partsOf(told), size })];
        }),
      );
    } catch (error) {
      if (!this.#asks_for_parts) this.#one_by_one_to = uids.at(-1) ?? 0;
      this.#asks_for_parts = false;
      throw error;
    }
  }

  /**
   * Has what is in a message take effect, where there is something. Whether it did. A message for which this fails twice is
   * passed over, as no other would be read else; but not where the server is in trouble itself, or we are.
   */
  async #take(client: ImapFlow, uid: number, max_bytes: number): Promise<boolean> {
    const is_again = this.#trouble === uid;
    // A server that does not even tell the message's number has a greater trouble than this message.
    if (is_again) await this.#step(client, client.fetchOne(String(uid), { uid: true }, { uid: true }));
    try {
      const message = await this.#fetch(client, uid, max_bytes);
      const arrival = message && (await this.deps.arrivals.read(this.inbox.mailbox_id, message.source));
      return await this.#note(uid, arrival && { arrival, arrived_at: message.arrived_at });
    } catch (error) {
      if (error instanceof Replaced || mayPass(error) || this.#stopping.signal.aborted) throw error;
      if (is_again) await this.#skip(uid, error);
      else this.#trouble = uid;
      if (!is_again || !client.usable) throw error;
      return false;
    }
  }

  async #skip(uid: number, error: unknown): Promise<void> {
    const { host, mailbox_id } = this.inbox;
    const { inboxes, logger } = this.deps;
    if (!(await inboxes.noteSkipped(this.inbox, uid))) throw new Replaced();
    logger.warn('a message of an inbox was passed over', { mailbox_id, host, uid, error: wordsOf(error) });
    this.#failures = 0;
  }

  /** The beginning of a message, and when the server got it; null where it is gone meanwhile. */
  async #fetch(
    client: ImapFlow,
    uid: number,
    max_bytes: number,
  ): Promise<{ source: Uint8Array; arrived_at: number | null } | null> {
    const query = { uid: true, internalDate: true, source: { start: 0, maxLength: max_bytes } };
    const message = await this.#step(client, client.fetchOne(String(uid), query, { uid: true }));
    if (!message) return null;
    if (!message.source) throw new Error('The server gave nothing of a message.');
    const arrived_at = new Date(message.internalDate ?? Number.NaN).getTime();
    return { source: message.source, arrived_at: Number.isNaN(arrived_at) ? null : arrived_at };
  }

  /** Has a message take effect and notes that it was looked at, both or neither. Whether it did. */
  async #note(uid: number, read: { arrival: Arrival; arrived_at: number | null } | null): Promise<boolean> {
    const { database, inboxes, arrivals } = this.deps;
    const { mailbox_id } = this.inbox;
    const is_taken = await database.write((tx) => {
      const taken = read && arrivals.take(tx, read.arrival, { mailbox_id, arrived_at: read.arrived_at });
      if (!inboxes.noteMessage(tx, this.inbox, { uid, taken })) throw new Replaced();
      return taken !== null && 'told' in taken;
    });
    this.#failures = 0;
    return is_taken;
  }

  /** Marks messages as handled; where the folder takes no such flag, that they need none is noted. */
  async #flag(client: ImapFlow, uids: readonly number[]): Promise<void> {
    if (uids.length > 0)
      await this.#step(client, client.messageFlagsAdd(uids.join(','), [HANDLED_FLAG], { uid: true }));
    await this.deps.inboxes.noteFlagged(this.inbox);
  }

  /** A command's answer. One that takes too long or is too large ends the connection. */
  async #step<T>(client: ImapFlow, answer: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const giveUp = (reason: string): void => {
      late.reject(new Error(reason));
      client.close();
    };
    const { received } = client.stats();
    const timer = setTimeout(
      () => giveUp(`The server gave no full answer within ${this.#waits.step_ms / 1000} s.`),
      this.#waits.step_ms,
    );
    const meter = setInterval(() => {
      if (client.stats().received - received > MAX_IMAP_STEP_BYTES) giveUp('The server sent far too much.');
    }, METER_EVERY_MS);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
      clearInterval(meter);
    }
  }

  /** Until the time is over or it is stopped, and where news end it, until there are some. */
  #pause(ms: number, { until_news }: { until_news: boolean }): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      if (until_news) this.#wake = end;
    });
  }
}

/** The fields of a message's parts, as far as they were told. */
function partsOf(told: Map<string, Buffer> | undefined): string {
  return [...(told?.values() ?? [])].map((fields) => fields?.toString('latin1') ?? '').join('\n');
}

/** What the server said, where it said something. */
function wordsOf(error: unknown): string {
  const said = error instanceof Error && 'responseText' in error ? error.responseText : undefined;
  const is_refused =
    error instanceof Error && 'authenticationFailed' in error && error.authenticationFailed === true;
  const words = typeof said === 'string' && said !== '' ? said : messageOf(error);
  return `${is_refused ? 'The log-in was refused: ' : ''}${words}`
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_INBOX_ERROR_CHARS);
}

/** At a stop the transaction of a message is waited for, and no network. */
const STOP_INBOXES_DEADLINE_MS = 2_000;

export class InboxReaders<Arrival> {
  /** By the version of its inbox. */
  readonly #readers = new Map<string, { reader: InboxReader<Arrival>; ended: Promise<void> }>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly deps: ReaderDeps<Arrival>) {}

  start(): void {
    // A wake-up that is lost costs a minute.
    this.#timer = setInterval(() => this.refresh(), INBOX_LOOK_EVERY_MS);
    this.refresh();
  }

  /** Takes up what changed of the inboxes. */
  refresh(): void {
    if (!this.#timer) return;
    try {
      const rows = this.deps.inboxes.listRows();
      const versions = new Set(rows.map(({ version }) => version));
      for (const [version, { reader }] of this.#readers) if (!versions.has(version)) reader.stop();
      for (const row of rows) {
        if (this.#readers.has(row.version)) continue;
        const reader = new InboxReader(row, this.deps);
        const ended = reader.run().finally(() => this.#readers.delete(row.version));
        this.#readers.set(row.version, { reader, ended });
      }
    } catch (error) {
      this.deps.logger.error('the inboxes could not be listed', { error: messageOf(error) });
    }
  }

  /** Resolves once nobody reads any more, and after a while at the latest. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    const ended = [...this.#readers.values()].map(({ reader, ended: end }) => {
      reader.stop();
      return end;
    });
    if (ended.length > 0) await Promise.race([Promise.all(ended), Bun.sleep(STOP_INBOXES_DEADLINE_MS)]);
  }
}
