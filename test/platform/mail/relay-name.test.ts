/** Which relays are not even tried, as nobody says where they are: the system's own look-up would hold up the whole process. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { whyUnanswered } from '../../../src/platform/mail/relay-name.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let server: DnsServer;
let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-hosts-'));
  server = await startDnsServer({
    'relay.example': { a: ['192.0.2.1'] },
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
  options: { hosts?: string; try_timeout_ms?: number; slow_ms?: number } = {},
) {
  const { hosts = '', try_timeout_ms = 30_000, slow_ms = 60_000 } = options;
  const hosts_path = join(dir, 'hosts');
  await writeFile(hosts_path, hosts);
  const resolver = createResolver({ servers: [server.address], deadline_ms: 60_000, try_timeout_ms });
  return whyUnanswered(host, { resolver, hosts_path, slow_ms });
}

test('a relay whose name servers say nothing is not tried, and the reason is told', async () => {
  const reason = await ask('silent.example', { try_timeout_ms: 50, slow_ms: 50 });
  expect(reason).toMatch(/^The server's name could not be looked up: .*no answer within 50 ms\.$/);
});

test.each(['relay.example', 'missing.example', 'broken.example'])(
  '%s, of which the name servers say something at once, is left to the system',
  async (host) => expect(await ask(host)).toBeNull(),
);

test('what the system knows by itself is asked of no name server', async () => {
  server.queries.length = 0;
  for (const host of ['localhost', '127.0.0.1', '::1', '192.0.2.7', 'mail'])
    expect(await ask(host)).toBeNull();
  const hosts = '# local\n192.0.2.9\tOther Silent.Example\n';
  expect(await ask('silent.example', { hosts, try_timeout_ms: 50, slow_ms: 0 })).toBeNull();
  expect(server.queries).toEqual([]);
});
