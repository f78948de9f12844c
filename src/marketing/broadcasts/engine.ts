/**
 * The engine: gives the contacts of a list their turns, a piece a transaction, in the order of their ids. The place behind the last
 * turn moves in the commit of the mails that the turns led to, so that however the engine is cut off, nobody is left out and
 * nobody gets a mail twice. An A/B goes through the list twice: for its share, and once it is decided for whoever had no turn.
 */
import { AppError } from '../../errors.ts';
import type { AcceptBulk, NewEmail } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { utcDay } from '../../platform/host/clock.ts';
import { judge } from '../audience.ts';
import {
  LOOK_AGAIN_MS,
  MAILS_AHEAD,
  MAILS_AHEAD_WAIT_MS,
  type NextTurn,
  waitForCapacity,
} from '../campaign-capacity.ts';
import type { CampaignDeps } from '../campaigns.ts';
import type { ContactFilter, ContactStanding } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import type { MailOwner, MailPlan } from '../mails/service.ts';
import { readUsage, type Settings, shutUntil, takeUsage } from '../settings/service.ts';
import { isWalked, phaseOf, placeInShare } from './ab.ts';
import { BROADCAST_SEND, type BroadcastLife } from './lifecycle.ts';
import { insertRecipient, type Turn, turnsAmong } from './recipient-store.ts';
import { countOfReason } from './records.ts';
import { type Broadcasts, mailingOf } from './service.ts';
import * as store from './store.ts';
import type { BroadcastRow, LeftOutReason } from './tables.ts';

/** Contacts who have their turn in one transaction, so that nobody waits long behind it. */
const BROADCAST_PIECE = 25;

export class BroadcastEngine {
  readonly what = 'broadcast';
  readonly job_type = BROADCAST_SEND;

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
    const limit = Math.min(BROADCAST_PIECE, ahead, capped);
    const filter = broadcasts.filterOf(row, tx);
    const piece = this.#piece(tx, { owner, row, list, settings, filter, limit, now_ms, accept: of.accept });
    const mails = piece.counts.get('waiting') ?? 0;
    const turns = [...piece.counts.values()].reduce((sum, n) => sum + n, 0);
    if (turns > 0) store.addCounts(tx, row.id, piece.counts.set('to_come', -turns));
    if (mails > 0 && !row.is_test) takeUsage(tx, owner.id, day, mails);
    store.rows.update(tx, row.id, { decided_to: piece.decided_to });
    return piece.waits_until;
  }

  /** Gives so many contacts their turn. What it decided stands even where it must stop on its way for want of a mailbox. */
  #piece(tx: Tx, on: PieceOf): { decided_to: number; counts: Map<string, number>; waits_until: number } {
    const { row, now_ms } = on;
    const { people, placeOf, up_to } = this.#next(tx, on);
    // Days of the filter count from the start, so that it is the same filter for everybody.
    const { owner, filter } = on;
    const audience = { owner, list_id: row.list_id, filter, now_ms: row.started_at ?? now_ms };
    const reasons = judge(this.deps, tx, audience, people);
    const planOf = this.#planner(tx, on, { people, placeOf, reasons });
    const counts = new Map<string, number>();
    let decided_to = row.decided_to;
    const decide = (contact_id: number, turn: Turn): void => {
      insertRecipient(tx, { broadcast_id: row.id, contact_id, variant: placeOf(contact_id) }, turn);
      const what = 'reason' in turn ? countOfReason(turn.reason) : 'waiting';
      counts.set(what, (counts.get(what) ?? 0) + 1);
      decided_to = contact_id;
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
        return { decided_to, counts, waits_until: Math.min(now_ms + email_id, now_ms + LOOK_AGAIN_MS) };
      decide(id, email_id === null ? { reason: 'no_value' } : { email_id, is_untracked });
    }
    return { decided_to: up_to, counts, waits_until: 0 };
  }

  /** Whose turn it is: those behind the last one, of an A/B those of the share, and then those who had none. `up_to` is behind them all. */
  #next(tx: Tx, { row, limit }: PieceOf): Turns {
    const { id, ab, public_id, list_id } = row;
    const phase = phaseOf(row);
    const last_id = row.last_contact_id ?? 0;
    const percent = ab === null ? 100 : phase === 'share' ? ab.share : 100 - ab.share;
    const asked = Math.ceil((100 * limit) / percent);
    const found = this.deps.contacts.listAfter(list_id, { after_id: row.decided_to, limit: asked });
    const on_list = found.filter((contact) => contact.id <= last_id);
    const places = new Map<number, number>();
    if (ab !== null && phase === 'share')
      for (const contact of on_list) {
        const place = placeInShare(ab, public_id, contact.public_id);
        if (place !== null) places.set(contact.id, place);
      }
    const over =
      phase === 'rest'
        ? turnsAmong(
            tx,
            id,
            on_list.map((contact) => contact.id),
          )
        : NOBODY;
    const all = on_list.filter((contact) =>
      phase === 'share' ? places.has(contact.id) : !over.has(contact.id),
    );
    const people = all.slice(0, limit);
    const is_end = found.length < asked || on_list.length < found.length;
    const last = people.length < all.length ? people.at(-1) : is_end ? undefined : found.at(-1);
    return { people, up_to: last?.id ?? last_id, placeOf: (contact_id) => places.get(contact_id) ?? null };
  }

  /** The mail to a contact; null where its values make none. */
  #planner(
    tx: Tx,
    { owner, row, list, settings }: PieceOf,
    { people, placeOf, reasons }: Omit<Turns, 'up_to'> & { reasons: ReadonlyMap<number, LeftOutReason> },
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

interface Turns {
  people: readonly ContactStanding[];
  /** The variant that somebody in the share of an A/B gets, by its place. */
  placeOf(contact_id: number): number | null;
  up_to: number;
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
