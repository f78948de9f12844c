/** A lack of mailboxes that can take a mail, which marketing mail waits for. */
import { AppError } from '../../errors.ts';

/** How long what accepting a mail threw has all mail wait, in seconds; null where it is no lack of capacity. */
export function waitForCapacity(error: unknown): number | null {
  if (!(error instanceof AppError)) return null;
  const is_capacity = error.kind === 'rate_limited' || error.kind === 'unavailable';
  return is_capacity ? Math.max(1, error.retry_after_s ?? 60) : null;
}
