/** The guide's blocks for several machines: two Satchels behind a real HAProxy, and behind a real Caddy, by host and by key. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../support/cleanup.ts';
import { blocksOf, guide } from '../support/documents.ts';
import { parseObject } from '../support/helpers.ts';
import { part } from '../support/parts.ts';
import { SERVER_CERTIFICATES } from '../support/smtp-certificates.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { type Server, satchel, startServer, upload } from './binary.ts';
import { freePort } from './paste.ts';

const blockOf = (language: string, index = 0) => blocksOf(guide('proxies'), language)[index] ?? '';
const UPLOAD_BYTES = 20_000_000;

interface Ports {
  https: string;
  one: string;
  two: string;
}

const PROXIES = [
  {
    name: 'haproxy',
    program: part('haproxy'),
    /** The blocks as they stand, but for the addresses of the machines and the place of the files. */
    start(program: string, dir: string, ports: Ports, moved: string) {
      const { cert, key } = SERVER_CERTIFICATES.localhost;
      mkdirSync(join(dir, 'certs'));
      writeFileSync(join(dir, 'certs/site.pem'), cert + key);
      const [hosts = '', keys = ''] = blocksOf(guide('proxies'), 'text');
      writeFileSync(join(dir, 'hosts.map'), hosts);
      writeFileSync(join(dir, 'keys.map'), keys.replace('sat_live_AbCd12', moved));
      const config = blockOf('haproxy')
        .replaceAll('/etc/haproxy/', `${dir}/`)
        .replace(':443', `127.0.0.1:${ports.https}`)
        .replace('10.0.0.1:8420', `127.0.0.1:${ports.one}`)
        .replace('10.0.0.2:8420', `127.0.0.1:${ports.two}`);
      writeFileSync(join(dir, 'haproxy.cfg'), config);
      return Bun.spawn([program, '-db', '-f', join(dir, 'haproxy.cfg')], {
        stdout: 'ignore',
        stderr: 'ignore',
      });
    },
  },
  {
    name: 'caddy',
    program: part('caddy'),
    start(program: string, dir: string, ports: Ports, moved: string) {
      const options = `{\n\tadmin off\n\tskip_install_trust\n\thttps_port ${ports.https}\n\thttp_port ${freePort()}\n}\n`;
      const site = blockOf('caddy', 1)
        .replace('{\n', '{\n\ttls internal\n')
        .replace('sat_live_AbCd12', moved)
        .replaceAll('10.0.0.1:8420', `127.0.0.1:${ports.one}`)
        .replaceAll('10.0.0.2:8420', `127.0.0.1:${ports.two}`);
      writeFileSync(join(dir, 'Caddyfile'), options + site);
      return Bun.spawn([program, 'run', '--config', join(dir, 'Caddyfile')], {
        ...{ stdout: 'ignore', stderr: 'ignore' },
        env: { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
      });
    },
  },
];

/** One Satchel with a project, a key of it, and a mailbox that captures. */
async function makeMachine(
  name: string,
): Promise<{ data_dir: string; server: Server; port: string; key: string }> {
  const data_dir = makeTempDir();
  const port = freePort();
  const server = await startMachine(name, data_dir, port);
  await run(data_dir, 'domain', 'add', 'mail.example.com', '--trust');
  await run(data_dir, 'mailbox', 'add', 'shop@mail.example.com', '--capture');
  return { data_dir, server, port, key: await makeProject(data_dir, 'shop') };
}

/** Runs a verb, and returns what it printed. */
async function run(data_dir: string, ...verb: string[]): Promise<Record<string, unknown>> {
  const outcome = await satchel([...verb, '--data-dir', data_dir, '--json']);
  expect(outcome).toMatchObject({ exit: 0 });
  return outcome.json;
}

/** Makes a project, and returns a key of it. */
async function makeProject(data_dir: string, slug: string): Promise<string> {
  await run(data_dir, 'project', 'create', '--name', slug, '--slug', slug);
  const of_key = ['--project', slug, '--name', 'web', '--can', 'read,write,email'];
  return String((await run(data_dir, 'key', 'create', ...of_key)).plaintext_key);
}

function startMachine(name: string, data_dir: string, port: string): Promise<Server> {
  const env = {
    SATCHEL_PUBLIC_URL: `https://${name}.example.com`,
    SATCHEL_TRUSTED_PROXIES: '127.0.0.1',
    SATCHEL_MAX_UPLOAD_BYTES: String(UPLOAD_BYTES),
  };
  return startServer(data_dir, env, [], ['--port', port]);
}

describe.each(PROXIES)('$name', ({ program, start }) => {
  const dir = makeTempDir();
  const file = join(dir, 'large.bin');
  let port = '';
  let one: Awaited<ReturnType<typeof makeMachine>>;
  let two: Awaited<ReturnType<typeof makeMachine>>;
  /** The key of a project that was on the first machine and is on the second, and a file of it. */
  let moved = '';
  let before: Awaited<ReturnType<typeof upload>>;

  beforeAll(async () => {
    if (program === null) return;
    writeFileSync(file, new Uint8Array(UPLOAD_BYTES).fill(7));
    [one, two] = await Promise.all([makeMachine('one'), makeMachine('two')]);
    moved = await makeProject(one.data_dir, 'gallery');
    before = await upload(one.server.url, moved, 'from before');
    const [moving, passphrase] = [join(dir, 'gallery.satchel'), join(dir, 'passphrase')];
    writeFileSync(passphrase, 'correct horse battery staple');
    await run(one.data_dir, 'project', 'export', 'gallery', moving, '--passphrase', `@${passphrase}`);
    await run(two.data_dir, 'project', 'import', moving, '--passphrase', `@${passphrase}`, '--go');
    port = freePort();
    const prefix = moved.slice(0, 'sat_live_AbCd12'.length);
    const proxy = start(program, dir, { https: port, one: one.port, two: two.port }, prefix);
    atEnd(async () => {
      proxy.kill('SIGKILL');
      await proxy.exited;
    });
    for (const host of ['one', 'two'])
      await until(async () => (await ask(host, null, '/api/health')).includes('"ok"'));
  }, 60_000);

  /** By curl, which can come from another address of this machine than the proxy. */
  async function ask(host: string, key: string | null, path: string, ...options: string[]): Promise<string> {
    const name = `${host}.example.com:${port}`;
    const from = ['--resolve', `${name}:127.0.0.1`, '--interface', '127.0.0.2'];
    const headers = ['-H', 'X-Forwarded-For: 192.0.2.9', '-H', 'X-App-Id: com.example.app'];
    const as = key ? ['-H', `X-API-Key: ${key}`] : [];
    const child = Bun.spawn(
      ['curl', '-sk', ...from, ...headers, ...as, ...options, `https://${name}${path}`],
      {
        stdout: 'pipe',
      },
    );
    return await new Response(child.stdout).text();
  }

  const statusOf = (host: string, key: string | null, path: string) =>
    ask(host, key, path, '-o', join(dir, 'answer'), '-w', '%{http_code}');
  const send = (host: string, key: string) => {
    const mail = { to: 'ann@example.org', subject: 'Hi', body_text: 'Hi' };
    return ask(
      host,
      key,
      '/api/v1/emails/send',
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify(mail),
    );
  };

  test.skipIf(program === null)(
    'a host is answered by its machine, a key that moved by the one it moved to',
    async () => {
      for (const [host, key, answered_by] of [
        ['one', one.key, 'one'],
        ['two', two.key, 'two'],
        ['two', moved, 'two'],
        // By the host that its app has known.
        ['one', moved, 'two'],
      ] as const) {
        const stored = parseObject(
          await ask(
            host,
            key,
            '/api/v1/objects',
            '-F',
            'file=@/dev/null;filename=a.txt',
            '-F',
            'visibility=public',
          ),
        );
        expect(stored.url).toStartWith(`https://${answered_by}.example.com/`);
        const path = `/api/v1/objects/${stored.public_id}`;
        // Without a key it goes by the host.
        expect(await statusOf('one', null, path)).toBe(answered_by === 'one' ? '200' : '404');
        expect(await statusOf('two', null, path)).toBe(answered_by === 'two' ? '200' : '404');
      }
      expect(await statusOf('one', two.key, '/api/v1/objects')).toBe('401');
      expect(await statusOf('two', one.key, '/api/v1/objects')).toBe('401');
    },
  );

  test.skipIf(program === null)('a file of a project that moved is there as before', async () => {
    expect(await ask('one', moved, `/api/v1/objects/${before?.public_id}`)).toBe('from before');
    expect(await ask('two', null, `/api/v1/objects/${before?.public_id}`)).toBe('from before');
  });

  test.skipIf(program === null)(
    'large files go through to either machine, and back',
    async () => {
      await Promise.all(
        [one.key, moved].map(async (key, index) => {
          const stored = parseObject(
            await ask('one', key, '/api/v1/objects', '-F', `file=@${file}`, '-F', 'visibility=private'),
          );
          expect(stored).toMatchObject({ size_bytes: UPLOAD_BYTES });
          const back = join(dir, `back-${index}.bin`);
          await ask('one', key, `/api/v1/objects/${stored.public_id}`, '-o', back);
          expect(readFileSync(back).equals(readFileSync(file))).toBe(true);
        }),
      );
    },
    60_000,
  );

  test.skipIf(program === null)(
    'mail stands in the log of its machine, with the address that it came from',
    async () => {
      for (const [host, key, other] of [
        ['one', one.key, two],
        ['one', moved, one],
      ] as const) {
        const { id } = parseObject(await send(host, key));
        expect(parseObject(await ask(host, key, `/api/v1/emails/${id}`))).toMatchObject({ ip: '127.0.0.2' });
        const elsewhere = await satchel(['email', 'why', String(id), '--data-dir', other.data_dir]);
        expect(elsewhere.stderr).toContain('not found');
      }
    },
  );

  test.skipIf(program === null)(
    'a machine that is down harms nobody on the other, and is asked again once it is back',
    async () => {
      const uploading = ask('one', one.key, '/api/v1/objects', '-F', `file=@${file}`, '--limit-rate', '20M');
      await two.server.end('SIGKILL');
      expect(await statusOf('two', two.key, '/api/v1/objects')).toMatch(/^50[23]$/);
      expect(await statusOf('one', moved, '/api/v1/objects')).toMatch(/^50[23]$/);
      expect(await statusOf('one', one.key, '/api/v1/objects')).toBe('200');
      expect(parseObject(await send('one', one.key))).toMatchObject({ status: 'queued' });
      expect(parseObject(await uploading)).toMatchObject({ size_bytes: UPLOAD_BYTES });
      two.server = await startMachine('two', two.data_dir, two.port);
      await until(async () => (await statusOf('two', two.key, '/api/v1/objects')) === '200');
      expect(await statusOf('one', moved, '/api/v1/objects')).toBe('200');
    },
    60_000,
  );
});
