/** Where a relay or an inbox is, as people write it: its name is looked up anew, and what it leads to checked, at each connection. */

import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { monotonicMs } from '../host/clock.ts';
import { isLoopback } from '../http/hosts.ts';
import { canonicalDomain } from './address.ts';
import type { Resolver } from './dns.ts';

/** A name without an answer for so long is not left to the system, which would block a thread. */
const SLOW_NAME_MS = 1_000;
/** Addresses of one name that are tried, and how long each but the last is waited for. */
const MAX_ADDRESSES = 4;
const ADDRESS_MS = 2_500;

/** What a connection to a mail server finds it with, as options of a socket. */
export interface ServerLookup {
  lookup: LookupFunction;
  autoSelectFamilyAttemptTimeout: number;
}

export interface ServerLookupOptions {
  resolver: Pick<Resolver, 'lookupAddresses'>;
  /** For tests. */
  hosts_path?: string;
  slow_ms?: number;
  askSystem?: (host: string) => Promise<string[]>;
}

export function serverLookup(options: ServerLookupOptions): ServerLookup {
  return {
    lookup: (host, { all }, callback) => {
      findServer(host, options).then(
        (found) => {
          const addresses = found.map((address) => ({ address, family: isIP(address) }));
          if (all) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: Error) => callback(error, ''),
      );
    },
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
  };
}

/** At least one address. Rejects with the reason where there is none that may be connected to. */
export async function findServer(host: string, options: ServerLookupOptions): Promise<string[]> {
  const addresses = await addressesOf(host, options);
  const fit = addresses.filter((address) => !isLinkLocal(address));
  if (fit.length === 0) throw new Error(`The server ${LINK_LOCAL}.`);
  // Not every machine can use IPv6.
  return fit.sort((a, b) => isIP(a) - isIP(b)).slice(0, MAX_ADDRESSES);
}

/**
 * Our resolver is asked first. The system's look-up (getaddrinfo) takes one of few threads that also sign mails
 * and read files: two relays with silent name servers would hold up all of those for 10 s. It is left what our
 * resolver can't know: names of one label, of the hosts file, and of sources besides the DNS.
 */
async function addressesOf(host: string, options: ServerLookupOptions): Promise<string[]> {
  const {
    resolver,
    hosts_path = '/etc/hosts',
    slow_ms = SLOW_NAME_MS,
    askSystem = systemAddresses,
  } = options;
  if (isIP(host) !== 0) return [host];
  if (isLoopback(host)) return ['127.0.0.1', '::1'];
  let reason: string | null = null;
  if (host.includes('.') && !(await isInHosts(host, hosts_path))) {
    const asked_ms = monotonicMs();
    const answer = await resolver.lookupAddresses(host);
    if (answer.status === 'found' && answer.records.length > 0) return answer.records;
    if (answer.status === 'unknown') reason = `The server's name could not be looked up: ${answer.reason}.`;
    // A quick failure is quick in the system's look-up, too.
    if (reason !== null && monotonicMs() - asked_ms >= slow_ms) throw new Error(reason);
  }
  const known = await askSystem(host).catch(() => []);
  if (known.length === 0) throw new Error(reason ?? `There is no server named ${host}.`);
  return known;
}

async function isInHosts(host: string, path: string): Promise<boolean> {
  const hosts = await readFile(path, 'utf8').catch(() => '');
  return hosts.toLowerCase().split(/\s+/).includes(host.toLowerCase());
}

async function systemAddresses(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

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
