/** Contact lists: making, changing and archiving them, and what may be done with one. */
import type { LinkDomains } from '../../access/projects/service.ts';
import { conflict, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import { MAX_ADDRESS_CHARS, MAX_FORM_NAME_CHARS, MAX_PUBLIC_LISTS, MAX_TOKEN_HOSTS } from '../../limits.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Changes } from '../../platform/database/schemas.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { isUlid, newId } from '../../platform/host/ids.ts';
import { merge, present } from '../../platform/http/fields.ts';
import { refusalOfTarget } from '../../platform/http/hosts.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { Records } from '../../platform/http/records.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import { FIELDS, type ListChanges, type ListRecord } from './schemas.ts';
import * as store from './store.ts';
import type { ListRow } from './tables.ts';

export { changes as listChanges, type ListRecord } from './schemas.ts';
export { CONSENT_BASES, type ConsentBasis, type Language, type ListRow } from './tables.ts';

export interface ListsDeps {
  database: Database;
  clock: Clock;
  link_domains: Pick<LinkDomains, 'baseOf'>;
  /** Why a template can't be the mail that asks to confirm a sign-up, or null when it can. */
  refusalOfConfirmation(project_id: number, slug: string): string | null;
  /** Why the link in that mail would lead its reader nowhere, or null; `from` is the list's. */
  problemOfConfirmations(project_id: number, from: string | null): string | null;
  /** The stored address of an active mailbox that the mail may go out from; null where there is none. */
  senderOf(project_id: number, address: string): string | null;
}

export class Lists extends Records<ListRow, ListRecord> {
  constructor(private readonly deps: ListsDeps) {
    super({ ...deps, rows: store.lists, noun: 'List', lister: 'satchel list list --project REF' });
  }

  protected override isOver({ archived_at }: ListRow): boolean {
    return archived_at !== null;
  }

  /** Newest first; archived ones only when asked for. */
  list(project_id: number, query: PageQuery & { include_archived?: boolean | undefined }): Page<ListRecord> {
    const { read } = this.deps.database;
    const of = { project_id, include_archived: query.include_archived ?? false };
    return paginate(query, {
      total: store.countLists(read, of),
      fetch: (limit, offset) => this.#presentAll(store.listLists(read, of, { limit, offset })),
    });
  }

  /** How many contacts go with a project, besides the lists themselves. */
  projectCascade() {
    return {
      count: (tx: Tx, project: { id: number }) => ({
        email_contacts: store.countContactsOfProject(tx, project.id),
      }),
    };
  }

  /** The row of the list that a request names in its field `list`; where there is none, `errors` says so. */
  findNamed(project_id: number, public_id: string, errors: FieldErrors): ListRow | null {
    const row = this.find(project_id, public_id);
    if (!row) errors.list = ['must be the id of a list of this project'];
    return row;
  }

  /**
   * The numeric id of the list that something has after a change: that which the request names in its field
   * `list`, else its own; `current` is null for a new thing. Throws AppError `invalid` with `errors`, to
   * which it adds that there is no such list, and `conflict` (list_archived) for another than its own that
   * takes nobody.
   */
  choose(
    tx: Tx,
    { project_id, current }: { project_id: number; current: { list_id: number } | null },
    public_id: string | undefined,
    errors: FieldErrors,
  ): number {
    const named = public_id === undefined ? null : this.findNamed(project_id, public_id, errors);
    refuseAll(errors);
    const id = named?.id ?? current?.list_id;
    if (id === undefined) throw notFound('List');
    if (id !== current?.list_id) this.requireOpen(tx, { id });
    return id;
  }

  /** What changed of a row that has a list. The list shows by its public id. */
  changesOf(tx: Tx, before: { list_id: number }, after: { list_id: number }): Changes {
    const told = (row: { list_id: number }): object => ({
      ...row,
      list: this.findById(row.list_id, tx)?.public_id,
    });
    return changesOf(told(before), told(after));
  }

  /** The list whose sign-up page has this token; null where there is none, or the list is archived. */
  findBySignUpToken(token: string): ListRow | null {
    const row = isUlid(token) ? store.lists.findAny(this.deps.database.read, token.toUpperCase()) : null;
    return row?.sign_up_page && row.archived_at === null ? row : null;
  }

  /** The list whose archive has this token; null where it has none, or is archived itself. */
  findByArchiveToken(token: string): ListRow | null {
    const row = isUlid(token) ? store.lists.findAny(this.deps.database.read, token.toUpperCase()) : null;
    return row?.archive && row.archived_at === null ? row : null;
  }

  /** The lists of a project that people choose from, by name; archived ones too. */
  listPublic(project_id: number, read: Tx = this.deps.database.read): ListRow[] {
    return store.listPublicLists(read, project_id);
  }

  /** True where anybody may be added to it who confirms, where it asks for that. */
  takesSignUps(list: ListRow): boolean {
    if (list.archived_at !== null) return false;
    return !list.double_opt_in || this.#problemOfConfirmation(list) === null;
  }

  /** Numeric ids of all lists of a project, archived ones too. */
  listIds(project_id: number): number[] {
    return store.listIds(this.deps.database.read, project_id);
  }

  /**
   * How many contacts a list has with a tag, a status, both or neither. Costs the same for any number of
   * them.
   */
  countContacts(
    list_id: number,
    of: { status?: string | undefined; tag?: string | undefined },
    read: Tx = this.deps.database.read,
  ): number {
    return store.countContactsWith(read, list_id, of);
  }

  /** The tags, custom fields and events that most contacts of a list have, `limit` of each at most, most first. */
  facetsOf(list_id: number, limit: number): Record<'tags' | 'custom' | 'events', store.Facet[]> {
    const { read } = this.deps.database;
    return {
      tags: store.listTopTags(read, list_id, limit),
      custom: store.listFacets(read, list_id, 'custom', limit),
      events: store.listFacets(read, list_id, 'event', limit),
    };
  }

  /**
   * The list, read in the transaction that adds to it. Throws AppError `conflict` (list_archived) where it
   * takes nobody any more, and `not_found` where it is gone.
   */
  requireOpen(tx: Tx, list: Pick<ListRow, 'id'>): ListRow {
    const current = this.findById(list.id, tx);
    if (!current) throw notFound('List');
    if (current.archived_at !== null)
      throw conflict('This list is archived: nobody can be added. Set archived to false first.', {
        code: 'list_archived',
      });
    return current;
  }

  /**
   * The template that asks for confirmation of a sign-up to this list. Throws AppError `conflict` when there
   * is none, or the one there is no longer fits, and `public_url` where its link would lead nowhere.
   */
  requireConfirmationTemplate(list: ListRow): string {
    const { words, code } = this.#problemOfConfirmation(list) ?? {};
    if (words !== undefined)
      throw conflict(
        `This list takes no sign-ups at the moment: ${words}`,
        code === undefined ? {} : { code },
      );
    return list.confirmation_template ?? '';
  }

  /** Why nobody can be asked to confirm a sign-up; null where they can. */
  #problemOfConfirmation(list: ListRow): { words: string; code: string } | null {
    if (this.deps.problemOfConfirmations(list.project_id, list.from_address) !== null)
      return {
        words: 'without SATCHEL_PUBLIC_URL, the link of its mail would lead nowhere.',
        code: 'public_url',
      };
    const slug = list.confirmation_template;
    const refusal = slug === null ? 'is not set' : this.deps.refusalOfConfirmation(list.project_id, slug);
    return refusal === null
      ? null
      : { words: `its confirmation_template ${refusal}.`, code: 'confirmation_template_unusable' };
  }

  /** Why links in confirmations of any list of a project would lead their readers nowhere, or null. */
  problemOfConfirmations(project_id: number): string | null {
    const addresses = store.listConfirmingAddresses(this.deps.database.read, project_id);
    const problems = addresses.map((from) => this.deps.problemOfConfirmations(project_id, from));
    return problems.find((problem) => problem !== null) ?? null;
  }

  #refuseDeadLinks(project_id: number, from: string | null): void {
    const problem = this.deps.problemOfConfirmations(project_id, from);
    if (problem !== null) throw conflict(problem, { code: 'public_url' });
  }

  /**
   * Throws AppError `invalid` by field, and `conflict` (public_url) where the links of its double opt-in
   * would lead nowhere.
   */
  async create(project_id: number, input: ListChanges & { name: string }, note: Note): Promise<ListRecord> {
    const row = await this.deps.database.write((tx) => {
      const fields = this.#merge(project_id, null, input);
      if (fields.double_opt_in) this.#refuseDeadLinks(project_id, fields.from_address);
      const now = this.deps.clock.now();
      const public_id = newId(now);
      note(tx, { event: 'list.created', target: `list:${public_id}`, metadata: { name: fields.name } });
      return store.lists.insert(tx, {
        ...fields,
        public_id,
        project_id,
        archived_at: null,
        created_at: now,
        updated_at: now,
      });
    });
    return this.present(row);
  }

  /** Changes what is given. Throws AppError `not_found`, and as `create` does. */
  async update(project_id: number, public_id: string, changes: ListChanges, note: Note): Promise<ListRecord> {
    const row = await this.deps.database.write((tx) => {
      const current = this.require(project_id, public_id, tx);
      const fields = this.#merge(project_id, current, changes);
      const is_asked_anew = !current.double_opt_in || fields.from_address !== current.from_address;
      if (fields.double_opt_in && is_asked_anew) this.#refuseDeadLinks(project_id, fields.from_address);
      const now = this.deps.clock.now();
      const archived_at =
        changes.archived === true
          ? (current.archived_at ?? now)
          : changes.archived === false
            ? null
            : current.archived_at;
      const changed = store.lists.update(tx, current.id, { ...fields, archived_at, updated_at: now });
      const metadata = { name: changed.name };
      const told = { event: 'list.changed', target: `list:${current.public_id}`, metadata };
      note(tx, { ...told, changes: changesOf(current, changed) });
      return changed;
    });
    return this.present(row);
  }

  /** What is wrong with the fields of a list beyond their schema; `current` is null for a new list. */
  errorsIn(
    project_id: number,
    current: Pick<
      ListRecord,
      'double_opt_in' | 'sign_up_page' | 'confirmation_template' | 'from' | 'is_public'
    > | null,
    changes: ListChanges,
  ): FieldErrors {
    const errors: FieldErrors = {};
    // The name may be put into the subject of a confirmation mail.
    if (/\p{Cc}/u.test(changes.name ?? ''))
      errors.name = ['must have no line breaks or other control characters'];
    readTokenHosts(changes.token_hosts ?? [], errors);
    for (const field of ['signed_up_url', 'confirmed_url'] as const) {
      const refused = changes[field] && refusalOfTarget(changes[field]);
      if (refused) errors[field] = [refused];
    }
    if (changes.is_public && !current?.is_public && this.listPublic(project_id).length >= MAX_PUBLIC_LISTS)
      errors.is_public = [`at most ${MAX_PUBLIC_LISTS} lists of a project are public`];
    const has_page = changes.sign_up_page ?? current?.sign_up_page ?? false;
    const sent = changes.confirmation_template;
    // A page whose mail can't be made would take nobody.
    const asked = has_page && (changes.sign_up_page || sent === null);
    const slug = sent === undefined && asked ? current?.confirmation_template : sent;
    const refusal = typeof slug === 'string' ? this.deps.refusalOfConfirmation(project_id, slug) : null;
    if (refusal !== null) errors.confirmation_template = [refusal];
    else if (asked && typeof slug !== 'string')
      errors.confirmation_template = [
        'is needed as long as sign_up_page is true: the slug of the template that asks to confirm',
      ];
    const from = changes.from === current?.from ? null : changes.from;
    if (typeof from === 'string' && this.deps.senderOf(project_id, from) === null)
      errors.from = [
        'must be the address of an active mailbox for transactional mail that the project may send from',
      ];
    const is_double = changes.double_opt_in ?? current?.double_opt_in ?? false;
    if (has_page && !is_double && changes.sign_up_page)
      errors.sign_up_page = ['needs double_opt_in: anybody may enter any address there'];
    else if (has_page && !is_double)
      errors.double_opt_in = ['must stay true as long as sign_up_page is: set that to false as well'];
    return errors;
  }

  /** The fields after a change. Throws AppError `invalid` by field. */
  #merge(project_id: number, current: ListRow | null, changes: ListChanges) {
    refuseAll(this.errorsIn(project_id, current && { ...current, from: current.from_address }, changes));
    const { from, ...values } = merge(FIELDS, current && { ...current, from: current.from_address }, changes);
    const is_kept = from === null || from === current?.from_address;
    return {
      ...values,
      token_hosts: changes.token_hosts ? readTokenHosts(values.token_hosts, {}) : values.token_hosts,
      from_address: is_kept ? from : this.deps.senderOf(project_id, from),
    };
  }

  present(row: ListRow): ListRecord {
    const [record] = this.#presentAll([row]);
    if (!record) throw notFound('List');
    return record;
  }

  #presentAll(rows: readonly ListRow[]): ListRecord[] {
    const counts = store.countContacts(
      this.deps.database.read,
      rows.map((row) => row.id),
    );
    return rows.map((row) => {
      const own = counts.filter((count) => count.list_id === row.id);
      return present(FIELDS, {
        ...row,
        id: row.public_id,
        from: row.from_address,
        sign_up_url: row.sign_up_page
          ? signUpUrl(this.deps.link_domains.baseOf(row.project_id), row.public_id)
          : null,
        archive_url: row.archive
          ? archiveUrl(this.deps.link_domains.baseOf(row.project_id), row.public_id)
          : null,
        archived: row.archived_at !== null,
        contacts_count: own.reduce((sum, count) => sum + count.n, 0),
        active_count: own.find((count) => count.status === 'active')?.n ?? 0,
        status_counts: Object.fromEntries(own.flatMap(({ status, n }) => (n > 0 ? [[status, n]] : []))),
      });
    });
  }
}

/**
 * The sign-up page of a list. Its token is the list's id: the page is for everybody, and the id opens nothing
 * else.
 */
export function signUpUrl(public_url: string, list_public_id: string): string {
  return `${public_url}/join/${list_public_id}`;
}

/** The archive of a list, by the same token. */
export function archiveUrl(public_url: string, list_public_id: string): string {
  return `${public_url}/archive/${list_public_id}`;
}

/** Host names in lower-case ASCII, each once. Others are named in `errors`. */
function readTokenHosts(hosts: readonly string[], errors: FieldErrors): string[] {
  if (hosts.length > MAX_TOKEN_HOSTS)
    errors.token_hosts = [`at most ${MAX_TOKEN_HOSTS} (got ${hosts.length})`];
  const read = hosts.map((host, index) => {
    const name = host.toLowerCase() === 'localhost' ? 'localhost' : canonicalDomain(host);
    if (name === null)
      errors[`token_hosts.${index}`] = [
        'must be a host name such as shop.example.com, without scheme or path',
      ];
    return name ?? '';
  });
  return [...new Set(read)];
}

/**
 * A field that people don't see: whoever fills it is a robot. No browser fills a field of this name by
 * itself.
 */
export const TRAP_FIELD = 'comment';

/** HTML that works as it stands, without a script. `sign_up_url` is the list's. */
export function ownFormOf(
  sign_up_url: string,
  { asks_for_tracking }: { asks_for_tracking: boolean },
): string {
  const tracking = asks_for_tracking
    ? '\n  <label><input type="checkbox" name="tracking" value="true"> Count what I open and click</label>'
    : '';
  return `<form method="post" action="${Bun.escapeHTML(sign_up_url)}">
  <label>Email <input type="email" name="email" required maxlength="${MAX_ADDRESS_CHARS}" autocomplete="email"></label>
  <label>First name <input name="first_name" maxlength="${MAX_FORM_NAME_CHARS}" autocomplete="given-name"></label>${tracking}
  <label aria-hidden="true" style="position:absolute;left:-9999px">Leave this empty <input name="${TRAP_FIELD}" tabindex="-1" autocomplete="off"></label>
  <button>Sign up</button>
</form>`;
}
