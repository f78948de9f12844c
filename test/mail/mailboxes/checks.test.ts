/** What doctor's remedies for mailboxes look like, beyond what its own tests show. */
import { expect, test } from 'bun:test';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
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
