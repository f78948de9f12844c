/** What listens on a port: held before it is served, served by another certificate from then on, stopped in order. */
import { expect, test } from 'bun:test';
import { connect, type TLSSocket } from 'node:tls';
import { Listener } from '../../../src/platform/http/listener.ts';
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
async function open(
  port: number,
): Promise<{ serial: string; ask(path?: string): Promise<string>; end(): void }> {
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
