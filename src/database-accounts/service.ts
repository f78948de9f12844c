/** Accounts at database and AI providers: the parts of this capability, and what it does for projects. */

import { AiAssignments } from '../ai-accounts/assignments.ts';
import { AiAccounts } from '../ai-accounts/service.ts';
import { listAccountIds } from '../ai-accounts/store.ts';
import type { Database } from '../platform/database/database.ts';
import type { DatabaseLinks, ProjectCascade, Projects } from '../projects/service.ts';
import { type LostSecret, type ProviderDeps, readRef, scopeOf } from '../providers/records.ts';
import { DatabaseAccounts } from './accounts.ts';
import { DatabaseProjects } from './projects.ts';
import { countLinksOfProject, findProject, findShownId, replaceShownLink } from './store.ts';

export class Providers {
  readonly database_accounts: DatabaseAccounts;
  readonly database_projects: DatabaseProjects;
  readonly ai_accounts: AiAccounts;
  readonly ai_assignments: AiAssignments;

  constructor(deps: ProviderDeps & { projects: Projects }) {
    this.database_accounts = new DatabaseAccounts(deps);
    this.database_projects = new DatabaseProjects({ ...deps, accounts: this.database_accounts });
    this.ai_accounts = new AiAccounts(deps);
    this.ai_assignments = new AiAssignments({ ...deps, accounts: this.ai_accounts });
  }

  /** Every stored secret of a provider that does not decrypt; for `satchel doctor`. */
  listUndecryptable(): LostSecret[] {
    return [this.database_accounts, this.database_projects, this.ai_accounts].flatMap((records) =>
      records.listUndecryptable(),
    );
  }
}

/** How projects are tied to database projects. It stands apart from Providers, which is built on Projects. */
export function createDatabaseLinks(database: Database): DatabaseLinks {
  return {
    visibleIdFor(caller, ref) {
      const named = readRef(ref);
      const scope = caller ? scopeOf(caller) : null;
      return named ? (findProject(database.read, named, scope)?.id ?? null) : null;
    },
    link: replaceShownLink,
    linkedId: findShownId,
  };
}

/** What of providers goes when a project is deleted: its links and assignments, by foreign key. */
export const providersCascade: ProjectCascade = {
  count: (tx, project) => ({
    links: countLinksOfProject(tx, project.id) + listAccountIds(tx, project.id).length,
  }),
};
