/** The environments of a vault on the management plane, how an endpoint finds the one that is meant, and how two differ. */
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import { actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { refuseBound } from './environments.ts';
import { requireVaultService, type VaultService } from './registry.ts';
import {
  changedEnvironment,
  environmentRecord,
  newEnvironment,
  removedService,
  vaultDiff,
} from './schemas.ts';
import type { Vault } from './service.ts';
import { PRODUCTION } from './stored-fields.ts';

interface Input {
  ctx: RequestContext;
  caller: ManagementCaller;
}

/** The query of every endpoint of one environment. */
export const inEnvironment = {
  environment: t.Optional(t.String({ description: '`production` unless it is named.' })),
};

/** Whose vault a request is about, in which environment. Throws AppError `not_found`. */
export type At = ProjectRow & { environment: string };
export type FindVault = (input: Input) => At;
/** As `FindVault`, with the service that the path names. */
export type FindService = (input: Input) => { at: At; service: VaultService };

export function findersOf(vault: Vault, projects: Projects): { find: FindVault; findService: FindService } {
  const find: FindVault = ({ ctx, caller }) => {
    const project = projects.requireFor(caller, ctx.params.project ?? '');
    // As `readParameters` has it, the last one counts.
    return vault.environments.at(project, ctx.url.searchParams.getAll('environment').at(-1), caller);
  };
  const findService: FindService = (input) => ({
    at: find(input),
    service: requireVaultService(input.ctx.params.service ?? ''),
  });
  return { find, findService };
}

export function environmentRoutes(vault: Vault, projects: Projects): Route[] {
  const { environments } = vault;
  const projectOf = ({ ctx, caller }: Input): ProjectRow =>
    projects.requireFor(caller, ctx.params.project ?? '');
  const authorize = ({ caller }: Input): void => refuseBound(caller);
  return [
    ...recordRoutes(managementRoute, {
      path: '/projects/:project/environments/:environment',
      tag: 'Vault',
      needs: ['can_write_vault'],
      shown: environmentRecord,
      load: (input) => environments.at(projectOf(input), input.ctx.params.environment, input.caller),
      list: {
        needs: ['can_read_vault'],
        summary: 'The environments of a vault',
        description: 'A plain array, production first.',
        load: projectOf,
        handle: ({ caller, resource }) => environments.list(resource, caller),
      },
      read: {
        needs: ['can_read_vault'],
        summary: 'One environment of a vault',
        handle: ({ caller, resource }) =>
          environments.list(resource, caller).find(({ name }) => name === resource.environment),
      },
      create: {
        summary: 'Add an environment to a vault',
        description:
          'At most ten beside `production`. It begins empty, and inherits nothing unless `inherits` says so: then what it lacks is ' +
          "production's, field by field, read and not copied.",
        authorize,
        body: newEnvironment,
        example: { name: 'staging', inherits: true },
        load: projectOf,
        handle: ({ ctx, caller, body, resource }) =>
          environments.add(actorOf(caller, ctx.ip), resource, body),
      },
      change: {
        summary: 'Have an environment inherit what it lacks, or not',
        authorize,
        body: changedEnvironment,
        example: { inherits: false },
        handle: ({ ctx, caller, body, resource }) =>
          environments.change(actorOf(caller, ctx.ip), resource, body),
      },
      remove: {
        summary: 'Remove an environment with its values and their past',
        authorize,
        response: removedService,
        handle: ({ ctx, caller, resource }) => environments.remove(actorOf(caller, ctx.ip), resource),
      },
    }),
    managementRoute({
      method: 'GET',
      path: '/projects/:project/vault/diff',
      needs: ['can_reveal_vault'],
      tag: 'Vault',
      summary: 'Which fields of two environments differ',
      description: 'Of own and inherited values; never a value.',
      query: t.Object({ from: t.String({ example: 'staging' }), to: t.String({ example: PRODUCTION }) }),
      response: vaultDiff,
      load: projectOf,
      handle: ({ caller, query: { from, to }, resource }) =>
        vault.diff(environments.at(resource, from, caller), environments.at(resource, to, caller)),
    }),
  ];
}
