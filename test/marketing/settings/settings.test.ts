/** Marketing settings: defaults, the rules of each field, who may see mailboxes, and what the DNS says of them. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { type Answer, actor } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, startMarketingApp } from './setup.ts';

const PATH = '/email-marketing/settings';
const DEFAULTS = {
  enabled: false,
  from_name: null,
  reply_to: null,
  postal_address: null,
  brand_name: null,
  brand_color: null,
  brand_logo_url: null,
  brand_website_url: null,
  daily_cap: null,
  send_window_start: null,
  send_window_end: null,
  timezone: 'UTC',
  bounce_pause_threshold_percent: 5,
  tracking: 'all',
  view_link: true,
};

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
  const { sending_domains, mailboxes } = on.app.services;
  await sending_domains.add(actor, { name: 'mail.example.com', is_default: true, is_trusted: true });
  for (const [address, for_marketing] of [
    ['news@mail.example.com', true],
    ['shop@mail.example.com', false],
  ] as const)
    await mailboxes.add(actor, {
      ...{ address, relay: null, daily_limit: null, return_path: null },
      ...{ for_transactional: !for_marketing, for_marketing },
    });
});

const errorsOf = (answer: Answer): string[] => Object.keys((answer.body.errors ?? {}) as object).sort();
const stored = () => JSON.stringify(on.app.services.database.read.all(sql`SELECT * FROM marketing_settings`));

test('a project that set none has defaults, on both planes; only the management plane has accounts and what is missing', async () => {
  expect((await on.call('GET', PATH)).body).toEqual({ success: true, data: DEFAULTS });
  const lacks = ['marketing_disabled', 'no_from_name', 'no_postal_address'].map((code) => ({
    code,
    message: expect.stringMatching(/^(Marketing is not enabled|The marketing settings have no)/),
  }));
  expect((await on.mirror('GET', PATH)).body).toEqual({ data: { ...DEFAULTS, accounts: [], lacks } });
});

test('what is missing is what any check would say without asking the DNS, and is no part of the ETag', async () => {
  const one = await startMarketingApp({ env: { SATCHEL_PUBLIC_URL: 'http://localhost:7000' } });
  const { sending_domains, mailboxes } = one.app.services;
  const seen = async () => {
    const answer = await one.mirror('GET', PATH);
    const { lacks } = dataOf(answer) as { lacks: { code: string; message: string }[] };
    return { codes: lacks.map(({ code }) => code), etag: answer.headers.get('etag'), lacks };
  };
  const set = dataOf(
    await one.mirror('PATCH', PATH, { enabled: true, from_name: 'Shop', postal_address: '1 High Street' }),
  );
  expect(set.lacks).toEqual([
    { code: 'no_mailbox', message: expect.stringContaining('satchel mailbox add') },
  ]);
  const without = await seen();
  expect(without.codes).toEqual(['no_mailbox']);
  await sending_domains.add(actor, { name: 'news.example.com', is_default: true });
  const use = { daily_limit: null, return_path: null, for_transactional: false, for_marketing: true };
  await mailboxes.add(actor, { address: 'a@news.example.com', relay: null, ...use });
  // It captures, and its domain is not verified.
  const unverified = await seen();
  expect(unverified.lacks).toEqual([
    { code: 'no_mailbox', message: expect.stringContaining('is of a domain that is not verified') },
  ]);
  await sending_domains.change(actor, 'news.example.com', { is_trusted: true });
  expect((await seen()).codes).toEqual([]);
  const relay = parseRelay('smtp://relay.example.net');
  await mailboxes.add(actor, { address: 'b@news.example.com', relay, ...use });
  // It mails the world, whose records nobody looks up here.
  const relaying = await seen();
  expect(relaying.codes).toEqual(['public_url']);
  expect(new Set([without, unverified, relaying].map(({ etag }) => etag)).size).toBe(1);
  const list = await one.list();
  const draft = await one.mirror('POST', '/email-broadcasts', { name: 'June', list });
  const check = dataOf(await one.mirror('GET', `/email-broadcasts/${dataOf(draft, 201).id}/check`));
  expect(check.problems).toEqual(expect.arrayContaining(relaying.lacks));
});

test('every field is taken, kept through other changes, and cleared by null where it is optional', async () => {
  const fields = {
    enabled: true,
    from_name: 'Shop',
    reply_to: 'Help@example.com',
    postal_address: '1 High Street\nSpringfield',
    brand_name: 'Shop & Söhne',
    brand_color: '#1A73e8',
    brand_logo_url: 'https://cdn.example.com/logo.png?v=2',
    brand_website_url: 'http://shop.example.com/',
    daily_cap: 500,
    send_window_start: '22:00',
    send_window_end: '06:30',
    timezone: 'Europe/Berlin',
    bounce_pause_threshold_percent: 2.5,
    tracking: 'consented',
    view_link: false,
  };
  expect(dataOf(await on.call('PATCH', PATH, fields))).toEqual(fields);
  expect(dataOf(await on.call('PATCH', PATH, { daily_cap: 1 }))).toEqual({ ...fields, daily_cap: 1 });
  const optional = Object.keys(DEFAULTS).filter(
    (name) =>
      !['enabled', 'timezone', 'bounce_pause_threshold_percent', 'tracking', 'view_link'].includes(name),
  );
  const cleared = await on.call('PATCH', PATH, Object.fromEntries(optional.map((name) => [name, null])));
  expect(dataOf(cleared)).toEqual({
    ...DEFAULTS,
    enabled: true,
    timezone: 'Europe/Berlin',
    bounce_pause_threshold_percent: 2.5,
    tracking: 'consented',
    view_link: false,
  });
});

describe('is refused by name, and nothing changes:', () => {
  const refused = async (body: Record<string, unknown>): Promise<string[]> => {
    const before = stored();
    const answer = await on.call('PATCH', PATH, body);
    expect(answer.status).toBe(422);
    expect(stored()).toBe(before);
    return errorsOf(answer);
  };

  for (const [what, body] of [
    ['a time that is none', { send_window_start: '24:00', send_window_end: '06:00' }],
    ['a time without its zero', { send_window_start: '6:00', send_window_end: '06:00' }],
    ['half a window', { send_window_start: '06:00' }],
    ['a zone that is none', { timezone: 'Mars/Olympus' }],
    ['null where there is always a value', { timezone: null }],
    ['a colour by name', { brand_color: 'red' }],
    ['a colour that is style', { brand_color: 'red;}*{' }],
    ['a logo over http', { brand_logo_url: 'http://cdn.example.com/logo.png' }],
    ['a script for a website', { brand_website_url: 'javascript:alert(1)' }],
    ['a cap of nothing', { daily_cap: 0 }],
    ['tracking of somebody', { tracking: 'some' }],
    ['a share past all', { bounce_pause_threshold_percent: 101 }],
    ['a reply_to that is none', { reply_to: 'nobody' }],
    ['a name with a line break', { from_name: 'Shop\r\nBcc: all@example.com' }],
  ] as const)
    test(what, async () => {
      const [field] = Object.keys(body);
      const named = what === 'half a window' ? 'send_window_end' : field;
      expect(await refused(body)).toEqual([String(named)]);
    });

  test('a window without a length', async () => {
    expect(await refused({ send_window_start: '09:00', send_window_end: '09:00' })).toEqual([
      'send_window_end',
    ]);
  });

  test('all of it at once, rules past the schema included', async () => {
    expect(
      await refused({
        enabled: null,
        from_name: 7,
        timezone: 'Mars/Olympus',
        brand_color: 'red',
        brand_logo_url: 'http://cdn.example.com/logo.png',
        daily_cap: 1.5,
        send_window_start: '9',
        bounce_pause_threshold_percent: null,
      }),
    ).toEqual([
      'bounce_pause_threshold_percent',
      'brand_color',
      'brand_logo_url',
      'daily_cap',
      'enabled',
      'from_name',
      'send_window_end',
      'send_window_start',
      'timezone',
    ]);
  });
});

describe('accounts', () => {
  test('are set by the management plane alone, and must be active marketing mailboxes', async () => {
    const set = await on.mirror('PATCH', PATH, { accounts: ['news@mail.example.com'] });
    expect(dataOf(set).accounts).toEqual(['news@mail.example.com']);
    await on.call('PATCH', PATH, { accounts: [] });
    expect(dataOf(await on.mirror('GET', PATH)).accounts).toEqual(['news@mail.example.com']);
    const before = stored();
    const refused = await on.mirror('PATCH', PATH, {
      accounts: ['news@mail.example.com', 'shop@mail.example.com', 'x@mail.example.com'],
      brand_color: 'red',
    });
    expect([refused.status, refused.body.error]).toEqual([
      422,
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        details: {
          errors: {
            brand_color: expect.any(Array),
            'accounts.1': expect.any(Array),
            'accounts.2': expect.any(Array),
          },
        },
      }),
    ]);
    expect((await on.mirror('PATCH', PATH, { accounts: null })).status).toBe(422);
    expect(stored()).toBe(before);
  });
});

test('dns=1 tells what receivers find of each marketing mailbox', async () => {
  const find = async () =>
    dataOf(await on.mirror('GET', `${PATH}?dns=1`)).mailboxes as Record<string, unknown>[];
  expect(await find()).toEqual([
    {
      address: 'news@mail.example.com',
      spf: { ok: false, record: null, problem: expect.any(String) },
      dkim: { ok: false, record: null, problem: expect.any(String) },
      dmarc: { ok: false, record: null, problem: expect.any(String) },
    },
  ]);
  on.dns.set('mail.example.com', { txt: ['v=spf1 a -all'] });
  on.dns.set('_dmarc.mail.example.com', { txt: ['v=DMARC1; p=none'] });
  expect(await find()).toMatchObject([
    {
      spf: { record: 'v=spf1 a -all' },
      dmarc: { ok: true, record: 'v=DMARC1; p=none', problem: null },
      dkim: { ok: false },
    },
  ]);
  expect(dataOf(await on.call('GET', `${PATH}?dns=1`)).mailboxes).toHaveLength(1);
  expect(dataOf(await on.call('GET', PATH))).not.toHaveProperty('mailboxes');
});

test('of two changes at the same time neither undoes the other', async () => {
  await Promise.all([
    on.call('PATCH', PATH, { from_name: 'One' }),
    on.call('PATCH', PATH, { postal_address: 'Two' }),
    on.mirror('PATCH', PATH, { daily_cap: 3 }),
  ]);
  expect(dataOf(await on.call('GET', PATH))).toMatchObject({
    from_name: 'One',
    postal_address: 'Two',
    daily_cap: 3,
  });
});
