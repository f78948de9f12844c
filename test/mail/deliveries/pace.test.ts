/** Mail at a mailbox's pace: its set rate, and what its relay teaches, on real SMTP. The clock is the test's. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
import { run } from '../../support/command.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf } from '../../support/smtp-sink.ts';
import {
  addDomain,
  addMailbox,
  RELAY_DOWN_PORT,
  rows,
  type Sender,
  senderOf,
  startSender,
} from '../emails/setup.ts';

setDefaultTimeout(60_000);

const HELLO = 'hello@mail.example.com';
const THROTTLED = { code: 454, message: '4.7.0 Throttling' };

let sender: Sender;
let sink: SmtpSink;

beforeEach(async () => {
  sender = await startSender();
  sink = await startSmtpSink();
  await addDomain(sender.app, 'mail.example.com', sink, { is_default: true });
});
afterEach(async () => {
  await sink.stop();
  await sender.app.stop();
});

const mailboxes = () => sender.app.services.mailboxes;
const paceOf = (address = HELLO) =>
  mailboxes()
    .list()
    .find((one) => one.address === address)?.pace;
const setRate = (rate: string | null) => mailboxes().change(actor, HELLO, { rate });

/** Queues mails, and lets the engine do what is due. */
async function queue(count: number, fields: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.push(String((await sender.send({ queue: true, ...fields })).body.id));
  await sender.settle();
  return ids;
}

/** How many mails were taken in each of these steps. */
async function takenIn(steps: number, step_ms: number): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < steps; n += 1) {
    const before = sink.mails.length;
    await sender.pass(step_ms);
    taken.push(sink.mails.length - before);
  }
  return taken;
}

describe('a mailbox with a rate', () => {
  test('by the second sends evenly, and no more', async () => {
    await setRate('10/s');
    await queue(7);
    expect(sink.mails.length).toBe(1);
    expect(await takenIn(6, 105)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('by the minute sends at once, and then waits', async () => {
    await setRate('3/m');
    await queue(7);
    expect(sink.mails.length).toBe(3);
    expect(await takenIn(3, 20_000)).toEqual([0, 0, 0]);
    expect(await takenIn(2, 62_000)).toEqual([3, 1]);
  });

  test('keeps to it over a restart', async () => {
    await setRate('3/m');
    await queue(5);
    const { data_dir, clock } = sender.app;
    await sender.app.stop();
    sender = senderOf(await startTestApp({ data_dir, clock }), sender.project, sender.key);
    await sender.settle();
    expect(sink.mails.length).toBe(3);
    await sender.pass(62_000);
    expect(sink.mails.length).toBe(5);
  });

  test('sends what somebody waits for before the rest', async () => {
    await setRate('4/s');
    await queue(1);
    await queue(3, { scheduled_at: new Date(sender.app.clock.now() + 50).toISOString(), subject: 'bulk' });
    await sender.pass(60);
    await queue(1, { subject: 'reset' });
    for (let n = 0; n < 5; n += 1) await sender.pass(270);
    expect(sink.mails.map(subjectOf)).toEqual(['Hello', 'reset', 'bulk', 'bulk', 'bulk']);
  });

  test('has a client wait for its turn, or tells it when that is', async () => {
    await setRate('20/s');
    const answers = await Promise.all(Array.from({ length: 4 }, () => sender.send({ queue: false })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    await setRate('2/m');
    expect((await sender.send({ queue: false })).status).toBe(201);
    await queue(1);
    const mails = sink.mails.length;
    const late = await sender.send({ queue: false });
    expect(late).toMatchObject({ status: 503, body: { message: expect.stringContaining('next turn in') } });
    expect(Number(late.headers.get('Retry-After'))).toBeWithin(60, 63);
    // Nothing of it was accepted.
    expect(rows(sender.app, "SELECT id FROM emails WHERE status <> 'sent'")).toEqual([]);
    await addMailbox(sender.app, 'other@mail.example.com', sink);
    expect(await sender.send({ queue: false })).toMatchObject({
      status: 201,
      body: { from_email: 'other@mail.example.com' },
    });
    expect(sink.mails.length).toBe(mails + 1);
  });

  test('takes mail of test keys as it comes, since no relay gets it', async () => {
    await setRate('1/h');
    const key = await sender.project.key({ can_read: true, can_send_emails: true, is_test: true });
    const tester = senderOf(sender.app, sender.project, key);
    for (let n = 0; n < 3; n += 1) await tester.send();
    await queue(1);
    expect(sink.mails.length).toBe(1);
    expect(rows(sender.app, 'SELECT count(*) AS n FROM captured_messages')).toEqual([{ n: 3 }]);
  });

  test('goes faster from the next mail on when the rate is taken away', async () => {
    await setRate('1/h');
    await queue(4);
    expect(sink.mails.length).toBe(1);
    await setRate(null);
    await queue(1);
    expect(sink.mails.length).toBe(5);
  });

  test('wakes the engine when the next mail may go, and not before', async () => {
    await setRate('1/h');
    await queue(20);
    const write = spyOn(sender.app.services.database, 'write');
    await Bun.sleep(300);
    // What was under way may still be settled once; an engine that wakes too early goes on and on.
    expect(write.mock.calls.length).toBeLessThan(2);
  });
});

describe('a relay that asks for less mail', () => {
  test('slows nothing by a few refusals: that mail goes again after 5 s', async () => {
    let refusals = 5;
    sink.behavior.mail = () => (refusals-- > 0 ? THROTTLED : undefined);
    const ids = await queue(12);
    expect(sink.mails.length).toBe(7);
    expect(paceOf()).toEqual({
      ...{ allowed: null, since: '2030-01-15T12:00:00.000Z', waits_until: null },
      words: '454 4.7.0 Throttling',
    });
    await sender.pass(4_999);
    expect(sink.mails.length).toBe(7);
    await sender.pass(1);
    expect(sink.mails.length).toBe(12);
    for (const id of ids) expect(await sender.log(id)).toMatchObject({ status: 'sent' });
    await sender.pass(600_000);
    expect(paceOf()).toBeNull();
  });

  test('has its mailbox wait by more of them; then one mail probes, and more follow', async () => {
    sink.behavior.mail = THROTTLED;
    await queue(10);
    const waits_ms = Date.parse(paceOf()?.waits_until ?? '') - sender.app.clock.now();
    expect(waits_ms).toBeWithin(3_750, 5_001);
    delete sink.behavior.mail;
    await queue(10);
    await sender.pass(waits_ms - 1);
    expect(sink.mails.length).toBe(0);
    await sender.pass(1);
    expect(sink.mails.length).toBe(1);
    expect(paceOf()).toMatchObject({ allowed: null, waits_until: null });
    expect(await takenIn(3, 1_000)).toEqual([1, 1, 1]);
    for (let n = 0; n < 40; n += 1) await sender.pass(250);
    expect(sink.mails.length).toBe(20);
  });

  test('costs a mail none of its three attempts for an hour', async () => {
    sink.behavior.mail = THROTTLED;
    const [id = ''] = await queue(1);
    for (let n = 0; n < 8; n += 1) await sender.pass(400_000);
    expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 9 });
    expect(await sender.job((await sender.log(id)).job_id)).toMatchObject({ attempts: 0 });
    // Then it has three, as any other.
    for (let n = 0; n < 4; n += 1) await sender.pass(400_000);
    expect(await sender.log(id)).toMatchObject({ status: 'failed', attempts: 12 });
  });

  test('is used from five minutes after it takes mail again at the latest, however long it refused', async () => {
    sink.behavior.mail = THROTTLED;
    await queue(20);
    for (let n = 0; n < 14; n += 1) await sender.pass(300_000);
    delete sink.behavior.mail;
    await queue(40, { subject: 'late' });
    await sender.pass(300_000);
    for (let n = 0; n < 150; n += 1) await sender.pass(100);
    expect(sink.mails.filter((mail) => subjectOf(mail) === 'late').length).toBe(40);
  });

  test('is waited for as long as it says', async () => {
    sink.behavior.mail = { code: 421, message: '4.7.0 try again in 2 minutes' };
    await queue(1);
    delete sink.behavior.mail;
    await sender.pass(119_000);
    expect(sink.mails.length).toBe(0);
    await sender.pass(1_000);
    expect(sink.mails.length).toBe(1);
  });

  test('keeps nobody waiting who waits for a mail, whose answer counts', async () => {
    sink.behavior.mail = THROTTLED;
    await queue(6);
    await sender.pass(1);
    expect((await sender.send({ queue: false })).status).toBe(503);
    expect(paceOf()?.waits_until).toEqual(expect.any(String));
    delete sink.behavior.mail;
    await sender.pass(1);
    expect((await sender.send({ queue: false })).status).toBe(201);
    expect(paceOf()).toMatchObject({ waits_until: null });
    expect((await sender.send({ queue: false })).status).toBe(201);
  });

  test('has a mailbox that is given another relay or a rate, or resumed, begin anew', async () => {
    for (const anew of [
      () => run(sender.app.data_dir, 'mailbox', 'change', HELLO, '--smtp', `smtp://127.0.0.1:${sink.port}`),
      () => mailboxes().setStatus(actor, HELLO, 'active'),
      () => setRate('100/m'),
      () => setRate('100/m'),
      () => setRate(null),
    ]) {
      sink.behavior.mail = THROTTLED;
      await queue(6);
      await sender.pass(1_000);
      expect(paceOf()?.waits_until).toEqual(expect.any(String));
      delete sink.behavior.mail;
      await anew();
      expect(paceOf()).toBeNull();
    }
  });

  test('by a quota has its mail wait for a day, whatever the code, and fail by nothing else', async () => {
    sink.behavior.mail = { code: 550, message: '5.4.5 Daily sending quota exceeded' };
    const [id = ''] = await queue(1);
    expect(await sender.log(id)).toMatchObject({ status: 'queued', error: expect.stringContaining('5.4.5') });
    expect(paceOf()).toMatchObject({ allowed: null, waits_until: expect.any(String) });
    expect((await sender.send({ queue: false })).status).toBe(503);
    for (let hours = 0; hours < 22; hours += 1) await sender.pass(3_600_000);
    expect(await sender.job((await sender.log(id)).job_id)).toMatchObject({ attempts: 0 });
    const [late = ''] = await queue(1);
    await sender.pass(2 * 3_600_000);
    await sender.pass(300_000);
    expect(await sender.log(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('5.4.5') });
    delete sink.behavior.mail;
    await sender.pass(300_000);
    expect(await sender.log(late)).toMatchObject({ status: 'sent' });
  });

  test('is told apart from one to which no connection can be made, whose attempts count', async () => {
    await addDomain(sender.app, 'dead.example.com', RELAY_DOWN_PORT);
    const [id = ''] = await queue(6, { domain: 'dead.example.com' });
    const { job_id } = await sender.log(id);
    expect(await sender.job(job_id)).toMatchObject({ attempts: 1, status: 'pending' });
    expect(paceOf('hello@dead.example.com')).toMatchObject({
      ...{ allowed: null, waits_until: expect.any(String) },
      words: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('is not one that greylists a recipient: nobody is slowed', async () => {
    const grey = { code: 450, message: '4.2.0 Greylisted, try again in 300 seconds' };
    const silent = { code: 451, message: '4.7.1 Greylisting in action' };
    sink.behavior.rcpt = { 'grey@example.org': grey, 'gray@example.org': silent };
    const held = [
      ...(await queue(1, { to: 'grey@example.org' })),
      ...(await queue(1, { to: 'gray@example.org' })),
    ];
    await queue(5);
    expect(sink.mails.length).toBe(5);
    expect(paceOf()).toBeNull();
    for (const id of held)
      expect(await sender.job((await sender.log(id)).job_id)).toMatchObject({
        attempts: 1,
        status: 'pending',
      });
  });

  test('slows no other mailbox', async () => {
    const throttling = await startSmtpSink({ mail: THROTTLED });
    await addDomain(sender.app, 'slow.example.com', throttling);
    await queue(6, { domain: 'slow.example.com' });
    await queue(5);
    expect(sink.mails.length).toBe(5);
    expect(paceOf('hello@slow.example.com')).not.toBeNull();
    expect(paceOf()).toBeNull();
    await throttling.stop();
  });
});

describe('a relay that is away for three seconds while thirty mails come', () => {
  const BOUND = { domain: 'mail.example.com' };

  /** Mails for it while it is away. */
  async function outage(fields: Record<string, unknown> = BOUND): Promise<void> {
    await sink.stop();
    for (let n = 0; n < 30; n += 1) {
      await sender.send({ queue: true, ...fields });
      await sender.pass(100);
    }
    sink = await startSmtpSink({ port: sink.port });
  }

  /** How many seconds pass until a mail that comes now is taken. */
  async function secondsOf(fields: Record<string, unknown> = BOUND): Promise<number> {
    const { body } = await sender.send({ queue: true, ...fields });
    await sender.settle();
    const isSent = () =>
      rows(sender.app, `SELECT 1 FROM emails WHERE id = '${body.id}' AND status = 'sent'`).length > 0;
    let seconds = 0;
    for (; !isSent() && seconds < 400; seconds += 0.1) await sender.pass(100);
    return seconds;
  }

  for (const [others, count] of [
    ['alone', 0],
    ['beside another mailbox, which that mail may not use', 1],
  ] as const)
    test(`takes one that comes six seconds later within seconds, ${others}`, async () => {
      const standing = await startSmtpSink();
      if (count > 0) await addDomain(sender.app, 'other.example.com', standing);
      await outage();
      await sender.pass(6_000);
      expect(await secondsOf()).toBeLessThan(20);
      for (let n = 0; n < 300 && sink.mails.length < 31; n += 1) await sender.pass(100);
      expect(sink.mails.length).toBe(31);
      expect(standing.mails.length).toBe(0);
      await standing.stop();
    });

  test('costs mail that may go out from no other mailbox one attempt at most', async () => {
    const standing = await startSmtpSink();
    await addDomain(sender.app, 'other.example.com', standing);
    await sink.stop();
    await queue(10, BOUND);
    await queue(20, BOUND);
    for (let minutes = 0; minutes < 30; minutes += 1) await sender.pass(60_000);
    const tries = 'SELECT sum(attempts) AS n, min(attempts) AS least FROM emails';
    const [{ n, least }] = rows(sender.app, tries) as [{ n: number; least: number }];
    // Ten at once, and then one a wait: of 5 s, doubling to 5 minutes.
    expect(n).toBeLessThan(10 + 20);
    expect(least).toBe(0);
    expect(standing.mails.length).toBe(0);
    await standing.stop();
    sink = await startSmtpSink({ port: sink.port });
  });

  test('leaves no mail waiting that another mailbox may take, whatever waits before it', async () => {
    const standing = await startSmtpSink();
    await addDomain(sender.app, 'other.example.com', standing);
    await sink.stop();
    await queue(10, BOUND);
    await queue(30, BOUND);
    expect(paceOf()?.waits_until).toEqual(expect.any(String));
    const [id = ''] = await queue(1);
    expect(standing.mails.length).toBe(1);
    const { events, story } = sender.app.services.deliveries.explain(id);
    expect(events.filter(({ kind }) => kind === 'attempt')).toMatchObject([
      { outcome: 'sent', who: 'hello@other.example.com' },
    ]);
    expect(story.join('\n')).toContain(`${HELLO} (it waits, and its next turn comes too late)`);
    await standing.stop();
    sink = await startSmtpSink({ port: sink.port });
  });

  test('is asked no later for what others hand over meanwhile and wait for', async () => {
    await sink.stop();
    await queue(10, BOUND);
    const { waits_until } = paceOf() ?? {};
    await sender.pass(1);
    for (let n = 0; n < 20; n += 1) expect((await sender.send({ queue: false })).status).toBe(503);
    expect(paceOf()).toMatchObject({ waits_until });
    sink = await startSmtpSink({ port: sink.port });
    await queue(1, BOUND);
    await sender.pass(5_000);
    expect(sink.mails.length).toBe(1);
    expect(paceOf()?.waits_until).toBeNull();
  });

  test('goes on with mail that was left alone as soon as one that somebody waits for is taken', async () => {
    const standing = await startSmtpSink();
    await addDomain(sender.app, 'other.example.com', standing);
    await sink.stop();
    await queue(6, BOUND);
    await queue(3, { ...BOUND, subject: 'Left' });
    sink = await startSmtpSink({ port: sink.port });
    await sender.pass(1);
    expect((await sender.send({ queue: false, ...BOUND })).status).toBe(201);
    for (let n = 0; n < 30; n += 1) await sender.pass(100);
    expect(sink.mails.filter((mail) => subjectOf(mail) === 'Left').length).toBe(3);
    await standing.stop();
  });

  test('is told of by doctor, the shell and each mail that waits, with the time until which it waits', async () => {
    await sink.stop();
    const [tried = ''] = await queue(10, BOUND);
    const [id = ''] = await queue(1, BOUND);
    const until = paceOf()?.waits_until ?? 'none';
    const why = (email: string) => sender.app.services.deliveries.explain(email).story.at(-1);
    expect(why(id)).toBe(
      `Next: The first attempt comes at ${until} at the earliest (${HELLO} waits until then, as its relay said: ${paceOf()?.words}).`,
    );
    expect(why(tried)).toBe('Next: Attempt 2 of 3 comes at 2030-01-15T12:00:15.000Z.');
    const [found] = (await mailboxChecks({ mailboxes: mailboxes() })[0]?.run()) ?? [];
    expect(found?.message).toContain(`Its mail waits until ${until}.`);
    // A relay that does not answer the mail that asks for all.
    sink = await startSmtpSink({ port: sink.port, hang: 'data' });
    sender.app.clock.advance(5_000);
    sender.app.app.engine.wake();
    await sink.until(() => sink.unanswered.length > 0);
    const asked_at = sender.app.clock.now();
    expect(paceOf()?.waits_until).toBe(new Date(asked_at + 60_000).toISOString());
    sender.app.clock.advance(10_000);
    expect(why(tried)).toStartWith(`Next: Attempt 2 of 3 comes at ${paceOf()?.waits_until} at the earliest`);
    delete sink.behavior.hang;
    for (const reply of sink.unanswered) reply();
    await sender.settle();
    expect(paceOf()?.waits_until).toBeNull();
  });

  test('names no time that has passed for a mail that is due while the relay is busy with others', async () => {
    sink.behavior.rcpt = { 'grey@example.org': { code: 450, message: '4.2.0 Greylisted' } };
    const [id = ''] = await queue(1, { to: 'grey@example.org' });
    sink.behavior.hang = 'data';
    for (let n = 0; n < 10; n += 1) await sender.send({ queue: true });
    await sink.until(() => sink.unanswered.length === 10);
    sender.app.clock.advance(3_600_000);
    expect(sender.app.services.deliveries.explain(id).story.at(-1)).toBe(
      'Next: Attempt 2 of 3 comes as soon as the server gets to it.',
    );
    delete sink.behavior.hang;
    for (const reply of sink.unanswered) reply();
    await sender.settle();
  });
});

describe('a rate', () => {
  const shown = async (...args: string[]) => run(sender.app.data_dir, 'mailbox', ...args);

  test('is set and taken away from the shell', async () => {
    const added = await shown('add', 'fast@mail.example.com', '--capture', '--rate', '14/s', '--json');
    expect(JSON.parse(added.stdout)).toMatchObject({ rate: '14/s', pace: null });
    expect(JSON.parse((await shown('change', HELLO, '--rate', '200/m', '--json')).stdout)).toMatchObject({
      rate: '200/m',
    });
    expect((await shown('list')).stdout).toContain('200/m');
    expect(JSON.parse((await shown('change', HELLO, '--rate', 'none', '--json')).stdout)).toMatchObject({
      rate: null,
    });
    for (const wrong of ['0/s', '14', '14/d', '10001/h']) {
      const refused = await shown('change', HELLO, '--rate', wrong);
      expect(refused.exit).not.toBe(0);
      expect(refused.stderr).toContain('N/s, N/m or N/h, with N from 1 to 10000');
    }
  });

  test('is set on the management plane, where one that is none is 422', async () => {
    const { token } = await sender.app.services.tokens.create(actor, {
      ...{ name: 'admin', all_projects: true, projects: [] },
      capabilities: ['can_administer'],
    });
    const call = (method: string, path: string, body?: unknown) =>
      sender.app.call(method, `/api/public/v1/mailboxes${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
      });
    const address = 'fast@mail.example.com';
    expect(await call('POST', '', { address, capture: true, rate: '9/h' })).toMatchObject({
      status: 201,
      body: { data: { rate: '9/h', pace: null } },
    });
    const refused = await call('PATCH', `/${address}`, { rate: '9/d' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('N/s, N/m or N/h, with N from 1 to 10000');
    expect(await call('PATCH', `/${address}`, { rate: null })).toMatchObject({
      body: { data: { rate: null } },
    });
  });
});
