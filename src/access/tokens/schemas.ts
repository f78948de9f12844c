/** Shapes of access tokens, for the API and the command line alike. */
import { MAX_GIVEN_TOKEN_DAYS, MAX_NAME_CHARS, MAX_TOKEN_DAYS } from '../../limits.ts';
import { GRANTABLE } from '../../platform/http/callers.ts';
import { capabilityFields, powerFields } from '../../platform/http/capabilities.ts';
import {
  dateTime,
  environmentName,
  named,
  nullable,
  oneOf,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';
import { abbreviatedProject } from '../projects/service.ts';

/** Decision: more than a vault has. */
const MAX_TOKEN_ENVIRONMENTS = 20;

/** At most one of the two; without either it is the default number of days. */
const expiryWithin = (max_days: number) => ({
  expires_at: t.Optional(dateTime()),
  expires_in_days: t.Optional(t.Integer({ minimum: 1, maximum: max_days })),
});

export const environments = () =>
  t.Array(environmentName(), {
    minItems: 1,
    maxItems: MAX_TOKEN_ENVIRONMENTS,
    description:
      'The environments of vaults that it knows, by name, in whichever of its projects has them; of others it learns nothing, and it ' +
      'changes none of them. All, where they are left out; not with can_administer.',
  });

/** What the command line gives. */
export const newToken = t.Object({
  name: text({ min: 1, max: MAX_NAME_CHARS }),
  all_projects: t.Boolean(),
  /** Numeric ids, ULIDs or slugs. */
  projects: t.Array(t.String()),
  capabilities: t.Array(oneOf(GRANTABLE)),
  read_only: t.Optional(t.Boolean()),
  environments: t.Optional(environments()),
  ...expiryWithin(MAX_TOKEN_DAYS),
});
export type NewTokenInput = Static<typeof newToken>;

export const newTokenBody = named(
  'NewToken',
  t.Object({
    name: text({ min: 1, max: MAX_NAME_CHARS }),
    ...optionals(powerFields),
    environments: t.Optional(environments()),
    ...expiryWithin(MAX_GIVEN_TOKEN_DAYS),
  }),
);

const moment = nullable(t.String({ format: 'date-time' }));

const introspection = {
  name: t.String(),
  token_prefix: nullable(t.String()),
  all_projects: t.Boolean(),
  expires_at: moment,
  last_used_at: moment,
  ...capabilityFields,
  /** There only where it is true. */
  can_administer: t.Optional(t.Literal(true)),
  /** There only where it is true: of itself, or as the person is whose token it is. */
  read_only: t.Optional(t.Literal(true)),
  /** There only where it knows some environments of vaults alone. */
  environments: t.Optional(t.Array(t.String())),
  projects: t.Optional(t.Array(abbreviatedProject)),
};

/** A caller as it may know itself; a person has neither prefix nor expiry. */
export const tokenIntrospection = named('TokenIntrospection', t.Object(introspection));
export type TokenIntrospection = Static<typeof tokenIntrospection>;

const record = {
  id: t.Integer(),
  ...introspection,
  token_prefix: t.String(),
  last_used_ip: nullable(t.String()),
  revoked_at: moment,
  /** Who made it, as they were called then; null where that is not known. */
  created_by: nullable(
    t.Object({
      kind: oneOf(['token', 'person', 'shell', 'system', 'trust']),
      id: nullable(t.String()),
      name: t.String(),
    }),
  ),
  created_at: t.String({ format: 'date-time' }),
};

/** What an admin sees of a token. */
export const tokenRecord = named('Token', t.Object(record));
export type TokenRecord = Static<typeof tokenRecord>;

/** With the secret, which is shown this once. */
export const tokenWithSecret = named('TokenWithSecret', t.Object({ ...record, token: t.String() }));
