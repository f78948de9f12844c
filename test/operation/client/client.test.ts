/** The client that is printed: a method for each endpoint of the data plane, types that hold, and the same app in each runtime. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { ApiDocument } from '../../../src/operation/client/document.ts';
import { groupsOf } from '../../../src/operation/client/methods.ts';
import { printClient } from '../../../src/operation/client/service.ts';
import { openChromium } from '../../support/chromium.ts';
import { atEnd } from '../../support/cleanup.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { blocksOf, guide, readme } from '../../support/documents.ts';
import { addCapturingMailbox, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { makeTempDir } from '../../support/temp.ts';

const ROOT = join(import.meta.dir, '../../..');
// A compiler and a browser on a busy machine.
setDefaultTimeout(120_000);

/** An app as people write one; each line of `wrong` must not compile. */
const APP = `
import { type Email, type ListedObject, Satchel, SatchelError } from './satchel.ts';

export async function run(url: string, key: string, bytes: number) {
  const satchel = new Satchel({ url, key });
  const told: { loaded: number; total: number | null }[] = [];
  const file = new Blob([new Uint8Array(bytes)], { type: 'application/octet-stream' });
  const stored = await satchel.objects.upload(file, {
    filename: 'zeros.bin',
    visibility: 'public',
    expires_in_days: 3,
    onProgress: (progress) => told.push(progress),
  });
  const expires: string | null = stored.expires_at;
  const again = await satchel.objects.download(stored.public_id, {}, { headers: { Range: 'bytes=0-99' } });
  const part = await again.arrayBuffer();
  const list = await satchel.emailTemplates.list();
  const sent = await satchel.emails.send({
    to: 'ann@example.org', subject: 'Hello', body_text: 'Hi!', queue: false, variables: { a: [1, { b: null }] },
  });
  const log: Email[] = [];
  for await (const email of satchel.emails.list({ per_page: 1, status: sent.status })) log.push(email);
  const page = await satchel.objects.list({ q: 'zeros', visibility: 'public' });
  const listed: ListedObject | undefined = page.data[0];
  const total: number = page.meta.total;
  // Email marketing is for servers.
  const signed_up = 'document' in globalThis ? null : await signUp(satchel);
  const refusal = await satchel.emails.get('nothing').catch((error: unknown) => error);
  if (!(refusal instanceof SatchelError)) throw refusal;
  await satchel.objects.delete(stored.public_id);
  return {
    told: told.at(-1), is_rising: told.every(({ loaded }, index) => loaded >= (told[index - 1]?.loaded ?? 0)),
    is_told_on_the_way: 'document' in globalThis || told.length > 4,
    expires, size: stored.size_bytes, part: part.byteLength, status: again.status, templates: list.data.length, sent: sent.status,
    log: log.length, name: listed?.original_filename, total, signed_up,
    refusal: { status: refusal.status, message: refusal.message, has_request: refusal.requestId !== null },
    runtime: 'Bun' in globalThis ? 'bun' : 'document' in globalThis ? 'browser' : 'node',
  };
}
`;
const SIGN_UP = `
async function signUp(satchel: Satchel) {
  const { id } = await satchel.contactLists.create({ name: 'News', default_consent_basis: 'consent' });
  const added = await satchel.contacts.create(id, { email: 'ann@example.org' });
  const repeated = await satchel.contacts.create(id, { email: 'ann@example.org' });
  const csv = await satchel.contacts.exportCsv(id, { tags_none: ['gone', 'left'], joined_after: '2020-01-01' });
  const none = await satchel.contacts.list(id, { custom: { plan: 'pro' } });
  return { duplicates: [added.duplicate ?? null, repeated.duplicate ?? null], rows: csv.trim().split('\\n').length, none: none.data };
}
`;
const WRONG = `
export async function wrong(satchel: Satchel): Promise<void> {
  const stored = await satchel.objects.upload(new Uint8Array(1));
  // @ts-expect-error: it may be null
  stored.expires_at.length;
  // @ts-expect-error: there is no such visibility
  await satchel.objects.upload(new Blob([]), { visibility: 'secret' });
  // @ts-expect-error: to whom?
  await satchel.emails.send({ subject: 'Hello' });
  // @ts-expect-error: there is no such status
  satchel.emails.list({ status: 'lost' });
  // @ts-expect-error: what is left out is left out
  satchel.emails.list({ status: undefined });
  // @ts-expect-error: it is done once under no key
  await satchel.contacts.update('id', {}, { idempotencyKey: 'a' });
  // @ts-expect-error: a list has no such field
  for await (const file of satchel.objects.list()) file.email;
  // @ts-expect-error: a key is needed
  new Satchel({ url: '' });
}
`;

let app: TestApp;
let source = '';
let document: ApiDocument;
const dir = makeTempDir();

beforeAll(async () => {
  const dns = await startDnsServer({ '*': { mx: [{ exchange: 'mx.example.com', preference: 10 }] } });
  atEnd(() => dns.stop());
  app = await startTestApp({
    env: {
      SATCHEL_MAX_UPLOAD_BYTES: '20000000',
      SATCHEL_PUBLIC_URL: 'https://files.example.com',
      SATCHEL_DNS_SERVERS: dns.address,
    },
  });
  await addCapturingMailbox(app);
  source = (await app.call('GET', '/docs/satchel.ts')).text;
  document = JSON.parse((await app.call('GET', '/openapi.json')).text);
  await Bun.write(join(dir, 'satchel.ts'), source);
  await Bun.write(join(dir, 'app.ts'), APP + SIGN_UP + WRONG);
  const [readme_app = ''] = /(?<=app\.ts <<'EOF'\n).*?(?=^EOF$)/ms.exec(readme()) ?? [];
  await Bun.write(join(dir, 'readme-app.ts'), readme_app);
  await Bun.write(join(dir, 'page.ts'), blocksOf(guide('files'), 'ts').join('\n'));
  await Bun.write(join(dir, 'bundle.ts'), "export { run } from './app.ts';");
});

/** A project of its own, so that each runtime finds the same, and a key that may do all that the app does. */
async function newKey(slug: string): Promise<string> {
  const project = await makeProject(app, slug);
  return project.key({
    ...{ can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true },
    permissions: { email_template: true },
  });
}

describe('the file', () => {
  test('is the same wherever it comes from, and OpenAPI is where tools look for it', async () => {
    const { stdout, exitCode } = Bun.spawnSync([process.execPath, 'src/main.ts', 'client', 'typescript'], {
      cwd: ROOT,
    });
    expect([exitCode, stdout.toString()]).toEqual([0, source]);
    expect(printClient(document)).toBe(source);
    const [short, long] = [
      await app.call('GET', '/openapi.json'),
      await app.call('GET', '/docs/openapi.json'),
    ];
    expect(short.text).toBe(long.text);
    expect(short.headers.get('content-type')).toBe('application/json');
    expect((await app.call('GET', '/docs')).text).toContain('<a href="/docs/satchel.ts">');
  });

  test('needs no other, says of which version it is, and asks for no type that is none', () => {
    expect(source).toContain(`The client of Satchel ${document.info.version},`);
    expect(source).not.toMatch(/^\s*import\b|\bfrom '|require\(/m);
    expect(source).not.toMatch(/\bany\b(?=[\s;>[\],|)])(?<!\* [^\n]*)/);
  });

  const compiled: [string, { lib: string[]; types: string[] }, file: string][] = [
    ['a browser', { lib: ['ESNext', 'DOM', 'DOM.Iterable'], types: [] }, 'page.ts'],
    ['Bun', { lib: ['ESNext'], types: ['bun-types'] }, 'readme-app.ts'],
    ['Node', { lib: ['ESNext'], types: ['node'] }, 'readme-app.ts'],
  ];
  test.each(compiled)(
    'compiles strictly for %s, and an app that calls it wrongly does not',
    async (name, options, documented) => {
      const project = join(dir, `${name.replace(' ', '-')}.json`);
      const compilerOptions = {
        ...{
          target: 'ESNext',
          module: 'Preserve',
          moduleResolution: 'bundler',
          noEmit: true,
          skipLibCheck: true,
        },
        ...{
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          noImplicitReturns: true,
        },
        ...{
          noUnusedLocals: true,
          noUnusedParameters: true,
          noImplicitOverride: true,
        },
        ...{
          noFallthroughCasesInSwitch: true,
          verbatimModuleSyntax: true,
          isolatedModules: true,
          erasableSyntaxOnly: true,
        },
        allowImportingTsExtensions: true,
        typeRoots: [join(ROOT, 'node_modules'), join(ROOT, 'node_modules/@types')],
        ...options,
      };
      await Bun.write(
        project,
        JSON.stringify({ compilerOptions, files: ['satchel.ts', 'app.ts', documented] }),
      );
      const command = [process.execPath, 'x', '--bun', 'tsc', '--project', project];
      const { stdout, exitCode } = Bun.spawnSync(command, { cwd: ROOT });
      expect([stdout.toString(), exitCode]).toEqual(['', 0]);
    },
  );
});

describe('its methods', () => {
  test('are as many as the data plane has endpoints, each sends what its endpoint takes', async () => {
    const { Satchel } = await import(join(dir, 'satchel.ts'));
    const sent: string[] = [];
    const satchel: unknown = new Satchel({
      url: 'http://satchel.test',
      key: 'k',
      fetch(address: string, init: RequestInit) {
        sent.push(`${init.method} ${new URL(address).pathname}`);
        return Promise.resolve(Response.json({ data: [], meta: { next_page: null } }));
      },
    });
    // It is whatever an argument may be: a name in a path, a file, a body, a query or options.
    const anything = Object.assign(new Blob(['x']), { toString: () => 'x' });
    for (const group of Object.values(isObject(satchel) ? satchel : {}))
      for (const method of Object.values(isObject(group) ? group : {}))
        if (typeof method === 'function') await method(anything, anything, anything, anything);
    const known = app.app.routes
      .filter(({ plane, path }) => plane === 'data' && !path.startsWith('/uploads'))
      .map(({ method, path }) => `${method} /api/v1${path.replace(/:\w+/g, 'x')}`);
    expect(known.length).toBeGreaterThan(70);
    expect(sent.toSorted()).toEqual(known.toSorted());
  });

  test('have names that say what they do, each its own', () => {
    const groups = groupsOf(document);
    const names = groups.flatMap(({ name, methods }) => methods.map((method) => `${name}.${method.name}`));
    expect(names).toEqual([...new Set(names)]);
    // One that was taken falls back to the operation's id, which reads badly: NAMES in methods.ts is for those.
    expect(names.filter((name) => /\.(get|post|put|patch|delete)[A-Z]/.test(name))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining([
        ...[
          'objects.upload',
          'objects.download',
          'objects.list',
          'objects.createLink',
          'emails.send',
          'emails.sendBatch',
        ],
        ...[
          'emails.list',
          'emails.exportCsv',
          'emails.cancel',
          'emailTemplates.preview',
          'sequences.listEnrollments',
        ],
        ...[
          'contacts.bulkTag',
          'marketingSettings.update',
          'jobs.get',
          'captcha.verify',
          'productEvents.record',
        ],
      ]),
    );
  });

  test('take what comes: names that are taken, words of the language, shapes that hold themselves', () => {
    const $ref = '#/components/schemas/Progress';
    const answer = { 200: { content: { 'application/json': { schema: { $ref } } } } };
    const operation = { summary: 'It */ ends', tags: ['Odd things'], parameters: [], responses: answer };
    const printed = printClient({
      info: { version: '1' },
      tags: [],
      paths: {
        '/api/v1/a/{import}': { get: { ...operation, operationId: 'getAByImport' } },
        '/api/v1/b/{class}': {
          get: { ...operation, operationId: 'getBByClass' },
          head: { ...operation, operationId: 'no' },
        },
        '/api/public/v1/c': { get: { ...operation, operationId: 'getC' } },
      },
      components: {
        schemas: {
          Progress: {
            type: 'object',
            properties: { 'a-b': { type: ['array', 'null'], items: { $ref } } },
            required: ['a-b'],
          },
          Unused: { type: 'string' },
        },
      },
    });
    expect(printed).toContain('get(importId: string, options: CallOptions = {}): Promise<ProgressRecord> {');
    expect(printed).toContain('getBByClass(classId: string,');
    expect(printed).toContain("export type ProgressRecord = {\n  'a-b': ProgressRecord[] | null;\n};");
    expect(printed).toContain('It *\\/ ends');
    expect(printed).not.toMatch(/Unused|\/api\/public|'HEAD'/);
  });
});

describe('an app with it', () => {
  const BYTES = 5_000_000;
  const done = (runtime: string) => ({
    ...{
      told: { loaded: BYTES, total: BYTES },
      is_rising: true,
      is_told_on_the_way: true,
      size: BYTES,
      part: 100,
      status: 206,
      templates: 0,
      sent: 'sent',
    },
    ...{
      expires: expect.any(String),
      log: 1,
      name: 'zeros.bin',
      total: 1,
    },
    refusal: { status: 404, message: expect.any(String), has_request: true },
    signed_up: runtime === 'browser' ? null : { duplicates: [null, true], rows: 2, none: [] },
    runtime,
  });

  test('runs in Bun', async () => {
    const { run } = await import(join(dir, 'app.ts'));
    expect(await run(app.url, await newKey('bun'), BYTES)).toEqual(done('bun'));
  });

  const node = Bun.which('node');
  test.skipIf(node === null)('runs in Node', async () => {
    const file = await bundle('node');
    const script = `import { run } from ${JSON.stringify(file)};
      console.log(JSON.stringify(await run(${JSON.stringify(app.url)}, process.env.KEY, ${BYTES})));`;
    const child = Bun.spawn([node ?? '', '--input-type=module', '--eval', script], {
      ...{ stdout: 'pipe', stderr: 'pipe' },
      env: { KEY: await newKey('node') },
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual(done('node'));
  });

  test.skipIf(part('chromium') === null)('runs in a page of another site', async () => {
    const script = await Bun.file(await bundle('browser')).text();
    const site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) =>
        url.endsWith('.js')
          ? new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
          : new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } }),
    });
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(site.url.href);
      const told = await page.evaluate(
        async ([url, with_key, bytes]) => {
          // As in Electron, whose pages have parts of Node.
          Object.assign(globalThis, { process: { versions: { node: '24' } } });
          const path = '/app.js';
          const { run } = await import(path);
          return run(url, with_key, bytes);
        },
        [app.url, await newKey('browser'), BYTES] as const,
      );
      expect(told).toEqual(done('browser'));
    } finally {
      site.stop(true);
    }
  });

  /** The app and its client as JavaScript. */
  async function bundle(target: 'node' | 'browser'): Promise<string> {
    const { outputs } = await Bun.build({
      entrypoints: [join(dir, 'bundle.ts')],
      target,
      outdir: join(dir, target),
      naming: '[name].mjs',
    });
    return outputs[0]?.path ?? '';
  }
});

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
