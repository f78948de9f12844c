/** What the service itself sees of contacts: reserved events, bounces that pause a sequence, and what leaving counts for. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { BOUNCE_WINDOW_SENDS, SCANNER_WINDOW_MS } from '../../../src/limits.ts';
import { contactsOf } from '../../support/addresses.ts';
import { run } from '../../support/command.ts';
import { BROWSER, linksOf } from '../mails/setup.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

let on: SequenceApp;
let list = '';
beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'bye'])
    await on.template(slug, { body_html: '<p><a href="https://shop.example.com/a">Shop</a></p>' });
});
beforeEach(async () => {
  list = await on.list();
});

const show = async (id: string) => dataOf(await on.call('GET', `/email-sequences/${id}`));
const rows = (query: string) =>
  on.app.services.database.read.$client.query<Record<string, unknown>, []>(query).all();
const eventsOf = (email: string): unknown[] =>
  rows(`SELECT e.event FROM contact_events e JOIN contacts c ON c.id = e.contact_id
    WHERE c.email = '${email}' ORDER BY e.event`).map(({ event }) => event);
/** Ids of what an address was sent, oldest first. */
const mailsTo = (email: string): string[] =>
  rows(`SELECT id FROM emails WHERE to_email = '${email}' ORDER BY id`).map(({ id }) => String(id));
const report = (email_id: string, kind: 'bounced' | 'complained') => {
  const { database, deliveries } = on.app.services;
  return database.write((tx) => deliveries.report(tx, email_id, kind, { words: 'told by the test' }));
};

/** Follows the link of the last mail to an address, and lets the click count. */
async function click(email: string, wait_ms = SCANNER_WINDOW_MS + 2): Promise<void> {
  const { deliveries, clicks } = on.app.services;
  const { raw } = await deliveries.readCaptured(mailsTo(email).at(-1) ?? '');
  const link = linksOf((await PostalMime.parse(raw)).html).find((url) => url.includes('/c/')) ?? '';
  const headers = { 'User-Agent': BROWSER };
  expect((await on.app.call('GET', new URL(link).pathname, { headers })).status).toBe(302);
  on.app.clock.advance(wait_ms);
  await clicks.settle();
}

describe('a reserved event', () => {
  test('clicked answers conditions, and ends what it ends', async () => {
    for (const name of ['clicks', 'reads']) await on.contact(list, `${name}@example.com`);
    const asks = await on.active(list, [
      { key: 'a', template: 'hello' },
      {
        ...{ key: 'b', template: 'bye', delay_hours: 1, is_final: true },
        condition: { type: 'event', event: 'clicked', else: 'exit' },
      },
    ]);
    const ends = await on.active(
      list,
      [{ key: 'later', template: 'bye', delay_hours: 500, is_final: true }],
      { exit_events: ['clicked'] },
    );
    for (const id of [asks, ends]) await on.enroll(id);
    await on.pass();
    await click('clicks@example.com');
    expect(await on.enrollment(ends, 'clicks@example.com')).toMatchObject({
      ...{ state: 'exited', exit_reason: 'event' },
    });
    expect(await on.enrollment(ends, 'reads@example.com')).toMatchObject({ state: 'active' });
    await on.pass(1);
    expect(await on.got('clicks@example.com')).toEqual(['hello for there', 'bye for there']);
    expect(await on.enrollment(asks, 'reads@example.com')).toMatchObject({ exit_reason: 'condition' });
    // In a sequence that begins after it, it is one from before; a click there is a new one.
    const again = await on.active(
      list,
      [
        { key: 'a', template: 'hello' },
        { key: 'b', template: 'bye', delay_hours: 9, is_final: true },
      ],
      { exit_events: ['clicked'] },
    );
    on.app.clock.advance(1_000);
    await on.enroll(again);
    await on.pass();
    expect(await on.enrollment(again, 'clicks@example.com')).toMatchObject({ state: 'active' });
    const clicked_at = on.app.clock.now();
    await click('clicks@example.com');
    expect(await on.enrollment(again, 'clicks@example.com')).toMatchObject({ exit_reason: 'event' });
    // So that conditions of that sequence know it too.
    expect(rows(`SELECT event FROM contact_events WHERE occurred_at >= ${clicked_at}`)).toEqual([
      { event: 'clicked' },
    ]);
  });

  test('clicked is waited for while a click may yet turn out to be a scanner’s', async () => {
    await on.contact(list, 'slow@example.com');
    const id = await on.active(list, [
      { key: 'a', template: 'hello' },
      {
        ...{ key: 'b', template: 'bye', delay_hours: 1, is_final: true },
        condition: { type: 'no_event', event: 'clicked', else: 'exit' },
      },
    ]);
    await on.enroll(id);
    await on.pass();
    on.app.clock.advance(3_600_000 - 500);
    await click('slow@example.com', 1_000);
    await on.pass();
    expect(await on.got('slow@example.com')).toHaveLength(1);
    on.app.clock.advance(SCANNER_WINDOW_MS + 2_000);
    await on.app.services.clicks.settle();
    await on.pass();
    expect(await on.enrollment(id, 'slow@example.com')).toMatchObject({ exit_reason: 'condition' });
  });

  test('tells of leaving, bouncing and complaining, whose own reason ends an enrollment', async () => {
    const people = { unsubscribed: 'leaves', bounced: 'bounces', complained: 'complains' };
    const contacts: Record<string, Record<string, unknown>> = {};
    for (const name of Object.values(people)) contacts[name] = await on.contact(list, `${name}@example.com`);
    const steps = [
      { key: 'a', template: 'hello' },
      { key: 'b', template: 'bye', delay_hours: 5, is_final: true },
    ];
    const id = await on.active(list, steps, { exit_events: Object.keys(people) });
    await on.enroll(id);
    await on.pass();
    await on.call('POST', `/email-contacts/${contacts.leaves?.id}/unsubscribe`);
    await report(mailsTo('bounces@example.com')[0] ?? '', 'bounced');
    await report(mailsTo('complains@example.com')[0] ?? '', 'complained');
    for (const [reason, name] of Object.entries(people)) {
      expect(eventsOf(`${name}@example.com`)).toEqual([reason]);
      expect(await on.enrollment(id, `${name}@example.com`)).toMatchObject({
        ...{ state: 'exited', exit_reason: reason },
      });
    }
    await on.pass(5);
    for (const name of Object.values(people)) expect(await on.got(`${name}@example.com`)).toHaveLength(1);
    expect((await show(id)).stats).toMatchObject({ exited: 3, sent: 3, bounced: 1, unsubscribed: 1 });
  });

  test('confirmed is known to the sequence that begins with it, and ends it not', async () => {
    const id = await on.active(
      list,
      [
        {
          ...{ key: 'a', template: 'hello', is_final: true },
          condition: { type: 'event', event: 'confirmed', else: 'exit' },
        },
      ],
      { auto_enroll_new_contacts: true, exit_events: ['confirmed'] },
    );
    const { contacts, database } = on.app.services;
    await on.contact(list, 'confirms@example.com');
    await on.contact(list, 'other@example.com');
    // As the form leaves somebody who has to confirm.
    await database.write((tx) => {
      tx.$client.run("DELETE FROM enrollments WHERE step = 'a'");
      tx.$client.run("UPDATE contacts SET status = 'pending' WHERE email = 'confirms@example.com'");
    });
    await database.write((tx) => {
      const [row] = contactsOf(on.app.services, Number(on.project.id), 'confirms@example.com');
      contacts.confirm(tx, contacts.requireAny(row?.id ?? ''), { by: 'click', is_test: false });
    });
    expect(eventsOf('confirms@example.com')).toEqual(['confirmed']);
    expect(eventsOf('other@example.com')).toEqual([]);
    await on.pass();
    expect(await on.got('confirms@example.com')).toEqual(['hello for there']);
    expect(await on.enrollment(id, 'confirms@example.com')).toMatchObject({ state: 'completed' });
  });
});

test('leaving counts for the mail that was got last, also behind a last step, and for no other', async () => {
  const contact = await on.contact(list, 'late@example.com');
  const once = [{ key: 'only', template: 'hello', is_final: true }];
  const [first, last] = [await on.active(list, once), await on.active(list, once)];
  for (const id of [first, last]) {
    await on.enroll(id);
    await on.pass(1);
  }
  expect(await on.enrollment(last, 'late@example.com')).toMatchObject({ state: 'completed' });
  await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`);
  expect((await show(last)).stats).toMatchObject({ completed: 1, unsubscribed: 1 });
  expect((await show(first)).stats).toMatchObject({ completed: 1, unsubscribed: 0 });
});

describe('past the bounce threshold', () => {
  let round = 0;
  const address = (n: number): string => `n${n}-${round}@example.com`;
  let id = '';
  let sent: string[] = [];

  /** Has a sequence send its first step to so many, and returns the ids of those mails. */
  async function sendTo(count: number): Promise<void> {
    round += 1;
    const text = Array.from({ length: count }, (_, n) => address(n)).join('\n');
    dataOf(await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text }), 201);
    id = await on.active(list, [
      { key: 'a', template: 'hello' },
      { key: 'b', template: 'bye', delay_hours: 24, is_final: true },
    ]);
    await on.enroll(id);
    await on.pass();
    sent = rows(`SELECT m.email_id FROM sequence_mails m JOIN sequences s ON s.id = m.sequence_id
      WHERE s.public_id = '${id}' AND m.sent_at IS NOT NULL ORDER BY m.email_id`).map(({ email_id }) =>
      String(email_id),
    );
    expect(sent).toHaveLength(count);
    await on.call('PATCH', '/email-marketing/settings', { bounce_pause_threshold_percent: 3 });
  }

  test('it pauses by itself, says why everywhere, and starts afresh at resume', async () => {
    await sendTo(BOUNCE_WINDOW_SENDS);
    const finding = async (): Promise<unknown> => {
      const { findings } = JSON.parse((await run(on.app.data_dir, 'doctor', '--json')).stdout);
      return findings.filter(({ check }: { check: string }) => check === 'sequences');
    };
    // A complaint counts as a bounce does, and one mail counts once.
    await report(sent[0] ?? '', 'bounced');
    await report(sent[0] ?? '', 'complained');
    await report(sent[1] ?? '', 'complained');
    await report(sent[2] ?? '', 'bounced');
    expect(await show(id)).toMatchObject({ status: 'active', pause_reason: null });
    expect(await finding()).toMatchObject([{ status: 'ok' }]);
    await report(sent[3] ?? '', 'complained');
    expect(await show(id)).toMatchObject({ status: 'paused', pause_reason: 'bounce_threshold' });
    await on.pass(48);
    expect(
      rows(
        `SELECT count(*) AS n FROM emails WHERE subject = 'bye for there' AND to_email = '${address(50)}'`,
      ),
    ).toEqual([{ n: 0 }]);
    const words =
      'of its last 100 mails 4 bounced or were complained about, and bounce_pause_threshold_percent is 3.';
    expect((await run(on.app.data_dir, 'sequence', 'why', id)).stdout).toContain(`It is paused: ${words}`);
    expect(await finding()).toEqual([
      {
        id: `sequences:${id}`,
        check: 'sequences',
        status: 'warning',
        message: `The sequence Welcome of the project shop has paused: ${words}`,
        remedy: `satchel sequence why ${id}`,
        acts: [{ kind: 'resume_sequence', project: 'shop', of: id }],
        about: null,
      },
    ]);
    dataOf(await on.call('POST', `/email-sequences/${id}/resume`));
    expect(await show(id)).toMatchObject({ status: 'active', pause_reason: null });
    await report(sent[4] ?? '', 'bounced');
    expect(await show(id)).toMatchObject({ status: 'active' });
    await on.pass();
    expect(await on.got(address(50))).toEqual(['hello for there', 'bye for there']);
    expect(await finding()).toMatchObject([{ status: 'ok' }]);
  }, 60_000);

  test('of fewer sends it goes on', async () => {
    await sendTo(BOUNCE_WINDOW_SENDS - 1);
    for (const email_id of sent.slice(0, 50)) await report(email_id, 'bounced');
    expect(await show(id)).toMatchObject({ status: 'active', stats: { bounced: 50, exited: 50 } });
  }, 60_000);
});
