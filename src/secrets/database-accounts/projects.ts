/** Projects at database providers, with their credentials, and which of our projects they belong to. */

import { collectErrors, type FieldErrors, invalid, notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { explainMissing } from '../../platform/database/foreign-keys.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { newId, readRef } from '../../platform/host/ids.ts';
import {
  type Actor,
  type ManagementCaller,
  refuseBeyondScope,
  scopeOf,
} from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import type { DeletedRecord, Reference } from '../../platform/secrets/account-schemas.ts';
import {
  type AccountDeps,
  auditRecord,
  type LostSecret,
  listLost,
  openSecret,
  type SecretPlace,
  sealSecret,
  undecryptable,
} from '../../platform/secrets/account-secrets.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import type {
  DatabaseProjectChanges,
  DatabaseProjectRecord,
  NewDatabaseProjectInput,
  RevealedDatabaseProject,
} from './schemas.ts';
import type { DatabaseAccounts } from './service.ts';
import * as store from './store.ts';
import type { DatabaseProjectRow } from './tables.ts';

const SECRET_FIELDS = ['secret_key', 'db_password', 'connection_string'] as const;
type SecretField = (typeof SECRET_FIELDS)[number];

const placeOf = (public_id: string, field: SecretField): SecretPlace => ({
  kind: 'database_project',
  public_id,
  field,
});

export class DatabaseProjects {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #key_ring: KeyRing;
  readonly #accounts: DatabaseAccounts;

  constructor(deps: AccountDeps & { accounts: DatabaseAccounts }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
    this.#key_ring = deps.key_ring;
    this.#accounts = deps.accounts;
  }

  /** One page of those the caller may see, newest first. */
  list(caller: ManagementCaller, query: PageQuery): Page<DatabaseProjectRecord> {
    const { read } = this.#database;
    const scope = scopeOf(caller);
    return paginate(query, {
      total: store.countProjects(read, scope),
      fetch: (limit, offset) => store.listProjects(read, scope, { limit, offset }),
    }).map(present);
  }

  /** Throws AppError `not_found` for one that the caller may not see as well. */
  requireFor(caller: ManagementCaller, ref: Reference): DatabaseProjectRow {
    const named = readRef(ref);
    const project = named ? store.findProject(this.#database.read, named, scopeOf(caller)) : null;
    if (!project) throw notFound('Database project');
    return project;
  }

  /** As `requireFor`. Throws AppError `forbidden` when it belongs to projects out of the token's scope as well. */
  requireForChange(caller: ManagementCaller, ref: Reference): DatabaseProjectRow {
    const project = this.requireFor(caller, ref);
    refuseBeyondScope(caller, { project_ids: store.listLinkedIds(this.#database.read, project.id) });
    return project;
  }

  present(project: DatabaseProjectRow): DatabaseProjectRecord {
    return present(project);
  }

  /**
   * Creates one and gives it to these projects (see `projectsOfNewRecord`); it is shown at those that show none yet. Throws
   * AppError `invalid` for an account that the caller cannot see.
   */
  async create(
    actor: Actor,
    caller: ManagementCaller,
    project_ids: readonly number[],
    input: NewDatabaseProjectInput,
  ): Promise<DatabaseProjectRecord> {
    const { account_id, ref, name, secret_key, db_password, connection_string, ...rest } = input;
    const now = this.#clock.now();
    return await this.#database
      .write((tx) => {
        const account = this.#resolveAccount(caller, account_id);
        const public_id = newId(now);
        const project = store.insertProject(tx, {
          ...rest,
          ...account,
          ...this.#sealSecrets(tx, public_id, { secret_key, db_password, connection_string }),
          public_id,
          ref,
          name,
          created_at: now,
          updated_at: now,
        });
        for (const project_id of project_ids) {
          store.insertLink(tx, { database_project_id: project.id, project_id });
        }
        auditRecord(tx, actor, 'database_project.created', project, { project_ids }, now);
        return present(project);
      })
      .catch(explainMissing('Project or account'));
  }

  /**
   * Changes the fields that are given; null clears an optional one. Throws AppError `invalid`, `not_found` when it is
   * gone.
   */
  async update(
    actor: Actor,
    caller: ManagementCaller,
    project: DatabaseProjectRow,
    changes: DatabaseProjectChanges,
  ): Promise<DatabaseProjectRecord> {
    const { account_id, ref, name, secret_key, db_password, connection_string, ...rest } = changes;
    const fields = Object.keys(changes);
    if (fields.length === 0) return present(project);
    const now = this.#clock.now();
    return await this.#database
      .write((tx) => {
        const account = this.#resolveAccount(caller, account_id);
        const changed = store.updateProject(tx, project.id, {
          ...rest,
          ...account,
          ...this.#sealSecrets(tx, project.public_id, { secret_key, db_password, connection_string }),
          ...(ref ? { ref } : {}),
          ...(name ? { name } : {}),
          updated_at: now,
        });
        if (!changed) throw notFound('Database project');
        auditRecord(tx, actor, 'database_project.updated', changed, { fields }, now);
        return present(changed);
      })
      .catch(explainMissing('Project or account'));
  }

  /** Deletes it with its links. Throws AppError `not_found` when it is gone already. */
  remove(actor: Actor, project: DatabaseProjectRow): Promise<DeletedRecord> {
    const now = this.#clock.now();
    return this.#database.write((tx) => {
      this.#reload(tx, project);
      const links = store.listLinkedIds(tx, project.id).length;
      auditRecord(tx, actor, 'database_project.deleted', project, { links }, now);
      store.deleteProject(tx, project.id);
      return { deleted: true, cascade: { links } };
    });
  }

  /**
   * Its secrets; on record before they leave. One that does not decrypt is listed. Throws AppError `conflict`
   * PLAINTEXT_UNAVAILABLE when none of those stored decrypts, `not_found` when it is gone.
   */
  async reveal(actor: Actor, { id }: DatabaseProjectRow): Promise<RevealedDatabaseProject> {
    const now = this.#clock.now();
    const project = await this.#database.write((tx) => {
      const current = this.#reload(tx, { id });
      auditRecord(tx, actor, 'database_project.revealed', current, {}, now);
      return current;
    });
    const { read } = this.#database;
    const open = (field: SecretField): string | null => {
      const sealed = project[`sealed_${field}`];
      return sealed === null
        ? null
        : openSecret(this.#key_ring, read, placeOf(project.public_id, field), sealed);
    };
    const secrets = {
      secret_key: open('secret_key'),
      db_password: open('db_password'),
      connection_string: open('connection_string'),
    };
    const stored = SECRET_FIELDS.filter((field) => project[`sealed_${field}`] !== null);
    const lost = stored.filter((field) => secrets[field] === null);
    if (lost.length > 0 && lost.length === stored.length) throw undecryptable();
    return { ...secrets, undecryptable: lost };
  }

  #reload(tx: Tx, { id }: Pick<DatabaseProjectRow, 'id'>): DatabaseProjectRow {
    const project = store.findProject(tx, { id }, null);
    if (!project) throw notFound('Database project');
    return project;
  }

  /** The stored secrets that do not decrypt. */
  listUndecryptable(): LostSecret[] {
    const { read } = this.#database;
    return store.listProjects(read, null, WHOLE_LIST).flatMap((project) => {
      const secrets = SECRET_FIELDS.map((field) => ({
        place: placeOf(project.public_id, field),
        sealed: project[`sealed_${field}`],
      }));
      return listLost(this.#key_ring, read, project, secrets);
    });
  }

  /** What is wrong with a new or changed project by rules past its shape. */
  errorsIn(caller: ManagementCaller, { account_id }: DatabaseProjectChanges): FieldErrors {
    return collectErrors(() => this.#resolveAccount(caller, account_id));
  }

  #resolveAccount(
    caller: ManagementCaller,
    ref: Reference | null | undefined,
  ): { account_id?: number | null } {
    if (ref === undefined) return {};
    if (ref === null) return { account_id: null };
    const account = this.#accounts.findFor(caller, ref);
    if (!account) throw invalid({ account_id: ['must name a database account that you can see'] });
    return { account_id: account.id };
  }

  #sealSecrets(
    tx: Tx,
    public_id: string,
    secrets: Partial<Record<SecretField, string | null | undefined>>,
  ): Partial<Pick<store.NewDatabaseProject, `sealed_${SecretField}`>> {
    const sealed: Partial<Record<`sealed_${SecretField}`, string | null>> = {};
    for (const field of SECRET_FIELDS) {
      const secret = secrets[field];
      if (secret === undefined) continue;
      sealed[`sealed_${field}`] =
        secret === null ? null : sealSecret(this.#key_ring, tx, placeOf(public_id, field), secret);
    }
    return sealed;
  }
}

/** The safe form: no secret. */
function present(project: DatabaseProjectRow): DatabaseProjectRecord {
  return {
    id: project.id,
    public_id: project.public_id,
    ref: project.ref,
    name: project.name,
    region: project.region,
    status: project.status,
    api_url: project.api_url,
    publishable_key: project.publishable_key,
    db_host: project.db_host,
    db_port: project.db_port,
    db_name: project.db_name,
    db_user: project.db_user,
    pool_mode: project.pool_mode,
    account_id: project.account_id,
  };
}
