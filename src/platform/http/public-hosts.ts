/** Which hosts may be reached by everybody, as far as a URL tells: plain http is for others. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Decision: plain http may also name hosts below these TLDs, which nobody can register in public. */
export const PRIVATE_TLDS: readonly string[] = ['localhost', 'local', 'test', 'internal', 'lan'];
/** Ranges that are not routed on the internet: RFC 1918, 4193, 3927, 4291 and, for VPNs, 6598. */
const PRIVATE_RANGES: readonly string[] = [
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
  'carrierGradeNat',
];

/** `host` is as URL has it. */
export function isPublicHost(host: string): boolean {
  const ip = unbracket(host);
  if (isIP(ip) !== 0) return !PRIVATE_RANGES.includes(ipaddr.process(ip).range());
  return host !== 'localhost' && !PRIVATE_TLDS.some((tld) => host.endsWith(`.${tld}`));
}

/** An IPv6 address without the brackets that it has in a URL. */
export function unbracket(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** Why a page may not lead to an address that an admin named; null where it may. */
export function refusalOfTarget(address: string): string | null {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    return 'must be an address that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must have no user and password';
  return url.protocol === 'http:' && isPublicHost(url.hostname)
    ? `must begin with https://: plain http is for localhost, loopback and private addresses, and names that end in ${PRIVATE_TLDS.map((tld) => `.${tld}`).join(', ')}`
    : null;
}
