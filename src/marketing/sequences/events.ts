/** Product events: what apps say that a contact did. Of each event of a contact, the last time counts. */
import { AppError, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, SECOND_MS, toIso } from '../../platform/host/clock.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { type ContactRow, type Contacts, EVENT_SLUG } from '../contacts/service.ts';
import type { Lists } from '../lists/service.ts';
import { type EventRow, findEvent, listEventNamesSince, listEventsOf, saveEvent } from './store.ts';

/** Facts of an event, as JSON. */
const MAX_EVENT_META_BYTES = 8 * 1024;

/** Contract: made by the service itself. */
const RESERVED_EVENTS = [
  'clicked',
  'unsubscribed',
  'resubscribed',
  'bounced',
  'complained',
  'confirmed',
  'replied',
] as const;
type ReservedEvent = (typeof RESERVED_EVENTS)[number];

interface EventInput {
  contact_token?: string | null | undefined;
  email?: string | null | undefined;
  list?: string | null | undefined;
  event: string;
  occurred_at?: string | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
}

interface EventRecord {
  contact_id: string;
  event: string;
  occurred_at: string;
  meta: Record<string, unknown> | null;
}

export interface EventsDeps {
  database: Database;
  clock: Clock;
  contacts: Contacts;
  lists: Lists;
  /** Called for each new event, and each later time of one, in the transaction that records it. */
  onEvent(tx: Tx, told: { contact_id: number; event: string; occurred_at: number; at: number }): void;
}

export class ContactEvents {
  constructor(private readonly deps: EventsDeps) {}

  /**
   * Records an event; what it ends, ends with it. A repeat is a duplicate; one of a later time takes the
   * place of what was known. A time ahead of now counts as now. Throws AppError `invalid` by field, and
   * `not_found` for a token or an address that is of no contact of the project.
   */
  async record(
    project_id: number,
    input: EventInput,
  ): Promise<{ record: EventRecord; is_duplicate: boolean }> {
    const { database, clock } = this.deps;
    checkEvent(input);
    return database.write((tx) => {
      const contact = this.#contactOf(tx, project_id, input);
      const known = findEvent(tx, contact.id, input.event);
      const now = clock.now();
      const time = timeOf(input.occurred_at ?? null, now);
      // A stored time ahead of now, from a wrong clock or an app, counts as now.
      if (known && known.occurred_at <= now && latestOf(time) <= latestOf(known))
        return { record: present(contact, known), is_duplicate: true };
      const meta = input.meta ?? known?.meta ?? null;
      const row = { contact_id: contact.id, event: input.event, ...time, meta, created_at: now };
      saveEvent(tx, row);
      const told = { contact_id: contact.id, event: input.event, occurred_at: latestOf(time), at: now };
      this.deps.onEvent(tx, told);
      return { record: present(contact, row), is_duplicate: known !== null };
    });
  }

  /**
   * Notes what Satchel itself saw a contact do, within that transaction. Conditions and exit events treat it
   * as any other.
   */
  note(tx: Tx, { contact_id, event, at }: { contact_id: number; event: ReservedEvent; at: number }): void {
    // What is learned late does not take the place of what came after it.
    if ((findEvent(tx, contact_id, event)?.occurred_at ?? at) > at) return;
    const time = { occurred_at: at, is_whole_second: false };
    saveEvent(tx, { contact_id, event, ...time, meta: null, created_at: at });
    this.deps.onEvent(tx, { contact_id, event, occurred_at: at, at });
  }

  /** As `record` for each, in order. One that is refused, by `read` or later, holds back no other. */
  async recordAll(project_id: number, inputs: readonly unknown[], read: (input: unknown) => EventInput) {
    return Promise.all(
      inputs.map(async (input) => {
        try {
          const { is_duplicate } = await this.record(project_id, read(input));
          return { status: is_duplicate ? 200 : 201, ...(is_duplicate ? { duplicate: true } : {}) };
        } catch (error) {
          if (!(error instanceof AppError) || error.kind === 'unavailable') throw error;
          return {
            status: error.status,
            ...(error.code ? { code: error.code } : {}),
            message: error.message,
          };
        }
      }),
    );
  }

  /** Names of a contact's events that happened at or after a moment. */
  since(read: Tx, contact_id: number, since_ms: number): ReadonlySet<string> {
    return new Set(listEventNamesSince(read, contact_id, since_ms));
  }

  /** What an export of a person shows. */
  ofContact(read: Tx, contact: ContactRow): EventRecord[] {
    return listEventsOf(read, contact.id).map((row) => present(contact, row));
  }

  /** Which unsubscriptions of an address were taken back: a sentence a list. */
  explainAddress(project_id: number, email: string): string[] {
    const { contacts, database, lists } = this.deps;
    return contacts.rowsOfAddress(database.read, { project_id, email }).flatMap(({ id, list_id }) => {
      const [left, back] = (['unsubscribed', 'resubscribed'] as const).map((name) =>
        findEvent(database.read, id, name),
      );
      if (!left || !back || back.occurred_at < left.occurred_at) return [];
      const [from, to] = [toIso(left.occurred_at), toIso(back.occurred_at)];
      return [
        `On the list ${lists.findById(list_id)?.name} it unsubscribed ${from}, and took that back ${to}.`,
      ];
    });
  }

  /** What events say about an address; they go with its contacts. */
  holderOfAddresses(): AddressHolder {
    const { contacts, database } = this.deps;
    const ofContact = this.ofContact.bind(this);
    return {
      name: 'events',
      *find({ id: project_id }, email) {
        for (const contact of contacts.rowsOfAddress(database.read, { project_id, email }))
          yield ofContact(database.read, contact).map((event) => ({ show: () => event }));
      },
    };
  }

  #contactOf(tx: Tx, project_id: number, { contact_token, email, list }: EventInput): ContactRow {
    const { contacts, lists } = this.deps;
    const found = contact_token
      ? contacts.findByToken(project_id, contact_token, tx)
      : contacts.findByAddress(lists.require(project_id, list ?? '', tx).id, email ?? '', tx);
    if (!found) throw notFound('Contact');
    return found;
  }
}

type EventTime = Pick<EventRow, 'occurred_at' | 'is_whole_second'>;

/** No time is now, and so is one ahead of it. */
function timeOf(occurred_at: string | null, now_ms: number): EventTime {
  const at = occurred_at === null ? now_ms : Date.parse(occurred_at);
  if (at >= now_ms || occurred_at === null) return { occurred_at: now_ms, is_whole_second: false };
  return { occurred_at: at, is_whole_second: !occurred_at.includes('.') };
}

/** The latest moment at which it may have been: one that is known to the second may be any of that. */
function latestOf({ occurred_at, is_whole_second }: EventTime): number {
  return is_whole_second ? occurred_at + SECOND_MS - 1 : occurred_at;
}

/** Throws AppError `invalid` with every field that does not fit. */
function checkEvent(input: EventInput): void {
  const errors: FieldErrors = {};
  const by_address = Boolean(input.email) && Boolean(input.list);
  if (!input.contact_token && !by_address)
    errors.contact_token = ['is required, or email together with list'];
  if (input.contact_token && (input.email || input.list))
    errors.contact_token = ['must stand alone: leave email and list out'];
  if (!EVENT_SLUG.test(input.event))
    errors.event = ['must be lowercase letters, digits, dashes and underscores'];
  else if (RESERVED_EVENTS.some((event) => event === input.event))
    errors.event = [`is reserved: the service makes it (${RESERVED_EVENTS.join(', ')})`];
  if (input.meta && Buffer.byteLength(JSON.stringify(input.meta)) > MAX_EVENT_META_BYTES)
    errors.meta = [`must have at most ${MAX_EVENT_META_BYTES} bytes as JSON`];
  refuseAll(errors);
}

function present(
  contact: ContactRow,
  row: { event: string; occurred_at: number; meta: Record<string, unknown> | null },
): EventRecord {
  return {
    contact_id: contact.public_id,
    event: row.event,
    occurred_at: toIso(row.occurred_at),
    meta: row.meta,
  };
}
