/** Relay events of a mailbox: setting them, their URL, what is refused there, and what is told of that. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../../../src/mail/relay-events/service.ts';
import { satchel } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { dataOf, invalidFieldsOf } from '../../support/management.ts';
import { fill, KEYS, samplesOf } from '../../support/relay-events.ts';
import { type EventsApp, NEWS, startEventsApp } from './setup.ts';

let on: EventsApp;
let token = '';
beforeAll(async () => {
  on = await startEventsApp();
  const made = await on.app.services.tokens.create(actor, {
    ...{ name: 'admin', all_projects: true, projects: [] },
    capabilities: ['can_administer'],
  });
  token = made.token;
});

const at = `/api/public/v1/mailboxes/${NEWS}`;
const patch = (events: unknown, path = at) => on.app.call('PATCH', path, { token, body: { events } });
const record = async () => dataOf(await on.app.call('GET', at, { token })).events;
const URL_OF = /^http:\/\/satchel\.test\/relay-events\/[\w-]{32}$/;

test('a mailbox shows its URL and how it goes; the key stays until another comes, and goes with the provider', async () => {
  expect(dataOf(await patch({ provider: 'mailgun', key: KEYS.mailgun })).events).toEqual({
    ...{ provider: 'mailgun', url: expect.stringMatching(URL_OF), has_key: true, configuration_set: null },
    ...{ last_event_at: null, refused_at: null, problem: null },
  });
  const before = await record();
  expect(dataOf(await patch({ provider: 'mailgun' })).events).toEqual(before);
  expect(dataOf(await patch({ provider: 'mailgun', key: null })).events).toMatchObject({ has_key: false });
  await patch({ provider: 'mailgun', key: KEYS.mailgun });
  expect(dataOf(await patch({ provider: 'brevo' })).events).toEqual({
    ...(before as object),
    ...{ provider: 'brevo', has_key: false },
  });
  expect(dataOf(await patch({ provider: 'ses', configuration_set: 'news' })).events).toMatchObject({
    configuration_set: 'news',
  });
  expect(dataOf(await patch({ provider: 'ses' })).events).toMatchObject({ configuration_set: 'news' });
  expect(dataOf(await patch({ provider: 'postmark' })).events).toMatchObject({ configuration_set: null });
  expect(dataOf(await patch(null)).events).toBeNull();
  expect(dataOf(await patch({ provider: 'brevo' })).events).not.toMatchObject({
    url: (before as { url: string }).url,
  });
});

test.each([
  [{ provider: 'mandrill' }, 'events.provider'],
  [{ provider: 'brevo', configuration_set: 'news' }, 'events.configuration_set'],
  [{ provider: 'ses', configuration_set: 'a b' }, 'events.configuration_set'],
  [{ provider: 'resend' }, 'events.key'],
  [{ provider: 'resend', key: null }, 'events.key'],
  [{ provider: 'resend', key: 'whsec_short' }, 'events.key'],
  [{ provider: 'sendgrid', key: 'not a key' }, 'events.key'],
  [{ provider: 'mailgun', key: 'two words' }, 'events.key'],
  [{ provider: 'postmark', key: 'secret' }, 'events.key'],
  [{ provider: 'ses', key: 'secret' }, 'events.key'],
])('%j is refused, and changes nothing', async (events, field) => {
  await patch({ provider: 'brevo' });
  const before = await record();
  const answer = await patch(events);
  expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [field]]);
  expect(await record()).toEqual(before);
});

test('a mailbox that captures hears of nothing', async () => {
  const { mailboxes } = on.app.services;
  await mailboxes.add(actor, { address: 'kept@news.example.com', relay: null });
  const answer = await patch({ provider: 'brevo' }, '/api/public/v1/mailboxes/kept@news.example.com');
  expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, ['events']]);
});

test('another URL is made on demand; that of before is unknown at once, and none is in a log or on the trail', async () => {
  const path = await on.hear('brevo');
  const rotated = dataOf(await on.app.call('POST', `${at}/events/rotate`, { token })).events;
  const { url } = rotated as { url: string };
  expect(url).toMatch(URL_OF);
  expect((await on.post(path, 'brevo', { event: 'delivered' })).status).toBe(404);
  const now = new URL(url).pathname;
  expect((await on.post(now, 'brevo', { event: 'delivered' })).status).toBe(200);
  for (const each of [path, now]) {
    const secret = each.slice('/relay-events/'.length);
    expect(on.app.logs()).not.toContain(secret);
    expect(JSON.stringify(on.rows('SELECT * FROM audit_events'))).not.toContain(secret);
    expect(JSON.stringify(on.rows('SELECT * FROM relay_events'))).not.toContain(secret);
  }
  await patch(null);
  expect((await on.app.call('POST', `${at}/events/rotate`, { token })).status).toBe(409);
});

describe('what is refused', () => {
  const hard = async (provider: 'sendgrid' | 'mailgun' | 'resend') =>
    fill(samplesOf(provider)[0]?.event, await on.mail());

  test('an unknown address, before the body is read, and other methods, in its own form', async () => {
    const body = 'x'.repeat(2 * 1024 * 1024);
    const unknown = await on.app.call('POST', '/relay-events/0123456789abcdef0123456789abcdef', { body });
    expect([unknown.status, Object.keys(unknown.body)]).toEqual([404, ['message']]);
    const path = await on.hear('brevo');
    for (const [method, where] of [
      ['GET', path],
      ['PUT', path],
    ] as const)
      expect((await on.app.call(method, where)).status).toBe(405);
    expect((await on.app.call('GET', `${path}/more`)).body).toEqual({ message: expect.any(String) });
  });

  test('more than 1 MiB, more than 1,000 events, and what is no JSON of the provider', async () => {
    const path = await on.hear('brevo');
    const many = (count: number) => Array.from({ length: count }, () => ({ event: 'opened' }));
    expect((await on.post(path, 'brevo', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
    expect((await on.post(path, 'brevo', many(1_001))).status).toBe(422);
    expect((await on.post(path, 'brevo', many(1_000))).status).toBe(200);
    for (const body of [
      '',
      'no',
      '"text"',
      '{"hello":1}',
      '[1]',
      '[[{"event":"sent"}]]',
      '{"event":',
      'null',
    ])
      expect([body, (await on.post(path, 'brevo', body)).status]).toEqual([body, 422]);
    for (const body of [{ event: 'opened' }, { event: 'constructor' }, { event: 7 }, { event: null }, []])
      expect([body, (await on.post(path, 'brevo', body)).status]).toEqual([body, 200]);
  });

  test.each(['sendgrid', 'mailgun', 'resend'] as const)(
    'what the key of %s did not sign, which doctor tells after ten in a row',
    async (provider) => {
      const path = await on.hear(provider);
      const event = await hard(provider);
      const text = JSON.stringify(event);
      const send = (body: string, headers = {}) => on.app.call('POST', path, { body, headers });
      const unsigned =
        provider === 'mailgun' ? text.replace(/"signature":"[^"]+"/, '"signature":"00"') : text;
      const statuses = new Set<number>();
      for (let each = 0; each < 10; each += 1) statuses.add((await send(unsigned)).status);
      expect([...statuses]).toEqual([401]);
      expect(await record()).toMatchObject({
        ...{ last_event_at: null, refused_at: expect.any(String) },
        problem: `Its signature is missing, or not made with the key that is set for ${PROVIDERS[provider].label}.`,
      });
      expect((await on.post(path, provider, event)).status).toBe(200);
      expect(await record()).toMatchObject({ last_event_at: expect.any(String), problem: null });
      if (provider === 'mailgun') return;
      // Signed, and changed on its way.
      const { signed } = await import('../../support/relay-events.ts');
      const changed = text.replace('"event":"bounce"', '"event":"delivered"').replace('bounced', 'delivered');
      expect((await send(changed, signed(provider, text))).status).toBe(401);
    },
  );
});

describe('satchel mailbox events', () => {
  const verb = (...args: string[]) =>
    satchel(['mailbox', 'events', NEWS, ...args], { env: { ...env(), KEY: KEYS.mailgun } });
  const env = () => ({
    SATCHEL_DATA_DIR: on.app.data_dir,
    SATCHEL_PUBLIC_URL: 'http://satchel.test',
    SATCHEL_DNS_SERVERS: on.dns.address,
  });

  test('prints the URL, where it goes and what to tick, and changes nothing where it only looks', async () => {
    await patch(null);
    const none = await verb();
    expect([none.exit, none.stderr]).toEqual([2, expect.stringContaining('--provider')]);
    const set = await verb('--provider', 'mailgun', '--key', 'env:KEY');
    const [url = '', ...lines] = set.stdout.trim().split('\n');
    expect([set.exit, lines]).toEqual([
      0,
      [
        'Where it goes: Mailgun, Sending, Webhooks of the domain: add this URL to each of the events.',
        'Tick there: Delivered, Permanent Failure, Spam Complaints, Unsubscribes.',
      ],
    ]);
    expect(url).toMatch(URL_OF);
    expect(await record()).toMatchObject({ provider: 'mailgun', has_key: true, url });
    expect((await verb()).stdout).toBe(set.stdout);
    const rotated = await verb('--rotate');
    expect(rotated.stdout.split('\n').slice(1)).toEqual(set.stdout.split('\n').slice(1));
    expect(rotated.stdout).not.toContain(url);
    expect((await verb('--rotate', '--off')).exit).toBe(2);
    const plain = await verb('--key', 'in the process list');
    expect([plain.exit, plain.stderr]).toEqual([2, expect.stringContaining('process list')]);
    expect((await verb('--off')).stdout).toContain('hears of no events');
    expect(await record()).toBeNull();
  });

  test('knows the provider by the host of the relay', async () => {
    const { mailboxes } = on.app.services;
    const { parseRelay } = await import('../../../src/mail/mailboxes/relay.ts');
    const relay = parseRelay('smtp://me:secret@email-smtp.eu-west-1.amazonaws.com?tls=required');
    await mailboxes.add(actor, { address: 'ses@news.example.com', relay });
    const told = await satchel(['mailbox', 'events', 'ses@news.example.com', '--json'], { env: env() });
    expect(JSON.parse(told.stdout)).toMatchObject({
      ...{ address: 'ses@news.example.com', events: { provider: 'ses', has_key: false } },
    });
  });
});
