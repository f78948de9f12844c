/** Look-ups against a real DNS server: what is found, what is absent, and what must never pass for absent. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolver, type Resolver } from '../../../src/platform/mail/dns.ts';
import { type DnsServer, type Fault, startDnsServer } from '../../support/dns-server.ts';

/** Where an answer is expected, a slow machine must not fail the test; where silence is, it should pass soon. */
const PATIENT = { deadline_ms: 60_000, try_timeout_ms: 30_000 };
const HASTY = { deadline_ms: 60_000, try_timeout_ms: 80 };
const LONG = 'k'.repeat(255) + 'l'.repeat(255) + 'm'.repeat(40);

let server: DnsServer;
let resolver: Resolver;
const extra: DnsServer[] = [];

async function startExtra(zone: Parameters<typeof startDnsServer>[0]): Promise<DnsServer> {
  const started = await startDnsServer(zone);
  extra.push(started);
  return started;
}

beforeAll(async () => {
  server = await startDnsServer({
    'plain.example': { txt: ['v=spf1 -all', 'second=record'], mx: [], a: ['192.0.2.1'] },
    'chunks.example': { txt: [['v=DKIM1; ', 'k=rsa; ', 'p=AAAA'], 'other'] },
    'long.example': { txt: [LONG] },
    'utf8.example': { txt: [['gr\u00fc', '\u00dfe']] },
    'mail.example': {
      mx: [
        { exchange: 'MX2.mail.example', preference: 20 },
        { exchange: 'mx1.mail.example', preference: 10 },
      ],
    },
    'null-mx.example': { mx: [{ exchange: '.', preference: 0 }] },
    'both.example': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'] },
    'six.example': { aaaa: ['2001:db8::2'] },
    'empty.example': {},
    'alias.example': { cname: 'middle.example' },
    'middle.example': { cname: 'Plain.Example' },
    'loop.example': { cname: 'pool.example' },
    'pool.example': { cname: 'loop.example' },
    'dangling.example': { cname: 'nowhere.example' },
    '_dmarc.xn--bcher-kva.example': { txt: ['v=DMARC1; p=none'] },
    '3.4.5': { txt: ['only digits'] },
    'cut.example': { txt: [LONG], fault: 'truncated' },
    'old.example': { txt: ['no edns here'], fault: 'no-edns' },
  });
  resolver = createResolver({ servers: [server.address], ...PATIENT });
});

afterEach(async () => {
  await Promise.all(extra.splice(0).map((each) => each.stop()));
});

afterAll(async () => {
  await server.stop();
});

describe('TXT records', () => {
  test.each([
    ['two records stay two records', 'plain.example', ['v=spf1 -all', 'second=record']],
    ['the chunks of one record are joined', 'chunks.example', ['v=DKIM1; k=rsa; p=AAAA', 'other']],
    ['a record longer than 255 bytes is whole', 'long.example', [LONG]],
    ['a character cut by a chunk border survives', 'utf8.example', ['grüße']],
    ['a name with no TXT record has no data', 'mail.example', []],
    ['case and a root dot do not matter', 'PLAIN.example.', ['v=spf1 -all', 'second=record']],
    ['aliases are followed', 'alias.example', ['v=spf1 -all', 'second=record']],
    ['a cycle of aliases ends without records', 'loop.example', []],
    ['an alias to nowhere has no data', 'dangling.example', []],
    ['a Unicode name is asked in punycode', '_dmarc.Bücher.example', ['v=DMARC1; p=none']],
    ['a name of digits is no IPv4 address', '3.4.5', ['only digits']],
    ['an answer cut short over UDP is fetched over TCP', 'cut.example', [LONG]],
    ['a server without EDNS is asked again without', 'old.example', ['no edns here']],
  ])('%s', async (_, name, records) => {
    expect(await resolver.lookupTxt(name)).toEqual({ status: 'found', records });
  });

  test('truncation makes exactly one query over TCP', async () => {
    server.queries.length = 0;
    await resolver.lookupTxt('cut.example');
    expect(server.queries.map((query) => query.transport)).toEqual(['udp', 'tcp']);
  });
});

describe('MX records', () => {
  test('come with the most preferred first, in lower case', async () => {
    expect(await resolver.lookupMx('mail.example')).toEqual({
      status: 'found',
      records: [
        { exchange: 'mx1.mail.example', preference: 10 },
        { exchange: 'mx2.mail.example', preference: 20 },
      ],
    });
  });

  test('a null MX is a record whose exchange is the root', async () => {
    expect(await resolver.lookupMx('null-mx.example')).toEqual({
      status: 'found',
      records: [{ exchange: '.', preference: 0 }],
    });
  });

  test('a name without MX is found with no records', async () => {
    expect(await resolver.lookupMx('plain.example')).toEqual({ status: 'found', records: [] });
  });
});

describe('addresses', () => {
  test.each([
    [
      'both families',
      'both.example',
      { status: 'found', records: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
    ],
    ['IPv6 alone', 'six.example', { status: 'found', records: ['2001:db8::2'] }],
    ['neither', 'empty.example', { status: 'found', records: [] }],
    ['no such name', 'missing.example', { status: 'absent' }],
  ] as const)('%s', async (_, name, expected) => {
    const result: unknown = await resolver.lookupAddresses(name);
    expect(result).toEqual(expected);
  });

  test('are unknown while the server is silent', async () => {
    const silent = await startExtra({ '*': { fault: 'silence' } });
    const asking = createResolver({ servers: [silent.address], ...HASTY });
    expect((await asking.lookupAddresses('both.example')).status).toBe('unknown');
  });
});

describe('absent', () => {
  test.each([
    ['a name the server denies', 'missing.example'],
    ['an empty name', ''],
    ['a name with an empty label', 'a..example'],
    ['a label longer than 63', `${'a'.repeat(64)}.example`],
    ['a name longer than 253', `${'a.'.repeat(126)}example`],
    ['a name with a space', 'exa mple.com'],
    ['a name with a control character', 'exa\u0000mple.com'],
    ['a name with a slash', 'example.com/x'],
  ])('%s', async (_, name) => {
    expect(await resolver.lookupMx(name)).toEqual({ status: 'absent' });
  });

  test('a name that can not exist is not even asked for', async () => {
    server.queries.length = 0;
    await resolver.lookupMx('a..example');
    expect(server.queries).toEqual([]);
  });
});

describe('unknown, never absent', () => {
  const faults: [Fault, RegExp][] = [
    ['silence', /no answer within 80 ms/],
    ['servfail', /SERVFAIL/],
    ['refused', /REFUSED/],
    ['wrong-id', /no answer within/],
    ['wrong-question', /no answer within/],
    ['garbage', /no answer within/],
    ['echo', /no answer within/],
    ['referral', /does not resolve/],
  ];
  test.each(faults)('a server that gives %s', async (fault, reason) => {
    const bad = await startExtra({ '*': { mx: [{ exchange: 'mx.example', preference: 1 }], fault } });
    const times = reason.source.startsWith('no answer') ? HASTY : PATIENT;
    const result = await createResolver({ servers: [bad.address], ...times }).lookupMx('mail.example');
    expect(result).toEqual({ status: 'unknown', reason: expect.stringMatching(reason) });
    expect(bad.queries).toHaveLength(2);
  });

  test('a port on which nobody listens', async () => {
    const gone = await startDnsServer();
    await gone.stop();
    const asking = createResolver({ servers: [gone.address], ...PATIENT });
    const result = await asking.lookupTxt('plain.example');
    expect(result).toEqual({ status: 'unknown', reason: expect.stringContaining('ECONNREFUSED') });
  });

  test('the deadline ends a look-up before all tries are used up', async () => {
    const silent = await startExtra({ '*': { fault: 'silence' } });
    const asking = createResolver({ servers: [silent.address], deadline_ms: 50, try_timeout_ms: 60_000 });
    const result = await asking.lookupTxt('plain.example');
    expect(result).toEqual({ status: 'unknown', reason: expect.stringContaining('no answer within 50 ms') });
    expect(silent.queries.length).toBeLessThan(2);
  });
});

describe('several servers', () => {
  test.each(['silence', 'servfail', 'refused', 'garbage'] as const)(
    'the second is asked when the first gives %s',
    async (fault) => {
      const bad = await startExtra({ '*': { fault } });
      const asking = createResolver({
        servers: [bad.address, server.address],
        deadline_ms: 60_000,
        try_timeout_ms: 500,
      });
      expect((await asking.lookupTxt('plain.example')).status).toBe('found');
      expect(bad.queries.length).toBeGreaterThan(0);
    },
  );

  test('the one that answered is asked first the next time', async () => {
    const silent = await startExtra({ '*': { fault: 'silence' } });
    const asking = createResolver({
      servers: [silent.address, server.address],
      deadline_ms: 60_000,
      try_timeout_ms: 2_000,
    });
    await asking.lookupTxt('plain.example');
    await asking.lookupTxt('plain.example');
    expect(silent.queries).toHaveLength(1);
  });

  test('NXDOMAIN of the first is the answer', async () => {
    const other = await startExtra({ 'missing.example': { txt: ['only here'] } });
    const asking = createResolver({ servers: [server.address, other.address], ...PATIENT });
    expect(await asking.lookupTxt('missing.example')).toEqual({ status: 'absent' });
    expect(other.queries).toEqual([]);
  });
});

describe('the zone of a running server', () => {
  test('a change holds from the next look-up on', async () => {
    const changing = await startExtra({});
    const asking = createResolver({ servers: [changing.address], ...PATIENT });
    expect(await asking.lookupTxt('new.example')).toEqual({ status: 'absent' });
    changing.set('New.Example', { txt: ['here'] });
    expect(await asking.lookupTxt('new.example')).toEqual({ status: 'found', records: ['here'] });
    changing.set('new.example', null);
    expect(await asking.lookupTxt('new.example')).toEqual({ status: 'absent' });
  });
});

describe('without configured servers', () => {
  test('those of resolv.conf are asked', async () => {
    // The file can not name a port, so an address where nobody answers port 53 shows which server was asked.
    const path = join(tmpdir(), `satchel-resolv-${process.pid}-${Math.random().toString(36).slice(2)}.conf`);
    await Bun.write(
      path,
      '# comment\nsearch example\nnameserver not-an-address\n nameserver 127.64.3.2 # here\n',
    );
    try {
      const asking = createResolver({ servers: [], resolv_conf_path: path, ...PATIENT });
      const result = await asking.lookupTxt('plain.example');
      expect(result).toEqual({ status: 'unknown', reason: expect.stringContaining('127.64.3.2:53') });
    } finally {
      await rm(path);
    }
  });

  test('this machine itself is asked when resolv.conf is missing', async () => {
    const asking = createResolver({ servers: [], resolv_conf_path: '/nonexistent/resolv.conf', ...PATIENT });
    const result = await asking.lookupTxt('a.invalid');
    if (result.status === 'unknown') expect(result.reason).toContain('127.0.0.1:53');
    else expect(result.status).toBe('absent');
  });
});
