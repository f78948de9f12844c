/** Hosts: which are this machine, and which everybody may reach, as far as a name or a URL tells; and whose certificates nobody vouches for. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Decision: plain http, which is for hosts that not everybody reaches, may also name hosts below these TLDs, which nobody can register in public. */
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

/** Whether what is sent to this host stays on this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}

/** Whether a link leads its reader to the reader's own machine. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopback(unbracket(new URL(url).hostname));
}

/** Whether a failure's code, of OpenSSL's, says that no trusted authority signed the certificate. */
export function isUntrusted(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
}

/** What helps, as a part of a sentence or one of its own. */
export const TRUST_REMEDY =
  'add its authority to those of the system, or start Satchel with its PEM file in NODE_EXTRA_CA_CERTS';
