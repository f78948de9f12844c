/**
 * DNS look-ups for mail: TXT, MX and addresses. The runtime's resolver splits long TXT records, waits too
 * long for a dead server and can't tell "no such record" from "no answer", so this one is ours.
 */
import { readFile } from 'node:fs/promises';
import { isIP, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type * as dnsPacket from 'dns-packet';
import * as limits from '../../limits.ts';
import { type Clock, monotonicMs, systemClock } from '../host/clock.ts';
import {
  type Attempt,
  askServer,
  type Question,
  RCODE_NXDOMAIN,
  rcodeOf,
  type Server,
  sameName,
} from './dns-exchange.ts';
import { MxCache, type TakesMail } from './mx-cache.ts';

/** A dead server would otherwise keep a look-up pending for more than 9 s. */
const DNS_DEADLINE_MS = 5_000;
/** One UDP try; with two tries a server the look-up stays within its deadline. */
const DNS_TRY_TIMEOUT_MS = 1_500;
const DNS_TRIES_PER_SERVER = 2;

/**
 * What became of a look-up. `found` without records: the name has none of this type. `absent`: the name does
 * not exist (NXDOMAIN), or never can. `unknown`: nobody answered; this must never count as absent.
 */
export type Lookup<T> =
  | { status: 'found'; records: T[] }
  | { status: 'absent' }
  | { status: 'unknown'; reason: string };

export interface MxRecord {
  /** A host name, or `.` where the domain says that it takes no mail at all (RFC 7505). */
  exchange: string;
  preference: number;
}

export interface Resolver {
  /** Each record whole, its 255-byte chunks joined. */
  lookupTxt(name: string): Promise<Lookup<string>>;
  /** The most preferred first. An empty list says nothing of A records, which mail may fall back to. */
  lookupMx(name: string): Promise<Lookup<MxRecord>>;
  /** Names of the servers that have the zone; none for a name that begins no zone. */
  lookupNs(name: string): Promise<Lookup<string>>;
  /** A and AAAA records together. */
  lookupAddresses(name: string): Promise<Lookup<string>>;
  /** Whether a domain takes mail; unlike the others, an answer is remembered for a while. */
  takesMail(domain: string): Promise<TakesMail>;
}

interface ResolverOptions {
  /** The clock by which answers about mail domains expire; the system's unless given. */
  clock?: Clock;
  /** `ip`, `ip:port` or `[ipv6]:port`; empty means those of the system. */
  servers: readonly string[];
  deadline_ms?: number;
  try_timeout_ms?: number;
  resolv_conf_path?: string;
}

const NAME_LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/**
 * A resolver that never throws and never outlasts its deadline (`DNS_DEADLINE_MS` a look-up). It holds no
 * socket between look-ups, so nothing needs closing. Without servers it reads resolv.conf each time, as that
 * file may change.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const fixed = options.servers.map(parseServer);
  const deadline_ms = options.deadline_ms ?? DNS_DEADLINE_MS;
  const try_timeout_ms = options.try_timeout_ms ?? DNS_TRY_TIMEOUT_MS;
  const path = options.resolv_conf_path ?? '/etc/resolv.conf';
  /** The server that answered last is asked first, so that a dead one costs its time-out only once. */
  let last_good = '';

  async function ask(question: Question): Promise<Attempt> {
    const end_ms = monotonicMs() + deadline_ms;
    const known = fixed.length > 0 ? fixed : await readSystemServers(path);
    const servers = [...known].sort((a, b) => Number(b.label === last_good) - Number(a.label === last_good));
    let reason = 'no DNS server is configured';
    for (let round = 0; round < DNS_TRIES_PER_SERVER; round++) {
      for (const server of servers) {
        const left_ms = Math.floor(end_ms - monotonicMs());
        if (left_ms <= 0) return { ok: false, reason: `no answer within ${deadline_ms} ms; last: ${reason}` };
        // The second round leaves EDNS out, as some old servers answer it with an error or not at all.
        const attempt = await askServer(server, question, {
          edns: round === 0,
          timeout_ms: Math.min(try_timeout_ms, left_ms),
          end_ms,
        });
        if (attempt.ok) {
          last_good = server.label;
          return attempt;
        }
        reason = attempt.reason;
      }
    }
    return { ok: false, reason };
  }

  async function lookup<T>(
    name: string,
    type: Question['type'],
    read: (answer: dnsPacket.Answer) => T | null,
  ): Promise<Lookup<T>> {
    const ascii = toAsciiName(name);
    if (ascii === null) return { status: 'absent' };
    const question = { name: ascii, type };
    const attempt = await ask(question);
    if (!attempt.ok) return { status: 'unknown', reason: attempt.reason };
    if (rcodeOf(attempt.packet) === RCODE_NXDOMAIN) return { status: 'absent' };
    const records = answersTo(question, attempt.packet)
      .map(read)
      .filter((record) => record !== null);
    return { status: 'found', records };
  }

  const lookups = {
    lookupTxt: (name: string) => lookup(name, 'TXT', readTxt),
    lookupNs: (name: string) => lookup(name, 'NS', readNs),
    async lookupMx(name: string) {
      const result = await lookup(name, 'MX', readMx);
      if (result.status === 'found') result.records.sort((a, b) => a.preference - b.preference);
      return result;
    },
    async lookupAddresses(name: string) {
      return mergeAddresses(
        await Promise.all([lookup(name, 'A', readAddress), lookup(name, 'AAAA', readAddress)]),
      );
    },
  } satisfies Omit<Resolver, 'takesMail'>;
  const mx_cache = new MxCache(lookups, options.clock ?? systemClock);
  return { ...lookups, takesMail: (domain) => mx_cache.takesMail(domain) };
}

/** Addresses of one family make it `found`. Without any, one family without an answer makes it `unknown`. */
function mergeAddresses(results: readonly Lookup<string>[]): Lookup<string> {
  const records = results.flatMap((result) => (result.status === 'found' ? result.records : []));
  if (records.length > 0) return { status: 'found', records };
  return (
    results.find((result) => result.status === 'unknown') ??
    results.find((result) => result.status === 'found') ?? { status: 'absent' }
  );
}

function readTxt(answer: dnsPacket.Answer): string | null {
  if (answer.type !== 'TXT') return null;
  const chunks = Array.isArray(answer.data) ? answer.data : [answer.data];
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('utf8');
}

function readMx(answer: dnsPacket.Answer): MxRecord | null {
  if (answer.type !== 'MX') return null;
  return { exchange: answer.data.exchange.toLowerCase(), preference: answer.data.preference ?? 0 };
}

function readNs(answer: dnsPacket.Answer): string | null {
  return answer.type === 'NS' ? answer.data.toLowerCase().replace(/\.$/, '') : null;
}

function readAddress(answer: dnsPacket.Answer): string | null {
  return answer.type === 'A' || answer.type === 'AAAA' ? answer.data : null;
}

/** The punycode name in lower case without its root dot, or null when no such name can exist in the DNS. */
function toAsciiName(name: string): string | null {
  // ASCII names keep their letters: domainToASCII would read one made of numbers as an IPv4 address.
  const is_ascii = /^[\x21-\x7e]*$/.test(name);
  const ascii = (is_ascii ? name.toLowerCase() : domainToASCII(name)).replace(/\.$/, '');
  if (ascii.length > limits.MAX_DNS_NAME_CHARS) return null;
  const fits = (label: string): boolean =>
    label.length <= limits.MAX_DNS_LABEL_CHARS && NAME_LABEL.test(label);
  return ascii.split('.').every(fits) ? ascii : null;
}

/** Follows aliases inside the answer section, as recursive servers give them, to the records at their end. */
function answersTo(question: Question, packet: dnsPacket.DecodedPacket): dnsPacket.Answer[] {
  const answers = packet.answers ?? [];
  let owner = question.name;
  for (let hop = 0; hop < answers.length; hop++) {
    const alias = answers.find((answer) => answer.type === 'CNAME' && sameName(answer.name, owner));
    if (alias?.type !== 'CNAME') break;
    owner = alias.data;
  }
  return answers.filter((answer) => answer.type === question.type && sameName(answer.name, owner));
}

function parseServer(text: string): Server {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const plain = isIPv6(text) ? null : /^([^:]+)(?::(\d+))?$/.exec(text);
  const host = bracketed?.[1] ?? plain?.[1] ?? text;
  const port = Number(bracketed?.[2] ?? plain?.[2] ?? 53);
  return { host, port, label: isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}` };
}

/** As libc does: the `nameserver` lines, or this machine itself where there are none. */
async function readSystemServers(path: string): Promise<Server[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const servers = [...text.matchAll(/^[ \t]*nameserver[ \t]+([^\s#;]+)/gm)]
    .map((match) => match[1] ?? '')
    .filter((server) => isIP(server) !== 0);
  return (servers.length > 0 ? servers : ['127.0.0.1']).map((server) => parseServer(server));
}
