/** The pace of each mailbox as it is kept: what is asked of it, what goes by it, and what its relay says. */
import type { Tx } from '../../platform/database/database.ts';
import { afterMail, grow, opensAt, parseRate, type Rate, roomOf, slow, UNPACED, unslowed } from './pace.ts';
import * as store from './store.ts';
import type { Pace } from './tables.ts';

interface Paced {
  pace: Pace;
  rate: Rate | null;
}

/** Null where mail goes as fast as it can. */
function pacedOf(tx: Tx, mailbox_id: number): Paced | null {
  const found = find(tx, mailbox_id);
  return found === null || (found.rate === null && found.pace.allowed === null) ? null : found;
}

function find(tx: Tx, mailbox_id: number): Paced | null {
  const found = store.findPaced(tx, mailbox_id);
  return found && { rate: found.rate === null ? null : parseRate(found.rate), pace: found.pace ?? UNPACED };
}

/** How many of up to `most` mails may leave a mailbox now, and when the next one may; null where nothing holds them back. */
export function roomNow(
  tx: Tx,
  mailbox_id: number,
  asked: { now_ms: number; most: number },
): { room: number; opens_at: number } | null {
  const paced = pacedOf(tx, mailbox_id);
  if (!paced) return null;
  const { pace, rate } = paced;
  return { room: roomOf(pace, rate, asked), opens_at: opensAt(pace, rate, asked.now_ms) };
}

/** Counts one mail more, and returns when it may go: now, or later where other mail has taken its turn. */
export function take(tx: Tx, mailbox_id: number, now_ms: number): number {
  const paced = pacedOf(tx, mailbox_id);
  if (!paced) return now_ms;
  const at = Math.max(now_ms, opensAt(paced.pace, paced.rate, now_ms));
  store.savePace(tx, mailbox_id, afterMail(paced.pace, paced.rate, at));
  return at;
}

/** Notes that a relay asked for less mail, over an attempt that began at `started_at`; see `slow`. */
export function recordSlowdown(
  tx: Tx,
  mailbox_id: number,
  said: Omit<Parameters<typeof slow>[2], 'random'>,
): void {
  const found = find(tx, mailbox_id);
  if (found) store.savePace(tx, mailbox_id, slow(found.pace, found.rate, { ...said, random: Math.random() }));
}

/** Notes that a relay took a mail: what slows the mailbox gives way by and by. */
export function recordTaken(tx: Tx, mailbox_id: number, taken: { started_at: number; now_ms: number }): void {
  const paced = pacedOf(tx, mailbox_id);
  if (!paced) return;
  const after = grow(paced.pace, paced.rate, taken);
  if (after !== paced.pace) store.savePace(tx, mailbox_id, after);
}

/** Has a mailbox slowed no more. */
export function forget(tx: Tx, mailbox_id: number): void {
  const pace = store.findPace(tx, mailbox_id);
  if (pace) store.savePace(tx, mailbox_id, unslowed(pace));
}
