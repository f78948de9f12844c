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
        .map(({ is_active, ...row }) => ({ ...row, is_active: is_active === 1 })),
      objects: store
        .searchObjects(read, scope, q, this.deps.clock.now())
        .map(({ created_at, ...row }) => ({ ...row, created_at: toIso(created_at) })),
      emails: store
        .searchEmails(read, scope, q)
        .map(({ created_at, ...row }) => ({ ...row, created_at: toIso(created_at) })),
      contacts: store.searchContacts(read, scope, q).map(withList),
      ...this.#named(scope, store.anywhere(q)),
      ...(caller.capabilities.has(ADMINISTER) ? this.#namedOfSatchel(store.anywhere(q)) : {}),
    };
  }

  #named(scope: string | null, pattern: string) {
    const { read } = this.deps.database;
    const { lists, segments, templates, sequences, broadcasts, schedules, webhooks } = store.named;
    return {
      lists: lists(read, scope, pattern).map(({ archived, ...row }) => ({
        ...row,
        archived: archived === 1,
      })),
      segments: segments(read, scope, pattern).map(withList),
      templates: templates(read, scope, pattern),
      sequences: sequences(read, scope, pattern),
      broadcasts: broadcasts(read, scope, pattern),
      schedules: schedules(read, scope, pattern).map(({ is_active, ...row }) => ({
        ...row,
        is_active: is_active === 1,
      })),
      webhooks: webhooks(read, scope, pattern),
    };
  }

  #namedOfSatchel(pattern: string) {
    const { read } = this.deps.database;
    const { sending_domains, mailboxes, people, tokens } = store.namedOfSatchel;
    return {
      sending_domains: sending_domains(read, pattern),
      mailboxes: mailboxes(read, pattern),
      people: people(read, pattern),
      tokens: tokens(read, pattern),
    };
  }
}

function withList<Row extends store.Listed>({ list_id, list_name, ...row }: Row) {
  return { ...row, list: { id: list_id, name: list_name } };
}
