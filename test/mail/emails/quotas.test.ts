/** Daily limits of mailboxes and keys: atomic, by UTC day, kept across restarts; and which mailbox a mail gets. */
import { describe, expect, test } from 'bun:test';
import { actor, makeProject, startTestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { TestClock } from '../../support/temp.ts';
import { addDomain, addMailbox, rows, type Sender, senderOf, startSender } from './setup.ts';

async function statuses(
  sender: Sender,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => sender.send(fields)));
  return answers.map((answer) => answer.status).sort();
}

const HALF_DAY_S = 12 * 3_600;

describe('a mailbox with a daily limit', () => {
  test('takes exactly that many of many sends at once; the rest get 429 until midnight UTC', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 5 });
    expect(await statuses(sender, 20)).toEqual([...Array(5).fill(202), ...Array(15).fill(429)]);
    const answer = await sender.send();
    expect(answer.headers.get('retry-after')).toBe(String(HALF_DAY_S));
    sender.app.clock.advance(HALF_DAY_S * 1_000);
    expect((await sender.send()).status).toBe(202);
  });

  test('counts messages, not copies', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 2 });
    const copies = { cc: ['b@example.org', 'c@example.org'], bcc: ['d@example.org'] };
    expect(await statuses(sender, 3, copies)).toEqual([202, 202, 429]);
  });

  test('counts a synchronous send, and no retry', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 2 });
    await sender.send({ to: 'defer@simulator.satchel.test' });
    await sender.settle();
    await sender.pass(15_000);
    expect((await sender.send({ queue: false })).status).toBe(201);
    expect((await sender.send({ queue: false })).status).toBe(429);
  });

  test('is a 503 where its domain was asked for', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 1 });
    await addDomain(sender.app, 'other.example.com', null);
    const fields = { domain: 'Mail.Example.COM' };
    expect((await sender.send(fields)).body).toMatchObject({ domain: 'mail.example.com' });
    const answer = await sender.send(fields);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe(String(HALF_DAY_S));
  });

  test('leaves what no longer fits to the next domain, while no domain is asked for', async () => {
    const sink = await startSmtpSink();
    const sender = await startSender();
    await addDomain(sender.app, 'second.example.com', sink, { daily_limit: 1 });
    await addDomain(sender.app, 'first.example.com', sink, { daily_limit: 1, is_default: true });
    const domains = [await sender.send(), await sender.send()].map((answer) => answer.body.domain);
    expect(domains).toEqual(['first.example.com', 'second.example.com']);
    expect((await sender.send()).status).toBe(429);
    await sender.app.stop();
    await sink.stop();
  });

  test('still has its count after a restart', async () => {
    const clock = new TestClock();
    const sender = await startSender({ clock });
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 2 });
    await statuses(sender, 2);
    await sender.app.stop();
    const app = await startTestApp({ clock, data_dir: sender.app.data_dir });
    expect((await senderOf(app, sender.project, sender.key).send()).status).toBe(429);
  });

  test('gives a scheduled mail a place on its due day, and the place of a canceled one to the next', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 1 });
    const tomorrow = { scheduled_at: '2030-01-16T09:00:00Z' };
    const first = await sender.send(tomorrow);
    expect(first.status).toBe(201);
    expect((await sender.send(tomorrow)).status).toBe(429);
    expect((await sender.send()).status).toBe(202);
    await sender.app.call('DELETE', `/api/v1/emails/${first.body.id}/schedule`, { key: sender.key });
    expect((await sender.send(tomorrow)).status).toBe(201);
    sender.app.clock.advance(20 * 3_600_000);
    expect((await sender.send()).status).toBe(429);
  });

  test('has room of its own day for a mail that is tried again after midnight', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 1 });
    await addMailbox(sender.app, 'second@mail.example.com', null, { daily_limit: 1 });
    const { body } = await sender.send({ to: 'defer@simulator.satchel.test' });
    await sender.settle();
    await sender.app.services.mailboxes.setStatus(actor, 'hello@mail.example.com', 'paused');
    sender.app.clock.advance(HALF_DAY_S * 1_000);
    expect((await sender.send()).body.from_email).toBe('second@mail.example.com');
    await sender.settle();
    expect(await sender.log(body.id)).toMatchObject({ attempts: 2, from_email: 'second@mail.example.com' });
    expect(rows(sender.app, 'SELECT day, n FROM mailbox_usage WHERE n > 0 ORDER BY day')).toEqual([
      { day: '2030-01-15', n: 1 },
      { day: '2030-01-16', n: 1 },
    ]);
  });

  test('gives the places of scheduled mails to others when their project is deleted', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 2 });
    const other = await makeProject(sender.app, 'other');
    const stranger = senderOf(sender.app, other, await other.key({ can_send_emails: true }));
    const tomorrow = { scheduled_at: '2030-01-16T09:00:00Z' };
    const tester = await sender.project.key({ can_send_emails: true, is_test: true });
    await senderOf(sender.app, sender.project, tester).send(tomorrow);
    expect((await sender.send(tomorrow)).status).toBe(201);
    expect((await sender.send()).status).toBe(202);
    await sender.settle();
    await stranger.send(tomorrow);
    expect((await stranger.send(tomorrow)).status).toBe(429);
    await sender.app.services.projects.remove(actor, String(sender.project.id));
    // What was sent stays counted, and so does what another project has scheduled.
    expect(rows(sender.app, 'SELECT day, n FROM mailbox_usage ORDER BY day')).toEqual([
      { day: '2030-01-15', n: 1 },
      { day: '2030-01-16', n: 1 },
    ]);
    expect((await stranger.send(tomorrow)).status).toBe(201);
  });

  test('sends spread over the mailboxes of a domain by what each has left', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 2 });
    await addMailbox(sender.app, 'second@mail.example.com', null, { daily_limit: 4 });
    const from = [];
    for (let n = 0; n < 6; n++) from.push((await sender.send()).body.from_email);
    expect(from.filter((address) => address === 'second@mail.example.com').length).toBe(4);
    expect(from.slice(0, 2)).toEqual(['second@mail.example.com', 'second@mail.example.com']);
    expect((await sender.send()).status).toBe(429);
  });
});

test('a retry on a day that is used up is refused, and names what keeps each mailbox from sending', async () => {
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 1 });
  const { body } = await sender.send({ to: 'bounce@simulator.satchel.test' });
  await sender.settle();
  await sender.pass(24 * 3_600_000);
  expect((await sender.send()).status).toBe(202);
  const [result] = await sender.app.services.deliveries.requeue(actor, [String(body.id)]);
  expect(result).toEqual({
    id: String(body.id),
    refusal: expect.stringContaining(
      'Not hello@mail.example.com (its 1 messages of 2030-01-16 are used up).',
    ),
  });
});

test('a retry on the same day keeps its place, and is refused where nothing can send it', async () => {
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null, { daily_limit: 1 });
  const { body } = await sender.send({ to: 'bounce@simulator.satchel.test' });
  await sender.settle();
  const { deliveries, mailboxes } = sender.app.services;
  await mailboxes.setStatus(actor, 'hello@mail.example.com', 'paused');
  expect(await deliveries.requeue(actor, [String(body.id)])).toEqual([
    { id: String(body.id), refusal: expect.stringContaining('Not hello@mail.example.com (paused).') },
  ]);
  expect(await sender.log(body.id)).toMatchObject({ status: 'bounced' });
  await mailboxes.setStatus(actor, 'hello@mail.example.com', 'active');
  expect(await deliveries.requeue(actor, [String(body.id)])).toEqual([
    { id: String(body.id), job_id: expect.any(String) },
  ]);
  expect(rows(sender.app, 'SELECT n FROM mailbox_usage')).toEqual([{ n: 1 }]);
});

describe('mail of a test key', () => {
  const USAGE = 'SELECT coalesce(sum(n), 0) AS n FROM mailbox_usage';

  async function startBoth(daily_limit: number): Promise<{ sender: Sender; tester: Sender }> {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null, { daily_limit });
    const permissions = { can_read: true, can_send_emails: true, is_test: true };
    return { sender, tester: senderOf(sender.app, sender.project, await sender.project.key(permissions)) };
  }

  test('uses up nothing of a mailbox, and goes through where that is used up', async () => {
    const { sender, tester } = await startBoth(2);
    expect(await statuses(tester, 5)).toEqual(Array(5).fill(202));
    expect((await tester.send({ queue: false })).status).toBe(201);
    await tester.settle();
    expect(rows(sender.app, USAGE)).toEqual([{ n: 0 }]);
    expect(await statuses(sender, 3)).toEqual([202, 202, 429]);
    expect((await tester.send({ domain: 'mail.example.com', queue: false })).status).toBe(201);
    expect(rows(sender.app, USAGE)).toEqual([{ n: 2 }]);
  });

  test('frees no place when it is canceled, moves to another mailbox or is tried again', async () => {
    const { sender, tester } = await startBoth(2);
    const tomorrow = { scheduled_at: '2030-01-16T09:00:00Z' };
    const [canceled, moved] = [await tester.send(tomorrow), await tester.send(tomorrow)];
    expect(await statuses(sender, 2, tomorrow)).toEqual([201, 201]);
    await sender.app.call('DELETE', `/api/v1/emails/${canceled.body.id}/schedule`, { key: tester.key });
    expect(rows(sender.app, USAGE)).toEqual([{ n: 2 }]);
    const refused = await tester.send({ to: 'bounce@simulator.satchel.test' });
    await tester.settle();
    const sink = await startSmtpSink();
    await addDomain(sender.app, 'new.example.com', sink, { is_default: true });
    await sender.pass(24 * 3_600_000);
    expect(await tester.log(moved.body.id)).toMatchObject({ status: 'sent', domain: 'new.example.com' });
    await sender.app.services.deliveries.requeue(actor, [String(refused.body.id)]);
    await tester.settle();
    expect(await tester.log(refused.body.id)).toMatchObject({ attempts: 2, domain: 'new.example.com' });
    // The two real ones, which both moved; the sink saw no other.
    expect(rows(sender.app, USAGE)).toEqual([{ n: 2 }]);
    expect(sink.mails.length).toBe(2);
    await sender.app.stop();
    await sink.stop();
  });

  test("counts towards its own key's email_daily_limit all the same", async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null);
    const limits = { can_send_emails: true, is_test: true, email_daily_limit: 1 };
    const tester = senderOf(sender.app, sender.project, await sender.project.key(limits));
    expect(await statuses(tester, 2)).toEqual([202, 429]);
  });
});

describe("a key's email_daily_limit", () => {
  async function limited(limit: number): Promise<Sender> {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null);
    const key = await sender.project.key({ can_read: true, can_send_emails: true, email_daily_limit: limit });
    return senderOf(sender.app, sender.project, key);
  }

  test('is kept by many sends at once, and refuses with 429 until midnight UTC', async () => {
    const sender = await limited(3);
    expect(await statuses(sender, 10)).toEqual([202, 202, 202, ...Array(7).fill(429)]);
    const answer = await sender.send();
    expect(answer.headers.get('retry-after')).toBe(String(HALF_DAY_S));
    expect(rows(sender.app, 'SELECT n FROM mailbox_usage')).toEqual([{ n: 3 }]);
    sender.app.clock.advance(HALF_DAY_S * 1_000);
    expect((await sender.send()).status).toBe(202);
  });

  test('speaks of the day that the mail is due on', async () => {
    const sender = await limited(1);
    const day = new Date(sender.app.clock.now() + 40 * 86_400_000).toISOString().slice(0, 10);
    const fields = { scheduled_at: `${day}T09:00:00Z` };
    expect((await sender.send(fields)).status).toBe(201);
    expect((await sender.send(fields)).body.message).toBe(
      `This API key has used up its message of ${day} (UTC). Choose another day.`,
    );
    expect((await sender.send()).status).toBe(202);
    expect((await sender.send()).body.message).toEndWith('(UTC). Try again after midnight UTC.');
  });

  test('of zero refuses every send', async () => {
    expect((await (await limited(0)).send()).status).toBe(429);
  });

  test('does not count what was refused', async () => {
    const sender = await limited(1);
    expect((await sender.send({ domain: 'unknown.example' })).status).toBe(422);
    expect((await sender.send({ to: 'nobody' })).status).toBe(422);
    expect((await sender.send()).status).toBe(202);
  });
});

describe('a domain that was asked for', () => {
  test('must be active and verified, or trusted', async () => {
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null);
    const { sending_domains } = sender.app.services;
    await sending_domains.add(actor, { name: 'unverified.example.com' });
    await addMailbox(sender.app, 'a@unverified.example.com', null);
    const status = async () => (await sender.send({ domain: 'mail.example.com' })).status;
    expect(await status()).toBe(202);
    await sending_domains.change(actor, 'mail.example.com', { is_active: false });
    expect(await status()).toBe(422);
    expect((await sender.send({ domain: 'unverified.example.com' })).status).toBe(422);
    // Nothing else is usable either, so a mail that leaves the domain open has nowhere to go.
    expect((await sender.send()).status).toBe(503);
    await sending_domains.change(actor, 'mail.example.com', { is_active: true });
    expect(await status()).toBe(202);
  });

  test('without a mailbox that is not paused is 503', async () => {
    const sender = await startSender();
    const address = await addDomain(sender.app, 'mail.example.com', null);
    const { mailboxes } = sender.app.services;
    await mailboxes.setStatus(actor, address, 'paused');
    expect((await sender.send({ domain: 'mail.example.com' })).status).toBe(503);
    expect((await sender.send()).status).toBe(503);
    await mailboxes.setStatus(actor, address, 'active');
    expect((await sender.send({ domain: 'mail.example.com' })).status).toBe(202);
  });
});
