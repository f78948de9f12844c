/**
 * An address on all lists of a project: finding it, and exporting, explaining and forgetting what is held
 * about it.
 */

import { invalid } from '../../errors.ts';
import { COUNTED_MATCHES } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Clock, monotonicMs, toIso } from '../../platform/host/clock.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, pageOf, startOf } from '../../platform/http/pagination.ts';
import type { AddressHolder, HeldThing } from '../../platform/mail/address.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import { contactAddress } from './fields.ts';
import type { ContactRecord } from './schemas.ts';
import type { Contacts } from './service.ts';
import * as store from './store.ts';
import type { ContactRow } from './tables.ts';

/** A contact among those of all lists. */
export type FoundContact = Pick<
  ContactRecord,
  'id' | 'list' | 'email' | 'first_name' | 'last_name' | 'status' | 'created_at'
> & { list_name: string };

export interface PrivacyDeps {
  database: Database;
  clock: Clock;
  projectOf(id: number): KeyOwner | null;
  lists: Lists;
  contacts: Contacts;
  tracking: Pick<TrackingChoices, 'forget'>;
  suppressions: Suppressions;
  /** What may still make a contact of an address: it forgets first. */
  waiting: readonly AddressHolder[];
  /** In the order in which they forget. */
  holders: readonly AddressHolder[];
  /** What else an address gets, and why: some sentences at a time, each read in a turn of its own. */
  explainMore(owner: KeyOwner, email: string): Iterable<string[]>;
}

/** How long one transaction forgets, and one turn writes an export, before others have their turn. */
const PIECE_MS = 4;

export class Privacy {
  readonly #contacts: AddressHolder = { name: 'contacts', find: this.#findContacts.bind(this) };

  constructor(private readonly deps: PrivacyDeps) {}

  /**
   * Contacts of all lists whose address begins with this text, ordered by address. Counts as far as filtered
   * lists do.
   */
  find(project_id: number, query: PageQuery & { email?: string | undefined }): Page<FoundContact> {
    const { read } = this.deps.database;
    const prefix = query.email?.trim().toLowerCase() ?? '';
    const { offset, per_page } = startOf(query);
    // As for a filter: whoever goes on finds a next page as long as there is one.
    const enough = Math.max(COUNTED_MATCHES, offset + 2 * per_page);
    const total = store.countByAddress(read, { project_id, prefix, most: enough + 1 });
    const rows = store.listByAddress(read, { project_id, prefix, limit: per_page, offset });
    const names = new Map<number, ListRow | null>();
    const data = rows.flatMap((row) => {
      const list = names.get(row.list_id) ?? this.deps.lists.findById(row.list_id);
      names.set(row.list_id, list);
      if (!list) return [];
      const { public_id: id, email, first_name, last_name, status } = row;
      const created_at = toIso(row.created_at);
      return [
        { id, list: list.public_id, list_name: list.name, email, first_name, last_name, status, created_at },
      ];
    });
    return pageOf(query, { total: Math.min(total, enough), is_capped: total > enough, data });
  }

  /**
   * Everything held about an address in a project, as the text of a JSON object, piece by piece: an address may have thousands of
   * mails. Throws AppError `invalid` for what is no address.
   */
  export(owner: KeyOwner, address: string): AsyncGenerator<string> {
    return this.#textOf(owner, requireAddress(address));
  }

  async *#textOf(owner: KeyOwner, email: string): AsyncGenerator<string> {
    const { holders, waiting, suppressions } = this.deps;
    const suppression = JSON.stringify(suppressions.find(owner, email), null, 2).replaceAll('\n', '\n  ');
    yield `{\n  "email": ${JSON.stringify(email)},\n  "suppression": ${suppression}`;
    for (const holder of [this.#contacts, ...holders, ...waiting]) {
      yield `,\n  "${holder.name}": [`;
      let separator = '\n    ';
      for await (const thing of inTurns(holder.find(owner, email))) {
        const shown = thing.show();
        if (shown === null) continue;
        yield separator + JSON.stringify(shown, null, 2).replaceAll('\n', '\n    ');
        separator = ',\n    ';
      }
      yield separator.startsWith(',') ? '\n  ]' : ']';
    }
    yield '\n}\n';
  }

  /** How much is held about an address, by kind. Throws AppError `invalid`. */
  async count(owner: KeyOwner, address: string): Promise<Record<string, number>> {
    const email = requireAddress(address);
    const counts: Record<string, number> = {};
    for (const { name, find } of [this.#contacts, ...this.deps.holders, ...this.deps.waiting]) {
      let n = 0;
      for (const things of find(owner, email)) {
        n += things.length;
        await letOthers();
      }
      counts[name] = n;
    }
    return counts;
  }

  /**
   * Deletes the contacts of an address, empties it and its content wherever else it stands, and keeps nothing but its suppression,
   * which is a hash. The audit trail tells that it was done, without the address. Resolves once all of it is done; where a crash
   * comes between, `goOn` does the rest. Throws AppError `invalid`.
   */
  async forget(actor: Actor, owner: KeyOwner, address: string): Promise<Record<string, number>> {
    const email = requireAddress(address);
    const { clock, database } = this.deps;
    const forgotten = await this.count(owner, email);
    await database.write((tx) => {
      store.insertAddressToForget(tx, { project_id: owner.id, email });
      const entry = { event: 'contact.forgotten', target: null, project: owner, metadata: forgotten };
      recordAudit(tx, actor, entry, clock.now());
    });
    await this.#forget(owner, email);
    return forgotten;
  }

  /** Forgets what a crash left to be forgotten. */
  async goOn(): Promise<void> {
    for (const { project_id, email } of store.listAddressesToForget(this.deps.database.read)) {
      const owner = this.deps.projectOf(project_id);
      if (owner) await this.#forget(owner, email);
    }
  }

  async #forget(owner: KeyOwner, email: string): Promise<void> {
    const { database, tracking, waiting, holders } = this.deps;
    for (const { find } of [...waiting, this.#contacts, ...holders])
      for (const things of find(owner, email)) {
        await this.#forgetAll(things);
        await letOthers();
      }
    const of = { project_id: owner.id, email };
    await database.write((tx) => {
      tracking.forget(tx, of);
      store.deleteAddressToForget(tx, owner.id, email);
    });
  }

  /** In as many transactions as it takes, none of them long. */
  async #forgetAll(things: readonly HeldThing[]): Promise<void> {
    const after: (() => Promise<void>)[] = [];
    for (let done = 0; done < things.length; )
      done = await this.deps.database.writePiece((tx) => {
        const ends_ms = monotonicMs() + PIECE_MS;
        let next = done;
        do things[next]?.forget?.(tx, (work) => after.push(work));
        while (++next < things.length && monotonicMs() < ends_ms);
        return next;
      });
    for (const work of after) await work();
  }

  /** Why an address is mailed or not, one sentence a line. Throws AppError `invalid`. */
  async explain(owner: KeyOwner, address: string): Promise<string[]> {
    const email = requireAddress(address);
    const { suppressions, clock, explainMore } = this.deps;
    const suppression = suppressions.find(owner, email);
    const why = [
      suppression
        ? `It is suppressed (${suppression.kind}) since ${suppression.created_at}: it gets no marketing mail of this project.`
        : 'It is not suppressed.',
    ];
    const rows = this.deps.contacts.rowsOfAddress(this.deps.database.read, { project_id: owner.id, email });
    for (const row of rows) {
      why.push(explainListing(this.#recordOf(row)));
      await letOthers();
    }
    if (rows.length === 0) why.push('It is on no list of this project.');
    for (const row of rows.slice(0, 1)) {
      const one = this.#recordOf(row);
      why.push(...explainPause(one, clock.now()), ...explainTracking(one));
    }
    for (const sentences of explainMore(owner, email)) {
      why.push(...sentences);
      await letOthers();
    }
    return why;
  }

  *#findContacts(owner: KeyOwner, email: string): Generator<HeldThing[]> {
    const { contacts, database } = this.deps;
    for (const row of contacts.rowsOfAddress(database.read, { project_id: owner.id, email }))
      yield [{ show: () => this.#recordOf(row), forget: (tx) => contacts.forget(tx, row) }];
  }

  #recordOf(row: ContactRow): ContactRecord & { list_name: string } {
    const { contacts, lists } = this.deps;
    return { ...contacts.present(row), list_name: lists.findById(row.list_id)?.name ?? '' };
  }
}

/** Each of these, while others have their turn every few milliseconds. */
async function* inTurns<T>(pieces: Iterable<readonly T[]>): AsyncGenerator<T> {
  let ends_ms = monotonicMs() + PIECE_MS;
  for (const piece of pieces) {
    for (const one of piece) {
      yield one;
      if (monotonicMs() < ends_ms) continue;
      await letOthers();
      ends_ms = monotonicMs() + PIECE_MS;
    }
    await letOthers();
    ends_ms = monotonicMs() + PIECE_MS;
  }
}

function explainPause({ paused_until }: ContactRecord, now_ms: number): string[] {
  if (paused_until === null || Date.parse(paused_until) <= now_ms) return [];
  return [
    `It gets no broadcast and no mail of a sequence until ${paused_until}: it has paused the mail it gets.`,
  ];
}

function explainTracking({ tracking, tracking_evidence: evidence }: ContactRecord): string[] {
  if (tracking === null || evidence === null) return [];
  const { at, by, ip, origin } = evidence;
  const told = [
    `by ${by}`,
    ...(origin === null ? [] : [`on ${origin}`]),
    ...(ip === null ? [] : [`from ${ip}`]),
  ];
  const may = tracking === 'allowed' ? 'may be' : 'is not';
  return [`What it opens and clicks ${may} counted: ${tracking} ${at} (${told.join(', ')}).`];
}

function explainListing(contact: ContactRecord & { list_name: string }): string {
  return (
    `On the list ${contact.list_name} it is ${contact.status}, since ${contact.created_at}, ` +
    `on the basis ${contact.consent_basis} of ${contact.consent_at} (${evidenceOf(contact)}).`
  );
}

function evidenceOf(contact: ContactRecord): string {
  const parts = [
    `by ${contact.source_platform}`,
    ...(contact.consent_origin === null ? [] : [`on ${contact.consent_origin}`]),
    ...(contact.consent_ip === null ? [] : [`from ${contact.consent_ip}`]),
    ...(contact.confirmed_at === null ? [] : [`confirmed ${contact.confirmed_at}`]),
  ];
  return parts.join(', ');
}

function requireAddress(address: string): string {
  const canonical = contactAddress(address);
  if (!canonical) throw invalid({ address: ['must be an email address, such as ann@example.com'] });
  return canonical.email;
}
