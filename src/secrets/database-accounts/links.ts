/** How projects are tied to database projects. It stands apart from both, as projects are made of it. */

import type { DatabaseLinks, ProjectCascade } from '../../access/projects/service.ts';
import type { Database } from '../../platform/database/database.ts';
import { readRef } from '../../platform/host/ids.ts';
import { scopeOf } from '../../platform/http/callers.ts';
import { countLinksOfProject, findProject, findShownId, replaceShownLink } from './store.ts';

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

/** The links of a project go with it, by foreign key. */
export const databaseLinksCascade: ProjectCascade = {
  count: (tx, project) => ({ links: countLinksOfProject(tx, project.id) }),
};
