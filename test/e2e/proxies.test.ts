/** The guide's blocks for Caddy and nginx, with real ones: large files both ways, and the client's own address. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../support/cleanup.ts';
import { blocksOf, guide } from '../support/documents.ts';
import { part } from '../support/parts.ts';
import { SERVER_CERTIFICATES } from '../support/smtp-certificates.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { type Server, satchel, startServer } from './binary.ts';
import { freePort } from './paste.ts';

const HOST = 'satchel.example.com';
/** A project's own name for its links, which leads to the same proxy. */
const LINKS = 'links.example.com';
const blockOf = (language: string) => blocksOf(guide('proxies'), language)[0] ?? '';
const SETTINGS = Object.fromEntries(
  blockOf('ini')
    .trim()
    .split('\n')
    .map((line) => line.split('=') as [string, string]),
);

const PROXIES = [
  {
    name: 'caddy',
    program: part('caddy'),
    /** The block as it stands, but for the ports, and a certificate that no authority has to give. */
    start(program: string, dir: string, ports: { https: string; satchel: string }) {
      const options = `{\n\tadmin off\n\tskip_install_trust\n\thttps_port ${ports.https}\n\thttp_port ${freePort()}\n}\n`;
      const site = blockOf('caddy')
        .replace('8420', ports.satchel)
        .replace('{\n', '{\n\ttls internal\n')
        .replace(HOST, `${HOST}, ${LINKS}`);
      writeFileSync(join(dir, 'Caddyfile'), options + site);
      return Bun.spawn([program, 'run', '--config', join(dir, 'Caddyfile')], {
        ...{ stdout: 'ignore', stderr: 'ignore' },
        env: { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
      });
    },
  },
  {
    name: 'nginx',
    program: part('nginx'),
    start(program: string, dir: string, ports: { https: string; satchel: string }) {
      const { cert, key } = SERVER_CERTIFICATES.localhost;
      writeFileSync(join(dir, 'cert.pem'), cert);
      writeFileSync(join(dir, 'key.pem'), key);
      const server = blockOf('nginx')
        .replace('listen [::]:443 ssl;', '')
        .replace('443', ports.https)
        .replace(`server_name ${HOST}`, `server_name ${HOST} ${LINKS}`)
        .replace('8420', ports.satchel)
        .replace(/\/etc\/\S+fullchain.pem/, join(dir, 'cert.pem'))
        .replace(/\/etc\/\S+privkey.pem/, join(dir, 'key.pem'));
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (of) => `${of}_temp_path ${join(dir, of)};`,
      );
      writeFileSync(
        join(dir, 'nginx.conf'),
        `daemon off; master_process off; pid ${dir}/pid; events {} http { access_log off; ${folders.join(' ')}\n${server}}`,
      );
      return Bun.spawn([program, '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'errors')], {
        ...{ stdout: 'ignore', stderr: 'ignore' },
      });
    },
  },
];

describe.each(PROXIES)('$name', ({ program, start }) => {
  const dir = makeTempDir();
  let satchel_server: Server;
  let port = '';
  let key = '';

  beforeAll(async () => {
    if (program === null) return;
    const data_dir = join(dir, 'data');
    satchel_server = await startServer(data_dir, { ...SETTINGS, SATCHEL_MAX_UPLOAD_BYTES: '50000000' });
    const on = ['--data-dir', data_dir, '--json'];
    await satchel(['project', 'create', '--name', 'Shop', ...on]);
    await satchel(['domain', 'add', 'mail.example.com', '--trust', ...on]);
    await satchel(['mailbox', 'add', 'shop@mail.example.com', '--capture', ...on]);
    const can = ['--can', 'read,write,email'];
    const made = await satchel(['key', 'create', '--project', 'shop', '--name', 'web', ...can, ...on]);
    key = String(made.json.plaintext_key);
    port = freePort();
    const proxy = start(program, dir, { https: port, satchel: new URL(satchel_server.url).port });
    atEnd(async () => {
      proxy.kill('SIGKILL');
      await proxy.exited;
    });
    await until(async () => (await ask('/api/health')).includes('"ok"'));
  }, 60_000);

  /** By curl, which can come from another address of this machine than the proxy. */
  async function ask(path: string, ...options: string[]): Promise<string> {
    const names = [HOST, LINKS].flatMap((name) => ['--resolve', `${name}:${port}:127.0.0.1`]);
    const resolve = [...names, '--interface', '127.0.0.2'];
    const headers = [
      '-H',
      `X-API-Key: ${key}`,
      '-H',
      'X-Forwarded-For: 192.0.2.9',
      '-H',
      'X-App-Id: com.example.app',
    ];
    const address = path.startsWith('/') ? `https://${HOST}:${port}${path}` : path;
    const child = Bun.spawn(['curl', '-sk', ...resolve, ...headers, ...options, address], { stdout: 'pipe' });
    return await new Response(child.stdout).text();
  }

  test.skipIf(program === null)('lets large files through, and their refusal too', async () => {
    const file = join(dir, 'large.bin');
    writeFileSync(file, new Uint8Array(30_000_000).fill(7));
    const stored = JSON.parse(await ask('/api/v1/objects', '-F', `file=@${file}`, '-F', 'visibility=public'));
    expect(stored).toMatchObject({
      size_bytes: 30_000_000,
      url: expect.stringContaining(`https://${HOST}/api/`),
    });
    await ask(`/api/v1/objects/${stored.public_id}`, '-o', join(dir, 'back.bin'));
    expect(readFileSync(join(dir, 'back.bin')).equals(readFileSync(file))).toBe(true);
    writeFileSync(file, new Uint8Array(60_000_000));
    expect(await ask('/api/v1/objects', '-F', `file=@${file}`)).toContain('SATCHEL_MAX_UPLOAD_BYTES');
  });

  test.skipIf(program === null)("answers under a project's own name its files and nothing else", async () => {
    const { public_id } = JSON.parse(
      await ask('/api/v1/objects', '-F', 'file=hello;filename=a.txt', '-F', 'visibility=public'),
    );
    const data_dir = join(dir, 'data');
    await satchel(['project', 'change', 'shop', '--link-domain', LINKS, '--data-dir', data_dir]);
    const at = (path: string) => ask(`https://${LINKS}:${port}${path}`, '-w', ' %{http_code}');
    expect(await at('/.well-known/satchel')).toMatch(/^[0-9a-f]{64} 200$/);
    expect(await at(`/api/v1/objects/${public_id}`)).toBe('hello 200');
    for (const path of ['/console', '/docs', '/api/health', '/']) expect(await at(path)).toEndWith(' 404');
    expect(await ask('/api/health')).toContain('"ok"');
  });

  test.skipIf(program === null)('tells who asks, whatever they say themselves', async () => {
    const mail = { to: 'ann@example.org', subject: 'Hi', body_text: 'Hi' };
    const json = ['-H', 'Content-Type: application/json', '-d', JSON.stringify(mail)];
    const { id } = JSON.parse(await ask('/api/v1/emails/send', ...json));
    expect(JSON.parse(await ask(`/api/v1/emails/${id}`))).toMatchObject({ ip: '127.0.0.2' });
  });
});
