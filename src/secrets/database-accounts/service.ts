/** Accounts at database providers, with the access token of each. They belong to no project: all-projects tokens only. */

import { conflict, forbidden, notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { newId, readRef } from '../../platform/host/ids.ts';
import type { Actor, ManagementCaller } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import type { DeletedRecord, Reference } from '../../platform/secrets/account-schemas.ts';
import {
  type AccountDeps,
  auditRecord,
  type LostSecret,
  listLost,
  openSecret,
  prefixOf,
  type SecretPlace,
  sealSecret,
  undecryptable,
} from '../../platform/secrets/account-secrets.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import type {
  DatabaseAccountChanges,
  DatabaseAccountRecord,
  NewDatabaseAccountInput,
  RevealedDatabaseAccount,
} from './schemas.ts';
import * as store from './store.ts';
import type { DatabaseAccountRow } from './tables.ts';

const placeOf = (public_id: string): SecretPlace => ({
  kind: 'database_account',
  public_id,
  field: 'access_token',
});

export class DatabaseAccounts {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #key_ring: KeyRing;

  constructor(deps: AccountDeps) {
    this.#database = deps.database;
    this.#clock = deps.clock;
    this.#key_ring = deps.key_ring;
  }

  /** One page of the accounts, newest first; none for a scoped token. */
  list(caller: ManagementCaller, query: PageQuery): Page<DatabaseAccountRecord> {
    const { read } = this.#database;
    const total = caller.all_projects ? store.countAccounts(read) : 0;
    const fetch = (limit: number, offset: number): DatabaseAccountRow[] =>
      store.listAccounts(read, { limit, offset });
    return paginate(query, { total, fetch }).map(present);
  }

  /** The account that a numeric id or ULID names, if the caller may see it, or null. */
  findFor(caller: ManagementCaller, ref: Reference): DatabaseAccountRow | null {
    const named = readRef(ref);
    return named && caller.all_projects ? store.findAccount(this.#database.read, named) : null;
  }

  /** As `findFor`. Throws AppError `not_found`. */
  requireFor(caller: ManagementCaller, ref: Reference): DatabaseAccountRow {
    const account = this.findFor(caller, ref);
    if (!account) throw notFound('Database account');
    return account;
  }

  present(account: DatabaseAccountRow): DatabaseAccountRecord {
    return present(account);
  }

  /** Throws AppError `forbidden` for a scoped token: it could not see what it made. */
  requireCreator(caller: ManagementCaller): void {
    if (!caller.all_projects) {
      throw forbidden(
        'Database accounts belong to no project: only a caller of all projects may create one.',
      );
    }
  }

  /** Creates an account, for a caller that `requireCreator` let pass. */
  create(actor: Actor, input: NewDatabaseAccountInput): Promise<DatabaseAccountRecord> {
    const now = this.#clock.now();
    return this.#database.write((tx) => {
      const public_id = newId(now);
      const account = store.insertAccount(tx, {
        public_id,
        name: input.name,
        provider: input.provider ?? null,
        organization_slug: input.organization_slug ?? null,
        token_prefix: prefixOf(input.access_token),
        sealed_access_token: sealSecret(this.#key_ring, tx, placeOf(public_id), input.access_token),
        expires_at: input.expires_at ? Date.parse(input.expires_at) : null,
        created_at: now,
        updated_at: now,
      });
      auditRecord(tx, actor, 'database_account.created', account, {}, now);
      return present(account);
    });
  }

  /** Changes the fields that are given. Throws AppError `invalid`, or `not_found` when the account is gone. */
  async update(
    actor: Actor,
    account: DatabaseAccountRow,
    changes: DatabaseAccountChanges,
  ): Promise<DatabaseAccountRecord> {
    const { name, access_token, expires_at, ...rest } = changes;
    const fields = Object.keys(changes);
    if (fields.length === 0) return present(account);
    const now = this.#clock.now();
    return await this.#database.write((tx) => {
      const changed = store.updateAccount(tx, account.id, {
        ...rest,
        ...(name ? { name } : {}),
        ...(expires_at === undefined ? {} : { expires_at: expires_at ? Date.parse(expires_at) : null }),
        ...(access_token
          ? {
              token_prefix: prefixOf(access_token),
              sealed_access_token: sealSecret(this.#key_ring, tx, placeOf(account.public_id), access_token),
            }
          : {}),
        updated_at: now,
      });
      if (!changed) throw notFound('Database account');
      auditRecord(tx, actor, 'database_account.updated', changed, { fields }, now);
      return present(changed);
    });
  }

  /** Throws AppError `conflict` while database projects are of this account, `not_found` when it is gone already. */
  remove(actor: Actor, account: DatabaseAccountRow): Promise<DeletedRecord> {
    const now = this.#clock.now();
    return this.#database.write((tx) => {
      this.#reload(tx, account);
      const in_use = store.countProjectsOfAccount(tx, account.id);
      if (in_use > 0) {
        throw conflict(
          `The account is in use by ${in_use} database project${in_use === 1 ? '' : 's'}. ` +
            'Delete them, or change their account_id, first.',
          { details: { database_projects: in_use } },
        );
      }
      auditRecord(tx, actor, 'database_account.deleted', account, {}, now);
      store.deleteAccount(tx, account.id);
      return { deleted: true, cascade: { links: 0 } };
    });
  }

  /**
   * The access token; on record before it leaves. Throws AppError `conflict` PLAINTEXT_UNAVAILABLE, `not_found` when the
   * account is gone.
   */
  async reveal(actor: Actor, account: DatabaseAccountRow): Promise<RevealedDatabaseAccount> {
    const now = this.#clock.now();
    const { sealed_access_token } = await this.#database.write((tx) => {
      auditRecord(tx, actor, 'database_account.revealed', account, {}, now);
      return this.#reload(tx, account);
    });
    const { read } = this.#database;
    const access_token = openSecret(this.#key_ring, read, placeOf(account.public_id), sealed_access_token);
    if (access_token === null) throw undecryptable();
    return { access_token };
  }

  #reload(tx: Tx, { id }: DatabaseAccountRow): DatabaseAccountRow {
    const account = store.findAccount(tx, { id });
    if (!account) throw notFound('Database account');
    return account;
  }

  /** The stored tokens that do not decrypt. */
  listUndecryptable(): LostSecret[] {
    const { read } = this.#database;
    return store
      .listAccounts(read, WHOLE_LIST)
      .flatMap((account) =>
        listLost(this.#key_ring, read, account, [
          { place: placeOf(account.public_id), sealed: account.sealed_access_token },
        ]),
      );
  }
}

/** The safe form: no secret. */
function present(account: DatabaseAccountRow): DatabaseAccountRecord {
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
