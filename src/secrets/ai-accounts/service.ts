/** Accounts at AI providers, with the key of each. Whom they serve is in assignments.ts. */

import { collectErrors, type FieldErrors, forbidden, invalid, notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { explainMissing } from '../../platform/database/foreign-keys.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { newId, readRef } from '../../platform/host/ids.ts';
import {
  type Actor,
  type ManagementCaller,
  refuseBeyondScope,
  type Scope,
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
  prefixOf,
  type SecretPlace,
  sealSecret,
  undecryptable,
} from '../../platform/secrets/account-secrets.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import {
  type AiAccountChanges,
  type AiAccountRecord,
  KEYLESS_AI_PROVIDERS,
  type NewAiAccountInput,
  type RevealedAiAccount,
} from './schemas.ts';
import * as store from './store.ts';
import type { AiAccountRow } from './tables.ts';

export type { AiAccountRow } from './tables.ts';

const placeOf = (public_id: string): SecretPlace => ({ kind: 'ai_account', public_id, field: 'api_key' });

export class AiAccounts {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #key_ring: KeyRing;

  constructor(deps: AccountDeps) {
    this.#database = deps.database;
    this.#clock = deps.clock;
    this.#key_ring = deps.key_ring;
  }

  /** One page of those the caller may see, newest first. */
  list(caller: ManagementCaller, query: PageQuery): Page<AiAccountRecord> {
    return this.listServing(scopeOf(caller), query);
  }

  /** One page of those that serve one of these projects (null: of all accounts), newest first. */
  listServing(scope: Scope, query: PageQuery): Page<AiAccountRecord> {
    const { read } = this.#database;
    return paginate(query, {
      total: store.countAccounts(read, scope),
      fetch: (limit, offset) => store.listAccounts(read, scope, { limit, offset }),
    }).map(present);
  }

  /** The account that a numeric id or ULID names, if the caller may see it, or null. */
  findFor(caller: ManagementCaller, ref: Reference): AiAccountRow | null {
    const named = readRef(ref);
    return named ? store.findAccount(this.#database.read, named, scopeOf(caller)) : null;
  }

  /** As `findFor`. Throws AppError `not_found`. */
  requireFor(caller: ManagementCaller, ref: Reference): AiAccountRow {
    const account = this.findFor(caller, ref);
    if (!account) throw notFound('AI account');
    return account;
  }

  /** As `requireFor`. Throws AppError `forbidden` when it serves projects out of the token's scope as well. */
  requireForChange(caller: ManagementCaller, ref: Reference): AiAccountRow {
    const account = this.requireFor(caller, ref);
    const project_ids = store.listProjectIds(this.#database.read, account.id);
    refuseBeyondScope(caller, { all_projects: account.all_projects, project_ids });
    return account;
  }

  present(account: AiAccountRow): AiAccountRecord {
    return present(account);
  }

  /**
   * What is wrong with a new account (`current` null) or a changed one by rules past its shape. `broken` are fields that are
   * wrong already.
   */
  errorsIn(
    current: AiAccountRow | null,
    { provider = current?.provider, api_key }: AiAccountChanges,
    broken: ReadonlySet<string>,
  ): FieldErrors {
    if (provider === undefined || broken.has('provider') || broken.has('api_key')) return {};
    const has_key = api_key === undefined ? (current?.sealed_api_key ?? null) !== null : api_key !== null;
    return collectErrors(() => requireKey(provider, has_key));
  }

  /**
   * Creates an account and assigns it to these projects (see `projectsOfNewRecord`). Throws AppError `forbidden` for all_projects
   * from a scoped token, `invalid` without a key where the provider needs one.
   */
  async create(
    actor: Actor,
    caller: ManagementCaller,
    project_ids: readonly number[],
    input: NewAiAccountInput,
  ): Promise<AiAccountRecord> {
    const { name, provider, api_key = null } = input;
    const all_projects = input.all_projects ?? false;
    refuseStandingRule(caller, all_projects);
    requireKey(provider, api_key !== null);
    const now = this.#clock.now();
    return await this.#database
      .write((tx) => {
        const public_id = newId(now);
        const account = store.insertAccount(tx, {
          public_id,
          name,
          provider,
          key_prefix: api_key === null ? null : prefixOf(api_key),
          sealed_api_key:
            api_key === null ? null : sealSecret(this.#key_ring, tx, placeOf(public_id), api_key),
          base_url: input.base_url ?? null,
          organization_id: input.organization_id ?? null,
          is_active: input.is_active ?? true,
          all_projects,
          created_at: now,
          updated_at: now,
        });
        for (const project_id of project_ids) {
          store.insertAssignment(tx, { ai_account_id: account.id, project_id });
        }
        auditRecord(tx, actor, 'ai_account.created', account, { provider, all_projects, project_ids }, now);
        return present(account);
      })
      .catch(explainMissing('Project or account'));
  }

  /**
   * Changes the fields that are given; null clears an optional one. Throws AppError `forbidden` for all_projects from a
   * scoped token, `invalid`, `not_found` when the account is gone.
   */
  async update(
    actor: Actor,
    caller: ManagementCaller,
    account: AiAccountRow,
    changes: AiAccountChanges,
  ): Promise<AiAccountRecord> {
    const { name, provider, api_key, is_active, all_projects, base_url, organization_id } = changes;
    refuseStandingRule(caller, all_projects ?? false);
    const fields = Object.keys(changes);
    if (fields.length === 0) return present(account);
    const now = this.#clock.now();
    return await this.#database.write((tx) => {
      const changed = store.updateAccount(tx, account.id, {
        ...(name ? { name } : {}),
        ...(provider ? { provider } : {}),
        ...(typeof is_active === 'boolean' ? { is_active } : {}),
        ...(typeof all_projects === 'boolean' ? { all_projects } : {}),
        ...(base_url === undefined ? {} : { base_url }),
        ...(organization_id === undefined ? {} : { organization_id }),
        ...(api_key === null ? { key_prefix: null, sealed_api_key: null } : {}),
        ...(api_key
          ? {
              key_prefix: prefixOf(api_key),
              sealed_api_key: sealSecret(this.#key_ring, tx, placeOf(account.public_id), api_key),
            }
          : {}),
        updated_at: now,
      });
      if (!changed) throw notFound('AI account');
      requireKey(changed.provider, changed.sealed_api_key !== null);
      const rule = typeof all_projects === 'boolean' ? { all_projects } : {};
      auditRecord(tx, actor, 'ai_account.updated', changed, { fields, ...rule }, now);
      return present(changed);
    });
  }

  /** Deletes the account with its assignments. Throws AppError `not_found` when it is gone already. */
  remove(actor: Actor, account: AiAccountRow): Promise<DeletedRecord> {
    const now = this.#clock.now();
    return this.#database.write((tx) => {
      this.#reload(tx, account);
      const links = store.listProjectIds(tx, account.id).length;
      auditRecord(tx, actor, 'ai_account.deleted', account, { links }, now);
      store.deleteAccount(tx, account.id);
      return { deleted: true, cascade: { links } };
    });
  }

  /**
   * The account's key, null where it has none; on record before it leaves. Throws AppError `conflict`
   * PLAINTEXT_UNAVAILABLE when it does not decrypt, `not_found` when the account is gone.
   */
  async reveal(actor: Actor, account: AiAccountRow): Promise<RevealedAiAccount> {
    const now = this.#clock.now();
    const { sealed_api_key } = await this.#database.write((tx) => {
      auditRecord(tx, actor, 'ai_account.revealed', account, {}, now);
      return this.#reload(tx, account);
    });
    if (sealed_api_key === null) return { api_key: null };
    const { read } = this.#database;
    const api_key = openSecret(this.#key_ring, read, placeOf(account.public_id), sealed_api_key);
    if (api_key === null) throw undecryptable();
    return { api_key };
  }

  #reload(tx: Tx, { id }: AiAccountRow): AiAccountRow {
    const account = store.findAccount(tx, { id }, null);
    if (!account) throw notFound('AI account');
    return account;
  }

  /** The stored keys that do not decrypt. */
  listUndecryptable(): LostSecret[] {
    const { read } = this.#database;
    return store
      .listAccounts(read, null, WHOLE_LIST)
      .flatMap((account) =>
        listLost(this.#key_ring, read, account, [
          { place: placeOf(account.public_id), sealed: account.sealed_api_key },
        ]),
      );
  }
}

/** A standing rule reaches projects that a scoped caller does not. Throws AppError `forbidden` where one asks for it. */
export function refuseStandingRule(caller: ManagementCaller, all_projects: boolean): void {
  if (!all_projects || caller.all_projects) return;
  throw forbidden('all_projects reaches beyond your scope: only a caller of all projects may set it.');
}

function requireKey(provider: string, has_key: boolean): void {
  if (has_key || KEYLESS_AI_PROVIDERS.includes(provider)) return;
  throw invalid({ api_key: [`is required for the provider ${provider}`] });
}

/** The safe form: no secret. */
function present(account: AiAccountRow): AiAccountRecord {
  return {
    id: account.id,
    public_id: account.public_id,
    name: account.name,
    provider: account.provider,
    key_prefix: account.key_prefix,
    base_url: account.base_url,
    organization_id: account.organization_id,
    is_active: account.is_active,
    all_projects: account.all_projects,
    created_at: toIso(account.created_at),
  };
}
