/**
 * Clicks and opens. They are collected for a moment, in a file, so that no redirect waits for the database,
 * and each counts only once it can no longer turn out to be a scanner's.
 */

import { isbot } from 'isbot';
import { messageOf } from '../../errors.ts';
import { MAX_USER_AGENT_CHARS, SCANNER_WINDOW_MS } from '../../limits.ts';
import { BULK_SOURCES, type ReadMail, sentMails } from '../../mail/emails/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { ClickFile } from './click-file.ts';
import * as store from './click-store.ts';
import { readMerge } from './merging.ts';
import type { ClickFlag } from './tables.ts';

/** Decision: so are two of a mail's link, picture and unsubscribe page within two seconds. */
export const SCANNER_MOMENT_MS = 2_000;
/** Clicks and opens wait this long for a shared transaction. Decision: on disk 200 ms after the answer. */
export const CLICK_FLUSH_MS = 50;
/** Clicks of one mail that are kept. People follow a few links; scanners all, some of them daily. */
const MAX_CLICKS_PER_EMAIL = 100;

/** Mails whose unsubscribe page one visit is of: the newest, as scanners look at mail when it arrives. */
const MAX_MAILS_OF_A_PAGE = 5;
/** Those that gather at most, some 200 bytes each: of a flood that comes faster the rest is not kept. */
const MAX_GATHERED_CLICKS = 10_000;
/** Clicks settled in one transaction, so that nobody waits long behind it. */
const CLICK_SETTLE_PIECE = 200;
/** As the API says it of a number. */
export const OPENED_BY_MACHINE =
  'Mails whose picture a proxy (Apple, Google, Yahoo) or a gateway fetched, which tells of no reader. One may be in `opened` as well.';

/**
 * A person opened a mail or followed a link of it for the first time, or a machine fetched its picture for
 * the first time.
 */
export interface Reading {
  kind: 'clicked' | 'opened' | 'opened_by_machine';
  email_id: string;
  /** The contact that the mail was for; null where it was for nobody on a list. */
  contact_id: number | null;
  is_test: boolean;
  at: number;
}

/** When it was, under the name of the column that each noun keeps it in. */
export function readAt(kind: Reading['kind'], at: number) {
  if (kind === 'opened_by_machine') return { opened_by_machine_at: at };
  return kind === 'clicked' ? { clicked_at: at } : { opened_at: at };
}

/** Called in the transaction in which a click or an opening begins to count. */
type ReadingListener = (tx: Tx, reading: Reading) => void;

/** A person followed a link of a mail; `is_first` unless they had followed that one before. */
export interface FollowedLink {
  email_id: string;
  position: number;
  is_first: boolean;
}
type LinkListener = (tx: Tx, followed: FollowedLink) => void;

/** A request for an address of a mail, as far as it tells a person from a program. */
type Visit = Pick<Request, 'method' | 'headers'>;

export class Clicks {
  readonly #listeners: ReadingListener[] = [];
  readonly #link_listeners: LinkListener[] = [];
  /** By what makes two of them the same. */
  #gathered = new Map<string, store.NewClick>();
  /** Those that are being written. */
  readonly #in_hand = new Set<Map<string, store.NewClick>>();
  readonly #file: ClickFile;
  /** When it is run next, by `performance.now()`. */
  #timer: { due: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #is_running = false;
  /** The last try to write failed. */
  #is_refused = false;

  constructor(private readonly deps: { database: Database; clock: Clock; logger: Logger; data_dir: string }) {
    this.#file = new ClickFile(deps.data_dir);
  }

  /** Adds a listener for each mail's first opening, and its first click by a person. */
  listen(listener: ReadingListener): void {
    this.#listeners.push(listener);
  }

  /** Adds a listener for each link that a person followed, as often as that is kept. */
  listenToLinks(listener: LinkListener): void {
    this.#link_listeners.push(listener);
  }

  /** Starts settling clicks, with those that the last stop left unsettled, or a kill unwritten. */
  start(): void {
    this.#is_running = true;
    for (const click of this.#file.read())
      if (!store.hasClick(this.deps.database.read, click)) this.#gathered.set(keyOf(click), click);
    this.#file.keepOnly(this.#unwritten());
    this.#plan(0);
  }

  /** Writes what was collected. */
  async stop(): Promise<void> {
    this.#is_running = false;
    this.#unplan();
    await this.#run();
  }

  /** Notes that a link was followed; it is written a moment later. */
  click(link: { email_id: string; position: number }, visit: Visit): void {
    this.#gather(link, visit);
  }

  /** Notes that a mail's picture was asked for: it was opened, as far as a person asked. */
  open(email_id: string, visit: Visit): void {
    this.#gather({ email_id, position: store.PLACE.picture }, visit);
  }

  /** Notes that the invisible link was followed. */
  trap(email_id: string, visit: Visit): void {
    this.#gather({ email_id, position: store.PLACE.hidden_link }, visit);
  }

  /**
   * Notes a visit to the unsubscribe page of an address. All its mails link there: the visit counts for the
   * newest of them.
   */
  leavingPage(of: { project_id: number; email: string }, visit: Visit): void {
    const { project_id, email } = of;
    const to = { project_id, email, sources: BULK_SOURCES };
    for (const email_id of sentMails.listIdsTo(this.deps.database.read, to, MAX_MAILS_OF_A_PAGE))
      this.#gather({ email_id, position: store.PLACE.unsubscribe_page }, visit);
  }

  #gather({ email_id, position }: { email_id: string; position: number }, visit: Visit): void {
    const user_agent = visit.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_CHARS) ?? null;
    const click = {
      email_id,
      position,
      at: this.deps.clock.now(),
      flag: flagOf(position, visit),
      user_agent,
    };
    const key = keyOf(click);
    if (this.#gathered.has(key) || this.#gathered.size >= MAX_GATHERED_CLICKS) return;
    this.#gathered.set(key, click);
    this.#file.add(click);
    this.#plan(CLICK_FLUSH_MS);
  }

  #unwritten(): store.NewClick[] {
    return [...this.#in_hand, this.#gathered].flatMap((clicks) => [...clicks.values()]);
  }

  /**
   * Writes what was collected. Counts clicks that are too old to be a scanner's. Returns whether some still
   * wait.
   */
  async settle(): Promise<boolean> {
    const { database, clock } = this.deps;
    const until_ms = clock.now() - SCANNER_WINDOW_MS - 1;
    // Writes first: what was collected may turn clicks that are due into a burst.
    const gathered = this.#gathered;
    this.#gathered = new Map();
    if (gathered.size > 0) {
      this.#in_hand.add(gathered);
      try {
        await database.write((tx) => {
          for (const click of gathered.values()) this.#keep(tx, click);
        });
      } catch (error) {
        // The disk may be full for a while: they wait for the next time.
        this.#gathered = new Map([...gathered, ...this.#gathered]);
        throw error;
      } finally {
        this.#in_hand.delete(gathered);
      }
      this.#file.keepOnly(this.#unwritten());
    }
    for (;;) {
      if (store.listDue(database.read, until_ms, 1).length === 0) break;
      await database.writePiece((tx) => this.#settlePiece(tx, until_ms));
    }
    return store.hasUnsettled(database.read);
  }

  /** The time of a click that has not been settled yet; null where there is none. */
  unsettled(read: Tx, email_id: string): number | null {
    let first = store.findUnsettled(read, email_id);
    for (const click of this.#unwritten())
      if (click.email_id === email_id && click.position > 0 && click.flag === null)
        first = Math.min(first ?? click.at, click.at);
    return first;
  }

  /** Clicks as a holder of an address's data, which go with its mails. */
  holderOfAddresses(): AddressHolder {
    const { database } = this.deps;
    return {
      name: 'clicks',
      *find({ id: project_id }, email) {
        for (const ids of sentMails.idsOfAddress(database, { project_id, email }))
          yield store.listClicks(database.read, ids).map(({ email_id, position, at, flag, user_agent }) => ({
            show: () => ({ email_id, what: whatOf(position), at: toIso(at), flag, user_agent }),
          }));
      },
    };
  }

  #settlePiece(tx: Tx, until_ms: number): void {
    for (const click of store.listDue(tx, until_ms, CLICK_SETTLE_PIECE)) {
      const { email_id, position, at } = click;
      const kind = position === store.PLACE.picture ? 'opened' : 'clicked';
      if (kind === 'clicked') {
        const is_first = !store.hasCounted(tx, email_id, position);
        for (const listener of this.#link_listeners) listener(tx, { email_id, position, is_first });
      }
      store.settleClick(tx, click.id);
      const mail = sentMails.find(tx, email_id);
      if (!mail || !sentMails.noteReading(tx, email_id, { kind, at })) continue;
      this.#tell(tx, mail, { kind, email_id, at });
    }
  }

  #tell(tx: Tx, mail: ReadMail, what: Pick<Reading, 'kind' | 'email_id' | 'at'>): void {
    const contact_id = mail.merge === null ? null : readMerge(JSON.parse(mail.merge)).c;
    for (const listener of this.#listeners) listener(tx, { ...what, contact_id, is_test: mail.is_test });
  }

  /**
   * Keeps a click. A burst over several addresses of one mail is a scanner's: the click and those before it
   * are flagged.
   */
  #keep(tx: Tx, click: store.NewClick): void {
    const { email_id, at } = click;
    const mail = sentMails.find(tx, email_id);
    // The contact may have been forgotten since.
    if (!mail || mail.to_email === '') return;
    const is_burst = store.flagBurst(tx, click, WINDOWS);
    const flag = click.flag ?? (is_burst ? 'burst' : null);
    const counted_at = click.position === store.PLACE.picture ? mail.opened_at : mail.clicked_at;
    // A machine's is known to be one at once, whatever comes after.
    const is_new_machine = flag === 'machine' && !store.hasMachine(tx, email_id);
    const may_count = is_new_machine || (flag === null && click.position >= 0 && counted_at === null);
    if (may_count || store.countClicks(tx, email_id) < MAX_CLICKS_PER_EMAIL)
      store.insertClick(tx, { ...click, flag });
    if (is_new_machine) this.#tell(tx, mail, { kind: 'opened_by_machine', email_id, at });
  }

  /**
   * Plans the next write, which is not put off by a later settling. After a failure it is not moved up: each
   * click would be another try on a full disk, and another line in the log.
   */
  #plan(delay_ms: number): void {
    const due = performance.now() + delay_ms;
    if (!this.#is_running || (this.#timer && (this.#is_refused || this.#timer.due <= due))) return;
    this.#unplan();
    const handle = setTimeout(() => {
      this.#timer = null;
      void this.#run();
    }, delay_ms);
    this.#timer = { due, handle };
  }

  #unplan(): void {
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = null;
  }

  async #run(): Promise<void> {
    try {
      const is_waiting = await this.settle();
      this.#is_refused = false;
      if (is_waiting) this.#plan(SCANNER_WINDOW_MS);
    } catch (error) {
      this.#is_refused = true;
      this.#unplan();
      this.deps.logger.error('clicks could not be kept', { error: messageOf(error) });
      this.#plan(SCANNER_WINDOW_MS);
    }
  }
}

const WINDOWS = { links_ms: SCANNER_WINDOW_MS, others_ms: SCANNER_MOMENT_MS };

const keyOf = ({ email_id, position, flag }: store.NewClick): string => `${email_id} ${position} ${flag}`;

/**
 * True where a visit by itself is a robot's: a HEAD, a prefetch, no User-Agent, or one that says so. Of pictures
 * it may be a machine's that fetches them for people, whether these look at the mail or not.
 */
function flagOf(position: number, { method, headers }: Visit): ClickFlag | null {
  if (method === 'HEAD') return 'head';
  const user_agent = headers.get('user-agent')?.trim() ?? '';
  const purpose = `${headers.get('sec-purpose')} ${headers.get('purpose')}`;
  if (user_agent === '' || /\bprefetch\b/i.test(purpose)) return 'robot';
  if (position === store.PLACE.picture) return isPictureMachine(user_agent) ? 'machine' : null;
  return isLinkMachine(user_agent) ? 'robot' : null;
}

/** As an export names what was asked for. */
function whatOf(position: number): string {
  if (position > 0) return 'link';
  if (position === store.PLACE.picture) return 'picture';
  return position === store.PLACE.hidden_link ? 'hidden link' : 'unsubscribe page';
}

/**
 * Picture proxies. Apple's says nothing but `Mozilla/5.0`, whether its owner looks at the mail or not. The
 * others are in github.com/matomo-org/device-detector (regexes/bots.yml) and
 * github.com/monperrus/crawler-user-agents; the one that ends with `Edge/12.246 Mozilla/5.0` is Google's too,
 * ahead of the reader (gmass.co/blog/false-opens-in-gmail).
 */
const PICTURE_PROXIES = [
  /^Mozilla\/5\.0$/,
  /GoogleImageProxy|ggpht\.com/i,
  /Edge\/12\.246 Mozilla\/5\.0$/,
  /YahooMailProxy/i,
  /Seznam-?Email-?Proxy/i,
  /FastmailUA\//i,
  /Shortwave Image Fetcher/i,
];

/**
 * Gateways, by the names that their makers give them. Barracuda's is in the lists above; the others are those
 * that senders report (for one, suped.com: which corporate filters follow links).
 */
const GATEWAYS = [
  /\b(?:barracuda|proofpoint|mimecast|symantec|messagelabs|trend ?micro|forcepoint|sophos|fire ?eye|trellix)/i,
  /\b(?:ironport|cisco ?secure ?email|forti(?:mail|guard|sandbox)|sonicwall|zscaler|avanan|vade ?secure|safelinks)/i,
];

/**
 * True where one of them fetched a picture. Other robots are not asked for: mail programs of people have all
 * kinds of names.
 */
export function isPictureMachine(user_agent: string): boolean {
  return [...PICTURE_PROXIES, ...GATEWAYS].some((name) => name.test(user_agent));
}

/** True where a program followed a link: people do that with browsers, which say so. */
export function isLinkMachine(user_agent: string): boolean {
  return isbot(user_agent) || isPictureMachine(user_agent);
}
