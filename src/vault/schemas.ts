/** Shapes of the vault, for the API. */
import { named, nullable, oneOf, type Static, t } from '../platform/http/schema.ts';

export const registryEntry = named(
  'VaultService',
  t.Object({
    service: t.String(),
    label: t.String(),
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
  values: t.Record(t.String(), t.Unknown(), {
    description:
      'By field: text, or `{filename, content_base64}` for a file. null removes a field; what is left out stays.',
  }),
});

export const serviceMetadata = named(
  'VaultMetadata',
  t.Object({
    service: t.String(),
    label: t.String(),
    values: t.Record(t.String(), nullable(t.String()), {
      description: 'What is stored in fields that are no secrets; null where it does not decrypt.',
    }),
    present: t.Record(t.String(), t.Boolean(), { description: 'Every field, and whether it is stored.' }),
    updated_at: nullable(t.String({ format: 'date-time' })),
  }),
);
export type ServiceMetadata = Static<typeof serviceMetadata>;

export const vaultSummary = t.Object({
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

export const revealedVault = named(
  'RevealedVault',
  t.Object({
    services: t.Record(t.String(), t.Record(t.String(), t.Union([t.String(), revealedFile]))),
    env: t.Object({
      server: t.Optional(t.String()),
      nextjs: t.Optional(t.String()),
      vite: t.Optional(t.String()),
      expo: t.Optional(t.String()),
    }),
    undecryptable: t.Array(t.Object({ service: t.String(), field: t.String() })),
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
