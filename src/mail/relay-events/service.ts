/** Where the provider of a mailbox's relay tells what became of its mail: an address that only it knows, and how that goes. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import { AppError, conflict, type FieldErrors, refuseAll } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { dateTime, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { hashToken } from '../../platform/secrets/token-format.ts';
import { PROVIDERS } from './providers.ts';
import * as store from './store.ts';
import { EVENT_PROVIDERS, type EventProvider, type EventsRow } from './tables.ts';

export { type EventKind, PROVIDERS, type Teller, type ToldEvent } from './providers.ts';
export { EVENT_PROVIDERS, type EventProvider, type EventsRow } from './tables.ts';

/** Contract: 32 characters. */
const TOKEN_BYTES = 24;

/** As the API, the shell and the console are shown it. */
export const eventsRecord = named(
  'MailboxEvents',
  t.Object({
    provider: oneOf(EVENT_PROVIDERS),
    url: nullable(
      t.String({ description: 'Where it tells; whoever has it can. null where it does not decrypt.' }),
    ),
    has_key: t.Boolean({ description: 'What its key did not sign is refused.' }),
    configuration_set: nullable(t.String()),
    last_event_at: nullable(dateTime()),
    refused_at: nullable(dateTime()),
    problem: nullable(t.String({ description: 'Why the last request was refused; null once one is taken.' })),
  }),
);
export type EventsRecord = Static<typeof eventsRecord>;

/** A key or a set that is absent stays, unless the provider becomes another one. */
export interface NewEvents {
  provider: EventProvider;
  key?: string | null;
  configuration_set?: string | null;
}

interface RelayEventsDeps {
  config: Pick<Config, 'public_url'>;
  database: Database;
  clock: Clock;
  key_ring: Pick<KeyRing, 'seal' | 'openText'>;
}

export class RelayEvents {
  constructor(private readonly deps: RelayEventsDeps) {}

  /**
   * Has a mailbox told by a provider, or by none. Its address stays, and whatever SNS asked for is asked anew.
   * Throws AppError `invalid`.
   */
  set(tx: Tx, mailbox_id: number, events: NewEvents | null): void {
    if (!events) {
      store.deleteEvents(tx, mailbox_id);
      return;
    }
    const found = store.findEvents(tx, mailbox_id);
    const same = found?.provider === events.provider ? found : null;
    refuseAll(errorsIn(events, same?.sealed_key !== null && same !== null));
    const { provider, key, configuration_set = same?.configuration_set ?? null } = events;
    const sealed_key =
      key === undefined
        ? (same?.sealed_key ?? null)
        : key && this.deps.key_ring.seal(tx, PLATFORM_SCOPE, contextOf(mailbox_id, 'key'), key);
    const address = found ?? this.#newAddress(tx, mailbox_id);
    store.saveEvents(tx, {
      mailbox_id,
      provider,
      configuration_set,
      sealed_key,
      sealed_token: address.sealed_token,
      token_hash: address.token_hash,
      topic: null,
      confirmed: null,
      refused_at: null,
      refusals: 0,
      problem: null,
      last_event_at: same?.last_event_at ?? null,
      set_at: this.deps.clock.now(),
    });
  }

  /** Gives it another address; that of before is unknown at once. Throws AppError `conflict`. */
  rotate(tx: Tx, mailbox_id: number): void {
    const row = store.findEvents(tx, mailbox_id);
    if (!row) throw conflict('The mailbox has no events: set them first (satchel mailbox events).');
    const anew = { topic: null, confirmed: null, ...this.#newAddress(tx, mailbox_id) };
    store.saveEvents(tx, { ...row, ...anew });
  }

  #newAddress(tx: Tx, mailbox_id: number): Pick<EventsRow, 'sealed_token' | 'token_hash'> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const context = contextOf(mailbox_id, 'token');
    return {
      sealed_token: this.deps.key_ring.seal(tx, PLATFORM_SCOPE, context, token),
      token_hash: hashToken(token),
    };
  }

  /** For people to read. */
  find(read: Tx, mailbox_id: number): EventsRecord | null {
    const row = store.findEvents(read, mailbox_id);
    if (!row) return null;
    const token = this.#open(row, 'token');
    return {
      provider: row.provider,
      url: token && `${this.deps.config.public_url}/relay-events/${token}`,
      has_key: row.sealed_key !== null,
      configuration_set: row.configuration_set,
      last_event_at: toIso(row.last_event_at),
      refused_at: toIso(row.refused_at),
      problem: row.problem,
    };
  }

  /** What doctor looks at; null where the mailbox has none. */
  findRow(mailbox_id: number): EventsRow | null {
    return store.findEvents(this.deps.database.read, mailbox_id);
  }

  /** Mailboxes that a provider tells of: the address of one stands for those of the others. */
  mailboxesOf(read: Tx, provider: EventProvider): number[] {
    const all = store.listEvents(read);
    return all.filter((row) => row.provider === provider).map(({ mailbox_id }) => mailbox_id);
  }

  /** Fields for a mail that goes out from a mailbox, by the code that names it; null where none are wanted. */
  fieldsFor(read: Tx, mailbox_id: number): ((code: string) => Record<string, string>) | null {
    const row = store.findEvents(read, mailbox_id);
    return row && ((code) => PROVIDERS[row.provider].fields(code, row.configuration_set));
  }

  /** Mailboxes of which something does not decrypt. */
  listUndecryptable(): number[] {
    return store
      .listEvents(this.deps.database.read)
      .filter((row) => this.#open(row, 'token') === null || (row.sealed_key && this.keyOf(row) === null))
      .map(({ mailbox_id }) => mailbox_id);
  }

  /* --- What its requests need -------------------------------------------------------------------------------------- */

  /** Throws AppError `not_found`. */
  requireByToken(token: string): EventsRow {
    const row = store.findByToken(this.deps.database.read, hashToken(token));
    if (!row) throw new AppError('not_found', 'No mailbox hears of events at this address.');
    return row;
  }

  /** Null where it has none, and where it does not decrypt. */
  keyOf(row: EventsRow): string | null {
    return row.sealed_key === null ? null : this.#open(row, 'key');
  }

  #open(row: EventsRow, what: 'key' | 'token'): string | null {
    const { database, key_ring } = this.deps;
    const sealed = what === 'key' ? (row.sealed_key ?? '') : row.sealed_token;
    return key_ring.openText(database.read, sealed, contextOf(row.mailbox_id, what));
  }

  /** Makes a topic of SNS the only one of a mailbox; false where it has another. */
  claimTopic(row: EventsRow, topic: string): Promise<boolean> {
    return this.deps.database.write((tx) => {
      const now = store.findByToken(tx, row.token_hash);
      if (now?.topic === null) store.updateEvents(tx, row, { topic });
      return now !== null && (now.topic ?? topic) === topic;
    });
  }

  async noteConfirmed(row: EventsRow, confirmed: string): Promise<void> {
    const changes = { confirmed, refusals: 0, problem: null };
    await this.deps.database.write((tx) => store.updateEvents(tx, row, changes));
  }

  async noteTaken(row: EventsRow): Promise<void> {
    const changes = { last_event_at: this.deps.clock.now(), refusals: 0, problem: null };
    await this.deps.database.write((tx) => store.updateEvents(tx, row, changes));
  }

  async noteRefused(row: EventsRow, problem: string): Promise<void> {
    await this.deps.database.write((tx) => {
      const refusals = (store.findByToken(tx, row.token_hash)?.refusals ?? 0) + 1;
      store.updateEvents(tx, row, { refused_at: this.deps.clock.now(), refusals, problem });
    });
  }
}

function errorsIn({ provider, key, configuration_set }: NewEvents, has_key: boolean): FieldErrors {
  const { label, signing, needs_key } = PROVIDERS[provider];
  const errors: FieldErrors = {};
  const is_missing = needs_key && (key === undefined ? !has_key : key === null);
  if (is_missing) errors['events.key'] = [`is required: ${label} tells nothing else that is ours`];
  else if (typeof key === 'string' && !signing)
    errors['events.key'] = [`is not for ${label}, which takes none`];
  else if (typeof key === 'string' && !signing?.isKey(key)) errors['events.key'] = [signing?.form ?? ''];
  if (typeof configuration_set !== 'string') return errors;
  if (provider !== 'ses') errors['events.configuration_set'] = ['is for ses alone'];
  else if (!/^[\w-]{1,64}$/.test(configuration_set))
    errors['events.configuration_set'] = ['must be letters, digits, _ and -, at most 64'];
  return errors;
}

/** What binds a sealed value to its mailbox. */
function contextOf(mailbox_id: number, what: 'key' | 'token'): string[] {
  return ['relay_events', String(mailbox_id), what];
}
