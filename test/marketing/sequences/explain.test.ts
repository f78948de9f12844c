/** What `contact why` and `sequence why` tell: what was sent, what waits for what, and what never comes and why. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { run, runRecord, runWith } from '../../support/command.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

let on: SequenceApp;
let list = '';
beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'bye']) await on.template(slug);
});
beforeEach(async () => {
  list = await on.list();
});

const ROUTED = [
  { key: 'a', template: 'hello' },
  { key: 'b', template: 'hello', delay_hours: 1, condition: { type: 'event', event: 'asked' } },
  {
    ...{ key: 'c', template: 'hello', delay_hours: 2, is_final: true },
    condition: { type: 'event', event: 'paid', else: { route_to: 'late' } },
  },
  { key: 'd', track: 'late', template: 'bye', delay_hours: 24 },
  { key: 'e', track: 'late', template: 'bye', delay_hours: 24, is_final: true },
];
const TWO = [
  { key: 'a', template: 'hello' },
  { key: 'b', template: 'bye', delay_hours: 5, is_final: true },
];

/** As `satchel contact why` tells it, at the server's time; ids and times aside. */
async function why(email: string): Promise<string[]> {
  const owner = { id: Number(on.project.id), public_id: on.project.public_id };
  const lines = await on.app.services.privacy.explain(owner, email);
  return lines
    .slice(2)
    .map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/[0-9A-Z]{26}/g, 'ID'));
}
const settings = (fields: Record<string, unknown>) => on.call('PATCH', '/email-marketing/settings', fields);
const SENT = (step: string): string => `  Step ${step}: sent TIME. More: satchel email why ID`;
const IN = (track = 'main'): string => `In the sequence Welcome since TIME, in the track ${track}.`;

async function enrolled(email: string, steps: unknown[] = TWO, fields: Record<string, unknown> = {}) {
  const contact = await on.contact(list, email);
  const id = await on.active(list, steps, fields);
  await on.enroll(id);
  await on.pass();
  return { id, contact };
}

describe('contact why', () => {
  test('tells what was sent, what was passed over, and what comes', async () => {
    await enrolled('routed@example.com', ROUTED);
    expect(await why('routed@example.com')).toEqual([
      IN(),
      SENT('a'),
      'The step b comes TIME at the earliest, if: the event asked happened since the enrollment; otherwise the step is skipped.',
    ]);
    await on.pass(1);
    await on.pass(1);
    expect(await why('routed@example.com')).toEqual([
      IN('late'),
      SENT('a'),
      '  Step b: not sent, as it left the track main.',
      '  Step c: not sent, as it left the track main.',
      'The step d comes TIME at the earliest.',
    ]);
    await on.pass(24);
    await on.pass(24);
    expect(await why('routed@example.com')).toEqual([
      IN('late'),
      ...[SENT('a'), SENT('d'), SENT('e')],
      '  Step b: not sent, as it left the track main.',
      '  Step c: not sent, as it left the track main.',
      'It is complete since TIME: nothing more comes.',
    ]);
  });

  test('tells of a step that was skipped which condition did not hold', async () => {
    const steps = [
      { key: 'a', template: 'hello', condition: { type: 'event', event: 'asked' } },
      { key: 'b', template: 'bye', is_final: true },
    ];
    await enrolled('skips@example.com', steps);
    expect(await why('skips@example.com')).toEqual([
      IN(),
      SENT('b'),
      '  Step a: not sent, as this did not hold: the event asked happened since the enrollment; otherwise the step is skipped.',
      'It is complete since TIME: nothing more comes.',
    ]);
  });

  const ENDS: [
    reason: string,
    words: string,
    end: (email: string, of: { id: string; contact: Record<string, unknown> }) => unknown,
  ][] = [
    [
      'unsubscribed',
      'the contact unsubscribed',
      (_, { contact }) => on.call('POST', `/email-contacts/${contact.id}/unsubscribe`),
    ],
    ['suppressed', 'the address is suppressed', (email) => on.call('POST', '/email-suppressions', { email })],
    [
      'event',
      'an event happened that ends it (paid)',
      (email) => on.call('POST', '/email-contacts/events', { email, list, event: 'paid' }),
    ],
    [
      'finished',
      'the sequence was finished',
      (_, { id }) => on.call('POST', `/email-sequences/${id}/finish`),
    ],
  ];
  for (const [reason, words, end] of ENDS)
    test(`says of one that ended (${reason}) why, and what it never gets`, async () => {
      const email = `${reason}@example.com`;
      await end(email, await enrolled(email, TWO, { exit_events: ['paid'] }));
      expect((await why(email)).slice(-1)).toEqual([`It ended TIME, as ${words}. Never sent: b.`]);
    });

  test('says of one that failed why', async () => {
    await on.template('asks', { subject: 'Your {{custom.sku}}' });
    await enrolled('failed@example.com', [{ key: 'a', template: 'asks', is_final: true }]);
    expect((await why('failed@example.com')).slice(-1)).toEqual([
      expect.stringMatching(/^It failed TIME: .*custom\.sku.* Never sent: a\.$/),
    ]);
  });

  test('names what a step that is due waits for', async () => {
    const { id } = await enrolled('waits@example.com');
    const waits = async (): Promise<string | undefined> => {
      await on.pass();
      return (await why('waits@example.com')).at(-1);
    };
    await on.call('POST', `/email-sequences/${id}/pause`);
    expect(await waits()).toBe('The sequence is paused: the step b, due TIME, waits until it is resumed.');
    await settings({ enabled: false });
    await on.call('POST', `/email-sequences/${id}/resume`);
    await on.pass(5);
    expect(await waits()).toBe(
      'The step b is due since TIME and waits for marketing to be enabled in the settings.',
    );
    const hour = (ahead: number): string =>
      new Date(on.app.clock.now() + ahead * 3_600_000).toISOString().slice(11, 16);
    await settings({ enabled: true, send_window_start: hour(2), send_window_end: hour(3) });
    expect(await waits()).toBe('The step b is due since TIME and waits for its window, which opens TIME.');
    expect((await on.app.services.sequences.explain(Number(on.project.id), id))[1]).toStartWith(
      'Its window opens ',
    );
    await settings({ send_window_start: null, send_window_end: null, daily_cap: 1 });
    await on.app.services.database.write((tx) => tx.$client.run('UPDATE marketing_usage SET n = 1'));
    await on.app.services.database.write((tx) =>
      tx.$client.run('INSERT INTO marketing_usage VALUES (?, ?, 1) ON CONFLICT DO NOTHING', [
        Number(on.project.id),
        new Date(on.app.clock.now()).toISOString().slice(0, 10),
      ]),
    );
    expect(await waits()).toBe(
      'The step b is due since TIME and waits for tomorrow (TIME), as the daily cap of 1 is used up.',
    );
    await settings({ daily_cap: null });
    await on.app.services.mailboxes.setStatus(
      { kind: 'shell', id: '0', name: 'test', ip: null },
      'hello@news.example.com',
      'paused',
    );
    on.app.clock.advance(60_000);
    expect(await waits()).toBe(
      'The step b is due since TIME and waits for its turn, or for a mailbox with capacity (satchel mailbox list).',
    );
    await on.app.services.mailboxes.setStatus(
      { kind: 'shell', id: '0', name: 'test', ip: null },
      'hello@news.example.com',
      'active',
    );
    await on.pass(1);
    expect(await on.got('waits@example.com')).toHaveLength(2);
  });

  test('names the sequences of its list that it is not in', async () => {
    const { id } = await enrolled('in@example.com');
    await on.contact(list, 'out@example.com');
    const words =
      'out@example.com was never enrolled in the sequence Welcome, and gets nothing of it; it is active on the list.';
    expect(await why('out@example.com')).toEqual([words]);
    const ran = await run(on.app.data_dir, 'sequence', 'why', id, '--contact', 'Out@example.com');
    expect([ran.exit, ran.stdout]).toEqual([0, `${words}\n`]);
    const held = await runRecord(on.app.data_dir, 'contact', 'export', 'in@example.com', '--project', 'shop');
    expect(held.enrollments).toMatchObject([{ sequence: 'Welcome', email: 'in@example.com', step: 'b' }]);
    const by_command = await run(on.app.data_dir, 'contact', 'why', 'in@example.com', '--project', 'shop');
    expect(by_command.stdout).toContain(`satchel email why ${dataIdOf('in@example.com')}`);
  });
});

function dataIdOf(email: string): string {
  const [row] = on.app.services.database.read.$client
    .query<{ id: string }, [string]>('SELECT id FROM emails WHERE to_email = ?')
    .all(email);
  return row?.id ?? '';
}

test('sequence why tells how it stands, and every problem', async () => {
  const id = await on.draft(list, [{ key: 'a', template: 'nowhere' }]);
  const env = { SATCHEL_DATA_DIR: on.app.data_dir, SATCHEL_DNS_SERVERS: on.dns.address };
  const told = async (): Promise<string> => (await runWith(env, 'sequence', 'why', id)).stdout;
  expect(await told()).toBe(
    'It is a draft: nothing is sent before it is activated.\nNobody waits in it.\n' +
      'a: The template nowhere does not exist in this project.\n' +
      'a: The track main has no final step: its last one must be is_final.\n',
  );
  dataOf(await on.call('PATCH', `/email-sequences/${id}`, { steps: TWO }));
  dataOf(await on.call('POST', `/email-sequences/${id}/activate`));
  expect(await told()).toBe('It is active.\nNobody waits in it.\n');
  dataOf(await on.call('POST', `/email-sequences/${id}/pause`));
  expect(await told()).toContain(`It is paused by hand. To go on: satchel sequence resume ${id}\n`);
  dataOf(await on.call('POST', `/email-sequences/${id}/finish`));
  expect(await told()).toStartWith('It is finished for good.\n');
});

test('the management plane tells the same, to whoever has the project', async () => {
  const id = await on.draft(list, [{ key: 'a', template: 'nowhere' }]);
  const { why } = dataOf(await on.mirror('GET', `/email-sequences/${id}/why`));
  expect(why).toEqual([
    ...['It is a draft: nothing is sent before it is activated.', 'Nobody waits in it.'],
    'a: The template nowhere does not exist in this project.',
    'a: The track main has no final step: its last one must be is_final.',
  ]);
  expect((await on.mirror('GET', `/email-sequences/${list}/why`)).status).toBe(404);
  expect((await on.call('GET', `/email-sequences/${id}/why`)).status).toBe(404);
});

test('numbers that move are no other version of a sequence, and a change is', async () => {
  const id = await on.active(list, TWO);
  const path = `/email-sequences/${id}`;
  const etag = async () => (await on.mirror('GET', path)).headers.get('etag') ?? '';
  const before = await etag();
  await on.contact(list, 'moving@example.com');
  await on.enroll(id);
  await on.pass();
  expect(dataOf(await on.mirror('GET', path)).stats).toMatchObject({ enrolled: 1, sent: 1 });
  expect([before.length > 0, await etag()]).toEqual([true, before]);
  on.app.clock.advance(1_000);
  dataOf(await on.mirror('PATCH', path, { name: 'Changed' }));
  expect(await etag()).not.toBe(before);
});
