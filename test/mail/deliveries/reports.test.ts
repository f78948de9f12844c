/** What is told of emails from outside: what it makes of their log, whom it is told on to, and what it leaves alone. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import type { EmailEvent, ReportKind } from '../../../src/mail/deliveries/service.ts';
import { addDomain, rows, type Sender, startSender } from '../emails/setup.ts';

const BOB = 'bob@example.org';

let sender: Sender;
let heard: EmailEvent[] = [];
let id = '';

beforeAll(async () => {
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null);
  sender.app.services.deliveries.listeners.add((_tx, event) => heard.push(event));
});

beforeEach(async () => {
  const { body } = await sender.send({ cc: [BOB] });
  id = String(body.id);
  await sender.settle();
  heard = [];
  sender.app.clock.advance(1_000);
});

function report(kind: ReportKind, evidence: { address?: string; smtp_code?: number } = {}): Promise<boolean> {
  const { database, deliveries } = sender.app.services;
  return database.write((tx) => deliveries.report(tx, id, kind, { words: `it says ${kind}`, ...evidence }));
}

function now(): string {
  return new Date(sender.app.clock.now()).toISOString();
}

test('each kind has its status and its moment, and is told to those who listen', async () => {
  expect(await report('delivered')).toBe(true);
  expect(await sender.log(id)).toMatchObject({ status: 'delivered', delivered_at: now() });
  expect(await report('soft_bounced', { smtp_code: 452 })).toBe(true);
  expect(await sender.log(id)).toMatchObject({
    status: 'bounced',
    bounce_type: 'transient',
    bounced_at: now(),
    smtp_code: 452,
    smtp_response: 'it says soft_bounced',
  });
  expect(await report('bounced', { smtp_code: 550 })).toBe(true);
  expect(await sender.log(id)).toMatchObject({ bounce_type: 'permanent', smtp_code: 550 });
  expect(await report('complained')).toBe(true);
  expect(await sender.log(id)).toMatchObject({ status: 'complained', complained_at: now() });
  expect(heard.map(({ kind, address, email_id }) => [kind, address, email_id])).toEqual(
    (['delivered', 'soft_bounced', 'bounced', 'complained'] as const).map((kind) => [
      kind,
      'ada@example.org',
      id,
    ]),
  );
});

test('what was told before changes nothing and is told to nobody', async () => {
  await report('bounced');
  const log = await sender.log(id);
  heard = [];
  sender.app.clock.advance(1_000);
  expect(await report('bounced')).toBe(false);
  expect(await report('bounced', { address: 'ADA@Example.org', smtp_code: 552 })).toBe(false);
  expect(await sender.log(id)).toEqual(log);
  expect(heard).toEqual([]);
  expect(rows(sender.app, `SELECT kind FROM email_reports WHERE email_id = '${id}'`)).toEqual([
    { kind: 'bounced' },
  ]);
});

test('a report that says less than is known keeps its moment and no more', async () => {
  await report('complained');
  await report('delivered');
  await report('bounced');
  expect(await sender.log(id)).toMatchObject({
    status: 'complained',
    bounce_type: null,
    delivered_at: now(),
    bounced_at: now(),
  });
});

test('of a copy it is told on and kept, and the log goes on speaking of the mail itself', async () => {
  const log = await sender.log(id);
  expect(await report('bounced', { address: 'BOB@example.org' })).toBe(true);
  expect(await sender.log(id)).toEqual(log);
  expect(heard).toMatchObject([{ kind: 'bounced', address: BOB }]);
  const { story } = sender.app.services.deliveries.explain(id);
  expect(story.join('\n')).toContain(
    `Reported ${now()}: for ${BOB} it was returned for good: it says bounced`,
  );
});

test('of a stranger, or of a mail that never left, nothing is taken', async () => {
  expect(await report('bounced', { address: 'mallory@example.org' })).toBe(false);
  const waiting = await sender.send({ scheduled_at: '2030-06-01T00:00:00Z' });
  id = String(waiting.body.id);
  expect(await report('delivered')).toBe(false);
  expect(await sender.log(id)).toMatchObject({ status: 'scheduled', delivered_at: null });
  expect(rows(sender.app, `SELECT kind FROM email_reports WHERE email_id = '${id}'`)).toEqual([]);
  id = '01J00000000000000000000000';
  expect(await report('bounced').catch((error: unknown) => error)).toMatchObject({ kind: 'not_found' });
});

test('one whose transaction does not hold is not kept', async () => {
  const { database, deliveries } = sender.app.services;
  const written = database.write((tx) => {
    deliveries.report(tx, id, 'bounced', { words: 'no' });
    throw new Error('later');
  });
  expect(await written.catch((error: unknown) => error)).toMatchObject({ message: 'later' });
  expect(await sender.log(id)).toMatchObject({ status: 'sent' });
  expect(await report('bounced')).toBe(true);
});
