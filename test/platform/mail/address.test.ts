/** What is an email address or a domain, and what only looks like one. */
import { expect, test } from 'bun:test';
import { canonicalDomain, parseAddress } from '../../../src/platform/mail/address.ts';

test.each([
  ['example.com', 'example.com'],
  ['Mail.EXAMPLE.com', 'mail.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['XN--bcher-kva.bücher.example', 'xn--bcher-kva.xn--bcher-kva.example'],
  ['straße.example', 'xn--strae-oqa.example'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
])('%s is the domain %s', (text, domain) => expect(canonicalDomain(text)).toBe(domain));

test.each([
  'ex%61mple.com',
  'example%2ecom',
  'example.com%00',
  '\uff45xample.com',
  'exam\u00adple.com',
  'exam\u200bple.com',
  'example\u3002com',
  'example\uff0ecom',
  'e\u2460xample.com',
  '\u2102ampus.example',
  'localhost',
  'example.com.',
  '192.0.2.1',
  'a..example',
  '-a.example',
])('%j is no domain', (text) => {
  expect(canonicalDomain(text)).toBeNull();
  expect(parseAddress(`ann@${text}`)).toBeNull();
});

test.each([
  'ann%example.org@example.com',
  'ann%61@example.com',
  '\uff41nn@example.com',
  'ann@',
  'a b@example.com',
  '"ann"@example.com',
])('%j is no address', (text) => expect(parseAddress(text)).toBeNull());

test('an address keeps its local part as it was written', () => {
  expect(parseAddress("Ann.O'Neil+shop@BÜCHER.example")).toEqual({
    address: "Ann.O'Neil+shop@xn--bcher-kva.example",
    domain: 'xn--bcher-kva.example',
  });
});
