/**
 * Clicks and opens: they gather for a moment, so that no redirect waits for the disk, and a click counts only once it can no
 * longer turn out to be one of a scanner's burst.
 */
import { isbot } from 'isbot';
import { messageOf } from '../errors.ts';
import {
  CLICK_FLUSH_MS,
  CLICK_SETTLE_PIECE,
  MAX_CLICKS_PER_EMAIL,
  MAX_GATHERED_CLICKS,
  MAX_USER_AGENT_CHARS,
  SCANNER_WINDOW_MS,
} from '../limits.ts';
import type { KeyOwner } from '../marketing/service.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type Clock, toIso } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import * as store from './click-store.ts';

/** A person opened a mail, or followed a link of it, for the first time. */
export interface Reading {
  kind: 'clicked' | 'opened';
  email_id: string;
  at: number;
}

/** Told within the transaction in which a click begins to count, or an opening is kept. */
export type ReadingListener = (tx: Tx, reading: Reading) => void;

export interface ClicksDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
}

export class Clicks {
  readonly #deps: ClicksDeps;
  readonly #listeners: ReadingListener[] = [];
  /** By what makes two clicks the same. */
  #clicks = new Map<string, store.NewClick>();
  /** When each mail was opened. */
  #opens = new Map<string, number>();
  /** When it is run next, by `performance.now()`. */
  #timer: { due: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #is_running = false;

  constructor(deps: ClicksDeps) {
    this.#deps = deps;
  }

  /** Has something told of each mail's first opening, and of its first click by a person. */
  listen(listener: ReadingListener): void {
    this.#listeners.push(listener);
  }

  /** From here on clicks are settled by themselves; those that a stop left unsettled too. */
  start(): void {
    this.#is_running = true;
    this.#plan(0);
  }

  /** Writes what has gathered. */
  async stop(): Promise<void> {
    this.#is_running = false;
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
    await this.#run();
  }

  /** Notes that a link was followed; it is written a moment later. */
  click(
    link: { email_id: string; position: number },
    by: { method: string; user_agent: string | null },
  ): void {
    const flag = flagOf(by);
    const key = `${link.email_id} ${link.position} ${flag}`;
    if (this.#clicks.has(key) || this.#clicks.size >= MAX_GATHERED_CLICKS) return;
    this.#clicks.set(key, {
      ...{ email_id: link.email_id, position: link.position, at: this.#deps.clock.now(), flag },
      user_agent: by.user_agent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
    });
    this.#plan(CLICK_FLUSH_MS);
  }

  /** Notes that a mail was opened. */
  open(email_id: string): void {
    if (this.#opens.has(email_id) || this.#opens.size >= MAX_GATHERED_CLICKS) return;
    this.#opens.set(email_id, this.#deps.clock.now());
    this.#plan(CLICK_FLUSH_MS);
  }

  /** Writes what has gathered, and has those clicks count that no burst can reach any more. Returns whether some wait still. */
  async settle(): Promise<boolean> {
    const { database, clock } = this.#deps;
    const until_ms = clock.now() - SCANNER_WINDOW_MS - 1;
    // First of all what has gathered, as it may make bursts of what is due.
    const [clicks, opens] = [this.#clicks, this.#opens];
    this.#clicks = new Map();
    this.#opens = new Map();
    if (clicks.size > 0 || opens.size > 0)
      try {
        await database.write((tx) => {
          for (const click of clicks.values()) keep(tx, click);
          for (const [email_id, at] of opens)
            if (store.markOpened(tx, email_id, at)) this.#tell(tx, { kind: 'opened', email_id, at });
        });
      } catch (error) {
        // The disk may be full for a while: they wait for the next time.
        this.#clicks = new Map([...clicks, ...this.#clicks]);
        this.#opens = new Map([...opens, ...this.#opens]);
        throw error;
      }
    for (;;) {
      if (store.listDue(database.read, until_ms, 1).length === 0) break;
      await database.write((tx) => this.#settlePiece(tx, until_ms));
    }
    return store.hasUnsettled(database.read);
  }

  /** When a click came that may count yet, or turn out to be a scanner's; null where none waits. */
  unsettled(read: Tx, email_id: string): number | null {
    let first = store.findUnsettled(read, email_id);
    for (const click of this.#clicks.values())
      if (click.email_id === email_id && click.flag === null) first = Math.min(first ?? click.at, click.at);
    return first;
  }

  /** How clicks take part in what is held about an address; it must be asked before the log empties its addresses. */
  holderOfAddresses() {
    return {
      name: 'clicks',
      export: (read: Tx, owner: KeyOwner, email: string): unknown[] =>
        store
          .listClicksOfAddress(read, owner.id, email)
          .map(({ at, ...click }) => ({ ...click, at: toIso(at) })),
      forget: (tx: Tx, project_id: number, email: string): number =>
        store.deleteClicksOfAddress(tx, project_id, email),
    };
  }

  #settlePiece(tx: Tx, until_ms: number): void {
    for (const click of store.listDue(tx, until_ms, CLICK_SETTLE_PIECE)) {
      const { email_id, at } = click;
      if (store.settleClick(tx, click)) this.#tell(tx, { kind: 'clicked', email_id, at });
    }
  }

  #tell(tx: Tx, reading: Reading): void {
    for (const listener of this.#listeners) listener(tx, reading);
  }

  /** Whatever is planned for later comes along: what has gathered must not wait for what is to be settled. */
  #plan(delay_ms: number): void {
    const due = performance.now() + delay_ms;
    if (!this.#is_running || (this.#timer && this.#timer.due <= due)) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    const handle = setTimeout(() => {
      this.#timer = null;
      void this.#run();
    }, delay_ms);
    this.#timer = { due, handle };
  }

  async #run(): Promise<void> {
    try {
      if (await this.settle()) this.#plan(SCANNER_WINDOW_MS);
    } catch (error) {
      this.#deps.logger.error('clicks could not be kept', { error: messageOf(error) });
      this.#plan(SCANNER_WINDOW_MS);
    }
  }
}

/** What is known of a click by itself: links are asked for by HEAD, or by a robot that says so, without anybody reading. */
function flagOf({
  method,
  user_agent,
}: {
  method: string;
  user_agent: string | null;
}): store.ClickFlag | null {
  if (method === 'HEAD') return 'head';
  return user_agent !== null && isbot(user_agent) ? 'robot' : null;
}

/** Several distinct links of one mail within seconds are a scanner's: this one, and those before it that do not count yet. */
function keep(tx: Tx, click: store.NewClick): void {
  if (store.isRepeated(tx, click, SCANNER_WINDOW_MS)) return;
  const kept = store.findKept(tx, click.email_id);
  if (!kept) return;
  const is_burst = store.flagBurst(tx, click, SCANNER_WINDOW_MS);
  const judged = { ...click, flag: click.flag ?? (is_burst ? 'burst' : null) };
  const is_full = kept.n >= MAX_CLICKS_PER_EMAIL && (judged.flag !== null || kept.clicked_at !== null);
  if (!is_full && !store.isRepeated(tx, judged, SCANNER_WINDOW_MS)) store.insertClick(tx, judged);
}
