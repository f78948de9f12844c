/**
 * An email's life, from its first attempt to its end: deliveries say what happened, and what that makes of
 * its row is decided here.
 */
import type { Tx } from '../../platform/database/database.ts';
import { utcDay } from '../../platform/host/clock.ts';
import * as store from './life-store.ts';
import { listFailed } from './store.ts';
import type { EmailRow } from './tables.ts';

/**
 * How much a status says of a mail that a relay has taken, or may have. A report changes the status only to
 * one that says more.
 */
const WEIGHT: Partial<Record<EmailRow['status'], number>> = {
  failed: 0,
  unknown: 0,
  sent: 1,
  delivered: 2,
  bounced: 3,
  complained: 5,
};

/** What is told from outside of a mail's own recipient. */
interface Told {
  kind: 'delivered' | 'bounced' | 'soft_bounced' | 'complained';
  smtp_code: number | null;
  words: string;
  at: number;
}

/** Each method writes within the transaction that it is given. */
export const emailLife = {
  find: store.findEmail,
  isEmptied: store.isEmptied,
  listFailed,

  /**
   * Notes that an attempt begins, what it goes out from and why; returns the email as it is then. Where it has
   * a row of its own (`has_row`), that says why.
   */
  begin(
    tx: Tx,
    email: EmailRow,
    from: Pick<EmailRow, 'mailbox_id' | 'from_email' | 'domain' | 'choice'>,
    { has_row, now_ms }: { has_row: boolean; now_ms: number },
  ): EmailRow {
    const { attempts, quota_day } = email;
    const own = has_row ? { began_at: null, choice: null } : { began_at: now_ms };
    const begun = {
      ...email,
      ...from,
      ...own,
      quota_day: quota_day ?? utcDay(now_ms),
      attempts: attempts + 1,
    };
    store.beginAttempt(tx, begun, now_ms);
    return begun;
  },

  /**
   * Records how an email stands after an attempt. What a report has said meanwhile of recipients whom an
   * earlier attempt reached is kept. Where the mail was emptied meanwhile (`is_emptied`), nothing that names
   * anybody is written. Null where it is gone, with its project.
   */
  end(
    tx: Tx,
    { id, attachments }: EmailRow,
    state: store.EmailState,
    now_ms: number,
  ): { is_emptied: boolean } | null {
    if (state.is_over && attachments.length > 0) store.deletePins(tx, id);
    return store.endAttempt(tx, id, state, now_ms);
  },

  /** Takes back the count of an attempt that goes on with another mailbox, where it is counted again. 0 where the mail is gone. */
  passOn: store.countAttemptOut,

  /** Has an email wait for another mailbox, in whose quota it has its place. */
  move: store.moveToMailbox,

  /** Has bulk mail wait until a moment or until it is released (HELD), and other mail for its job (null). */
  wait: store.waitUntil,

  /** Has a mail that waits rendered from something else. */
  mergeAnew: store.mergeAnew,

  /** Ends an email without an attempt. */
  finish(tx: Tx, id: string, ending: store.Ending): void {
    store.endEmail(tx, id, ending);
    store.deletePins(tx, id);
  },

  /**
   * Ends an email by a fault of Satchel's own; false where its recipient has it, which it then still says.
   */
  breakDown(tx: Tx, { id, taken, to_email }: EmailRow, now_ms: number): boolean {
    if (taken.includes(to_email)) {
      store.deletePins(tx, id);
      return false;
    }
    const error = 'Something went wrong on the server.';
    this.finish(tx, id, { status: 'failed', failed_at: now_ms, error });
    return true;
  },

  /** Whether a relay has taken an email, or may have: else a report of it is about nothing. */
  hasLeft({ attempts, status }: EmailRow): boolean {
    return attempts > 0 && WEIGHT[status] !== undefined;
  },

  /** Has a report of its own recipient change an email. */
  report(tx: Tx, email: EmailRow, told: Told): void {
    store.recordReport(tx, email.id, changesOf(email, told));
  },
};

function changesOf(email: EmailRow, { kind, smtp_code, words, at }: Told): store.Reported {
  const known = email.status === 'bounced' && email.bounce_type === 'permanent' ? 4 : WEIGHT[email.status];
  const says = (weight: number): boolean => weight > (known ?? 0);
  if (kind === 'delivered')
    return { delivered_at: email.delivered_at ?? at, ...(says(2) ? { status: 'delivered' as const } : {}) };
  if (kind === 'complained')
    return {
      complained_at: email.complained_at ?? at,
      ...(says(5) ? { status: 'complained' as const } : {}),
    };
  const is_hard = kind === 'bounced';
  const bounced_at = email.bounced_at ?? at;
  if (!says(is_hard ? 4 : 3)) return { bounced_at };
  return {
    status: 'bounced',
    bounce_type: is_hard ? 'permanent' : 'transient',
    bounced_at,
    smtp_code,
    smtp_response: words,
    error: `It was returned: ${words}`,
  };
}
