/** Departures: which ends of a mail take an address out of marketing, and what becomes of its contacts. */
import type { EmailEvent } from '../../mail/deliveries/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { SuppressionKind } from '../suppressions/service.ts';
import * as store from './store.ts';
import type { ContactRow, ContactStatus } from './tables.ts';

/** Why an address leaves. */
export type Departure = Exclude<SuppressionKind, 'manual'>;

/** Weakest first, as for suppressions: somebody who left by choice does not become one who merely bounced. */
const WEAKEST_FIRST: readonly ContactStatus[] = ['bounced', 'unsubscribed', 'complained'];

export const STATUS_AFTER = {
  unsubscribed: 'unsubscribed',
  hard_bounce: 'bounced',
  complaint: 'complained',
} as const satisfies Record<Departure, ContactStatus>;

/** A hard bounce or a complaint of any mail of the project counts for marketing, too; null for any other event. */
export function departureOf({
  kind,
  is_report_of_copy,
}: Pick<EmailEvent, 'kind' | 'is_report_of_copy'>): Departure | null {
  if (is_report_of_copy) return null;
  if (kind === 'bounced') return 'hard_bounce';
  return kind === 'complained' ? 'complaint' : null;
}

/** Gives contacts of an address the status of having left, unless theirs is as strong; returns those that changed. */
export function depart(
  tx: Tx,
  of: { project_id: number; email: string; kind: Departure; now_ms: number },
): ContactRow[] {
  const status = STATUS_AFTER[of.kind];
  return store
    .listContactsOfAddress(tx, of.project_id, of.email)
    .filter((contact) => WEAKEST_FIRST.indexOf(status) > WEAKEST_FIRST.indexOf(contact.status))
    .map((contact) => {
      const before = contact.status === 'pending' ? 'pending' : 'active';
      return store.updateContact(tx, contact.id, {
        status,
        status_changed_at: of.now_ms,
        updated_at: of.now_ms,
        status_before_bounce: status === 'bounced' ? before : null,
      });
    });
}
