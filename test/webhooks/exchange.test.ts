/** One request to a stranger: its certificate, its time, and answers that are none. */
import { afterAll, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Answer, exchange, type Outgoing } from '../../src/webhooks/exchange.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from '../support/smtp-certificates.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** Listens on loopback, and hands each connection to a test. */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Answers each request with these bytes as they are. */
const saying = (onRequest: (socket: Socket) => void): Promise<number> =>
  listen(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => onRequest(socket));
    }),
  );

const ask = (port: number, more: Partial<Outgoing> = {}): Promise<Answer> =>
  exchange({
    ...{ address: '127.0.0.1', port, certified_name: null, timeout_ms: 30_000 },
    message: 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n{}',
    ...more,
  });

test.each([
  ['HTTP/1.1 204 No Content\r\n\r\n', 204],
  ['HTTP/1.0 500 Oh\r\nA: b\r\n\r\nbody', 500],
  ['HTTP/1.1 200\r\n\r\n', 200],
  [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n',
    202,
  ],
])('%j is an answer', async (said, status) => {
  const port = await saying((socket) => socket.write(said));
  expect(await ask(port)).toEqual({ status });
});

test('the status counts once the head is there, however long the body takes', async () => {
  const port = await saying((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
  });
  expect(await ask(port)).toEqual({ status: 200 });
});

test.each([
  [
    'what is no HTTP',
    (socket: Socket) => socket.write('220 mail.test ESMTP\r\n'),
    'it answered with what is no HTTP',
  ],
  ['no answer', (socket: Socket) => socket.end(), 'the connection was closed without an answer'],
  [
    'a head without an end',
    (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(64 * 1024)}`),
    'the head of its answer is larger than 16384 bytes',
  ],
])('%s is a failure', async (_what, onRequest, failure) => {
  const port = await saying(onRequest);
  expect(await ask(port)).toEqual({ failure, is_unreached: false, is_ours: false });
});

test.each([
  ['says nothing', () => {}],
  [
    'drips its head',
    (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('A'), 20);
      socket.on('close', () => clearInterval(drip));
    },
  ],
])('who %s is given up in time', async (_what, onRequest) => {
  const port = await saying(onRequest);
  expect(await ask(port, { timeout_ms: 300 })).toEqual({
    ...{ failure: 'no answer within 0 s', is_unreached: false, is_ours: false },
  });
});

test('the time covers the handshake', async () => {
  const port = await saying(() => {});
  const answer = await ask(port, { certified_name: 'a.test', timeout_ms: 300 });
  expect(answer).toMatchObject({ failure: 'no answer within 0 s' });
});

test('nobody there is a failure that another address may mend', async () => {
  const port = await saying(() => {});
  await new Promise((resolve) => servers.pop()?.close(resolve));
  expect(await ask(port)).toEqual({
    ...{ failure: 'the connection was refused', is_unreached: true, is_ours: false },
  });
  // No port at all.
  expect(await ask(0, { timeout_ms: 2_000 })).toMatchObject({ failure: expect.any(String) });
});

test('by TLS the name is asked for, and the certificate must be of that name and of a known authority', async () => {
  const asked: unknown[] = [];
  const port = await listen(
    createTlsServer(SERVER_CERTIFICATES.elsewhere, (socket) => {
      asked.push(Reflect.get(socket, 'servername'));
      socket.on('error', () => {});
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    }),
  );
  const certified_name = 'relay.elsewhere.test';
  expect(await ask(port, { certified_name, ca: TEST_CA_PEM })).toEqual({ status: 200 });
  expect(asked).toEqual([certified_name]);
  const failureOf = async (more: Partial<Outgoing>) => {
    const answer = await ask(port, more);
    return 'failure' in answer ? answer.failure : answer.status;
  };
  expect(await failureOf({ certified_name: 'other.test', ca: TEST_CA_PEM })).toBe(
    'TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)',
  );
  expect(await failureOf({ certified_name: '127.0.0.1', ca: TEST_CA_PEM })).toBe(
    'TLS failed (ERR_TLS_CERT_ALTNAME_INVALID)',
  );
  expect(await failureOf({ certified_name })).toMatch(
    /^TLS failed \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\): .*NODE_EXTRA_CA_CERTS$/,
  );
  expect(asked).toHaveLength(1);
});
