/** The vault's endpoints on the management plane: registry, metadata, changes, reveals, files. */
import { createHash } from 'node:crypto';
import { create as contentDisposition } from 'content-disposition';
import type { Projects } from '../../access/projects/service.ts';
import { actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { oneOf, t } from '../../platform/http/schema.ts';
import {
  environmentRoutes,
  type FindService,
  type FindVault,
  findersOf,
  inEnvironment,
} from './environment-routes.ts';
import { knowsEnvironment } from './environments.ts';
import { requireVaultField, requireVaultFile, VAULT_SERVICES } from './registry.ts';
import {
  envImport,
  importBody,
  registryEntry,
  removedService,
  revealedVault,
  serviceMetadata,
  setServiceBody,
  vaultProject,
} from './schemas.ts';
import { serviceShownTo, type Vault } from './service.ts';
import { PRODUCTION } from './stored-fields.ts';
import { versionRoutes } from './version-routes.ts';
import type { VaultVersions } from './versions.ts';

const query = t.Object(inEnvironment);

export function vaultRoutes(vault: Vault, versions: VaultVersions, projects: Projects): Route[] {
  const { find, findService } = findersOf(vault, projects);
  return [
    ...registryRoutes(vault, projects),
    ...environmentRoutes(vault, projects),
    ...serviceRoutes(vault, find, findService),
    ...revealRoutes(vault, find, findService),
    ...versionRoutes(versions, findService),
  ];
}

/** Who does not know production has no vault there. */
function inProduction(caller: ManagementCaller): ManagementCaller {
  return knowsEnvironment(caller, PRODUCTION) ? caller : { ...caller, all_projects: false, project_ids: [] };
}

function registryRoutes(vault: Vault, projects: Projects): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/vault/services',
      tag: 'Vault',
      summary: 'The services a vault knows, with their fields',
      description: 'A plain array.',
      response: t.Array(registryEntry),
      handle: () => VAULT_SERVICES,
    }),
    managementRoute({
      method: 'GET',
      path: '/vault/projects',
      needs: ['can_read_vault'],
      tag: 'Vault',
      summary: 'Every visible project, and what its vault holds in production',
      query: t.Object({
        q: t.Optional(t.String({ description: 'Substring of name or slug.' })),
        status: t.Optional(oneOf(['active', 'inactive'])),
        ...pageQuery,
      }),
      response: t.Array(vaultProject),
      handle: ({ caller, query }) =>
        projects.list(inProduction(caller), query).map((each) => ({
          id: each.id,
          public_id: each.public_id,
          name: each.name,
          slug: each.slug,
          status: each.status,
          ...vault.summarize(each),
        })),
    }),
  ];
}

function serviceRoutes(vault: Vault, find: FindVault, findService: FindService): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/projects/:project/vault',
      needs: ['can_read_vault'],
      tag: 'Vault',
      summary: 'What a vault holds: plain values, and presence flags for the rest',
      description: 'A plain array with one entry a service.',
      response: t.Array(serviceMetadata),
      query,
      load: find,
      handle: ({ resource }) => vault.describe(resource),
    }),
    managementRoute({
      method: 'GET',
      path: '/projects/:project/vault/:service',
      needs: ['can_read_vault'],
      tag: 'Vault',
      summary: 'What a vault holds of one service',
      response: serviceMetadata,
      query,
      load: findService,
      handle: ({ resource }) => vault.describeService(resource.at, resource.service),
    }),
    managementRoute({
      method: 'PUT',
      path: '/projects/:project/vault/:service',
      needs: ['can_write_vault'],
      tag: 'Vault',
      summary: 'Store fields of a service',
      description:
        'Changes only the fields sent; null removes one. Answers the metadata, and `present` alone without can_read_vault. The service `env` takes any name; a ' +
        'name that another service uses as well wins in the env blocks.',
      body: setServiceBody,
      example: { values: { secret_key: 'sk_test_51Example' } },
      response: serviceMetadata,
      query,
      load: findService,
      errorsIn: ({ body, resource }) =>
        'values' in body ? vault.errorsIn(resource.at, resource.service, body) : {},
      async handle({ ctx, caller, body, resource: { at, service } }) {
        const { values, ...options } = body;
        const stored = await vault.set(actorOf(caller, ctx.ip), at, service, values, options);
        return serviceShownTo(caller, stored);
      },
    }),
    managementRoute({
      method: 'POST',
      path: '/projects/:project/vault/env/import',
      needs: ['can_write_vault'],
      tag: 'Vault',
      summary: 'Store the variables of a .env file',
      description:
        "In the service `env`, as npm's dotenv reads them; of a name that stands twice the last value counts. A line that dotenv would " +
        'skip, or whose value it would cut at a `#`, is refused by its number, and nothing is stored. `dry_run` tells what would be replaced.',
      body: importBody,
      example: { text: 'SESSION_KEY="k-1"\nLOG_LEVEL=info\n', dry_run: true },
      response: envImport,
      query,
      load: find,
      handle: ({ ctx, caller, body: { text, plain, dry_run = false }, resource }) =>
        vault.importEnv(actorOf(caller, ctx.ip), resource, { text, field: 'text', plain, is_dry: dry_run }),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/projects/:project/vault/:service',
      needs: ['can_write_vault'],
      tag: 'Vault',
      summary: 'Remove everything stored of a service',
      response: removedService,
      query,
      load: findService,
      handle: ({ ctx, caller, resource }) =>
        vault.remove(actorOf(caller, ctx.ip), resource.at, resource.service),
    }),
  ];
}

function revealRoutes(vault: Vault, find: FindVault, findService: FindService): Route[] {
  return [
    managementRoute({
      method: 'POST',
      path: '/projects/:project/vault/reveal',
      only_reads: true,
      needs: ['can_reveal_vault'],
      tag: 'Vault',
      summary: 'Every credential of a project, with env blocks',
      description: 'Recorded before it answers. What does not decrypt is listed in `undecryptable`.',
      response: revealedVault,
      query,
      load: find,
      handle: ({ ctx, caller, resource }) =>
        vault.reveal(actorOf(caller, ctx.ip), resource, { how: 'reveal' }),
    }),
    managementRoute({
      method: 'POST',
      path: '/projects/:project/vault/:service/reveal',
      only_reads: true,
      needs: ['can_reveal_vault'],
      tag: 'Vault',
      summary: 'Every credential of one service, or one of them, with env blocks',
      description: 'Recorded before it answers.',
      query: t.Object({
        ...inEnvironment,
        field: t.Optional(t.String({ description: 'This field alone; the record of the reveal names it.' })),
      }),
      response: revealedVault,
      load: findService,
      handle: ({ ctx, caller, query, resource }) =>
        vault.reveal(actorOf(caller, ctx.ip), resource.at, {
          how: 'reveal',
          service: resource.service,
          ...(query.field === undefined ? {} : { field: requireVaultField(resource.service, query.field) }),
        }),
    }),
    managementRoute({
      method: 'GET',
      path: '/projects/:project/vault-files/:file',
      needs: ['can_reveal_vault'],
      tag: 'Vault',
      headers: {
        'Content-Disposition': 'The name under which it was stored.',
        'X-Checksum-Sha256': 'The SHA-256 of the bytes, in hex.',
      },
      summary: 'A stored configuration file, as it is',
      description: '`{file}` is `<service>.<field>`. Recorded before it answers.',
      query,
      load(input) {
        const owner = find(input);
        const file = requireVaultFile(input.ctx.params.file ?? '');
        vault.requireStoredFile(owner, file);
        return { owner, file };
      },
      async handle({ ctx, caller, resource }) {
        const { owner, file } = resource;
        const { filename, bytes } = await vault.revealFile(actorOf(caller, ctx.ip), owner, file);
        return new Response(bytes, {
          headers: {
            'Content-Type': 'application/octet-stream',
            'Content-Disposition': contentDisposition(filename),
            'Content-Length': String(bytes.length),
            'X-Checksum-Sha256': createHash('sha256').update(bytes).digest('hex'),
            'Cache-Control': 'private, no-store',
          },
        });
      },
    }),
  ];
}
