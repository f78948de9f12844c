/**
 * The engine: gives the contacts of a list their turns, a piece a transaction, in the order of their ids. The place behind the last
 * turn moves in the commit of the mails that the turns led to, so that however the engine is cut off, nobody is left out and
 * nobody gets a mail twice. An A/B goes through the list twice: for its share, and once it is decided for whoever had no turn.
 */
import { AppError } from '../../errors.ts';
import type { AcceptBulk, NewEmail } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { utcDay } from '../../platform/host/clock.ts';
import { PieceSize } from '../../platform/host/waiting.ts';
import { judge } from '../audience.ts';
import {
  LOOK_AGAIN_MS,
  MAILS_AHEAD,
  MAILS_AHEAD_WAIT_MS,
  type NextTurn,
  waitForCapacity,
} from '../campaign-engine.ts';
import type { CampaignDeps } from '../campaigns.ts';
import { type ContactFilter, type ContactStanding, pieceFor } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import type { MailOwner, MailPlan } from '../mails/service.ts';
import { readUsage, type Settings, shutUntil, takeUsage } from '../settings/service.ts';
import { drawShare, isWalked, phaseOf } from './ab.ts';
import { BROADCAST_SEND, type BroadcastLife } from './lifecycle.ts';
import { insertRecipient, type Turn, turnsAmong } from './recipient-store.ts';
import { countOfReason } from './records.ts';
import type { AbPlan } from './schemas.ts';
import { type Broadcasts, mailingOf } from './service.ts';
import * as store from './store.ts';
import type { BroadcastRow, LeftOutReason } from './tables.ts';

/** Contacts who have their turn in one transaction: in a first one, and in any. */
const FIRST_PIECE = 25;
const MOST_IN_PIECE = 50;
/** Contacts of whom the share of an A/B is drawn in one transaction: most of them get no mail yet. */
const DRAWN_PIECE = 100;

export class BroadcastEngine {
  readonly what = 'broadcast';
  readonly job_type = BROADCAST_SEND;
  readonly #size = new PieceSize(FIRST_PIECE, MOST_IN_PIECE);

  constructor(
    private readonly deps: CampaignDeps & { broadcasts: Broadcasts; broadcast_life: BroadcastLife },
  ) {}

  /** Begins a broadcast whose time has come, and gives turns until everything must wait, or `stopping`. Null when there is nothing left to do. */
  async turn(
    owner: MailOwner,
    { id: broadcast_id, job_id }: { id: number; job_id: string },
    stopping: AbortSignal,
  ): Promise<NextTurn> {
    const { database, broadcast_life, emails } = this.deps;
    const begins_at = await broadcast_life.beginScheduled({ broadcast_id, job_id });
    if (begins_at !== null) return begins_at;
    for (;;) {
      const looks_at: number | null = await database.writePiece((tx) =>
        emails.acceptBulk(tx, (accept) => this.#movePiece(tx, owner, { broadcast_id, job_id, accept })),
      );
      if (looks_at === null || looks_at > 0 || stopping.aborted) return looks_at;
    }
  }

  /** When to look again, 0 at once; null where nothing is left to do. */
  #movePiece(
    tx: Tx,
    owner: MailOwner,
    of: { broadcast_id: number; job_id: string; accept: AcceptBulk },
  ): number | null {
    const { lists, marketing, clock, broadcasts, broadcast_life } = this.deps;
    const row = store.rows.findById(tx, of.broadcast_id);
    const list = row && lists.findById(row.list_id, tx);
    // After a pause and a resume another job sends it.
    if (row?.job_id !== of.job_id || !list) return null;
    if (row.status === 'testing') return broadcast_life.decideInTime(tx, row);
    if (row.status !== 'sending') return null;
    const now_ms = clock.now();
    if (isWalked(row)) {
      if (phaseOf(row) === 'share') return broadcast_life.beginTesting(tx, row);
      return broadcast_life.finish(tx, row) ? null : now_ms + LOOK_AGAIN_MS;
    }
    if (broadcast_life.stopWithoutFilter(tx, row)) return null;
    const settings = marketing.settings(owner.id, tx);
    const day = utcDay(now_ms);
    const usedToday = (): number => readUsage(tx, owner.id, day);
    const have_links_a_place = marketing.problemOfLinks(owner.id) === null;
    const shut = shutUntil(settings, { now_ms, is_test: row.is_test, have_links_a_place, usedToday });
    // No longer than a minute, as settings and mailboxes may change meanwhile.
    if (shut !== null) return Math.min(shut, now_ms + LOOK_AGAIN_MS);
    const ahead = MAILS_AHEAD - store.countWaiting(tx, row.id);
    if (ahead <= 0) return now_ms + MAILS_AHEAD_WAIT_MS;
    const capped = settings.daily_cap === null || row.is_test ? ahead : settings.daily_cap - usedToday();
    const limit = Math.min(this.#size.next, ahead, capped);
    const filter = broadcasts.filterOf(row, tx);
    const on = { owner, row, list, settings, filter, limit, now_ms, accept: of.accept };
    const turnsOf = ({ counts }: { counts: Map<string, number> }): number =>
      [...counts.values()].reduce((sum, n) => sum + n, 0);
    const piece = this.#size.learn(() => this.#piece(tx, on), turnsOf);
    const mails = piece.counts.get('waiting') ?? 0;
    const turns = turnsOf(piece);
    if (turns > 0) store.addCounts(tx, row.id, piece.counts.set('to_come', -turns));
    if (mails > 0 && !row.is_test) takeUsage(tx, owner.id, day, mails);
    store.rows.update(tx, row.id, { decided_to: piece.decided_to });
    return piece.waits_until;
  }

  /** Gives so many contacts their turn. What it decided stands even where it must stop on its way for want of a mailbox. */
  #piece(tx: Tx, on: PieceOf): { decided_to: number; counts: Map<string, number>; waits_until: number } {
    const { row, now_ms } = on;
    const turns = phaseOf(row) === 'share' ? this.#draw(tx, on) : this.#next(tx, on);
    const { people, placeOf, reasons } = turns;
    const planOf = this.#planner(tx, on, turns);
    const counts = new Map<string, number>();
    const got = new Map<number, number | null>();
    let decided_to = row.decided_to;
    const decide = (contact_id: number, turn: Turn): void => {
      const variant = placeOf(contact_id);
      insertRecipient(tx, { broadcast_id: row.id, contact_id, variant }, turn);
      const what = 'reason' in turn ? countOfReason(turn.reason) : 'waiting';
      counts.set(what, (counts.get(what) ?? 0) + 1);
      got.set(contact_id, 'reason' in turn ? null : variant);
      decided_to = contact_id;
    };
    const ended = (up_to: number, waits_until: number) => {
      if (row.ab && turns.drawn) store.addDrawn(tx, row.id, drawnOf(row.ab, turns.drawn, { got, up_to }));
      return { decided_to: up_to, counts, waits_until };
    };
    for (const { id } of people) {
      const reason = reasons.get(id);
      const planned = reason === undefined ? planOf(id) : null;
      if (planned === null) {
        decide(id, { reason: reason ?? 'no_value' });
        continue;
      }
      const { email, is_untracked } = planned;
      const email_id = acceptOr(on.accept, email);
      if (typeof email_id === 'number')
        return ended(decided_to, Math.min(now_ms + email_id, now_ms + LOOK_AGAIN_MS));
      decide(id, email_id === null ? { reason: 'no_value' } : { email_id, is_untracked });
    }
    return ended(turns.up_to, 0);
  }

  /** Those behind the last one; of an A/B that is decided those who had no turn. */
  #next(tx: Tx, on: PieceOf): Turns {
    const { row, limit } = on;
    const found = this.#found(row, row.ab === null ? limit : Math.ceil((100 * limit) / (100 - row.ab.share)));
    const ids = found.on_list.map((contact) => contact.id);
    const over = row.ab === null ? NOBODY : turnsAmong(tx, row.id, ids);
    const all = found.on_list.filter((contact) => !over.has(contact.id));
    const people = all.slice(0, limit);
    const up_to = people.length < all.length ? (people.at(-1)?.id ?? 0) : found.up_to;
    return { people, placeOf: () => null, reasons: this.#judge(tx, on, people), drawn: null, up_to };
  }

  /** Those of the next ones who are in the share of an A/B: it is drawn of whoever gets a mail. */
  #draw(tx: Tx, on: PieceOf): Turns {
    const { row, limit, filter } = on;
    const { ab } = row;
    if (ab === null) return this.#next(tx, on);
    // So many that no more than the limit are drawn of them.
    const asked = Math.max(1, Math.floor((100 * (limit - 1)) / ab.share));
    const { on_list, up_to } = this.#found(row, Math.min(asked, pieceFor(filter ?? {}, DRAWN_PIECE)));
    const reasons = this.#judge(tx, on, on_list);
    const planOf = this.#planner(tx, on, { people: on_list, placeOf: () => 0, reasons });
    const drawn = on_list.filter(({ id }) => !reasons.has(id) && planOf(id) !== null);
    const before = store.readDrawn(tx, row.id, ab.variants.length);
    const places = drawShare(ab, row.public_id, { before, people: drawn, limit });
    const people = on_list.filter(({ id }) => places.has(id));
    return { people, placeOf: (id) => places.get(id) ?? null, reasons, drawn, up_to };
  }

  /** So many contacts behind the last one, of those who were on the list when sending began. `up_to` is behind them all. */
  #found({ list_id, decided_to, last_contact_id }: BroadcastRow, limit: number) {
    const last_id = last_contact_id ?? 0;
    const found = this.deps.contacts.listAfter(list_id, { after_id: decided_to, limit });
    const on_list = found.filter((contact) => contact.id <= last_id);
    const is_end = found.length < limit || on_list.length < found.length;
    return { on_list, up_to: is_end ? last_id : (found.at(-1)?.id ?? last_id) };
  }

  /** Days of the filter count from the start, so that it is the same filter for everybody. */
  #judge(tx: Tx, { owner, row, filter, now_ms }: PieceOf, people: readonly ContactStanding[]) {
    const audience = { owner, list_id: row.list_id, filter, now_ms: row.started_at ?? now_ms };
    return judge(this.deps, tx, audience, people);
  }

  /** The mail to a contact; null where its values make none. */
  #planner(
    tx: Tx,
    { owner, row, list, settings }: PieceOf,
    { people, placeOf, reasons }: Pick<Turns, 'people' | 'placeOf' | 'reasons'>,
  ): (contact_id: number) => Extract<MailPlan, { ok: true }> | null {
    const { contacts, marketing_mail } = this.deps;
    const { from_name, reply_to, winner } = row;
    const variants = row.ab === null ? [] : store.listVariants(tx, [row.id]);
    const sourceOf = (contact_id: number): number | null => {
      const place = placeOf(contact_id) ?? winner;
      return place === null ? row.source_id : (variants[place]?.source_id ?? null);
    };
    const mailing = mailingOf({
      owner,
      broadcast: row,
      list,
      settings: { ...settings, from_name, reply_to },
    });
    const planOf = marketing_mail.planner(tx, mailing);
    const rows = contacts.findByIds(people.flatMap(({ id }) => (reasons.has(id) ? [] : [id])));
    return (contact_id) => {
      const contact = rows.get(contact_id);
      const planned = contact && planOf(sourceOf(contact_id) ?? 0, contact);
      return planned?.ok ? planned : null;
    };
  }
}

/** The id of the accepted mail, null where it can be none, or for how many milliseconds all mail must wait for a mailbox. */
function acceptOr(accept: AcceptBulk, email: NewEmail): string | number | null {
  try {
    return accept(email);
  } catch (error) {
    const retry_after_s = waitForCapacity(error);
    if (retry_after_s !== null) return retry_after_s * 1_000;
    if (error instanceof AppError && error.kind === 'invalid') return null;
    throw error;
  }
}

const NOBODY: ReadonlySet<number> = new Set();

/** The people whose turn it is, and what each gets. */
interface Turns {
  people: readonly ContactStanding[];
  /** The variant that somebody in the share of an A/B gets, by its place. */
  placeOf(contact_id: number): number | null;
  /** Why somebody among them gets nothing. */
  reasons: ReadonlyMap<number, LeftOutReason>;
  /** The people of whom the share of an A/B was drawn; null where none was. */
  drawn: readonly ContactStanding[] | null;
  up_to: number;
}

/** What a draw came to as far as it went; `got` has the place of the variant that somebody got, null for no mail. */
function drawnOf(
  { variants }: AbPlan,
  people: readonly ContactStanding[],
  { got, up_to }: { got: ReadonlyMap<number, number | null>; up_to: number },
): store.Drawn {
  const places = [...got.values()];
  return {
    seen: people.filter(({ id }) => id <= up_to && got.get(id) !== null).length,
    got: variants.map((_, place) => places.filter((one) => one === place).length),
  };
}

interface PieceOf {
  owner: MailOwner;
  row: BroadcastRow;
  list: ListRow;
  settings: Settings;
  filter: ContactFilter | null;
  limit: number;
  now_ms: number;
  accept: AcceptBulk;
}
