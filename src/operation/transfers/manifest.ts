/** What a project's file says first: the project itself, what its rows are numbered by, and what they refer to of what stays. */
import { nullable, type Static, t } from '../../platform/http/schema.ts';
import { NUMBERED, type Numbered } from './inventory.ts';

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
  ai_accounts: t.Array(t.Object({ public_id: t.String(), name: t.String() })),
  database_projects: t.Array(
    t.Object({ public_id: t.String(), name: t.String(), is_shown: t.Integer({ minimum: 0, maximum: 1 }) }),
  ),
});
export type Manifest = Static<typeof manifest>;

/** The numbers that the rows of a table have, as far as it has any. */
export function rangesOf({ ranges }: Manifest): { table: Numbered; from: number; to: number }[] {
  return NUMBERED.flatMap((table) => {
    const found = ranges[table];
    return found ? [{ table, ...found }] : [];
  });
}
