/** Shapes of the vault, for the API. */
import {
  changesOf,
  environmentName,
  named,
  nullable,
  oneOf,
  type Static,
  t,
} from '../../platform/http/schema.ts';
import { VERSION_KINDS } from './tables.ts';

/** Decision: a .env file that is imported, in code points. Half a body has room for its escapes. */
const MAX_ENV_FILE_CHARS = 1_000_000;

/** Decision: what is noted about a value, in code points. */
export const MAX_NOTE_CHARS = 500;

export const registryEntry = named(
  'VaultService',
  t.Object({
    service: t.String(),
    label: t.String(),
    free_form: t.Boolean({
      description:
        'Takes any name `[A-Za-z_][A-Za-z0-9_]{0,127}` instead of fixed fields, at most 200 of them.',
    }),
    fields: t.Array(
      t.Object({
        field: t.String(),
        label: t.String(),
        help_text: t.String(),
        secret: t.Boolean(),
        client_safe: t.Boolean(),
        env_key: t.String(),
        file: t.Boolean(),
      }),
    ),
  }),
);

export const setServiceBody = t.Object({
  // Not a record: those pass over names such as `constructor`, which a variable may well have.
  values: t.Unsafe<unknown>(
    t.Any({
      type: 'object',
      additionalProperties: true,
      description:
        'By field: text, or `{filename, content_base64}` for a file. null removes a field; what is left out stays. ' +
        'Of `env`: by name, strings of at most 65,536 bytes, which may be empty.',
    }),
  ),
  plain: t.Optional(
    t.Array(t.String(), {
      description:
        'Of `env` alone: which of the names in `values` are no secrets; the others are. Without it each keeps its ' +
        'kind, and a new one is secret. A name that is plain already may stand here without a value.',
    }),
  ),
  about: t.Optional(
    t.Unsafe<unknown>(
      t.Any({
        type: 'object',
        additionalProperties: true,
        description:
          'By field that is stored: `{expires_at?, note?}`. `expires_at` is a moment, or a date (its end, UTC), of which doctor and Home ' +
          `remind; another value ends it. \`note\` has at most ${MAX_NOTE_CHARS} characters, for all who read the vault. null takes one away.`,
      }),
    ),
  ),
});

export const importBody = t.Object({
  text: t.String({ minLength: 1, maxLength: MAX_ENV_FILE_CHARS, description: 'The .env file.' }),
  plain: t.Optional(
    t.Array(t.String(), {
      description:
        'Which of its names are no secrets. Without it each that is stored keeps its kind, and a new one is a secret unless it ' +
        'begins with NEXT_PUBLIC_, VITE_ or EXPO_PUBLIC_.',
    }),
  ),
  dry_run: t.Optional(t.Boolean({ description: 'Store nothing, and only tell what would be.' })),
});

const importedName = t.Object({
  name: t.String(),
  replaces: t.Boolean({ description: 'Whether `env` holds this name already.' }),
  hides: nullable(
    t.String({
      description: 'The field of another service, as `stripe.secret_key`, whose variable this one wins over.',
    }),
  ),
  plain: t.Boolean({ description: 'Whether it is no secret once it is stored.' }),
});
export type ImportedName = Static<typeof importedName>;

export const envImport = named('EnvImport', t.Object({ stored: t.Boolean(), names: t.Array(importedName) }));
export type EnvImport = Static<typeof envImport>;

export const serviceMetadata = named(
  'VaultMetadata',
  t.Object({
    environment: t.String(),
    service: t.String(),
    label: t.String(),
    values: t.Record(t.String(), nullable(t.String()), {
      description: 'What is stored in fields that are no secrets; null where it does not decrypt.',
    }),
    present: t.Record(t.String(), t.Boolean(), {
      description: 'Every field, and whether it is stored; of `env` the names that are.',
    }),
    inherited: t.Array(t.String(), { description: "Fields that are production's." }),
    about: t.Record(
      t.String(),
      t.Object({ expires_at: nullable(t.String({ format: 'date-time' })), note: nullable(t.String()) }),
      { description: 'When the value of a field ends, and what is noted about it, where either is known.' },
    ),
    updated_at: nullable(t.String({ format: 'date-time' })),
  }),
);
export type ServiceMetadata = Static<typeof serviceMetadata>;

const vaultSummary = t.Object({
  present: t.Record(t.String(), t.Boolean(), {
    description: 'Every service, and whether anything of it is stored.',
  }),
  credentials_count: t.Integer(),
  files_count: t.Integer(),
  updated_at: nullable(t.String({ format: 'date-time' })),
});
export type VaultSummary = Static<typeof vaultSummary>;

export const vaultProject = named(
  'VaultProject',
  t.Object({
    id: t.Integer(),
    public_id: t.String(),
    name: t.String(),
    slug: t.String(),
    status: oneOf(['active', 'inactive']),
    ...vaultSummary.properties,
  }),
);

const revealedFile = named('RevealedFile', t.Object({ filename: t.String(), content_base64: t.String() }));
const revealedValue = t.Union([t.String(), revealedFile]);
export type RevealedValue = Static<typeof revealedValue>;

const fieldNames = (description = '') =>
  t.Array(t.Object({ service: t.String(), field: t.String() }), description ? { description } : {});

export const revealedVault = named(
  'RevealedVault',
  t.Object({
    services: t.Record(t.String(), t.Record(t.String(), revealedValue)),
    env: t.Object(
      {
        server: t.Optional(t.String()),
        nextjs: t.Optional(t.String()),
        vite: t.Optional(t.String()),
        expo: t.Optional(t.String()),
      },
      {
        description:
          'The text of .env files, quoted for dotenv, @next/env, vite and @expo/env: each value comes out of its loader ' +
          'as it is stored. Plain names of `env` are in a client block where they begin with its prefix.',
      },
    ),
    inherited: fieldNames("Fields that are production's."),
    undecryptable: fieldNames(),
    shadowed: t.Array(t.Object({ service: t.String(), field: t.String(), name: t.String() }), {
      description:
        'Fields that do not stand in a block, as the service `env` has a variable of the same name.',
    }),
    unquotable: t.Array(t.Object({ target: t.String(), name: t.String() }), {
      description: "Variables that the target's loader can't carry; a comment stands in their place.",
    }),
  }),
);
export type RevealedVault = Static<typeof revealedVault>;

export const removedService = named(
  'RemovedVaultService',
  t.Object({
    deleted: t.Boolean(),
    cascade: t.Object({ vault_credentials: t.Integer(), vault_files: t.Integer() }),
  }),
);
export type RemovedService = Static<typeof removedService>;

export const newEnvironment = named(
  'NewVaultEnvironment',
  t.Object({ name: environmentName(), inherits: t.Optional(t.Boolean()) }),
);
export const changedEnvironment = changesOf({ inherits: t.Boolean() });

export const environmentRecord = named(
  'VaultEnvironment',
  t.Object({
    name: t.String(),
    inherits: t.Boolean({ description: "Whether what it lacks is production's, field by field." }),
    updated_at: nullable(
      t.String({ format: 'date-time', description: 'When its values last changed; null: never.' }),
    ),
  }),
);
export type EnvironmentRecord = Static<typeof environmentRecord>;

export const vaultDiff = named(
  'VaultDiff',
  t.Object({
    only_in_from: fieldNames(),
    only_in_to: fieldNames(),
    differ: fieldNames(),
  }),
);
export type VaultDiff = Static<typeof vaultDiff>;

export const vaultVersion = named(
  'VaultVersion',
  t.Object({
    version: t.String(),
    service: t.String(),
    field: t.String(),
    kind: oneOf(VERSION_KINDS),
    is_current: t.Boolean({ description: 'Whether it is the newest of its field.' }),
    filename: nullable(t.String()),
    changed_at: t.String({ format: 'date-time' }),
    by: t.Object({
      kind: oneOf(['token', 'person', 'shell', 'system']),
      id: nullable(t.String()),
      name: t.String(),
    }),
  }),
);
export type VaultVersion = Static<typeof vaultVersion>;

export const revealedVersion = named(
  'RevealedVaultVersion',
  t.Object({ version: t.String(), field: t.String(), value: revealedValue }),
);
export type RevealedVersion = Static<typeof revealedVersion>;

export const purgedVersions = named('PurgedVaultVersions', t.Object({ deleted: t.Integer() }));
