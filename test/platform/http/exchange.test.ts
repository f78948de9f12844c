/** One request to a stranger: its certificate, its time, and answers that are none. */
import { afterAll, describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Answer, AnswerBody, exchange, type Outgoing } from '../../../src/platform/http/exchange.ts';
import { askOutside, OutsideError } from '../../../src/platform/http/outside.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from '../../support/smtp-certificates.ts';

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
  expect(await ask(port)).toMatchObject({ status });
});

/** What is kept of an answer that comes in these pieces and then ends. */
async function saidOf(pieces: readonly (string | Buffer)[]) {
  const port = await saying(async (socket) => {
    for (const piece of pieces) {
      socket.write(piece);
      await Bun.sleep(1);
    }
    socket.end();
  });
  const answer = await ask(port);
  if ('failure' in answer) throw new Error(answer.failure);
  return answer.said;
}

test('the status counts once the head is there, and the body has a second from then on', async () => {
  const port = await saying((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nso far');
  });
  const answer = await ask(port, { timeout_ms: 1_000_000 });
  expect(answer).toEqual({
    ...{ status: 200, behind_ms: expect.any(Number) },
    said: { content_type: null, body: 'so far', is_cut: true },
  });
  // One who has had nearly all of the time for its head has it, too.
  const slow = await saying(async (socket) => {
    await Bun.sleep(400);
    socket.write('HTTP/1.1 500 Oh\r\n\r\nwhy');
    await Bun.sleep(200);
    socket.end(' not');
  });
  expect(await ask(slow, { timeout_ms: 500 })).toMatchObject({ status: 500, said: { body: 'why not' } });
});

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: gzip, Chunked\r\n\r\n`;
const KEPT = 64 * 1024;

test.each([
  [
    'up to the end',
    [`${OK}Content-Type:  text/plain; charset=utf-8 \r\n\r\nall`, ' of it'],
    'all of it',
    false,
  ],
  ['by its length', [`${OK}content-length: 3\r\n\r\nall, and no more`], 'all', false],
  ['less than its length', [`${OK}Content-Length: 30\r\n\r\nall`], 'all', true],
  ['nothing', ['HTTP/1.1 204 No Content\r\n\r\nbut'], '', false],
  ['nothing of a length', [`${OK}Content-Length: 0\r\n\r\n`], '', false],
  ['in chunks', [CHUNKED, '3\r\nal', 'l\r\n', '6;a=b', '\r', '\n of it\r\n0\r\n\r\n'], 'all of it', false],
  ['in chunks that end early', [`${CHUNKED}3\r\nall\r\n`], 'all', true],
  ['in chunks of no size', [`${CHUNKED}3\r\nall\r\nz\r\nmore`], 'all', true],
  ['in a chunk whose line does not end', [`${CHUNKED}3${';'.repeat(2_000)}`], '', true],
  [
    'a character that comes in two',
    [`${OK}\r\n`, Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)],
    'é',
    false,
  ],
  ['no text', [`${OK}\r\n`, Buffer.from([0xff, 0x00, 0x41])], '\ufffd\u0000A', false],
  ['as much as is kept', [`${OK}\r\n${'x'.repeat(KEPT)}`], 'x'.repeat(KEPT), false],
  ['more than is kept', [`${OK}\r\n${'x'.repeat(KEPT - 1)}éx`], 'x'.repeat(KEPT - 1), true],
  [
    'more than is kept in chunks',
    [CHUNKED, ...Array.from({ length: 9 }, () => `2000\r\n${'x'.repeat(8192)}\r\n`)],
    'x'.repeat(KEPT),
    true,
  ],
])('of an answer is kept what it says: %s', async (_what, pieces, body, is_cut) => {
  expect(await saidOf(pieces)).toMatchObject({ body, is_cut });
});

test('its type is kept, and whoever has said all of it is not waited for', async () => {
  const head = `${OK}Content-Type: text/html\r\n`;
  for (const behind of [
    'Content-Length: 2\r\n\r\nok',
    'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ]) {
    const port = await saying((socket) => socket.write(head + behind));
    const answers = await Promise.all(Array.from({ length: 9 }, () => ask(port)));
    const waits = answers.map((answer) => ('failure' in answer ? 0 : answer.behind_ms));
    expect(answers[0]).toMatchObject({ said: { content_type: 'text/html', body: 'ok', is_cut: false } });
    expect(Math.min(...waits)).toBeLessThan(1_000);
  }
});

test('a body of a byte a packet is read in a time that grows as it does', async () => {
  const body = new AnswerBody(200, `${OK}Transfer-Encoding: chunked`);
  let bytes = 0;
  while (!body.is_over && bytes < 1_000_000) {
    for (const byte of '1;\r\nx\r\n') body.push(Buffer.from(byte));
    bytes += 1;
  }
  expect(bytes).toBe(KEPT + 1);
  expect(body.close({ has_ended: false })).toEqual({
    content_type: null,
    body: 'x'.repeat(KEPT),
    is_cut: true,
  });
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
  expect(await ask(port, { certified_name, ca: TEST_CA_PEM })).toMatchObject({ status: 200 });
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

describe('a whole answer', () => {
  const askWhole = async (onRequest: (socket: Socket) => void, timeout_ms = 30_000) => {
    const port = await saying(onRequest);
    const outside = {
      destinations: { find: async () => ({ addresses: ['127.0.0.1'], is_inside: true }) },
      sender: {
        sendToFirst: ([address = '']: readonly string[], out: Omit<Outgoing, 'address'>) =>
          exchange({ ...out, address, timeout_ms: Math.min(out.timeout_ms, timeout_ms) }),
      },
    };
    return askOutside(outside, new URL(`http://127.0.0.1:${port}/a?b`), { headers: { Accept: 'x/y' } });
  };
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
  const failureOf = async (asked: Promise<unknown>) => {
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    return error instanceof OutsideError ? [error.is_away, error.message] : error;
  };

  test('is read past the second that others get, and its status is told whatever it is', async () => {
    const answer = await askWhole(async (socket) => {
      socket.write(`${HEAD}Content-Length: 4\r\n\r\n`);
      await Bun.sleep(1_100);
      socket.write('true');
    });
    expect([await answer.json(), answer.headers.get('content-type')]).toEqual([true, 'application/json']);
    const redirect = await askWhole((socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n'));
    expect([redirect.status, await redirect.text()]).toEqual([302, '']);
  });

  test('that does not come, or not to its end, is one that may come later; a larger one is not', async () => {
    expect(await failureOf(askWhole(() => {}, 50))).toEqual([
      true,
      expect.stringContaining('gave no answer'),
    ]);
    const trickle = askWhole((socket) => socket.write(`${HEAD}Content-Length: 4\r\n\r\ntr`), 50);
    expect(await failureOf(trickle)).toEqual([
      true,
      expect.stringContaining('did not end its answer in time'),
    ]);
    const huge = askWhole((socket) => socket.write(`${HEAD}\r\n${'€'.repeat(100_000)}`));
    expect(await failureOf(huge)).toEqual([false, expect.stringContaining('more than 262144 bytes')]);
    const odd = askWhole((socket) => socket.end('HTTP/1.1 700 Oh\r\n\r\nx'));
    expect(await failureOf(odd)).toEqual([false, expect.stringContaining('answered 700')]);
  });
});
