/** Which relays are not even tried, as nobody says where they are: the system's own look-up would hold up the whole process. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { whyUnanswered } from '../../../src/platform/mail/relay-name.ts';
import { type DnsServer, startDnsServer } from '../../dns-server.ts';

let server: DnsServer;
let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-hosts-'));
  server = await startDnsServer({
    'relay.example': { a: ['192.0.2.1'] },
    'silent.example': { fault: 'servfail' },
  });
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

async function ask(host: string, hosts = ''): Promise<string | null> {
  const hosts_path = join(dir, 'hosts');
  await writeFile(hosts_path, hosts);
  const resolver = createResolver({
    servers: [server.address],
    deadline_ms: 60_000,
    try_timeout_ms: 30_000,
  });
  return whyUnanswered(host, { resolver, hosts_path });
}

test('a relay whose name servers give no answer is not tried, and the reason is told', async () => {
  expect(await ask('silent.example')).toMatch(/^The relay's name could not be looked up: .*SERVFAIL/);
});

test.each(['relay.example', 'missing.example'])(
  '%s, of which the name servers tell, is left to the system',
  async (host) => expect(await ask(host)).toBeNull(),
);

test('what the system knows by itself is asked of no name server', async () => {
  server.queries.length = 0;
  for (const host of ['localhost', '127.0.0.1', '::1', '192.0.2.7', 'mail'])
    expect(await ask(host)).toBeNull();
  expect(await ask('silent.example', '# local\n192.0.2.9\tOther Silent.Example\n')).toBeNull();
  expect(server.queries).toEqual([]);
});
