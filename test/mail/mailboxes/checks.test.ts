/** What doctor's remedies for mailboxes look like, beyond what its own tests show. */
import { expect, test } from 'bun:test';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
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
