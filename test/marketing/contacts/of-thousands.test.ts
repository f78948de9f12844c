/** An address of thousands of mails: telling, exporting and forgetting it keeps nobody waiting, and goes on after a crash. */
import { expect, test } from 'bun:test';
import { longestTurnMs } from '../../support/event-loop.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';

const PERSON = 'person@example.com';

/** Mails to the person, mails of which they got a copy, and mails that others got with copies to others. */
async function withMails({ app, count }: { app: TestApp; count: number }) {
  const { database, projects } = app.services;
  const owner = projects.require((await makeProject(app)).slug);
  await database.write((tx) => {
    const insert = tx.$client.prepare(
      `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, cc, bcc, subject, message_id, created_at)
       VALUES (?, ?, 'api', 'sent', 'a@b.example', 'b.example', ?, ?, ?, 'Dear person', 'm', ?)`,
    );
    const fill = tx.$client.prepare(
      "INSERT INTO email_bodies (email_id, body_text) VALUES (?, 'Dear person' || ?)",
    );
    const body = 'x'.repeat(20_000);
    for (let n = 0; n < count * 3; n += 1) {
      const id = `01M${String(n).padStart(23, '0')}`;
      const [to, cc, bcc] = [
        [PERSON, '["boss@b.example"]', '[]'],
        ['else@example.com', '["boss@b.example"]', `["Person@Example.com"]`],
        ['else@example.com', '["aperson@example.com"]', '["boss@b.example"]'],
      ][n % 3] ?? [''];
      insert.run(id, owner.id, to ?? '', cc ?? '', bcc ?? '', app.clock.now());
      fill.run(id, body);
    }
  });
  return owner;
}

const countOf = (app: TestApp, condition: string): number =>
  Number(app.services.database.read.$client.query(`SELECT count(*) FROM ${condition}`).values()[0]?.[0]);

test('nobody waits for what is told, exported or forgotten of it', async () => {
  const app = await startTestApp();
  const count = 2_000;
  const owner = await withMails({ app, count });
  const { privacy, database } = app.services;
  // All at once, as it must not be.
  const whole = await longestTurnMs(async () => {
    JSON.stringify(
      database.read.$client.query('SELECT * FROM emails JOIN email_bodies ON email_id = id').all(),
    );
  });
  const told = await longestTurnMs(() => privacy.explain(owner, PERSON));
  let text = '';
  const exported = await longestTurnMs(async () => {
    for await (const piece of privacy.export(owner, PERSON)) text += piece;
  });
  expect(JSON.parse(text).emails).toHaveLength(2 * count);
  let writes = 0;
  let is_over = false;
  const forgetting = longestTurnMs(async () => {
    expect(await privacy.forget(actor, owner, PERSON)).toMatchObject({ emails: 2 * count });
    is_over = true;
  });
  while (!is_over) {
    await database.write((tx) => tx.$client.run("INSERT OR REPLACE INTO meta VALUES ('test', 'x')"));
    if (!is_over) writes += 1;
  }
  for (const turn of [told, exported, await forgetting]) expect(turn).toBeLessThan(whole / 6);
  expect(writes).toBeGreaterThan(20);
  expect(countOf(app, "emails WHERE to_email = ''")).toBe(2 * count);
  expect(countOf(app, 'email_bodies')).toBe(count);
});

test('what a crash cut off is forgotten at the next start', async () => {
  const app = await startTestApp();
  const owner = await withMails({ app, count: 500 });
  const { privacy } = app.services;
  const left = (of: TestApp): number =>
    countOf(of, "emails WHERE to_email <> '' AND cc || bcc || to_email LIKE '%person@example.com%'");
  const cut = privacy.forget(actor, owner, PERSON).catch(() => 'cut');
  await until(() => left(app) < 1_500);
  await app.stop();
  expect(await cut).toBe('cut');
  const again = await startTestApp({ data_dir: app.data_dir });
  expect(left(again)).toBeGreaterThan(500);
  await until(() => countOf(again, 'addresses_to_forget') === 0);
  expect(left(again)).toBe(500);
  expect(countOf(again, "audit_events WHERE event = 'contact.forgotten'")).toBe(1);
});
