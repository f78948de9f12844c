/** Shapes of access tokens, for the API and the command line alike. */
import { DEFAULT_TOKEN_DAYS, MAX_NAME_CHARS, MAX_TOKEN_DAYS } from '../limits.ts';
import { GRANTABLE } from '../platform/http/callers.ts';
import { named, nullable, oneOf, type Static, t, text } from '../platform/http/schema.ts';

export const newToken = t.Object({
  name: text({ min: 1, max: MAX_NAME_CHARS }),
  all_projects: t.Boolean(),
  /** Numeric ids, ULIDs or slugs. */
  projects: t.Array(t.String()),
  capabilities: t.Array(oneOf(GRANTABLE)),
  expires_in_days: t.Optional(
    t.Integer({ minimum: 1, maximum: MAX_TOKEN_DAYS, default: DEFAULT_TOKEN_DAYS }),
  ),
});
export type NewTokenInput = Static<typeof newToken>;

const moment = nullable(t.String({ format: 'date-time' }));

/** What a token may know of itself. */
export const tokenIntrospection = named(
  'TokenIntrospection',
  t.Object({
    name: t.String(),
    token_prefix: t.String(),
    all_projects: t.Boolean(),
    expires_at: moment,
    last_used_at: moment,
    can_manage_database: t.Boolean(),
    can_read_vault: t.Boolean(),
    can_reveal_vault: t.Boolean(),
    can_write_vault: t.Boolean(),
    can_read_database_tokens: t.Boolean(),
    can_read_ai_accounts: t.Boolean(),
    /** Only where true. */
    can_administer: t.Optional(t.Literal(true)),
    projects: t.Optional(
      t.Array(t.Object({ id: t.Integer(), public_id: t.String(), name: t.String(), slug: t.String() })),
    ),
  }),
);
export type TokenIntrospection = Static<typeof tokenIntrospection>;
