/** People who are on two lists, come back, or are forgotten in the middle, and what the numbers say then. */
import { beforeAll, expect, test } from 'bun:test';
import { actor } from '../../support/helpers.ts';
import { dataOf, rowsOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

let on: SequenceApp;
beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'bye']) await on.template(slug);
});

const steps = [
  { key: 'a', template: 'hello' },
  { key: 'b', template: 'bye', delay_hours: 24, is_final: true },
];
const statsOf = async (id: string) => dataOf(await on.call('GET', `/email-sequences/${id}`)).stats;

/** The address by which a reader of the last mail to somebody leaves. */
function unsubscribePathOf(email: string): string {
  const { $client } = on.app.services.database.read;
  const row = $client
    .query<{ headers: string }, [string]>('SELECT headers FROM emails WHERE to_email = ? ORDER BY id DESC')
    .get(email);
  const [, url = ''] = /<([^>]+)>/.exec(JSON.parse(row?.headers ?? '{}')['List-Unsubscribe']) ?? [];
  return new URL(url).pathname;
}

test('whoever is on two lists leaves both by one link, and counts in both', async () => {
  const lists = [await on.list(), await on.list()];
  const ids: string[] = [];
  for (const list of lists) {
    await on.contact(list, 'both@example.com');
    ids.push(await on.active(list, steps));
  }
  for (const id of ids) await on.enroll(id);
  await on.pass();
  expect(await on.got('both@example.com')).toHaveLength(2);
  // A scanner that opens the link takes nobody out.
  const path = unsubscribePathOf('both@example.com');
  for (const method of ['GET', 'HEAD']) expect((await on.app.call(method, path)).status).toBe(200);
  for (const id of ids) expect(await statsOf(id)).toMatchObject({ active: 1, unsubscribed: 0 });
  expect((await on.app.call('POST', path)).status).toBe(200);
  for (const id of ids) {
    expect(await on.enrollment(id, 'both@example.com')).toMatchObject({ exit_reason: 'unsubscribed' });
    expect(await statsOf(id)).toMatchObject({ active: 0, exited: 1, unsubscribed: 1, sent: 1 });
  }
  await on.pass(48);
  expect(await on.got('both@example.com')).toHaveLength(2);
});

test('whoever comes back after leaving goes on with no sequence, and begins none again', async () => {
  await on.template('confirm', {
    ...{ category: 'opt_in', is_marketing: false, layout: null },
    body_text: '{{confirm_url}}',
    body_html: null,
  });
  const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
  const gone = await on.contact(list, 'back@example.com');
  const id = await on.active(list, steps, { auto_enroll_new_contacts: true });
  await on.enroll(id);
  await on.pass();
  await on.call('POST', `/email-contacts/${gone.id}/unsubscribe`);
  const { contacts, lists, projects, suppressions, subscriptions } = on.app.services;
  await suppressions.lift(actor, on.project, { address: 'back@example.com' });
  const owner = projects.require(on.project.public_id);
  const from = { ip: null, origin: 'https://shop.example.com', is_test: false, needs_captcha: false };
  const form = {
    email: 'back@example.com',
    first_name: null,
    last_name: null,
    captcha_token: null,
    tracking: false,
  };
  await subscriptions.request(owner, lists.require(owner.id, list), form, from);
  await on.pass();
  const { body } = await on.app.call('GET', '/api/v1/emails?to=back@example.com', { key: on.key });
  const [asked] = body.data as { id: string }[];
  const { raw } = await on.app.services.deliveries.readCaptured(asked?.id ?? '');
  const [link = ''] = /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, '')) ?? [];
  expect((await on.app.call('POST', link)).status).toBe(200);
  expect(contacts.require(owner.id, String(gone.id)).status).toBe('active');
  expect(await on.enroll(id)).toMatchObject({ enrolled: 0, already: 1 });
  await on.pass(100);
  // One of the sequence, and the one that asked.
  expect(await on.got('back@example.com')).toHaveLength(2);
  expect(await statsOf(id)).toMatchObject({ enrolled: 1, exited: 1, unsubscribed: 1, sent: 1 });
});

test('whoever is forgotten in the middle gets nothing more, and what was sent still counts', async () => {
  const list = await on.list();
  for (const name of ['forgotten', 'stays']) await on.contact(list, `${name}@example.com`);
  const id = await on.active(list, steps);
  await on.enroll(id);
  await on.pass();
  const { privacy, projects } = on.app.services;
  await privacy.forget(actor, projects.require(on.project.public_id), 'forgotten@example.com');
  await on.pass(48);
  expect(await on.got('stays@example.com')).toHaveLength(2);
  expect(await statsOf(id)).toMatchObject({ enrolled: 1, active: 0, completed: 1, sent: 3, bounced: 0 });
  const left = rowsOf(await on.call('GET', `/email-sequences/${id}/enrollments`));
  expect(left.map(({ email }) => email)).toEqual(['stays@example.com']);
});
