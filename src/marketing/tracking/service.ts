/**
 * Consent to be counted: whether what an address opens and clicks may be counted, in a project and on all its lists. Here alone it is
 * decided whether a mail is tracked.
 */
import { conflict } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { MarketingSettings } from '../settings/service.ts';
import * as store from './store.ts';
import type { Teller, Tracking, TrackingChoiceRow } from './tables.ts';

export { TELLERS, type Teller, TRACKINGS, type Tracking } from './tables.ts';

/** What an address said, or somebody for it, and the evidence. */
export type TrackingChoice = Omit<TrackingChoiceRow, 'project_id' | 'email'>;

/** As a contact's record has it; null where nobody said anything. */
export interface TrackingEvidence {
  at: string;
  by: Teller;
  ip: string | null;
  origin: string | null;
}

export interface TrackedAddress {
  project_id: number;
  /** In its canonical form. */
  email: string;
}

/** Called in the transaction in which an address stops being tracked. */
type UntrackedListener = (tx: Tx, of: TrackedAddress) => void;

export class TrackingChoices {
  readonly #listeners: UntrackedListener[] = [];

  constructor(private readonly deps: { marketing: Pick<MarketingSettings, 'tracking'> }) {}

  /** Adds a listener for each address that stops being tracked by its own choice or by one for it. */
  listen(listener: UntrackedListener): void {
    this.#listeners.push(listener);
  }

  /** True where mail to an address has a picture, links of ours and what else tells that it was read. */
  isTracked(read: Tx, { project_id, email }: TrackedAddress): boolean {
    const tracking = store.findChoice(read, project_id, email)?.tracking;
    if (tracking !== undefined) return tracking === 'allowed';
    return this.deps.marketing.tracking(project_id, read) === 'all';
  }

  /** Null where nobody said anything. */
  find(read: Tx, { project_id, email }: TrackedAddress): TrackingChoice | null {
    return store.findChoice(read, project_id, email);
  }

  /** By address. */
  findAll(read: Tx, project_id: number, emails: readonly string[]): ReadonlyMap<string, TrackingChoice> {
    return new Map(store.listChoices(read, project_id, emails).map((row) => [row.email, row]));
  }

  /**
   * Sets what an address said, within a transaction; null takes back what was said for it. A person's own word gives way to nothing but
   * their page, and a form lifts no refusal. Returns false where it stays as it was for one of these reasons.
   */
  set(
    tx: Tx,
    of: TrackedAddress,
    said: { tracking: Tracking | null; at: number; by: Teller; ip?: string | null; origin?: string | null },
  ): boolean {
    const { tracking, at, by: told_by, ip = null, origin = null } = said;
    const known = store.findChoice(tx, of.project_id, of.email);
    if ((known?.tracking ?? null) === tracking && !(known && isOwnWord(told_by) && !isOwnWord(known.told_by)))
      return true;
    if (known && told_by === 'form' && known.tracking === 'refused') return false;
    if (known && !isOwnWord(told_by) && isOwnWord(known.told_by)) return false;
    const was_tracked = this.isTracked(tx, of);
    if (tracking === null) store.deleteChoice(tx, of.project_id, of.email);
    else store.saveChoice(tx, { ...of, tracking, at, told_by, ip, origin });
    if (was_tracked && !this.isTracked(tx, of)) for (const listener of this.#listeners) listener(tx, of);
    return true;
  }

  /** As `set` for an app or an admin. Throws AppError `conflict` (tracking_chosen) over a person's own word. */
  setByApi(tx: Tx, of: TrackedAddress, said: { tracking: Tracking | null; at: number }): void {
    if (this.set(tx, of, { ...said, by: 'api' })) return;
    throw conflict(
      'The person has said themselves whether what they open and click is counted: only they change it, on the page of their choices.',
      { code: 'tracking_chosen' },
    );
  }

  /** Returns how many it forgot: one or none. */
  forget(tx: Tx, { project_id, email }: TrackedAddress): number {
    return store.deleteChoice(tx, project_id, email);
  }
}

/** True where a person said it, by their page or by a box that they ticked. */
function isOwnWord(told_by: Teller): boolean {
  return told_by === 'page' || told_by === 'form';
}

/** The fields of a contact that tell of its address's choice. */
export function presentTracking(choice: TrackingChoice | null | undefined): {
  tracking: Tracking | null;
  tracking_evidence: TrackingEvidence | null;
} {
  if (!choice) return { tracking: null, tracking_evidence: null };
  const { tracking, at, told_by: by, ip, origin } = choice;
  return { tracking, tracking_evidence: { at: toIso(at), by, ip, origin } };
}
