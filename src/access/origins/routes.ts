/** The management plane's endpoints of the origins of keys and of global origins. */

import { ADMINISTER, actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { KeyRow, Keys } from '../keys/service.ts';
import {
  checkOriginsBody,
  createOriginBody,
  deletedGlobalOrigin,
  deletedOrigin,
  globalOriginRecord,
  newGlobalOrigin,
  originRecord,
  originVerdict,
  updateOriginBody,
} from './schemas.ts';
import type { OriginRow, Origins } from './service.ts';

interface Named {
  ctx: RequestContext;
  caller: ManagementCaller;
}

const ORIGINS = '/projects/:project/api-keys/:apiKey/origins';
const ORIGIN = `${ORIGINS}/:origin`;

export function originRoutes(services: { keys: Keys; origins: Origins }): Route[] {
  const key = ({ ctx, caller }: Named): KeyRow =>
    services.keys.getFor(caller, ctx.params.project ?? '', ctx.params.apiKey ?? '');
  return [...keyOriginRoutes(services.origins, key), ...globalOriginRoutes(services)];
}

function keyOriginRoutes(rules: Origins, key: (named: Named) => KeyRow): Route[] {
  const origin = (named: Named): { key: KeyRow; origin: OriginRow } => {
    const of_key = key(named);
    return { key: of_key, origin: rules.require(of_key, named.ctx.params.origin ?? '') };
  };
  return [
    managementRoute({
      method: 'GET',
      path: ORIGINS,
      tag: 'Origins',
      summary: 'List the origins of a key',
      description: 'A plain array, not paginated.',
      response: t.Array(originRecord),
      load: key,
      handle: ({ resource }) => rules.list(resource),
    }),
    managementRoute({
      method: 'POST',
      path: ORIGINS,
      tag: 'Origins',
      summary: 'Add an origin to a key',
      description:
        'A domain value is a host, an origin, `*.host` (https, all subdomains and the host itself), `http://localhost:*`, ' +
        'the origin of a browser extension, or that of a hybrid app (`capacitor://`, `ionic://`, `tauri://` or `app://` and a host name; ' +
        'every app that its tool makes may send the same). It is stored in canonical form.',
      status: 201,
      body: createOriginBody,
      example: { type: 'domain', value: 'https://shop.example.com' },
      response: originRecord,
      load: key,
      errorsIn: ({ body }) => rules.errorsIn(body),
      handle: ({ caller, ctx, resource, body }) => rules.add(actorOf(caller, ctx.ip), resource, body),
    }),
    managementRoute({
      method: 'GET',
      path: ORIGIN,
      tag: 'Origins',
      summary: 'Read an origin of a key',
      response: originRecord,
      load: origin,
      handle: ({ resource }) => rules.present(resource.origin),
    }),
    managementRoute({
      method: 'PATCH',
      path: ORIGIN,
      tag: 'Origins',
      summary: 'Change an origin of a key',
      description: 'The value and the fingerprints; the type stays.',
      body: updateOriginBody,
      example: { value: 'https://www.shop.example.com' },
      response: originRecord,
      load: origin,
      errorsIn: ({ body, resource }) => rules.errorsIn(body, resource.origin),
      handle: ({ caller, ctx, resource, body }) =>
        rules.update(actorOf(caller, ctx.ip), resource.key, resource.origin, body),
    }),
    managementRoute({
      method: 'DELETE',
      path: ORIGIN,
      tag: 'Origins',
      summary: 'Remove an origin from a key',
      response: deletedOrigin,
      load: origin,
      handle: ({ caller, ctx, resource }) =>
        rules.remove(actorOf(caller, ctx.ip), resource.key, resource.origin),
    }),
  ];
}

function globalOriginRoutes({ keys, origins: rules }: { keys: Keys; origins: Origins }): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/global-origins',
      tag: 'Origins',
      summary: 'List the global origins',
      description: 'Rules that every restricted key accepts; a plain array.',
      response: t.Array(globalOriginRecord),
      handle: () => rules.listGlobal(),
    }),
    managementRoute({
      method: 'POST',
      path: '/global-origins',
      needs: [ADMINISTER],
      tag: 'Origins',
      summary: 'Add a global origin',
      description:
        'Every restricted key accepts it from the next request on. The value is as that of an origin of a key.',
      status: 201,
      body: newGlobalOrigin,
      example: { type: 'domain', value: 'http://localhost:*', note: 'development' },
      response: globalOriginRecord,
      errorsIn: ({ body }) => rules.errorsIn(body),
      handle: ({ caller, ctx, body }) => rules.addGlobal(actorOf(caller, ctx.ip), body),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/global-origins/:origin',
      needs: [ADMINISTER],
      tag: 'Origins',
      summary: 'Remove a global origin',
      response: deletedGlobalOrigin,
      load: ({ ctx }) => rules.requireGlobal(ctx.params.origin ?? ''),
      async handle({ caller, ctx, resource }) {
        await rules.removeGlobal(actorOf(caller, ctx.ip), resource.id);
        return { deleted: true, restricted_keys: keys.countRestricted() };
      },
    }),
    managementRoute({
      method: 'POST',
      path: '/global-origins/check',
      only_reads: true,
      tag: 'Origins',
      summary: 'Which values the global origins cover',
      description: 'One verdict for each value, in the same order.',
      body: checkOriginsBody,
      example: { origins: [{ type: 'domain', value: 'https://shop.example.com' }] },
      response: t.Array(originVerdict),
      handle: ({ body }) =>
        rules.check(
          body.origins.map(({ cert_fingerprint, ...rest }) => ({
            ...rest,
            cert_fingerprint: cert_fingerprint ?? null,
          })),
        ),
    }),
  ];
}
