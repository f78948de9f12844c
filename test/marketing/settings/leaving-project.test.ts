/** What of email marketing goes with a project: counted before it is asked about, and when it is gone. */
import { expect, test } from 'bun:test';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { dataOf, startMarketingApp } from './setup.ts';

test('deleting a project counts its lists, contacts, suppressions, sequences and imports', async () => {
  const on = await startMarketingApp();
  const [list, other] = [await on.list(), await on.list({ name: 'Other' })];
  for (const email of ['ann@example.com', 'bob@example.com'])
    await on.contact(list, email, { tags: ['a', 'b'] });
  await on.contact(other, 'ann@example.com');
  const left = await on.contact(other, 'gone@example.com');
  dataOf(await on.call('POST', `/email-contacts/${left.id}/unsubscribe`));
  dataOf(
    await on.call('POST', '/email-sequences', { name: 'Welcome', list, max_recipients: 10, steps: [] }),
    201,
  );
  const rows = { method: 'paste', text: 'email\ncarol@example.com\n' };
  dataOf(await on.call('POST', `/email-lists/${list}/imports`, rows), 201);

  const warned = await run(on.app.data_dir, 'project', 'delete', on.project.slug);
  expect([warned.exit, warned.stderr]).toEqual([
    1,
    expect.stringContaining(
      '2 email lists, 5 email contacts, 1 email suppression, 1 email sequence, 1 email import',
    ),
  ]);
  const { cascade } = await on.app.services.projects.remove(actor, on.project.slug);
  expect(cascade).toMatchObject({
    ...{ email_lists: 2, email_contacts: 5, email_suppressions: 1, email_sequences: 1, email_broadcasts: 0 },
    ...{ email_imports: 1 },
  });
});
