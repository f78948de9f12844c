/** Where webhooks may go: public addresses, by the address that was checked, and what the operator allows. */
import { expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { loadConfig } from '../../../src/config.ts';
import { Destinations, type DestinationsDeps } from '../../../src/platform/http/destinations.ts';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { atEnd } from '../../support/cleanup.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { dataOf, now, startReceiver, webhookApp } from '../../webhooks/setup.ts';

const dns = await startDnsServer({
  'public.test': { a: ['198.41.0.4'], aaaa: ['2001:500:2::c'] },
  'inside.test': { a: ['10.1.2.3'] },
  'both.test': { a: ['10.1.2.3', '198.41.0.4'] },
  'mapped.test': { aaaa: ['::ffff:127.0.0.1'] },
  'alias.test': { cname: 'inside.test', a: [] },
  'dead.test': { fault: 'servfail' },
});
atEnd(() => dns.stop());

function destinations(allow = '', more: Pick<DestinationsDeps, 'listOwnAddresses'> = {}) {
  const config = loadConfig({
    ...{ SATCHEL_WEBHOOK_ALLOW: allow, SATCHEL_DNS_SERVERS: dns.address },
    SATCHEL_PUBLIC_URL: 'https://satchel.test',
  });
  return new Destinations({ config, resolver: createResolver({ servers: [dns.address] }), ...more });
}

const find = (url: string, allow = '') => destinations(allow).find(new URL(url));

const REFUSED = `
  127.0.0.1 127.8.9.10 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 100.127.255.255
  224.0.0.1 239.1.1.1 255.255.255.255 240.0.0.1 192.0.2.1 198.18.0.1 0x7f.1 2130706433 017700000001
  [::1] [::] [fe80::1] [fc00::1] [fd12::1] [ff02::1] [fec0::1] [::127.0.0.1] [2002:7f00:1::] [2001:0:1::]
  [::ffff:127.0.0.1] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [64:ff9b::127.0.0.1] [64:ff9b::a00:1] [64:ff9b:1::7f00:1]
  localhost LOCALHOST. a.localhost satchel.test`
  .trim()
  .split(/\s+/);

test.each(REFUSED)('%s is refused as it is given', async (host) => {
  expect(destinations().refusalOf(new URL(`https://${host}/hook`))).toMatch(/^must /);
  expect(await find(`https://${host}/hook`)).toEqual({
    refusal: expect.stringMatching(/^its address must /),
  });
});

test.each(['1.1.1.1', '[2606:4700::1111]', '[::ffff:1.1.1.1]', '[64:ff9b::101:101]', 'public.test'])(
  '%s may be told by https, and not by plain http',
  async (host) => {
    expect(destinations().refusalOf(new URL(`https://${host}/`))).toBeNull();
    expect(await find(`https://${host}/`)).toEqual({ addresses: expect.any(Array), is_inside: false });
    expect(destinations().refusalOf(new URL(`http://${host}/`))).toContain('plain http is for hosts of');
  },
);

test("this machine's own addresses are refused, public ones too, and a user is none of the address", () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address, family } of own) {
    const host = family === 'IPv6' ? `[${address.split('%')[0]}]` : address;
    expect(destinations().refusalOf(new URL(`https://${host}/`))).toMatch(/^must /);
  }
  expect(destinations().refusalOf(new URL('https://u:p@public.test/'))).toBe(
    'must have no user and password',
  );
});

test('an address of this machine is refused though it is public, unless it is allowed', async () => {
  const listOwnAddresses = () => ['127.0.0.1', '198.41.0.4'];
  const url = new URL('https://public.test/');
  expect(await destinations('', { listOwnAddresses }).find(url)).toEqual({
    addresses: ['2001:500:2::c'],
    is_inside: false,
  });
  for (const host of ['198.41.0.4', '[64:ff9b::c629:4]', '[::ffff:198.41.0.4]'])
    expect(destinations('', { listOwnAddresses }).refusalOf(new URL(`https://${host}/`))).toMatch(/^must /);
  const allowed = destinations('198.41.0.4', { listOwnAddresses });
  expect(await allowed.find(url)).toEqual({
    addresses: ['198.41.0.4', '2001:500:2::c'],
    is_inside: true,
  });
});

test('a name is looked up, and what it leads to is refused likewise; addresses that are public are left', async () => {
  expect(await find('https://public.test/')).toEqual({
    addresses: ['198.41.0.4', '2001:500:2::c'],
    is_inside: false,
  });
  for (const name of ['inside.test', 'mapped.test', 'alias.test'])
    expect(await find(`https://${name}/`)).toEqual({
      refusal: expect.stringContaining('its name leads to no public address'),
    });
  expect(await find('https://both.test/')).toEqual({ addresses: ['198.41.0.4'], is_inside: false });
  expect(await find('https://absent.test/')).toEqual({ refusal: 'its name has no address' });
  expect(await find('https://dead.test/')).toEqual({ refusal: 'the DNS gave no answer about its name' });
});

test.each([
  ['10.0.0.0/8', 'https://inside.test/', ['10.1.2.3']],
  ['inside.test', 'http://inside.test/', ['10.1.2.3']],
  ['10.1.2.3', 'http://10.1.2.3:9000/', ['10.1.2.3']],
  ['10.1.2.3', 'https://[::ffff:10.1.2.3]/', ['::ffff:a01:203']],
  ['fd00::/8', 'http://[fd00::1]/', ['fd00::1']],
  ['localhost', 'http://localhost:9000/', ['127.0.0.1', '::1']],
  ['Satchel.test,10.0.0.1', 'https://satchel.test/', null],
])('SATCHEL_WEBHOOK_ALLOW=%s lets %s through', async (allow, url, addresses) => {
  expect(destinations(allow).refusalOf(new URL(url))).toBeNull();
  if (addresses) expect(await find(url, allow)).toEqual({ addresses, is_inside: true });
});

test('a public host that is allowed is inside only where it is told by plain http', async () => {
  expect(await find('https://public.test/', 'public.test')).toMatchObject({ is_inside: false });
  expect(await find('http://public.test/', 'public.test')).toMatchObject({ is_inside: true });
});

test('what is allowed allows no other', async () => {
  expect(await find('https://inside.test/', '192.168.0.0/16,other.test')).toHaveProperty('refusal');
  expect(await find('http://inside.test/', '10.0.0.0/8')).toHaveProperty('refusal');
  expect(await find('https://sub.inside.test/', 'inside.test')).toHaveProperty('refusal');
});

test.each([
  'http://a.test',
  'a.test:80',
  '10.0.0.0/33',
  '1.2.3',
  'a b',
  '*',
  '*.a.test',
  '10.0.0.0/8/9',
  '[::1]',
])('SATCHEL_WEBHOOK_ALLOW=%s stops the start', (allow) => {
  expect(() => loadConfig({ SATCHEL_WEBHOOK_ALLOW: allow })).toThrow(/^SATCHEL_WEBHOOK_ALLOW must be/);
});

test('a name that is public as it is checked and private a moment later is connected to as it was checked', async () => {
  const app = await startTestApp({ clock: now(), env: { SATCHEL_DNS_SERVERS: dns.address } });
  const receiver = startReceiver();
  const on = await webhookApp(app, await makeProject(app), receiver);
  const { port } = new URL(receiver.url);
  dns.set('rebind.test', { a: ['127.0.0.1'] });
  const url = `https://rebind.test:${port}/hook`;
  const { id } = dataOf(await on.call('POST', '/webhooks', { url }), 201);
  const refused = dataOf(await on.call('POST', `/webhooks/${id}/test`));
  expect(refused.error).toContain('its name leads to no public address');
  // The DNS changes its mind as the message is about to leave; nobody answers at the public address, nor is asked to here.
  dns.set('rebind.test', { a: ['198.41.0.4'] });
  const asked = dns.queries.length;
  const sent: string[] = [];
  app.services.sender.send = async ({ address }) => {
    dns.set('rebind.test', { a: ['127.0.0.1'] });
    sent.push(address);
    return { failure: 'nobody is there', is_unreached: true, is_ours: false };
  };
  await on.call('POST', `/webhooks/${id}/test`);
  expect(sent).toEqual(['198.41.0.4']);
  const types = dns.queries.slice(asked).map(({ type }) => type);
  expect(types.toSorted()).toEqual(['A', 'AAAA']);
  expect(receiver.got).toEqual([]);
});
