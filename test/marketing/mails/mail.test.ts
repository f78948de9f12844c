/** What marketing mail says: merge fields, layout, headers, and that it is shown again as it was. */
import { beforeAll, expect, test } from 'bun:test';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { dataOf } from '../settings/setup.ts';
import { linksOf, type MailApp, startMailApp } from './setup.ts';

let mail: MailApp;

beforeAll(async () => {
  mail = await startMailApp();
  await mail.template({
    subject: 'Hello {{first_name}}',
    body_html:
      '<h1>Hi {{first_name}} {{last_name}}</h1><p>{{custom.plan}}, {{offer}}</p><p><a href="https://shop.example.com/p?a=1&amp;b=2">Look</a></p>',
    body_text:
      'Hi {{first_name}} {{last_name}}: {{custom.plan}}, {{offer}}\nhttps://shop.example.com/p?a=1&b=2.',
    layout: 'marketing',
    variables: [{ name: 'last_name', required: false }],
  });
  await mail.contact(mail.list_id, 'ann@example.com', { first_name: 'Ann', custom: { plan: 'Gold & more' } });
  await mail.contact(mail.list_id, 'bob@example.com', { custom: { plan: 'Free' } });
});

const offer = { offer: '<b>20%</b>' };

test('values are merged in, escaped in HTML and plain in text and subject', async () => {
  const { mail: got } = await mail.send('ann@example.com', mail.step({}, offer));
  expect(got.subject).toBe('Hello Ann');
  expect(got.from).toMatchObject({ name: 'The Shop', address: 'news@news.example.com' });
  expect(got.html).toContain(
    '<h1 dir="auto">Hi Ann </h1><p dir="auto">Gold &amp; more, &lt;b&gt;20%&lt;/b&gt;</p>',
  );
  expect(got.text).toContain('Hi Ann : Gold & more, <b>20%</b>');
  expect(`${got.html}${got.text}`).not.toMatch(/\{\{|[\uE000-\uF8FF]/);
});

test('a template is previewed in its layout, as it is written', async () => {
  const key = await mail.project.key({ can_read: true });
  const preview = async (changes: Record<string, unknown>) => {
    const body = {
      variables: { first_name: 'Ann' },
      changes: { body_html: '<p>{{first_name}} & I</p>', ...changes },
    };
    return (await mail.app.call('POST', '/api/v1/emails/templates/news/preview', { key, body })).body;
  };
  const { html, text } = await mail
    .send('ann@example.com', mail.step({}, offer))
    .then(({ mail: got }) => got);
  const shown = await preview({});
  for (const told of ['The Shop', '1 High Street']) {
    expect([html, text, shown.body_html, shown.body_text].map((body) => String(body).includes(told))).toEqual(
      [...[true, true, true, true]],
    );
  }
  expect(shown.body_html).toContain('<p dir="auto">Ann & I</p>');
  expect(shown.body_html).toContain('>Unsubscribe</a>');
  expect((await preview({ layout: null })).body_html).toBe('<p>Ann & I</p>');
});

test('first_name falls back to the step, then to a word', async () => {
  const named = await mail.plan('bob@example.com', mail.step({}, { ...offer, default_first_name: 'friend' }));
  expect(named).toMatchObject({ ok: true, email: { subject: 'Hello friend' } });
  expect(await mail.plan('bob@example.com', mail.step({}, offer))).toMatchObject({
    ok: true,
    email: { subject: 'Hello there' },
  });
});

test('a merge field without a value is named, and nothing is planned', async () => {
  await mail.contact(mail.list_id, 'cid@example.com');
  expect(await mail.plan('cid@example.com')).toEqual({
    ok: false,
    is_template: false,
    reason: 'No value for {{custom.plan}}, {{offer}}.',
  });
  const step = mail.step({}, { ...offer, 'custom.plan': 'x', constructor: 'y' });
  expect(await mail.plan('cid@example.com', step)).toMatchObject({
    ok: false,
    reason: 'No value for {{custom.plan}}.',
  });
});

test('the headers let people leave with one click, and no Precedence is there', async () => {
  const { raw, mail: got } = await mail.send('ann@example.com', mail.step({}, offer));
  const headers = Object.fromEntries(got.headers.map(({ key, value }) => [key, value]));
  expect(headers['list-unsubscribe']).toMatch(/^<http:\/\/satchel\.test\/unsubscribe\/[\w-]+>$/);
  expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
  expect(headers['list-id']).toBe(`<${mail.list_id.toLowerCase()}.satchel.test>`);
  expect(headers['feedback-id']).toMatch(/^welcome-1:[0-9a-z]{26}:sequence:[0-9a-z]{12}$/);
  expect(raw).not.toMatch(/^Precedence/im);
  const [footer] = linksOf(got.html).filter((url) => url.includes('/unsubscribe/'));
  expect(headers['list-unsubscribe']).toBe(`<${footer}>`);
  expect(got.text).toContain(`Unsubscribe: ${footer}`);
});

test('one POST to the address in the header takes a contact out (RFC 8058)', async () => {
  await mail.contact(mail.list_id, 'eve@example.com', { custom: { plan: 'x' } });
  const { mail: got } = await mail.send('eve@example.com', mail.step({}, offer));
  const header = got.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const answer = await mail.app.call('POST', new URL(header.slice(1, -1)).pathname, {
    body: 'List-Unsubscribe=One-Click',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  expect(answer.status).toBe(200);
  expect(mail.rows("SELECT status FROM contacts WHERE email = 'eve@example.com'")).toEqual([
    { status: 'unsubscribed' },
  ]);
});

test('a mail is shown again as it was, whatever changed or went since', async () => {
  await mail.contact(mail.list_id, 'old@example.com', { first_name: 'Old', custom: { plan: 'P' } });
  const { emails, database, contacts, templates } = mail.app.services;
  const { id } = await mail.send('old@example.com', mail.step({}, offer));
  const shown = () => {
    const row =
      database.read.$client.query<never, [string]>('SELECT * FROM emails WHERE id = ?').get(id) ?? {};
    const email = Object.assign({}, row, { headers: JSON.parse(String(Reflect.get(row, 'headers'))) });
    return emails.contentOf(database.read, email as never);
  };
  const before = shown();
  await mail.settings({ brand_name: 'Other', postal_address: 'Elsewhere', brand_color: '#ff0000' });
  await mail.template({ body_html: '<p>New {{first_name}}</p>' });
  const of = { project_id: Number(mail.project.id), email: 'old@example.com' };
  await database.write((tx) => {
    for (const contact of contacts.rowsOfAddress(tx, of)) contacts.forget(tx, contact);
  });
  await templates.remove(Number(mail.project.id), 'news', noNote);
  expect(shown()).toEqual(before);
  expect(before.body_html).toContain('Hi Old');
});

test('a mail leaves its values rather than its body, and its source is stored once', async () => {
  const other = await startMailApp();
  await other.template({
    subject: 'Hi {{first_name}}',
    body_html: `<p>Hi {{first_name}}</p>${'<p>Long</p>'.repeat(5_000)}<a href="https://shop.example.com/x">x</a>`,
    body_text: 'Hi {{first_name}}',
    layout: 'marketing',
  });
  for (const name of ['a', 'b', 'c']) {
    await other.contact(other.list_id, `${name}@example.com`, { first_name: 'Annabel' });
    await other.send(`${name}@example.com`);
  }
  // With the one that is sent to those who are not tracked.
  expect(other.rows('SELECT count(*) AS n FROM merge_sources')).toEqual([{ n: 2 }]);
  expect(other.rows('SELECT count(*) AS n FROM email_bodies')).toEqual([{ n: 0 }]);
  const [row = {}] = other.rows('SELECT * FROM emails LIMIT 1');
  const [job = {}] = other.rows("SELECT * FROM jobs WHERE type = 'email.send' LIMIT 1");
  const size = (of: object) => Object.values(of).join('').length;
  expect(size(row) + size(job)).toBeLessThan(1_400);
  expect(String(row.merge).length).toBeLessThan(120);
});

test('a mail goes out from none but the mailboxes that the settings name', async () => {
  const other = await startMailApp();
  await other.template({ body_text: 'Hi', layout: 'marketing' });
  await other.contact(other.list_id, 'a@example.com');
  const gone = { ...other.step().settings, accounts: ['gone@news.example.com'] };
  expect(await other.plan('a@example.com', other.step({ settings: gone }))).toMatchObject({
    ok: true,
    email: { allowed_mailboxes: ['gone@news.example.com'] },
  });
});

test('a test goes to whomever, with samples, and its links lead nowhere that counts', async () => {
  const other = await startMailApp();
  await other.template({
    subject: 'Hi {{first_name}}',
    body_html: '<p>{{last_name}} {{custom.plan}}</p><a href="https://shop.example.com/x">x</a>',
    body_text: 'Hi {{last_name}}',
    layout: 'marketing',
  });
  const { id, mail: got } = await other.sendTest('me@example.net');
  expect(got.subject).toBe('[Test] Hi there');
  expect(got.html).toContain('<p dir="auto">Sample Sample plan</p>');
  const [link = '', unsubscribe = ''] = linksOf(got.html);
  expect((await other.follow(link)).headers.get('location')).toBe('https://shop.example.com/x');
  for (const method of ['GET', 'POST']) {
    const answer = await other.follow(unsubscribe, { method });
    expect([answer.status, answer.text.includes('This was a test')]).toEqual([200, true]);
  }
  await other.app.services.clicks.settle();
  other.app.clock.advance(60_000);
  await other.app.services.clicks.settle();
  expect(other.rows('SELECT id FROM email_clicks')).toEqual([]);
  expect(other.rows(`SELECT source, clicked_at FROM emails WHERE id = '${id}'`)).toEqual([
    { source: 'test', clicked_at: null },
  ]);
  expect(other.rows('SELECT id FROM suppressions')).toEqual([]);
  expect(dataOf(await other.call('GET', `/email-lists/${other.list_id}`))).toMatchObject({
    contacts_count: 0,
  });
});

test('a subject is one line, and refused past 500 characters', async () => {
  const other = await startMailApp();
  await other.template({ subject: '{{first_name}}', body_text: 'x', layout: 'marketing' });
  await other.contact(other.list_id, 'a@example.com', { first_name: 'A' });
  const contact = { ...other.contactOf('a@example.com'), first_name: 'A\r\nBcc: x@y.example' };
  const { database, marketing_mail } = other.app.services;
  const plan = (first_name: string) =>
    database.write((tx) => marketing_mail.plan(tx, other.step(), { ...contact, first_name }));
  expect(await plan(contact.first_name)).toMatchObject({
    ok: true,
    email: { subject: 'A Bcc: x@y.example' },
  });
  expect(await plan('x'.repeat(501))).toMatchObject({ ok: false, reason: expect.stringContaining('500') });
});

test('a body that its values made too long fails that mail alone, by its bytes as they are sent', async () => {
  const other = await startMailApp({ env: { SATCHEL_MAX_EMAIL_BODY_BYTES: '50000' } });
  await other.template({
    subject: 'Hi',
    body_html: '<p>{{first_name}}</p>',
    body_text: '{{first_name}}',
    layout: 'marketing',
  });
  await other.contact(other.list_id, 'a@example.com');
  const { database, emails, marketing_mail } = other.app.services;
  const contact = other.contactOf('a@example.com');
  const ids = await database.write((tx) =>
    ['Ann', 'x'.repeat(20_000), 'é'.repeat(24_000), '"'.repeat(20_000)].map((first_name) => {
      const planned = marketing_mail.plan(tx, other.step(), { ...contact, first_name });
      if (!planned.ok) throw new Error(planned.reason);
      return emails.accept(tx, planned.email).id;
    }),
  );
  await other.app.app.engine.whenIdle();
  const logged = other.rows('SELECT id, status, error FROM emails');
  expect(ids.map((id) => logged.find((row) => row.id === id)?.status)).toEqual([
    'sent',
    'sent',
    'failed',
    'failed',
  ]);
  expect(logged.find((row) => row.id === ids[3])?.error).toContain(
    'body_html: has more than 50000 bytes once its values are merged in',
  );
});
