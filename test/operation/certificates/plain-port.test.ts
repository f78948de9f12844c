/** The http port beside https: what the authority finds, and where everybody else is sent. */
import { beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { createPlainPort } from '../../../src/operation/certificates/plain-port.ts';
import { atEnd } from '../../support/cleanup.ts';

const challenges = new Map([['token', 'token.thumb']]);
let waiting: string | null = null;
let port = 0;

function start(public_url: string, https_port: number): number {
  const plain = createPlainPort({
    host: '127.0.0.1',
    port: 0,
    names: ['a.example.com', 'b.example.com'],
    public_url,
    https_port,
    challenges,
    explainWaiting: () => waiting,
  });
  atEnd(() => plain.stop());
  return plain.listen();
}

beforeAll(() => {
  port = start('https://a.example.com', 443);
});

/** Status and headers that answer what is said, byte by byte. */
function say(text: string, to = port): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(to, '127.0.0.1', () => socket.write(text));
  socket.on('data', (chunk) => {
    resolve(String(chunk));
    socket.destroy();
  });
  socket.on('close', () => resolve(''));
  socket.on('error', () => resolve(''));
  return promise;
}

const locationIn = (answer: string) => /^location: (.*)\r$/im.exec(answer)?.[1] ?? null;
const get = async (target: string, host: string, to = port) =>
  locationIn(await say(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, to));

test.each([
  ['/x?y=1', 'a.example.com', 'https://a.example.com/x?y=1'],
  ['/', 'B.EXAMPLE.COM:80', 'https://b.example.com/'],
  ['/', 'b.example.com.', 'https://b.example.com/'],
  ['/x', 'evil.example', 'https://a.example.com/x'],
  ['/x', 'a.example.com.evil.example', 'https://a.example.com/x'],
  ['/x', 'a.example.com@evil.example', 'https://a.example.com/'],
  ['http://evil.example/x', 'evil.example', 'https://a.example.com/x'],
  ['//evil.example/x', 'a.example.com', expect.stringMatching(/^https:\/\/a\.example\.com\//)],
  ['/%0d%0aSet-Cookie:a=b', 'a.example.com', 'https://a.example.com/%0d%0aSet-Cookie:a=b'],
])('%s at %s leads to one of its names', async (target, host, location) => {
  expect(await get(target, host)).toEqual(location);
});

test('a request without a Host is sent to the first name, and a POST is told to come with its body again', async () => {
  const old = await say('GET /x HTTP/1.0\r\n\r\n');
  expect(old).toMatch(/^HTTP\/1\.[01] 308 /);
  expect(locationIn(old)).toMatch(/^https:\/\/a\.example\.com\//);
  const post = await say('POST /x HTTP/1.1\r\nHost: b.example.com\r\nContent-Length: 100000000\r\n\r\nabc');
  expect([post.slice(0, 12), locationIn(post)]).toEqual(['HTTP/1.1 308', 'https://b.example.com/x']);
});

test('the port is that of the public URL where that is one of its names, else its own', async () => {
  expect(await get('/', 'b.example.com', start('https://a.example.com:8443', 443))).toBe(
    'https://b.example.com:8443/',
  );
  expect(await get('/', 'b.example.com', start('https://other.example.com', 8443))).toBe(
    'https://b.example.com:8443/',
  );
  expect(await get('/', 'b.example.com', start('https://a.example.com', 8443))).toBe(
    'https://b.example.com/',
  );
});

test('the authority finds what it looks for, whether or not there is a certificate; nobody else finds anything without one', async () => {
  for (const reason of [null, 'Not yet.\n']) {
    waiting = reason;
    const at = `http://127.0.0.1:${port}/.well-known/acme-challenge`;
    const found = await fetch(`${at}/token`);
    expect([found.status, await found.text()]).toEqual([200, 'token.thumb']);
    expect((await fetch(`${at}/other`, { redirect: 'manual' })).status).toBe(404);
    const rest = await fetch(`http://127.0.0.1:${port}/api/health`, { redirect: 'manual' });
    expect(rest.status).toBe(reason === null ? 308 : 503);
    if (reason !== null) expect([await rest.text(), rest.headers.get('retry-after')]).toEqual([reason, '60']);
  }
  waiting = null;
});
