/** Signing up again after leaving: what came of it, and the click that brings them back. */

import type { Database, Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { type ContactRow, hasLeftByChoice } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import type { ComingBack } from './schemas.ts';
import type { SubscriptionsDeps } from './service.ts';
import { candidateOf, type SignUp } from './sign-ups.ts';
import * as store from './store.ts';
import type { SignUpOfLeftRow, SignUpOutcome } from './tables.ts';

/**
 * Notes what came of a sign-up of an address that is suppressed, within a transaction; of any other nothing is noted. Null where the
 * address was kept off the list.
 */
export function noteOutcome(
  { clock, suppressions }: Pick<SubscriptionsDeps, 'clock' | 'suppressions'>,
  tx: Tx,
  { owner, list, sign_up }: { owner: KeyOwner; list: ListRow; sign_up: SignUp },
  outcome: SignUpOutcome | null,
): void {
  const hash = suppressions.hashOf(tx, owner, sign_up.email);
  if (hash === null || suppressions.checker(tx, owner)(sign_up.email) === null) return;
  const has_just_left = suppressions.hasJustLeft(tx, owner, sign_up.email) !== null;
  const kept_off = sign_up.is_test ? 'test' : has_just_left ? 'no_double_opt_in' : 'other_reason';
  store.saveSignUpOfLeft(tx, {
    project_id: owner.id,
    hash,
    list_id: list.id,
    at: sign_up.at,
    outcome: outcome ?? kept_off,
    outcome_at: clock.now(),
  });
}

/**
 * Brings somebody back by the click of their sign-up, within a transaction: the suppression goes if it is older than the sign-up, and
 * the contact waits for its confirmation on that evidence. One who left again since stays away.
 */
export function bringBack(
  { clock, contacts, suppressions }: Pick<SubscriptionsDeps, 'clock' | 'contacts' | 'suppressions'>,
  tx: Tx,
  owner: KeyOwner,
  { contact, comes_back }: { contact: ContactRow; comes_back: ComingBack },
): ContactRow {
  const { email, status, status_changed_at } = contact;
  const { at } = comes_back;
  if (hasLeftByChoice(contact) && status_changed_at >= at) return contact;
  if (!suppressions.comeBack(tx, owner, email, at) || status === 'active') return contact;
  const hash = suppressions.hashOf(tx, owner, email);
  if (hash !== null) store.confirmSignUpOfLeft(tx, clock.now(), owner.id, hash, at);
  if (status === 'pending') return contact;
  const rest = { list_id: contact.list_id, email, is_test: false, is_of_mail: false, tracking: false };
  return contacts.renew(tx, contact, candidateOf({ ...comes_back, ...rest }), { is_confirmed_at_once: true });
}

type Left = Pick<Suppressions, 'hashOf'>;

function find(read: Tx, owner: KeyOwner, email: string, suppressions: Left): SignUpOfLeftRow | null {
  const hash = suppressions.hashOf(read, owner, email);
  return hash === null ? null : store.findSignUpOfLeft(read, owner.id, hash);
}

/** How the last sign-up of an address that had left takes part in what is held about it. */
export function signUpsOfLeftHolder(database: Pick<Database, 'read'>, suppressions: Left): AddressHolder {
  return {
    name: 'sign_ups_of_left',
    *find(owner, email) {
      const row = find(database.read, owner, email, suppressions);
      if (row)
        yield [
          {
            show: () => ({ at: toIso(row.at), outcome: row.outcome, outcome_at: toIso(row.outcome_at) }),
            forget: (tx) => store.deleteSignUpOfLeft(tx, row.project_id, row.hash),
          },
        ];
    },
  };
}

/** What came of the last sign-up of an address that was suppressed then: a sentence, or none. */
export function explainSignUpOfLeft(
  read: Tx,
  owner: KeyOwner,
  email: string,
  { suppressions, nameOf }: { suppressions: Left; nameOf(list_id: number): string | undefined },
): string[] {
  const row = find(read, owner, email, suppressions);
  if (!row) return [];
  const list = nameOf(row.list_id) ?? '';
  return [`It signed up at the list ${list} ${toIso(row.at)}, while it was suppressed: ${tell(row)}.`];
}

function tell({ outcome, outcome_at }: SignUpOfLeftRow): string {
  switch (outcome) {
    case 'asked':
      return `it was asked by mail to confirm that (${toIso(outcome_at)}), and has not`;
    case 'confirmed':
      return `it was asked by mail to confirm that, and did so ${toIso(outcome_at)}`;
    case 'mails_used_up':
      return 'no mail came, as it had been asked to confirm as often as a day allows';
    case 'no_double_opt_in':
      return 'nothing came of it, as that list does not ask for a confirmation, and nobody comes back without one';
    case 'other_reason':
      return 'nothing came of it, as it is suppressed for another reason than that it unsubscribed';
    case 'no_mx':
      return 'nothing came of it, as its domain takes no mail';
    case 'test':
      return 'nothing came of it, as a test key brought it';
  }
}
