/** Who runs the DNS of a domain, by the names of its name servers. */

import { expect, test } from 'bun:test';
import { dnsProviderOf } from '../../../src/mail/sending-domains/dns-records.ts';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { atEnd } from '../../support/cleanup.ts';
import { startDnsServer } from '../../support/dns-server.ts';

test('is found at the domain or above it, and is nobody where no known one, or nothing, answers', async () => {
  const dns = await startDnsServer({
    'example.com': { ns: ['Ada.NS.Cloudflare.com', 'bob.ns.cloudflare.com'] },
    'aws.example.com': { ns: ['ns-1.awsdns-01.org'] },
    'own.example': { ns: ['ns.own.example'] },
    'dead.example': { fault: 'servfail' },
  });
  atEnd(() => dns.stop());
  const resolver = createResolver({ servers: [dns.address] });
  const of = (domain: string) => dnsProviderOf(resolver, domain);
  expect(await of('example.com')).toBe('Cloudflare');
  expect(await of('mail.news.example.com')).toBe('Cloudflare');
  expect(await of('mail.aws.example.com')).toBe('Amazon Route 53');
  expect(await of('mail.own.example')).toBeNull();
  expect(await of('dead.example')).toBeNull();
  expect(await of('nobody.example')).toBeNull();
  // The ending is nobody's of those who send.
  expect(dns.queries.some(({ name }) => name === 'example')).toBe(false);
});
