/**
 * Departures: which ends of a mail take an address out of marketing, what becomes of its contacts, and giving
 * them back their status where the suppression of a hard bounce is lifted.
 */
import type { EmailEvent } from '../../mail/deliveries/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Lists } from '../lists/service.ts';
import type { KeyedHash } from '../settings/service.ts';
import type { SuppressionKind } from '../suppressions/service.ts';
import * as store from './store.ts';
import type { ContactRow, ContactStatus } from './tables.ts';

/** What happened to a contact. */
export interface ContactEvent {
  /**
   * `signed_up`: waits for its click; `activated` follows it, or comes at once. `resubscribed`: took its unsubscription back, and has
   * the status that it had.
   */
  kind:
    | 'signed_up'
    | 'activated'
    | 'unsubscribed'
    | 'resubscribed'
    | 'bounced'
    | 'complained'
    | 'suppressed'
    | 'deleted';
  contact: ContactRow;
  at: number;
  /** Of `signed_up` and `activated`: by a test key. */
  is_test?: boolean;
}

/** Why an address leaves. */
export type Departure = Exclude<SuppressionKind, 'manual'>;

/** Weakest first, as for suppressions: somebody who left by choice does not become one who merely bounced. */
const WEAKEST_FIRST: readonly ContactStatus[] = ['bounced', 'unsubscribed', 'complained'];

/** True where a status takes the place of another. */
export const isLater = (status: ContactStatus, than: ContactStatus): boolean =>
  WEAKEST_FIRST.indexOf(status) > WEAKEST_FIRST.indexOf(than);

export const STATUS_AFTER = {
  unsubscribed: 'unsubscribed',
  hard_bounce: 'bounced',
  complaint: 'complained',
} as const satisfies Record<Departure, ContactStatus>;

/**
 * Why a mail's event has its recipient leave; null where it does not. Any mail of the project counts, not
 * marketing alone.
 */
export function departureOf({
  kind,
  is_report_of_copy,
}: Pick<EmailEvent, 'kind' | 'is_report_of_copy'>): Departure | null {
  // Whoever got a copy and wants no more has said so themselves.
  if (kind === 'unsubscribed') return kind;
  if (is_report_of_copy) return null;
  if (kind === 'bounced') return 'hard_bounce';
  return kind === 'complained' ? 'complaint' : null;
}

/**
 * Marks the contacts of an address as having left, unless they did for as strong a reason. Returns those that
 * changed.
 */
export function depart(
  tx: Tx,
  of: { project_id: number; email: string; kind: Departure; now_ms: number },
): ContactRow[] {
  const status = STATUS_AFTER[of.kind];
  return store
    .listContactsOfAddress(tx, of.project_id, of.email)
    .filter((contact) => isLater(status, contact.status))
    .map(({ id, status: former, status_before_bounce }) => {
      const before = former === 'pending' ? 'pending' : 'active';
      return store.updateContact(tx, id, {
        status,
        status_changed_at: of.now_ms,
        updated_at: of.now_ms,
        status_before_bounce: status === 'bounced' ? before : status_before_bounce,
        status_before_leaving: status === 'unsubscribed' ? former : null,
      });
    });
}

/** Contacts whose addresses are hashed before others have their turn: some 5 ms. */
const HASHED_CONTACTS_PIECE = 1_000;

/**
 * Which of these hashes are of contacts that bounced, with their addresses. Works in pieces, so that others
 * have their turn.
 */
export async function findBouncedAddresses(
  on: { database: Database; lists: Lists },
  project_id: number,
  hashes: ReadonlySet<string>,
  hash: KeyedHash,
): Promise<Map<string, string>> {
  const { read } = on.database;
  const found = new Map<string, string>();
  for (const list_id of on.lists.listIds(project_id))
    for (let after_id = 0; found.size < hashes.size; ) {
      const piece = store.listBouncedAfter(read, list_id, after_id, HASHED_CONTACTS_PIECE);
      for (const { id, email } of piece) {
        const hashed = hash(email);
        if (hashes.has(hashed)) found.set(hashed, email);
        after_id = id;
      }
      if (piece.length < HASHED_CONTACTS_PIECE) break;
      await letOthers();
    }
  return found;
}

/**
 * Gives contacts that bounced the status that they had before, within a transaction. Returns their ids.
 * Enrolls nobody.
 */
export function restoreBounced(tx: Tx, of: { project_id: number; email: string; now_ms: number }): string[] {
  const { now_ms } = of;
  return store
    .listContactsOfAddress(tx, of.project_id, of.email)
    .filter(({ status }) => status === 'bounced')
    .map(({ id, public_id, status_before_bounce }) => {
      const status = status_before_bounce ?? 'active';
      const changed = { status_changed_at: now_ms, updated_at: now_ms };
      store.updateContact(tx, id, { status, status_before_bounce: null, ...changed });
      return public_id;
    });
}
