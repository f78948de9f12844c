/** How much marketing mail waits for relays, and how long sending waits that may not go on. */
import { AppError } from '../errors.ts';
import type { Tx } from '../platform/database/database.ts';

/**
 * Mails of a sequence or broadcast that wait for their relay at most. Whatever is behind them still heeds a
 * pause, the window and who leaves, and another one of the project waits behind no more of them.
 */
export const MAILS_AHEAD = 1_000;
/** How soon one with so many looks again: no two cores send five thousand a second. */
export const MAILS_AHEAD_WAIT_MS = 200;
/**
 * A sequence or broadcast that must wait looks again after this: its window, cap, mailboxes and `enabled` may
 * change.
 */
export const LOOK_AGAIN_MS = 60_000;

/**
 * When to look again, in epoch milliseconds (0 is at once); a function says so in the transaction that
 * records it, where nothing can come in between. Null where nothing is left to do.
 */
export type NextTurn = number | ((tx: Tx) => number) | null;

/** How long all mail must wait after this error, in seconds; null where the error is no lack of capacity. */
export function waitForCapacity(error: unknown): number | null {
  if (!(error instanceof AppError)) return null;
  const is_capacity = error.kind === 'rate_limited' || error.kind === 'unavailable';
  return is_capacity ? Math.max(1, error.retry_after_s ?? 60) : null;
}
