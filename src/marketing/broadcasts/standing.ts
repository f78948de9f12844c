/** What the row of a broadcast says of its life, and what may be done with it. Pure functions. */
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../errors.ts';
import { LOOK_AGAIN_MS } from '../campaign-engine.ts';
import { explainProblem, type Problem } from '../campaign-readiness.ts';
import { isTested } from './ab.ts';
import type { BroadcastRow, BroadcastStatus } from './tables.ts';

/** True where one that stopped as its project moved, or by a restore, has its time yet to come. */
export function isToCome({ pause_reason, started_at, send_at }: BroadcastRow, now_ms: number): boolean {
  const is_stopped = pause_reason === 'moved' || pause_reason === 'restored';
  return is_stopped && started_at === null && send_at !== null && send_at > now_ms;
}

/** What one was that was stopped while it went on by itself. */
export function statusBefore(
  row: BroadcastRow,
): Extract<BroadcastStatus, 'scheduled' | 'testing' | 'sending'> {
  if (row.started_at === null) return 'scheduled';
  return isTested(row) ? 'testing' : 'sending';
}

/** When the job of one is to look at it, null where nothing goes on by itself. */
export function dueAt({ status, send_at, decides_at }: BroadcastRow, now_ms: number): number | null {
  if (status === 'scheduled') return send_at ?? now_ms;
  if (status === 'testing') return decides_at;
  return status === 'sending' ? now_ms + LOOK_AGAIN_MS : null;
}

/** True where what a check found of a broadcast still holds for it. */
export function isSameMail(a: BroadcastRow, b: BroadcastRow): boolean {
  const is_same_list = a.list_id === b.list_id && a.segment_id === b.segment_id;
  const ofMail = ({ template, filter, ab }: BroadcastRow): unknown => [template, filter, ab];
  return is_same_list && isDeepStrictEqual(ofMail(a), ofMail(b));
}

export function refusal(problems: readonly Problem[]): AppError {
  return new AppError('invalid', `The broadcast cannot be sent: ${problems.map(explainProblem).join(' ')}`, {
    code: 'send_refused',
    details: { problems },
  });
}
