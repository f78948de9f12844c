/**
 * Listeners to what becomes of emails: nouns that stand on deliveries, told in the transaction that records
 * it.
 */

import type { Tx } from '../../platform/database/database.ts';
import type { TakesMail } from '../../platform/mail/mx-cache.ts';
import { noMxOutcome, unmadeOutcome } from '../../platform/mail/outcomes.ts';
import type { UnsentOutcome } from '../../platform/mail/types.ts';
import { type EmailRow, type EmailSource, isBulk } from '../emails/service.ts';
import type { ReportKind } from './tables.ts';

/** An event of an email; each recipient's bounce is one of its own. */
export interface EmailEvent {
  /** `deferred`: a relay did not take it, and it is tried again: told to those who ask for that. `dropped`: it counts as done, from when it was due, as a restore held it. */
  kind: 'sent' | 'failed' | 'unknown' | 'deferred' | 'withheld' | 'dropped' | ReportKind;
  email_id: string;
  project_id: number;
  source: EmailSource;
  /** The mailbox that it went out from. */
  mailbox: string;
  /** Whom it concerns. */
  address: string;
  /** A report from outside about somebody who got a copy; it does not change their contacts. */
  is_report_of_copy: boolean;
  /** For `failed`: a relay refused it for good because of us, not because of the recipient. */
  is_refused: boolean;
  /** It is a test's, or went to a mailbox that captures: nothing has left. */
  is_captured: boolean;
  at: number;
}

export type EmailListener = (tx: Tx, event: EmailEvent) => void;

/** The events that a listener is told of: all unless given, but for `deferred`. */
export interface EventFilter {
  kinds?: readonly EmailEvent['kind'][];
  source?: EmailSource;
}

/** Whether a mail that did not leave at first is tried again, waits until it is released, or never leaves. */
export type SendDecision = 'send' | 'hold' | 'cancel';

/** Says, in the transaction that would begin another attempt, what is to become of bulk mail. */
export type Guard = (tx: Tx, mail: Pick<EmailEvent, 'email_id' | 'project_id' | 'source'>) => SendDecision;

/**
 * When the bulk mail of a project may go out, by its window: now, or next; Infinity while it may not at all.
 */
export type OpensAt = (project_id: number, now_ms: number) => number;

/** Whether a contact's domain takes mail, where that was not looked up when they came. */
export type MxCheck = (project_id: number, address: string) => Promise<TakesMail>;

export class Listeners {
  readonly #listeners: (EventFilter & { listener: EmailListener })[] = [];
  #guard: Guard = () => 'send';
  #opensAt: OpensAt = (_project_id, now_ms) => now_ms;
  #mx_check: MxCheck = () => Promise.resolve('yes');

  /** `isActive` says whether a project may send anything. */
  constructor(private readonly isActive: (project_id: number) => boolean) {}

  /** Adds a listener, which is told what happens to emails in the transaction that records it. */
  add(listener: EmailListener, filter: EventFilter = {}): void {
    this.#listeners.push({ ...filter, listener });
  }

  /** Sets who is asked before bulk mail is tried again. */
  setGuard(guard: Guard): void {
    this.#guard = guard;
  }

  /** Sets who says when bulk mail may go out. */
  setWindow(opensAt: OpensAt): void {
    this.#opensAt = opensAt;
  }

  /**
   * When bulk mail of a project may go out; Infinity while it may not at all, as it is inactive or its
   * marketing is switched off.
   */
  opensAt(project_id: number, now_ms: number): number {
    return this.isActive(project_id) ? this.#opensAt(project_id, now_ms) : Number.POSITIVE_INFINITY;
  }

  /** Sets who is asked before a relay gets mail for a contact. */
  setMxCheck(check: MxCheck): void {
    this.#mx_check = check;
  }

  /** The outcome of a mail to a contact whose domain takes none, or gives no answer; null where it may go. */
  async refusalByMx({ source, project_id, to_email }: EmailRow): Promise<UnsentOutcome | null> {
    if (!isBulk(source) && source !== 'confirmation') return null;
    const answer = await this.#mx_check(project_id, to_email);
    if (answer === 'no') return noMxOutcome(to_email);
    const response = 'The DNS gave no answer about the domain of the address.';
    return answer === 'yes' ? null : unmadeOutcome(response, { is_permanent: false });
  }

  decideSend(
    tx: Tx,
    { id, project_id, source }: Pick<EmailRow, 'id' | 'project_id' | 'source'>,
  ): SendDecision {
    return isBulk(source) ? this.#guard(tx, { email_id: id, project_id, source }) : 'send';
  }

  tell(
    tx: Tx,
    email: EmailRow,
    what: Pick<EmailEvent, 'kind' | 'address' | 'at'> & Partial<EmailEvent>,
  ): void {
    const { id: email_id, project_id, source, from_email: mailbox } = email;
    const event = {
      is_report_of_copy: false,
      is_refused: false,
      is_captured: email.is_test,
      ...what,
      email_id,
      project_id,
      source,
      mailbox,
    };
    for (const { listener, kinds, source: of = source } of this.#listeners)
      if (of === source && (kinds?.includes(event.kind) ?? event.kind !== 'deferred')) listener(tx, event);
  }
}
