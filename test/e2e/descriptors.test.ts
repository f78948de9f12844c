/** No file descriptor is left: what is refused and how, what goes on, and that it heals by itself. */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { makeKey, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);

interface Answer {
  status: number;
  retry_after: number;
  text: string;
}

/** A server with few file descriptors, of which other clients' connections take all but one. */
async function startCrowded(dir: string, env: Record<string, string> = {}) {
  const server = await startServer(dir, env, ['sh', '-c', 'ulimit -n 200; exec "$0" "$@"']);
  const port = Number(new URL(server.url).port);
  let came = Buffer.alloc(0);
  const kept = connect(port, '127.0.0.1');
  kept
    .on('error', () => {})
    .on('data', (bytes) => {
      came = Buffer.concat([came, Buffer.from(bytes)]);
    });
  let others: Socket[] = [];

  /** Asks on the connection that stays, as fetch() would open new ones; null once the server is gone. */
  async function ask(
    request: string,
    headers: Record<string, string>,
    body: string | Record<string, unknown> = '',
  ): Promise<Answer | null> {
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const all = { Host: 'x', 'Content-Type': 'application/json', ...headers };
    const lines = Object.entries({ ...all, 'Content-Length': content.length }).map((pair) => pair.join(': '));
    came = Buffer.alloc(0);
    kept.write(`${request} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${content}`);
    for (;;) {
      const end = came.indexOf('\r\n\r\n');
      const head = came.toString('latin1', 0, Math.max(end, 0));
      const numberOf = (pattern: RegExp): number => Number(pattern.exec(head)?.[1] ?? 0);
      if (end > 0 && came.length >= end + 4 + numberOf(/^content-length: (\d+)/im))
        return {
          status: numberOf(/^HTTP\/1.1 (\d+)/),
          retry_after: numberOf(/^retry-after: (\d+)/im),
          text: came.toString('utf8', end + 4),
        };
      if (kept.destroyed) return null;
      await Bun.sleep(1);
    }
  }

  return {
    server,
    ask,
    /** The status of a POST to the data plane. */
    post: async (path: string, key: string, body: Record<string, unknown>): Promise<number | undefined> =>
      (await ask(`POST /api/v1${path}`, { 'X-API-Key': key }, body))?.status,
    async crowd(): Promise<void> {
      others = Array.from({ length: 250 }, () => {
        const other = connect(port, '127.0.0.1', () => other.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
        return other.on('error', () => {});
      });
      while (readdirSync(`/proc/${server.pid}/fd`).length < 200) await Bun.sleep(5);
    },
    leave: () => {
      for (const connection of others) connection.destroy();
    },
    end(): Promise<number> {
      kept.destroy();
      return server.end('SIGTERM');
    },
  };
}

describe.if(process.platform === 'linux')('more connections than file descriptors', () => {
  test('leave those there are served, also where much is written', async () => {
    const dir = makeTempDir();
    const { post, crowd, leave, end } = await startCrowded(dir);
    const key = await makeKey(dir, 'write,email_template');
    const texts = { category: 'other', subject: 'Hello', body_text: 'Hello' };
    const createTemplate = (n: number) =>
      post('/emails/templates', key, { ...texts, slug: `t${n}`, name: `t${n}` });
    expect(await createTemplate(0)).toBe(201);
    await crowd();
    for (let n = 1; n <= 100; n += 1) expect(await createTemplate(n)).toBe(201);
    leave();
    expect(await end()).toBe(0);
  });

  test('hold mail up, and nothing else', async () => {
    const dir = makeTempDir();
    const sink = await startSmtpSink();
    const { post, crowd, leave, end, server } = await startCrowded(dir, {
      SATCHEL_EMAIL_RETRY_DELAYS: '1,20',
    });
    const key = await makeKey(dir, 'email');
    const at = (...args: string[]) => satchel([...args, '--data-dir', dir]);
    expect((await at('domain', 'add', 'mail.example.com', '--trust')).exit).toBe(0);
    const relay = `smtp://127.0.0.1:${sink.port}`;
    expect((await at('mailbox', 'add', 'shop@mail.example.com', '--smtp', relay)).exit).toBe(0);
    // A connection is the server's once something has come on it.
    expect(await post('/emails/send', key, {})).toBe(422);
    await crowd();
    const mail = { to: 'ann@example.org', subject: 'Hello', body_text: 'Hello' };
    expect(await post('/emails/send', key, mail)).toBe(202);
    const db = new Database(join(dir, 'satchel.db'), { readonly: true });
    const tried = () => db.query("SELECT 1 FROM email_attempts WHERE outcome <> 'sent'").values().length > 0;
    while (!tried() && (await Promise.race([server.exited, Bun.sleep(20)])) === undefined);
    db.close();
    expect(sink.mails).toHaveLength(0);
    leave();
    while (sink.mails.length === 0 && (await Promise.race([server.exited, Bun.sleep(20)])) === undefined);
    expect(sink.mails).toHaveLength(1);
    expect(await end()).toBe(0);
    await sink.stop();
  });

  test('are 503 where one is needed, whatever the request, and all is well once there are some', async () => {
    const dir = makeTempDir();
    // Nobody answers there, which is 502.
    const { ask, crowd, leave, end, server } = await startCrowded(dir, {
      SATCHEL_CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/',
    });
    const key = await makeKey(dir, 'read,write,marketing,captcha');
    const made = await satchel([
      ...['token', 'create', '--name', 'all', '--all-projects', '--can', 'all,administer'],
      ...['--data-dir', dir, '--json'],
    ]);
    const token = { Authorization: `Bearer ${made.json.token}` };
    const api_key = { 'X-API-Key': key };
    const csv = await upload(server.url, key, `email\nann@example.com\n${' '.repeat(70_000)}`);
    const hidden = await ask(`PATCH /api/v1/objects/${csv?.public_id}`, api_key, { visibility: 'private' });
    expect(hidden?.status).toBe(200);
    const list = await ask('POST /api/v1/email-lists', api_key, { name: 'News' });
    const imports = `/api/v1/email-lists/${JSON.parse(list?.text ?? '').data.id}/imports`;
    const vault = '/api/public/v1/projects/shop/vault/captcha';
    expect((await ask(`PUT ${vault}`, token, { values: { secret_key: 's' } }))?.status).toBe(200);
    const form =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' +
      `${'hello'.repeat(14_000)}\r\n--b--\r\n`;
    const multipart = { ...api_key, 'Content-Type': 'multipart/form-data; boundary=b' };
    const requests: [number, Parameters<typeof ask>][] = [
      [201, ['POST /api/v1/objects', multipart, form]],
      [200, [`GET /api/v1/objects/${csv?.public_id}`, api_key]],
      [206, [`GET /api/v1/objects/${csv?.public_id}`, { ...api_key, Range: 'bytes=0-4' }]],
      [201, [`POST ${imports}`, api_key, { method: 'csv', object: csv?.public_id }]],
      [502, ['POST /api/v1/captcha/verify', api_key, { token: 'XXXX' }]],
      [200, ['GET /api/public/v1/findings', token]],
      [200, ['GET /api/public/v1/backups', token]],
    ];
    // Listing backups reads this folder. Making one would leave a thread's descriptors free again after the crowd came.
    mkdirSync(join(dir, 'backups'), { mode: 0o700, recursive: true });
    await crowd();
    for (const [, request] of requests) {
      const answer = await ask(...request);
      expect([request[0], answer?.status, answer?.text]).toEqual([
        ...[request[0], 503, expect.stringContaining('file descriptors')],
      ]);
      expect(answer?.retry_after).toBeGreaterThan(0);
    }
    expect((await ask('GET /api/v1/objects', api_key))?.status).toBe(200);
    leave();
    while (readdirSync(`/proc/${server.pid}/fd`).length > 100) await Bun.sleep(5);
    for (const [status, request] of requests)
      expect([request[0], (await ask(...request))?.status]).toEqual([request[0], status]);
    expect(await end()).toBe(0);
  });
});
