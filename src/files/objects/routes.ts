/** Objects over HTTP: upload, list, download, delete. */
import type { Config } from '../../config.ts';
import { notFound } from '../../errors.ts';
import { COUNTED_MATCHES, MAX_FILENAME_BYTES, OBJECT_SEARCH_ROWS } from '../../limits.ts';
import type { KeyCaller, Permission } from '../../platform/http/callers.ts';
import { idempotentRequest, REPLAYED_HEADERS } from '../../platform/http/idempotency.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import {
  bothPlanes,
  openRoute,
  type ProjectCaller,
  projectRoute,
  Reply,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { oneOf, t, text } from '../../platform/http/schema.ts';
import { toVariantWishes, variantQuery } from '../variants/service.ts';
import { type DownloadDeps, serveObject, serveVariant } from './downloads.ts';
import {
  changedObject,
  linkWishes,
  listedObject,
  objectChanges,
  objectLink,
  objectRecord,
  storedObject,
  uploadForm,
} from './schemas.ts';
import type { ObjectLinks, ObjectRow, Objects } from './service.ts';

interface ObjectRoutesDeps extends DownloadDeps {
  objects: Objects;
  object_links: ObjectLinks;
  limiter: RateLimiter;
  config: Pick<Config, 'uploads_per_minute' | 'object_redirect_bytes'>;
}

/** For the documentation: the headers that only downloads have. */
const DOWNLOAD_HEADERS = {
  ETag: 'The SHA-256 of the bytes, for `If-None-Match`, `If-Match` and `If-Range`.',
  'Last-Modified': 'When it was stored.',
  'Accept-Ranges': 'Always `bytes`.',
  'Content-Range': 'Which part a 206 is.',
  'Content-Disposition': '`inline` or `attachment`, and the file name.',
  'Cache-Control': '`public` up to the expiry for a public file, else `private, no-store`.',
};
const DOWNLOAD_STATUSES = {
  302: 'The store has it: `Location` is good for five minutes. Only with `SATCHEL_OBJECT_REDIRECT`, never with an `Origin`',
  206: 'The part that `Range` asks for',
  304: 'Not changed: `If-None-Match` or `If-Modified-Since` holds',
  412: '`If-Match` or `If-Unmodified-Since` does not hold',
  416: '`Range` asks for nothing that is there',
};
const VARIANT_STATUSES = {
  422: 'No variant is made of this file, or none such',
  503: 'Too many variants wait to be made, or this one takes too long; `Retry-After` says when to ask again',
};
const VARIANTS =
  `With \`w\`, \`h\`, \`fit\`, \`format\` or \`quality\` it is an image made of the file, which is a JPEG, PNG, WebP, GIF or BMP of ` +
  'at most 40 megapixels and 32 MiB: its first frame on the whole canvas, upright, on white as a JPEG, without metadata but for the colour profile. It is made once and ' +
  'kept for a while, and has an `ETag` of its own.';
/** For the documentation: the bytes as they are, or an image made of them. */
const downloadQuery = t.Object({
  download: t.Optional({
    ...t.String(),
    example: '1',
    description:
      'Has a browser save it instead of showing it, whatever its value or none, but for `0` and `false`.',
  }),
  ...variantQuery.properties,
});

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

export function objectRoutes(deps: ObjectRoutesDeps): Route[] {
  const { objects } = deps;
  const load = ({ ctx, caller }: Target): ObjectRow => objects.require(caller.project.id, idOf(ctx));
  return [...collectionRoutes(deps), ...singleObjectRoutes(deps, load), ...linkRoutes(deps, load)];
}

function collectionRoutes(deps: ObjectRoutesDeps): Route[] {
  return [
    ...bothPlanes({
      method: 'POST',
      path: '/objects',
      tag: 'Objects',
      summary: 'Upload a file',
      description:
        'An `Idempotency-Key` makes a repeated upload of the same file answer the first one again, with the header ' +
        '`Idempotent-Replayed: true`. A key that may `write` may upload too.',
      needs: ['upload'],
      status: 201,
      is_idempotent: true,
      form: uploadForm,
      response: storedObject,
      async handle({ ctx, caller, acceptAgain }) {
        deps.limiter.take(`upload:${caller.identity}`, {
          limit: deps.config.uploads_per_minute,
          per: 'minute',
          what: caller.key ? 'Uploads of this API key' : 'Your uploads',
        });
        const request = idempotentRequest(caller, ctx.request.headers, acceptAgain);
        ctx.keepOpen();
        const { status, value, is_replayed } = await deps.objects.upload(caller, ctx.request, request);
        return new Reply(status, value, is_replayed ? REPLAYED_HEADERS : {});
      },
    }),
    ...bothPlanes({
      method: 'GET',
      path: '/objects',
      tag: 'Objects',
      summary: 'List the files of the project, newest first',
      needs: ['read'],
      query: t.Object({
        ...pageQuery,
        visibility: t.Optional(oneOf(['public', 'private'])),
        q: t.Optional(
          text({
            max: MAX_FILENAME_BYTES,
            description: `Part of the file name, in any case. The newest ${OBJECT_SEARCH_ROWS.toLocaleString('en')} files are searched, and what is found is counted up to ${COUNTED_MATCHES.toLocaleString('en')}.`,
          }),
        ),
      }),
      response: t.Array(listedObject),
      may_be_capped: true,
      handle: ({ caller: { project }, query }) => deps.objects.list(project.id, query),
    }),
  ];
}

function singleObjectRoutes(deps: ObjectRoutesDeps, load: (target: Target) => ObjectRow): Route[] {
  const { objects } = deps;
  return [
    openRoute({
      plane: 'data',
      method: 'GET',
      path: '/objects/:public_id',
      tag: 'Objects',
      headers: DOWNLOAD_HEADERS,
      summary: 'Download a file',
      description: `Public files need no key; private ones a \`read\` key of their project. ${VARIANTS}`,
      query: downloadQuery,
      also: { ...DOWNLOAD_STATUSES, ...VARIANT_STATUSES },
      projectOf: async (ctx) => (await objects.find(idOf(ctx)))?.project_id ?? null,
      handle: ({ ctx, acceptKey }) => download(deps, ctx, acceptKey),
    }),
    projectRoute({
      method: 'GET',
      path: '/objects/:public_id',
      tag: 'Objects',
      summary: 'Read the record of a file',
      description: 'Its bytes are at `url` where it is public, else behind a link of its own.',
      response: objectRecord,
      load,
      handle: ({ resource, caller }) => objects.describe(resource, caller.project),
    }),
    projectRoute({
      method: 'GET',
      path: '/objects/:public_id/variant',
      tag: 'Objects',
      summary: 'Read an image made of a file',
      description: `As \`GET /objects/{public_id}\` of the data plane makes it, where it needs a parameter. ${VARIANTS}`,
      headers: DOWNLOAD_HEADERS,
      query: variantQuery,
      produces: 'image/*',
      also: { 206: DOWNLOAD_STATUSES[206], 304: DOWNLOAD_STATUSES[304], 416: DOWNLOAD_STATUSES[416] },
      load,
      handle: ({ ctx, query, resource }) => serveVariant(deps, ctx, resource, toVariantWishes(query)),
    }),
    ...bothPlanes({
      method: 'PATCH',
      path: '/objects/:public_id',
      tag: 'Objects',
      summary: 'Change visibility, name or expiry of a file',
      description:
        'What is left out stays as it is. The bytes of a file never change. Who fetched a public file may keep it, and so may ' +
        'caches on the way, up to the expiry that it had, or for a year: making it private does not reach them.',
      needs: ['write'],
      body: objectChanges,
      example: { visibility: 'public', expires_in_days: 30 },
      response: changedObject,
      load,
      handle: ({ caller, body, resource }) => objects.update(caller.project, resource, body, caller.note),
    }),
    ...bothPlanes({
      method: 'DELETE',
      path: '/objects/:public_id',
      tag: 'Objects',
      summary: 'Delete a file',
      description: 'A key that may `write` may delete too, unless its `permissions` have `delete: false`.',
      needs: ['write', 'delete'],
      response: t.Object({ success: t.Boolean(), message: t.String() }),
      handle: async ({ ctx, caller }) => {
        await objects.remove(caller.project.id, idOf(ctx), caller.note);
        return { success: true, message: 'Object deleted.' };
      },
    }),
  ];
}

function linkRoutes(deps: ObjectRoutesDeps, load: (target: Target) => ObjectRow): Route[] {
  const { object_links } = deps;
  return [
    ...bothPlanes({
      method: 'POST',
      path: '/objects/:public_id/links',
      tag: 'Objects',
      summary: 'Make a link that opens a file without a key',
      description:
        'For a week at most. Whoever has the link has the file until it expires, is deleted, or all links of the project are ' +
        'revoked. Nothing is stored of a link, and it stands in no log.',
      needs: ['read'],
      status: 201,
      body: linkWishes,
      example: { expires_in_seconds: 3600 },
      response: objectLink,
      load,
      handle: ({ caller, body, resource }) =>
        object_links.create(caller.project, resource, body, caller.note),
    }),
    openRoute({
      plane: 'data',
      method: 'GET',
      path: '/object-links/:link',
      tag: 'Objects',
      headers: { ...DOWNLOAD_HEADERS, 'Cache-Control': 'Always `private`.' },
      summary: 'Download a file by a link',
      description: `Needs no key. 404 for a link that is expired, revoked or changed, or whose file is gone. ${VARIANTS}`,
      query: downloadQuery,
      also: { ...DOWNLOAD_STATUSES, ...VARIANT_STATUSES },
      projectOf: async (ctx) => {
        const linked = object_links.open(ctx.params.link ?? '');
        return (linked && (await deps.objects.find(linked.public_id))?.project_id) ?? null;
      },
      handle: ({ ctx }) => followLink(deps, ctx),
    }),
    projectRoute({
      method: 'POST',
      path: '/object-links/revoke',
      tag: 'Objects',
      summary: 'Revoke every link to a file of the project',
      description: 'Links that are made afterwards work. Files stay as they are.',
      response: t.Object({ revoked: t.Boolean() }),
      handle: async ({ caller }) => {
        await object_links.revoke(caller.project, caller.note);
        return { revoked: true };
      },
    }),
  ];
}

function idOf(ctx: RequestContext): string {
  return (ctx.params.public_id ?? '').toUpperCase();
}

/**
 * Public objects ignore any key. Otherwise no key is 401 for a private object and 404 for a missing one. A
 * key is judged before the object is looked for, so a foreign and a missing one answer alike.
 */
async function download(
  deps: ObjectRoutesDeps,
  ctx: RequestContext,
  acceptKey: (needs: readonly Permission[]) => KeyCaller,
): Promise<Response> {
  const row = await deps.objects.find(idOf(ctx));
  if (row?.visibility !== 'public') {
    if (!row && !ctx.request.headers.has('x-api-key')) throw notFound('Object');
    const caller = acceptKey(['read']);
    if (!row || row.project_id !== caller.project_id) throw notFound('Object');
  }
  return serveObject(deps, ctx, row);
}

/** The link itself is a secret, so the browser must not send it on as a referrer. */
async function followLink(deps: ObjectRoutesDeps, ctx: RequestContext): Promise<Response> {
  const link = deps.object_links.open(ctx.params.link ?? '');
  const row = link && (await deps.objects.find(link.public_id));
  if (!row) throw notFound('Object');
  if (link.download) ctx.url.searchParams.set('download', '1');
  const response = await serveObject(deps, ctx, row);
  if (response.status !== 302) response.headers.set('Cache-Control', 'private');
  response.headers.set('Referrer-Policy', 'no-referrer');
  return response;
}
