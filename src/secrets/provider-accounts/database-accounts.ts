/** Accounts at database providers, with access tokens, of no project: for callers of all projects. */
import { conflict, forbidden } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { ManagementCaller } from '../../platform/http/callers.ts';
import type {
  DatabaseAccountChanges,
  DatabaseAccountRecord,
  NewDatabaseAccountInput,
  RevealedDatabaseAccount,
} from './schemas.ts';
import { type Change, ProviderRecords, prefixOf, type RecordDeps, undecryptable } from './service.ts';
import { countProjectsOfAccount, databaseAccountStore } from './store.ts';
import type { DatabaseAccountRow, databaseAccounts } from './tables.ts';

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
