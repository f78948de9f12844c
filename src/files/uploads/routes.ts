/** Resumable uploads over HTTP: tus 1.0 with creation, expiration, checksum and termination. */
import type { Config } from '../../config.ts';
import { AppError, invalid } from '../../errors.ts';
import { MAX_UNFINISHED_UPLOADS } from '../../limits.ts';
import type { RequestHeader } from '../../platform/http/answers.ts';
import type { KeyCaller } from '../../platform/http/callers.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import {
  dataRoute,
  openRoute,
  PLANE_PREFIX,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import {
  CHECKSUM_ALGORITHMS,
  PART_TYPE,
  readBytes,
  readChecksum,
  refuseUnoffered,
  requireVersion,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from './protocol.ts';
import type { UploadRow, Uploads } from './service.ts';

interface UploadRoutesDeps {
  uploads: Uploads;
  limiter: RateLimiter;
  config: Pick<Config, 'uploads_per_minute' | 'max_upload_bytes' | 'public_url'>;
}

const VERSION: RequestHeader = {
  name: 'Tus-Resumable',
  description: 'The version of the protocol.',
  is_required: true,
  example: TUS_VERSION,
};
const HEADERS = {
  'Upload-Offset': 'Bytes of the upload that are stored.',
  'Upload-Expires': 'When what came is removed, unless all of it has come by then.',
  'Satchel-Object': 'The id of the file that a whole upload has become.',
};
/** What all of them have in common. */
const TUS = {
  tag: 'Objects',
  is_bodiless: true,
  always: { 'Tus-Resumable': TUS_VERSION, 'Tus-Version': TUS_VERSION },
} as const;
const REFUSED = { 412: '`Tus-Resumable` is missing, or another version than `Tus-Version`' };
const BUSY = { 423: 'All of it has come, and the object store that it goes to is away; see Retry-After' };
const needs = ['upload'] as const;

export function uploadRoutes(deps: UploadRoutesDeps): Route[] {
  const single = [lookRoute(deps), partRoute(deps), endRoute(deps)];
  return [optionsRoute(deps), creationRoute(deps), ...single, overrideRoute(deps, single)];
}

function optionsRoute({ config }: UploadRoutesDeps): Route {
  const told = {
    'Tus-Extension': TUS_EXTENSIONS,
    'Tus-Max-Size': String(config.max_upload_bytes),
    'Tus-Checksum-Algorithm': CHECKSUM_ALGORITHMS.join(','),
  };
  return openRoute({
    ...TUS,
    plane: 'data',
    method: 'OPTIONS',
    path: '/uploads',
    status: 204,
    summary: 'Ask what of the tus protocol is offered',
    headers: {
      'Tus-Extension': 'What is offered beyond the core of the protocol.',
      'Tus-Max-Size': 'Bytes that an upload may have.',
      'Tus-Checksum-Algorithm': 'What `Upload-Checksum` may be made with.',
    },
    handle: () => new Response(null, { status: 204, headers: told }),
  });
}

function creationRoute({ uploads, limiter, config }: UploadRoutesDeps): Route {
  const prefix = `${new URL(config.public_url).pathname.replace(/\/$/, '')}${PLANE_PREFIX.data}`;
  return dataRoute({
    ...TUS,
    method: 'POST',
    path: '/uploads',
    status: 201,
    summary: 'Begin a resumable upload',
    description:
      'By [tus 1.0](https://tus.io/protocols/resumable-upload) with creation, expiration, checksum and termination, as ' +
      'tus-js-client and Uppy speak it. An upload has 24 hours to be completed, and is seen by the key that began it alone; a key ' +
      `may have ${MAX_UNFINISHED_UPLOADS} unfinished ones. An upload of no bytes is a file at once.`,
    needs,
    request_headers: [
      VERSION,
      { name: 'Upload-Length', description: 'Bytes of the file.', is_required: true, example: '2' },
      {
        name: 'Upload-Metadata',
        description:
          '`filename`, `filetype`, `visibility`, `expires_in_days` and `expires_at`, as in an upload by form, each with its value in ' +
          'Base64; other keys mean nothing.',
        is_required: false,
        example: 'filename bm90ZS50eHQ=,visibility cHVibGlj',
      },
    ],
    headers: { Location: 'The path of the upload.', ...HEADERS },
    also: { ...REFUSED, 413: 'More than `Tus-Max-Size`' },
    async handle({ ctx, caller }) {
      const { headers } = ctx.request;
      requireVersion(headers);
      limiter.take(`upload:key:${caller.key_id}`, {
        limit: config.uploads_per_minute,
        per: 'minute',
        what: 'Uploads of this API key',
      });
      refuseUnoffered(headers);
      const upload = await uploads.create(
        { project_id: caller.project_id, key_id: caller.key_id },
        { size_bytes: readBytes(headers, 'Upload-Length'), metadata: headers.get('upload-metadata') ?? '' },
      );
      return answer(201, upload, { Location: `${prefix}/uploads/${upload.id}` });
    },
  });
}

function lookRoute({ uploads }: UploadRoutesDeps): Route {
  return dataRoute({
    ...TUS,
    method: 'HEAD',
    path: '/uploads/:upload',
    summary: 'Ask how far an upload is',
    needs,
    request_headers: [VERSION],
    headers: { ...HEADERS, 'Upload-Length': 'Bytes of the file.', 'Upload-Metadata': 'As it was sent.' },
    also: { ...REFUSED, ...BUSY },
    load: loader(uploads),
    async handle({ ctx, resource }) {
      requireVersion(ctx.request.headers);
      ctx.keepOpen();
      const upload = await uploads.look(resource);
      const metadata: Record<string, string> = upload.metadata ? { 'Upload-Metadata': upload.metadata } : {};
      return answer(200, upload, { 'Upload-Length': String(upload.size_bytes), ...metadata });
    },
  });
}

function partRoute({ uploads }: UploadRoutesDeps): Route {
  return dataRoute({
    ...TUS,
    method: 'PATCH',
    path: '/uploads/:upload',
    status: 204,
    summary: 'Send a part of an upload',
    description:
      'What is answered is on disk. The last part makes the file, and `Satchel-Object` names it. Of a part that breaks off stays what ' +
      'came, unless it has a checksum; ask how far the upload is, and go on from there.',
    needs,
    request_headers: [
      VERSION,
      { name: 'Upload-Offset', description: 'Where the upload stands.', is_required: true, example: '0' },
      {
        name: 'Upload-Checksum',
        description: `\`${CHECKSUM_ALGORITHMS.join('`, `')}\`, a space, and the hash of the part in Base64.`,
        is_required: false,
        example: 'sha1 witfkXg0JglCjW9RssWvTAveakI=',
      },
    ],
    form: t.String({ format: 'binary' }),
    consumes: PART_TYPE,
    headers: HEADERS,
    also: {
      ...REFUSED,
      400: '`Upload-Checksum` is of another algorithm than `Tus-Checksum-Algorithm`',
      413: 'The part goes beyond `Upload-Length`',
      415: `\`Content-Type\` is not \`${PART_TYPE}\``,
      460: 'The part does not have its `Upload-Checksum`, and was not kept',
    },
    load: loader(uploads),
    async handle({ ctx, resource, acceptAgain }) {
      const { headers, body } = ctx.request;
      requireVersion(headers);
      if (headers.get('content-type') !== PART_TYPE)
        throw new AppError('unsupported_type', `Send the header Content-Type: ${PART_TYPE}.`);
      const announced = headers.get('content-length');
      const part = {
        offset_bytes: readBytes(headers, 'Upload-Offset'),
        size_bytes: announced === null ? null : Number(announced),
        checksum: readChecksum(headers),
      };
      ctx.keepOpen();
      const upload = await uploads.append(resource, { ...part, body, acceptAgain });
      ctx.closeWhenIdle();
      return answer(204, upload);
    },
  });
}

function endRoute({ uploads }: UploadRoutesDeps): Route {
  return dataRoute({
    ...TUS,
    method: 'DELETE',
    path: '/uploads/:upload',
    status: 204,
    summary: 'End an upload',
    description: 'What came of it is removed. The file that a whole one has become stays.',
    needs,
    request_headers: [VERSION],
    also: REFUSED,
    load: loader(uploads),
    async handle({ ctx, resource }) {
      requireVersion(ctx.request.headers);
      await uploads.remove(resource);
    },
  });
}

/**
 * For clients that can send no other method. It asks for all that the other route asks for, and no page can
 * send this header without a preflight.
 */
function overrideRoute({ uploads }: UploadRoutesDeps, single: readonly Route[]): Route {
  const header = 'X-HTTP-Method-Override';
  const refused = dataRoute({
    ...TUS,
    method: 'POST',
    path: '/uploads/:upload',
    status: 204,
    summary: 'Send, ask or end where only POST gets through',
    description: 'Does what the method in the header does here.',
    needs,
    request_headers: [
      { name: header, description: 'PATCH, HEAD or DELETE.', is_required: true, example: 'HEAD' },
      VERSION,
    ],
    headers: HEADERS,
    also: {
      ...REFUSED,
      ...BUSY,
      200: 'As HEAD',
      400: 'As PATCH',
      413: 'As PATCH',
      415: 'As PATCH',
      460: 'As PATCH',
    },
    load: loader(uploads),
    handle: () => {
      throw invalid({ [header]: ['must be PATCH, HEAD or DELETE'] });
    },
  });
  return {
    ...refused,
    run: (exchange) => {
      const method = exchange.ctx.request.headers.get(header);
      return (single.find((route) => route.method === method) ?? refused).run(exchange);
    },
  };
}

function loader(uploads: Uploads) {
  return ({ ctx, caller }: { ctx: RequestContext; caller: KeyCaller }): UploadRow =>
    uploads.require(caller.key_id, (ctx.params.upload ?? '').toUpperCase());
}

/** How an upload stands, which has no body in this protocol. */
function answer(status: number, upload: UploadRow, more: Record<string, string> = {}): Response {
  const { object_id, offset_bytes, expires_at } = upload;
  const end: Record<string, string> =
    object_id === null
      ? { 'Upload-Expires': new Date(expires_at).toUTCString() }
      : { 'Satchel-Object': object_id };
  return new Response(null, { status, headers: { 'Upload-Offset': String(offset_bytes), ...end, ...more } });
}
