/**
 * What ends an enrollment besides its steps: its contact leaves, an exit event happens, the sequence is
 * finished.
 */
import { ENROLL_PIECE } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { CampaignDeps } from '../campaigns.ts';
import type { Bar, ContactEvent, ContactRow } from '../contacts/service.ts';
import * as store from './enrollment-store.ts';
import type { ExitReason } from './tables.ts';

type ExitsDeps = Pick<CampaignDeps, 'database' | 'clock' | 'deliveries'>;

export class Exits {
  constructor(private readonly deps: ExitsDeps) {}

  /** Whoever left gets nothing more of any sequence. */
  onContact(tx: Tx, told: { kind: Departed; contact: ContactRow; at: number }): void {
    const { kind, contact, at } = told;
    for (const { enrollment } of store.listActiveOf(tx, contact.id)) exit(tx, enrollment.id, kind, at);
    // Mail may wait hours for its relay, or have been queued again, so it is taken back here.
    for (const email_id of store.listWaitingOf(tx, contact.id)) this.deps.deliveries.withhold(tx, email_id);
  }

  /** Ends the enrollments whose sequence names this event as an exit event, unless they began after it. */
  onEvent(tx: Tx, told: { contact_id: number; event: string; occurred_at: number; at: number }): void {
    for (const { enrollment, sequence } of store.listActiveOf(tx, told.contact_id))
      if (sequence.exit_events.includes(told.event) && told.occurred_at >= enrollment.enrolled_at) {
        exit(tx, enrollment.id, 'event', told.at);
        if (enrollment.last_email_id !== null) this.deps.deliveries.withhold(tx, enrollment.last_email_id);
      }
  }

  /** Ends the enrollments of a finished sequence, in pieces. */
  async endAll(sequence_id: number): Promise<void> {
    const { database, clock } = this.deps;
    for (let count = ENROLL_PIECE; count === ENROLL_PIECE; ) {
      count = await database.writePiece((tx) => {
        const piece = store.listActiveAfter(tx, sequence_id, 0, ENROLL_PIECE);
        for (const { id } of piece) exit(tx, id, 'sequence_finished', clock.now());
        return piece.length;
      });
    }
  }
}

/** How a contact may have left. */
type Departed = Exclude<ContactEvent['kind'], 'signed_up' | 'activated' | 'resubscribed' | 'deleted'>;

/** The reason for which somebody who may not be mailed leaves a sequence. */
export function exitReasonOf({ status }: Bar): ExitReason {
  if (status === 'bounced' || status === 'complained') return status;
  return status === null ? 'suppressed' : 'unsubscribed';
}

/** Ends an enrollment early, within the transaction that learns of the reason. */
export function exit(tx: Tx, id: number, exit_reason: ExitReason, now_ms: number): void {
  const over = { next_at: null, waits_for: null, ended_at: now_ms };
  store.updateEnrollment(tx, id, { state: 'exited', exit_reason, ...over });
}

/** Ends an enrollment as failed. */
export function fail(tx: Tx, id: number, error: string, now_ms: number): void {
  const over = { next_at: null, waits_for: null, ended_at: now_ms };
  store.updateEnrollment(tx, id, { state: 'failed', error, ...over });
}
