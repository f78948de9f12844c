/** Shapes of database accounts and database projects. */
import { MAX_PROVIDER_SECRET_CHARS } from '../../limits.ts';
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
} from '../../platform/http/schema.ts';
import {
  address,
  accountName as name,
  reference,
  accountSecret as secret,
  word,
} from '../../platform/secrets/account-schemas.ts';

const maybe = nullable(t.String());

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
