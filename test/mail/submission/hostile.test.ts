/** Clients that mean no good, or go away: the server of the SMTP thread, with times that are short. */
import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { MessageReader } from '../../../src/mail/message-reading.ts';
import { receive } from '../../../src/mail/submission/intake.ts';
import type { Answer, Question, ThreadSettings } from '../../../src/mail/submission/protocol.ts';
import { SubmissionServer } from '../../../src/mail/submission/server.ts';
import { BlobStore } from '../../../src/platform/files/store.ts';
import { Turns } from '../../../src/platform/host/turns.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { createRandom, makeText } from './random-text.ts';
import { authPlain, GREETING, handIn, messageFrom, RawClient, signedIn, storedFiles } from './setup.ts';

const KEY = 'the key';
const pair = SERVER_CERTIFICATES.localhost;

interface Started {
  server: SubmissionServer;
  port: number;
  tls_port: number;
  data_dir: string;
  /** What was asked, in order. */
  asked: Question[];
}

const started: SubmissionServer[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop(0))));

/** A server that takes one key, and every message. */
async function start(settings: Partial<ThreadSettings> = {}): Promise<Started> {
  const data_dir = makeTempDir();
  const asked: Question[] = [];
  const answer = (question: Question): Answer => {
    asked.push(question);
    if (question.api_key !== KEY) return { ok: false, reply: { code: 535, text: '5.7.8 No.' } };
    return { ok: true, taken: question.op === 'take' ? { id: question.message.id, is_kept: true } : null };
  };
  const server = new SubmissionServer(
    {
      ...{ name: 'localhost', host: '127.0.0.1', port: 0, tls_port: 0, plain_from: [], pair: null },
      ...{ max_bytes: 1024 * 1024, data_dir, ...settings },
    },
    async (question) => answer(question),
  );
  started.push(server);
  const ports = await server.start();
  return { server, port: ports.port ?? 0, tls_port: ports.tls_port ?? 0, data_dir, asked };
}

/** An address of this machine that is not loopback: what comes from there comes from elsewhere. */
const ELSEWHERE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe.skipIf(ELSEWHERE === undefined)('a client elsewhere', () => {
  const host = ELSEWHERE ?? '';
  const everywhere = { host: '0.0.0.0', pair };

  test('is offered AUTH under TLS alone, and is told 538 5.7.11 before anything is asked', async () => {
    const { port, tls_port, asked } = await start(everywhere);
    const client = await RawClient.connect(port, { host });
    expect(await client.say(GREETING)).not.toContain('AUTH');
    for (const line of ['AUTH LOGIN', 'AUTH PLAIN', authPlain(KEY)])
      expect(await client.say(line)).toStartWith('538 5.7.11 ');
    expect(asked).toEqual([]);
    expect(await client.say('MAIL FROM:<a@b.example>')).toStartWith('530 5.7.0 ');
    expect(await client.say('STARTTLS')).toStartWith('220 ');
    await client.secure();
    expect(await client.say(GREETING)).toContain('AUTH LOGIN PLAIN');
    expect(await client.say(authPlain(KEY))).toStartWith('235 ');
    client.close();
    const secured = await RawClient.connect(tls_port, { host, tls: true });
    expect(await secured.sayAll(GREETING, authPlain(KEY))).toStartWith('235 ');
    secured.close();
  });

  test.each(['0.0.0.0', '::'])(
    'that SATCHEL_SMTP_PLAIN_FROM names signs in without TLS, and so does this machine (at %s)',
    async (at) => {
      const { port } = await start({ host: at, plain_from: [`${host}/32`] });
      for (const to of [host, '127.0.0.1']) {
        const client = await RawClient.connect(port, { host: to });
        expect(await client.say(GREETING)).toContain('AUTH LOGIN PLAIN');
        expect(await client.say(authPlain(KEY))).toStartWith('235 ');
        client.close();
      }
    },
  );

  test.each(['0.0.0.0', '::'])(
    'has twenty connections, and this machine others besides (at %s)',
    async (at) => {
      const { port } = await start({ ...everywhere, host: at });
      const clients: RawClient[] = [];
      for (let n = 0; n < 20; n += 1) clients.push(await RawClient.connect(port, { host }));
      for (const client of clients) expect(await client.say('NOOP')).toStartWith('250 ');
      const one_more = RawClient.open(port, { host });
      expect(await one_more.reply()).toStartWith('421 4.3.2 ');
      await one_more.over();
      for (let n = 0; n < 21; n += 1) {
        const own = await RawClient.connect(port);
        expect(await own.say('NOOP')).toStartWith('250 ');
        clients.push(own);
      }
      expect(await clients[0]?.say('QUIT')).toStartWith('221 ');
      await clients[0]?.over();
      const again = await RawClient.connect(port, { host });
      expect(await again.say('NOOP')).toStartWith('250 ');
      for (const client of [...clients, one_more, again]) client.close();
    },
  );

  test('that keeps connections which were told that there are too many is hung up on, and nobody else', async () => {
    const { port, server } = await start(everywhere);
    const sockets = Array.from({ length: 60 }, () =>
      // It never ends its side.
      connect({ port, host, allowHalfOpen: true }).on('error', () => {}),
    );
    let ended = 0;
    for (const socket of sockets) socket.on('end', () => ended++).resume();
    await until(() => ended === 40);
    expect(server.measures.connections).toBeLessThanOrEqual(40);
    const own = await RawClient.connect(port);
    expect(await own.say('NOOP')).toStartWith('250 ');
    own.close();
    for (const socket of sockets) socket.destroy();
    await until(() => server.measures.connections === 0);
  });
});

test('of two hundred connections fifty are for this machine and SATCHEL_SMTP_PLAIN_FROM, whoever else comes', async () => {
  const { port, server } = await start();
  // What comes from elsewhere can't be had here.
  Object.assign(server, { isTrusted: (address: string) => address === '127.0.0.1' });
  const strangers: RawClient[] = [];
  for (let n = 0; n < 170; n += 1) strangers.push(RawClient.open(port, { from: `127.0.1.${n % 10}` }));
  const told = await Promise.all(strangers.map((stranger) => stranger.reply()));
  expect(told.filter((reply) => reply.startsWith('220 '))).toHaveLength(150);
  expect(told.filter((reply) => reply.startsWith('421 4.3.2 '))).toHaveLength(20);
  const ours: RawClient[] = [];
  for (let n = 0; n < 50; n += 1) {
    const client = RawClient.open(port);
    expect(await client.reply()).toStartWith('220 ');
    ours.push(client);
  }
  const one_more = RawClient.open(port);
  expect(await one_more.reply()).toStartWith('421 4.3.2 ');
  for (const client of [...strangers, ...ours, one_more]) client.close();
  await until(() => server.measures.connections === 0);
});

test('two hundred connections are open at once, the next is 421 4.3.2', async () => {
  const { port, server } = await start();
  const clients = await Promise.all(Array.from({ length: 200 }, () => RawClient.connect(port)));
  for (const client of clients) expect(await client.say('NOOP')).toStartWith('250 ');
  const one_more = RawClient.open(port);
  expect(await one_more.reply()).toStartWith('421 4.3.2 ');
  await one_more.over();
  clients[0]?.close();
  await until(() => server.measures.connections < 200);
  const again = await RawClient.connect(port);
  expect(await again.say('NOOP')).toStartWith('250 ');
  for (const client of [...clients, one_more, again]) client.close();
  await until(() => server.measures.connections === 0);
});

test('connections that began TLS are counted no more once they are over', async () => {
  const { port, tls_port, server } = await start({ pair });
  for (let n = 0; n < 3; n += 1) {
    const client = await RawClient.connect(port);
    await client.sayAll(GREETING, 'STARTTLS');
    await client.secure();
    const secured = await RawClient.connect(tls_port, { tls: true });
    for (const one of [client, secured]) expect(await one.sayAll(GREETING, 'NOOP')).toStartWith('250 ');
    expect(server.measures.connections).toBe(2);
    client.close();
    secured.close();
    await until(() => server.measures.connections === 0);
  }
});

describe('time', () => {
  test('without a sign-in it is up, whatever is said meanwhile', async () => {
    const { port } = await start({ sign_in_ms: 150, idle_ms: 600_000 });
    const client = await RawClient.connect(port);
    let reply = await client.say(GREETING);
    while (reply.startsWith('250')) reply = await client.say('NOOP');
    expect(reply).toStartWith('421 4.4.2 ');
    await client.over();
    // A failed one counts for nothing.
    const other = await RawClient.connect(port);
    await other.sayAll(GREETING, authPlain('a'));
    expect(await other.reply()).toStartWith('421 4.4.2 ');
  });

  test('of a TLS handshake that never ends is up too, at both ports', async () => {
    const { port, tls_port, server } = await start({ pair, sign_in_ms: 150, idle_ms: 600_000 });
    const silent = connect({ port: tls_port, host: '127.0.0.1' }).resume();
    const is_hung_up_on = new Promise<void>((resolve) => silent.once('close', resolve));
    const client = await RawClient.connect(port);
    await client.sayAll(GREETING, 'STARTTLS');
    await client.over();
    await is_hung_up_on;
    await until(() => server.measures.connections === 0);
  });

  test('after a sign-in is that of idling, between commands and within one', async () => {
    const { port } = await start({ idle_ms: 150 });
    for (const rest of ['', 'MAIL FROM:<a@b.exa', 'AUTH']) {
      const client = await signedIn(port, KEY);
      client.write(rest);
      expect(await client.reply()).toStartWith('421 4.4.2 ');
      await client.over();
    }
    const client = await RawClient.connect(port);
    expect(await client.sayAll(GREETING, 'AUTH LOGIN')).toStartWith('334 ');
    client.close();
  });

  test('of a message that comes byte by byte is up, and nothing of it is kept', async () => {
    const { port, asked, data_dir } = await start({ idle_ms: 200 });
    const client = await signedIn(port, KEY);
    await client.sayAll('MAIL FROM:<>', 'RCPT TO:<ada@example.org>', 'DATA');
    const drip = setInterval(() => client.write('a\r\n'), 10);
    expect(await client.reply()).toStartWith('421 4.4.2 ');
    clearInterval(drip);
    await client.over();
    expect(asked.map(({ op }) => op)).toEqual(['sign_in', 'begin']);
    await until(() => storedFiles(data_dir).length === 0);
  });
});

test('nonsense, whatever it is, ends no more than its own connection', async () => {
  const { port, server, asked, data_dir } = await start({ pair });
  const random = createRandom(20_261_127);
  const words = [
    ...[
      'EHLO a',
      'HELO',
      'AUTH',
      'AUTH PLAIN =',
      'AUTH LOGIN',
      authPlain('wrong'),
      'AAAA',
      '*',
      'MAIL FROM:<>',
      'RCPT TO:<',
    ],
    ...[
      'DATA',
      '.',
      'RSET',
      'NOOP x',
      'VRFY',
      'QUIT',
      'STARTTLS x',
      'BDAT 9 LAST',
      '\0',
      '\xff\xfe',
      'GET / HTTP/1.1',
      ' ',
    ],
    ...[
      'MAIL FROM:<a@b.example> SIZE=-1 BODY=x',
      `RCPT TO:<${'a'.repeat(3_000)}>`,
      'x'.repeat(20_000),
      '\x16\x03\x01\x02',
    ],
  ];
  const ends = ['\r\n', '\r\n', '\n', '\r', ''];
  const talk = async (): Promise<void> => {
    const client = await RawClient.connect(port);
    for (let n = random(12); n > 0; n -= 1)
      client.write(makeText(words, 1, random) + makeText(ends, 1, random));
    await client.flushed();
    client.end();
    await client.over();
    client.close();
  };
  for (let round = 0; round < 15; round += 1) await Promise.all(Array.from({ length: 20 }, talk));
  expect(asked.map(({ op }) => op).filter((op) => op !== 'sign_in')).toEqual([]);
  (await signedIn(port, KEY)).close();
  await until(() => server.measures.connections === 0);
  expect(storedFiles(data_dir)).toEqual([]);
});

test('what is pipelined behind STARTTLS is forgotten, a hundred lines of it too', async () => {
  const { port, asked } = await start({ pair });
  const client = await RawClient.connect(port);
  await client.say(GREETING);
  client.write(`STARTTLS\r\n${'NOOP\r\n'.repeat(250)}${authPlain(KEY)}\r\nMAIL FROM:<>\r\n`);
  expect(await client.reply()).toStartWith('220 ');
  await client.secure();
  expect(await client.say('MAIL FROM:<>')).toStartWith('530 ');
  expect(await client.sayAll(GREETING, 'NOOP')).toStartWith('250 2.0.0 ');
  expect(asked).toEqual([]);
  client.close();
});

test('a message that takes too long to read is 554 5.6.0, and nothing of it is kept', async () => {
  const { port, asked, data_dir } = await start({ read_ms: -1 });
  const client = await signedIn(port, KEY);
  const reply = await handIn(client, messageFrom('a@b.example'));
  expect(reply).toStartWith('554 5.6.0 The message is not taken: reading it takes more than');
  expect(asked.map(({ op }) => op)).toEqual(['sign_in', 'begin']);
  expect(storedFiles(data_dir)).toEqual([]);
  client.close();
});

test.each([
  ['dashes', '--\r\n'],
  ['dashes of boundaries', '--b\r\n'],
  ['empty lines', '\r\n'],
])('25 MB of %s are read in pieces, between which others have their turn', async (_, line) => {
  const levels = Array.from(
    { length: 19 },
    (_level, n) => `--b${n}\r\nContent-Type: multipart/mixed; boundary="b${n + 1}"\r\n\r\n`,
  );
  const fields = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="b0"'];
  const body = levels.join('') + line.repeat(25_000_000 / line.length);
  const message = Buffer.from(messageFrom('a@b.example', { fields, body }));
  const at_once_ms = await longestTurnMs(async () => new MessageReader().take(message));
  const ask = async () => ({ ok: true, taken: { id: 'x', is_kept: true } }) as const;
  const house = {
    blobs: new BlobStore(makeTempDir()),
    turns: new Turns(),
    max_bytes: 2 ** 25,
    read_ms: 60_000,
    ask,
  };
  async function* stream() {
    yield message;
  }
  const incoming = { stream: stream(), api_key: KEY, recipients: [], onProgress() {}, hangUp() {} };
  let reply = '';
  const turn_ms = await longestTurnMs(async () => {
    reply = await receive(incoming, house);
  });
  expect(reply).toBe('2.0.0 queued as x');
  expect(turn_ms).toBeLessThan(at_once_ms / 2);
});

test('a stop waits for no client longer than it may', async () => {
  const { port, server, asked, data_dir } = await start();
  const client = await signedIn(port, KEY);
  await client.sayAll('MAIL FROM:<>', 'RCPT TO:<ada@example.org>', 'DATA');
  client.write(messageFrom('a@b.example'));
  await server.stop(100);
  expect(await client.reply()).toStartWith('421 4.3.2 ');
  await client.over();
  expect((await RawClient.connect(port)).is_over).toBe(true);
  expect(asked.map(({ op }) => op)).toEqual(['sign_in', 'begin']);
  await until(() => storedFiles(data_dir).length === 0);
});

const openFiles = (): number => readdirSync('/proc/self/fd').length;

test('a client that goes away at any byte leaves no file, no descriptor, and a message only where it came whole', async () => {
  const { port, server, asked, data_dir } = await start();
  const body = '--b\r\n\r\n..dot\r\n.\tno end\r\n--b--\r\n';
  const fields = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b', 'Bcc: eve@example.org'];
  const message = messageFrom('a@b.example', { fields, body });
  const envelope = 'MAIL FROM:<>\r\nRCPT TO:<ada@example.org>\r\nDATA\r\n';
  const all = `${GREETING}\r\n${authPlain(KEY)}\r\n${envelope}${message}.\r\n`;
  (await RawClient.connect(port)).close();
  await until(() => server.measures.connections === 0);
  const before = openFiles();
  const leaveAt = async (byte: number): Promise<void> => {
    const client = await RawClient.connect(port);
    client.write(all.slice(0, byte));
    // One says goodbye, the other is gone.
    if (byte % 2 === 0) client.end();
    else await client.flushed();
    client.close();
  };
  for (let byte = 0; byte < all.length; byte += 16)
    await Promise.all(Array.from({ length: Math.min(16, all.length - byte) }, (_, n) => leaveAt(byte + n)));
  await until(() => server.measures.connections === 0);
  expect(asked.filter(({ op }) => op === 'take')).toEqual([]);
  await until(() => storedFiles(data_dir).length === 0 && openFiles() <= before);
  expect(server.measures).toMatchObject({ taken: 0, refused: 0 });
  // What came whole is taken, though nobody waits for the answer.
  const client = await RawClient.connect(port);
  client.write(all);
  client.end();
  await until(() => server.measures.taken === 1);
  expect(storedFiles(data_dir)).toHaveLength(1);
  client.close();
});
