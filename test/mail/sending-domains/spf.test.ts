/** SPF as receivers evaluate it, against a real DNS server. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { checkSpf } from '../../../src/mail/sending-domains/spf.ts';
import { createResolver, type Resolver } from '../../../src/platform/mail/dns.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';

let dns: DnsServer;
let resolver: Resolver;
let count = 0;
let domain = '';

beforeAll(async () => {
  dns = await startDnsServer();
  resolver = createResolver({ servers: [dns.address] });
});
afterAll(() => dns.stop());
beforeEach(() => {
  domain = `s${++count}.example.com`;
});

async function check(...txt: string[]) {
  dns.set(domain, { txt });
  return checkSpf(resolver, domain);
}

const FINE = [
  'v=spf1 a mx ip4:192.0.2.0/24 ip6:2001:db8::/32 ~all',
  'v=spf1 a/24 mx//64 a:mail.example.net/24//64 -all',
  'V=SPF1 +a ?ptr exists:%{i}._spf.example.net unknown=modifier exp=why.example.com -all',
  'v=spf1 ip4:192.0.2.7',
];
for (const record of FINE) {
  test(`${record} is found`, async () => {
    expect(await check(record)).toEqual({ status: 'found', found: record, problem: null });
  });
}

const WRONG: [string, string[], string][] = [
  ['two records', ['v=spf1 a ~all', 'v=spf1 mx ~all'], 'several SPF records'],
  ['a network that is too long', ['v=spf1 ip4:192.0.2.0/33 ~all'], 'network that is none: ip4:192.0.2.0/33'],
  ['a network that is no address', ['v=spf1 ip4:192.0.2 ~all'], 'network that is none: ip4:192.0.2'],
  ['a name as a network', ['v=spf1 ip4:mail.example.com ~all'], 'network that is none'],
  ['an IPv6 network that is too long', ['v=spf1 ip6:2001:db8::/129 ~all'], 'network that is none'],
  ['a length that is too long', ['v=spf1 a/33 ~all'], 'network that is none: a/33'],
  ['an unknown term', ['v=spf1 a ipv4:192.0.2.7 ~all'], 'do not know: ipv4:192.0.2.7'],
  ['a term without a domain', ['v=spf1 include ~all'], 'names no domain: include'],
  ['redirect twice', ['v=spf1 redirect=a.example.com redirect=b.example.com'], 'redirect= twice'],
  ['everybody', ['v=spf1 a +all'], 'everybody'],
  ['everybody, without a sign', ['v=spf1 all'], 'everybody'],
  ['nobody', ['v=spf1 -a -all'], 'nobody'],
  ['a bad term behind all', ['v=spf1 a -all nonsense'], 'do not know: nonsense'],
];
for (const [what, txt, problem] of WRONG) {
  test(`${what} is wrong, and told`, async () => {
    expect(await check(...txt)).toEqual({
      status: 'wrong',
      found: txt.join(' | '),
      problem: expect.stringContaining(problem),
    });
  });
}

test('ten look-ups are taken, those of included records among them, and eleven are not', async () => {
  const include = (n: number): string => `include:i${n}.${domain}`;
  for (let n = 1; n <= 3; n += 1) dns.set(`i${n}.${domain}`, { txt: ['v=spf1 a mx ip4:192.0.2.7 -all'] });
  // Three includes with two each are nine.
  const nine = [1, 2, 3].map(include).join(' ');
  expect(await check(`v=spf1 ${nine} a -all`)).toMatchObject({ status: 'found' });
  expect(await check(`v=spf1 ${nine} a mx -all`)).toMatchObject({
    status: 'wrong',
    problem: expect.stringContaining('more than 10 look-ups'),
  });
  // What stands behind all is never looked at.
  expect(await check(`v=spf1 ${nine} a -all mx ptr`)).toMatchObject({ status: 'found' });
});

test('a record that includes itself is ended by the count', async () => {
  expect(await check(`v=spf1 include:${domain} -all`)).toMatchObject({
    status: 'wrong',
    problem: expect.stringContaining('more than 10'),
  });
});

test('what an included or redirected record lacks or does wrong is told with its name', async () => {
  expect(await check(`v=spf1 include:gone.${domain} -all`)).toMatchObject({
    status: 'wrong',
    problem: `The record names gone.${domain}, which has no SPF record.`,
  });
  dns.set(`bad.${domain}`, { txt: ['v=spf1 ip4:1.2.3.4/40 -all'] });
  expect(await check(`v=spf1 redirect=bad.${domain}`)).toMatchObject({
    status: 'wrong',
    problem: expect.stringMatching(new RegExp(`^Of bad\\.${domain}, .*1\\.2\\.3\\.4/40`)),
  });
  dns.set(`open.${domain}`, { txt: ['v=spf1 +all'] });
  expect(await check(`v=spf1 include:open.${domain} -all`)).toMatchObject({
    status: 'wrong',
    problem: expect.stringContaining('everybody'),
  });
  dns.set(`fine.${domain}`, { txt: ['v=spf1 ip4:192.0.2.7 -all'] });
  expect(await check(`v=spf1 redirect=fine.${domain}`)).toMatchObject({ status: 'found' });
});

test('where nobody answers nothing is known, of an included record too', async () => {
  dns.set(`slow.${domain}`, { fault: 'servfail' });
  expect(await check(`v=spf1 include:slow.${domain} -all`)).toMatchObject({ status: 'unknown', found: null });
});
