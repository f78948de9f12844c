/** Signing up by form, confirming, and leaving by link: the whole way of a stranger, and what none of them may do. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, actor, addCapturingMailbox } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
/** A key as it stands in a web page. */
let page_key: string;
const ORIGIN = 'https://shop.example.com';
let caller = 0;

beforeAll(async () => {
  on = await startMarketingApp({ env: { SATCHEL_TRUSTED_PROXIES: '127.0.0.1' } });
  await addCapturingMailbox(on.app);
  page_key = await on.project.key({ can_manage_email_marketing: true, restricted: true });
  await allowOrigin();
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      name: 'Confirm',
      slug: 'confirm',
      category: 'opt_in',
      subject: 'Please confirm, {{first_name}}',
      body_text: '{{brand_name}} / {{list_name}}: {{confirm_url}}',
    },
  });
  await on.call('PATCH', '/email-marketing/settings', { brand_name: 'Shop & Co', brand_color: '#ffee00' });
});

/** Restricts the newest key to our page. */
async function allowOrigin(): Promise<void> {
  const { keys, origins, database } = on.app.services;
  const [[id] = []] = database.read.$client.query('SELECT max(id) FROM api_keys').values();
  await origins.add(actor, keys.require(String(id)), { type: 'domain', value: ORIGIN });
}

/** As a browser on our page: each call from another address, unless told. */
function subscribe(
  list: string,
  body: unknown,
  options: { key?: string; origin?: string | null; ip?: string } = {},
): Promise<Answer> {
  const { key = page_key, origin = ORIGIN } = options;
  caller += 1;
  return callListener('POST', `/api/v1/email-lists/${list}/subscribe`, {
    body: JSON.stringify(body),
    headers: {
      'X-API-Key': key,
      ...(origin === null ? {} : { Origin: origin }),
      'X-Forwarded-For': options.ip ?? `198.51.100.${caller % 250}`,
    },
  });
}

/** Over a real connection: only that has an address. */
async function callListener(method: string, path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`${on.app.url}${path}`, { ...init, method });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** Until every sign-up is carried out: on a busy machine a look-up may get no answer in time, and is made again a minute later. */
async function settled(): Promise<void> {
  const { engine } = on.app.app;
  const { jobs } = on.app.services;
  for (;;) {
    await engine.whenIdle();
    const waiting = jobs.list(on.project.id, { type: 'email.subscribe', status: 'pending' }).meta.total;
    if (waiting === 0) return;
    on.app.clock.advance(60_000);
    engine.wake();
  }
}

async function contactOf(list: string, email: string): Promise<Record<string, unknown> | undefined> {
  return rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`))[0];
}

/** The links of the confirmation mails that an address was sent, oldest first. */
async function confirmLinks(email: string): Promise<string[]> {
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const mails = body.data as { id: string }[];
  const captured = await Promise.all(mails.map(({ id }) => on.app.services.deliveries.readCaptured(id)));
  const links = captured.map(({ raw }) => /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, ''))?.[0]);
  return links.flatMap((link) => link ?? []).reverse();
}

const open = (method: string, path: string): Promise<Answer> => on.app.call(method, path);

describe('a double opt-in', () => {
  test('asks by mail, changes nothing on GET, and confirms on POST, as often as it is pressed', async () => {
    const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    const answer = await subscribe(list, { email: 'New@Example.com', first_name: 'Ann' });
    expect(answer.status).toBe(202);
    await settled();
    expect(await contactOf(list, 'new@example.com')).toMatchObject({
      status: 'pending',
      consent_basis: 'consent',
      consent_origin: ORIGIN,
      source_platform: 'form',
      confirmed_at: null,
    });
    const [link = ''] = await confirmLinks('new@example.com');
    const log = await on.app.call('GET', '/api/v1/emails?to=new@example.com', { key: on.key });
    expect(log.body.data).toMatchObject([{ subject: 'Please confirm, Ann', source: 'confirmation' }]);
    const page = await open('GET', link);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Shop &amp; Co');
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect((await contactOf(list, 'new@example.com'))?.status).toBe('pending');
    expect((await open('POST', link)).status).toBe(200);
    const confirmed = await contactOf(list, 'new@example.com');
    expect(confirmed).toMatchObject({
      status: 'active',
      consent_basis: 'double_opt_in',
      consent_origin: ORIGIN,
    });
    expect(confirmed?.confirmed_at).not.toBeNull();
    expect((await open('POST', link)).status).toBe(200);
    expect(await contactOf(list, 'new@example.com')).toEqual(confirmed);
  });

  test("asks from its list's own mailbox, else from those of the marketing settings, else as other mail of the project", async () => {
    const { sending_domains, mailboxes, projects } = on.app.services;
    for (const name of ['one', 'two', 'three']) {
      await sending_domains.add(actor, { name: `${name}.example.org`, is_trusted: true });
      for (const use of ['mail', 'news'])
        await mailboxes.add(actor, {
          ...{ address: `${use}@${name}.example.org`, relay: null },
          ...{ for_marketing: true, for_transactional: use === 'mail' },
        });
    }
    const settings = (accounts: string[]) => on.mirror('PATCH', '/email-marketing/settings', { accounts });
    const send = (sending: { sending_domain: string | null; sending_domains: string[] | null }) =>
      projects.update(actor, projects.require(on.project.slug), sending);
    const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    const change = (fields: object) => on.call('PATCH', `/email-lists/${list}`, fields);
    let n = 0;
    const askedFrom = async (): Promise<unknown> => {
      const email = `whose${++n}@example.com`;
      expect((await subscribe(list, { email })).status).toBe(202);
      await settled();
      const log = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
      return (log.body.data as { from_email: string }[])[0]?.from_email;
    };
    await send({ sending_domain: 'two.example.org', sending_domains: null });
    expect(await askedFrom()).toBe('mail@two.example.org');
    // Of these only one may send such mail.
    await settings(['news@one.example.org', 'mail@three.example.org']);
    expect(await askedFrom()).toBe('mail@three.example.org');
    expect((await change({ from: 'MAIL@one.example.org' })).body.data).toMatchObject({
      from: 'mail@one.example.org',
    });
    expect(await askedFrom()).toBe('mail@one.example.org');
    await change({ from: null });
    // What the project may not send from is not there, in settings neither.
    await send({ sending_domain: null, sending_domains: ['one.example.org', 'two.example.org'] });
    expect(await askedFrom()).toBe('mail@one.example.org');
    for (const from of ['mail@three.example.org', 'news@one.example.org', 'nobody@one.example.org']) {
      const refused = await change({ from });
      expect([from, refused.status, Object.keys(refused.body.errors as object)]).toEqual([
        from,
        422,
        ['from'],
      ]);
    }
    const accounts = await settings(['mail@three.example.org']);
    const nowhere = await settings(['mail@nowhere.example.org']);
    expect([accounts.status, accounts.text]).toEqual([422, nowhere.text]);
    await settings([]);
    await send({ sending_domain: null, sending_domains: null });
    // With mailboxes for marketing that capture, the other tests would look nothing up.
    for (const name of ['one', 'two', 'three']) await sending_domains.remove(actor, `${name}.example.org`);
  });

  test('answers the very same whoever is on the list, and mails nobody who left', async () => {
    const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    await on.contact(list, 'member@example.com');
    const gone = await on.contact(list, 'gone@example.com');
    await on.call('POST', `/email-contacts/${gone.id}/unsubscribe`);
    const bodies = new Set<string>();
    for (const email of [
      'member@example.com',
      'gone@example.com',
      'fresh@example.com',
      'x@nowhere.example',
    ]) {
      const answer = await subscribe(list, { email });
      expect(answer.status).toBe(202);
      bodies.add(answer.text);
    }
    expect(bodies.size).toBe(1);
    await settled();
    expect(await confirmLinks('gone@example.com')).toHaveLength(1);
    expect(await confirmLinks('member@example.com')).toEqual([]);
    expect(await confirmLinks('fresh@example.com')).toHaveLength(1);
    expect((await contactOf(list, 'gone@example.com'))?.status).toBe('unsubscribed');
    expect(await contactOf(list, 'x@nowhere')).toBeUndefined();
  });

  test('sends three confirmation mails an address and day at most', async () => {
    const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    for (let n = 0; n < 5; n += 1) {
      await subscribe(list, { email: 'often@example.com' });
      await settled();
    }
    expect(await confirmLinks('often@example.com')).toHaveLength(3);
    on.app.clock.advance(24 * 3_600_000);
    await subscribe(list, { email: 'often@example.com' });
    await settled();
    expect(await confirmLinks('often@example.com')).toHaveLength(4);
  });

  test('links expire after seven days, and a person who left meanwhile stays away', async () => {
    const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    await subscribe(list, { email: 'late@example.com' });
    await subscribe(list, { email: 'wavering@example.com' });
    await settled();
    const [left = ''] = await confirmLinks('wavering@example.com');
    await on.call('POST', '/email-suppressions', { email: 'wavering@example.com' });
    expect((await open('POST', left)).status).toBe(409);
    expect((await contactOf(list, 'wavering@example.com'))?.status).toBe('pending');
    const [link = ''] = await confirmLinks('late@example.com');
    on.app.clock.advance(7 * 86_400_000);
    expect((await open('POST', link)).status).toBe(404);
    expect((await contactOf(list, 'late@example.com'))?.status).toBe('pending');
    expect((await open('GET', '/confirm/unknown')).status).toBe(404);
  });

  test('needs a usable template: when it is set, and when it is used', async () => {
    const key = await on.project.key({
      can_write: true,
      can_read: true,
      permissions: { email_template: true },
    });
    const make = (slug: string, fields: Record<string, unknown>) =>
      on.app.call('POST', '/api/v1/emails/templates', {
        key,
        body: { name: slug, slug, category: 'opt_in', subject: 's', body_text: '{{confirm_url}}', ...fields },
      });
    await make('no-link', { body_text: 'Hello' });
    await make('strange', { body_text: '{{confirm_url}} {{discount}}' });
    await make('usable', {});
    for (const slug of ['missing', 'no-link', 'strange']) {
      const refused = await on.call('POST', '/email-lists', { name: 'X', confirmation_template: slug });
      expect({ slug, fields: Object.keys(refused.body.errors as object) }).toEqual({
        slug,
        fields: ['confirmation_template'],
      });
    }
    const none = await on.list({ double_opt_in: true });
    expect((await subscribe(none, { email: 'a@example.com' })).status).toBe(409);
    const list = await on.list({ double_opt_in: true, confirmation_template: 'usable' });
    await on.app.call('DELETE', '/api/v1/emails/templates/usable', { key });
    expect((await subscribe(list, { email: 'a@example.com' })).status).toBe(409);
  });
});

describe('a single opt-in', () => {
  test('is active at once, with the form as its evidence', async () => {
    const list = await on.list({ default_consent_basis: null });
    await subscribe(list, { email: 'direct@example.com', last_name: 'Lee' });
    await settled();
    expect(await contactOf(list, 'direct@example.com')).toMatchObject({
      status: 'active',
      last_name: 'Lee',
      consent_basis: 'consent',
      consent_origin: ORIGIN,
    });
    expect(await confirmLinks('direct@example.com')).toEqual([]);
  });

  test('takes somebody back whose bounce was lifted', async () => {
    const list = await on.list();
    const contact = await on.contact(list, 'bounced@example.com');
    const { contacts, database, suppressions } = on.app.services;
    await database.write((tx) => contacts.leave(tx, on.project, 'bounced@example.com', 'hard_bounce'));
    await suppressions.lift(actor, on.project, { address: 'bounced@example.com' });
    await subscribe(list, { email: 'bounced@example.com' });
    await settled();
    expect(await contactOf(list, 'bounced@example.com')).toMatchObject({ id: contact.id, status: 'active' });
  });

  test.each(['unsubscribed', 'complaint'] as const)(
    'of whoever left by choice (%s) and is no longer suppressed changes nothing: anybody can type the address',
    async (kind) => {
      const list = await on.list();
      const email = `${kind}@example.com`;
      await on.contact(list, email);
      const { contacts, database, suppressions } = on.app.services;
      await database.write((tx) => contacts.leave(tx, on.project, email, kind));
      await suppressions.lift(actor, on.project, { address: email });
      await subscribe(list, { email });
      await settled();
      expect((await contactOf(list, email))?.status).toBe(
        kind === 'complaint' ? 'complained' : 'unsubscribed',
      );
      expect(await confirmLinks(email)).toEqual([]);
    },
  );

  test('leaves no address in its job', async () => {
    const list = await on.list();
    await subscribe(list, { email: 'jobless@example.com' });
    await settled();
    const jobs = await on.app.call('GET', '/api/v1/jobs?type=email.subscribe', { key: on.key });
    expect(jobs.body.data as object[]).not.toEqual([]);
    expect(jobs.text).not.toContain('jobless');
    const { database } = on.app.services;
    const rows = database.read.$client.query("SELECT payload FROM jobs WHERE type = 'email.subscribe'").all();
    expect(JSON.stringify(rows)).not.toContain('jobless');
  });
});

describe('a sign-up is refused', () => {
  test('with a key that is not restricted, from another origin, and without an origin', async () => {
    const list = await on.list();
    const unrestricted = await subscribe(list, { email: 'a@example.com' }, { key: on.key });
    expect(unrestricted.status).toBe(403);
    expect(
      (await subscribe(list, { email: 'a@example.com' }, { origin: 'https://evil.example' })).status,
    ).toBe(403);
    const { status, body } = await subscribe(list, { email: 'a@example.com' }, { origin: null });
    expect([status, body.remedy]).toEqual([403, { code: 'key', ref: null, command: 'satchel key why' }]);
    const elsewhere = await on.app.call('GET', '/api/v1/email-lists', {
      key: page_key,
      headers: { Origin: ORIGIN },
    });
    expect(elsewhere.status).toBe(403);
    await settled();
    expect(await contactOf(list, 'a@example.com')).toBeUndefined();
  });

  test('for an unknown list, a bad address, and an archived list', async () => {
    const list = await on.list();
    expect((await subscribe('01ARZ3NDEKTSV4RRFFQ69G5FAV', { email: 'a@example.com' })).status).toBe(404);
    const bad = await subscribe(list, { email: 'nobody' });
    expect({ status: bad.status, fields: Object.keys(bad.body.errors as object) }).toEqual({
      status: 422,
      fields: ['email'],
    });
    await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    expect((await subscribe(list, { email: 'a@example.com' })).body.code).toBe('list_archived');
  });

  test('after five an hour from one address', async () => {
    const list = await on.list();
    const post = async (n: number) =>
      (await subscribe(list, { email: `bot${n}@example.com` }, { ip: '203.0.113.9' })).status;
    expect([await post(1), await post(2), await post(3), await post(4), await post(5)]).toEqual([
      202, 202, 202, 202, 202,
    ]);
    expect(await post(6)).toBe(429);
    on.app.clock.advance(59 * 60_000);
    expect(await post(7)).toBe(429);
    on.app.clock.advance(60_001);
    expect(await post(8)).toBe(202);
  });
});

describe('leaving by link', () => {
  test('GET asks, POST acts for the whole project, and may be repeated; nobody else can make the link', async () => {
    const [list, other] = [await on.list(), await on.list()];
    const contact = await on.contact(list, 'bye@example.com');
    await on.contact(other, 'bye@example.com');
    const { database, subscriptions } = on.app.services;
    const url = await database.write((tx) =>
      subscriptions.unsubscribeLinks(tx, on.project)({ public_id: String(contact.id) }),
    );
    const path = new URL(url).pathname;
    const page = await open('GET', path);
    expect(page.status).toBe(200);
    expect(page.text).toContain('bye@example.com');
    expect((await contactOf(other, 'bye@example.com'))?.status).toBe('active');
    const one_click = await on.app.call('POST', path, {
      body: 'List-Unsubscribe=One-Click',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(one_click.status).toBe(200);
    expect((await contactOf(list, 'bye@example.com'))?.status).toBe('unsubscribed');
    expect((await contactOf(other, 'bye@example.com'))?.status).toBe('unsubscribed');
    expect((await open('POST', path)).status).toBe(200);
    const forged = `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`;
    expect((await open('POST', forged)).status).toBe(404);
    const stranger = await on.contact(list, 'stays@example.com');
    const swapped = path.replace(String(contact.id), String(stranger.id));
    expect((await open('POST', swapped)).status).toBe(404);
    expect((await contactOf(list, 'stays@example.com'))?.status).toBe('active');
    expect(on.app.logs()).not.toContain(path.split('-').at(-1) ?? '');
  });
});

test('a hard bounce of any mail keeps its address off every list', async () => {
  const list = await on.list();
  const contact = await on.contact(list, 'bounce@example.com');
  const { database, deliveries } = on.app.services;
  const key = await on.project.key({ can_send_emails: true });
  const sent = await on.app.call('POST', '/api/v1/emails/send', {
    key,
    body: { to: 'Bounce@example.com', subject: 's', body_text: 't' },
  });
  await settled();
  await database.write((tx) =>
    deliveries.report(tx, String(sent.body.id), 'bounced', {
      address: 'Bounce@example.com',
      smtp_code: 550,
      words: 'no such user',
    }),
  );
  expect(dataOf(await on.call('GET', `/email-contacts/${contact.id}`)).status).toBe('bounced');
  expect(rowsOf(await on.call('GET', '/email-suppressions?email=bounce@example.com'))).toMatchObject([
    { kind: 'hard_bounce' },
  ]);
});
