/** The management plane's endpoints of API keys. */
import { actorOf, type ManagementCaller } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes, warnedReply } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { ProjectRow, Projects } from '../projects/service.ts';
import {
  createKeyBody,
  deletedKey,
  keyRecord,
  keyWithPlaintext,
  lookupAnswer,
  lookupBody,
  plaintextKey,
  updateKeyBody,
  whyAnswer,
  whyBody,
} from './schemas.ts';
import type { KeyRow, Keys } from './service.ts';

interface Named {
  ctx: RequestContext;
  caller: ManagementCaller;
}

const KEY = '/projects/:project/api-keys/:apiKey';

export function keyRoutes(services: { keys: Keys; projects: Projects }): Route[] {
  const { keys, projects } = services;
  const project = ({ ctx, caller }: Named): ProjectRow =>
    projects.requireFor(caller, ctx.params.project ?? '');
  const key = ({ ctx, caller }: Named): KeyRow =>
    keys.getFor(caller, ctx.params.project ?? '', ctx.params.apiKey ?? '');
  return [
    ...keyRecordRoutes(keys, project, key),
    ...singleKeyRoutes(keys, key),
    managementRoute({
      method: 'POST',
      path: '/api-keys/lookup',
      only_reads: true,
      tag: 'API keys',
      summary: 'Which key a plaintext key is',
      body: lookupBody,
      example: { api_key: 'sat_live_...' },
      response: lookupAnswer,
      handle: ({ caller, body }) => keys.lookup(caller, body.api_key),
    }),
  ];
}

function keyRecordRoutes(
  keys: Keys,
  project: (named: Named) => ProjectRow,
  key: (named: Named) => KeyRow,
): Route[] {
  return recordRoutes(managementRoute, {
    path: KEY,
    tag: 'API keys',
    shown: keyRecord,
    load: key,
    list: {
      summary: 'List the keys of a project',
      query: t.Object(pageQuery),
      load: project,
      handle: ({ resource, query }) => keys.list(resource, query),
    },
    create: {
      summary: 'Make a key',
      description:
        '`plaintext_key` is the key itself. Flags that are left out are false. The second active key of one name draws a `Warning`.',
      body: createKeyBody,
      example: { name: 'web', can_read: true, can_write: true, can_send_emails: true },
      response: keyWithPlaintext,
      load: project,
      async handle({ caller, ctx, resource, body }) {
        const made = await keys.create(actorOf(caller, ctx.ip), resource, body);
        return warnedReply(made, 'key', keys.isSecond({ project_id: resource.id, name: made.name }));
      },
    },
    read: {
      summary: 'Read a key',
      unversioned: ['origins_count', 'purpose', 'last_used_at'],
      handle: ({ resource }) => keys.present(resource),
    },
    change: {
      summary: 'Change a key',
      description: 'Only what is sent changes; `permissions` is replaced as a whole. null clears a limit.',
      body: updateKeyBody,
      example: { rate_limit_per_minute: 300 },
      handle: ({ caller, ctx, resource, body }) => keys.update(actorOf(caller, ctx.ip), resource, body),
    },
    remove: {
      summary: 'Delete a key',
      response: deletedKey,
      handle: ({ caller, ctx, resource }) => keys.remove(actorOf(caller, ctx.ip), resource),
    },
  });
}

function singleKeyRoutes(keys: Keys, key: (named: Named) => KeyRow): Route[] {
  return [
    managementRoute({
      method: 'POST',
      path: `${KEY}/why`,
      only_reads: true,
      tag: 'API keys',
      summary: 'Whether a request from somewhere would be accepted with a key, and why',
      description:
        'With neither an Origin nor an app id it is one from a server, which sends neither. Nothing is changed.',
      body: whyBody,
      example: { origin: 'https://shop.example.com' },
      response: whyAnswer,
      load: key,
      handle: ({ resource, body }) => keys.verdict(resource, body),
    }),
    managementRoute({
      method: 'POST',
      path: `${KEY}/rotate`,
      tag: 'API keys',
      summary: 'Give a key a new secret',
      description: 'The old secret stops at once.',
      response: keyWithPlaintext,
      load: key,
      handle: ({ caller, ctx, resource }) => keys.rotate(actorOf(caller, ctx.ip), resource),
    }),
    managementRoute({
      method: 'POST',
      path: `${KEY}/reveal`,
      tag: 'API keys',
      summary: 'Show the secret of a key',
      description: 'Recorded in the audit trail. 409 PLAINTEXT_UNAVAILABLE where no readable copy is kept.',
      response: plaintextKey,
      load: key,
      handle: ({ caller, ctx, resource }) => keys.reveal(actorOf(caller, ctx.ip), resource),
    }),
  ];
}
