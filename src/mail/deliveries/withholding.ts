/** Ending an accepted mail whose recipient is to get nothing more, and what the log can truly say of it. */

import type { Tx } from '../../platform/database/database.ts';
import type { EmailRow, Emails, TakenBack } from '../emails/service.ts';
import type { Listeners } from './listeners.ts';
import { findMaybeSent } from './store.ts';

const NOTHING_MORE = 'Its recipient is to get nothing more.';
const SUPPRESSED = 'Its address is suppressed.';

/**
 * How a mail ends that is not tried again. It is canceled, unless a relay may have taken it at an attempt.
 * The person may have it then, so the log says that it was sent, at that attempt.
 */
function endOfWithheld(tx: Tx, email: EmailRow): TakenBack {
  const sent_at = findMaybeSent(tx, email.id);
  if (sent_at === null && email.source === 'mailgun_bulk')
    return { ending: { status: 'suppressed', error: SUPPRESSED }, error: SUPPRESSED };
  if (sent_at === null) return { ending: { status: 'canceled', error: NOTHING_MORE }, error: NOTHING_MORE };
  const error =
    'Its relay may have taken it when an attempt was cut off; it was not tried again, as its recipient is to get nothing more.';
  return { ending: { status: 'sent', sent_at, error }, error: null };
}

/** Ends it so and tells the listeners. */
export function endWithheld(
  tx: Tx,
  email: EmailRow,
  of: { emails: Pick<Emails, 'takeBack'>; listeners: Listeners; now_ms: number },
): void {
  const end = endOfWithheld(tx, email);
  of.emails.takeBack(tx, email, end);
  notifyWithheld(tx, email, { ...of, end });
}

function notifyWithheld(
  tx: Tx,
  email: EmailRow,
  of: { end: TakenBack; listeners: Listeners; now_ms: number },
): void {
  const { ending } = of.end;
  const told =
    ending.status === 'sent'
      ? ({ kind: 'sent', at: ending.sent_at } as const)
      : ({ kind: 'withheld', at: of.now_ms } as const);
  of.listeners.tell(tx, email, { ...told, address: email.to_email });
}
