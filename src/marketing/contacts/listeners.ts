/** What happens to contacts, for listeners, and what contacts are told of themselves. */
import type { Tx } from '../../platform/database/database.ts';
import type { ContactRow } from './tables.ts';

export interface ContactEvent {
  /** `signed_up`: waits for its click; `activated` follows it, or comes at once. */
  kind: 'signed_up' | 'activated' | 'unsubscribed' | 'bounced' | 'complained' | 'suppressed' | 'deleted';
  contact: ContactRow;
  at: number;
  /** Of `signed_up` and `activated`: by a test key. */
  is_test?: boolean;
}
export type ContactListener = (tx: Tx, event: ContactEvent) => void;

/** That somebody opened a marketing mail or clicked in it, for the first time. */
export interface ContactReading {
  kind: 'clicked' | 'opened' | 'opened_by_machine';
  /** Whom the mail was for; null where it was for nobody on a list. */
  contact_id: number | null;
  is_test: boolean;
  at: number;
}
