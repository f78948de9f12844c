/**
 * Accounts at database providers, of no project: for callers of all projects. Projects there, with their credentials,
 * and which of our projects they belong to.
 */

import type { DatabaseLinks } from '../../access/projects/service.ts';
import { collectErrors, conflict, type FieldErrors, forbidden, invalid } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import { readRef } from '../../platform/host/ids.ts';
import { type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import type {
  DatabaseAccountChanges,
  DatabaseAccountRecord,
  DatabaseProjectChanges,
  DatabaseProjectRecord,
  NewDatabaseAccountInput,
  NewDatabaseProjectInput,
  Reference,
  RevealedDatabaseAccount,
  RevealedDatabaseProject,
} from './schemas.ts';
import { type Change, ProviderRecords, prefixOf, type RecordDeps, undecryptable } from './service.ts';
import {
  countProjectsOfAccount,
  databaseAccountStore,
  databaseProjectStore,
  findShownId,
  insertLink,
  listLinkedIds,
  replaceShownLink,
} from './store.ts';
import type { DatabaseAccountRow, DatabaseProjectRow, databaseAccounts, databaseProjects } from './tables.ts';

type SecretField = 'secret_key' | 'db_password' | 'connection_string';

export interface DatabaseProjectShapes {
  row: DatabaseProjectRow;
  insert: typeof databaseProjects.$inferInsert;
  input: NewDatabaseProjectInput;
  changes: DatabaseProjectChanges;
  shown: DatabaseProjectRecord;
  revealed: RevealedDatabaseProject;
  secret: SecretField;
}

export class DatabaseProjects extends ProviderRecords<DatabaseProjectShapes> {
  readonly #accounts: DatabaseAccounts;

  constructor(deps: RecordDeps & { accounts: DatabaseAccounts }) {
    const links = { list: listLinkedIds, insert: insertLink };
    super(deps, { kind: 'database_project', noun: 'Database project', store: databaseProjectStore, links });
    this.#accounts = deps.accounts;
  }

  override errorsIn({
    caller,
    sent,
  }: {
    caller: ManagementCaller;
    sent: DatabaseProjectChanges;
  }): FieldErrors {
    return collectErrors(() => this.#accountColumn(sent.account_id, caller));
  }

  override present(project: DatabaseProjectRow): DatabaseProjectRecord {
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

  protected override newRow(input: NewDatabaseProjectInput, on: Change<DatabaseProjectShapes>) {
    const { account_id, secret_key, db_password, connection_string, ...rest } = input;
    const secrets = { secret_key, db_password, connection_string };
    return { ...rest, ...this.#accountColumn(account_id, on.caller), ...secretColumns(secrets, on) };
  }

  protected override changedRow(changes: DatabaseProjectChanges, on: Change<DatabaseProjectShapes>) {
    const { account_id, secret_key, db_password, connection_string, ...rest } = changes;
    const secrets = { secret_key, db_password, connection_string };
    return { ...rest, ...this.#accountColumn(account_id, on.caller), ...secretColumns(secrets, on) };
  }

  #accountColumn(
    ref: Reference | null | undefined,
    caller: ManagementCaller,
  ): { account_id?: number | null } {
    if (ref === undefined) return {};
    if (ref === null) return { account_id: null };
    const account = this.#accounts.findFor(caller, ref);
    if (!account) throw invalid({ account_id: ['must name a database account that you can see'] });
    return { account_id: account.id };
  }

  protected override sealedOf(project: DatabaseProjectRow) {
    return {
      secret_key: project.sealed_secret_key,
      db_password: project.sealed_db_password,
      connection_string: project.sealed_connection_string,
    };
  }

  /** One that does not decrypt is listed. */
  protected override revealed(
    open: (field: SecretField) => string | null,
    undecryptable: string[],
  ): RevealedDatabaseProject {
    return {
      secret_key: open('secret_key'),
      db_password: open('db_password'),
      connection_string: open('connection_string'),
      undecryptable,
    };
  }

  protected override factsOf(): object {
    return {};
  }
}

/** What is left out of `secrets` stays as it is. */
function secretColumns(
  secrets: Record<SecretField, string | null | undefined>,
  { seal }: Change<DatabaseProjectShapes>,
) {
  const column = (field: SecretField): string | null | undefined => {
    const secret = secrets[field];
    return secret == null ? secret : seal(field, secret);
  };
  return {
    sealed_secret_key: column('secret_key'),
    sealed_db_password: column('db_password'),
    sealed_connection_string: column('connection_string'),
  };
}

/** How projects are tied to database projects. Apart from the service, as projects are made of it. */
export function createDatabaseLinks(database: Database): DatabaseLinks {
  return {
    visibleIdFor(caller, ref) {
      const named = readRef(ref);
      return named
        ? (databaseProjectStore.find(database.read, named, caller && scopeOf(caller))?.id ?? null)
        : null;
    },
    link: replaceShownLink,
    linkedId: findShownId,
  };
}

export interface DatabaseAccountShapes {
  row: DatabaseAccountRow;
  insert: typeof databaseAccounts.$inferInsert;
  input: NewDatabaseAccountInput;
  changes: DatabaseAccountChanges;
  shown: DatabaseAccountRecord;
  revealed: RevealedDatabaseAccount;
  secret: 'access_token';
}

export class DatabaseAccounts extends ProviderRecords<DatabaseAccountShapes> {
  constructor(deps: RecordDeps) {
    super(deps, { kind: 'database_account', noun: 'Database account', store: databaseAccountStore });
  }

  /** None. Throws AppError `forbidden` for a scoped caller, who could not see what they made. */
  override projectsOfNew(caller: ManagementCaller): readonly number[] {
    if (caller.all_projects) return [];
    throw forbidden('Database accounts belong to no project: only a caller of all projects may create one.');
  }

  override present(account: DatabaseAccountRow): DatabaseAccountRecord {
    return {
      id: account.id,
      public_id: account.public_id,
      name: account.name,
      provider: account.provider,
      organization_slug: account.organization_slug,
      token_prefix: account.token_prefix,
      expires_at: toIso(account.expires_at),
      created_at: toIso(account.created_at),
    };
  }

  protected override newRow(input: NewDatabaseAccountInput, on: Change<DatabaseAccountShapes>) {
    const { access_token, expires_at, ...rest } = input;
    return { ...rest, ...expiry(expires_at), ...tokenColumns(access_token, on) };
  }

  protected override changedRow(changes: DatabaseAccountChanges, on: Change<DatabaseAccountShapes>) {
    const { access_token, expires_at, ...rest } = changes;
    const token = access_token === undefined ? {} : tokenColumns(access_token, on);
    return { ...rest, ...expiry(expires_at), ...token };
  }

  protected override refuseInUse(tx: Tx, { id }: DatabaseAccountRow): void {
    const database_projects = countProjectsOfAccount(tx, id);
    if (database_projects === 0) return;
    throw conflict(
      `The account is in use by ${database_projects} database project${database_projects === 1 ? '' : 's'}. ` +
        'Delete them, or change their account_id, first.',
      { details: { database_projects } },
    );
  }

  protected override sealedOf({ sealed_access_token }: DatabaseAccountRow) {
    return { access_token: sealed_access_token };
  }

  protected override revealed(open: (field: 'access_token') => string | null): RevealedDatabaseAccount {
    const access_token = open('access_token');
    if (access_token === null) throw undecryptable();
    return { access_token };
  }

  protected override factsOf(): object {
    return {};
  }
}

function tokenColumns(access_token: string, { seal }: Change<DatabaseAccountShapes>) {
  return { token_prefix: prefixOf(access_token), sealed_access_token: seal('access_token', access_token) };
}

function expiry(expires_at: string | null | undefined) {
  return expires_at === undefined ? {} : { expires_at: expires_at === null ? null : Date.parse(expires_at) };
}
