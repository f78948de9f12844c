/** What SATCHEL_TLS and the settings beside it say: for which names a certificate is ordered, and of whom. */
import { networkInterfaces } from 'node:os';
import { domainToASCII } from 'node:url';
import { MAX_TLS_NAMES } from './limits.ts';

export interface TlsSettings {
  /** Host names in lower case, in the form of the DNS; at least one, the first of which is the public URL's. */
  readonly names: readonly string[];
  /** The address of the authority's ACME directory. */
  readonly acme_directory: string;
  /** Where the authority writes to; null is nowhere. */
  readonly acme_email: string | null;
  /** Where the authority asks, and everybody else is sent on to https. */
  readonly http_port: number;
}

export const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

/** RFC 1123, with a dot: no public authority vouches for a name without one. */
const NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The names of a comma-separated list; or what is wrong with it, to go behind the setting's name. */
export function readTlsNames(entries: readonly string[]): readonly string[] | string {
  const names = [...new Set(entries.map((entry) => domainToASCII(entry)))];
  if (entries.some((entry) => entry.startsWith('*')))
    return 'must name each host: a certificate for *.example.com can only be had through the DNS';
  if (names.length === 0 || names.some((name) => !NAME.test(name)))
    return 'must be a comma-separated list of host names, such as example.com,www.example.com';
  if (names.length > MAX_TLS_NAMES) return `must name at most ${MAX_TLS_NAMES} hosts`;
  return names;
}

/** Every address of this machine: a listener on `::` takes IPv4 as well, where there is IPv6 at all. */
export function allAddresses(): string {
  const families = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return families.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}
