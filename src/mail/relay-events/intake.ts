/** Taking in what providers tell of mail: is it theirs, and what does it make of each mail. */
import { AppError, invalid } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { parseJson, readSmallBody } from '../../platform/http/body.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { eventsIn, PROVIDERS, type Teller, type ToldEvent } from './providers.ts';
import type { RelayEvents } from './service.ts';
import { later, refused, type Sns } from './sns.ts';
import type { EventsRow } from './tables.ts';

/** Contract. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_EVENTS = 1_000;
/** Those that come by the thousand have some twenty; to parse so many takes 40 ms. */
const MAX_MEMBERS = 50 * MAX_EVENTS;
/** Contract: so long an event waits for its mail's attempt to be settled. */
const WAIT_MS = 5_000;
const LOOK_EVERY_MS = 100;

interface IntakeDeps {
  database: Database;
  relay_events: RelayEvents;
  sns: Pick<Sns, 'open'>;
  deliveries: {
    /** False where an event is to be taken again later. */
    takeEvent(tx: Tx, told: ToldEvent, by: Teller): boolean;
  };
}

export class RelayEventIntake {
  constructor(private readonly deps: IntakeDeps) {}

  /**
   * Takes a request to the address of `row`; all that it changes is on disk. Throws AppError `too_large`, `invalid`,
   * `unauthenticated`, and `rate_limited` where it is to come again.
   */
  async take(row: EventsRow, request: Request): Promise<void> {
    const raw = await readSmallBody(request, MAX_BODY_BYTES);
    const { relay_events } = this.deps;
    const said = await this.#eventsIn(row, request.headers, raw).catch(async (error) => {
      const is_refused = error instanceof AppError && ['unauthenticated', 'invalid'].includes(error.kind);
      if (is_refused) await relay_events.noteRefused(row, error.message);
      throw error;
    });
    if (!said) return;
    await this.#takeAll(row, said.is_signed, said.events.flatMap(PROVIDERS[row.provider].read));
    await relay_events.noteTaken(row);
  }

  /** What a provider says, once it is sure that it does; null where that is of a subscription. */
  async #eventsIn(row: EventsRow, headers: Headers, raw: Uint8Array) {
    const { label, signing, mark } = PROVIDERS[row.provider];
    const body = parseJson(raw, MAX_MEMBERS);
    if (row.provider === 'ses') {
      const message = await this.deps.sns.open(row, { headers, raw, body });
      return message === null ? null : { events: [jsonIn(message)].filter(isPlainObject), is_signed: true };
    }
    const is_signed = row.sealed_key !== null;
    if (is_signed) {
      const key = this.deps.relay_events.keyOf(row);
      if (key === null) throw later('The key of these events does not decrypt.');
      if (!signing?.isSigned(key, { headers, raw, body }))
        throw refused(`Its signature is missing, or not made with the key that is set for ${label}.`);
    }
    const all = eventsIn(body);
    const events = all.filter(isPlainObject).filter((event) => mark in event);
    if (events.length < all.length) throw invalid({ _: [`The body holds no events of ${label}.`] });
    if (events.length > MAX_EVENTS) throw invalid({ _: [`The body has more than ${MAX_EVENTS} events.`] });
    return { events, is_signed };
  }

  /** Each is a piece of its own, so that nobody waits for many. */
  async #takeAll(row: EventsRow, is_signed: boolean, told: readonly ToldEvent[]): Promise<void> {
    const { database, relay_events, deliveries } = this.deps;
    const { provider } = row;
    const by = { provider, is_signed, mailboxes: relay_events.mailboxesOf(database.read, provider) };
    const ends_ms = monotonicMs() + WAIT_MS;
    for (let open = told; open.length > 0; ) {
      const taken = await Promise.all(
        open.map((one) => database.writePiece((tx) => deliveries.takeEvent(tx, one, by))),
      );
      open = open.filter((_one, index) => taken[index] === false);
      if (open.length > 0 && monotonicMs() >= ends_ms)
        throw later('The relay has not answered yet about a mail that this tells of.');
      if (open.length > 0) await Bun.sleep(LOOK_EVERY_MS);
    }
  }
}

/** Null for what is none, such as what SNS says of a subscription. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(Buffer.from(text), MAX_MEMBERS);
  } catch {
    return null;
  }
}
