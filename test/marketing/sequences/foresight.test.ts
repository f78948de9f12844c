/** What a preview says, held against what then really happens under a moved clock. */
import { expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { TestClock } from '../../support/temp.ts';
import { BROWSER, linksOf } from '../mails/setup.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const HOUR_MS = 3_600_000;

interface Seen {
  timeline: { key: string; at: string; result: string; subject: string | null }[];
  end: { at: string; reason: string; error: string | null };
}

interface Case {
  settings?: Record<string, unknown>;
  exit_events?: string[];
  /** Of all others, as soon as they are enrolled. */
  event_of_others?: string;
  steps: Record<string, unknown>[];
  /** Of the contact; what the others do not do. */
  answers?: { events?: { event: string; after_hours: number }[]; clicks?: string[] };
  hours: number;
}

const BERLIN = { send_window_start: '09:00', send_window_end: '17:00', timezone: 'Europe/Berlin' };
const clicked = { type: 'clicked', else: { route_to: 'late' } };

const CASES: Record<string, Case> = {
  'delays, and a window through daylight saving': {
    settings: BERLIN,
    steps: [
      { key: 'a', template: 'a' },
      { key: 'b', template: 'b', delay_hours: 20 },
      { key: 'c', template: 'c', delay_hours: 24, is_final: true },
    ],
    hours: 96,
  },
  'a window over midnight in the night when the clocks go forward': {
    settings: { ...BERLIN, send_window_start: '23:00', send_window_end: '03:30' },
    steps: [
      { key: 'a', template: 'a', delay_hours: 30 },
      { key: 'b', template: 'b', delay_hours: 4, is_final: true },
    ],
    hours: 72,
  },
  'a skip, a route by a click that did not come, and the delay behind it': {
    settings: BERLIN,
    steps: [
      { key: 'a', template: 'a' },
      { key: 'b', template: 'b', delay_hours: 1, condition: { type: 'event', event: 'paid' } },
      { key: 'c', template: 'c', delay_hours: 9, condition: clicked, is_final: true },
      { key: 'd', template: 'd', track: 'late', delay_hours: 14, is_final: true },
    ],
    hours: 96,
  },
  'a route while others wait for the window': {
    settings: BERLIN,
    event_of_others: 'paid',
    steps: [
      { key: 'a', template: 'a' },
      {
        ...{ key: 'b', template: 'b', delay_hours: 9, is_final: true },
        condition: { type: 'event', event: 'paid', else: { route_to: 'late' } },
      },
      { key: 'd', template: 'd', track: 'late', delay_hours: 14, is_final: true },
    ],
    hours: 96,
  },
  'a step that comes sooner than the one before it, which is skipped': {
    steps: [
      { key: 'a', template: 'a' },
      { key: 'b', template: 'b', delay_hours: 10, condition: { type: 'event', event: 'paid' } },
      { key: 'c', template: 'c', delay_hours: 4 },
      { key: 'd', template: 'd', delay_hours: 4, is_final: true },
    ],
    hours: 24,
  },
  'a click, and an event while a mail waits for its window': {
    settings: BERLIN,
    steps: [
      { key: 'a', template: 'a' },
      { key: 'b', template: 'b', delay_hours: 10, condition: clicked },
      { key: 'c', template: 'c', condition: { type: 'no_event', event: 'paid', else: 'exit' } },
      { key: 'e', template: 'e', delay_hours: 2, is_final: true },
      { key: 'd', template: 'd', track: 'late', is_final: true },
    ],
    answers: { clicks: ['a'], events: [{ event: 'paid', after_hours: 60 }] },
    hours: 120,
  },
  'an event that flips a condition between due and window': {
    settings: BERLIN,
    steps: [
      { key: 'a', template: 'a' },
      {
        ...{ key: 'b', template: 'b', delay_hours: 10, is_final: true },
        condition: { type: 'no_event', event: 'paid', else: { route_to: 'late' } },
      },
      { key: 'd', template: 'd', track: 'late', delay_hours: 14, is_final: true },
    ],
    // The window opens 15 hours after the start, `b` is due ten hours later, and waits for the next morning.
    answers: { events: [{ event: 'paid', after_hours: 30 }] },
    hours: 120,
  },
  'an event that ends it': {
    exit_events: ['paid'],
    steps: [
      { key: 'a', template: 'a' },
      { key: 'b', template: 'b', delay_hours: 10, is_final: true },
    ],
    answers: { events: [{ event: 'paid', after_hours: 5 }] },
    hours: 24,
  },
  'a merge field without a value': {
    steps: [
      { key: 'a', template: 'a' },
      { key: 'p', template: 'plan', delay_hours: 3 },
      { key: 'b', template: 'b', delay_hours: 3, is_final: true },
    ],
    hours: 24,
  },
};

const ENDS: Record<string, unknown> = {
  completed: { state: 'completed', exit_reason: null },
  condition: { state: 'exited', exit_reason: 'condition' },
  event: { state: 'exited', exit_reason: 'event' },
  failed: { state: 'failed', exit_reason: null },
};

/** Follows the link of the last mail to an address as a person. */
async function click(on: SequenceApp, email: string): Promise<void> {
  const { database, deliveries, clicks } = on.app.services;
  const last = database.read.$client
    .query<{ id: string }, [string]>('SELECT max(id) AS id FROM emails WHERE to_email = ?')
    .get(email);
  const { raw } = await deliveries.readCaptured(last?.id ?? '');
  const link = linksOf((await PostalMime.parse(raw)).html).find((url) => url.includes('/c/')) ?? '';
  await on.app.call('GET', new URL(link).pathname, { headers: { 'User-Agent': BROWSER } });
  on.app.clock.advance(10_500);
  await clicks.settle();
}

test.each(Object.entries(CASES))(
  'a preview is what happens: %s',
  async (_name, of) => {
    // Six in the evening in Berlin, two nights before the clocks go forward there.
    const on = await startSequenceApp({ clock: new TestClock('2030-03-29T17:00:00Z') });
    for (const slug of ['a', 'b', 'c', 'd', 'e'])
      await on.template(slug, { subject: slug, body_html: '<a href="https://shop.example.com/">Shop</a>' });
    await on.template('plan', { body_html: '<p>{{custom.plan}}</p>' });
    if (of.settings) await on.call('PATCH', '/email-marketing/settings', of.settings);
    const list = await on.list();
    const { events = [], clicks = [] } = of.answers ?? {};
    // The others were first, so that what they wait for is before their mails.
    for (const name of ['one', 'two'])
      await on.contact(list, `${name}@example.com`, { custom: { plan: 'x' } });
    const { id: contact } = await on.contact(list, 'ann@example.com');
    const id = await on.active(list, of.steps, { exit_events: of.exit_events ?? [] });
    const asked = { contact, events, clicks };
    const seen = dataOf(await on.call('POST', `/email-sequences/${id}/preview`, asked)) as unknown as Seen;

    const began = on.app.clock.now();
    await on.enroll(id);
    if (of.event_of_others)
      for (const name of ['one', 'two'])
        await on.call('POST', '/email-contacts/events', {
          ...{ email: `${name}@example.com`, list, event: of.event_of_others },
        });
    for (let at = began; at <= began + of.hours * HOUR_MS; at += HOUR_MS) {
      on.app.clock.advance(at - on.app.clock.now());
      for (const { event, after_hours } of events)
        if (began + after_hours * HOUR_MS === at)
          await on.call('POST', '/email-contacts/events', { email: 'ann@example.com', list, event });
      const before = (await on.got('ann@example.com')).length;
      await on.pass();
      const got = await on.got('ann@example.com');
      if (got.length > before && clicks.includes(got.at(-1) ?? '')) await click(on, 'ann@example.com');
    }
    const sent = on.app.services.database.read.$client
      .query<{ subject: string; created_at: number }, []>(
        "SELECT subject, created_at FROM emails WHERE to_email = 'ann@example.com' ORDER BY id",
      )
      .all()
      .map(({ subject, created_at }) => `${subject} ${new Date(created_at).toISOString()}`);
    const told = seen.timeline.filter(({ result }) => result === 'send');
    expect(sent).toEqual(told.map(({ subject, at }) => `${subject} ${at}`));
    const ended = await on.enrollment(id, 'ann@example.com');
    expect(ended).toMatchObject({ ...(ENDS[seen.end.reason] as object), error: seen.end.error });
    expect(ended?.ended_at).toBe(seen.end.at);
  },
  60_000,
);

test('a preview knows that the daily cap of today is used up', async () => {
  const on = await startSequenceApp();
  await on.template('a');
  await on.call('PATCH', '/email-marketing/settings', {
    ...{ daily_cap: 1, send_window_start: '09:00', send_window_end: '17:00' },
  });
  const only = [{ key: 'a', template: 'a', is_final: true }];
  const [first, second] = [await on.list(), await on.list()];
  await on.contact(first, 'first@example.com');
  await on.contact(second, 'second@example.com');
  const id = await on.active(second, only);
  const look = async () =>
    (dataOf(await on.call('POST', `/email-sequences/${id}/preview`, {})) as unknown as Seen).timeline[0]?.at;
  expect(await look()).toBe('2030-01-15T12:00:00.000Z');
  await on.enroll(await on.active(first, only));
  await on.pass();
  expect(await look()).toBe('2030-01-16T09:00:00.000Z');
  await on.enroll(id);
  await on.pass(20);
  expect(await on.got('second@example.com')).toEqual([]);
  await on.pass(1);
  expect(await on.got('second@example.com')).toEqual(['a for there']);
});
