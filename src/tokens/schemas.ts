/** Shapes of access tokens, for the API and the command line alike. */
import { DEFAULT_TOKEN_DAYS, MAX_NAME_CHARS, MAX_TOKEN_DAYS } from '../limits.ts';
import { GRANTABLE } from '../platform/http/callers.ts';
import { capabilityFields } from '../platform/http/capabilities.ts';
import { named, nullable, oneOf, type Static, t, text } from '../platform/http/schema.ts';
import { abbreviatedProject } from '../projects/service.ts';

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
    ...capabilityFields,
    /** Only where true. */
    can_administer: t.Optional(t.Literal(true)),
    projects: t.Optional(t.Array(abbreviatedProject)),
  }),
);
export type TokenIntrospection = Static<typeof tokenIntrospection>;
