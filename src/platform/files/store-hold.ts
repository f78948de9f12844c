/** What a database says of its object store: which it is, and how long rowless keys must stay there. */
import { STORE_HOLD_MS } from '../../limits.ts';
import type { Tx } from '../database/database.ts';
import { readMeta } from '../database/store.ts';

/** The name of the value that says which store it owned last. Backups and replicas carry it along. */
export const STORE_OWNED = 'store_owned';
/** The name of the value that says what holds it. */
export const STORE_HOLD = 'store_hold';

/** What came over the database, or the store; of two the one that stands first is told. */
const REASONS = {
  restored: 'since the database was restored',
  taken_over: 'since the store was taken over',
  new_owner: 'since the store has a new owner',
} as const;

export type HoldReason = keyof typeof REASONS;

const ORDER: readonly HoldReason[] = ['restored', 'taken_over', 'new_owner'];

export interface StoreHold {
  until_ms: number;
  reason: HoldReason;
  /** The reason as the end of a sentence. */
  words: string;
}

/** The value of a hold that begins now, beside one that is in force. */
export function newHold(
  now_ms: number,
  why: HoldReason,
  before: StoreHold | null = null,
): { until_ms: number; value: string } {
  const until_ms = now_ms + STORE_HOLD_MS;
  const reason = ORDER.find((each) => each === why || each === before?.reason);
  return { until_ms, value: `${until_ms} ${reason}` };
}

/** What holds the store at this time; null where nothing does. */
export function readHold(read: Tx, now_ms: number): StoreHold | null {
  const [until = '', told] = (readMeta(read, STORE_HOLD) ?? '').split(' ');
  const until_ms = Number(until);
  if (now_ms >= until_ms) return null;
  const reason = ORDER.find((each) => each === told) ?? 'restored';
  return { until_ms, reason, words: REASONS[reason] };
}
