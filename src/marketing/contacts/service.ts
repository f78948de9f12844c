/** Contacts: adding one, finding, changing and tagging them, and an address's leave from everything in a project. */
import { AppError, type FieldErrors, invalid, notFound, refuseAll } from '../../errors.ts';
import type { EmailEvent } from '../../mail/deliveries/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { CsvTable } from '../../platform/http/csv.ts';
import { type Page, type PageQuery, pageOf } from '../../platform/http/pagination.ts';
import { Records } from '../../platform/http/records.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import type { TakesMail } from '../../platform/mail/mx-cache.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner, MarketingSettings } from '../settings/service.ts';
import type { AddedBy, Suppressions } from '../suppressions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import {
  type ContactSelection,
  changeContact,
  readChanges,
  type TagChange,
  tagContacts,
} from './changing.ts';
import { ContactChoices } from './choices.ts';
import {
  type ContactEvent,
  type Departure,
  depart,
  departureOf,
  findBouncedAddresses,
  restoreBounced,
  STATUS_AFTER,
} from './departures.ts';
import { exportContacts } from './export.ts';
import { contactAddress } from './fields.ts';
import type { ContactFilter } from './filter.ts';
import { criteriaOf } from './filter-members-store.ts';
import { criteriaIn, errorsInFilter, tellFilter } from './filter-rules.ts';
import { matching } from './filter-store.ts';
import { countMatches, findPage, piecesOf, requireOfList } from './finding.ts';
import { ImportedDepartures } from './imported.ts';
import {
  type Admission,
  type AdmitOptions,
  admit,
  type Candidate,
  rejected,
  renewal,
  type Screened,
  screen,
} from './pipeline.ts';
import { presentContact } from './records.ts';
import type { ContactChanges, ContactRecord } from './schemas.ts';
import type { ContactStanding } from './store.ts';
import * as store from './store.ts';
import { sweepContacts } from './sweeping.ts';
import type { ContactRow } from './tables.ts';

export type { ContactChange, ContactPause } from './choices.ts';
export type { ContactEvent } from './departures.ts';
export {
  contactAddress,
  createContactToken,
  EVENT_SLUG,
  NO_EVENT,
  readTags,
  SOURCE_PLATFORM,
} from './fields.ts';
export {
  type ContactFilter,
  contact_filter,
  FILTER_HELP,
  NOT_BOTH,
  readFilter,
  segment_in_body,
} from './filter.ts';
export { pieceFor } from './filter-rules.ts';
export type { Candidate, Screened } from './pipeline.ts';
export { type Bar, barOf, hasLeftByChoice, isPaused } from './pipeline.ts';

export type { ContactStanding } from './store.ts';
export type { ContactRow } from './tables.ts';

/** Retry-After while the DNS gives no answer: resolvers ask again after some seconds. */
const MX_RETRY_AFTER_S = 10;

/** What came of an address's leave; `at` is the moment (ms). */
type Left = { is_new: boolean; at: number };

export interface ContactsDeps {
  database: Database;
  clock: Clock;
  resolver: Resolver;
  lists: Lists;
  suppressions: Suppressions;
  marketing: Pick<MarketingSettings, 'isCaptured'>;
  tracking: TrackingChoices;
  projectOf(id: number): KeyOwner | null;
}

export class Contacts extends Records<ContactRow, ContactRecord> {
  readonly #listeners: ((tx: Tx, event: ContactEvent) => void)[] = [];
  readonly choices: ContactChoices;
  readonly imported: ImportedDepartures;

  constructor(private readonly deps: ContactsDeps) {
    super({ ...deps, rows: store.rows, noun: 'Contact', lister: 'satchel contact list --list ID' });
    const on = { ...deps, announce: (tx: Tx, event: ContactEvent) => this.#announce(tx, event) };
    this.choices = new ContactChoices(on);
    this.imported = new ImportedDepartures({ ...on, choices: this.choices });
    deps.suppressions.setBounced({
      findAddresses: (owner, hashes, hash) => findBouncedAddresses(deps, owner.id, hashes, hash),
      restore: (tx, owner, email) =>
        restoreBounced(tx, { project_id: owner.id, email, now_ms: deps.clock.now() }),
      giveBack: (tx, owner, of) => this.imported.giveBack(tx, owner, of),
    });
  }

  /** Adds a listener, which is told what happens to contacts in the transaction that records it. */
  listen(listener: (tx: Tx, event: ContactEvent) => void): void {
    this.#listeners.push(listener);
  }

  /* --- Adding ----------------------------------------------------------------------------------------------------- */

  /** The first half of the pipeline, for many at once; changes nothing. */
  screen(
    owner: KeyOwner,
    list: ListRow,
    candidates: readonly Candidate[],
    of: { may_come_back?: boolean } = {},
  ): Promise<Screened[]> {
    const { database, suppressions, marketing } = this.deps;
    const resolver = marketing.isCaptured(owner.id) ? null : this.deps.resolver;
    return screen(candidates, list, { resolver, suppressed: suppressions.checker(database.read, owner, of) });
  }

  /**
   * Whether the domain of an address takes mail. Only contacts that came while mail was captured are looked up, before a relay's
   * first mail to them; for all others that was done when they came.
   */
  async takesMail(project_id: number, address: string): Promise<TakesMail> {
    const { database, resolver } = this.deps;
    const asked = contactAddress(address);
    if (!asked || !store.isAddressUnasked(database.read, project_id, asked.email)) return 'yes';
    const answer = await resolver.takesMail(asked.domain);
    if (answer === 'yes') await database.write((tx) => store.markAddressAsked(tx, project_id, asked.email));
    return answer;
  }

  /** The second half, within a transaction, for as many as passed: returns one admission each, in their order. */
  admit(
    tx: Tx,
    owner: KeyOwner,
    list: ListRow,
    passed: readonly Extract<Screened, { verdict: 'passed' }>[],
    options: Pick<AdmitOptions, 'status' | 'update_existing'> & { may_come_back?: boolean },
  ): Admission[] {
    const now_ms = this.deps.clock.now();
    const { suppressions, tracking } = this.deps;
    const on = { ...options, suppressed: suppressions.checker(tx, owner, options), tracking, now_ms };
    return passed.map((each) => {
      const admission = admit(tx, list, each, on);
      if (admission.outcome === 'accepted')
        this.#announce(tx, {
          kind: options.status === 'active' ? 'activated' : 'signed_up',
          contact: admission.contact,
          at: now_ms,
          is_test: each.candidate.is_test,
        });
      return admission;
    });
  }

  /**
   * One contact through the whole pipeline. Throws AppError `invalid` with the code of what it was refused for, `conflict`
   * (list_archived, tracking_chosen), and `unavailable` while the DNS gives no answer.
   */
  async add(
    owner: KeyOwner,
    list: ListRow,
    candidate: Candidate,
    note: Note,
  ): Promise<{ contact: ContactRecord; is_duplicate: boolean }> {
    this.deps.lists.requireOpen(this.deps.database.read, list);
    const [screened] = await this.screen(owner, list, [candidate]);
    if (!screened || screened.verdict === 'waiting')
      throw new AppError(
        'unavailable',
        'The DNS gave no answer about the domain of the address. Try again in a moment.',
        { retry_after_s: MX_RETRY_AFTER_S },
      );
    if (screened.verdict === 'rejected') throw rejected(screened.rejection);
    const admission = await this.deps.database.write((tx) => {
      const open = this.deps.lists.requireOpen(tx, list);
      const [one] = this.admit(tx, owner, open, [screened], { status: 'active', update_existing: false });
      if (!one || !('contact' in one)) throw rejected(one?.outcome ?? 'suppressed');
      if (one.outcome === 'accepted')
        note(tx, { event: 'contact.added', target: `contact:${one.contact.public_id}` });
      return one;
    });
    return { contact: this.present(admission.contact), is_duplicate: admission.outcome === 'duplicate' };
  }

  /* --- Reading and changing --------------------------------------------------------------------------------------- */

  /** What is wrong with the `filter` of a request past its shape, by field. */
  errorsInFilter(list: { id: number }, filter: ContactFilter, read?: Tx): FieldErrors {
    return errorsInFilter(read ?? this.deps.database.read, list.id, filter, 'filter.');
  }

  /** A filter of a list as one sentence. */
  tellFilter(list: { id: number }, filter: ContactFilter): string {
    return tellFilter(this.deps.database.read, list.id, filter);
  }

  /** A page of those that a filter fits, newest first. Throws AppError `invalid` by member. */
  async list(list: ListRow, filter: ContactFilter, query: PageQuery): Promise<Page<ContactRecord>> {
    const criteria = criteriaIn(this.deps, list.id, filter);
    const found = await findPage(this.deps, list.id, criteria, query);
    return pageOf(query, { ...found, data: this.presentAll(list, found.data) });
  }

  /** How many contacts of a list a filter fits; its days count back from `now_ms`. Others have their turn meanwhile. */
  count(list_id: number, filter: ContactFilter, now_ms: number): Promise<number> {
    return countMatches(this.deps, list_id, criteriaOf(filter, now_ms));
  }

  /** Those of these contacts that are of a list and that a filter fits, by one SELECT. */
  matching(
    list_id: number,
    of: { filter: ContactFilter; now_ms: number },
    ids: readonly number[],
    read: Tx = this.deps.database.read,
  ): ReadonlySet<number> {
    return new Set(matching(read, list_id, criteriaOf(of.filter, of.now_ms), ids));
  }

  /** All contacts of a list that a filter fits, in the order of ids, in pieces of up to `size`, of which some are empty. */
  *pieces(list_id: number, filter: ContactFilter, size: number): Generator<ContactStanding[], undefined> {
    const criteria = criteriaOf(filter, this.deps.clock.now());
    for (const ids of piecesOf(this.deps, list_id, criteria, { order: 'oldest', size }))
      yield store.listStandings(this.deps.database.read, ids);
  }

  /** Those that a filter fits as a table, newest first; that they were taken along is noted before. Throws AppError `invalid`. */
  async export(list: ListRow, filter: ContactFilter, note: Note): Promise<CsvTable> {
    const criteria = criteriaIn(this.deps, list.id, filter);
    const entry = { event: 'contacts.exported', target: `list:${list.public_id}` };
    const told = { ...entry, metadata: { name: list.name, filter: Object.keys(filter) } };
    await this.deps.database.write((tx) => note(tx, told));
    return exportContacts(this.deps, list.id, criteria, (ids) => this.presentAll(list, ids));
  }

  /** These contacts of a list, as clients see them, in their order. */
  presentAll(list: ListRow, ids: readonly number[]): ContactRecord[] {
    const { read } = this.deps.database;
    const rows = new Map(store.findContactsById(read, ids).map((row) => [row.id, row]));
    const tags = store.listTags(read, ids);
    const emails = [...rows.values()].map(({ email }) => email);
    const choices = this.deps.tracking.findAll(read, list.project_id, emails);
    return ids.flatMap((id) => {
      const row = rows.get(id);
      return row ? [presentContact(row, list, { tags: tags.get(id), choice: choices.get(row.email) })] : [];
    });
  }

  /** These contacts of a list, each once. Throws AppError `invalid` for ids that are of no contact of it. */
  requireOfList(list: ListRow, contact_ids: readonly string[]): ContactRow[] {
    return requireOfList(this.deps.database.read, list, contact_ids);
  }

  /** Contacts of a list behind an id, of whatever status, in the order of ids. */
  listAfter(list_id: number, piece: { after_id: number; limit: number }): ContactStanding[] {
    return store.listStandingsAfter(this.deps.database.read, list_id, piece.after_id, piece.limit);
  }

  /** The numeric id of the contact that came to a list last; 0 where there is none. */
  lastIdOf(list_id: number, read: Tx): number {
    return store.findLastId(read, list_id);
  }

  /** Those of these contacts that have at least one of the tags. */
  withAnyTag<Row extends { id: number }>(
    rows: readonly Row[],
    tags: readonly string[],
    read: Tx = this.deps.database.read,
  ): Row[] {
    const of = store.listTags(
      read,
      rows.map((row) => row.id),
    );
    return rows.filter((row) => of.get(row.id)?.some((tag) => tags.includes(tag)));
  }

  /** How many active contacts of a list have at least one of these tags. */
  countWithAnyTag(list_id: number, tags: readonly string[]): number {
    return store.countActiveWithAnyTag(this.deps.database.read, list_id, tags);
  }

  /** The contact that a contact_token stands for, of this project; null for any other token. */
  findByToken(project_id: number, token: string, read: Tx): ContactRow | null {
    return store.findContactByToken(read, project_id, token);
  }

  /** The contact of an address on a list; null where there is none. */
  findByAddress(list_id: number, address: string, read: Tx = this.deps.database.read): ContactRow | null {
    const canonical = contactAddress(address);
    return canonical === null ? null : store.findContactByAddress(read, list_id, canonical.email);
  }

  /** As `requireAny`, as clients see it. */
  show(public_id: string): ContactRecord {
    return this.present(this.requireAny(public_id));
  }

  /** The contact with a public id, of whatever project. */
  findByPublicId(public_id: string): ContactRow | null {
    return store.rows.findAny(this.deps.database.read, public_id);
  }

  /** Contacts by their numeric ids. */
  findByIds(ids: readonly number[]): Map<number, ContactRow> {
    return new Map(store.findContactsById(this.deps.database.read, ids).map((row) => [row.id, row]));
  }

  /** Changes what is given, as `changeContact` does. */
  async update(
    project_id: number,
    public_id: string,
    changes: ContactChanges,
    note: Note,
  ): Promise<ContactRecord> {
    const errors: FieldErrors = {};
    const sent = readChanges(changes, errors);
    refuseAll(errors);
    const row = await this.deps.database.write((tx) =>
      changeContact(
        tx,
        { ...this.deps, choices: this.choices, note },
        this.require(project_id, public_id, tx),
        sent,
      ),
    );
    return this.present(row);
  }

  /** Adds and removes tags of many contacts; see `tagContacts`. */
  bulkTag(list: ListRow, selection: ContactSelection, change: TagChange, note: Note): Promise<number> {
    return tagContacts(this.deps, { list, note }, selection, change);
  }

  /** Told that somebody read a mail to a contact: its last click is what filters ask for. */
  onReading(tx: Tx, read: { kind: string; contact_id: number | null; is_test: boolean; at: number }): void {
    if (read.kind === 'clicked' && read.contact_id !== null && !read.is_test)
      store.noteClick(tx, read.at, read.contact_id);
  }

  /* --- Leaving ---------------------------------------------------------------------------------------------------- */

  /**
   * Takes an address out of everything in its project, within a transaction: the suppression, and the status of each of its contacts,
   * which tells the strongest reason. May be repeated. Tells whether the suppression changed, and the moment that contacts say.
   */
  leave(tx: Tx, owner: KeyOwner, email: string, kind: Departure, by?: AddedBy): Left {
    const { is_new, is_stronger } = this.deps.suppressions.add(tx, owner, email, kind, by);
    const now_ms = this.deps.clock.now();
    for (const contact of depart(tx, { project_id: owner.id, email, kind, now_ms }))
      this.#announce(tx, { kind: STATUS_AFTER[kind], contact, at: now_ms });
    return { is_new: is_new || is_stronger, at: now_ms };
  }

  /** Told of what became of a mail, in the transaction that records it: some of that has its recipient leave. */
  onMail(tx: Tx, event: EmailEvent): void {
    const kind = departureOf(event);
    const owner = kind && this.deps.projectOf(event.project_id);
    const address = owner && contactAddress(event.address);
    const by = { mailbox: event.mailbox.toLowerCase(), is_readers_own: kind === 'unsubscribed' };
    if (address) this.leave(tx, owner, address.email, kind, by);
  }

  /** The contacts of an address on all lists. */
  rowsOfAddress(read: Tx, { project_id, email }: { project_id: number; email: string }): ContactRow[] {
    return store.listContactsOfAddress(read, project_id, email);
  }

  /** Deletes a contact, within a transaction. */
  forget(tx: Tx, contact: ContactRow): void {
    this.#announce(tx, { kind: 'deleted', contact, at: this.deps.clock.now() });
    store.deleteContact(tx, contact.id);
  }

  /** Suppresses an address by hand: its contacts keep their status. */
  suppress(owner: KeyOwner, address: string, note: Note) {
    const canonical = contactAddress(address);
    if (!canonical) throw invalid({ email: ['must be an email address, such as ann@example.com'] });
    return this.deps.database.write((tx) => {
      const added = this.deps.suppressions.add(tx, owner, canonical.email, 'manual');
      const at = this.deps.clock.now();
      for (const contact of store.listContactsOfAddress(tx, owner.id, canonical.email))
        this.#announce(tx, { kind: 'suppressed', contact, at });
      if (added.is_new) note(tx, { event: 'suppression.added', target: `suppression:${added.record.id}` });
      return added;
    });
  }

  /** Unsubscribes a contact's address from the whole project. Throws AppError `not_found`. */
  async unsubscribe(owner: KeyOwner, public_id: string, note: Note): Promise<ContactRecord> {
    const row = await this.deps.database.write((tx) => {
      const contact = this.require(owner.id, public_id, tx);
      this.leave(tx, owner, contact.email, 'unsubscribed');
      note(tx, { event: 'contact.unsubscribed', target: `contact:${contact.public_id}` });
      return this.require(owner.id, public_id, tx);
    });
    return this.present(row);
  }

  /**
   * Makes a contact active that waited for its click, within a transaction; one with another status stays as it is. `is_test`:
   * who signed up did so by a test key.
   */
  confirm(
    tx: Tx,
    contact: ContactRow,
    { by, is_test }: { by: 'click' | 'form'; is_test: boolean },
  ): ContactRow {
    if (contact.status !== 'pending') return contact;
    const now = this.deps.clock.now();
    const row = store.updateContact(tx, contact.id, {
      status: 'active',
      ...(by === 'click' ? { confirmed_at: now, consent_basis: 'double_opt_in' } : {}),
      status_changed_at: now,
      updated_at: now,
    });
    this.#announce(tx, { kind: 'activated', contact: row, at: now, is_test });
    return row;
  }

  /** Takes somebody back who had left, on new evidence. The caller's transaction has made sure that they are not suppressed. */
  renew(
    tx: Tx,
    contact: ContactRow,
    candidate: Candidate,
    { is_confirmed_at_once }: { is_confirmed_at_once: boolean },
  ): ContactRow {
    const now = this.deps.clock.now();
    // Pending at first: `confirm` makes it active and tells the listeners.
    const row = store.updateContact(tx, contact.id, renewal(contact, candidate, now));
    if (!is_confirmed_at_once)
      this.#announce(tx, { kind: 'signed_up', contact: row, at: now, is_test: candidate.is_test });
    return row;
  }

  /** Contacts go with their project before its deletion is answered, once it is gone for everybody: no foreign key takes so many at once. */
  projectCascade() {
    return { count: () => ({}), afterCommit: () => this.sweep() };
  }

  /** Deletes contacts whose list went with its project, in small steps; as much time between them is others', other processes' too. */
  sweep(): Promise<void> {
    return sweepContacts(this.deps);
  }

  #announce(tx: Tx, event: ContactEvent): void {
    for (const listener of this.#listeners) listener(tx, event);
  }

  /** A contact as clients see it. Throws AppError `not_found` where its list is gone. */
  present(row: ContactRow): ContactRecord {
    const { read } = this.deps.database;
    const list = this.deps.lists.findById(row.list_id);
    if (!list) throw notFound('Contact');
    const tags = store.listTags(read, [row.id]).get(row.id);
    return presentContact(row, list, { tags, choice: this.deps.tracking.find(read, row) });
  }
}
