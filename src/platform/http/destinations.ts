/**
 * Where requests to somebody's addresses, such as webhooks, may go: to public addresses, and to what
 * SATCHEL_WEBHOOK_ALLOW names. The address that was looked up and checked is the one connected to, so a
 * changed DNS answer leads nowhere else.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../config.ts';
import { monotonicMs, SECOND_MS } from '../host/clock.ts';
import type { Resolver } from '../mail/dns.ts';
import { readAddress } from '../mail/server-lookup.ts';
import { isLoopback } from './hosts.ts';

/** How long a DNS answer is used: a webhook that is told a thousand things a second asks once. */
const REMEMBER_MS = 30 * SECOND_MS;
const MAX_REMEMBERED = 1_000;
/** The system's own look-up may last; that of our resolver ends by itself. */
const LOOK_UP_MS = 5 * SECOND_MS;
/** Addresses of one name that are tried, should none be reached. */
const MAX_ADDRESSES = 3;

export type Destination =
  | {
      addresses: string[];
      /** Only SATCHEL_WEBHOOK_ALLOW lets it be reached. */
      is_inside: boolean;
    }
  | { refusal: string };

export interface DestinationsDeps {
  config: Pick<Config, 'webhook_allow' | 'dns_servers' | 'public_url'>;
  resolver: Pick<Resolver, 'lookupAddresses'>;
  /** For names that are to lead to this very server: its own addresses, and http, are fine then. */
  leads_here?: boolean;
  /** Replaces asking this machine for its addresses; for tests. */
  listOwnAddresses?: () => string[];
}

type Found = { addresses: string[] } | { failure: string };

export class Destinations {
  readonly #names: ReadonlySet<string>;
  readonly #networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly #own_host: string;
  readonly #remembered = new Map<string, { found: Promise<Found>; until_ms: number }>();

  constructor(private readonly deps: DestinationsDeps) {
    const { webhook_allow, public_url } = deps.config;
    const is_network = (entry: string): boolean => isIP(entry.split('/')[0] ?? '') !== 0;
    this.#names = new Set(webhook_allow.filter((entry) => !is_network(entry)));
    this.#networks = webhook_allow.filter(is_network).map(networkOf);
    this.#own_host = hostOf(new URL(public_url));
  }

  /** Why nothing is ever sent to a URL, whatever its name leads to; null where that can't be told yet. */
  refusalOf(url: URL): string | null {
    const host = hostOf(url);
    const is_allowed = this.#isAllowed(host);
    if (url.protocol === 'http:' && !is_allowed && !this.deps.leads_here)
      return 'must begin with https://: plain http is for hosts of SATCHEL_WEBHOOK_ALLOW';
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
    if (url.username !== '' || url.password !== '') return 'must have no user and password';
    if (is_allowed) return null;
    if (host === this.#own_host) return `must not lead to this server itself${UNLESS_ALLOWED}`;
    if (isLoopback(host)) return `must not lead to this machine${UNLESS_ALLOWED}`;
    return isIP(host) !== 0 && this.#isRefused(host)
      ? `must lead to a public address${UNLESS_ALLOWED}`
      : null;
  }

  /** The addresses that something for a URL may be sent to, one after the other, as they are now. */
  async find(url: URL): Promise<Destination> {
    const refusal = this.refusalOf(url);
    if (refusal !== null) return { refusal: `its address ${refusal}` };
    const host = hostOf(url);
    const found = isIP(host) === 0 ? await this.#look(host) : { addresses: [host] };
    if ('failure' in found) return { refusal: found.failure };
    const addresses = this.#names.has(host)
      ? found.addresses
      : found.addresses.filter((address) => !this.#isRefused(address));
    if (addresses.length === 0) {
      // Looked up anew at the next try: it may have been mended.
      this.#remembered.delete(host);
      return { refusal: `its name leads to no public address${UNLESS_ALLOWED}` };
    }
    const is_inside =
      url.protocol === 'http:' ||
      host === this.#own_host ||
      addresses.some((one) => this.#isInside(host, one));
    // Not every machine can use IPv6.
    return { addresses: addresses.sort((a, b) => isIP(a) - isIP(b)).slice(0, MAX_ADDRESSES), is_inside };
  }

  #isAllowed(host: string): boolean {
    return this.#names.has(host) || (isIP(host) !== 0 && this.#isInNetworks(host));
  }

  #isInNetworks(address: string): boolean {
    const ip = readAddress(address);
    return this.#networks.some(([network, bits]) => ip.kind() === network.kind() && ip.match(network, bits));
  }

  #isRefused(address: string): boolean {
    if (this.#isInNetworks(address)) return false;
    const is_own = this.#isOfThisMachine(address);
    return this.deps.leads_here ? !is_own && !isPublic(address) : is_own || !isPublic(address);
  }

  /** Whether an address of a host, which may be sent to, is allowed and no public one. */
  #isInside(host: string, address: string): boolean {
    const is_allowed = this.#names.has(host) || this.#isInNetworks(address);
    return is_allowed && (this.#isOfThisMachine(address) || !isPublic(address));
  }

  #isOfThisMachine(address: string): boolean {
    const asked = readAddress(address).toNormalizedString();
    const own = (this.deps.listOwnAddresses ?? listOwnAddresses)();
    return own.some((each) => readAddress(each).toNormalizedString() === asked);
  }

  #look(name: string): Promise<Found> {
    const now_ms = monotonicMs();
    const known = this.#remembered.get(name);
    if (known && known.until_ms > now_ms) return known.found;
    const found = this.#ask(name);
    this.#remembered.delete(name);
    this.#remembered.set(name, { found, until_ms: now_ms + REMEMBER_MS });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
    // What failed is asked anew at the next try.
    void found.then((answer) => {
      if ('failure' in answer && this.#remembered.get(name)?.found === found) this.#remembered.delete(name);
    });
    return found;
  }

  async #ask(name: string): Promise<Found> {
    const { resolver, config } = this.deps;
    if (isLoopback(name)) return { addresses: ['127.0.0.1', '::1'] };
    // An operator's own name may stand in /etc/hosts; others are asked for where no look-up can last.
    if (this.#names.has(name) && config.dns_servers.length === 0) {
      const found = await Promise.race([
        lookup(name, { all: true }).catch(() => []),
        Bun.sleep(LOOK_UP_MS).then(() => []),
      ]);
      return found.length > 0
        ? { addresses: found.map(({ address }) => address) }
        : { failure: NO_SUCH_NAME };
    }
    const answer = await resolver.lookupAddresses(name);
    if (answer.status === 'unknown') return { failure: 'the DNS gave no answer about its name' };
    const addresses = answer.status === 'found' ? answer.records : [];
    return addresses.length > 0 ? { addresses } : { failure: NO_SUCH_NAME };
  }
}

const UNLESS_ALLOWED = ', unless SATCHEL_WEBHOOK_ALLOW has it';
const NO_SUCH_NAME = 'its name has no address';

/** As a resolver takes it: without the brackets of an IPv6 address and the dot of a full name. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}

function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const ip = ipaddr.parse(entry);
  return [ip, ip.kind() === 'ipv4' ? 32 : 128];
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

function isPublic(address: string): boolean {
  const ip = readAddress(address);
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6));
}

function listOwnAddresses(): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return interfaces.map(({ address }) => address.split('%')[0] ?? '');
}
