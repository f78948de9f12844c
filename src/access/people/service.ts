/** People: who may sign in, what they may do, and the one-time links by which they set a password. */
import { conflict, invalid, notFound, toDo } from '../../errors.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Changes } from '../../platform/database/schemas.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import {
  type Actor,
  type Capability,
  GRANTABLE,
  type ManagementCaller,
  mayAccessProject,
} from '../../platform/http/callers.ts';
import {
  capabilitiesIn,
  capabilitiesOf,
  flagsOf,
  type Powers,
  requireHolding,
  requireNoneOfWriting,
  requireSensible,
} from '../../platform/http/capabilities.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import type { DurableRates } from '../../platform/http/rate-limit.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { createSecret, hashToken } from '../../platform/secrets/token-format.ts';
import { listScopeIds, type Projects, replaceScope } from '../projects/service.ts';
import type { Tokens } from '../tokens/service.ts';
import { countPasskeys, deletePasskeysOf } from './passkey-store.ts';
import type {
  NewPersonInput,
  PersonChanges,
  PersonRecord,
  PersonWithLink,
  RemovedPerson,
} from './schemas.ts';
import { NO_WRONG_CODES, openTotp } from './second-step.ts';
import * as sessions from './session-store.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';
import { forgiveFailures, listLockOuts } from './tries.ts';

/** Decision: one-time links last 24 h. */
const LINK_EXPIRY_MS = 24 * 3_600_000;

/** The stored value while no account of single sign-on is theirs. */
const NO_ACCOUNT = { sso_issuer: null, sso_subject: null };

/** Wrong codes after a right password that doctor tells of: who mistypes one twice gets the third right. */
const WRONG_CODES_TOLD = 3;

/** What the services of people need. */
export interface PeopleDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
  projects: Projects;
  rates: DurableRates;
  tokens: Pick<Tokens, 'countOf' | 'revokeOf' | 'followPerson'>;
  public_url: string;
}

export class People {
  constructor(private readonly deps: PeopleDeps) {}

  /** One page, newest first. */
  list(query: PageQuery): Page<PersonRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countPeople(read),
      fetch: (limit, offset) => store.listPeople(read, { limit, offset }),
    }).map((row) => this.present(row));
  }

  /** Everybody, newest first: for the command line. */
  listAll(): PersonRecord[] {
    return store.listPeople(this.deps.database.read, WHOLE_LIST).map((row) => this.present(row));
  }

  /** Whether this is the address of somebody who may sign in, and sees this project. */
  hasActive(email: string, project_id: number): boolean {
    const person = store.findPersonByEmail(this.deps.database.read, email);
    return person?.is_active === true && mayAccessProject(this.callerOf(person), project_id);
  }

  /** The person with this address or numeric id. Throws AppError `not_found`. */
  require(ref: string): PersonRow {
    const { read } = this.deps.database;
    const person = /^\d{1,15}$/.test(ref)
      ? store.findPerson(read, Number(ref))
      : store.findPersonByEmail(read, ref);
    if (!person) throw notFound('Person', 'satchel person list');
    return person;
  }

  /** A person as a caller, with the powers that they have now. */
  callerOf(person: PersonRow): ManagementCaller {
    return { kind: 'person', id: person.id, name: nameOf(person), ...this.#powersOf(person) };
  }

  present(person: PersonRow): PersonRecord {
    const { id, email, read_only, all_projects, is_active } = person;
    return {
      id,
      email,
      name: nameOf(person),
      ...flagsOf(capabilitiesOf(person)),
      read_only,
      all_projects,
      ...(all_projects ? {} : { projects: this.deps.projects.scopeOf({ kind: 'person', id }) }),
      totp: person.sealed_totp !== null,
      sso: person.sso_subject !== null,
      passkeys: countPasskeys(this.deps.database.read, id),
      last_sign_in_at: toIso(person.last_sign_in_at),
      is_active,
      created_at: toIso(person.created_at),
    };
  }

  /**
   * Adds a person and makes the link that sets their password. Throws AppError `invalid` for powers that do
   * not go together, `conflict` for an address in use, `forbidden` where the giver (null: the shell) lacks
   * what they give. `onAllowed` is called before anything is made, and may throw.
   */
  async add(
    actor: Actor,
    giver: ManagementCaller | null,
    input: NewPersonInput,
    onAllowed: () => void = () => {},
  ): Promise<PersonWithLink> {
    const { email, name = null } = input;
    const powers = this.powersOfNew(giver, input);
    requireHolding(giver, powers);
    const now = this.deps.clock.now();
    const { row, link } = await this.deps.database.write((tx) => {
      refuseTakenEmail(tx, email, null);
      onAllowed();
      const row = this.insert(tx, { email, name, password_hash: null }, powers, now);
      audit(tx, actor, 'person.created', row, { email, ...told(powers) }, now);
      return { row, link: this.#makeLink(tx, row.id, now) };
    });
    return { ...this.present(row), link };
  }

  /** The powers of a new person. Throws AppError `invalid` for unknown projects; in the shell `not_found`. */
  powersOfNew(giver: ManagementCaller | null, input: Partial<NewPersonInput>): Powers {
    const { read_only = false, all_projects = false, projects = [] } = input;
    const project_ids = this.deps.projects.resolveScope(giver, projects);
    const powers = { capabilities: capabilitiesIn(input), read_only, all_projects, project_ids };
    requireSensible(powers);
    return powers;
  }

  /**
   * What somebody has after a change. Naming projects ends all_projects unless both are asked for. Throws as
   * `powersOfNew`. Somebody whose projects are gone stays scoped, and can be changed otherwise.
   */
  powersAfter(
    giver: ManagementCaller | null,
    person: PersonRow,
    changes: PersonChanges,
    read: Tx = this.deps.database.read,
  ): Powers {
    const before = this.#powersOf(person, read);
    const named = changes.projects && this.deps.projects.resolveScope(giver, changes.projects);
    const isHeld = (each: Capability): boolean => changes[each] ?? before.capabilities.has(each);
    const all_projects = changes.all_projects ?? (named ? false : before.all_projects);
    const after = {
      capabilities: new Set(GRANTABLE.filter(isHeld)),
      read_only: changes.read_only ?? before.read_only,
      all_projects,
      project_ids: named ?? (all_projects ? [] : before.project_ids),
    };
    requireNoneOfWriting(after);
    if (changes.all_projects !== undefined || named || changes.can_administer) requireSensible(after);
    return after;
  }

  /** What a signed-in person is told of themselves, as a token is. Throws AppError `not_found`. */
  introspect(caller: ManagementCaller) {
    const { can_administer, read_only, ...record } = this.present(this.require(String(caller.id)));
    const { name, all_projects, projects } = record;
    const { can_manage_database, can_read_vault, can_reveal_vault, can_write_vault } = record;
    const { can_read_database_tokens, can_read_ai_accounts } = record;
    return {
      name,
      token_prefix: null,
      all_projects,
      expires_at: null,
      last_used_at: null,
      can_manage_database,
      can_read_vault,
      can_reveal_vault,
      can_write_vault,
      can_read_database_tokens,
      can_read_ai_accounts,
      ...(can_administer ? { can_administer } : {}),
      ...(read_only ? { read_only } : {}),
      ...(projects ? { projects } : {}),
    };
  }

  /** A new row with its scope, within a transaction that has made sure that it may be. */
  insert(
    tx: Tx,
    person: Pick<PersonRow, 'email' | 'name' | 'password_hash'>,
    powers: Powers,
    now_ms: number,
  ): PersonRow {
    const row = store.insertPerson(tx, {
      ...person,
      all_projects: powers.all_projects,
      read_only: powers.read_only,
      ...flagsOf([...powers.capabilities]),
      is_active: true,
      totp_step: 0,
      wrong_codes: 0,
      created_at: now_ms,
      updated_at: now_ms,
    });
    replaceScope(tx, { kind: 'person', id: row.id }, powers.project_ids);
    return row;
  }

  /**
   * Changes the given fields, from the person's next request on. Somebody who becomes inactive is signed out,
   * and their link is void; their tokens stay unless they are to end. Throws AppError `invalid`, `conflict`,
   * `not_found`, and `forbidden` where the giver (null: the shell) lacks what they give. To take powers, to
   * switch somebody on or off, or to change their address, the giver needs all that the person has. Else one
   * could weaken a mightier person and take over their account.
   */
  async change(
    actor: Actor,
    giver: ManagementCaller | null,
    person: PersonRow,
    changes: PersonChanges,
  ): Promise<PersonRecord> {
    const { revoke_tokens = false, ...fields_given } = changes;
    const { email, name, is_active } = fields_given;
    this.requireEnd(changes);
    if (Object.keys(fields_given).length === 0) return this.present(person);
    const now = this.deps.clock.now();
    const { row, tokens } = await this.deps.database.write((tx) => {
      const current = store.findPerson(tx, person.id);
      if (!current) throw notFound('Person');
      const before = this.#powersOf(current, tx);
      const after = this.powersAfter(giver, current, changes, tx);
      requireHolding(giver, added(before, after));
      const moves = email !== undefined && email !== current.email;
      const turns = is_active !== undefined && is_active !== current.is_active;
      if (moves || turns || takesAway(before, after)) requireHolding(giver, before);
      if (email !== undefined) refuseTakenEmail(tx, email, current.id);
      const changed = store.updatePerson(tx, current.id, {
        ...(email === undefined ? {} : { email }),
        ...(name === undefined ? {} : { name }),
        ...(is_active === undefined ? {} : { is_active }),
        all_projects: after.all_projects,
        read_only: after.read_only,
        ...flagsOf([...after.capabilities]),
        updated_at: now,
      });
      if (!changed) throw notFound('Person');
      replaceScope(tx, { kind: 'person', id: current.id }, after.project_ids);
      this.deps.tokens.followPerson(tx, current.id, after.read_only);
      if (is_active === false) {
        sessions.deleteSessionsOf(tx, current.id, null);
        store.deleteLinksOf(tx, current.id);
      }
      const told_of = (row: PersonRow, powers: Powers): object => {
        const { email, name, is_active } = row;
        return { email, name, is_active, ...told(powers) };
      };
      const differing = changesOf(told_of(current, before), told_of(changed, after));
      const metadata = { email: changed.email, ...told(after) };
      audit(tx, actor, 'person.updated', changed, metadata, now, differing);
      const tokens =
        is_active === false ? { tokens: this.#endTokens(tx, actor, current, revoke_tokens) } : {};
      return { row: changed, tokens };
    });
    return { ...this.present(row), ...tokens };
  }

  /**
   * Makes a new link. The password stops, every session ends, their account of single sign-on, their passkeys and
   * failed sign-ins are forgotten; with `totp` the second step is off, too. Throws AppError `not_found`, and `forbidden` where the person has more than
   * who resets them (null: the shell).
   */
  async reset(
    actor: Actor,
    giver: ManagementCaller | null,
    person: PersonRow,
    { totp = false }: { totp?: boolean } = {},
    onAllowed: () => void = () => {},
  ): Promise<PersonWithLink> {
    const now = this.deps.clock.now();
    const { row, link } = await this.deps.database.write((tx) => {
      const current = store.findPerson(tx, person.id);
      if (!current) throw notFound('Person');
      requireHolding(giver, this.#powersOf(current, tx));
      onAllowed();
      const off = totp ? { sealed_totp: null, sealed_next_totp: null } : {};
      const changed = store.updatePerson(tx, current.id, {
        password_hash: null,
        ...NO_ACCOUNT,
        ...off,
        ...NO_WRONG_CODES,
        updated_at: now,
      });
      if (!changed) throw notFound('Person');
      const networks = sessions.listNetworks(tx, current.id);
      forgiveFailures(tx, this.deps.rates, { id: current.id, networks });
      if (totp) sessions.replaceRecoveryCodes(tx, current.id, []);
      const ended = sessions.deleteSessionsOf(tx, current.id, null);
      const passkeys = deletePasskeysOf(tx, current.id);
      const sso = current.sso_subject !== null;
      const metadata = { email: changed.email, totp, sso, passkeys, sessions: ended };
      audit(tx, actor, 'person.reset', changed, metadata, now);
      return { row: changed, link: this.#makeLink(tx, current.id, now) };
    });
    return { ...this.present(row), link };
  }

  /**
   * Removes a person with their password, sessions and links. The audit trail stays, and so do their tokens
   * unless they are to end. Throws AppError `not_found`, and `forbidden` where the person has more than who
   * removes them (null: the shell).
   */
  async remove(
    actor: Actor,
    giver: ManagementCaller | null,
    person: PersonRow,
    { revoke_tokens = false }: { revoke_tokens?: boolean } = {},
  ): Promise<RemovedPerson> {
    const now = this.deps.clock.now();
    return await this.deps.database.write((tx) => {
      const current = store.findPerson(tx, person.id);
      if (!current) throw notFound('Person');
      requireHolding(giver, this.#powersOf(current, tx));
      const ended = sessions.deleteSessionsOf(tx, person.id, null);
      store.deletePerson(tx, person.id);
      audit(tx, actor, 'person.removed', person, { email: person.email, sessions: ended }, now);
      const tokens = this.#endTokens(tx, actor, current, revoke_tokens);
      return { deleted: true, cascade: { sessions: ended }, tokens };
    });
  }

  /** Tokens can be ended only together with deactivating. Throws AppError `invalid`. */
  requireEnd({ is_active, revoke_tokens }: PersonChanges): void {
    if (revoke_tokens && is_active !== false)
      throw invalid({ revoke_tokens: ['goes with is_active: false only'] });
  }

  /** Ends a person's tokens if asked to, and returns how many are good then. */
  #endTokens(tx: Tx, actor: Actor, { id }: PersonRow, revoke_tokens: boolean): number {
    if (revoke_tokens) this.deps.tokens.revokeOf(tx, actor, id);
    return this.deps.tokens.countOf(tx, id);
  }

  /** How many tokens of a person are good. */
  countTokens(person: PersonRow): number {
    return this.deps.tokens.countOf(this.deps.database.read, person.id);
  }

  /** True where anybody could sign in. */
  isAnybodyThere(): boolean {
    return store.countPeople(this.deps.database.read) > 0;
  }

  /** True from the first person on, for ever. */
  hasEverBeenAnybody(read: Tx = this.deps.database.read): boolean {
    return store.findLastPersonId(read) !== null;
  }

  /** A link for the first person, who says who they are and has everything; null once there is anybody. */
  async makeFirstLink(): Promise<string | null> {
    const now = this.deps.clock.now();
    return await this.deps.database.write((tx) => {
      return store.countPeople(tx) > 0 ? null : this.#makeLink(tx, null, now);
    });
  }

  /** As `makeFirstLink`. Throws AppError `conflict` once there is anybody. */
  async requireFirstLink(): Promise<string> {
    const link = await this.makeFirstLink();
    if (link === null)
      throw conflict(
        'There is somebody already: satchel person list. A new link, where theirs is dead: satchel person reset EMAIL',
        { remedy: toDo('person', 'satchel person list') },
      );
    return link;
  }

  /** How many sessions go along with a person. */
  countSessions(person: PersonRow): number {
    return sessions.countSessions(this.deps.database.read, person.id);
  }

  /** People whose second step does not decrypt. */
  listUndecryptable(): { email: string }[] {
    const { read } = this.deps.database;
    return store
      .listPeople(read, WHOLE_LIST)
      .filter(
        ({ id, sealed_totp }) =>
          sealed_totp !== null && openTotp(this.deps.key_ring, read, id, sealed_totp) === null,
      );
  }

  /** Who was locked out of signing in, and for whom somebody gave the right password but wrong codes. */
  listSignInTroubles() {
    const { database, clock } = this.deps;
    const guessed = store
      .listPeople(database.read, WHOLE_LIST)
      .filter(({ wrong_codes }) => wrong_codes >= WRONG_CODES_TOLD);
    return { locked_out: listLockOuts(database.read, clock.now()), guessed };
  }

  /** Forgets links that nobody used in time. */
  sweepLinks(): Promise<number> {
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => store.deleteExpiredLinks(tx, now));
  }

  #makeLink(tx: Tx, person_id: number | null, now_ms: number): string {
    const secret = createSecret();
    store.replaceLink(tx, { token_hash: hashToken(secret), person_id, expires_at: now_ms + LINK_EXPIRY_MS });
    return `${this.deps.public_url}/console/welcome/${secret}`;
  }

  #powersOf(person: PersonRow, read: Tx = this.deps.database.read): Powers {
    const { id, read_only, all_projects } = person;
    const project_ids = all_projects ? [] : listScopeIds(read, { kind: 'person', id });
    return { capabilities: new Set(capabilitiesOf(person)), read_only, all_projects, project_ids };
  }
}

/** The name of a person: the one they wish for, else their address. */
export function nameOf(person: Pick<PersonRow, 'name' | 'email'>): string {
  return person.name ?? person.email;
}

/** One line of the audit trail about a person. */
export function audit(
  tx: Tx,
  actor: Actor,
  event: `person.${string}`,
  person: Pick<PersonRow, 'id'>,
  metadata: Record<string, unknown>,
  now_ms: number,
  changes: Changes = {},
): void {
  const entry = { event, target: `person:${person.id}`, project: null };
  recordAudit(tx, actor, { ...entry, metadata, changes }, now_ms);
}

/** Powers as the audit trail tells them. */
function told({ capabilities, read_only, all_projects, project_ids }: Powers): Record<string, unknown> {
  return { capabilities: [...capabilities], read_only, all_projects, project_ids };
}

/** The powers that a change gives. With new projects or writing, all capabilities count as new there. */
function added(before: Powers, after: Powers): Powers {
  const all_projects = after.all_projects && !before.all_projects;
  const project_ids = before.all_projects
    ? []
    : after.project_ids.filter((id) => !before.project_ids.includes(id));
  const writes = before.read_only && !after.read_only;
  const is_wider = writes || all_projects || project_ids.length > 0;
  const capabilities = is_wider ? after.capabilities : after.capabilities.difference(before.capabilities);
  return { capabilities, read_only: after.read_only, all_projects, project_ids };
}

/** True of a change that takes a capability or a project away. */
function takesAway(before: Powers, after: Powers): boolean {
  const is_narrower = before.all_projects || before.project_ids.some((id) => !after.project_ids.includes(id));
  const loses_writing = after.read_only && !before.read_only;
  return (
    loses_writing ||
    (!after.all_projects && is_narrower) ||
    !before.capabilities.isSubsetOf(after.capabilities)
  );
}

function refuseTakenEmail(tx: Tx, email: string, own_id: number | null): void {
  const holder = store.findPersonByEmail(tx, email);
  if (!holder || holder.id === own_id) return;
  throw conflict('There is a person with this address already.', {
    errors: { email: ['is the address of another person'] },
  });
}
