/**
 * An address on all lists of a project: finding it, and exporting, explaining and forgetting what is held
 * about it.
 */

import { invalid } from '../../errors.ts';
import { COUNTED_MATCHES } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, pageOf, startOf } from '../../platform/http/pagination.ts';
import type { ListRecord, ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { SuppressionRecord, Suppressions } from '../suppressions/service.ts';
import { contactAddress } from './fields.ts';
import type { ContactRecord } from './schemas.ts';
import type { Contacts } from './service.ts';
import * as store from './store.ts';

/** How another noun takes part: what it holds about an address, and how it forgets it. */
interface HolderOfAddresses {
  /** Under what name an export shows it. */
  name: string;
  export(read: Tx, owner: KeyOwner, email: string): unknown[];
  /** Returns how many things it forgot or emptied. */
  forget(tx: Tx, project_id: number, email: string): number;
}

/** A contact among those of all lists. */
export type FoundContact = Pick<
  ContactRecord,
  'id' | 'list' | 'email' | 'first_name' | 'last_name' | 'status' | 'created_at'
> & { list_name: string };

/** Everything held about an address. */
type PersonExport = Record<string, unknown> & {
  email: string;
  contacts: (ContactRecord & { list_name: string })[];
  suppression: SuppressionRecord | null;
};

export interface PrivacyDeps {
  database: Database;
  clock: Clock;
  lists: Lists;
  contacts: Contacts;
  suppressions: Suppressions;
  holders: readonly HolderOfAddresses[];
  /** What else an address gets, and why, one sentence a line. */
  explainMore(project_id: number, email: string): string[];
}

export class Privacy {
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

  /** Everything held about an address in a project. Throws AppError `invalid` for what is no address. */
  export(owner: KeyOwner, address: string): PersonExport {
    const email = requireAddress(address);
    const { read } = this.deps.database;
    const held = this.deps.holders.map(({ name, export: of }) => [name, of(read, owner, email)] as const);
    return {
      email,
      contacts: this.#contactsOf(owner, email),
      suppression: this.deps.suppressions.find(owner, email),
      ...Object.fromEntries(held),
    };
  }

  /**
   * Deletes the contacts of an address, empties it and its content wherever else it stands, and keeps nothing
   * but its suppression, which is a hash. The audit trail tells that it was done, without the address. Throws
   * AppError `invalid`.
   */
  async forget(actor: Actor, owner: KeyOwner, address: string): Promise<Record<string, number>> {
    const email = requireAddress(address);
    const { contacts, holders, clock, database } = this.deps;
    return database.write((tx) => {
      const forgotten: Record<string, number> = { contacts: contacts.forget(tx, owner.id, email) };
      for (const holder of holders) forgotten[holder.name] = holder.forget(tx, owner.id, email);
      const entry = { event: 'contact.forgotten', target: null, project: owner, metadata: forgotten };
      recordAudit(tx, actor, entry, clock.now());
      return forgotten;
    });
  }

  /** How much would be forgotten, by kind. Throws AppError `invalid`. */
  count(owner: KeyOwner, address: string): Record<string, number> {
    const { contacts, ...held } = this.export(owner, address);
    const counts: Record<string, number> = { contacts: contacts.length };
    for (const { name } of this.deps.holders) {
      const things = held[name];
      counts[name] = Array.isArray(things) ? things.length : 0;
    }
    return counts;
  }

  /** Why an address is mailed or not, one sentence a line. Throws AppError `invalid`. */
  explain(owner: KeyOwner, address: string): string[] {
    const { suppression, contacts, email } = this.export(owner, address);
    const on_lists = contacts.map(
      (contact) =>
        `On the list ${contact.list_name} it is ${contact.status}, since ${contact.created_at}, ` +
        `on the basis ${contact.consent_basis} of ${contact.consent_at} (${evidenceOf(contact)}).`,
    );
    return [
      suppression
        ? `It is suppressed (${suppression.kind}) since ${suppression.created_at}: it gets no marketing mail of this project.`
        : 'It is not suppressed.',
      ...(on_lists.length > 0 ? on_lists : ['It is on no list of this project.']),
      ...contacts
        .slice(0, 1)
        .flatMap((one) => [...explainPause(one, this.deps.clock.now()), ...explainTracking(one)]),
      ...this.deps.explainMore(owner.id, email),
    ];
  }

  #contactsOf(owner: KeyOwner, email: string): PersonExport['contacts'] {
    const names = new Map<string, ListRecord>();
    return this.deps.contacts.ofAddress(owner.id, email).map((contact) => {
      const list = names.get(contact.list) ?? this.deps.lists.get(owner.id, contact.list);
      names.set(contact.list, list);
      return { ...contact, list_name: list.name };
    });
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
