/** Which address a request comes from behind proxies: whose X-Forwarded-For is believed, and how far. */
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { AppError } from '../../errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** Reads the client's address from the socket's peer and X-Forwarded-For; null where there is none. */
type ClientIpReader = (peer: string | null, forwarded_for: string | null) => string | null;

/**
 * A reader for a list of trusted proxies (addresses or CIDR networks, IPv4 and IPv6). It answers the peer
 * unless that is trusted, else the right-most forwarded address that no trusted proxy has: the client could
 * have written everything left of it. An entry that is no address ends the walk at the proxy that passed it
 * on. Where all are trusted the left-most is the client. Answers are in normal form, IPv4-mapped IPv6 as
 * IPv4, or null for an unknown peer. Throws AppError `invalid` for an entry of the list that is no network.
 */
export function createClientIpReader(trusted: readonly string[]): ClientIpReader {
  const networks = trusted.map(parseNetwork);
  const isTrusted = (address: Address): boolean => isWithin(address, networks);

  return (peer, forwarded_for) => {
    // The common case needs no parsing, and every request asks.
    if (networks.length === 0 && peer !== null && isIPv4(peer)) return peer;
    let client = peer === null ? null : parseAddress(peer);
    if (client === null) return null;
    const hops = forwarded_for === null ? [] : forwarded_for.split(',');
    while (isTrusted(client)) {
      const hop = hops.pop();
      const address: Address | null = hop === undefined ? null : parseHop(hop.trim());
      if (address === null) break;
      client = address;
    }
    return client.toString();
  };
}

/**
 * Whether an address is in a list of addresses and CIDR networks. Throws AppError `invalid` as
 * `createClientIpReader` does.
 */
export function createNetworkMatcher(list: readonly string[]): (ip: string) => boolean {
  const networks = list.map(parseNetwork);
  return (ip) => {
    const address = parseAddress(ip);
    return address !== null && isWithin(address, networks);
  };
}

function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(
    ([network, bits]) => address.kind() === network.kind() && address.match(network, bits),
  );
}

/** Some proxies write the port as well: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function parseHop(text: string): Address | null {
  const match = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$|^([0-9.]+):\d{1,5}$/i.exec(text);
  return parseAddress(match?.[1] ?? match?.[2] ?? text);
}

function parseAddress(text: string): Address | null {
  // ipaddr.js also takes `1`, `0x7f.1` and `010.0.0.1`; no proxy writes those.
  if (isIP(text) === 0) return null;
  // A zone names an interface of this machine and is no part of the address.
  return ipaddr.process(text.replace(/%.*$/, ''));
}

function parseNetwork(text: string): Network {
  const [ip = '', bits_text, ...rest] = text.split('/');
  const address = isIP(ip) === 0 || rest.length > 0 ? null : ipaddr.parse(ip);
  const width = isIPv4(ip) ? 32 : 128;
  const bits = bits_text === undefined ? width : /^\d{1,3}$/.test(bits_text) ? Number(bits_text) : 129;
  if (address === null || bits > width) {
    throw new AppError('invalid', 'A trusted proxy must be an address or a network such as 10.0.0.0/8.');
  }
  // Clients are compared in IPv4 form, so a network inside ::ffff:0:0/96 is turned into IPv4 too.
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96) {
    return [address.toIPv4Address(), bits - 96];
  }
  return [address, bits];
}

/** What one customer of a provider has: an IPv4 address, or an IPv6 /64 with addresses of their choice. */
export function networkOf(ip: string | null): string {
  if (ip === null) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${new ipaddr.IPv6([...address.toByteArray().slice(0, 8), ...Array<number>(8).fill(0)])}/64`;
}
