/** What listens on a port: held before it is served, served by another certificate from then on, stopped in order. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { Listener } from '../../../src/platform/http/listener.ts';
import { RawConnection } from '../../e2e/raw-http.ts';
import { DUE } from '../../support/pebble.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';
import { until } from '../../support/until.ts';

const FIRST = {
  private_key: SERVER_CERTIFICATES.localhost.key,
  chain: SERVER_CERTIFICATES.localhost.cert,
};

function makeListener(
  port = 0,
  fetch: (request: Request) => Promise<Response> = async () => new Response('yes'),
) {
  return new Listener({ host: '127.0.0.1', port, settings: 'Choose another.', fetch });
}

/** A connection that is kept, and the serial number that it was shown. */
async function open(port: number): Promise<{
  serial: string;
  ask(path?: string): Promise<string>;
  send(text: string): void;
  over(): Promise<void>;
  end(): void;
}> {
  const connected = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () =>
    connected.resolve(socket),
  );
  socket.on('error', connected.reject);
  let told = '';
  let is_closed = false;
  socket.on('data', (chunk) => {
    told += chunk;
  });
  socket.on('close', () => {
    is_closed = true;
  });
  const { serialNumber } = (await connected.promise).getPeerCertificate();
  return {
    serial: serialNumber,
    async ask(path = '/') {
      told = '';
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      await until(() => is_closed || told.includes('\r\n\r\nyes'));
      return told;
    },
    send: (text) => socket.write(text),
    over: () => until(() => is_closed),
    end: () => socket.destroy(),
  };
}

test('a port that is held is nobody else’s, and who connects is hung up on', async () => {
  const listener = makeListener();
  const port = listener.hold();
  expect(() => makeListener(port).listen()).toThrow(
    `Cannot listen on 127.0.0.1 port ${port}: another process has it. Choose another.`,
  );
  expect(() => makeListener(port).listenTls(FIRST)).toThrow('another process has it');
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect(listener.listenTls(FIRST)).toBe(port);
  expect(() => makeListener(port).listenTls(FIRST)).toThrow('another process has it');
  await listener.stop();
  const next = makeListener(port);
  expect(next.listen()).toBe(port);
  await next.stop();
});

test('another certificate is shown to who connects, while kept connections and requests in flight come to their answers', async () => {
  const waiting = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const listener = makeListener(0, async (request) => {
    if (request.url.endsWith('/slow')) {
      begun.resolve();
      await waiting.promise;
    }
    return new Response('yes');
  });
  const port = listener.listenTls(FIRST);
  const [kept, busy] = await Promise.all([open(port), open(port)]);
  expect(await kept.ask()).not.toMatch(/^connection: close/im);
  const slow = busy.ask('/slow');
  await begun.promise;
  expect(listener.listenTls(DUE)).toBe(port);
  // Long enough for a listener that is stopped at once to have cut what is idle.
  await Bun.sleep(50);
  const last = await kept.ask();
  expect(last).toStartWith('HTTP/1.1 200 OK');
  expect(last).toMatch(/^connection: close/im);
  waiting.resolve();
  expect(await slow).toMatch(/^HTTP\/1.1 200 OK/);
  await until(async () => {
    const { serial, end } = await open(port);
    end();
    return serial === '01';
  });
  await listener.stop();
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toThrow();
});

/** One millisecond of work. */
async function work(): Promise<Response> {
  const until_ms = performance.now() + 1;
  while (performance.now() < until_ms);
  return new Response('yes');
}

test('of what one connection brings at once sixteen are answered, and one more, which ends it', async () => {
  let asked = 0;
  const listener = makeListener(0, () => {
    asked++;
    return work();
  });
  const url = `http://127.0.0.1:${listener.listen()}`;
  const request = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n';
  const endsIt = async (connection: RawConnection) => (await connection.answer())?.headers.connection;

  const greedy = await RawConnection.open(url);
  await greedy.send(request.repeat(200));
  for (let n = 1; n <= 16; n++) expect(await endsIt(greedy)).toBeUndefined();
  expect(await endsIt(greedy)).toBe('close');
  expect(await greedy.answer()).toBeNull();
  expect(asked).toBe(17);

  const patient = await RawConnection.open(url);
  for (let n = 1; n <= 40; n++) {
    await patient.send(n === 1 ? request.repeat(16) : request);
    for (let left = n === 1 ? 16 : 1; left > 0; left--) expect(await endsIt(patient)).toBeUndefined();
  }
  patient.destroy();
  await listener.stop();

  asked = 0;
  const secured = await open(listener.listenTls(FIRST));
  secured.send(request.repeat(200));
  await secured.over();
  expect(asked).toBe(17);
  await listener.stop();
});

test('a kept connection comes in its turn among clients that connect anew for each request', async () => {
  const listener = makeListener(0, work);
  const clients = 50;
  const storm = join(import.meta.dir, '../../support/connection-storm.ts');
  const args = [process.execPath, storm, listener.listen(), clients, 10].map(String);
  const child = Bun.spawn(args, { stdout: 'pipe' });
  const meanwhile = JSON.parse(await new Response(child.stdout).text());
  expect(meanwhile).toHaveLength(10);
  expect(Math.max(...meanwhile)).toBeLessThanOrEqual(2 * clients);
  await listener.stop();
});
