/** Shapes of trusts, and of what is exchanged by them. */
import { MAX_ASSIGNMENTS, MAX_NAME_CHARS } from '../../limits.ts';
import { capabilityFields } from '../../platform/http/capabilities.ts';
import {
  named,
  nullable,
  oneOf,
  optionals,
  type Static,
  t,
  text,
  webUrl,
} from '../../platform/http/schema.ts';
import { abbreviatedProject } from '../projects/service.ts';
import { environments } from './schemas.ts';

const MAX_PATTERN_CHARS = 500;
const MAX_URL_CHARS = 500;
const MAX_CLAIMS = 10;
const MAX_CLAIM_NAME_CHARS = 100;
const MAX_MINUTES = 60;
export const DEFAULT_MINUTES = 15;

const name = text({ min: 1, max: MAX_NAME_CHARS });
const pattern = (description: string) => text({ min: 1, max: MAX_PATTERN_CHARS, description });
const claims = t.Record(t.String({ minLength: 1, maxLength: MAX_CLAIM_NAME_CHARS }), pattern('A pattern.'), {
  maxProperties: MAX_CLAIMS,
  description:
    'Patterns of other claims, by their names: all must fit. Numbers, true and false count as text.',
});

export const newTrust = named(
  'NewTokenTrust',
  t.Object({
    name,
    issuer: webUrl(MAX_URL_CHARS),
    subject: pattern(
      'A pattern of `sub`: it fits the whole, with case; `*` stands for one or more characters but `:` and `/`, and not in the first two segments.',
    ),
    audience: t.Optional(
      text({
        min: 1,
        max: MAX_URL_CHARS,
        description: 'What `aud` has to name; PUBLIC_URL where it is left out.',
      }),
    ),
    claims: t.Optional(claims),
    projects: t.Array(t.String(), { minItems: 1, maxItems: MAX_ASSIGNMENTS }),
    ...optionals(capabilityFields),
    can_administer: t.Optional(t.Boolean({ description: 'Never given by a trust.' })),
    read_only: t.Optional(t.Boolean({ description: 'True unless said: its tokens change nothing.' })),
    environments: t.Optional(environments()),
    minutes: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: MAX_MINUTES,
        description: `How long its tokens are good; ${DEFAULT_MINUTES} unless said.`,
      }),
    ),
  }),
);
export type NewTrust = Static<typeof newTrust>;

const moment = t.String({ format: 'date-time' });

export const trustRecord = named(
  'TokenTrust',
  t.Object({
    id: t.Integer(),
    name: t.String(),
    issuer: t.String(),
    subject: t.String(),
    audience: t.String(),
    claims: t.Record(t.String(), t.String()),
    projects: t.Array(abbreviatedProject),
    ...capabilityFields,
    read_only: t.Boolean(),
    environments: t.Optional(t.Array(t.String())),
    minutes: t.Integer(),
    last_used_at: nullable(moment),
    /** `subject` only where the signature was right. */
    last_refused: nullable(t.Object({ at: moment, reason: t.String(), subject: nullable(t.String()) })),
    created_by: t.Object({
      kind: oneOf(['token', 'person', 'shell', 'system']),
      id: nullable(t.String()),
      name: t.String(),
    }),
    created_at: moment,
  }),
);
export type TrustRecord = Static<typeof trustRecord>;

export const tokenExchange = named(
  'TokenExchange',
  t.Object({
    token: t.String({ minLength: 1, description: 'An OIDC token (JWT), of 16 KiB at most.' }),
    trust: t.Optional(
      t.String({ description: 'The name of a trust; the oldest that fits where it is left out.' }),
    ),
  }),
);
export type TokenExchangeInput = Static<typeof tokenExchange>;

export const exchangedToken = named(
  'ExchangedToken',
  t.Object({ access_token: t.String(), expires_at: moment }),
);
