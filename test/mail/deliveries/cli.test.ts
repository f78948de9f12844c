/** `satchel domain`, `mailbox` and `email` as an operator uses them, beside a running server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { run, runJson, runRecord } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type Sender, senderOf, startSender } from '../emails/setup.ts';

/** For tests that start the command line many times. */
setDefaultTimeout(60_000);

let sink: SmtpSink;
let sender: Sender;
let dir = '';

beforeAll(async () => {
  sink = await startSmtpSink({ users: { user: 'p:w' }, offers_plain_auth: true });
  sender = await startSender();
  dir = sender.app.data_dir;
});
afterAll(() => sink.stop());

test('a domain and mailboxes are added, and the running server sends with them at once', async () => {
  const added = await runRecord(dir, 'domain', 'add', 'mail.example.com', '--trust');
  expect(added).toMatchObject({ name: 'mail.example.com', is_default: true, is_trusted: true });
  const file = join(dir, 'relay');
  writeFileSync(file, `smtp://user:p%3Aw@127.0.0.1:${sink.port}\n`);
  const ran = await run(
    dir,
    'mailbox',
    'add',
    'hi@mail.example.com',
    '--smtp',
    `@${file}`,
    '--daily-limit',
    '100',
  );
  expect([ran.exit, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toContain(`smtp://user:***@127.0.0.1:${sink.port}`);
  expect(await runJson(dir, 'mailbox', 'list')).toMatchObject([
    { address: 'hi@mail.example.com', daily_limit: 100 },
  ]);
  const { stdout } = await run(dir, 'mailbox', 'show', 'hi@mail.example.com');
  expect(stdout).toMatch(/address +hi@mail\.example\.com\n.*daily_limit +100\n.*last_error +-\n/s);
  expect((await sender.send({ queue: false })).status).toBe(201);
  expect(sink.mails[0]?.user).toBe('user');
  await run(dir, 'mailbox', 'pause', 'hi@mail.example.com');
  expect((await sender.send()).status).toBe(503);
  await run(dir, 'mailbox', 'resume', 'hi@mail.example.com');
  expect((await sender.send({ queue: false })).status).toBe(201);
});

test('a test of a mailbox ends well only where its relay took the message', async () => {
  const mail = ['mailbox', 'test', 'hi@mail.example.com', '--to', 'a@example.org'];
  expect((await run(dir, ...mail)).exit).toBe(0);
  const answers = [
    ['mail', { code: 554, message: '5.7.1 Not from you' }, 'refused: 554 '],
    ['mail', { code: 451, message: '4.2.0 Later' }, 'deferred: 451 '],
    ['greeting', { code: 421, message: '4.3.2 Closing' }, 'unreachable: What answers there does not greet'],
  ] as const;
  for (const [stage, answer, outcome] of answers) {
    sink.behavior[stage] = answer;
    const ran = await run(dir, ...mail);
    expect([ran.exit, ran.stdout]).toEqual([1, expect.stringContaining(outcome)]);
    delete sink.behavior[stage];
  }
});

test('a password in a plain argument draws a warning, an address without one does not', async () => {
  const add = (address: string, relay: string) => run(dir, 'mailbox', 'add', address, '--smtp', relay);
  expect((await add('b@mail.example.com', 'smtp://user:secret@localhost:25')).stderr).toContain('warning');
  expect((await add('c@mail.example.com', 'smtp://localhost:25')).stderr).toBe('');
  for (const address of ['b@mail.example.com', 'c@mail.example.com'])
    await run(dir, 'mailbox', 'remove', address, '--yes');
});

test('a relay is given in parts, by its provider, and with a password that no process list shows', async () => {
  const password = join(dir, 'relay-password');
  writeFileSync(password, 'p:w\n');
  const verb = (verb: 'add' | 'change', ...options: string[]) =>
    run(dir, 'mailbox', verb, 'parts@mail.example.com', ...options);
  const host = ['--smtp-host', '127.0.0.1'];
  const log_in = ['--smtp-user', 'user', '--smtp-password', `@${password}`];
  for (const wrong of [
    [...host, '--smtp-user', 'user', '--smtp-password', 'pw-canary'],
    [...host, '--smtp-user', 'user'],
    [...host, '--smtp-tls', 'always'],
    [...host, '--smtp-port', '0'],
    [...host, '--capture'],
    [...host, '--provider', 'brevo', ...log_in],
    ['--provider', 'nobody', ...log_in],
    ['--provider', 'ses', ...log_in],
    ['--provider', 'brevo'],
    log_in,
    [],
  ]) {
    const ran = await verb('add', ...wrong);
    expect([wrong, ran.exit]).toEqual([wrong, 2]);
    expect(ran.stderr).not.toContain('pw-canary');
  }
  const port = ['--smtp-port', String(sink.port)];
  const ran = await verb('add', ...host, ...port, ...log_in, '--smtp-tls', 'none');
  expect([ran.exit, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toContain(`smtp://user:***@127.0.0.1:${sink.port}?tls=none`);
  const to = ['--to', 'a@example.org'];
  const mail = () => run(dir, 'mailbox', 'test', 'parts@mail.example.com', ...to);
  expect((await mail()).exit).toBe(0);
  expect((await verb('change', '--smtp-tls', 'required')).exit).toBe(0);
  expect(await mail()).toMatchObject({ exit: 1, stdout: expect.stringContaining('unreachable') });
  const relays = [
    ['ses:eu-west-1', 'smtp://user:***@email-smtp.eu-west-1.amazonaws.com:587?tls=required'],
    ['postmark', 'smtp://user:***@smtp.postmarkapp.com:587?tls=required'],
  ] as const;
  for (const [provider, relay] of relays)
    expect((await verb('change', '--provider', provider, ...log_in)).stdout).toContain(relay);
  const sendgrid = ['--provider', 'sendgrid', '--smtp-tls', 'tls', '--smtp-password', `@${password}`];
  expect((await verb('change', ...sendgrid)).stdout).toContain('smtps://apikey:***@smtp.sendgrid.net:465');
  expect((await verb('change', ...host)).stderr).toContain('goes to no other');
  expect((await verb('change', '--no-smtp-user')).stdout).toContain('smtps://smtp.sendgrid.net:465');
  await run(dir, 'mailbox', 'remove', 'parts@mail.example.com', '--yes');
});

test('wrong usage is 2, a refusal is 1', async () => {
  expect((await run(dir, 'mailbox', 'add')).exit).toBe(2);
  expect(
    (await run(dir, 'mailbox', 'add', 'd@mail.example.com', '--capture', '--daily-limit', '0')).exit,
  ).toBe(2);
  expect((await run(dir, 'mailbox', 'add', 'd@mail.example.com')).exit).toBe(2);
  const both = ['mailbox', 'add', 'd@mail.example.com', '--capture'];
  expect((await run(dir, ...both, '--for', 'everything')).exit).toBe(2);
  expect((await run(dir, ...both, '--return-path', 'nowhere')).exit).toBe(2);
  expect((await run(dir, 'mailbox', 'add', 'd@elsewhere.example', '--capture')).exit).toBe(1);
  expect((await run(dir, 'mailbox', 'test', 'gone@mail.example.com', '--to', 'a@example.org')).exit).toBe(1);
  expect((await run(dir, 'domain', 'verify', 'mail.example.com')).exit).toBe(1);
  expect((await run(dir, 'email', 'why', 'nonsense')).exit).toBe(1);
  expect((await run(dir, 'email', 'retry')).exit).toBe(2);
  expect((await run(dir, 'email', 'retry', '--failed', '--since', 'yesterday')).exit).toBe(2);
});

test('a domain or mailbox that is not there is refused with the command that lists them', async () => {
  expect((await run(dir, 'domain', 'verify', 'gone.example.com')).stderr).toContain('satchel domain list');
  expect((await run(dir, 'mailbox', 'pause', 'gone@mail.example.com')).stderr).toContain(
    'satchel mailbox list',
  );
});

describe('email', () => {
  test('why tells who accepted it, what each attempt said, and what comes next', async () => {
    sink.behavior.rcpt = { 'ada@example.org': { code: 450, message: '4.2.1 Busy' } };
    const { body } = await sender.send();
    await sender.settle();
    const why = await runRecord(dir, 'email', 'why', String(body.id));
    expect(why).toMatchObject({ id: body.id, status: 'queued' });
    const story = Array.isArray(why.story) ? why.story.join('\n') : '';
    expect(story).toContain('with the API key k');
    expect(story).toContain('hi@mail.example.com: its domain mail.example.com is the default');
    expect(story).toContain('was deferred without TLS: 450 4.2.1 Busy');
    expect(story).toContain('Next: Attempt 2 of 3 comes at 2030-01-15T12:00:15.000Z');
    await sender.pass(15_000);
    await sender.pass(300_000);
  });

  test('retry --failed --since queues failed ones again, and the running server sends them', async () => {
    sink.behavior.rcpt = {};
    const before = sink.mails.length;
    const since = '2030-01-15T00:00:00Z';
    const result = await runRecord(dir, 'email', 'retry', '--failed', '--since', since);
    const [queued, ...more] = Array.isArray(result.queued) ? result.queued : [];
    const id = isPlainObject(queued) ? queued.id : null;
    expect([more, result.refused]).toEqual([[], []]);
    await sink.waitForMails(before + 1);
    await sender.settle();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', attempts: 4, error: null, failed_at: null });
    const again = await run(dir, 'email', 'retry', String(id));
    expect([again.exit, again.stdout]).toEqual([1, expect.stringContaining('it is sent')]);
    expect(await refusalOf(id)).toEqual([1, 'conflict']);
    expect(await refusalOf('01J00000000000000000000000')).toEqual([1, 'not_found']);
  });

  async function refusalOf(id: unknown): Promise<[number, unknown]> {
    const { exit, stdout } = await run(dir, 'email', 'retry', String(id), '--json');
    return [exit, JSON.parse(stdout).error.code];
  }

  test('retry of a project that is inactive says so in --json, too', async () => {
    sink.behavior.rcpt = { 'ada@example.org': { code: 550, message: '5.7.1 Blocked' } };
    const { body } = await sender.send();
    await sender.settle();
    sink.behavior.rcpt = {};
    const { projects } = sender.app.services;
    await projects.update(actor, projects.require('shop'), { status: 'inactive' });
    expect(await refusalOf(body.id)).toEqual([1, 'project_inactive']);
    await projects.update(actor, projects.require('shop'), { status: 'active' });
  });

  /** Lets all three attempts that an operator's retry has given fail. */
  async function failAgain(id: unknown): Promise<void> {
    const attempts = Number((await sender.log(id)).attempts);
    while ((await sender.log(id)).attempts === attempts) await Bun.sleep(5);
    await sender.settle();
    await sender.pass(15_000);
    await sender.pass(300_000);
  }

  test('retry --failed takes what a mailbox was refused for too, and leaves out what its client knows of and tests', async () => {
    await sender.pass(3_600_000);
    const since = new Date(sender.app.clock.now()).toISOString();
    sink.behavior.data = { code: 554, message: '5.7.1 Policy' };
    const refused = (await sender.send()).body.id;
    await sender.settle();
    sink.behavior.data = { code: 451, message: '4.2.0 Later' };
    const waiting = (await sender.send()).body.id;
    const answered = (await sender.send({ queue: false })).body.email_id;
    const test_key = await sender.project.key({ can_read: true, can_send_emails: true, is_test: true });
    const tester = senderOf(sender.app, sender.project, test_key);
    const tried = (await tester.send({ to: 'defer@simulator.satchel.test' })).body.id;
    await sender.settle();
    await sender.pass(15_000);
    await sender.pass(300_000);
    for (const id of [refused, waiting, answered, tried])
      expect(await sender.log(id)).toMatchObject({ status: 'failed' });

    const bulk = await runRecord(dir, 'email', 'retry', '--failed', '--since', since);
    expect(bulk).toEqual({
      queued: [refused, waiting].map((id) => ({ id, job_id: expect.any(String) })),
      refused: [],
      left_out: [
        { id: answered, reason: 'its client was told at once that it failed, and may have sent it again' },
        { id: tried, reason: 'it is of a test key' },
      ],
    });
    await failAgain(waiting);
    // Failed once more, they are queued once more; what is left out is no refusal.
    const again = await run(dir, 'email', 'retry', '--failed', '--since', since);
    expect(again.exit).toBe(0);
    expect(again.stdout.trim().split('\n')).toEqual([
      `${refused} is queued again`,
      `${waiting} is queued again`,
      `${answered} is left out: its client was told at once that it failed, and may have sent it again`,
      `${tried} is left out: it is of a test key`,
      '2 queued, 0 not, 2 left out',
      'To queue one that was left out all the same: satchel email retry ID',
    ]);
    delete sink.behavior.data;
    const before = sink.mails.length;
    const one_by_one = await runRecord(dir, 'email', 'retry', String(answered));
    expect(one_by_one).toMatchObject({ queued: [{ id: answered }], refused: [], left_out: [] });
    await sink.waitForMails(before + 3);
    await sender.settle();
  });

  test('retry --failed takes a synchronous one that an operator has queued before', async () => {
    await sender.pass(3_600_000);
    const since = new Date(sender.app.clock.now()).toISOString();
    sink.behavior.data = { code: 451, message: '4.2.0 Later' };
    const id = (await sender.send({ queue: false })).body.email_id;
    await run(dir, 'email', 'retry', String(id));
    await failAgain(id);
    expect(await sender.log(id)).toMatchObject({ status: 'failed', attempts: 4 });
    delete sink.behavior.data;
    const bulk = await runRecord(dir, 'email', 'retry', '--failed', '--since', since);
    expect(bulk).toMatchObject({ queued: [{ id }], refused: [], left_out: [] });
  });

  test('a retry is in the audit trail, and why tells of it between the attempts', async () => {
    await sender.pass(3_600_000);
    sink.behavior.data = { code: 554, message: '5.7.1 Policy' };
    const { body } = await sender.send();
    await sender.settle();
    const retries = async () => {
      const events = await runJson(dir, 'audit', 'list', '--event', 'email.retried');
      return Array.isArray(events) ? events.filter((event) => event.target === `email:${body.id}`) : [];
    };
    expect(await retries()).toEqual([]);
    delete sink.behavior.data;
    const before = sink.mails.length;
    await run(dir, 'email', 'retry', String(body.id));
    await sink.waitForMails(before + 1);
    await sender.settle();
    const [retry, ...more] = await retries();
    expect([retry, more]).toMatchObject([{ project_id: sender.project.public_id, actor_kind: 'shell' }, []]);
    const why = await runRecord(dir, 'email', 'why', String(body.id));
    const story = Array.isArray(why.story) ? why.story : [];
    expect(story.map((line) => String(line).split(/[ ,:]/)[0])).toEqual([
      'Accepted',
      'Attempt',
      '',
      'Queued',
      'Attempt',
      '',
      'Its',
      'Next',
    ]);
    expect(story[3]).toBe(`Queued again ${retry.at} by ${retry.actor_name} (shell).`);
    expect(story[4]).toStartWith('Attempt 2');
  });

  test('captured lists what was kept, and prints one message', async () => {
    await run(dir, 'domain', 'add', 'capture.example.com', '--trust');
    await run(dir, 'mailbox', 'add', 'cap@capture.example.com', '--capture');
    const { body } = await sender.send({ domain: 'capture.example.com', queue: false });
    const list = await runJson(dir, 'email', 'captured');
    expect(list).toMatchObject([
      { email_id: body.id, from: 'cap@capture.example.com', to: ['ada@example.org'], subject: 'Hello' },
    ]);
    expect(await runRecord(dir, 'email', 'captured', String(body.id))).toMatchObject({
      raw: expect.stringContaining('Hi Ada'),
    });
    const text = await run(dir, 'email', 'captured', String(body.id));
    expect(text.stdout).toContain('Subject: Hello');
    const { body: newer } = await sender.send({ domain: 'capture.example.com', queue: false });
    for (const [page, mail] of [
      ['1', newer],
      ['2', body],
    ] as const)
      expect(await runJson(dir, 'email', 'captured', '--limit', '1', '--page', page)).toMatchObject([
        { email_id: mail.id },
      ]);
    expect((await run(dir, 'email', 'captured', '--limit', '1')).stdout).toContain(
      '1 to 1 of 2. Next: --page 2.',
    );
  });
});

test('a mailbox is changed in place: the running server takes up the new password, and its count of the day stays', async () => {
  const CHANGED = 'change@news.example.com';
  // What the server reads in the turn in which a command of this same process commits may be from before that.
  const list = async () => {
    await new Promise(setImmediate);
    return sender.app.services.mailboxes.list().find(({ address }) => address === CHANGED);
  };
  await run(dir, 'domain', 'add', 'news.example.com', '--trust');
  const file = join(dir, 'relay');
  writeFileSync(file, `smtp://user:old@127.0.0.1:${sink.port}`);
  await run(
    dir,
    'mailbox',
    'add',
    CHANGED,
    '--smtp',
    `@${file}`,
    '--daily-limit',
    '9',
    '--return-path',
    'b@x.example',
  );
  const send = () => sender.send({ domain: 'news.example.com', queue: false });
  expect((await send()).status).toBe(422);
  expect(await list()).toMatchObject({ failures: 1, used_today: 1, daily_limit: 9 });
  writeFileSync(file, `smtp://user:p%3Aw@127.0.0.1:${sink.port}`);
  const changed = await run(dir, 'mailbox', 'change', CHANGED, '--smtp', `@${file}`);
  expect([changed.exit, changed.stderr]).toEqual([0, '']);
  expect(await list()).toMatchObject({
    failures: 0,
    last_error: null,
    daily_limit: 9,
    return_path: 'b@x.example',
  });
  expect((await send()).status).toBe(201);
  expect(await list()).toMatchObject({ used_today: 2 });
  await run(dir, 'mailbox', 'change', CHANGED, '--no-daily-limit', '--no-return-path', '--for', 'marketing');
  expect(await list()).toMatchObject({ daily_limit: null, return_path: null, for: ['marketing'] });
  expect((await send()).status).toBe(503);
  await run(dir, 'mailbox', 'change', CHANGED, '--capture', '--for', 'transactional');
  expect(await list()).toMatchObject({ kind: 'capture', relay: null });
  expect((await run(dir, 'mailbox', 'change', CHANGED)).exit).toBe(2);
  expect((await run(dir, 'mailbox', 'change', 'gone@news.example.com', '--capture')).exit).toBe(1);
  await sender.send({
    to: 'a@example.org',
    scheduled_at: '2031-01-01T00:00:00Z',
    domain: 'news.example.com',
  });
  const asked = await run(dir, 'domain', 'remove', 'news.example.com');
  expect([asked.exit, asked.stderr]).toEqual([
    1,
    expect.stringMatching(/its DKIM key and 1 mailbox; 1 mail that waits .* Add --yes/),
  ]);
  const one = await run(dir, 'mailbox', 'remove', CHANGED);
  expect([one.exit, one.stderr]).toEqual([1, expect.stringMatching(/1 mail that waits .* Add --yes/)]);
  expect(await list()).toBeDefined();
  await run(dir, 'domain', 'remove', 'news.example.com', '--yes');
  expect(await list()).toBeUndefined();
});
