/** Whether domains take mail: asked once for each, and silence is never taken for a no. */
import { afterEach, expect, test } from 'bun:test';
import { systemClock } from '../../../src/platform/host/clock.ts';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import {
  MAX_MX_CACHE_DOMAINS,
  MX_CACHE_MS,
  MX_LOOKUPS_AT_ONCE,
  MX_UNKNOWN_CACHE_MS,
  MxCache,
  type MxLookups,
} from '../../../src/platform/mail/mx-cache.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let server: DnsServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

let now_ms = 0;

async function start(
  zone: Parameters<typeof startDnsServer>[0],
): Promise<{ cache: MxCache; server: DnsServer }> {
  server = await startDnsServer(zone);
  const resolver = createResolver({ servers: [server.address], deadline_ms: 60_000, try_timeout_ms: 30_000 });
  return { cache: new MxCache(resolver, { now: () => now_ms }), server };
}

const MX = { mx: [{ exchange: 'mx.example', preference: 10 }] };

test('a domain takes mail by its MX or, without any, at its own address', async () => {
  const { cache } = await start({
    'with.example': MX,
    'address.example': { a: ['192.0.2.1'] },
    'neither.example': {},
    'null.example': { mx: [{ exchange: '.', preference: 0 }], a: ['192.0.2.1'] },
    'broken.example': { fault: 'servfail' },
  });
  const ask = (name: string) => cache.takesMail(`${name}.example`);
  expect(await Promise.all(['with', 'address', 'neither', 'null', 'missing', 'broken'].map(ask))).toEqual([
    'yes',
    'yes',
    'no',
    'no',
    'no',
    'unknown',
  ]);
  expect(await cache.takesMail('no domain')).toBe('no');
});

test('many who ask at once about one domain, in any case, are answered by one look-up', async () => {
  const { cache, server } = await start({ 'with.example': MX });
  const names = Array.from({ length: 1_000 }, (_, n) => (n % 2 === 0 ? 'with.example' : 'With.Example'));
  expect(new Set(await Promise.all(names.map((name) => cache.takesMail(name))))).toEqual(new Set(['yes']));
  expect(await cache.takesMail('with.example')).toBe('yes');
  expect(server.queries).toHaveLength(1);
});

test('an answer is forgotten in time, and silence much sooner', async () => {
  const { cache, server } = await start({ 'with.example': MX, 'broken.example': { fault: 'servfail' } });
  await cache.takesMail('with.example');
  expect(await cache.takesMail('broken.example')).toBe('unknown');
  server.set('with.example', null);
  server.set('broken.example', MX);
  now_ms += MX_UNKNOWN_CACHE_MS - 1;
  expect(await cache.takesMail('broken.example')).toBe('unknown');
  now_ms += 1;
  expect(await cache.takesMail('broken.example')).toBe('yes');
  expect(await cache.takesMail('with.example')).toBe('yes');
  now_ms += MX_CACHE_MS - MX_UNKNOWN_CACHE_MS;
  expect(await cache.takesMail('with.example')).toBe('no');
});

/** Answers that a test gives when it likes. */
function heldLookups(): MxLookups & { asked: { name: string; answer(): void }[] } {
  const asked: { name: string; answer(): void }[] = [];
  return {
    asked,
    lookupMx: (name) =>
      new Promise((resolve) => {
        const answer = () =>
          resolve({ status: 'found', records: [{ exchange: 'mx.example', preference: 1 }] });
        asked.push({ name, answer });
      }),
    lookupAddresses: () => Promise.resolve({ status: 'absent' }),
  };
}

test('only so many domains are asked about at once, and the others in turn', async () => {
  const lookups = heldLookups();
  const cache = new MxCache(lookups, systemClock);
  const count = MX_LOOKUPS_AT_ONCE * 3;
  const answers = Array.from({ length: count }, (_, n) => cache.takesMail(`d${n}.example`));
  for (let n = 0; n < count; n += 1) {
    expect(lookups.asked).toHaveLength(Math.min(MX_LOOKUPS_AT_ONCE + n, count));
    lookups.asked[n]?.answer();
    await answers[n];
  }
  expect(lookups.asked.map((one) => one.name)).toEqual(
    Array.from({ length: count }, (_, n) => `d${n}.example`),
  );
});

test('no more domains are remembered than fit, the oldest being forgotten', async () => {
  let asked = 0;
  const cache = new MxCache(
    {
      lookupMx: () => {
        asked += 1;
        return Promise.resolve({ status: 'absent' });
      },
      lookupAddresses: () => Promise.resolve({ status: 'absent' }),
    },
    systemClock,
  );
  for (let n = 0; n <= MAX_MX_CACHE_DOMAINS; n += 1) await cache.takesMail(`d${n}.example`);
  await cache.takesMail('d1.example');
  expect(asked).toBe(MAX_MX_CACHE_DOMAINS + 1);
  await cache.takesMail('d0.example');
  expect(asked).toBe(MAX_MX_CACHE_DOMAINS + 2);
});
