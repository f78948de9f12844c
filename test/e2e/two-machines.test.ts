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
import { type Server, satchel, startServer } from './binary.ts';
import { freePort } from './paste.ts';

const blockOf = (language: string, index = 0) => blocksOf(guide('proxies'), language)[index] ?? '';
const UPLOAD_BYTES = 50_000_000;

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

/** One Satchel with a project, a mailbox that captures, and two keys of it, the first of which stays when the project moves. */
async function makeMachine(
  name: string,
): Promise<{ data_dir: string; server: Server; port: string; keys: string[] }> {
  const data_dir = makeTempDir();
  const port = freePort();
  const server = await startMachine(name, data_dir, port);
  const on = ['--data-dir', data_dir, '--json'];
  for (const command of [
    ['project', 'create', '--name', 'Shop'],
    ['domain', 'add', 'mail.example.com', '--trust'],
    ['mailbox', 'add', 'shop@mail.example.com', '--capture'],
  ])
    expect(await satchel([...command, ...on])).toMatchObject({ exit: 0 });
  const keys: string[] = [];
  for (const key of ['web', 'other']) {
    const can = ['--can', 'read,write,email'];
    const { json } = await satchel(['key', 'create', '--project', 'shop', '--name', key, ...can, ...on]);
    keys.push(String(json.plaintext_key));
  }
  return { data_dir, server, port, keys };
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

  beforeAll(async () => {
    if (program === null) return;
    writeFileSync(file, new Uint8Array(UPLOAD_BYTES).fill(7));
    [one, two] = await Promise.all([makeMachine('one'), makeMachine('two')]);
    port = freePort();
    // The second machine's other key stands for one of a project that was on the first.
    const moved = two.keys[1]?.slice(0, 'sat_live_AbCd12'.length) ?? '';
    const proxy = start(program, dir, { https: port, one: one.port, two: two.port }, moved);
    atEnd(async () => {
      proxy.kill('SIGKILL');
      await proxy.exited;
    });
    for (const host of ['one', 'two'])
      await until(async () => (await ask(host, null, '/api/health')).includes('"ok"'));
  }, 60_000);

  /** By curl, which can come from another address of this machine than the proxy. */
  async function ask(
    host: string,
    key: string | null | undefined,
    path: string,
    ...options: string[]
  ): Promise<string> {
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

  const statusOf = (host: string, key: string | null | undefined, path: string) =>
    ask(host, key, path, '-o', join(dir, 'answer'), '-w', '%{http_code}');
  const send = (host: string, key: string | undefined) => {
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
        ['one', one.keys[0], 'one'],
        ['two', two.keys[0], 'two'],
        ['two', two.keys[1], 'two'],
        // By the host it was made for.
        ['one', two.keys[1], 'two'],
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
      expect(await statusOf('one', two.keys[0], '/api/v1/objects')).toBe('401');
      expect(await statusOf('two', one.keys[0], '/api/v1/objects')).toBe('401');
    },
  );

  test.skipIf(program === null)(
    'large files go through to either machine, and back',
    async () => {
      await Promise.all(
        [
          ['one', one.keys[0]],
          ['one', two.keys[1]],
        ].map(async ([host = '', key], index) => {
          const stored = parseObject(
            await ask(host, key, '/api/v1/objects', '-F', `file=@${file}`, '-F', 'visibility=private'),
          );
          expect(stored).toMatchObject({ size_bytes: UPLOAD_BYTES });
          const back = join(dir, `back-${index}.bin`);
          await ask(host, key, `/api/v1/objects/${stored.public_id}`, '-o', back);
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
        ['one', one.keys[0], two],
        ['one', two.keys[1], one],
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
      const uploading = ask(
        'one',
        one.keys[0],
        '/api/v1/objects',
        '-F',
        `file=@${file}`,
        '--limit-rate',
        '50M',
      );
      await two.server.end('SIGKILL');
      expect(await statusOf('two', two.keys[0], '/api/v1/objects')).toMatch(/^50[23]$/);
      expect(await statusOf('one', two.keys[1], '/api/v1/objects')).toMatch(/^50[23]$/);
      expect(await statusOf('one', one.keys[0], '/api/v1/objects')).toBe('200');
      expect(parseObject(await send('one', one.keys[0]))).toMatchObject({ status: 'queued' });
      expect(parseObject(await uploading)).toMatchObject({ size_bytes: UPLOAD_BYTES });
      two.server = await startMachine('two', two.data_dir, two.port);
      await until(async () => (await statusOf('two', two.keys[0], '/api/v1/objects')) === '200');
      expect(await statusOf('one', two.keys[1], '/api/v1/objects')).toBe('200');
    },
    60_000,
  );
});
