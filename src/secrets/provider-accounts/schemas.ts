/** Shapes of AI accounts, database accounts and database projects, and of whom they serve. */
import { MAX_ASSIGNMENTS, MAX_NAME_CHARS, MAX_URL_CHARS } from '../../limits.ts';
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
  text,
  webUrl,
} from '../../platform/http/schema.ts';
import { AI_PROVIDERS } from './tables.ts';

/** Keys of AI and database providers have 40 to 250 characters, tokens that are JWTs up to 2,000. */
const MAX_PROVIDER_SECRET_CHARS = 8_192;

const maybe = nullable(t.String());
const name = text({ min: 1, max: MAX_NAME_CHARS });
const secret = text({ min: 1, max: MAX_PROVIDER_SECRET_CHARS });
const word = () => text({ max: MAX_NAME_CHARS });
const address = () => webUrl(MAX_URL_CHARS);

/** A record is named by its numeric id or its ULID; a project by its slug as well. */
const reference = t.Union([t.Integer({ minimum: 1 }), text({ min: 1, max: MAX_NAME_CHARS })]);
export type Reference = Static<typeof reference>;

export const deletedRecord = named(
  'DeletedRecord',
  t.Object({ deleted: t.Boolean(), cascade: t.Object({ links: t.Integer() }) }),
);
export type DeletedRecord = Static<typeof deletedRecord>;

/* --- AI accounts ---------------------------------------------------------------------------------------------- */

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
/* --- Database accounts ---------------------------------------------------------------------------------------- */

const accountOptions = {
  provider: word(),
  organization_slug: word(),
  expires_at: dateTime(),
};

export const createDatabaseAccountBody = named(
  'NewDatabaseAccount',
  t.Object({ name, access_token: secret, ...optionals(accountOptions) }),
);
export type NewDatabaseAccountInput = Static<typeof createDatabaseAccountBody>;

export const updateDatabaseAccountBody = named(
  'DatabaseAccountChanges',
  changesOf({
    name,
    access_token: secret,
    ...nullables(accountOptions),
  }),
);
export type DatabaseAccountChanges = Static<typeof updateDatabaseAccountBody>;

export const databaseAccount = named(
  'DatabaseAccount',
  t.Object({
    id: t.Integer(),
    public_id: t.String(),
    name: t.String(),
    provider: maybe,
    organization_slug: maybe,
    token_prefix: t.String(),
    expires_at: nullable(dateTime()),
    created_at: dateTime(),
  }),
);
export type DatabaseAccountRecord = Static<typeof databaseAccount>;

export const revealedDatabaseAccount = t.Object({ access_token: t.String() });
export type RevealedDatabaseAccount = Static<typeof revealedDatabaseAccount>;

/* --- Database projects ---------------------------------------------------------------------------------------- */

const poolMode = oneOf(['transaction', 'session']);

const projectOptions = {
  account_id: reference,
  region: word(),
  status: word(),
  api_url: address(),
  publishable_key: text({ max: MAX_PROVIDER_SECRET_CHARS }),
  db_host: word(),
  db_port: t.Integer({ minimum: 1, maximum: 65_535 }),
  db_name: word(),
  db_user: word(),
  pool_mode: poolMode,
  secret_key: secret,
  db_password: secret,
  connection_string: secret,
};

export const createDatabaseProjectBody = named(
  'NewDatabaseProject',
  t.Object({ ref: name, name, ...optionals(projectOptions) }),
);
export type NewDatabaseProjectInput = Static<typeof createDatabaseProjectBody>;

export const updateDatabaseProjectBody = named(
  'DatabaseProjectChanges',
  changesOf({
    ref: name,
    name,
    ...nullables(projectOptions),
  }),
);
export type DatabaseProjectChanges = Static<typeof updateDatabaseProjectBody>;

export const databaseProject = named(
  'DatabaseProject',
  t.Object({
    id: t.Integer(),
    public_id: t.String(),
    ref: t.String(),
    name: t.String(),
    region: maybe,
    status: maybe,
    api_url: maybe,
    publishable_key: maybe,
    db_host: maybe,
    db_port: nullable(t.Integer()),
    db_name: maybe,
    db_user: maybe,
    pool_mode: nullable(poolMode),
    account_id: nullable(t.Integer()),
  }),
);
export type DatabaseProjectRecord = Static<typeof databaseProject>;

export const revealedDatabaseProject = named(
  'RevealedDatabaseProject',
  t.Object({
    secret_key: maybe,
    db_password: maybe,
    connection_string: maybe,
    undecryptable: t.Array(t.String(), { description: 'Stored fields that do not decrypt; null above.' }),
  }),
);
export type RevealedDatabaseProject = Static<typeof revealedDatabaseProject>;
