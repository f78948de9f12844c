/** What is deleted is in none of the database's files, once the log was looked at twice. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { addDomain, startSender } from '../mail/emails/setup.ts';
import { actor } from '../support/helpers.ts';

const WORDS = 'words that are to go ';
const ADDRESS = 'gone-for-good@example.org';

test('a small file, the mail of somebody who was forgotten, a value of the vault', async () => {
  const on = await startSender();
  await addDomain(on.app, 'mail.example.com', null);
  const { services, data_dir } = on.app;
  const { database, projects, objects, vault, vault_versions, privacy } = services;
  const project = projects.require(on.project.slug);
  /** Of these texts, what is in the database's files. */
  const found = (texts: readonly string[]): string[] => {
    const files = ['satchel.db', 'satchel.db-wal'].map((name) =>
      readFileSync(join(data_dir, name), 'latin1'),
    );
    return texts.filter((text) => files.some((file) => file.includes(text)));
  };

  const form = new FormData();
  form.append('file', new File([`a file's ${WORDS.repeat(500)}`], 'a.txt', { type: 'text/plain' }));
  const key = await on.project.key({ can_read: true, can_write: true });
  const stored = await on.app.app.handle(
    new Request('http://satchel.test/api/v1/objects', {
      method: 'POST',
      headers: { 'X-API-Key': key },
      body: form,
    }),
  );
  const { public_id } = (await stored.json()) as { public_id: string };
  for (const [to, words] of [
    [ADDRESS, "a mail's"],
    ['stays@example.org', 'what stays'],
  ])
    expect(
      (await on.send({ to, subject: `${words} subject`, body_text: `${words} ${WORDS.repeat(500)}` })).status,
    ).toBe(202);
  await on.settle();
  await vault.set(actor, project, requireVaultService('stripe'), { secret_key: 'sk', webhook_secret: 'wh' });
  const sealed = database.read.$client
    .query<{ sealed: string }, []>('SELECT sealed FROM vault_values')
    .all()
    .map((row) => row.sealed);
  const going = [`a file's ${WORDS}`, `a mail's ${WORDS}`, "a mail's subject", ADDRESS, ...sealed];
  expect(found(going)).toEqual(going);

  await objects.remove(project.id, public_id, noNote);
  await privacy.forget(actor, project, ADDRESS);
  const service = requireVaultService('stripe');
  await vault.remove(actor, project, service);
  await vault_versions.purge(actor, project, { service });
  await database.tidyLog();
  await database.tidyLog();
  expect(found([...going, `what stays ${WORDS}`])).toEqual([`what stays ${WORDS}`]);
});
