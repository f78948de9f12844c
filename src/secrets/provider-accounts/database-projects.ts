/** Projects at database providers, with their credentials, and which of our projects they belong to. */
import type { DatabaseLinks } from '../../access/projects/service.ts';
import { collectErrors, type FieldErrors, invalid } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { readRef } from '../../platform/host/ids.ts';
import { type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import type { DatabaseAccounts } from './database-accounts.ts';
import type {
  DatabaseProjectChanges,
  DatabaseProjectRecord,
  NewDatabaseProjectInput,
  Reference,
  RevealedDatabaseProject,
} from './schemas.ts';
import { type Change, ProviderRecords, type RecordDeps } from './service.ts';
import { databaseProjectStore, findShownId, insertLink, listLinkedIds, replaceShownLink } from './store.ts';
import type { DatabaseProjectRow, databaseProjects } from './tables.ts';

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
