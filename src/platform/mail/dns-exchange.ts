/** One DNS question to one server: the query, UDP and then TCP, and which answers to believe. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import * as dnsPacket from 'dns-packet';
import { messageOf } from '../../errors.ts';
import { monotonicMs } from '../host/clock.ts';

/** DNS Flag Day 2020: the largest UDP answer that crosses every common network unfragmented. */
const DNS_UDP_PAYLOAD_BYTES = 1_232;

export interface Server {
  host: string;
  port: number;
  label: string;
}

export interface Question {
  name: string;
  type: 'TXT' | 'MX' | 'NS' | 'A' | 'AAAA';
}

interface Exchange {
  server: Server;
  query: Buffer;
  id: number;
  question: Question;
  timeout_ms: number;
}

export type Attempt = { ok: true; packet: dnsPacket.DecodedPacket } | { ok: false; reason: string };

export const RCODE_NXDOMAIN = 3;
const RCODE_NAMES: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  4: 'NOTIMP',
  5: 'REFUSED',
};

/**
 * One try at one server: UDP, then TCP when the answer did not fit. An `ok` packet answers this very question
 * with records, no data or NXDOMAIN; errors, refusals and referrals are failures. Never throws. `timeout_ms`
 * is for each transport. `end_ms` (monotonic) cuts TCP short at the look-up's own deadline.
 */
export async function askServer(
  server: Server,
  question: Question,
  options: { edns: boolean; timeout_ms: number; end_ms: number },
): Promise<Attempt> {
  const id = randomInt(0x1_0000);
  const query = dnsPacket.encode({
    type: 'query',
    id,
    flags: dnsPacket.RECURSION_DESIRED,
    questions: [{ ...question, class: 'IN' }],
    additionals: options.edns ? [ednsRecord()] : [],
  });
  const exchange = { server, query, id, question, timeout_ms: options.timeout_ms };
  let attempt = await exchangeUdp(exchange);
  if (attempt.ok && attempt.packet.flag_tc) {
    const left_ms = Math.floor(options.end_ms - monotonicMs());
    attempt = await exchangeTcp({
      ...exchange,
      timeout_ms: Math.min(options.timeout_ms, Math.max(1, left_ms)),
    });
  }
  if (!attempt.ok) return attempt;
  const rcode = rcodeOf(attempt.packet);
  if (rcode !== 0 && rcode !== RCODE_NXDOMAIN) {
    return { ok: false, reason: `${server.label} answered ${RCODE_NAMES[rcode] ?? `error ${rcode}`}` };
  }
  if (isReferral(attempt.packet)) return { ok: false, reason: `${server.label} does not resolve for us` };
  return attempt;
}

/** A server without recursion names others to ask instead; that is no statement about the name. */
function isReferral(packet: dnsPacket.DecodedPacket): boolean {
  const authorities = packet.authorities ?? [];
  if (rcodeOf(packet) !== 0 || packet.flag_aa || (packet.answers ?? []).length > 0) return false;
  return (
    authorities.some((record) => record.type === 'NS') && !authorities.some((record) => record.type === 'SOA')
  );
}

function ednsRecord(): dnsPacket.OptAnswer {
  return {
    type: 'OPT',
    name: '.',
    udpPayloadSize: DNS_UDP_PAYLOAD_BYTES,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
}

/** The packet if it answers this very question, else null: a forged or late answer is not taken. */
function readAnswer(message: Buffer, exchange: Exchange): dnsPacket.DecodedPacket | null {
  let packet: dnsPacket.DecodedPacket;
  try {
    packet = dnsPacket.decode(message);
  } catch {
    return null;
  }
  const [asked, ...more] = packet.questions ?? [];
  const matches =
    packet.flag_qr &&
    packet.id === exchange.id &&
    asked !== undefined &&
    more.length === 0 &&
    asked.type === exchange.question.type &&
    asked.class === 'IN' &&
    sameName(asked.name, exchange.question.name);
  return matches ? packet : null;
}

function failure(exchange: Exchange, what: string): Attempt {
  return { ok: false, reason: `${exchange.server.label}: ${what}` };
}

function exchangeUdp(exchange: Exchange): Promise<Attempt> {
  const { host, port } = exchange.server;
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  const timer = setTimeout(
    () => resolve(failure(exchange, `no answer within ${exchange.timeout_ms} ms`)),
    exchange.timeout_ms,
  );
  socket.on('error', (error) => resolve(failure(exchange, error.message)));
  socket.on('message', (message) => {
    const packet = readAnswer(message, exchange);
    if (packet) resolve({ ok: true, packet });
  });
  // A connected socket takes packets from this server only, and is told at once where nobody listens there.
  try {
    socket.connect(port, host, (...[unconnected]: Error[]) => {
      // Without a route there it is not connected, and could not send.
      if (unconnected) resolve(failure(exchange, 'no route to it'));
      else
        socket.send(exchange.query, (error) => {
          if (error) resolve(failure(exchange, error.message));
        });
    });
  } catch (error) {
    resolve(failure(exchange, messageOf(error)));
  }
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function exchangeTcp(exchange: Exchange): Promise<Attempt> {
  const { host, port } = exchange.server;
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  const socket = connect({ host, port });
  const timer = setTimeout(
    () => resolve(failure(exchange, `no answer over TCP within ${exchange.timeout_ms} ms`)),
    exchange.timeout_ms,
  );
  let received = Buffer.alloc(0);
  socket.on('connect', () => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(exchange.query.length);
    socket.write(Buffer.concat([length, exchange.query]));
  });
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    const packet = readAnswer(received.subarray(2, 2 + received.readUInt16BE(0)), exchange);
    resolve(packet ? { ok: true, packet } : failure(exchange, 'an answer over TCP that makes no sense'));
  });
  socket.on('error', (error) => resolve(failure(exchange, error.message)));
  socket.on('close', () => resolve(failure(exchange, 'closed the TCP connection without an answer')));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

/** DNS names are equal whatever their case, with or without the root dot. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase().replace(/\.$/, '') === b.toLowerCase().replace(/\.$/, '');
}

export function rcodeOf(packet: dnsPacket.DecodedPacket): number {
  return (packet.flags ?? 0) & 0xf;
}
