/** The management plane's endpoints of the origins of keys and of global origins. */
import { ADMINISTER, actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
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
  return recordRoutes(managementRoute, {
    path: '/projects/:project/api-keys/:apiKey/origins/:origin',
    tag: 'Origins',
    shown: originRecord,
    load: origin,
    errorsIn: ({ current, body }) => rules.errorsIn(body, current?.origin),
    list: {
      summary: 'List the origins of a key',
      description: 'A plain array, not paginated.',
      load: key,
      handle: ({ resource }) => rules.list(resource),
    },
    create: {
      summary: 'Add an origin to a key',
      description:
        'A domain value is a host, an origin, `*.host` (https, all subdomains and the host itself), `http://localhost:*`, ' +
        'the origin of a browser extension, or that of a hybrid app (`capacitor://`, `ionic://`, `tauri://` or `app://` and a host name; ' +
        'every app that its tool makes may send the same). It is stored in canonical form.',
      body: createOriginBody,
      example: { type: 'domain', value: 'https://shop.example.com' },
      load: key,
      handle: ({ caller, ctx, resource, body }) => rules.add(actorOf(caller, ctx.ip), resource, body),
    },
    read: {
      summary: 'Read an origin of a key',
      handle: ({ resource }) => rules.present(resource.origin),
    },
    change: {
      summary: 'Change an origin of a key',
      description: 'The value and the fingerprints; the type stays.',
      body: updateOriginBody,
      example: { value: 'https://www.shop.example.com' },
      handle: ({ caller, ctx, resource, body }) =>
        rules.update(actorOf(caller, ctx.ip), resource.key, resource.origin, body),
    },
    remove: {
      summary: 'Remove an origin from a key',
      response: deletedOrigin,
      handle: ({ caller, ctx, resource }) =>
        rules.remove(actorOf(caller, ctx.ip), resource.key, resource.origin),
    },
  });
}

function globalOriginRoutes({ keys, origins: rules }: { keys: Keys; origins: Origins }): Route[] {
  return [
    ...recordRoutes(managementRoute, {
      path: '/global-origins/:origin',
      tag: 'Origins',
      needs: [ADMINISTER],
      shown: globalOriginRecord,
      load: ({ ctx }) => rules.requireGlobal(ctx.params.origin ?? ''),
      errorsIn: ({ body }) => rules.errorsIn(body),
      list: {
        needs: [],
        summary: 'List the global origins',
        description: 'Rules that every restricted key accepts; a plain array.',
        handle: () => rules.listGlobal(),
      },
      create: {
        summary: 'Add a global origin',
        description:
          'Every restricted key accepts it from the next request on. The value is as that of an origin of a key.',
        body: newGlobalOrigin,
        example: { type: 'domain', value: 'http://localhost:*', note: 'development' },
        handle: ({ caller, ctx, body }) => rules.addGlobal(actorOf(caller, ctx.ip), body),
      },
      remove: {
        summary: 'Remove a global origin',
        response: deletedGlobalOrigin,
        async handle({ caller, ctx, resource }) {
          await rules.removeGlobal(actorOf(caller, ctx.ip), resource.id);
          return { deleted: true, restricted_keys: keys.countRestricted() };
        },
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
