/** Whose word about a client's address is believed. */
import { describe, expect, test } from 'bun:test';
import { createClientIpReader } from '../../../src/platform/http/client-ip.ts';

const PROXIES = ['10.0.0.0/8', '127.0.0.1', '2001:db8:ffff::/48', '::1'];

describe('the client behind trusted proxies', () => {
  test.each([
    ['the peer, when nothing is forwarded', '198.51.100.7', null, '198.51.100.7'],
    ['the peer, when it is not trusted, whatever it forwards', '198.51.100.7', '1.2.3.4', '198.51.100.7'],
    ['the peer, when it forwards a trusted address', '198.51.100.7', '10.0.0.1', '198.51.100.7'],
    ['a trusted peer that forwards nothing', '10.0.0.1', null, '10.0.0.1'],
    ['a trusted peer with an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['the one forwarded address', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['the right-most, not the one a client made up', '10.0.0.1', '1.2.3.4, 198.51.100.7', '198.51.100.7'],
    ['the right-most that is not trusted', '10.0.0.1', '1.2.3.4, 198.51.100.7, 10.2.3.4', '198.51.100.7'],
    ['beyond several proxies', '127.0.0.1', '198.51.100.7,10.0.0.9 ,\t10.0.0.8', '198.51.100.7'],
    ['not beyond an untrusted hop', '10.0.0.1', '198.51.100.7, 203.0.113.5, 10.0.0.2', '203.0.113.5'],
    ['the left-most when all are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the proxy that passed on garbage', '10.0.0.1', '198.51.100.7, garbage', '10.0.0.1'],
    ['the last proxy before garbage', '10.0.0.1', '198.51.100.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['garbage left of the client does not matter', '10.0.0.1', '<script>, 198.51.100.7', '198.51.100.7'],
    ['an empty entry is garbage', '10.0.0.1', '198.51.100.7,', '10.0.0.1'],
    ['an abbreviated IPv4 address is garbage', '10.0.0.1', '127.1', '10.0.0.1'],
    ['a number is garbage', '10.0.0.1', '3232235777', '10.0.0.1'],
    ['an octal address is garbage', '10.0.0.1', '0300.0.2.1', '10.0.0.1'],
    ['a network is garbage', '10.0.0.1', '198.51.100.0/24', '10.0.0.1'],
    ['a quoted address is garbage', '10.0.0.1', '"198.51.100.7"', '10.0.0.1'],
    ['an IPv4 address with a port', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['an IPv6 address with a port', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['an IPv6 address in brackets', '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['an IPv6 client in normal form', '::1', '2001:0DB8:0:0:0:0:0:7', '2001:db8::7'],
    ['through an IPv6 proxy network', '2001:db8:ffff:1::2', '2001:db8::7', '2001:db8::7'],
    ['an IPv6 peer outside the network', '2001:db8:fffe::2', '2001:db8::7', '2001:db8:fffe::2'],
    ['an IPv4-mapped peer counts as IPv4', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['an IPv4-mapped client is shown as IPv4', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['an IPv4-mapped address in hex too', '::ffff:c633:6407', null, '198.51.100.7'],
    ['an IPv4-mapped forwarded proxy is a proxy', '10.0.0.1', '198.51.100.7, ::ffff:a00:2', '198.51.100.7'],
    ['a zone is left out', 'fe80::1%eth0', null, 'fe80::1'],
    ['no peer, no client', null, '198.51.100.7', null],
    ['a peer that is no address', 'unix', '198.51.100.7', null],
  ])('is %s', (_, peer, forwarded_for, expected) => {
    expect(createClientIpReader(PROXIES)(peer, forwarded_for)).toBe(expected);
  });
});

describe('the list of trusted proxies', () => {
  test('when empty, nobody is believed', () => {
    expect(createClientIpReader([])('127.0.0.1', '198.51.100.7')).toBe('127.0.0.1');
  });

  test('may trust everybody of one family', () => {
    const read = createClientIpReader(['0.0.0.0/0']);
    expect(read('203.0.113.5', '2001:db8::7, 198.51.100.7')).toBe('2001:db8::7');
    expect(read('2001:db8::7', '198.51.100.7')).toBe('2001:db8::7');
  });

  test.each(['::ffff:10.0.0.0/104', '::ffff:10.0.0.1'])('may be IPv4-mapped: %s', (network) => {
    expect(createClientIpReader([network])('10.0.0.1', '198.51.100.7')).toBe('198.51.100.7');
    expect(createClientIpReader([network])('11.0.0.1', '198.51.100.7')).toBe('11.0.0.1');
  });

  test.each(['', 'proxy', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/x', '::1/129', '10.1'])(
    'refuses what is no network: "%s"',
    (network) => {
      expect(() => createClientIpReader([network])).toThrow('A trusted proxy must be');
    },
  );
});
