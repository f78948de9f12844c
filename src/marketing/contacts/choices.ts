/**
 * What people choose themselves, on the page of their choices: which list they leave, whether they pause, and whether they are
 * counted. Who else must know is told in the same transaction; of changes by others, too.
 */
import type { Tx } from '../../platform/database/database.ts';
import type { Changes } from '../../platform/database/schemas.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { TrackedAddress, Tracking, TrackingChoices } from '../tracking/service.ts';
import type { ContactEvent } from './departures.ts';
import { isPaused } from './pipeline.ts';
import * as store from './store.ts';
import type { ContactRow } from './tables.ts';

/** Contract, decisions 17: how long a pause lasts that people choose themselves. */
export const PAUSE_MS = 30 * 24 * 60 * 60_000;

/** What changed of a contact, by its own choice or by others'. */
export interface ContactChange {
  contact: ContactRow;
  changes: Changes;
}
type ChangeListener = (tx: Tx, change: ContactChange) => void;

/** A pause that began, or ended before its time. */
export interface ContactPause {
  contact: ContactRow;
  /** Until when it had paused before. */
  was_until: number | null;
}
type PauseListener = (tx: Tx, pause: ContactPause) => void;

/** What somebody chose for their address; what is undefined stays as it is. */
export interface Choice {
  pause: boolean | undefined;
  tracking: Tracking | undefined;
  ip: string | null;
  origin: string | null;
}

interface ContactChoicesDeps {
  clock: Clock;
  tracking: TrackingChoices;
  announce(tx: Tx, event: ContactEvent): void;
}

export class ContactChoices {
  readonly #deps: ContactChoicesDeps;
  readonly #listeners: ChangeListener[] = [];
  readonly #pause_listeners: PauseListener[] = [];

  constructor(deps: ContactChoicesDeps) {
    this.#deps = deps;
  }

  /** Adds a listener for what changes of one contact, called in the transaction that changes it. */
  listen(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /** Adds a listener for pauses, as `listen` does. */
  listenToPauses(listener: PauseListener): void {
    this.#pause_listeners.push(listener);
  }

  /** Tells that a contact changed, unless nothing did. */
  tell(tx: Tx, change: ContactChange): void {
    if (Object.keys(change.changes).length > 0) for (const listener of this.#listeners) listener(tx, change);
  }

  /** Takes a contact off its list, and no other; its address is not suppressed. Whoever is not on it stays as they are. */
  leaveList(tx: Tx, { id }: Pick<ContactRow, 'id'>): void {
    const at = this.#deps.clock.now();
    const status = store.rows.findById(tx, id)?.status;
    if (status !== 'active' && status !== 'pending') return;
    const changes = {
      status: 'unsubscribed',
      status_before_leaving: null,
      status_changed_at: at,
      updated_at: at,
    } as const;
    this.#deps.announce(tx, { kind: 'unsubscribed', contact: store.updateContact(tx, id, changes), at });
  }

  /** The contacts of an address that left all together at a moment, and stand so since. */
  leftAt(read: Tx, { project_id, email, left_at }: TrackedAddress & { left_at: number }): ContactRow[] {
    return store
      .listContactsOfAddress(read, project_id, email)
      .filter(
        (row) =>
          row.status === 'unsubscribed' &&
          row.status_changed_at === left_at &&
          row.status_before_leaving !== null,
      );
  }

  /** Gives contacts of `leftAt` the status that they had. Their sequences stay ended. */
  comeBack(tx: Tx, rows: readonly ContactRow[]): void {
    const at = this.#deps.clock.now();
    for (const { id, status_before_leaving } of rows) {
      const status = status_before_leaving ?? 'active';
      const changes = { status, status_before_leaving: null, status_changed_at: at, updated_at: at };
      const contact = store.updateContact(tx, id, changes);
      this.#deps.announce(tx, { kind: 'resubscribed', contact, at });
      this.tell(tx, { contact, changes: { status: { from: 'unsubscribed', to: status } } });
    }
  }

  /** Sets what an address chose, of all its contacts. A pause that runs goes on as long as it did. */
  choose(tx: Tx, of: TrackedAddress, { pause, tracking, ip, origin }: Choice): void {
    const at = this.#deps.clock.now();
    const tracked = () => this.#deps.tracking.find(tx, of)?.tracking ?? null;
    const was_tracked = tracked();
    if (tracking !== undefined) this.#deps.tracking.set(tx, of, { tracking, at, by: 'page', ip, origin });
    const is_tracked = tracked();
    for (const row of store.listContactsOfAddress(tx, of.project_id, of.email)) {
      const changes: Changes = {};
      let contact = row;
      if (is_tracked !== was_tracked) changes.tracking = { from: was_tracked, to: is_tracked };
      if (pause !== undefined && pause !== isPaused(row, at)) {
        const paused_until = pause ? at + PAUSE_MS : null;
        contact = store.updateContact(tx, row.id, { paused_until, updated_at: at });
        changes.paused_until = { from: toIso(row.paused_until), to: toIso(paused_until) };
        for (const listener of this.#pause_listeners) listener(tx, { contact, was_until: row.paused_until });
      }
      this.tell(tx, { contact, changes });
    }
  }
}
