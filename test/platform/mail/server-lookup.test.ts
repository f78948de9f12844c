/** Where relays and inboxes are: who is asked, what the answer may be, and when the system is left alone. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { findServer } from '../../../src/platform/mail/server-lookup.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let server: DnsServer;
let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-hosts-'));
  server = await startDnsServer({
    'relay.example': { aaaa: ['2001:db8::1'], a: ['192.0.2.1', '192.0.2.2'] },
    'many.example': { a: Array.from({ length: 20 }, (_, n) => `192.0.2.${n + 1}`) },
    'mixed.example': { aaaa: ['fe80::1'], a: ['169.254.169.254', '192.0.2.3'] },
    'metadata.example': {
      a: ['169.254.169.254'],
      aaaa: ['fe80::1', '::ffff:169.254.1.1', '64:ff9b::a9fe:a9fe'],
    },
    'empty.example': {},
    'silent.example': { fault: 'silence' },
    'broken.example': { fault: 'servfail' },
  });
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Where silence is expected, it should pass soon; where an answer is, a slow machine must not fail the test. */
async function ask(
  host: string,
  options: { hosts?: string; try_timeout_ms?: number; slow_ms?: number; servers?: string[] } = {},
) {
  const { hosts = '', try_timeout_ms = 30_000, slow_ms = 60_000, servers = [server.address] } = options;
  const hosts_path = join(dir, 'hosts');
  await writeFile(hosts_path, hosts);
  server.queries.length = 0;
  const resolver = createResolver({ servers, deadline_ms: 60_000, try_timeout_ms });
  let asked_system = 0;
  const askSystem = async (name: string) => {
    asked_system += 1;
    if (name === 'missing.example') throw new Error('ENOTFOUND');
    return ['198.51.100.1'];
  };
  const found = await findServer(host, { resolver, hosts_path, slow_ms, askSystem }).catch(
    ({ message }: Error) => message,
  );
  return { found, asked_system };
}

test('what the name servers know is asked of nobody else, IPv4 before IPv6, a few addresses at most', async () => {
  const relay = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
  expect(await ask('relay.example')).toEqual({ found: relay, asked_system: 0 });
  expect((await ask('many.example')).found).toHaveLength(4);
});

test.each([
  ['without a route', '255.255.255.255'],
  ['without a route, in IPv6', '[fe80::1]'],
  ['that nobody listens at', '127.0.0.1:1'],
])('a name server %s is as one that is silent: the next one is asked', async (_, dead) => {
  const { found } = await ask('relay.example', { servers: [dead, server.address] });
  expect(found).toContain('192.0.2.1');
  const alone = await ask('relay.example', { servers: [dead], slow_ms: 0 });
  expect(alone).toEqual({
    found: expect.stringContaining("The server's name could not be looked up:"),
    asked_system: 0,
  });
});

test('a server whose name servers say nothing is not asked of the system, and the reason is told', async () => {
  const { found, asked_system } = await ask('silent.example', { try_timeout_ms: 50, slow_ms: 50 });
  expect(found).toMatch(/^The server's name could not be looked up: .*no answer within 50 ms\.$/);
  expect(asked_system).toBe(0);
});

test.each(['empty.example', 'broken.example'])(
  '%s, which they do not find, may be known to the system',
  async (host) => expect(await ask(host)).toEqual({ found: ['198.51.100.1'], asked_system: 1 }),
);

test('a name that nobody knows is told as that', async () => {
  expect((await ask('missing.example')).found).toBe('There is no server named missing.example.');
});

test('what the system knows by itself is asked of no name server', async () => {
  expect(await ask('mail')).toEqual({ found: ['198.51.100.1'], asked_system: 1 });
  const hosts = '# local\n192.0.2.9\tOther Silent.Example\n';
  expect(await ask('silent.example', { hosts })).toEqual({ found: ['198.51.100.1'], asked_system: 1 });
  expect(server.queries).toEqual([]);
  for (const host of ['127.0.0.1', '::1', '192.0.2.7'])
    expect(await ask(host)).toEqual({ found: [host], asked_system: 0 });
  expect(await ask('localhost')).toEqual({ found: ['127.0.0.1', '::1'], asked_system: 0 });
  expect(server.queries).toEqual([]);
});

test('a link-local address is never connected to, whatever leads there', async () => {
  expect((await ask('mixed.example')).found).toEqual(['192.0.2.3']);
  for (const host of ['metadata.example', '169.254.1.1', '::ffff:169.254.1.1', 'fe80::1'])
    expect((await ask(host)).found).toContain('is at a link-local address');
});
