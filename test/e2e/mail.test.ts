/** Mail through the compiled executable and a real relay: each way to send, retries, giving up, restarts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import PostalMime from 'postal-mime';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { touchWakeFile } from '../../src/platform/jobs/wake-file.ts';
import { sql } from '../support/deployment.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { makeDataDir, makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, type Outcome, type Server, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const DOMAIN = 'mail.example.com';
const RETRIES = { SATCHEL_EMAIL_RETRY_DELAYS: '1,1' };
const MAIL = { to: 'ann@example.org', subject: 'Hello', body_text: 'Hi Ann' };
const LATER = { code: 451, message: '4.2.0 come back later' };

type Json = Record<string, unknown>;

interface Answer {
  status: number;
  retry_after: string | null;
  body: Json;
}

function textOf(content: string | ArrayBuffer | Uint8Array): string {
  return typeof content === 'string' ? content : new TextDecoder().decode(content);
}

/** A served data directory with a domain, its mailbox at a relay and a key. */
class Post {
  readonly dir = makeTempDir();
  key = '';
  #server: Server | null = null;
  #dns: { name: string; value: string } | null = null;

  private constructor(readonly sink: SmtpSink) {}

  static async open(can = 'read,write,email,email_template', retries = RETRIES): Promise<Post> {
    const post = new Post(await startSmtpSink());
    await post.start(retries);
    post.key = await makeKey(post.dir, can);
    const added = await post.run('domain', 'add', DOMAIN, '--trust', '--json');
    const records: unknown[] = Array.isArray(added.json.records) ? added.json.records : [];
    const dkim = records.filter(isPlainObject).find((record) => record.purpose === 'dkim');
    post.#dns = { name: String(dkim?.name), value: String(dkim?.value) };
    await post.run('mailbox', 'add', `shop@${DOMAIN}`, '--smtp', `smtp://127.0.0.1:${post.sink.port}`);
    return post;
  }

  async start(retries = RETRIES): Promise<void> {
    this.#server = await startServer(this.dir, retries);
  }

  /** Has what a job waits for come now. */
  hasten(job_id: unknown): void {
    sql(this.dir, 'UPDATE jobs SET run_at = 0 WHERE id = ?', String(job_id));
    touchWakeFile(this.dir, Date.now());
  }

  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
    return this.server.end(signal);
  }

  async close(): Promise<void> {
    expect(await this.end('SIGTERM')).toBe(0);
    await this.sink.stop();
  }

  get server(): Server {
    if (!this.#server) throw new Error('the server was not started');
    return this.#server;
  }

  /** A command that must succeed. */
  async run(...args: string[]): Promise<Outcome> {
    const outcome = await satchel([...args, '--data-dir', this.dir]);
    if (outcome.exit !== 0) throw new Error(`${args.join(' ')}: ${outcome.stderr}${outcome.stdout}`);
    return outcome;
  }

  async call(method: string, path: string, body?: Json, key = this.key): Promise<Answer> {
    const response = await fetch(`${this.server.url}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const parsed: unknown = await response.json();
    return {
      status: response.status,
      retry_after: response.headers.get('Retry-After'),
      body: isPlainObject(parsed) ? parsed : {},
    };
  }

  send(changes: Json, key = this.key): Promise<Answer> {
    return this.call('POST', '/emails/send', { ...MAIL, ...changes }, key);
  }

  async log(id: unknown, key = this.key): Promise<Json> {
    return (await this.call('GET', `/emails/${id}`, undefined, key)).body;
  }

  /** How each attempt at an email ended, as its story tells it. */
  async attemptsOf(id: unknown): Promise<string[]> {
    const { stdout } = await this.run('email', 'why', String(id));
    return [...stdout.matchAll(/^Attempt \d+, .* (was taken|was deferred|was cut off)/gm)].map(
      ([, end = '']) => end,
    );
  }

  /** The job once it is over. */
  async jobOf(id: unknown, key = this.key): Promise<Json> {
    let job: Json = {};
    await until(async () => {
      const { data } = (await this.call('GET', `/jobs/${id}`, undefined, key)).body;
      job = isPlainObject(data) ? data : {};
      return job.status === 'completed' || job.status === 'failed';
    });
    return job;
  }

  /** The first mail that the relay took of this subject, read and checked as a receiver does it. */
  async received(
    subject: string,
  ): Promise<{ mail: Awaited<ReturnType<typeof PostalMime.parse>>; dkim: string }> {
    for (let n = 0; ; n += 1) {
      const { raw } = (await this.sink.waitForMails(n + 1))[n] ?? {};
      if (raw === undefined) continue;
      const mail = await PostalMime.parse(raw);
      if (mail.subject === subject) return { mail, dkim: await this.dkimOf(raw) };
    }
  }

  async dkimOf(raw: Buffer): Promise<string> {
    const { results } = await dkimVerify(raw, {
      resolver: async (name: string) => (name === this.#dns?.name ? [[this.#dns.value]] : []),
    });
    return results.map((result) => `${result.status.result} ${result.signingDomain}`).join();
  }
}

describe.concurrent('each way to send arrives, signed, and is on record', () => {
  test('queued, at once, from a template, by a schedule, with an attachment, and captured', async () => {
    const post = await Post.open();
    const passed = `pass ${DOMAIN}`;

    const queued = await post.send({ subject: 'Queued', bcc: ['secret@example.org'] });
    expect([queued.status, queued.body.status, queued.body.sent_at]).toEqual([202, 'queued', null]);
    expect(await post.jobOf(queued.body.job_id)).toMatchObject({
      ...{ type: 'email.send', status: 'completed', attempts: 1, error: null },
      result: { email_id: queued.body.id },
    });
    const first = await post.received('Queued');
    expect([first.dkim, first.mail.from?.address, first.mail.bcc]).toEqual([
      ...[passed, `shop@${DOMAIN}`],
      undefined,
    ]);
    expect(post.sink.mails[0]?.envelope.to).toEqual(['ann@example.org', 'secret@example.org']);
    expect(post.sink.mails[0]?.raw.toString()).not.toContain('secret@');

    const at_once = await post.send({ subject: 'At once', queue: false });
    expect([at_once.status, at_once.body.status]).toEqual([201, 'sent']);
    expect(await post.log(at_once.body.id)).toMatchObject({
      status: 'sent',
      sent_at: at_once.body.sent_at,
    });

    const template = { name: 'Welcome', category: 'welcome', subject: 'Welcome {{ name }}' };
    const variables = [{ name: 'name', required: true }];
    const body_html = '<p>Dear <b>{{ name }}</b></p><ul><li>one</li></ul>';
    await post.call('POST', '/emails/templates', { ...template, body_html, variables });
    const file = await upload(post.server.url, post.key, 'the bytes');
    const rendered = await post.send({
      ...{ template: 'welcome', variables: { name: '<Jörg>' }, queue: false },
      attachments: [file?.public_id],
    });
    expect(rendered.status).toBe(201);
    const third = await post.received('Welcome <Jörg>');
    expect([third.dkim, third.mail.html?.trim()]).toEqual([
      passed,
      '<p>Dear <b>&lt;Jörg&gt;</b></p><ul><li>one</li></ul>',
    ]);
    // A mail of HTML alone gets a text part for those who read text.
    expect(third.mail.text).toContain('Dear <Jörg>');
    expect(third.mail.attachments.map(({ filename, content }) => [filename, textOf(content)])).toEqual([
      ['a.bin', 'the bytes'],
    ]);
    expect((await post.send({ template: 'welcome', variables: {} })).status).toBe(422);

    const schedule = await post.call('POST', '/email-schedules', {
      ...{ name: 'Report', cron_expression: '@monthly', subject: 'Report', body_text: 'All well' },
      recipients: [{ email: 'ann@example.org', name: 'Ann' }, { email: 'bob@example.org' }],
    });
    const run = await post.call('POST', `/email-schedules/${schedule.body.id}/run`);
    expect([schedule.status, run.status]).toEqual([201, 202]);
    expect(await post.jobOf(run.body.job_id)).toMatchObject({ type: 'schedule.run', status: 'completed' });
    await post.sink.waitForMails(5);
    expect(
      post.sink.mails
        .slice(3)
        .flatMap(({ envelope }) => envelope.to)
        .sort(),
    ).toEqual(['ann@example.org', 'bob@example.org']);

    const test_key = await post.run(
      ...['key', 'create', '--project', 'shop', '--name', 'test', '--can', 'read,email', '--test', '--json'],
    );
    const captured = await post.send({ subject: 'Kept', queue: false }, String(test_key.json.plaintext_key));
    expect(captured.status).toBe(201);
    const kept = await satchel([
      'email',
      'captured',
      String(captured.body.id),
      '--json',
      '--data-dir',
      post.dir,
    ]);
    expect(await post.dkimOf(Buffer.from(String(kept.json.raw)))).toBe(passed);
    expect(post.sink.mails).toHaveLength(5);
    await post.close();
  });
});

describe.concurrent('a relay in trouble', () => {
  test('a mail is sent by a later attempt, under its one Message-ID, once the relay is back', async () => {
    // The second attempt comes when it has been told of, however long the command takes.
    const post = await Post.open(undefined, { SATCHEL_EMAIL_RETRY_DELAYS: '600,1' });
    post.sink.behavior.data = LATER;
    const { body } = await post.send({});
    await until(async () => {
      const { attempts, status } = await post.log(body.id);
      return attempts !== 0 && status === 'queued';
    });
    const why = await post.run('email', 'why', String(body.id));
    expect(why.stdout).toContain('451 4.2.0 come back later');
    expect(why.stdout).toMatch(/^Next: Attempt 2 of 3 comes at /m);
    delete post.sink.behavior.data;
    post.hasten(body.job_id);
    const job = await post.jobOf(body.job_id);
    expect([job.status, job.attempts]).toEqual(['completed', 2]);
    const log = await post.log(body.id);
    expect([log.status, log.attempts, log.error]).toEqual(['sent', 2, null]);
    expect(await post.attemptsOf(body.id)).toEqual(['was deferred', 'was taken']);
    expect((await PostalMime.parse(post.sink.mails[0]?.raw ?? '')).messageId).toBe(String(log.message_id));
    await post.close();
  });

  test('three attempts, then it has failed; doctor counts it and retry --failed sends it after all', async () => {
    const post = await Post.open();
    post.sink.behavior.data = LATER;
    const at_once = await post.send({ queue: false });
    expect([at_once.status, at_once.retry_after]).toEqual([503, '30']);
    expect(await post.jobOf(at_once.body.job_id)).toMatchObject({ status: 'failed', attempts: 1 });
    const { body } = await post.send({ subject: 'In vain' });
    const job = await post.jobOf(body.job_id);
    expect([job.status, job.attempts, job.result]).toEqual(['failed', 3, { email_id: body.id }]);
    expect(job.error).toContain('Gave up after 3 attempts');
    expect(await post.log(body.id)).toMatchObject({ status: 'failed', attempts: 3, sent_at: null });
    expect((await satchel(['doctor', '--data-dir', post.dir])).stdout).toMatch(/2 failed .*, 1 of them /);
    delete post.sink.behavior.data;
    const retried = await post.run('email', 'retry', '--failed', '--since', '1h', '--json');
    // Its client was told of the first one, and may have sent it again.
    expect(retried.json).toMatchObject({
      queued: [{ id: body.id }],
      refused: [],
      left_out: [{ id: at_once.body.email_id }],
    });
    expect((await post.received('In vain')).dkim).toBe(`pass ${DOMAIN}`);
    await until(async () => (await post.log(body.id)).status === 'sent');
    expect(await post.log(body.id)).toMatchObject({ attempts: 4, error: null, failed_at: null });
    expect(post.sink.mails).toHaveLength(1);
    await post.close();
  });
});

test.concurrent('what waits at a restart or a kill goes out afterwards, once, and the quotas outlive it', async () => {
  const post = await Post.open();
  await post.run('domain', 'add', 'small.example', '--trust');
  await post.run('mailbox', 'add', 'a@small.example', '--capture', '--daily-limit', '1');
  expect((await post.send({ domain: 'small.example' })).status).toBe(202);
  // Every attempt is in the middle of its SMTP when the server ends.
  post.sink.behavior.hang = 'rcpt';
  const scheduled_at = (ms: number) => ({ scheduled_at: new Date(Date.now() + ms).toISOString() });
  const waiting = [
    await post.send({ subject: 'first' }),
    await post.send({ subject: 'second' }),
    await post.send({ subject: 'scheduled', ...scheduled_at(1_500) }),
  ];
  const not_yet = await post.send({ subject: 'not yet', ...scheduled_at(3_600_000) });
  expect([...waiting, not_yet].map(({ status }) => status)).toEqual([202, 202, 201, 201]);
  const begun = async (attempts: number): Promise<void> => {
    for (const { body } of waiting.slice(0, 2))
      await until(async () => Number((await post.log(body.id)).attempts) >= attempts);
  };
  await begun(1);
  expect(await post.end('SIGTERM')).toBe(0);
  await post.start();
  await begun(2);
  await post.end('SIGKILL');
  delete post.sink.behavior.hang;
  await post.start();
  for (const { body } of waiting)
    expect(await post.jobOf(body.job_id)).toMatchObject({ status: 'completed' });
  for (const { body } of waiting.slice(0, 2)) {
    expect(await post.log(body.id)).toMatchObject({ status: 'sent', attempts: 3 });
    expect(await post.attemptsOf(body.id)).toEqual(['was cut off', 'was cut off', 'was taken']);
  }
  // What is out stays out: another kill repeats nothing, and what is not due yet still waits.
  await post.end('SIGKILL');
  await post.start();
  const last = await post.send({ subject: 'last' });
  expect(await post.jobOf(last.body.job_id)).toMatchObject({ status: 'completed' });
  expect(await post.log(not_yet.body.id)).toMatchObject({ status: 'scheduled', attempts: 0 });
  const subjects = post.sink.mails.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1]);
  expect(subjects.sort()).toEqual(['first', 'last', 'scheduled', 'second']);
  const refused = await post.send({ domain: 'small.example' });
  expect([refused.status, Number(refused.retry_after) > 0]).toEqual([503, true]);
  await post.close();
});

test.concurrent("a relay's own authority is trusted where NODE_EXTRA_CA_CERTS names it, and only there", async () => {
  const dir = makeTempDir();
  const sink = await startSmtpSink({ tls: 'tls' });
  const ca = join(dir, 'relay-ca.pem');
  writeFileSync(ca, sink.ca_pem);
  const data = ['--data-dir', makeDataDir()];
  await satchel(['domain', 'add', DOMAIN, '--trust', ...data]);
  await satchel(['mailbox', 'add', `shop@${DOMAIN}`, '--smtp', `smtps://localhost:${sink.port}`, ...data]);
  const attempt = ['mailbox', 'test', `shop@${DOMAIN}`, '--to', MAIL.to, ...data];
  const refused = await satchel(attempt);
  expect([refused.exit, refused.stdout]).toEqual([1, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
  const taken = await satchel(attempt, { env: { NODE_EXTRA_CA_CERTS: ca } });
  expect([taken.exit, sink.mails.length]).toEqual([0, 1]);
  await sink.stop();
});

test.concurrent('a stop waits for the answer to a mail that the relay has in full, so that it is not sent again', async () => {
  const post = await Post.open();
  post.sink.behavior.hang = 'data';
  const { body } = await post.send({});
  await post.sink.until(() => post.sink.unanswered.length > 0);
  const ended = post.end('SIGTERM');
  const isListening = () =>
    fetch(`${post.server.url}/api/health`).then(
      () => true,
      () => false,
    );
  await until(async () => !(await isListening()));
  delete post.sink.behavior.hang;
  for (const answer of post.sink.unanswered) answer();
  expect(await ended).toBe(0);
  await post.start();
  expect(await post.jobOf(body.job_id)).toMatchObject({ status: 'completed', attempts: 1 });
  expect(await post.log(body.id)).toMatchObject({ status: 'sent', attempts: 1 });
  // The sink keeps only what it answers by itself: that would be a second copy.
  expect(post.sink.mails).toHaveLength(0);
  await post.close();
});
