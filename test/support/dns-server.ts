/** A real DNS server on loopback for tests: UDP and TCP on one random port, answering from a zone that tests may change. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import * as dnsPacket from 'dns-packet';

/** Ways to misbehave: over both transports, except `truncated` (UDP only; TCP then answers in full). */
export type Fault =
  | 'nxdomain'
  | 'silence'
  | 'servfail'
  | 'refused'
  | 'truncated'
  | 'wrong-id'
  | 'wrong-question'
  | 'garbage'
  | 'echo'
  | 'referral'
  | 'no-edns';

export interface ZoneEntry {
  /** A string is one record, cut into chunks of 255 bytes; an array is one record with exactly these chunks. */
  txt?: readonly (string | readonly string[])[];
  mx?: readonly { exchange: string; preference: number }[];
  ns?: readonly string[];
  a?: readonly string[];
  aaaa?: readonly string[];
  cname?: string;
  fault?: Fault;
}

/** Entries by name in lower case; `*` answers for every name that has none. Without an entry: NXDOMAIN. */
export type Zone = Record<string, ZoneEntry>;

export interface DnsServer {
  /** `127.0.0.1:port`, as SATCHEL_DNS_SERVERS takes it. */
  readonly address: string;
  /** Every query received so far, oldest first. */
  readonly queries: { name: string; type: string; transport: 'udp' | 'tcp'; edns: boolean }[];
  /** Replaces one entry; null removes it, so that the name is NXDOMAIN. */
  set(name: string, entry: ZoneEntry | null): void;
  stop(): Promise<void>;
}

type Transport = 'udp' | 'tcp';

/** Starts a server on a free port of 127.0.0.1. The caller must `stop()` it. */
export async function startDnsServer(zone: Zone = {}): Promise<DnsServer> {
  const entries = new Map(Object.entries(zone).map(([name, entry]) => [name.toLowerCase(), entry]));
  const queries: DnsServer['queries'] = [];
  const open = new Set<Socket>();

  function answer(message: Buffer, transport: Transport): Buffer | null {
    const query = dnsPacket.decode(message);
    const question = query.questions?.[0];
    if (!question) return null;
    const name = question.name.toLowerCase();
    const edns = (query.additionals ?? []).some((record) => record.type === 'OPT');
    queries.push({ name, type: question.type, transport, edns });
    const entry = entries.get(name) ?? entries.get('*');
    if (entry?.fault === 'echo') return message;
    return reply(query, question, { transport, edns, entry, entries });
  }

  const tcp = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const response = answer(received.subarray(2, 2 + received.readUInt16BE(0)), 'tcp');
      received = Buffer.alloc(0);
      if (!response) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      // In two pieces, as a network may deliver it.
      const framed = Buffer.concat([length, response]);
      socket.setNoDelay(true);
      socket.write(framed.subarray(0, 20));
      setTimeout(() => socket.write(framed.subarray(20)), 5);
    });
  });
  const { udp, port } = await bindBoth(tcp);
  udp.on('message', (message, from) => {
    const response = answer(message, 'udp');
    if (response) udp.send(response, from.port, from.address);
  });

  return {
    address: `127.0.0.1:${port}`,
    queries,
    set(name, entry) {
      if (entry) entries.set(name.toLowerCase(), entry);
      else entries.delete(name.toLowerCase());
    },
    async stop() {
      for (const socket of open) socket.destroy();
      udp.close();
      const closed = Promise.withResolvers<void>();
      tcp.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

/** The port that TCP gets may be taken on UDP; then both try another. */
async function bindBoth(tcp: Server): Promise<{ udp: UdpSocket; port: number }> {
  for (;;) {
    const listening = Promise.withResolvers<void>();
    tcp.listen(0, '127.0.0.1', () => listening.resolve());
    await listening.promise;
    const address = tcp.address();
    if (address === null || typeof address === 'string') throw new Error('TCP server without a port');
    const udp = createSocket('udp4');
    const bound = Promise.withResolvers<boolean>();
    udp.once('error', () => bound.resolve(false));
    udp.bind(address.port, '127.0.0.1', () => bound.resolve(true));
    if (await bound.promise) return { udp, port: address.port };
    udp.close();
    const closed = Promise.withResolvers<void>();
    tcp.close(() => closed.resolve());
    await closed.promise;
  }
}

function reply(
  query: dnsPacket.DecodedPacket,
  question: dnsPacket.Question,
  context: {
    transport: Transport;
    edns: boolean;
    entry: ZoneEntry | undefined;
    entries: ReadonlyMap<string, ZoneEntry>;
  },
): Buffer | null {
  const { entry, transport, edns } = context;
  const fault = entry?.fault;
  const flags = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE;
  const base: dnsPacket.Packet = { type: 'response', id: query.id, questions: [question] };
  const fail = (rcode: number): Buffer => dnsPacket.encode({ ...base, flags: flags | rcode });
  if (fault === 'silence') return null;
  if (fault === 'garbage') return Buffer.from('no DNS message at all');
  if (fault === 'servfail') return fail(2);
  if (fault === 'refused') return fail(5);
  if (fault === 'no-edns' && edns) return fail(1);
  if (!entry || fault === 'nxdomain') return fail(3);
  if (fault === 'referral') {
    return dnsPacket.encode({ ...base, authorities: [{ name: 'example', type: 'NS', data: 'ns.example' }] });
  }
  if (fault === 'truncated' && transport === 'udp') {
    return dnsPacket.encode({ ...base, flags: flags | dnsPacket.TRUNCATED_RESPONSE });
  }
  return dnsPacket.encode({
    ...base,
    flags,
    id: fault === 'wrong-id' ? ((query.id ?? 0) + 1) % 0x1_0000 : query.id,
    questions: [fault === 'wrong-question' ? { ...question, name: `not-${question.name}` } : question],
    answers: recordsOf(question.name, entry, question.type, context.entries),
  });
}

/** The records of one type, behind the aliases that lead to them. A cycle of aliases is given once around. */
function recordsOf(
  name: string,
  entry: ZoneEntry,
  type: dnsPacket.RecordType,
  entries: ReadonlyMap<string, ZoneEntry>,
  seen: readonly string[] = [],
): dnsPacket.Answer[] {
  if (entry.cname !== undefined) {
    const target = entry.cname.toLowerCase();
    const next = seen.includes(target) ? undefined : entries.get(target);
    return [
      { name, type: 'CNAME', ttl: 60, data: entry.cname },
      ...(next ? recordsOf(entry.cname, next, type, entries, [...seen, target]) : []),
    ];
  }
  if (type === 'TXT') {
    return (entry.txt ?? []).map((record) => ({ name, type, ttl: 60, data: chunksOf(record) }));
  }
  if (type === 'MX') return (entry.mx ?? []).map((data) => ({ name, type, ttl: 60, data: { ...data } }));
  if (type === 'NS') return (entry.ns ?? []).map((data) => ({ name, type, ttl: 60, data }));
  if (type === 'A') return (entry.a ?? []).map((data) => ({ name, type, ttl: 60, data }));
  if (type === 'AAAA') return (entry.aaaa ?? []).map((data) => ({ name, type, ttl: 60, data }));
  return [];
}

function chunksOf(record: string | readonly string[]): Buffer[] {
  if (typeof record !== 'string') return record.map((chunk) => Buffer.from(chunk));
  const bytes = Buffer.from(record);
  const count = Math.max(1, Math.ceil(bytes.length / 255));
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * 255, (index + 1) * 255));
}
