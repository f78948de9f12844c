/** May this contact be mailed? Whatever sends, enrolls or adds people asks here. Pure functions. */
import type { SuppressionCheck } from '../suppressions/service.ts';
import type { ContactRow, ContactStatus } from './tables.ts';

/** What keeps a contact from being mailed: its own status, a suppression of its address, or both. */
export interface Bar {
  /** Null where it is active. */
  status: Exclude<ContactStatus, 'active'> | null;
  is_suppressed: boolean;
}

/** Null where it may be mailed. */
export function barOf(
  contact: Pick<ContactRow, 'status' | 'email'>,
  suppressed: SuppressionCheck,
): Bar | null {
  const is_suppressed = suppressed(contact.email) !== null;
  if (contact.status !== 'active') return { status: contact.status, is_suppressed };
  return is_suppressed ? { status: null, is_suppressed } : null;
}

/** Whether they get no marketing mail for a while, as they chose. */
export function isPaused({ paused_until }: Pick<ContactRow, 'paused_until'>, now_ms: number): boolean {
  return paused_until !== null && paused_until > now_ms;
}

/** Anybody can type in any address: whoever left by choice comes back only by a click in a mail. */
export function hasLeftByChoice({ status }: Pick<ContactRow, 'status'>): boolean {
  return status === 'unsubscribed' || status === 'complained';
}
