/** What is held about a person is told, and forgotten wherever it stood: every table is looked through. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { heldOf } from '../../support/addresses.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

const PERSON = 'person@example.com';
let on: MarketingApp;
let sink: SmtpSink;

beforeAll(async () => {
  sink = await startSmtpSink({
    rcpt: { [PERSON]: { code: 550, message: `5.1.1 <${PERSON}>: there is no such user` } },
  });
  on = await startMarketingApp({ env: { SATCHEL_EMAIL_RETRY_DELAYS: '1,1' } });
  const { sending_domains, mailboxes } = on.app.services;
  await sending_domains.add(actor, { name: 'mail.example.com', is_default: true, is_trusted: true });
  const relay = parseRelay(`smtp://127.0.0.1:${sink.port}`);
  await mailboxes.add(actor, { address: 'shop@mail.example.com', relay });
});
afterAll(() => sink.stop());

/** Tables and columns in which the person's address or name stands, in whatever case. */
function holding(): string[] {
  const { $client } = on.app.services.database.read;
  const tables = $client.query<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  const found = new Set<string>();
  for (const { name } of tables.all())
    for (const row of $client.query<Record<string, unknown>, []>(`SELECT * FROM "${name}"`).all())
      for (const [column, value] of Object.entries(row)) {
        const text = value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
        if (/person@|pat person/i.test(text)) found.add(`${name}.${column}`);
      }
  return [...found].sort();
}

test('nothing of a person is left in any table but the hash that keeps them away', async () => {
  const list = await on.list();
  await on.contact(list, 'Person@example.com', {
    first_name: 'Pat Person',
    custom: { alias: 'person@home.example' },
    tags: ['vip'],
  });
  const key = await on.project.key({ can_send_emails: true, can_read: true });
  const send = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    on.app.call('POST', '/api/v1/emails/send', {
      ...{ key, headers },
      body: { subject: 'Dear Pat Person', body_text: 'x', ...body },
    });
  const sent = [
    await send({ to: PERSON, to_name: 'Pat Person' }, { 'Idempotency-Key': 'once' }),
    await send({ to: PERSON, queue: false }, { 'Idempotency-Key': 'twice' }),
    await send({ to: 'else@example.com', cc: ['PERSON@example.com'] }),
    await send({ to: 'else@example.com', bcc: [PERSON] }),
    await send({ to: PERSON, scheduled_at: '2031-01-01T00:00:00Z' }),
  ];
  expect(sent.map(({ status }) => status)).toEqual([202, 422, 202, 202, 201]);
  await on.app.app.engine.whenIdle();
  await on.call('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: `Pat Person <${PERSON}>\n<${PERSON}`,
  });
  // A sign-up that waits for the DNS of its address keeps it meanwhile.
  const { subscriptions, projects, lists } = on.app.services;
  const owner = projects.require('shop');
  const rejected = await on.call('POST', `/email-lists/${list}/contacts`, { email: `${PERSON} x` });
  expect(rejected.status).toBe(422);
  await subscriptions.request(
    owner,
    lists.require(owner.id, list),
    { email: PERSON, first_name: 'Pat Person', last_name: null, captcha_token: null, tracking: false },
    { ip: null, origin: null, is_test: false, needs_captcha: false },
  );
  await on.call('POST', '/email-suppressions', { email: PERSON });
  const held = await on.mirror('POST', '/email-addresses/held', { address: 'Person@EXAMPLE.com' });
  expect(dataOf(held)).toEqual(await heldOf(on.app.services, owner, PERSON));
  expect(dataOf(held)).toMatchObject({ email: PERSON, contacts: [{ list_name: 'News' }] });
  const told = held.text;
  for (const { body } of sent) expect(told).toContain(String(body.id ?? body.email_id));
  expect(holding()).not.toEqual([]);
  const forgotten = await on.mirror('POST', '/email-addresses/forget', { address: PERSON });
  expect(dataOf(forgotten)).toMatchObject({ contacts: 1, emails: 5 });
  expect(holding()).toEqual([]);
  await on.app.app.engine.whenIdle();
  expect(holding()).toEqual([]);
  const found = await on.call('GET', `/email-suppressions?email=${PERSON}`);
  expect(found.body.meta).toMatchObject({ total: 1 });
  expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({ contacts_count: 0 });
  const [event] = on.app.services.audit.listNewest({}, 1);
  expect(event).toMatchObject({ event: 'contact.forgotten', metadata: { contacts: 1, emails: 5 } });
  const { n } = on.app.services.database.read.all<{ n: number }>(
    sql`SELECT count(*) AS n FROM emails WHERE to_email = 'else@example.com'`,
  )[0] ?? { n: 0 };
  // Of the mails to somebody else with a copy to the person, nothing but that they were is left.
  expect(n).toBe(0);
});

test('an address is found on whatever list of the project by its beginning, and on none of another', async () => {
  const first = await on.list();
  const second = await on.list({ name: 'Second' });
  for (const [list, email] of [
    [first, 'zed@example.com'],
    [second, 'zara@example.com'],
    [first, 'zara@example.com'],
    [first, 'zz@example.com'],
  ] as const)
    await on.contact(list, email);
  const other = await makeProject(on.app, 'elsewhere');
  const found = async (query: string) => {
    const { body } = await on.mirror('GET', `/email-contacts${query}`);
    return (body.data as { email: string; list_name: string }[]).map(({ email, list_name }) => [
      email,
      list_name,
    ]);
  };
  expect(await found('?email=Z')).toEqual([
    ['zara@example.com', 'Second'],
    ['zara@example.com', 'News'],
    ['zed@example.com', 'News'],
    ['zz@example.com', 'News'],
  ]);
  expect(await found('?email=Z&per_page=1&page=3')).toEqual([['zed@example.com', 'News']]);
  expect(await found('?email=zzz')).toEqual([]);
  expect((await on.mirror('GET', '/email-contacts?email=z')).body.meta).toMatchObject({ total: 4 });
  expect(on.app.services.privacy.find(other.id, {}).meta).toMatchObject({ total: 0 });
});
