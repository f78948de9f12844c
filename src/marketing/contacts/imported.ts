/** Addresses that left elsewhere, as files of imports say: they leave here too, and an import can be taken back. */
import type { Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { ListRow } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Departed, SuppressionKind, Suppressions } from '../suppressions/service.ts';
import type { ContactChoices } from './choices.ts';
import { type ContactEvent, depart, isLater, STATUS_AFTER } from './departures.ts';
import * as store from './store.ts';
import { CONTACT_STATUSES, type ContactRow } from './tables.ts';

interface ImportedDeparturesDeps {
  clock: Clock;
  suppressions: Pick<Suppressions, 'addImported'>;
  choices: Pick<ContactChoices, 'tell'>;
  announce(tx: Tx, event: ContactEvent): void;
}

export class ImportedDepartures {
  constructor(private readonly deps: ImportedDeparturesDeps) {}

  /** Takes an address out as a row says, within its transaction. Nothing changes where its contact on the list has that status already. */
  leave(
    tx: Tx,
    { owner, list, import_id }: { owner: KeyOwner; list: Pick<ListRow, 'id'>; import_id: string },
    { email, kind }: { email: string; kind: SuppressionKind },
  ): void {
    const { clock, suppressions, announce } = this.deps;
    const at = clock.now();
    const rows = store.listContactsOfAddress(tx, owner.id, email);
    if (kind === 'manual') {
      if (suppressions.addImported(tx, owner, email, { import_id, kind, departures: [] }))
        for (const contact of rows) announce(tx, { kind: 'suppressed', contact, at });
      return;
    }
    const after = STATUS_AFTER[kind];
    if (rows.some((row) => row.list_id === list.id && row.status === after)) return;
    const had = new Map(rows.map(({ id, status }) => [id, status]));
    const left = depart(tx, { project_id: owner.id, email, kind, now_ms: at });
    const departures = left.map(({ id, public_id, status }) => ({
      contact: public_id,
      status: had.get(id) ?? status,
      at,
    }));
    suppressions.addImported(tx, owner, email, { import_id, kind, departures });
    for (const contact of left) announce(tx, { kind: after, contact, at });
  }

  /** As `Bounced` of suppressions says. */
  giveBack(
    tx: Tx,
    owner: KeyOwner,
    { departures, remaining }: { departures: readonly Departed[]; remaining: SuppressionKind | null },
  ): { restored: string[]; standing: Departed[] } {
    const left = new Map(departures.map((one) => [one.contact, one]));
    const still = remaining === null || remaining === 'manual' ? null : STATUS_AFTER[remaining];
    const restored: string[] = [];
    const standing: Departed[] = [];
    for (const row of store.findContacts(tx, owner.id, [...left.keys()])) {
      const departed = left.get(row.public_id);
      const had = CONTACT_STATUSES.find((status) => status === departed?.status);
      if (!departed || !had || departed.at !== row.status_changed_at) continue;
      const status = still && isLater(still, had) ? still : had;
      const at = status === row.status ? departed.at : this.#change(tx, row, status);
      if (status !== row.status) restored.push(row.public_id);
      if (status !== had) standing.push({ ...departed, at });
    }
    return { restored, standing };
  }

  #change(tx: Tx, row: ContactRow, status: ContactRow['status']): number {
    const at = this.deps.clock.now();
    const contact = store.updateContact(tx, row.id, {
      status,
      status_before_bounce: status === 'bounced' ? row.status_before_bounce : null,
      status_before_leaving: status === 'unsubscribed' ? row.status_before_leaving : null,
      status_changed_at: at,
      updated_at: at,
    });
    if (row.status === 'unsubscribed') this.deps.announce(tx, { kind: 'resubscribed', contact, at });
    this.deps.choices.tell(tx, { contact, changes: { status: { from: row.status, to: status } } });
    return at;
  }
}
