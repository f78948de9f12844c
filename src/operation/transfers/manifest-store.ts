/** SQL of a project's file's beginning: the project, its rows' numbers, what they refer to outside. */
import type { Database as Sqlite } from 'bun:sqlite';
import { nullable, type Static, t } from '../../platform/http/schema.ts';
import { NUMBERED, type Numbered } from './inventory-tables.ts';
import type { Ranges } from './rows-store.ts';

const value = nullable(t.Union([t.String(), t.Number()]));
const record = t.Record(t.String(), value);
const range = t.Object({ from: t.Integer(), to: t.Integer() });

export const manifest = t.Object({
  /** Its row. */
  project: record,
  /** Before it was set inactive to be exported. */
  was_active: t.Boolean(),
  data_keys: t.Array(
    t.Object({ id: t.Integer(), scope: t.String(), wrapped: t.String(), created_at: t.Integer() }),
  ),
  ranges: t.Record(t.String(), range),
  /** Numbers and addresses. */
  mailboxes: t.Array(t.Object({ id: t.Integer(), address: t.String(), is_used: t.Boolean() })),
  people: t.Array(t.Object({ id: t.Integer(), email: t.String(), is_granted: t.Boolean() })),
  domains: t.Array(t.String()),
  /** Rows of tokens, without their scopes. */
  tokens: t.Array(record),
  ai_accounts: t.Array(t.Object({ name: t.String() })),
  database_projects: t.Array(t.Object({ name: t.String() })),
});
export type Manifest = Static<typeof manifest>;

/** The numbers that the rows of a table have, as far as it has any. */
export function rangesOf({ ranges }: Manifest): { table: Numbered; from: number; to: number }[] {
  return NUMBERED.flatMap((table) => {
    const found = ranges[table];
    return found ? [{ table, ...found }] : [];
  });
}

/** Reads what the file says first, but for the data keys. */
export function readManifest(
  sqlite: Sqlite,
  project_id: number,
  selects: Ranges,
): Omit<Manifest, 'data_keys'> {
  const all = <T extends object>(sql: string): T[] => sqlite.query<T, [number]>(sql).all(project_id);
  const [project = {}] = all<Manifest['project']>('SELECT * FROM projects WHERE id = ?1');
  const ranges: Manifest['ranges'] = {};
  for (const { table, select } of selects) {
    const [range] = all<{ from: number | null; to: number | null }>(select);
    if (range?.from && range.to) ranges[table] = { from: range.from, to: range.to };
  }
  return {
    project,
    was_active: project.status === 'active' || project.is_moved === 1,
    ranges,
    mailboxes: all<{ id: number; address: string; is_used: number }>(
      `SELECT id, address, EXISTS (SELECT 1 FROM marketing_settings s, json_each(s.accounts) a
         WHERE s.project_id = ?1 AND a.value = address)
         OR address IN (SELECT from_address FROM contact_lists WHERE project_id = ?1)
         OR id IN (SELECT mailbox_id FROM emails WHERE project_id = ?1) AS is_used
       FROM mailboxes ORDER BY address`,
    )
      .filter(({ is_used }) => is_used === 1)
      .map((one) => ({ ...one, is_used: true })),
    people: all<{ id: number; email: string; is_granted: number }>(
      `SELECT id, email, EXISTS (SELECT 1 FROM person_projects g WHERE g.person_id = people.id AND g.project_id = ?1) AS is_granted
       FROM people WHERE is_granted OR CAST(id AS TEXT) IN (
         SELECT actor_id FROM audit_events WHERE project_id = ?1 AND actor_kind = 'person'
         UNION SELECT actor_id FROM vault_reveals WHERE project_id = ?1 AND actor_kind = 'person')
       ORDER BY email`,
    ).map((one) => ({ ...one, is_granted: one.is_granted === 1 })),
    domains: all<{ name: string }>(
      `SELECT domain AS name FROM email_schedules WHERE project_id = ?1 AND domain IS NOT NULL
       UNION SELECT requested_domain FROM emails WHERE project_id = ?1 AND requested_domain IS NOT NULL
       UNION SELECT domain FROM emails WHERE project_id = ?1
       UNION SELECT sending_domain FROM projects WHERE id = ?1 AND sending_domain IS NOT NULL
       UNION SELECT value FROM projects, json_each(sending_domains) WHERE projects.id = ?1`,
    ).map(({ name }) => name),
    tokens: all<Manifest['tokens'][number]>(
      `SELECT t.* FROM access_token_projects s JOIN access_tokens t ON t.id = s.token_id
       WHERE s.project_id = ?1 AND t.all_projects = 0 AND t.trust_id IS NULL ORDER BY t.id`,
    ),
    ai_accounts: all(
      `SELECT a.name FROM ai_account_projects p JOIN ai_accounts a ON a.id = p.ai_account_id
       WHERE p.project_id = ?1 AND a.all_projects = 0 ORDER BY a.id`,
    ),
    database_projects: all(
      `SELECT d.name FROM database_project_links l
       JOIN database_projects d ON d.id = l.database_project_id WHERE l.project_id = ?1 ORDER BY d.id`,
    ),
  };
}
