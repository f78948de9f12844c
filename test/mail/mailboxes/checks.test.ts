/** What doctor's remedies for mailboxes look like, beyond what its own tests show. */
import { expect, test } from 'bun:test';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
import { eventChecks } from '../../../src/mail/mailboxes/event-checks.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { otherPortsHint } from '../../../src/mail/mailboxes/relay-providers.ts';
import { unsentOutcome } from '../../../src/platform/mail/outcomes.ts';
import { run } from '../../support/command.ts';
import { actor, addCapturingMailbox, startTestApp } from '../../support/helpers.ts';

const ADDRESS = 'a|reboot|`id`$HOME@mail.example.com';

test('a remedy can be pasted into a shell, whatever the address is made of', async () => {
  const app = await startTestApp();
  await addCapturingMailbox(app, ADDRESS);
  const { mailboxes } = app.services;
  await mailboxes.setStatus(actor, ADDRESS, 'paused');
  const found = await Promise.all(mailboxChecks({ mailboxes }).map(({ run }) => run()));
  expect(found.flat()).toContainEqual(
    expect.objectContaining({ remedy: `satchel mailbox resume '${ADDRESS}'` }),
  );
  await expect(mailboxes.add(actor, { address: ADDRESS, relay: null })).rejects.toThrow(
    `satchel mailbox change '${ADDRESS}'`,
  );
});

test('the shell and doctor tell of a pace: what was learned, until when it waits, and what ends it', async () => {
  const app = await startTestApp();
  const address = 'shop@mail.example.com';
  await addCapturingMailbox(app, address);
  const { mailboxes, database } = app.services;
  const { id } = mailboxes.require(address);
  // The verbs go by the clock of the machine.
  const now = Date.now();
  const say = (at: number, asked_ms: number | null = null) => {
    const slowdown = { words: '454 4.7.0 Throttling', asked_ms, is_quota: false };
    const refused = {
      ...unsentOutcome({ stage: 'mail', response: slowdown.words, smtp_code: 454 }),
      slowdown,
    };
    return database.write((tx) => mailboxes.pace.record(tx, id, refused, { started_at: at, now_ms: at }));
  };
  const list = async () => (await run(app.data_dir, 'mailbox', 'list')).stdout;
  const doctor = () => mailboxChecks({ mailboxes })[0]?.run();
  await say(now);
  expect(await list()).toMatch(/ active {2,}/);
  await say(now + 1, 120_000);
  expect(await list()).toContain('active, waits until 20');
  await run(app.data_dir, 'mailbox', 'resume', address);
  expect(await list()).toMatch(/ active {2,}/);
  const at = app.clock.now();
  await say(at);
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);
  await say(at + 1, 120_000);
  expect(await doctor()).toMatchObject([
    {
      ...{ status: 'warning', remedy: `satchel mailbox resume ${address}` },
      acts: [{ kind: 'resume_mailbox', project: null, of: address }],
      message: expect.stringMatching(/waits until 2030.*\(454 4\.7\.0 Throttling\)\. .*--rate/),
    },
  ]);
});

test('bounces that nobody would see are told, requests refused in a row, and a week’s silence', async () => {
  const app = await startTestApp();
  const address = 'shop@mail.example.com';
  await addCapturingMailbox(app, address);
  const { mailboxes, database, clock, relay_events } = app.services;
  const { id } = mailboxes.require(address);
  const doctor = async () => eventChecks({ mailboxes, relay_events, clock })[0]?.run();
  const change = (changes: Parameters<typeof mailboxes.change>[2]) =>
    mailboxes.change(actor, address, changes);
  expect(await doctor()).toEqual([]);
  await change({ relay: parseRelay('smtp://me:secret@smtp.postmarkapp.com') });
  const remedy = `satchel mailbox events ${address}`;
  expect(await doctor()).toMatchObject([
    { status: 'warning', remedy, message: expect.stringContaining('after acceptance are not seen') },
  ]);
  await change({ events: { provider: 'postmark' } });
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);

  const refuse = async (times: number) => {
    const row = relay_events.findRow(id);
    for (let n = 0; row && n < times; n += 1) await relay_events.noteRefused(row, 'It is not signed.');
  };
  await refuse(9);
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);
  await refuse(1);
  expect(await doctor()).toMatchObject([
    { status: 'warning', remedy, message: expect.stringMatching(/last 10 .*: It is not signed\.$/) },
  ]);
  const row = relay_events.findRow(id);
  if (row) await relay_events.noteTaken(row);
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);

  app.clock.advance(8 * 86_400_000);
  const send = (n: number) =>
    database.write((tx) => {
      const day = new Date(clock.now() - 86_400_000).toISOString().slice(0, 10);
      tx.$client.run(`INSERT OR REPLACE INTO mailbox_usage VALUES (${id}, '${day}', ${n})`);
    });
  await send(99);
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);
  await send(100);
  expect(await doctor()).toMatchObject([
    { status: 'warning', remedy, message: expect.stringContaining('for a week, which sent 100 mails') },
  ]);
  await change({ events: { provider: 'postmark' } });
  expect(await doctor()).toMatchObject([{ status: 'ok' }]);

  const sealed = async () => eventChecks({ mailboxes, relay_events, clock })[1]?.run();
  expect(await sealed()).toMatchObject([{ status: 'ok' }]);
  await database.write((tx) => tx.$client.run("UPDATE relay_events SET sealed_token = 'lost'"));
  expect(await sealed()).toMatchObject([
    { status: 'problem', message: `The relay events of ${address} do not decrypt.` },
  ]);
  expect(mailboxes.list()[0]?.events).toMatchObject({ url: null });
});

test('a connection that is not answered names the other ports of a provider, and no other failure does', () => {
  const late = 'No connection to the relay within 10 s.';
  const at = (host: string, port: number, words = late) => otherPortsHint({ host, port }, words);
  expect(at('smtp.sendgrid.net', 587)).toBe(
    'Many hosting providers close port 587. SendGrid takes mail on 2525 as well.',
  );
  expect(at('email-smtp.eu-west-1.amazonaws.com', 465)).toContain('2587, 2465 with TLS');
  expect(at('smtp.resend.com', 25)).toContain('2587, 2465 with TLS');
  expect(at('in-v3.mailjet.com', 25)).toContain('2525, 588, 80');
  expect([at('smtp.sendgrid.net', 2525), at('smtp.gmail.com', 587), at('smtp.example.com', 587)]).toEqual([
    null,
    null,
    null,
  ]);
  expect(at('smtp.sendgrid.net', 587, 'The connection was refused.')).toBeNull();
});
