/**
 * Passing over what was due before a restore: each step counts as sent when it was due. Nobody gets a mail,
 * and nobody outside is told.
 */
import type { Tx } from '../../platform/database/database.ts';
import type { CampaignDeps } from '../campaigns.ts';
import * as rows from './enrollment-store.ts';
import type { ContactEvents } from './events.ts';
import { advance, fail, failsInCircle } from './going-on.ts';
import { decide, findStep, stepsOf, type Tracks, tracksOf } from './model.ts';
import * as store from './store.ts';
import type { EnrollmentRow } from './tables.ts';

/** Enrollments that one transaction moves: some milliseconds. */
const SKIP_PIECE = 50;

interface SkippingDeps extends Pick<CampaignDeps, 'database'> {
  contact_events: Pick<ContactEvents, 'since'>;
}

/** Moves on all of a sequence that was due until a moment. Returns how many enrollments that were. */
export async function skipDue(deps: SkippingDeps, sequence_id: number, until_ms: number): Promise<number> {
  for (let skipped = 0; ; ) {
    const piece = await deps.database.writePiece((tx) => {
      const row = store.rows.findById(tx, sequence_id);
      const of = { now_ms: until_ms, limit: SKIP_PIECE, after: rows.FIRST_DUE };
      const due = row ? rows.listDue(tx, sequence_id, of) : [];
      const tracks = tracksOf(row ? stepsOf(row) : []);
      for (const enrollment of due) skip(tx, enrollment, { deps, tracks, until_ms });
      return due.length;
    });
    skipped += piece;
    if (piece < SKIP_PIECE) return skipped;
  }
}

/** Moves one to the first step that is due later, or to its end. */
function skip(
  tx: Tx,
  enrollment: EnrollmentRow,
  { deps, tracks, until_ms }: { deps: SkippingDeps; tracks: Tracks; until_ms: number },
): void {
  let at: EnrollmentRow | null = enrollment;
  for (let routes = 0; at !== null && at.next_at !== null && at.next_at <= until_ms; ) {
    const now_ms: number = at.next_at;
    const step = findStep(tracks, at.step);
    if (!step) {
      fail(tx, at.id, 'Its step is gone.', now_ms);
      return;
    }
    const mail = at.last_email_id === null ? null : rows.findMail(tx, at.last_email_id);
    const decision = decide(step, {
      has_clicked: (mail?.clicked_at ?? null) !== null,
      events: deps.contact_events.since(tx, at.contact_id, at.enrolled_at),
    });
    const { id } = at;
    const complete = () => rows.completeEnrollment(tx, now_ms, id);
    // Nobody knows here whether what was sent since was clicked.
    const sent: EnrollmentRow = { ...at, counts_from: now_ms, last_email_id: null };
    at =
      decision.result === 'send'
        ? advance(tx, sent, { step, decision: { result: 'skip' }, tracks, now_ms, complete })
        : advance(tx, at, { step, decision, tracks, now_ms, complete });
    if (decision.result === 'route') routes += 1;
    if (failsInCircle(tx, id, { routes, now_ms })) return;
  }
}
