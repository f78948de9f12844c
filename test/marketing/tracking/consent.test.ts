/** Who says whether an address may be tracked, whose word wins, and the evidence of it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { actor, addCapturingMailbox, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let caller = 0;

beforeAll(async () => {
  on = await startMarketingApp({ env: { SATCHEL_TRUSTED_PROXIES: '127.0.0.1' } });
  await addCapturingMailbox(on.app);
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      name: 'Confirm',
      slug: 'confirm',
      category: 'opt_in',
      subject: 's',
      body_text: '{{confirm_url}}',
    },
  });
});

const owner = () => on.app.services.projects.require(on.project.slug);
const contactIn = async (list: string, email: string) =>
  rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`))[0];
const trackingIn = async (list: string, email: string) => (await contactIn(list, email))?.tracking;
const rows = () =>
  on.app.services.database.read.$client
    .query<Record<string, unknown>, []>(
      'SELECT email, tracking, told_by FROM tracking_choices ORDER BY email',
    )
    .all();
/** As the person's own page says it. */
const ownWord = (email: string, tracking: 'allowed' | 'refused') =>
  on.app.services.database.write((tx) =>
    on.app.services.tracking.set(
      tx,
      { project_id: owner().id, email },
      { tracking, at: on.app.clock.now(), by: 'page' },
    ),
  );
const optIn = () => on.list({ double_opt_in: true, confirmation_template: 'confirm', sign_up_page: true });

/** By the form of a page, from an address of its own. */
async function join(list: string, fields: Record<string, string>): Promise<void> {
  caller += 1;
  const { sign_up_url } = dataOf(await on.call('GET', `/email-lists/${list}`));
  const answer = await fetch(`${on.app.url}${new URL(String(sign_up_url)).pathname}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { Origin: 'https://shop.example.com', 'X-Forwarded-For': `203.0.113.${caller}` },
  });
  expect(answer.status).toBe(200);
  await on.app.app.engine.whenIdle();
}
/** Follows the newest link that an address was sent to confirm. */
async function confirm(email: string): Promise<void> {
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const [{ id = '' } = {}] = body.data as { id: string }[];
  const captured = await on.app.services.deliveries.readCaptured(id);
  const raw = captured.raw.replace(/=\r?\n/g, '');
  expect((await on.app.call('POST', /\/confirm\/[\w-]+/.exec(raw)?.[0] ?? '')).status).toBe(200);
}

describe('by API', () => {
  test('it is the address that it is said of: on all lists, of later contacts too; null takes it back', async () => {
    const [news, other] = [await on.list(), await on.list()];
    const ann = await on.contact(news, 'ann@example.com', { tracking: 'refused' });
    expect(ann).toMatchObject({
      tracking: 'refused',
      tracking_evidence: {
        at: new Date(on.app.clock.now()).toISOString(),
        by: 'api',
        ip: null,
        origin: null,
      },
    });
    expect((await on.contact(other, 'Ann@Example.com')).tracking).toBe('refused');
    const path = `/email-contacts/${ann.id}`;
    expect(dataOf(await on.call('PATCH', path, { tracking: 'allowed' })).tracking).toBe('allowed');
    expect(await trackingIn(other, 'ann@example.com')).toBe('allowed');
    expect(dataOf(await on.call('PATCH', path, { tracking: null }))).toMatchObject({
      tracking: null,
      tracking_evidence: null,
    });
    expect(rows().filter(({ email }) => email === 'ann@example.com')).toEqual([]);
    const wrong = await on.call('PATCH', path, { tracking: 'yes' });
    expect([wrong.status, wrong.body.errors]).toMatchObject([422, { tracking: expect.any(Array) }]);
  });

  test('it is of one project: another that has the address knows nothing of it', async () => {
    const list = await on.list();
    await on.contact(list, 'two@example.com', { tracking: 'refused' });
    const { tracking, database } = on.app.services;
    expect(tracking.isTracked(database.read, { project_id: owner().id, email: 'two@example.com' })).toBe(
      false,
    );
    expect(tracking.isTracked(database.read, { project_id: owner().id + 1, email: 'two@example.com' })).toBe(
      true,
    );
  });

  test("a person's own word gives way to no app: 409, and nothing of the change is made", async () => {
    const [news, other] = [await on.list(), await on.list()];
    const own = await on.contact(news, 'own@example.com');
    await ownWord('own@example.com', 'refused');
    for (const tracking of ['allowed', null]) {
      const answer = await on.call('PATCH', `/email-contacts/${own.id}`, { tracking, first_name: 'No' });
      expect([answer.status, answer.body.code]).toEqual([409, 'tracking_chosen']);
    }
    expect(await contactIn(news, 'own@example.com')).toMatchObject({
      tracking: 'refused',
      tracking_evidence: { by: 'page' },
      first_name: null,
    });
    // The same again is no change.
    const same = dataOf(await on.call('PATCH', `/email-contacts/${own.id}`, { tracking: 'refused' }));
    expect(same).toMatchObject({ tracking: 'refused', tracking_evidence: { by: 'page' } });
    const added = await on.call('POST', `/email-lists/${other}/contacts`, {
      email: 'own@example.com',
      tracking: 'allowed',
    });
    expect([added.status, added.body.code]).toEqual([409, 'tracking_chosen']);
    expect(await contactIn(other, 'own@example.com')).toBeUndefined();
  });

  test('the trail tells that it changed, and not to what', async () => {
    const list = await on.list();
    const { id } = await on.contact(list, 'trail@example.com');
    dataOf(await on.mirror('PATCH', `/email-contacts/${id}`, { tracking: 'refused' }));
    const [event] = on.app.services.database.read.$client
      .query<{ changes: string }, [string]>(
        "SELECT changes FROM audit_events WHERE target = ? AND event = 'contact.changed'",
      )
      .all(`contact:${id}`);
    expect(JSON.parse(event?.changes ?? '{}')).toEqual({ tracking: { personal: true } });
  });
});

test('a mapped column says it, but over nobody: such rows go in without', async () => {
  const list = await on.list();
  await ownWord('said@example.com', 'refused');
  const csv =
    'email,tracking\nyes@example.com,Allowed\nno@example.com,refused\nsaid@example.com,allowed\nodd@example.com,perhaps\n';
  const form = new FormData();
  form.set('file', new Blob([csv], { type: 'text/csv' }), 'people.csv');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  const sent = {
    method: 'csv',
    object: body.public_id,
    column_map: { email: 'email', tracking: 'tracking' },
  };
  expect(dataOf(await on.call('POST', `/email-lists/${list}/imports`, sent), 201)).toMatchObject({
    accepted: 4,
  });
  const told = new Map(
    rowsOf(await on.call('GET', `/email-lists/${list}/contacts`)).map((row) => [row.email, row]),
  );
  expect(told.get('yes@example.com')).toMatchObject({
    tracking: 'allowed',
    tracking_evidence: { by: 'import', ip: null },
  });
  expect(told.get('no@example.com')).toMatchObject({ tracking: 'refused' });
  expect(told.get('said@example.com')).toMatchObject({
    tracking: 'refused',
    tracking_evidence: { by: 'page' },
  });
  expect(told.get('odd@example.com')).toMatchObject({ tracking: null });
});

describe('the box of a form', () => {
  const TICKED = { tracking: 'true' };

  test('holds once they confirm, with when, where and from whence it was ticked', async () => {
    const list = await optIn();
    const ticked_at = on.app.clock.now();
    await join(list, { email: 'box@example.com', ...TICKED });
    expect(await trackingIn(list, 'box@example.com')).toBeNull();
    on.app.clock.advance(60_000);
    await confirm('box@example.com');
    expect(await contactIn(list, 'box@example.com')).toMatchObject({
      status: 'active',
      tracking: 'allowed',
      tracking_evidence: {
        at: new Date(ticked_at).toISOString(),
        by: 'form',
        ip: `203.0.113.${caller}`,
        origin: 'https://shop.example.com',
      },
    });
    await join(list, { email: 'unticked@example.com' });
    await confirm('unticked@example.com');
    expect(await contactIn(list, 'unticked@example.com')).toMatchObject({ status: 'active', tracking: null });
  });

  test('lifts no refusal, whoever said that, and counts as their own word where an app said the same', async () => {
    const [list, other] = [await optIn(), await on.list()];
    await on.contact(other, 'refused@example.com', { tracking: 'refused' });
    await on.contact(other, 'agreed@example.com', { tracking: 'allowed' });
    for (const email of ['refused@example.com', 'agreed@example.com']) {
      await join(list, { email, ...TICKED });
      await confirm(email);
    }
    expect(await contactIn(list, 'refused@example.com')).toMatchObject({
      status: 'active',
      tracking: 'refused',
    });
    expect((await contactIn(list, 'agreed@example.com'))?.tracking_evidence).toMatchObject({ by: 'form' });
  });

  test('without double opt-in holds for addresses that are new in the project alone', async () => {
    const [list, other] = [await on.list(), await on.list()];
    await on.contact(other, 'known@example.com');
    const { subscriptions, lists } = on.app.services;
    for (const email of ['known@example.com', 'fresh@example.com'])
      await subscriptions.request(
        owner(),
        lists.require(owner().id, list),
        { email, first_name: null, last_name: null, captcha_token: null, tracking: true },
        { ip: '203.0.113.9', origin: null, is_test: false, needs_captcha: false },
      );
    await on.app.app.engine.whenIdle();
    expect(await contactIn(list, 'known@example.com')).toMatchObject({ status: 'active', tracking: null });
    expect(await contactIn(list, 'fresh@example.com')).toMatchObject({
      status: 'active',
      tracking: 'allowed',
    });
  });

  test('is on the page of a project that asks for it, unticked; subscribe takes it as true', async () => {
    const list = await optIn();
    const { sign_up_url } = dataOf(await on.call('GET', `/email-lists/${list}`));
    const page = async () => (await on.app.call('GET', new URL(String(sign_up_url)).pathname)).text;
    expect(await page()).not.toContain('name="tracking"');
    dataOf(await on.call('PATCH', '/email-marketing/settings', { tracking: 'consented' }));
    expect(await page()).toContain(
      '<input type="checkbox" name="tracking" value="true"> Count what I open and click',
    );
    dataOf(await on.call('PATCH', '/email-marketing/settings', { tracking: 'all' }));
    const subscribe = (email: string, tracking: unknown) =>
      on.mirror('POST', `/email-lists/${list}/subscribe`, { email, tracking });
    expect((await subscribe('api@example.com', true)).status).toBe(202);
    expect((await subscribe('odd@example.com', 'maybe')).status).toBe(422);
    await on.app.app.engine.whenIdle();
    await confirm('api@example.com');
    expect(await trackingIn(list, 'api@example.com')).toBe('allowed');
  });
});

test('what is held of an address tells it, and forgetting takes it along', async () => {
  const list = await on.list();
  await on.contact(list, 'gone@example.com');
  await ownWord('gone@example.com', 'refused');
  const held = dataOf(await on.mirror('POST', '/email-addresses/held', { address: 'gone@example.com' }));
  expect(held.contacts).toMatchObject([{ tracking: 'refused', tracking_evidence: { by: 'page' } }]);
  const { privacy } = on.app.services;
  expect((await privacy.explain(owner(), 'gone@example.com')).join(' ')).toMatch(
    /What it opens and clicks is not counted: refused \S+ \(by page\)\./,
  );
  dataOf(await on.mirror('POST', '/email-addresses/forget', { address: 'gone@example.com' }));
  expect(rows().filter(({ email }) => email === 'gone@example.com')).toEqual([]);
});

test('a project that is deleted takes its choices along, and no others', async () => {
  const other = await startOther();
  const before = rows().length;
  expect(before).toBeGreaterThan(1);
  await on.app.services.projects.remove(actor, other);
  expect(rows()).toHaveLength(before - 1);
  expect(rows().filter(({ email }) => email === 'elsewhere@example.com')).toEqual([]);
});

/** Another project with a contact that refused. */
async function startOther(): Promise<string> {
  const project = await makeProject(on.app, 'other');
  const key = await project.key({ can_read: true, can_write: true, can_manage_email_marketing: true });
  const call = (path: string, body: unknown) => on.app.call('POST', `/api/v1${path}`, { key, body });
  const list = dataOf(await call('/email-lists', { name: 'News', default_consent_basis: 'consent' }), 201).id;
  const contact = { email: 'elsewhere@example.com', tracking: 'refused' };
  dataOf(await call(`/email-lists/${list}/contacts`, contact), 201);
  return project.slug;
}
