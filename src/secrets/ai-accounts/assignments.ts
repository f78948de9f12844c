/** Which AI accounts serve which projects: assignments one by one, and the standing rule of an account. */

import type { ProjectCascade, ProjectRow, Projects } from '../../access/projects/service.ts';
import { type FieldErrors, invalid } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import { explainMissing } from '../../platform/database/foreign-keys.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { type Actor, type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import type { Reference } from '../../platform/secrets/account-schemas.ts';
import { type AccountDeps, auditRecord } from '../../platform/secrets/account-secrets.ts';
import type { AccountProjectsInput, AiAccountRecord, AssignedProject } from './schemas.ts';
import type { AiAccounts } from './service.ts';
import * as store from './store.ts';
import type { AiAccountRow } from './tables.ts';

export class AiAssignments {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #accounts: AiAccounts;
  readonly #projects: Projects;

  constructor(deps: AccountDeps & { accounts: AiAccounts; projects: Projects }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
    this.#accounts = deps.accounts;
    this.#projects = deps.projects;
  }

  /** One page of the accounts that serve a project, by assignment or by their standing rule. */
  listAccounts(project: ProjectRow, query: PageQuery): Page<AiAccountRecord> {
    return this.#accounts.listServing([project.id], query);
  }

  /** One page of the projects an account serves, as far as the caller sees them. */
  listProjects(caller: ManagementCaller, account: AiAccountRow, query: PageQuery): Page<AssignedProject> {
    if (account.all_projects) return this.#projects.list(caller, query).map(presentProject);
    const scope = scopeOf(caller);
    const ids = store
      .listProjectIds(this.#database.read, account.id)
      .filter((id) => scope === null || scope.includes(id));
    return paginate(query, {
      total: ids.length,
      fetch: (limit, offset) =>
        ids.slice(offset, offset + limit).map((id) => presentProject(this.#projects.require(String(id)))),
    });
  }

  /**
   * Replaces the projects that an account is assigned to; a scoped token replaces among its own alone. Throws AppError
   * `invalid` unless one of all_existing and project_ids is given, or for a project that the caller cannot see.
   */
  async setProjects(
    actor: Actor,
    caller: ManagementCaller,
    account: AiAccountRow,
    input: AccountProjectsInput,
  ): Promise<void> {
    const scope = scopeOf(caller);
    const now = this.#clock.now();
    await this.#database
      .write((tx) => {
        const wanted = this.#resolveProjects(caller, input);
        const present = store.listProjectIds(tx, account.id);
        const removed = present.filter((id) => (scope === null || scope.includes(id)) && !wanted.has(id));
        const added = [...wanted].filter((id) => !present.includes(id));
        store.deleteAssignmentsOfAccount(tx, account.id, removed);
        for (const project_id of added) {
          store.insertAssignment(tx, { ai_account_id: account.id, project_id });
        }
        auditRecord(tx, actor, 'ai_account.assigned', account, { added, removed }, now);
      })
      .catch(explainMissing('Project or account'));
  }

  #resolveProjects(caller: ManagementCaller, input: AccountProjectsInput): Set<number> {
    const { all_existing, project_ids } = input;
    if (all_existing !== undefined && project_ids !== undefined) {
      throw invalid({ _: ['Send either all_existing or project_ids, not both.'] });
    }
    if (project_ids === undefined) {
      if (all_existing !== true) throw invalid({ _: ['Send all_existing: true, or project_ids.'] });
      return new Set(
        caller.all_projects ? this.#projects.listAll({}).map(({ id }) => id) : caller.project_ids,
      );
    }
    return resolveAll('project_ids', project_ids, (ref) => {
      const project = this.#projects.find(String(ref));
      const scope = scopeOf(caller);
      return project && (scope === null || scope.includes(project.id)) ? project.id : null;
    });
  }

  /**
   * Replaces the accounts that are assigned to a project; standing rules stay as they are. Throws AppError `invalid` for an
   * account that the caller cannot see.
   */
  async setAccounts(
    actor: Actor,
    caller: ManagementCaller,
    project: ProjectRow,
    account_ids: readonly Reference[],
  ): Promise<void> {
    const find = (ref: Reference): number | null => this.#accounts.findFor(caller, ref)?.id ?? null;
    const now = this.#clock.now();
    await this.#database
      .write((tx) => {
        const wanted = resolveAll('account_ids', account_ids, find);
        const present = store.listAccountIds(tx, project.id);
        const removed = present.filter((id) => !wanted.has(id));
        const added = [...wanted].filter((id) => !present.includes(id));
        store.deleteAssignmentsOfProject(tx, project.id);
        for (const ai_account_id of wanted) {
          store.insertAssignment(tx, { ai_account_id, project_id: project.id });
        }
        const entry = { event: 'project.ai_accounts_assigned', target: `project:${project.id}`, project };
        recordAudit(tx, actor, { ...entry, metadata: { added, removed } }, now);
      })
      .catch(explainMissing('Project or account'));
  }
}

/** The assignments of a project go with it, by foreign key. */
export const aiAccountsCascade: ProjectCascade = {
  count: (tx, project) => ({ links: store.listAccountIds(tx, project.id).length }),
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
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return new Set(ids);
}

function presentProject(project: ProjectRow): AssignedProject {
  const { id, public_id, name, slug, status } = project;
  return { id, public_id, name, slug, status };
}
