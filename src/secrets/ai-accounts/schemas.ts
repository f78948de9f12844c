/** Shapes of AI accounts and their assignment to projects. */
import { MAX_ASSIGNMENTS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  t,
} from '../../platform/http/schema.ts';
import {
  address,
  accountName as name,
  reference,
  accountSecret as secret,
  word,
} from '../../platform/secrets/account-schemas.ts';
import { AI_PROVIDERS } from './tables.ts';

const maybe = nullable(t.String());

/** These work without a key of their own: a machine's identity, or none at all. */
export const KEYLESS_AI_PROVIDERS: readonly string[] = ['bedrock', 'vertex-ai', 'ollama', 'custom'];

const aiOptions = {
  base_url: address(),
  organization_id: word(),
};
const all_projects = t.Boolean({ description: 'A standing rule: serves every project, later ones too.' });

export const createAiAccountBody = named(
  'NewAiAccount',
  t.Object({
    name,
    provider: oneOf(AI_PROVIDERS),
    api_key: t.Optional({
      ...secret,
      description: `Required, unless provider is ${KEYLESS_AI_PROVIDERS.join(', ')}.`,
    }),
    is_active: t.Optional(t.Boolean()),
    all_projects: t.Optional(all_projects),
    ...optionals(aiOptions),
  }),
);
export type NewAiAccountInput = Static<typeof createAiAccountBody>;

export const updateAiAccountBody = named(
  'AiAccountChanges',
  changesOf({
    name,
    provider: oneOf(AI_PROVIDERS),
    api_key: nullable(secret),
    is_active: t.Boolean(),
    all_projects,
    ...nullables(aiOptions),
  }),
);
export type AiAccountChanges = Static<typeof updateAiAccountBody>;

export const aiAccount = named(
  'AiAccount',
  t.Object({
    id: t.Integer(),
    public_id: t.String(),
    name: t.String(),
    provider: oneOf(AI_PROVIDERS),
    key_prefix: maybe,
    base_url: maybe,
    organization_id: maybe,
    is_active: t.Boolean(),
    all_projects: t.Boolean(),
    created_at: dateTime(),
  }),
);
export type AiAccountRecord = Static<typeof aiAccount>;

export const revealedAiAccount = t.Object({ api_key: maybe });
export type RevealedAiAccount = Static<typeof revealedAiAccount>;

export const setAccountProjectsBody = t.Object({
  all_existing: t.Optional(t.Boolean({ description: 'The projects there are now, and no later ones.' })),
  project_ids: t.Optional(t.Array(reference, { maxItems: MAX_ASSIGNMENTS })),
});
export type AccountProjectsInput = Static<typeof setAccountProjectsBody>;

export const setProjectAccountsBody = t.Object({
  account_ids: t.Array(reference, { maxItems: MAX_ASSIGNMENTS }),
});

export const assignedProject = named(
  'AssignedProject',
  t.Object({
    id: t.Integer(),
    public_id: t.String(),
    name: t.String(),
    slug: t.String(),
    status: oneOf(['active', 'inactive']),
  }),
);
export type AssignedProject = Static<typeof assignedProject>;
