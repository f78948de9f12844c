/** How a noun takes part in what is held about an address: it is told, counted and forgotten thing by thing. */
import type { Tx } from './database.ts';

/** One thing that a noun holds about an address. */
export interface HeldThing {
  /** As an export shows it, read now; null where it is gone by now. */
  show(): unknown;
  /** Deletes or empties it; `later` runs once that is on disk. Left out where it goes with the contacts or mails. */
  forget?(tx: Tx, later: (work: () => Promise<void>) => void): void;
}

export interface AddressHolder {
  /** Under what name an export shows it. */
  name: string;
  /**
   * All that it holds, some at a time. Others have their turn in between, so each piece is read anew, takes a few milliseconds and
   * may be empty.
   */
  find(owner: { id: number; public_id: string }, email: string): Iterable<readonly HeldThing[]>;
}
