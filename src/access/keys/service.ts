/** API keys: who bears one; making, changing, rotating, revealing, deleting and looking them up. */

import { AppError, conflict, forbidden, notFound, toDo } from '../../errors.ts';
import { COMPLETED_WORDS, MAX_APP_ID_CHARS } from '../../limits.ts';
import type { Word } from '../../platform/cli/completion.ts';
import { type AuditEntry, changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { type HealthCheck, sealedCheck } from '../../platform/host/health-check.ts';
import {
  type Actor,
  type KeyCaller,
  type KeyCredentials,
  keyRefused,
  type ManagementCaller,
  mayAccessProject,
  type Permission,
} from '../../platform/http/callers.ts';
import { merge, present, setBy } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import { createToken, hashToken, parseToken, sameHash } from '../../platform/secrets/token-format.ts';
import {
  describeRefusal,
  type OriginDecision,
  type OriginRecord,
  type Origins,
  type RequestOrigin,
} from '../origins/service.ts';
import {
  type AbbreviatedKey,
  findProjectState,
  type ProjectRecord,
  type ProjectRow,
  type ProjectState,
  type Projects,
} from '../projects/service.ts';
import { ORIGINS_NAMED, purposeOf } from './purpose.ts';
import {
  CHANGED_FIELDS,
  FIELDS,
  type KeyChanges,
  type KeyRecord,
  type KeyVerdict,
  type KeyWithPlaintext,
  type NewKeyInput,
  type WhyInput,
} from './schemas.ts';
import * as store from './store.ts';
import { listKeysFrom } from './store.ts';
import type { KeyRow } from './tables.ts';

export type { KeyRow } from './tables.ts';

/** Decision: rate_limit_per_minute null means 600. */
const DEFAULT_KEY_RATE_PER_MINUTE = 600;

/** As an origin's decision, or that the key answers nobody. */
export type KeyDecision =
  | OriginDecision
  | { accepted: false; code: 'KEY_INACTIVE' | 'PROJECT_INACTIVE'; message: string; why: string };

/** A key that exists, whether or not it answers anybody. */
interface Bearer {
  key: KeyRow;
  project: ProjectState;
  permissions: ReadonlySet<Permission>;
}

interface KeysDeps {
  database: Database;
  clock: Clock;
  projects: Projects;
  origins: Origins;
  key_ring: Pick<KeyRing, 'seal' | 'openText'>;
}

/** How often the last use of a key is written down. */
const LAST_USED_GRANULARITY_MS = 60_000;

export class Keys {
  /** When the last use of each key was last written down. */
  readonly #noted_at = new Map<number, number>();

  constructor(private readonly deps: KeysDeps) {}

  /* --- The data plane -------------------------------------------------------------------------------------------- */

  /**
   * Who bears a key. It takes two indexed reads, three for a restricted key, so a change holds from the next
   * request on. The use is noted at most once a minute, and the answer does not wait for that. Throws
   * AppError `unauthenticated`, then `forbidden` for the request's origin.
   */
  authenticate(credentials: KeyCredentials): KeyCaller {
    const { api_key, app_id, android_package } = credentials;
    if (!api_key) throw keyRefused('missing');
    const hash = hashOfKey(api_key);
    const found = hash === null ? null : this.#findBearer(hash);
    if (!found?.key.is_active || found.project.status !== 'active') throw keyRefused('invalid');
    const { key, project, permissions } = found;
    if (key.restricted) {
      const { origin, android_cert: cert } = credentials;
      const request = { origin, app_id, android_package, cert };
      const decision = this.deps.origins.decide(key, request);
      if (!decision.accepted)
        throw forbidden(describeRefusal(decision.message, request), {
          remedy: toDo('key', 'satchel key why'),
        });
    }
    this.#noteUse(key.id);
    return {
      key_id: key.id,
      key_name: key.name,
      project_id: key.project_id,
      project_public_id: project.public_id,
      is_test: key.is_test,
      is_restricted: key.restricted,
      permissions,
      rate_limit_per_minute: key.rate_limit_per_minute ?? DEFAULT_KEY_RATE_PER_MINUTE,
      // It goes into logs of mail; an unrestricted key may send anything here.
      app_id: (app_id || android_package || null)?.slice(0, MAX_APP_ID_CHARS) ?? null,
    };
  }

  /** True while a key may do something, for what goes on after its request. */
  may(id: number, permission: Permission): boolean {
    const key = store.findKey(this.deps.database.read, id);
    const is_accepted =
      key?.is_active && findProjectState(this.deps.database.read, key.project_id)?.status === 'active';
    return is_accepted === true && permissionsOf(key).has(permission);
  }

  #noteUse(id: number): void {
    const now = this.deps.clock.now();
    const last = this.#noted_at.get(id);
    if (last !== undefined && last <= now && now - last < LAST_USED_GRANULARITY_MS) return;
    this.#noted_at.set(id, now);
    // Not awaited: on a full disk the note is lost, but requests that only read must still be answered.
    this.deps.database.write((tx) => store.noteUse(tx, id, now)).catch(() => {});
  }

  #findByHash(hash: string): KeyRow | null {
    const key = store.findKeyByHash(this.deps.database.read, hash);
    return key && sameHash(key.key_hash, hash) ? key : null;
  }

  #findBearer(hash: string): Bearer | null {
    const key = this.#findByHash(hash);
    const project = key && findProjectState(this.deps.database.read, key.project_id);
    return project && { key, project, permissions: permissionsOf(key) };
  }

  /** Whether this key would accept such a request, and which rule says so or why none does. */
  why(key: KeyRow, request: RequestOrigin): KeyDecision {
    const message = 'The API key is not valid, or no longer active.';
    if (!key.is_active) {
      const why = `The key is deactivated: every request gets 401. Turn it on with: satchel key activate ${key.id}`;
      return { accepted: false, code: 'KEY_INACTIVE', message, why };
    }
    if (findProjectState(this.deps.database.read, key.project_id)?.status !== 'active') {
      return {
        accepted: false,
        code: 'PROJECT_INACTIVE',
        message,
        why: 'The project is inactive: its keys get 401.',
      };
    }
    return this.deps.origins.decide(key, request);
  }

  /** The same as a document: what `satchel key why --json` prints. */
  verdict(key: KeyRow, { origin = null, app_id = null, cert_fingerprint = null }: WhyInput): KeyVerdict {
    const decision = this.why(key, { origin, app_id, android_package: null, cert: cert_fingerprint });
    const { why } = decision;
    if (!decision.accepted) return { accepted: false, code: decision.code, why, rule: null };
    const { rule, scope } = decision;
    const is_named = rule !== null && scope !== 'none-needed';
    const named = is_named ? { id: rule.id, type: rule.type, value: rule.value, scope } : null;
    return { accepted: true, code: null, why, rule: named };
  }

  /* --- Reading --------------------------------------------------------------------------------------------------- */

  /**
   * Finds a key for the shell: by its id, the start of its secret, or its name and project. Throws AppError
   * `not_found`, which says how to find the right one, and `conflict` with the ids where several fit.
   */
  require(ref: string, project_ref?: string): KeyRow {
    const { read } = this.deps.database;
    const project = project_ref === undefined ? null : this.deps.projects.require(project_ref);
    const by_id = this.#find(ref);
    const by_name = project && !by_id ? store.findKeysByName(read, project.id, ref) : [];
    const prefix = ref.replace(/\.+$/, '');
    const by_prefix = /^sat_/.test(prefix) ? store.findKeysByPrefix(read, prefix) : [];
    const found = [...(by_id ? [by_id] : []), ...by_name, ...by_prefix].filter(
      (key) => project === null || key.project_id === project.id,
    );
    const [key, ...others] = found;
    if (!key) {
      const message =
        'API key not found. It is named by its numeric id, by the start of its secret, or with --project by its name; ' +
        'those are in:';
      throw new AppError('not_found', message, { remedy: toDo('key', 'satchel key list --project REF') });
    }
    if (others.length > 0)
      throw conflict(`Several keys fit: ${found.map(({ id }) => id).join(', ')}. Name one by its id.`);
    return key;
  }

  /** True where a project has another active key of this key's name. */
  isSecond({ project_id, name }: Pick<KeyRow, 'project_id' | 'name'>): boolean {
    const called = store.findKeysByName(this.deps.database.read, project_id, name);
    return called.filter(({ is_active }) => is_active).length > 1;
  }

  /** A key of a project by its numeric id. Throws AppError `not_found`, for another project's key too. */
  get(project: ProjectRow, ref: string): KeyRow {
    const key = this.#find(ref);
    if (key?.project_id !== project.id) throw notFound('API key');
    return key;
  }

  /** As `get`, of a project that a token may see. Throws AppError `not_found`. */
  getFor(caller: ManagementCaller, project: string, ref: string): KeyRow {
    return this.get(this.deps.projects.requireFor(caller, project), ref);
  }

  /** The name of a key, or null when it is gone. */
  nameOf(id: number): string | null {
    return store.findKey(this.deps.database.read, id)?.name ?? null;
  }

  /** How many emails a key may send a day; null where it is gone. */
  emailLimitOf(tx: Tx, id: number): { email_daily_limit: number | null } | null {
    return store.findEmailLimit(tx, id);
  }

  #find(ref: string): KeyRow | null {
    return /^\d{1,15}$/.test(ref) ? store.findKey(this.deps.database.read, Number(ref)) : null;
  }

  /** One page of a project's keys, newest first. */
  list(project: ProjectRow, query: PageQuery): Page<KeyRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countKeys(read, project.id),
      fetch: (limit, offset) => store.listKeys(read, { project_id: project.id, limit, offset }),
    }).map((key) => this.present(key));
  }

  /** Active keys that global origins count for. */
  countRestricted(): number {
    return store.countRestrictedKeys(this.deps.database.read);
  }

  /** Ids of the project's keys whose kept copy does not decrypt. Reveals nothing, so records nothing. */
  listUndecryptable(project: ProjectRow): number[] {
    const { read } = this.deps.database;
    return store
      .listKeys(read, { project_id: project.id, limit: -1, offset: 0 })
      .filter(
        ({ sealed_key, key_hash }) =>
          sealed_key !== null &&
          this.deps.key_ring.openText(read, sealed_key, sealContext(key_hash)) === null,
      )
      .map(({ id }) => id);
  }

  /** The safe representation: its fields alone, so that a new column stays hidden. */
  present(key: KeyRow): KeyRecord {
    const count = this.deps.origins.count(key);
    const named = key.restricted && count > 0 ? this.deps.origins.nameFirst(key, ORIGINS_NAMED) : [];
    const purpose = purposeOf(key, permissionsOf(key), { named, count });
    return present(FIELDS, { ...key, origins_count: count, purpose });
  }

  /** What a plaintext key is. Throws AppError `not_found` for one that is unknown or out of scope. */
  lookup(
    caller: ManagementCaller,
    secret: string,
  ): { project: ProjectRecord; api_key: KeyRecord; origins: OriginRecord[] } {
    const hash = hashOfKey(secret);
    const key = hash === null ? null : this.#findByHash(hash);
    const project = key && this.deps.projects.findById(key.project_id);
    if (!key || !project || !mayAccessProject(caller, project.id)) throw notFound('API key');
    return {
      project: this.deps.projects.present(project),
      api_key: this.present(key),
      origins: this.deps.origins.list(key),
    };
  }

  /* --- Changing -------------------------------------------------------------------------------------------------- */

  /**
   * Makes a key and returns it with its secret. With `retain` false no copy is kept, so it can't be revealed.
   * Throws AppError `invalid`, and `not_found` when the project is gone.
   */
  create(
    actor: Actor,
    project: ProjectRow,
    input: NewKeyInput,
    options: { retain: boolean } = { retain: true },
  ): Promise<KeyWithPlaintext> {
    const secret = createToken(input.is_test ? 'test' : 'live');
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const state = this.#stateIn(tx, project.id);
      const key = store.insertKey(tx, {
        project_id: project.id,
        ...merge(FIELDS, null, input),
        key_prefix: secret.prefix_shown,
        key_hash: secret.hash,
        sealed_key: options.retain ? this.#seal(tx, state, secret) : null,
        is_active: true,
        created_at: now,
        updated_at: now,
      });
      const metadata = { name: key.name, key_prefix: key.key_prefix };
      this.#audit(tx, actor, { event: 'api_key.created', key, project: state, metadata });
      return { ...this.present(key), plaintext_key: secret.plaintext };
    });
  }

  /** Changes given fields; null clears a limit. Throws AppError `invalid`, `not_found` without the key. */
  async update(actor: Actor, key: KeyRow, changes: KeyChanges): Promise<KeyRecord> {
    const values = setBy(CHANGED_FIELDS, changes);
    if (Object.keys(changes).length === 0) return this.present(key);
    const now = this.deps.clock.now();
    const changed = await this.deps.database.write((tx) => {
      const before = store.findKey(tx, key.id);
      const changed = store.updateKey(tx, key.id, { ...values, updated_at: now });
      if (!before || !changed) throw notFound('API key');
      const project = this.#stateIn(tx, changed.project_id);
      const told = changesOf(before, changed);
      this.#audit(tx, actor, { event: 'api_key.updated', key: changed, project, changes: told });
      return changed;
    });
    return this.present(changed);
  }

  /**
   * Gives a key a new secret and returns it; the old one stops at once. `retain` stays as it was. Throws
   * AppError `not_found` when the key is gone.
   */
  rotate(actor: Actor, key: KeyRow): Promise<KeyWithPlaintext> {
    const secret = createToken(key.is_test ? 'test' : 'live');
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const project = this.#stateIn(tx, key.project_id);
      const old = store.findKey(tx, key.id);
      if (!old) throw notFound('API key');
      const changed = store.updateKey(tx, key.id, {
        key_prefix: secret.prefix_shown,
        key_hash: secret.hash,
        sealed_key: old.sealed_key === null ? null : this.#seal(tx, project, secret),
        updated_at: now,
      });
      if (!changed) throw notFound('API key');
      const metadata = { old_key_prefix: old.key_prefix, key_prefix: changed.key_prefix };
      this.#audit(tx, actor, { event: 'api_key.rotated', key: changed, project, metadata });
      return { ...this.present(changed), plaintext_key: secret.plaintext };
    });
  }

  /**
   * The secret of a key; the revealing is on record before it leaves. Throws AppError `conflict`
   * PLAINTEXT_UNAVAILABLE when no copy was kept or it does not decrypt, `not_found` when the key is gone.
   */
  reveal(actor: Actor, key: KeyRow): Promise<{ plaintext_key: string }> {
    return this.deps.database.write((tx) => {
      const current = store.findKey(tx, key.id);
      if (!current) throw notFound('API key');
      if (current.sealed_key === null) throw plaintextUnavailable('not_retained');
      const plaintext_key = this.deps.key_ring.openText(
        tx,
        current.sealed_key,
        sealContext(current.key_hash),
      );
      if (plaintext_key === null) throw plaintextUnavailable('undecryptable');
      const project = this.#stateIn(tx, current.project_id);
      const metadata = { name: current.name, key_prefix: current.key_prefix };
      this.#audit(tx, actor, { event: 'api_key.revealed', key: current, project, metadata });
      return { plaintext_key };
    });
  }

  /** Deletes a key and its origins. Throws AppError `not_found` when it is gone already. */
  remove(actor: Actor, key: KeyRow): Promise<{ deleted: true; cascade: { origins: number } }> {
    return this.deps.database.write((tx) => {
      const current = store.findKey(tx, key.id);
      if (!current) throw notFound('API key');
      const cascade = { origins: this.deps.origins.count(current, tx) };
      const project = this.#stateIn(tx, current.project_id);
      const metadata = { name: current.name, key_prefix: current.key_prefix, cascade };
      this.#audit(tx, actor, { event: 'api_key.deleted', key: current, project, metadata });
      store.deleteKey(tx, current);
      return { deleted: true as const, cascade };
    });
  }

  #stateIn(tx: Tx, project_id: number): ProjectState {
    const state = findProjectState(tx, project_id);
    if (!state) throw notFound('Project');
    return state;
  }

  #seal(tx: Tx, project: ProjectState, secret: { plaintext: string; hash: string }): string {
    return this.deps.key_ring.seal(
      tx,
      projectScope(project.public_id),
      sealContext(secret.hash),
      secret.plaintext,
    );
  }

  #audit(
    tx: Tx,
    actor: Actor,
    of: Omit<AuditEntry, 'target' | 'project'> & { key: KeyRow; project: ProjectState },
  ): void {
    const { key, metadata, ...entry } = of;
    const told = { ...entry, metadata: { name: key.name, ...metadata }, target: `api_key:${key.id}` };
    recordAudit(tx, actor, told, this.deps.clock.now());
  }
}

/** The keys for a project's own record, newest first. Apart from Keys, which is built on Projects. */
export function keysShownBy(database: Database): (project_id: number) => AbbreviatedKey[] {
  return (project_id) => store.listAbbreviated(database.read, project_id);
}

/** Bound to the hash, the copy opens only beside the very secret it is of. */
function sealContext(key_hash: string): string[] {
  return ['api_key', key_hash];
}

function plaintextUnavailable(reason: 'not_retained' | 'undecryptable'): Error {
  const why =
    reason === 'not_retained'
      ? 'No copy of this key was kept when it was made.'
      : 'The stored copy of this key does not decrypt.';
  return conflict(`${why} Rotate the key to get a new one.`, {
    code: 'PLAINTEXT_UNAVAILABLE',
    details: { reason },
  });
}

/** The hash by which a key is looked up; null for a text that is no key. */
function hashOfKey(secret: string): string | null {
  const kind = parseToken(secret)?.kind;
  return kind === 'live' || kind === 'test' ? hashToken(secret) : null;
}

function permissionsOf(key: KeyRow): Set<Permission> {
  const permissions = new Set<Permission>();
  if (key.can_read) permissions.add('read');
  if (key.can_write) permissions.add('write');
  if (key.can_write || key.permissions.upload === true) permissions.add('upload');
  if (key.can_write && key.permissions.delete !== false) permissions.add('delete');
  if (key.can_send_emails) permissions.add('email');
  if (key.can_manage_email_marketing) permissions.add('email_marketing');
  if (key.permissions.email_template === true) permissions.add('email_template');
  if (key.permissions.captcha === true) permissions.add('captcha');
  return permissions;
}

export function keyChecks({ keys, projects }: { keys: Keys; projects: Projects }): HealthCheck[] {
  return [
    sealedCheck(() =>
      projects.listAll({}).flatMap((project) =>
        keys.listUndecryptable(project).map((id) => ({
          message: `The copy of API key ${id} of project ${project.slug} does not decrypt.`,
          remedy: `satchel key rotate ${id}`,
        })),
      ),
    ),
  ];
}

/** Names of the keys of a project, newest first; without a project the numbers of all keys. */
export function completeKey(read: Tx, typed: string, project_id: number | null): Word[] {
  return listKeysFrom(read, { beginning: typed, project_id }, COMPLETED_WORDS).map(
    ({ id, name, key_prefix }) =>
      project_id === null
        ? { word: String(id), description: `${name}, ${key_prefix}...` }
        : { word: name, description: `${id}, ${key_prefix}...` },
  );
}
