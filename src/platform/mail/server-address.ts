/** Addresses of mail servers as people write them: what relays and inboxes have in common. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { canonicalDomain } from './address.ts';

/** Shown in place of a password; it is refused as one, so that sending back what was shown does no harm. */
export const MASKED = '***';

/** The host of a URL as it is stored, without brackets; null where it is none. */
export function readHost(text: string): string | null {
  const bare = text.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(bare) !== 0 || /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(bare)) return bare;
  return canonicalDomain(bare);
}

/**
 * Whether a host is a link-local address, however written: no mail server has one, but the service with a
 * cloud machine's credentials does.
 */
export function isLinkLocal(host: string): boolean {
  return ipaddr.isValid(host) && readAddress(host).range() === 'linkLocal';
}

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/** An address, or the IPv4 address that it stands for. */
export function readAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const ip = ipaddr.process(address);
  return ip.kind() === 'ipv6' && ip.match(NAT64) ? ipaddr.fromByteArray(ip.toByteArray().slice(12)) : ip;
}

/** What is wrong with such a host, to go on after the name of its field. */
export const LINK_LOCAL =
  'is at a link-local address (169.254.0.0/16, fe80::/10), where no mail server is: name another host';

export function showHost(host: string, port: number | null): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A part of a URL without its percent encoding. Throws what `refuse` makes where there is none. */
export function decodePart(text: string, refuse: () => Error): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse();
  }
}
