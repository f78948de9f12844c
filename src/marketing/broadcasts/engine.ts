/**
 * The engine: gives the contacts of a list their turns, a piece a transaction, in the order of their ids. The place behind the last
 * turn moves in the commit of the mails that the turns led to, so that however the engine is cut off, nobody is left out and
 * nobody gets a mail twice.
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
import { BROADCAST_SEND, type BroadcastLife } from './lifecycle.ts';
import { insertRecipient, type Turn } from './recipient-store.ts';
import { countOfReason } from './records.ts';
import { type Broadcasts, mailingOf } from './service.ts';
import * as store from './store.ts';
import type { BroadcastRow, LeftOutReason } from './tables.ts';

/** Contacts who have their turn in one transaction, so that nobody waits long behind it. */
const BROADCAST_PIECE = 25;

interface EngineDeps extends CampaignDeps {
  broadcasts: Broadcasts;
  broadcast_life: BroadcastLife;
}

export class BroadcastEngine {
  readonly what = 'broadcast';
  readonly job_type = BROADCAST_SEND;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** Begins a broadcast whose time has come, and gives turns until everything must wait, or `stopping`. Null when there is nothing left to do. */
  async turn(
    owner: MailOwner,
    { id: broadcast_id, job_id }: { id: number; job_id: string },
    stopping: AbortSignal,
  ): Promise<NextTurn> {
    const { database, broadcast_life, emails } = this.#deps;
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
    const { lists, marketing, clock, broadcasts, broadcast_life } = this.#deps;
    const row = store.rows.findById(tx, of.broadcast_id);
    const list = row && lists.findById(row.list_id, tx);
    // After a pause and a resume another job sends it.
    if (row?.status !== 'sending' || row.job_id !== of.job_id || !list) return null;
    const now_ms = clock.now();
    if (store.isDecided(row)) return broadcast_life.finish(tx, row) ? null : now_ms + LOOK_AGAIN_MS;
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
    store.addCounts(tx, row.id, piece.counts.set('to_come', -turns));
    if (mails > 0 && !row.is_test) takeUsage(tx, owner.id, day, mails);
    store.rows.update(tx, row.id, { decided_to: piece.decided_to });
    return piece.waits_until;
  }

  /** Gives so many contacts their turn. What it decided stands even where it must stop on its way for want of a mailbox. */
  #piece(tx: Tx, on: PieceOf): { decided_to: number; counts: Map<string, number>; waits_until: number } {
    const { row, limit, now_ms } = on;
    const { contacts } = this.#deps;
    const last_id = row.last_contact_id ?? 0;
    const found = contacts.listAfter(row.list_id, { after_id: row.decided_to, limit });
    const people = found.filter(({ id }) => id <= last_id);
    // Days of the filter count from the start, so that it is the same filter for everybody.
    const { owner, filter } = on;
    const audience = { owner, list_id: row.list_id, filter, now_ms: row.started_at ?? now_ms };
    const reasons = judge(this.#deps, tx, audience, people);
    const planOf = this.#planner(tx, on, people, reasons);
    const counts = new Map<string, number>();
    let decided_to = row.decided_to;
    const decide = (contact_id: number, turn: Turn): void => {
      insertRecipient(tx, { broadcast_id: row.id, contact_id }, turn);
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
    return {
      decided_to: found.length < limit || people.length < found.length ? last_id : decided_to,
      counts,
      waits_until: 0,
    };
  }

  /** The mail to a contact; null where its values make none. */
  #planner(
    tx: Tx,
    { owner, row, list, settings }: PieceOf,
    people: readonly ContactStanding[],
    reasons: ReadonlyMap<number, LeftOutReason>,
  ): (contact_id: number) => Extract<MailPlan, { ok: true }> | null {
    const { contacts, marketing_mail } = this.#deps;
    const { from_name, reply_to, source_id } = row;
    const mailing = mailingOf({
      owner,
      broadcast: row,
      list,
      settings: { ...settings, from_name, reply_to },
    });
    const rows = contacts.findByIds(people.flatMap(({ id }) => (reasons.has(id) ? [] : [id])));
    return (contact_id) => {
      const contact = rows.get(contact_id);
      const planned = contact && marketing_mail.planFixed(tx, mailing, source_id ?? 0, contact);
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
