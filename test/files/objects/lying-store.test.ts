/** A store that is broken, or another's: whatever it sends costs no more than its bound, and nobody takes a part of a file for the whole. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { loadConfig } from '../../../src/config.ts';
import {
  STORE_MAX_ERROR_BYTES,
  STORE_MAX_XML_BYTES,
  StoreFault,
} from '../../../src/platform/files/s3-requests.ts';
import { S3Store } from '../../../src/platform/files/s3-store.ts';
import { readXml } from '../../../src/platform/files/s3-xml.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { png, quarters } from '../../support/images.ts';
import { type LyingStore, startLyingStore } from '../../support/lying-store.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';
import { until } from '../../support/until.ts';

const MIB = 1024 * 1024;
/** What the runtime, both ends of a connection and the server of this process hold of a body that nobody reads on. */
const HELD_BYTES = 24 * MIB;
/** What is promised is 20 ms on two quiet cores, and the worst here takes a third of that; regular expressions took for ever. */
const MOST_MS = 100;

let store: LyingStore;
let app: TestApp;
let key = '';
let token = '';
let project_id = '';

beforeAll(async () => {
  store = startLyingStore();
  app = await startTestApp({ env: { ...store.env, SATCHEL_MAX_UPLOAD_BYTES: String(4 * MIB) } });
  const project = await makeProject(app);
  key = await project.key({ can_read: true, can_write: true });
  project_id = project.public_id;
  ({ token } = await app.services.tokens.create(actor, {
    ...{ name: 'all', all_projects: true, projects: [], capabilities: [] },
  }));
});
beforeEach(() => {
  store.answer = () => null;
});

const send = (size: number): Promise<string> => sendBytes(Buffer.alloc(size, 'hello'));
const sendBytes = async (bytes: Uint8Array<ArrayBuffer>, type = 'text/plain'): Promise<string> => {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type }), 'a');
  const { status, body } = await app.call('POST', '/api/v1/objects', { key, body: form });
  expect(status).toBe(201);
  return String(body.public_id);
};
const fetchObject = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/api/v1/objects/${id}`, { headers: { 'X-API-Key': key, ...headers } });
/** What of a body arrives, and whether it ends as it should. */
async function drain(response: Response): Promise<{ bytes: number; is_whole: boolean }> {
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
    return { bytes, is_whole: true };
  } catch {
    return { bytes, is_whole: false };
  }
}
const isGetOf = (id: string, { method, url }: Request): boolean => method === 'GET' && url.includes(id);

const LIST = '<ListBucketResult>';
const fill = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length));

describe('an answer in XML', () => {
  test.each([
    ['elements that do not end', LIST, '<Contents>'],
    ['elements of nothing', LIST, '<a/>'],
    ['keys without end', LIST, '<Contents><Key>objects/a</Key></Contents>'],
    ['a text that does not end', `${LIST}<Contents><Key>`, 'x'],
    ['references', `${LIST}<Contents><Key>`, '&amp;'],
    ['a name that does not end', '<', 'x'],
    ['attributes', '<ListBucketResult ', 'a="" '],
    ['an attribute that does not end', '<ListBucketResult a="', 'x'],
    ['sections', `${LIST}<Name>`, '<![CDATA[]]]]>'],
    ['a DOCTYPE', '<!DOCTYPE a [', '"'],
    ['comments', LIST, '<!-- -->'],
    ['blanks', '', ' '],
    ['no text at all', '', '\0'],
  ])('of %s is given up within its bound, and holds nobody up', async (_, head, piece) => {
    const bytes = new TextEncoder().encode(head + fill(piece, STORE_MAX_XML_BYTES - head.length));
    async function* chunks() {
      yield bytes;
    }
    let flaw: string | null = null;
    const longest_ms = await longestTurnMs(async () => {
      flaw = (await readXml(chunks())).flaw;
    });
    expect(longest_ms).toBeLessThan(MOST_MS);
    if (piece === ' ') expect(flaw).toBeNull();
    else expect(flaw).toBeString();
  });

  test('is read no further than its bound, and the start goes on without it', async () => {
    const { bytes } = app.services;
    for (const [status, head, most] of [
      [200, LIST, STORE_MAX_XML_BYTES],
      [200, '', STORE_MAX_XML_BYTES],
      [403, '<Error>', STORE_MAX_ERROR_BYTES],
    ] as const) {
      await send(1);
      store.answer = ({ method, url }) => {
        if (method === 'HEAD') return new Response('x');
        return url.includes('list-type')
          ? new Response(store.endless(head === '' ? ' ' : '<a></a>'), { status })
          : null;
      };
      // Not by `rejects`, which holds the loop of events up.
      const error: unknown = await bytes.sweepStore().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreFault);
      expect(store.sent_bytes).toBeLessThan(most + HELD_BYTES);
      await bytes.sweepStoreDaily();
    }
  });

  test('lists keys once: a page that came before ends it', async () => {
    let pages = 0;
    const id = await send(1);
    store.answer = ({ method, url }) => {
      if (method === 'HEAD') return new Response('x');
      if (url.includes('uploads=')) {
        pages += 1;
        return new Response(
          '<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>' +
            '<NextUploadIdMarker>b</NextUploadIdMarker></ListMultipartUploadsResult>',
        );
      }
      if (!url.includes('list-type')) return null;
      pages += 1;
      // One, two, one, two ...
      const next = url.includes('token=one') ? 'two' : 'one';
      return new Response(
        `${LIST}<Contents><Key>objects/${id}</Key><Size>1</Size></Contents>` +
          `<NextContinuationToken>${next}</NextContinuationToken></ListBucketResult>`,
      );
    };
    expect(await app.services.bytes.sweepStore()).toBe(0);
    expect(pages).toBe(5);
  });

  test('that is no list does not pass for an empty one', async () => {
    store.answer = ({ url }) => (url.includes('list-type') ? new Response('<Other/>') : null);
    await expect(app.services.bytes.store?.hasKeys()).rejects.toThrow();
  });
});

describe('a file of the store', () => {
  test('has a Content-Length as a whole', async () => {
    for (const size of [0, 5, MIB, MIB + 1, 3 * MIB]) {
      const id = await send(size);
      store.answer = (request) => (isGetOf(id, request) ? new Response(Buffer.alloc(size, 'hello')) : null);
      const response = await fetchObject(id);
      expect([response.status, response.headers.get('content-length')]).toEqual([200, String(size)]);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(Bun.hash(await response.bytes())).toBe(Bun.hash(Buffer.alloc(size, 'hello')));
    }
  });

  test.each([
    ['shorter', -1],
    ['longer', 1],
    ['much longer', MIB],
  ])('that comes %s than its row says never arrives to its last byte', async (_, more) => {
    const size = 2 * MIB;
    const id = await send(size);
    // In pieces, which say nothing of the length of all.
    const body = async function* () {
      yield Buffer.alloc(MIB, 'hello');
      await Bun.sleep(0);
      yield Buffer.alloc(size + more - MIB, 'hello');
    };
    store.answer = (request) =>
      isGetOf(id, request)
        ? new Response(body(), { status: request.headers.has('range') ? 206 : 200 })
        : null;
    const whole = await fetchObject(id);
    expect(whole.status).toBe(503);
    const { bytes, is_whole } = await drain(await fetchObject(id, { Range: 'bytes=0-' }));
    expect([bytes < size, is_whole]).toEqual([true, false]);
    expect(app.logs()).toContain('a download broke off');
  });

  test('that is gone has the code bytes_missing on both planes, as a variant too, and so has one of the disk', async () => {
    const id = await sendBytes(png(8, 8, quarters), 'image/png');
    for (const [path, options] of [
      [`/api/v1/objects/${id}`, { key }],
      [`/api/v1/objects/${id}?w=16`, { key }],
    ] as const) {
      const { body } = await app.call('GET', path, options);
      expect([path, body.code]).toEqual([path, 'bytes_missing']);
    }
    const management = `/api/public/v1/projects/${project_id}/objects/${id}/variant?w=16`;
    const variant = await app.call('GET', management, { token });
    expect(variant.body).toMatchObject({ error: { code: 'bytes_missing' } });

    const { database, blobs } = app.services;
    const upload = blobs.openUpload(id);
    await upload.write(Buffer.alloc(10));
    await upload.commit();
    await database.write((tx) => tx.run(sql`UPDATE objects SET store = 'local' WHERE public_id = ${id}`));
    rmSync(blobs.path(id));
    for (const path of [`/api/v1/objects/${id}`, `/api/v1/objects/${id}?w=16`])
      expect(await app.call('GET', path, { key })).toMatchObject({
        status: 404,
        body: { code: 'bytes_missing' },
      });
    expect(await app.call('GET', management, { token })).toMatchObject({
      status: 404,
      body: { error: { code: 'bytes_missing' } },
    });
  });
});

test('a store whose authority is unknown says how that is made known', async () => {
  const server = Bun.serve({ port: 0, tls: SERVER_CERTIFICATES.elsewhere, fetch: () => new Response('x') });
  const endpoint = encodeURIComponent(`https://127.0.0.1:${server.port}`);
  const { object_store } = loadConfig({
    ...store.env,
    SATCHEL_OBJECT_STORE: `s3://bucket?endpoint=${endpoint}&style=path`,
  });
  if (!object_store) throw new Error('there is no store');
  const s3 = new S3Store(object_store);
  await s3.probe();
  expect(s3.trouble?.reason).toContain('NODE_EXTRA_CA_CERTS');
  await server.stop(true);
});

test('a store that takes connections and says nothing is away to health within 10 s of a start', async () => {
  store.answer = () => new Promise<Response>(() => {});
  const silent = await startTestApp({ env: store.env });
  await until(() => silent.services.status.health().status === 'degraded', 10_000);
});
