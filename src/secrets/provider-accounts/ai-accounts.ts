/** Accounts at AI providers, with the key of each; and which projects they serve, one by one or by a standing rule. */

import type { ProjectCascade, ProjectRow, Projects } from '../../access/projects/service.ts';
import { collectErrors, type FieldErrors, forbidden, invalid, refuseAll } from '../../errors.ts';
import { type AuditEntry, recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type Actor, type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginateAll } from '../../platform/http/pagination.ts';
import {
  type AccountProjectsInput,
  type AiAccountChanges,
  type AiAccountRecord,
  type AssignedProject,
  KEYLESS_AI_PROVIDERS,
  type NewAiAccountInput,
  type Reference,
  type RevealedAiAccount,
} from './schemas.ts';
import { type Change, ProviderRecords, prefixOf, type RecordDeps } from './service.ts';
import * as store from './store.ts';
import { aiAccountStore, insertAssignment, listProjectIds } from './store.ts';
import type { AiAccountRow, aiAccounts } from './tables.ts';

export interface AiAccountShapes {
  row: AiAccountRow;
  insert: typeof aiAccounts.$inferInsert;
  input: NewAiAccountInput;
  changes: AiAccountChanges;
  shown: AiAccountRecord;
  revealed: RevealedAiAccount;
  secret: 'api_key';
}

export class AiAccounts extends ProviderRecords<AiAccountShapes> {
  constructor(deps: RecordDeps) {
    const links = { list: listProjectIds, insert: insertAssignment };
    super(deps, { kind: 'ai_account', noun: 'AI account', store: aiAccountStore, links });
  }

  /** A standing rule reaches projects that a scoped caller does not. Throws AppError `forbidden`. */
  override authorize(caller: ManagementCaller, { all_projects }: { readonly all_projects?: unknown }): void {
    if (all_projects !== true || caller.all_projects) return;
    throw forbidden('all_projects reaches beyond your scope: only a caller of all projects may set it.');
  }

  override errorsIn({
    current,
    sent,
  }: {
    current: AiAccountRow | null;
    sent: AiAccountChanges;
  }): FieldErrors {
    const { provider = current?.provider, api_key = current?.sealed_api_key ?? null } = sent;
    return provider === undefined ? {} : collectErrors(() => requireKey(provider, api_key));
  }

  override present(account: AiAccountRow): AiAccountRecord {
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

  protected override newRow({ api_key, ...rest }: NewAiAccountInput, on: Change<AiAccountShapes>) {
    return { is_active: true, all_projects: false, ...rest, ...keyColumns(api_key, on) };
  }

  protected override changedRow({ api_key, ...rest }: AiAccountChanges, on: Change<AiAccountShapes>) {
    return { ...rest, ...keyColumns(api_key, on) };
  }

  protected override requireSound({ provider, sealed_api_key }: AiAccountRow): void {
    requireKey(provider, sealed_api_key);
  }

  protected override sealedOf({ sealed_api_key }: AiAccountRow) {
    return { api_key: sealed_api_key };
  }

  protected override revealed(open: (field: 'api_key') => string | null): RevealedAiAccount {
    return { api_key: open('api_key') };
  }

  protected override factsOf(account: AiAccountRow, sent: AiAccountChanges, is_new: boolean): object {
    const { provider, all_projects } = account;
    if (is_new) return { provider, all_projects };
    return sent.all_projects === undefined ? {} : { all_projects };
  }
}

function keyColumns(api_key: string | null | undefined, { seal }: Change<AiAccountShapes>) {
  if (api_key === undefined) return {};
  if (api_key === null) return { key_prefix: null, sealed_api_key: null };
  return { key_prefix: prefixOf(api_key), sealed_api_key: seal('api_key', api_key) };
}

function requireKey(provider: string, api_key: string | null): void {
  if (api_key !== null || KEYLESS_AI_PROVIDERS.includes(provider)) return;
  throw invalid({ api_key: [`is required for the provider ${provider}`] });
}

export class AiAssignments {
  constructor(
    private readonly deps: { database: Database; clock: Clock; accounts: AiAccounts; projects: Projects },
  ) {}

  /** One page of the projects an account serves, as far as the caller sees them. */
  listProjects(caller: ManagementCaller, account: AiAccountRow, query: PageQuery): Page<AssignedProject> {
    if (account.all_projects) return this.deps.projects.list(caller, query).map(presentProject);
    const scope = scopeOf(caller);
    const ids = store.listProjectIds(this.deps.database.read, account.id);
    const seen = ids.filter((id) => scope === null || scope.includes(id));
    return paginateAll(query, seen).map((id) => presentProject(this.deps.projects.requireById(id)));
  }

  /**
   * Replaces the projects of an account; a scoped token replaces only its own. Throws AppError `invalid`
   * unless one of all_existing and project_ids is given, or for a project that the caller does not see.
   */
  setProjects(
    actor: Actor,
    caller: ManagementCaller,
    account: AiAccountRow,
    input: AccountProjectsInput,
  ): Promise<void> {
    const scope = scopeOf(caller);
    return this.#replace(actor, (tx) => {
      const wanted = this.#resolveProjects(caller, input);
      const present = store.listProjectIds(tx, account.id);
      const own = present.filter((id) => scope === null || scope.includes(id));
      const added = [...wanted].filter((id) => !present.includes(id));
      const removed = own.filter((id) => !wanted.has(id));
      store.deleteAssignments(tx, [account.id], removed);
      for (const project_id of added) store.insertAssignment(tx, account.id, project_id);
      const metadata = { name: account.name, added, removed };
      return { event: 'ai_account.assigned', target: `ai_account:${account.id}`, project: null, metadata };
    });
  }

  #resolveProjects(caller: ManagementCaller, input: AccountProjectsInput): Set<number> {
    const { all_existing, project_ids } = input;
    if (all_existing !== undefined && project_ids !== undefined) {
      throw invalid({ _: ['Send either all_existing or project_ids, not both.'] });
    }
    if (project_ids === undefined) {
      if (all_existing !== true) throw invalid({ _: ['Send all_existing: true, or project_ids.'] });
      return new Set(scopeOf(caller) ?? this.deps.projects.listAll({}).map(({ id }) => id));
    }
    return resolveAll('project_ids', project_ids, (ref) => {
      const project = this.deps.projects.find(String(ref));
      const scope = scopeOf(caller);
      return project && (scope === null || scope.includes(project.id)) ? project.id : null;
    });
  }

  /**
   * Replaces the accounts of a project; standing rules stay. Throws AppError `invalid` for an account that
   * the caller does not see.
   */
  setAccounts(
    actor: Actor,
    caller: ManagementCaller,
    project: ProjectRow,
    account_ids: readonly Reference[],
  ): Promise<void> {
    return this.#replace(actor, (tx) => {
      const find = (ref: Reference): number | null => this.deps.accounts.findFor(caller, ref)?.id ?? null;
      const wanted = resolveAll('account_ids', account_ids, find);
      const present = store.listAccountIds(tx, project.id);
      const added = [...wanted].filter((id) => !present.includes(id));
      const removed = present.filter((id) => !wanted.has(id));
      store.deleteAssignments(tx, removed, [project.id]);
      for (const account_id of added) store.insertAssignment(tx, account_id, project.id);
      const target = `project:${project.id}`;
      return { event: 'project.ai_accounts_assigned', target, project, metadata: { added, removed } };
    });
  }

  async #replace(actor: Actor, change: (tx: Tx) => AuditEntry): Promise<void> {
    const now = this.deps.clock.now();
    await this.deps.database
      .write((tx) => recordAudit(tx, actor, change(tx), now))
      .catch(explainMissing('Project or account'));
  }
}

/** Ties of a project to accounts and databases go with it, by foreign key. */
export const providerLinksCascade: ProjectCascade = {
  count: (tx, { id }) => ({ links: store.listAccountIds(tx, id).length + store.countLinksOfProject(tx, id) }),
};

function resolveAll(
  field: string,
  refs: readonly Reference[],
  find: (ref: Reference) => number | null,
): Set<number> {
  const errors: FieldErrors = {};
  const ids = refs.flatMap((ref, index) => {
    const id = find(ref);
    if (id === null) errors[`${field}.${index}`] = ['must name one that you can see'];
    return id === null ? [] : [id];
  });
  refuseAll(errors);
  return new Set(ids);
}

function presentProject({ id, public_id, name, slug, status }: ProjectRow): AssignedProject {
  return { id, public_id, name, slug, status };
}
