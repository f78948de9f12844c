/** What a service's fields have held, on the management plane: lists, reveals, restoring, forgetting. */
import { actorOf } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { type FindService, inEnvironment } from './environment-routes.ts';
import { purgedVersions, revealedVersion, serviceMetadata, vaultVersion } from './schemas.ts';
import { serviceShownTo } from './service.ts';
import type { VaultVersions } from './versions.ts';

const PATH = '/projects/:project/vault/:service/versions';
const ofField = {
  ...inEnvironment,
  field: t.Optional(t.String({ description: 'Of this field alone.' })),
};

export function versionRoutes(versions: VaultVersions, findService: FindService): Route[] {
  const idOf = ({ params }: RequestContext): string => params.version ?? '';
  const findVersion: FindService = (input) => {
    const found = findService(input);
    versions.require(found.at, found.service, idOf(input.ctx));
    return found;
  };
  return [
    managementRoute({
      method: 'GET',
      path: PATH,
      needs: ['can_read_vault'],
      tag: 'Vault',
      summary: 'What the fields of a service have held, newest first; never a value',
      description:
        'Each change keeps the value before: the last 20 of a field and environment, 5 of a file, for 180 days from when it was ' +
        'replaced or removed. Storing what is stored is no change.',
      query: t.Object({ ...ofField, ...pageQuery }),
      response: t.Array(vaultVersion),
      load: findService,
      handle: ({ query, resource: { at, service } }) =>
        versions.list(at, { service, field: query.field }, query),
    }),
    managementRoute({
      method: 'POST',
      path: `${PATH}/:version/reveal`,
      only_reads: true,
      needs: ['can_reveal_vault'],
      tag: 'Vault',
      summary: 'What a field held',
      description: 'Recorded before it answers.',
      query: t.Object(inEnvironment),
      response: revealedVersion,
      load: findVersion,
      handle: ({ ctx, caller, resource: { at, service } }) =>
        versions.reveal(actorOf(caller, ctx.ip), at, service, idOf(ctx)),
    }),
    managementRoute({
      method: 'POST',
      path: `${PATH}/:version/restore`,
      needs: ['can_write_vault'],
      tag: 'Vault',
      summary: 'Store what a field held, as a new version',
      description: 'Answers as PUT. A name of `env` that is secret now, or was then, is secret afterwards.',
      query: t.Object(inEnvironment),
      response: serviceMetadata,
      load: findVersion,
      async handle({ ctx, caller, resource: { at, service } }) {
        const restored = await versions.restore(actorOf(caller, ctx.ip), at, service, idOf(ctx));
        return serviceShownTo(caller, restored);
      },
    }),
    managementRoute({
      method: 'DELETE',
      path: PATH,
      needs: ['can_write_vault'],
      tag: 'Vault',
      summary: 'Forget what the fields of a service have held, but for what is stored now',
      description: 'Older backups still have it.',
      query: t.Object(ofField),
      response: purgedVersions,
      load: findService,
      handle: ({ ctx, caller, query, resource: { at, service } }) =>
        versions.purge(actorOf(caller, ctx.ip), at, { service, field: query.field }),
    }),
  ];
}
