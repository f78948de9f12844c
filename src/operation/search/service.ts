/** Searching everything that a caller may see. */
import type { Database } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { ADMINISTER, type ManagementCaller, scopeOf } from '../../platform/http/callers.ts';
import type { SearchResult } from './schemas.ts';
import * as store from './store.ts';

export class Search {
  constructor(private readonly deps: { database: Database; clock: Clock }) {}

  /** Up to ten of each kind, within the caller's projects; milliseconds for a million rows of each. */
  find(caller: ManagementCaller, q: string): SearchResult {
    const { read } = this.deps.database;
    const ids = scopeOf(caller);
    const scope = ids === null ? null : JSON.stringify(ids);
    return {
      projects: store.searchProjects(read, scope, q),
      api_keys: store
        .searchKeys(read, scope, q)
        .map((row) => withProject(row, { is_active: row.is_active === 1 })),
      objects: store
        .searchObjects(read, scope, q, this.deps.clock.now())
        .map((row) => withProject(row, { created_at: toIso(row.created_at) })),
      emails: store
        .searchEmails(read, scope, q)
        .map((row) => withProject(row, { created_at: toIso(row.created_at) })),
      contacts: store
        .searchContacts(read, scope, q)
        .map(({ list_id, list_name, ...row }) =>
          withProject(row, { list: { id: list_id, name: list_name } }),
        ),
      ...this.#named(scope, q),
      ...(caller.capabilities.has(ADMINISTER) ? this.#namedOfSatchel(q) : {}),
    };
  }

  #named(scope: string | null, q: string) {
    const { read } = this.deps.database;
    const pattern = store.anywhere(q);
    const { lists, segments, templates, sequences, broadcasts, schedules, webhooks } = store.named;
    return {
      lists: lists(read, scope, pattern).map((row) => withProject(row, { archived: row.archived === 1 })),
      segments: segments(read, scope, pattern).map(({ list_id, list_name, ...row }) =>
        withProject(row, { list: { id: list_id, name: list_name } }),
      ),
      templates: templates(read, scope, pattern).map((row) => withProject(row, {})),
      sequences: sequences(read, scope, pattern).map((row) => withProject(row, {})),
      broadcasts: broadcasts(read, scope, pattern).map((row) => withProject(row, {})),
      schedules: schedules(read, scope, pattern).map((row) =>
        withProject(row, { is_active: row.is_active === 1 }),
      ),
      webhooks: webhooks(read, scope, pattern).map((row) => withProject(row, {})),
    };
  }

  #namedOfSatchel(q: string) {
    const { read } = this.deps.database;
    const pattern = store.anywhere(q);
    const { sending_domains, mailboxes, people, tokens } = store.namedOfSatchel;
    return {
      sending_domains: sending_domains(read, pattern),
      mailboxes: mailboxes(read, pattern),
      people: people(read, pattern),
      tokens: tokens(read, pattern),
    };
  }
}

type InProject = { project_public_id: string; project_name: string; project_slug: string };

/** The row with its project as an object, and with what is shown otherwise than it is stored. */
function withProject<Row extends InProject, Shown extends object>(row: Row, shown: Shown) {
  const { project_public_id, project_name, project_slug, ...fields } = row;
  const project = { public_id: project_public_id, name: project_name, slug: project_slug };
  return { ...fields, ...shown, project };
}
