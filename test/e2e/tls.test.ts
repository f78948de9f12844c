/** TLS by itself, by the executable and a real authority: the first certificate, restarts, a renewal under load, an authority that is away. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { blocksOf, guide } from '../support/documents.ts';
import { parseObject } from '../support/helpers.ts';
import { DUE, PEBBLE, type Pebble, startPebble } from '../support/pebble.ts';
import { makeDataDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { freePort, makeKey, type Server, satchel, startServer } from './binary.ts';

/** The guide's block, which the settings of the tests stand beside. */
const GUIDE = Object.fromEntries(
  (blocksOf(guide('proxies'), 'ini')[1] ?? '')
    .trim()
    .split('\n')
    .map((line) => line.split('=')),
);
const NAMES = ['satchel.example.com', 'www.satchel.example.com'];
const skip = PEBBLE === null;
const https_port = freePort();
const http_port = freePort();
const HTTP = `http://127.0.0.1:${http_port}`;
let pebble: Pebble;

beforeAll(async () => {
  if (!skip) pebble = await startPebble(Number(http_port));
});

function settings(more: Record<string, string> = {}): Record<string, string> {
  return {
    ...GUIDE,
    SATCHEL_TLS_HTTP_PORT: http_port,
    SATCHEL_PORT: https_port,
    SATCHEL_HOST: '127.0.0.1',
    SATCHEL_ACME_DIRECTORY: pebble.directory,
    SATCHEL_DNS_SERVERS: pebble.dns.address,
    NODE_EXTRA_CA_CERTS: pebble.ca_file,
    ...more,
  };
}

const serve = (data_dir: string, more: Record<string, string> = {}): Promise<Server> =>
  startServer(data_dir, settings(more), [], ['--port', https_port, '--acme-directory', pebble.directory]);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Asks at a name, on a connection of its own or one that is kept. */
function ask(path: string, options: { agent?: Agent; headers?: Record<string, string>; ca?: string } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(
    {
      host: '127.0.0.1',
      port: Number(https_port),
      path,
      servername: NAMES[0] ?? '',
      ca: options.ca ?? pebble.root,
      headers: { Host: NAMES[0] ?? '', ...options.headers },
      agent: options.agent ?? false,
    },
    (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
    },
  );
  sent.on('error', reject);
  sent.end();
  return promise;
}

/** The serial number of what a new connection is shown, or why there is none. */
function handshake(options: { maxVersion?: 'TLSv1.1' | 'TLSv1.3' } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(
    {
      host: '127.0.0.1',
      port: Number(https_port),
      servername: NAMES[0] ?? '',
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      ...options,
    },
    () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    },
  );
  socket.on('error', (error) => resolve(error.message));
  socket.on('close', () => resolve('hung up'));
  return promise;
}

const kept = (data_dir: string, name: string) => join(data_dir, 'tls', name);
const ordered = (data_dir: string) => parseObject(readFileSync(kept(data_dir, 'failed-order.json'), 'utf8'));

describe.skipIf(skip)('satchel serve --tls', () => {
  const data_dir = makeDataDir();

  test('serves nothing but the challenge before it has a certificate, and says why; then https', async () => {
    const release = pebble.hold();
    const server = await serve(data_dir);
    const early = await fetch(`${HTTP}/api/health`);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await early.text()).toBe(
      `There is no certificate for ${NAMES.join(', ')} yet, so nothing is served here. One is being ordered.\n`,
    );
    expect((await fetch(`${HTTP}/.well-known/acme-challenge/none`)).status).toBe(404);
    expect(await handshake()).not.toMatch(/^[0-9A-F]+$/);
    release();
    await until(() => server.stdout().includes(`satchel listening on https://${NAMES[0]}:${https_port}\n`));
    const health = await ask('/api/health');
    expect([health.status, health.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
    expect(JSON.parse(health.body)).toMatchObject({ app: 'satchel' });
    // The shortest names have no part of the path taken for theirs.
    for (const [path, status] of [
      ['/api/health', 200],
      ['/b/api/health', 404],
    ] as const)
      expect((await ask(path, { headers: { Host: 'a' } })).status).toBe(status);
    expect(await handshake({ maxVersion: 'TLSv1.1' })).not.toMatch(/^[0-9A-F]+$/);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(pebble.orders()).toBe(1);
  });

  test('keeps what it got to itself, and serves it at once after a restart, though the authority is away', async () => {
    const modes = readdirSync(join(data_dir, 'tls')).map((name) => [
      name,
      (statSync(kept(data_dir, name)).mode & 0o777).toString(8),
    ]);
    expect(modes.sort()).toEqual([
      ['account-key.pem', '600'],
      ['certificate.json', '600'],
    ]);
    expect((statSync(join(data_dir, 'tls')).mode & 0o777).toString(8)).toBe('700');
    pebble.is_away = true;
    const server = await serve(data_dir);
    expect(server.url).toBe(`https://${NAMES[0]}:${https_port}`);
    expect((await ask('/api/health')).status).toBe(200);
    pebble.is_away = false;
    expect(pebble.orders()).toBe(1);

    // While it serves: http leads to one of its names, and to nobody else's.
    const at = (host: string, path: string, method = 'GET') =>
      fetch(`${HTTP}${path}`, { method, headers: { Host: host }, redirect: 'manual' });
    for (const [host, path, location] of [
      [
        'WWW.satchel.example.com:80',
        '/a%0d%0ab?x=1&y=%20',
        `https://${NAMES[1]}:${https_port}/a%0d%0ab?x=1&y=%20`,
      ],
      ['evil.example', '/x', `https://${NAMES[0]}:${https_port}/x`],
      ['satchel.example.com.evil.example', '/', `https://${NAMES[0]}:${https_port}/`],
    ] as const) {
      const answer = await at(host, path, 'POST');
      expect([answer.status, answer.headers.get('location')]).toEqual([308, location]);
    }

    // Files come and go, and links lead to the first name.
    const form = new FormData();
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    form.set('file', new Blob(Array<Uint8Array>(40).fill(bytes), { type: 'application/x-test' }), 'a.bin');
    form.set('visibility', 'public');
    const over_tls = { tls: { ca: pebble.root, serverName: NAMES[0] ?? '' } };
    const stored = await fetch(`https://127.0.0.1:${https_port}/api/v1/objects`, {
      ...over_tls,
      method: 'POST',
      headers: { Host: NAMES[1] ?? '', 'X-API-Key': await makeKey(data_dir) },
      body: form,
    });
    const { url } = parseObject(await stored.text());
    expect(String(url)).toStartWith(`https://${NAMES[0]}:${https_port}/api/v1/objects/`);
    const there = await fetch(String(url).replace(NAMES[0] ?? '', '127.0.0.1'), {
      ...over_tls,
      headers: { Host: NAMES[0] ?? '' },
    });
    expect(Bun.hash(await there.bytes())).toBe(Bun.hash(Buffer.concat(Array<Uint8Array>(40).fill(bytes))));

    // A second one finds the ports taken, and says so.
    const second = await satchel(['serve', '--data-dir', makeDataDir()], { env: settings() });
    expect([second.exit, second.stderr]).toEqual([
      1,
      expect.stringContaining(`Cannot listen on 127.0.0.1 port ${https_port}`),
    ]);

    const doctor = await satchel(['doctor', '--json', '--data-dir', data_dir], { env: settings() });
    const findings = (doctor.json.findings as { check: string; status: string; message: string }[])
      .filter(({ check }) => check === 'certificate')
      .map(({ status, message }) => [status, message]);
    expect(findings).toEqual([
      ['ok', expect.stringMatching(/^The certificate for .* is good until 20/)],
      ['ok', `${NAMES[0]} leads to 127.0.0.1.`],
      ['ok', `${NAMES[1]} leads to 127.0.0.1.`],
    ]);
    expect(await server.end('SIGTERM')).toBe(0);
    for (const port of [https_port, http_port])
      Bun.listen({ hostname: '127.0.0.1', port: Number(port), socket: { data() {} } }).stop(true);
  });

  test('orders anew where the names have changed, and serves the old certificate until then', async () => {
    const before = pebble.orders();
    const release = pebble.hold();
    const server = await serve(data_dir, { SATCHEL_TLS: `${NAMES.join()},new.example.com` });
    const former = await handshake();
    release();
    await until(() => readFileSync(kept(data_dir, 'certificate.json'), 'utf8').includes('new.example.com'));
    await until(async () => (await handshake()) !== former);
    expect(pebble.orders()).toBe(before + 1);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('renews under load: no request on a kept connection fails, and who connects gets the new certificate', async () => {
    const dir = makeDataDir();
    mkdirSync(join(dir, 'tls'), { mode: 0o700 });
    const directory = pebble.directory;
    writeFileSync(
      kept(dir, 'certificate.json'),
      JSON.stringify({ ...DUE, acme_directory: directory, names: NAMES }),
      {
        mode: 0o600,
      },
    );
    const release = pebble.hold();
    const server = await serve(dir);
    const key = await makeKey(dir);
    expect(await handshake()).toBe('01');
    const ca = DUE.chain + pebble.root;
    let is_over = false;
    const told = new Map<number | string, number>();
    const load = Array.from({ length: 8 }, async (_, index) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const headers = { 'X-API-Key': key };
      while (!is_over) {
        const path = index % 2 === 0 ? '/api/health' : '/api/v1/objects';
        const status = await ask(path, { agent, headers, ca }).then((answer) => answer.status, String);
        told.set(status, (told.get(status) ?? 0) + 1);
      }
      agent.destroy();
    });
    await until(() => (told.get(200) ?? 0) > 100);
    release();
    await until(async () => /^[0-9A-F]{4,}$/.test(await handshake()));
    const at_renewal = told.get(200) ?? 0;
    await until(() => (told.get(200) ?? 0) > at_renewal + 100);
    is_over = true;
    await Promise.all(load);
    expect([...told.keys()]).toEqual([200]);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('waits after a failed order, over restarts and crashes, and says why', async () => {
    const dir = makeDataDir();
    pebble.is_away = true;
    const server = await serve(dir);
    const page = async () => (await fetch(HTTP)).text();
    await until(async () => (await page()).includes('failed'));
    expect(await page()).toMatch(
      /^There is no .*\. The order of .*Z failed: .+\nThe next one is at .*Z\.\n$/,
    );
    await server.end('SIGKILL');
    const failed = ordered(dir);
    expect(failed).toMatchObject({ failures: 1, names: NAMES });
    pebble.is_away = false;

    // A restart does not order before its time, though the authority is there again.
    const orders = pebble.orders();
    const again = await serve(dir);
    expect(await page()).toContain('failed');
    const doctor = await satchel(['doctor', '--json', '--data-dir', dir], { env: settings() });
    expect(doctor.exit).toBe(1);
    expect(doctor.stdout).toContain('failed-order.json, and restart the server');
    expect([ordered(dir), pebble.orders()]).toEqual([failed, orders]);
    await again.end('SIGTERM');

    // One that is broken off counts as failed.
    writeFileSync(kept(dir, 'failed-order.json'), JSON.stringify({ ...failed, next_ms: 1 }));
    pebble.hold();
    const third = await serve(dir);
    await until(() => ordered(dir).failures === 2);
    expect(await page()).toContain('One is being ordered.');
    await third.end('SIGKILL');
    const fourth = await serve(dir);
    expect(await page()).toContain('broken off as the server ended');
    await fourth.end('SIGTERM');
    expect(Number(ordered(dir).next_ms) - Number(ordered(dir).at_ms)).toBe(120_000);
  });
});
