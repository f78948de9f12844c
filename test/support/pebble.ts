/**
 * A real ACME authority for tests: Pebble on loopback, for which every name leads to this machine. What stands before it lets
 * it be away, or slow.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import { type DnsServer, startDnsServer } from './dns-server.ts';
import { part } from './parts.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from './smtp-certificates.ts';
import { makeTempDir } from './temp.ts';
import { until } from './until.ts';

export const PEBBLE = part('pebble');

export interface Pebble {
  /** The address of its directory. */
  directory: string;
  /** A file of what its clients have to trust. */
  ca_file: string;
  dns: DnsServer;
  /** What browsers would have to trust of it, in PEM. */
  root: string;
  /** Orders that it has taken so far. */
  orders(): number;
  /** Hangs up on whoever connects, while true. */
  is_away: boolean;
  /** Keeps whoever connects waiting, until the answer is called. */
  hold(): () => void;
}

/** `http_port` is where it looks at what is at a name. */
export async function startPebble(http_port: number): Promise<Pebble> {
  const dir = makeTempDir();
  const dns = await startDnsServer({ '*': { a: ['127.0.0.1'] } });
  const [port, management_port] = [freePort(), freePort()];
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const { cert, key } = SERVER_CERTIFICATES.localhost;
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management_port}`,
    certificate: file('cert.pem', cert),
    privateKey: file('key.pem', key),
    httpPort: http_port,
    profiles: { default: { description: 'of tests', validityPeriod: 90 * 86_400 } },
  };
  const log = file('log', '');
  const child = Bun.spawn(
    [
      PEBBLE ?? 'pebble',
      '-strict',
      '-config',
      file('pebble.json', JSON.stringify({ pebble })),
      '-dnsserver',
      dns.address,
    ],
    {
      env: { PATH: '', PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
      stdout: Bun.file(log),
      stderr: 'ignore',
    },
  );
  atEnd(async () => {
    child.kill('SIGKILL');
    await Promise.all([child.exited, dns.stop()]);
  });
  const ask = (path: string, at: number) =>
    fetch(`https://localhost:${at}${path}`, { tls: { ca: TEST_CA_PEM } }).then(
      (answer) => answer.text(),
      () => '',
    );
  await until(async () => (await ask('/dir', port)) !== '');
  let gate: Promise<unknown> = Promise.resolve();
  const told: Pebble = {
    directory: '',
    ca_file: file('ca.pem', TEST_CA_PEM),
    dns,
    root: await ask('/roots/0', management_port),
    orders: () => readFileSync(log, 'utf8').split('POST /order-plz').length - 1,
    is_away: false,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
  told.directory = `https://localhost:${await listenBefore(port, () => (told.is_away ? null : gate))}/dir`;
  return told;
}

/** What passes connections on to a port once it is let to; null hangs up. */
async function listenBefore(port: number, letPass: () => Promise<unknown> | null): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, async (client) => {
    const passes = letPass();
    if (!passes) {
      client.destroy();
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
    await passes;
    client.pipe(upstream).pipe(client);
    client.resume();
  });
  atEnd(async () => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** For satchel.example.com and www.satchel.example.com, by nobody, good from 1960 to 2049: always to be renewed, and never ended. */
export const DUE = {
  chain: `-----BEGIN CERTIFICATE-----
MIIBZjCCAQygAwIBAgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDEwxTYXRjaGVs
IHRlc3QwHhcNNjAwMTAxMDAwMDAwWhcNNDkxMjMxMDAwMDAwWjAXMRUwEwYDVQQD
EwxTYXRjaGVsIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAScdYbV1su6
1R22UZVTDvGKJiZbeOEcl1ewlX2xQMTKPyda88qQv/VaERAfbSlNU/RNIgfagmnV
i+z2/irI3rjLo0kwRzAMBgNVHRMEBTADAQH/MDcGA1UdEQQwMC6CE3NhdGNoZWwu
ZXhhbXBsZS5jb22CF3d3dy5zYXRjaGVsLmV4YW1wbGUuY29tMAoGCCqGSM49BAMC
A0gAMEUCIQDM8fmPfcGtMi9UaogX6nFaKf7OdFfZHNpbbp4YoOnKEAIgTPrW6GNb
bvRd0ubkof0ZXBy11uuPqmqq4MQM++f/1fo=
-----END CERTIFICATE-----
`,
  private_key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSVh2Hq1fP+A1X2RD
+Yck2CYz8X5oV5lBnRUeeXt+09mhRANCAAScdYbV1su61R22UZVTDvGKJiZbeOEc
l1ewlX2xQMTKPyda88qQv/VaERAfbSlNU/RNIgfagmnVi+z2/irI3rjL
-----END PRIVATE KEY-----
`,
};
