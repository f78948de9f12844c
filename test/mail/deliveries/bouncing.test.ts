/** What bounces and complaints do to the people on lists, told by an operator: whom they keep from marketing, and whom not. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import { type MarketingApp, rowsOf, startMarketingApp } from '../../marketing/settings/setup.ts';
import { run, runRecord } from '../../support/command.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';

let on: MarketingApp;
let list = '';
let key = '';
let n = 0;
let ann = '';
let bob = '';

beforeAll(async () => {
  on = await startMarketingApp();
  await addCapturingMailbox(on.app);
  list = await on.list();
  key = await on.project.key({ can_send_emails: true, can_read: true });
});

beforeEach(async () => {
  n++;
  ann = `ann${n}@example.com`;
  bob = `bob${n}@example.com`;
  for (const email of [ann, bob]) await on.contact(list, email);
});

/** A mail to Ann with a copy to Bob. */
async function send(): Promise<string> {
  const body = { to: ann, cc: [bob], subject: 's', body_text: 't' };
  const sent = await on.app.call('POST', '/api/v1/emails/send', { key, body });
  await on.app.app.engine.whenIdle();
  return String(sent.body.id);
}

async function statusOf(email: string): Promise<unknown> {
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`));
  return contact?.status;
}

async function log(id: string): Promise<Record<string, unknown>> {
  return (await on.app.call('GET', `/api/v1/emails/${id}`, { key })).body;
}

const bounce = (id: string, ...options: string[]) =>
  runRecord(on.app.data_dir, 'email', 'bounce', id, ...options);

test('a bounce by hand suppresses the address, is told with its teller, and counts once', async () => {
  const id = await send();
  expect(await bounce(id.toLowerCase())).toMatchObject({
    email_id: id,
    kind: 'bounced',
    recipient: ann,
    is_new: true,
    status: 'bounced',
  });
  expect(await statusOf(ann)).toBe('bounced');
  expect(await statusOf(bob)).toBe('active');
  expect(rowsOf(await on.call('GET', `/email-suppressions?email=${ann}`))).toMatchObject([
    { kind: 'hard_bounce' },
  ]);
  expect(await bounce(id)).toMatchObject({ is_new: false });
  const events = on.app.services.database.read.$client
    .query(
      "SELECT actor_kind, target, metadata FROM audit_events WHERE event = 'email.reported' AND target = ?",
    )
    .all(`email:${id}`);
  expect(events).toEqual([
    { actor_kind: 'shell', target: `email:${id}`, metadata: '{"kind":"bounced","is_copy":false}' },
  ]);
  const why = await run(on.app.data_dir, 'email', 'why', id);
  expect(why.stdout).toContain(`for ${ann} it was returned for good: said by `);
});

test('a complaint suppresses as one, a soft bounce nobody', async () => {
  const id = await send();
  expect(await bounce(id, '--soft')).toMatchObject({ kind: 'soft_bounced', status: 'bounced' });
  expect(await statusOf(ann)).toBe('active');
  expect(await bounce(id, '--complaint')).toMatchObject({ kind: 'complained', status: 'complained' });
  expect(await statusOf(ann)).toBe('complained');
});

test('of a copy it changes neither contacts nor the log, and its story tells it', async () => {
  const id = await send();
  expect(await bounce(id, '--recipient', bob.toUpperCase())).toMatchObject({ is_new: true, status: 'sent' });
  expect([await statusOf(ann), await statusOf(bob)]).toEqual(['active', 'active']);
  expect(rowsOf(await on.call('GET', `/email-suppressions?email=${bob}`))).toEqual([]);
  expect((await run(on.app.data_dir, 'email', 'why', id)).stdout).toContain(`for ${bob} it was returned`);
});

test('of a stranger, of no mail and of one that waits it is refused, and changes nothing', async () => {
  const id = await send();
  const refused = async (...args: string[]) => (await run(on.app.data_dir, 'email', 'bounce', ...args)).exit;
  expect(await refused(id, '--recipient', 'eve@example.com')).toBe(1);
  expect(await refused('01J00000000000000000000000')).toBe(1);
  expect(await refused(id, '--soft', '--complaint')).toBe(2);
  const body = { to: ann, subject: 's', body_text: 't', scheduled_at: '2040-01-01T00:00:00Z' };
  const waiting = await on.app.call('POST', '/api/v1/emails/send', { key, body });
  expect(await refused(String(waiting.body.id))).toBe(1);
  expect(await log(id)).toMatchObject({ status: 'sent', bounced_at: null });
  expect(await statusOf(ann)).toBe('active');
});

/** The next UTC day. */
const sleepOver = (): void => void on.app.clock.advance(24 * 3_600_000);

/** As `email bounce ID --soft`, at the time of the test's clock. */
async function soften(id?: string, address?: string): Promise<string> {
  const email_id = id ?? (await send());
  const { database, deliveries } = on.app.services;
  await database.write((tx) =>
    deliveries.report(tx, email_id, 'soft_bounced', { words: 'later', ...(address ? { address } : {}) }),
  );
  return email_id;
}

async function softenOnDays(count: number): Promise<string> {
  let id = '';
  for (let k = 0; k < count; k++) {
    if (k > 0) sleepOver();
    id = await soften();
  }
  return id;
}

test('soft bounces on five days make a hard one, and once that is lifted the next begins afresh', async () => {
  const last = await softenOnDays(5);
  expect(await statusOf(ann)).toBe('bounced');
  expect(await log(last)).toMatchObject({ status: 'bounced', bounce_type: 'permanent' });
  expect((await run(on.app.data_dir, 'email', 'why', last)).stdout).toContain(
    'mails came back on 5 days without a delivery, an open or a click between',
  );
  await run(on.app.data_dir, 'suppression', 'remove', ann, '--project', on.project.slug, '--yes');
  sleepOver();
  await soften();
  expect(await statusOf(ann)).toBe('active');
});

test('however many come on one day, and on a fourth, they make none', async () => {
  for (let k = 0; k < 6; k++) {
    await soften();
    on.app.clock.advance(1_000);
  }
  sleepOver();
  await softenOnDays(3);
  expect(await statusOf(ann)).toBe('active');
});

const SIGNS: [name: string, give: (id: string) => Promise<unknown>][] = [
  [
    'a delivery',
    (id) =>
      on.app.services.database.write((tx) =>
        on.app.services.deliveries.report(tx, id, 'delivered', { words: 'it arrived' }),
      ),
  ],
  ['an open', (id) => markRead(id, 'opened_at')],
  ['a click', (id) => markRead(id, 'clicked_at')],
];

function markRead(id: string, what: 'opened_at' | 'clicked_at'): Promise<unknown> {
  const { clock, services } = on.app;
  return services.database.write((tx) =>
    tx.$client.run(`UPDATE emails SET ${what} = ? WHERE id = ?`, [clock.now(), id]),
  );
}

for (const [name, give] of SIGNS)
  test(`${name} between has them counted afresh`, async () => {
    await softenOnDays(4);
    sleepOver();
    await give(await send());
    on.app.clock.advance(1_000);
    await softenOnDays(4);
    expect(await statusOf(ann)).toBe('active');
    sleepOver();
    await soften();
    expect(await statusOf(ann)).toBe('bounced');
  });

test('a mail told of twice is one, and mails to others count for themselves', async () => {
  const first = await soften();
  for (let k = 0; k < 4; k++) {
    sleepOver();
    await soften(first);
    await soften(await send(), bob);
  }
  expect(await statusOf(ann)).toBe('active');
});
