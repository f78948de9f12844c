/** The page of one's own choices: as its reader, whoever is forwarded a mail, a scanner and an attacker see it. */

import { beforeAll, describe, expect, test } from 'bun:test';
import { MAX_PUBLIC_LISTS } from '../../../src/limits.ts';
import { PAUSE_MS } from '../../../src/marketing/contacts/choices.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { contactsOf } from '../../support/addresses.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from '../broadcasts/setup.ts';

let on: BroadcastApp;
let key: string;
let callers = 0;

beforeAll(async () => {
  on = await startBroadcastApp({ env: { SATCHEL_TRUSTED_PROXIES: '127.0.0.1' } });
  key = await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } });
  await on.app.call('POST', '/api/v1/emails/templates', {
    key,
    body: {
      name: 'Confirm',
      slug: 'confirm',
      category: 'opt_in',
      subject: 'Confirm',
      body_text: '{{confirm_url}}',
    },
  });
});

const owner = () => on.app.services.projects.require(on.project.slug);
const db = () => on.app.services.database.read.$client;
const rowOf = (list: string, email: string) => {
  const { contacts, lists } = on.app.services;
  return contacts.findByAddress(lists.requireAny(list).id, email);
};
const publicList = (name: string, fields: Record<string, unknown> = {}) =>
  on.list({ name, is_public: true, ...fields });
const statusOf = (list: string, email: string) => rowOf(list, email)?.status;
const ofAddress = (email: string) => contactsOf(on.app.services, owner().id, email);
const isSuppressed = (email: string) => on.app.services.suppressions.find(owner(), email) !== null;

/** The path of the unsubscribe page of a contact. */
function pageOf(list: string, email: string): Promise<string> {
  const contact = rowOf(list, email);
  if (!contact) throw new Error(email);
  return on.app.services.database.write((tx) => {
    const { pathname } = new URL(on.app.services.subscriptions.unsubscribeLinks(tx, owner())(contact));
    return pathname;
  });
}
/** The page as it is looked at, with what its second form would send if nothing was touched. */
async function look(path: string, init: RequestInit = {}) {
  const answer = await fetch(on.app.url + path, init);
  const text = await answer.text();
  const form = new URLSearchParams();
  const labels: Record<string, boolean> = {};
  const names: Record<string, string> = {};
  for (const [, tag = '', label = ''] of text.matchAll(/<input ([^>]*)>(?: ([^<]*)<\/label>)?/g)) {
    const [name = '', value = ''] = ['name', 'value'].map(
      (of) => new RegExp(`\\b${of}="([^"]*)"`).exec(tag)?.[1],
    );
    if (tag.includes('hidden') || tag.includes('checked')) form.set(name, value);
    if (tag.includes('checkbox')) [labels[label], names[label]] = [tag.includes('checked'), name];
  }
  return { status: answer.status, text, form, labels, names, headers: answer.headers };
}
type Look = Awaited<ReturnType<typeof look>>;

type Body = string | URLSearchParams | FormData | Blob;

async function send(path: string, body: Body | null, headers: Record<string, string> = {}) {
  callers += 1;
  const from = { 'X-Forwarded-For': `203.0.113.${callers % 250}`, ...headers };
  const answer = await fetch(on.app.url + path, { method: 'POST', body, headers: from });
  return { status: answer.status, text: await answer.text() };
}
/** Ticks or unticks boxes by their labels, and saves. */
async function save(path: string, boxes: Record<string, boolean>, of?: Look) {
  const page = of ?? (await look(path));
  for (const [label, is_ticked] of Object.entries(boxes)) {
    const name = page.names[label];
    if (name === undefined) throw new Error(`no box ${label} in ${page.text}`);
    if (is_ticked) page.form.set(name, '1');
    else page.form.delete(name);
  }
  const saved = await send(path, page.form);
  await on.app.app.engine.whenIdle();
  return saved;
}
const PAUSE = 'Pause for 30 days';
const COUNT = 'Count what I open and click';
/** All rows that a visit could change. */
const everything = () =>
  ['contacts', 'suppressions', 'tracking_choices', 'jobs', 'enrollments', 'contact_confirmations'].map(
    (table) => db().query(`SELECT * FROM ${table}`).all(),
  );

describe('what the page shows', () => {
  test('public lists alone that the address is on or may join, by name; a pause; whether it is counted', async () => {
    const [a, b] = [await publicList('Alpha'), await publicList('Beta & Co')];
    const hidden = await on.list({ name: 'Secret buyers' });
    await publicList('No way in', { double_opt_in: true });
    const [closed, shut] = [await publicList('Closed'), await publicList('Shut')];
    for (const list of [a, hidden, closed]) await on.contact(list, 'reader@example.com');
    for (const list of [closed, shut]) await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    const page = await look(await pageOf(hidden, 'reader@example.com'));
    expect(page.labels).toEqual({
      Alpha: true,
      'Beta &amp; Co': false,
      Closed: true,
      [PAUSE]: false,
      [COUNT]: true,
    });
    expect(page.text).not.toContain('Secret');
    expect(page.text.indexOf('Unsubscribe</button>')).toBeLessThan(page.text.indexOf('Or choose'));
    expect(page.text).toContain('<form method="post" id="choices">');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    // Its reader's language has it as well.
    await on.call('PATCH', `/email-lists/${hidden}`, { language: 'de' });
    expect((await look(await pageOf(hidden, 'reader@example.com'))).labels['30 Tage Pause']).toBe(false);
    for (const list of [a, b, closed, shut])
      await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('a suppressed address has no second form, and saving an old page of it changes nothing', async () => {
    const list = await publicList('Alpha');
    await on.contact(list, 'held@example.com');
    const path = await pageOf(list, 'held@example.com');
    const before = await look(path);
    dataOf(await on.call('POST', '/email-suppressions', { email: 'held@example.com' }), 201);
    const page = await look(path);
    expect([page.labels, page.text.includes('choices')]).toEqual([{}, false]);
    expect((await save(path, { Alpha: false, [PAUSE]: true }, before)).status).toBe(200);
    expect(on.app.services.suppressions.find(owner(), 'held@example.com')?.kind).toBe('manual');
    expect(ofAddress('held@example.com')).toMatchObject([{ status: 'active', paused_until: null }]);
    await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('an inactive project has nothing to join, and leaving works', async () => {
    const [a, b] = [await publicList('Alpha'), await publicList('Beta')];
    await on.contact(a, 'stays@example.com');
    const path = await pageOf(a, 'stays@example.com');
    const { projects } = on.app.services;
    await projects.update(actor, owner(), { status: 'inactive' });
    const page = await look(path);
    expect(Object.keys(page.labels)).toEqual(['Alpha', PAUSE, COUNT]);
    expect((await save(path, { Alpha: false }, page)).status).toBe(200);
    await projects.update(actor, owner(), { status: 'active' });
    expect(statusOf(a, 'stays@example.com')).toBe('unsubscribed');
    for (const list of [a, b]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('a project has so many public lists at most', async () => {
    const other = await makeProject(on.app, 'many');
    const of = {
      key: await other.key({ can_read: true, can_write: true, can_manage_email_marketing: true }),
    };
    const make = (n: number) =>
      on.app.call('POST', '/api/v1/email-lists', { ...of, body: { name: `List ${n}`, is_public: true } });
    for (let n = 0; n < MAX_PUBLIC_LISTS; n += 1) expect((await make(n)).status).toBe(201);
    const refused = await make(MAX_PUBLIC_LISTS);
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([422, ['is_public']]);
  });
});

describe('looking and leaving', () => {
  test.each(['GET', 'HEAD'])('%s changes nothing, as a person, a scanner and a prefetch', async (method) => {
    const list = await publicList('Alpha');
    await on.contact(list, `look-${method.toLowerCase()}@example.com`);
    const path = await pageOf(list, `look-${method.toLowerCase()}@example.com`);
    const before = everything();
    for (const headers of [
      { 'User-Agent': 'Mozilla/5.0 Firefox/130' },
      { 'User-Agent': 'curl' },
      { 'Sec-Purpose': 'prefetch' },
    ])
      expect((await fetch(`${on.app.url}${path}?choices=1&pause=1`, { method, headers })).status).toBe(200);
    expect(everything()).toEqual(before);
    await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
  test.each<[string, Body | null, Record<string, string>]>([
    ['one click', 'List-Unsubscribe=One-Click', FORM],
    [
      'one click in parts',
      (() => {
        const form = new FormData();
        form.set('List-Unsubscribe', 'One-Click');
        return form;
      })(),
      {},
    ],
    ['one click that has choices, too', 'List-Unsubscribe=One-Click&choices=1', FORM],
    ['the button', '', FORM],
    ['no body and no type', null, {}],
    ['another value', 'choices=2&pause=1', FORM],
    ['an empty one', 'choices=', FORM],
    ['JSON', '{"choices":1}', { 'Content-Type': 'application/json' }],
    ['no type', new Blob(['choices=1']), {}],
    [
      'parts that do not end',
      '--x\r\nContent-Disposition: form-data; name="choices"\r\n\r\n1',
      { 'Content-Type': 'multipart/form-data; boundary=y' },
    ],
    ['bad escapes', 'choices=%E0%A4%A', FORM],
    ['more than a form has', `choices=1&x=${'y'.repeat(20_000)}`, FORM],
    ['more fields than a form has', `choices=1&${'a&'.repeat(2_000)}`, FORM],
  ])('a POST with %s unsubscribes', async (name, body, headers) => {
    const list = await on.list();
    const email = `leaves-${name.replaceAll(/[^a-z]+/gi, '-').toLowerCase()}@example.com`;
    await on.contact(list, email);
    const answer = await send(await pageOf(list, email), body, headers);
    expect([answer.status, answer.text.includes('You are unsubscribed')]).toEqual([200, true]);
    expect([statusOf(list, email), isSuppressed(email)]).toEqual(['unsubscribed', true]);
  });
});

describe('a list', () => {
  test('is left alone: its sequences end, nothing is suppressed, all other lists and their sequences stay', async () => {
    const [a, b, hidden] = [await publicList('Alpha'), await publicList('Beta'), await on.list()];
    for (const list of [a, b, hidden]) await on.contact(list, 'one@example.com');
    const STEPS = [{ key: 'later', template: 'news', delay_hours: 48, is_final: true }];
    const [ends, goes_on] = [await on.active(a, STEPS), await on.active(b, STEPS)];
    for (const sequence of [ends, goes_on]) await on.enroll(sequence);
    const saved = await save(await pageOf(hidden, 'one@example.com'), { Alpha: false });
    expect([saved.status, saved.text.includes('Your choices are saved')]).toEqual([200, true]);
    expect([a, b, hidden].map((list) => statusOf(list, 'one@example.com'))).toEqual([
      'unsubscribed',
      'active',
      'active',
    ]);
    expect(isSuppressed('one@example.com')).toBe(false);
    expect(await on.enrollment(ends, 'one@example.com')).toMatchObject({
      state: 'exited',
      exit_reason: 'unsubscribed',
    });
    expect(await on.enrollment(goes_on, 'one@example.com')).toMatchObject({ state: 'active' });
    const broadcast = await on.broadcast(a);
    expect(dataOf(await on.call('GET', `/email-broadcasts/${broadcast}/check`))).toMatchObject({
      recipients: 0,
      left_out: { by_reason: { unsubscribed: 1, suppressed: 0 } },
    });
    for (const list of [a, b]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('that the page did not show stays, and saving an old page undoes nothing', async () => {
    const [a, b, late] = [
      await publicList('Alpha'),
      await publicList('Beta'),
      await on.list({ name: 'Late' }),
    ];
    for (const list of [a, late]) await on.contact(list, 'old@example.com');
    const path = await pageOf(a, 'old@example.com');
    const old = await look(path);
    await on.call('PATCH', `/email-lists/${late}`, { is_public: true });
    await save(path, { Alpha: false });
    await save(path, { Beta: true });
    expect(statusOf(b, 'old@example.com')).toBe('active');
    // The old page has Alpha ticked and Beta not.
    await save(path, {}, old);
    expect([a, b, late].map((list) => statusOf(list, 'old@example.com'))).toEqual([
      'unsubscribed',
      'active',
      'active',
    ]);
    for (const list of [a, b, late]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('is joined at once, or by a mail where it asks for a confirmation; whoever left comes back so', async () => {
    const single = await publicList('Single');
    const double = await publicList('Double', { double_opt_in: true, confirmation_template: 'confirm' });
    const home = await on.list();
    await on.contact(home, 'joins@example.com', { first_name: 'Jo' });
    const path = await pageOf(home, 'joins@example.com');
    const saved = await save(path, { Single: true, Double: true });
    expect(saved.text).toContain('To get Double, please follow the link in the mail');
    expect(saved.text).not.toContain('To get Single');
    expect(rowOf(single, 'joins@example.com')).toMatchObject({
      ...{ status: 'active', first_name: 'Jo', source_platform: 'form', consent_basis: 'consent' },
      ...{ consent_ip: `203.0.113.${callers % 250}`, consent_origin: 'http://satchel.test' },
    });
    expect(statusOf(double, 'joins@example.com')).toBe('pending');
    expect(await on.got('joins@example.com')).toEqual(['Confirm']);
    expect((await look(path)).labels).toMatchObject({ Single: true, Double: false });
    await save(path, { Single: false });
    expect(statusOf(single, 'joins@example.com')).toBe('unsubscribed');
    await save(path, { Single: true });
    expect(statusOf(single, 'joins@example.com')).toBe('active');
    for (const list of [single, double]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('is joined so often an hour from one place; past that nothing of the form is saved', async () => {
    const [a, b] = [await publicList('Alpha'), await publicList('Beta')];
    for (let n = 0; n < 6; n += 1) await on.contact(a, `crowd${n}@example.com`);
    const join = async (n: number) => {
      const path = await pageOf(a, `crowd${n}@example.com`);
      const { form, names } = await look(path);
      form.set(names.Beta ?? '', '1');
      form.set('pause', '1');
      return send(path, form, { 'X-Forwarded-For': '198.51.100.77' });
    };
    for (let n = 0; n < 5; n += 1) expect((await join(n)).status).toBe(200);
    const refused = await join(5);
    await on.app.app.engine.whenIdle();
    expect([refused.status, refused.text.includes('Too many requests')]).toEqual([429, true]);
    expect(ofAddress('crowd5@example.com')).toMatchObject([{ status: 'active', paused_until: null }]);
    for (const list of [a, b]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });
});

describe('an attacker', () => {
  test('without the token has nothing, and with one no list that is not shown, nor anybody else', async () => {
    const [a, hidden] = [await publicList('Alpha'), await on.list()];
    for (const email of ['me@example.com', 'you@example.com'])
      for (const list of [a, hidden]) await on.contact(list, email);
    const mine = await pageOf(a, 'me@example.com');
    const yours = await pageOf(a, 'you@example.com');
    const forged = `${yours.split('-')[0]}-${mine.split('-')[1]}`;
    expect(
      (await send(forged, 'choices=1&pause=1', { 'Content-Type': 'application/x-www-form-urlencoded' }))
        .status,
    ).toBe(404);
    const elsewhere = await makeProject(on.app, `else-${callers}`);
    const foreign = dataOf(
      await on.app.call('POST', '/api/v1/email-lists', {
        key: await elsewhere.key({ can_read: true, can_write: true, can_manage_email_marketing: true }),
        body: { name: 'Foreign', is_public: true },
      }),
      201,
    ).id;
    const before = everything();
    // Private and foreign lists, as if they had been shown.
    const sent = new URLSearchParams({
      choices: '1',
      shown: `tracked ${hidden}+ ${foreign}-`,
      tracking: '1',
    });
    sent.set(`list.${foreign}`, '1');
    expect((await send(mine, sent)).status).toBe(200);
    await on.app.app.engine.whenIdle();
    expect(everything()).toEqual(before);
    for (const list of [a]) await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });
});

describe('a pause', () => {
  test('is of all contacts of the address, later ones too; broadcasts leave them out, confirmations go', async () => {
    const [list, other] = [await on.list(), await on.list()];
    for (const each of [list, other]) await on.contact(each, 'rests@example.com');
    const path = await pageOf(list, 'rests@example.com');
    const until = on.app.clock.now() + PAUSE_MS;
    await save(path, { [PAUSE]: true });
    const later = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
    expect((await on.contact(await on.list(), 'rests@example.com')).paused_until).toBe(
      new Date(until).toISOString(),
    );
    expect(ofAddress('rests@example.com').map(({ paused_until }) => paused_until)).toEqual(
      Array(3).fill(new Date(until).toISOString()),
    );
    const broadcast = await on.broadcast(list);
    expect(dataOf(await on.call('GET', `/email-broadcasts/${broadcast}/check`))).toMatchObject({
      recipients: 0,
      left_out: { total: 1, by_reason: { paused: 1 } },
    });
    await on.contact(list, 'awake@example.com');
    await on.send(broadcast);
    expect((await on.turns(broadcast)).get('rests@example.com')).toMatchObject({
      status: 'left_out',
      reason: 'paused',
    });
    expect((await on.show(broadcast)).stats).toMatchObject({ sent: 1 });
    dataOf(await on.mirror('POST', `/email-lists/${later}/subscribe`, { email: 'rests@example.com' }), 202);
    await on.app.app.engine.whenIdle();
    expect(await on.got('rests@example.com')).toEqual(['Confirm']);
    const { privacy } = on.app.services;
    expect((await privacy.explain(owner(), 'rests@example.com')).join(' ')).toContain(
      'it has paused the mail it gets',
    );
    // Saving again does not make it longer.
    on.app.clock.advance(5 * 86_400_000);
    const page = await look(path);
    const label = Object.keys(page.labels).find((one) => one.startsWith('Paused until')) ?? '';
    expect(page.labels[label]).toBe(true);
    await save(path, {}, page);
    expect(rowOf(list, 'rests@example.com')?.paused_until).toBe(until);
    await save(path, { [label]: false });
    expect(rowOf(list, 'rests@example.com')?.paused_until).toBeNull();
    const after = await on.broadcast(list);
    await on.send(after);
    expect((await on.turns(after)).get('rests@example.com')).toMatchObject({ status: 'sent' });
  });

  const STEPS = [
    { key: 'first', template: 'news', delay_hours: 0 },
    { key: 'second', template: 'news', delay_hours: 24, is_final: true },
  ];

  test('has sequences wait for its end, and mend nothing meanwhile; then they go on', async () => {
    const list = await on.list();
    await on.contact(list, 'waits@example.com');
    const sequence = await on.active(list, STEPS);
    await on.enroll(sequence);
    await on.pass();
    await save(await pageOf(list, 'waits@example.com'), { [PAUSE]: true });
    const until = rowOf(list, 'waits@example.com')?.paused_until ?? 0;
    await on.pass(25);
    expect(await on.got('waits@example.com')).toHaveLength(1);
    expect(await on.enrollment(sequence, 'waits@example.com')).toMatchObject({
      state: 'active',
      next_at: new Date(until).toISOString(),
    });
    await on.app.services.going_on.mendTimes();
    expect((await on.enrollment(sequence, 'waits@example.com'))?.next_at).toBe(new Date(until).toISOString());
    await on.pass(28 * 24);
    expect(await on.got('waits@example.com')).toHaveLength(1);
    await on.pass(48);
    expect(await on.got('waits@example.com')).toHaveLength(2);
    expect(await on.enrollment(sequence, 'waits@example.com')).toMatchObject({ state: 'completed' });
  });

  test('that is ended early has sequences go on at once', async () => {
    const list = await on.list();
    await on.contact(list, 'early@example.com');
    const sequence = await on.active(list, STEPS);
    await on.enroll(sequence);
    await on.pass();
    const path = await pageOf(list, 'early@example.com');
    await save(path, { [PAUSE]: true });
    await on.pass(48);
    expect(await on.got('early@example.com')).toHaveLength(1);
    const page = await look(path);
    await save(
      path,
      { [Object.keys(page.labels).find((one) => one.startsWith('Paused')) ?? '']: false },
      page,
    );
    await on.pass();
    expect(await on.got('early@example.com')).toHaveLength(2);
  });
});

describe('being counted', () => {
  test('is refused and allowed by their own word, with its evidence; a box that was not touched says nothing', async () => {
    const list = await on.list();
    const { id } = await on.contact(list, 'counted@example.com');
    const path = await pageOf(list, 'counted@example.com');
    await save(path, {});
    expect(ofAddress('counted@example.com')).toMatchObject([{ tracking: null, tracking_evidence: null }]);
    const at = new Date(on.app.clock.now()).toISOString();
    await save(path, { [COUNT]: false });
    const ip = `203.0.113.${callers % 250}`;
    expect(ofAddress('counted@example.com')).toMatchObject([
      { tracking: 'refused', tracking_evidence: { at, by: 'page', ip, origin: 'http://satchel.test' } },
    ]);
    expect((await on.call('PATCH', `/email-contacts/${id}`, { tracking: 'allowed' })).status).toBe(409);
    expect((await look(path)).labels[COUNT]).toBe(false);
    await save(path, { [COUNT]: true });
    expect(ofAddress('counted@example.com')).toMatchObject([
      { tracking: 'allowed', tracking_evidence: { by: 'page' } },
    ]);
  });
});

describe('webhooks', () => {
  test('are told what changed of each contact of the address, by its own choice and by others; a left list as unsubscribed', async () => {
    const [a, b] = [await publicList('Alpha'), await on.list()];
    const mine = await on.contact(a, 'told@example.com');
    const other = await on.contact(b, 'told@example.com');
    const { webhooks } = on.app.services;
    await webhooks.create(owner(), { url: 'https://hooks.example.com/x' }, noNote);
    const told = () =>
      db()
        .query<{ body: string }, []>('SELECT body FROM webhook_events ORDER BY id')
        .all()
        .map(({ body }): { type: string; data: object } => JSON.parse(body));
    const path = await pageOf(a, 'told@example.com');
    await save(path, { [PAUSE]: true, [COUNT]: false });
    const until = new Date(rowOf(a, 'told@example.com')?.paused_until ?? 0).toISOString();
    const changes = {
      paused_until: { from: null, to: until },
      tracking: { from: null, to: 'refused' },
    };
    expect(told()).toMatchObject([
      {
        type: 'contact.changed',
        data: { contact: { id: mine.id, paused_until: until, tracking: 'refused' }, changes },
      },
      { type: 'contact.changed', data: { contact: { id: other.id }, changes } },
    ]);
    expect(JSON.stringify(told())).not.toContain(String(mine.contact_token));
    await save(path, { Alpha: false });
    expect(told().at(-1)).toMatchObject({ type: 'contact.unsubscribed', data: { id: mine.id } });
    dataOf(await on.call('PATCH', `/email-contacts/${other.id}`, { first_name: 'Tom' }));
    expect(told().at(-1)).toMatchObject({
      type: 'contact.changed',
      data: {
        contact: { id: other.id, first_name: 'Tom' },
        changes: { first_name: { from: null, to: 'Tom' } },
      },
    });
    const count = told().length;
    dataOf(await on.call('PATCH', `/email-contacts/${other.id}`, { first_name: 'Tom' }));
    expect(told()).toHaveLength(count);
    await on.call('PATCH', `/email-lists/${a}`, { is_public: false });
  });
});

describe('{{preferences_url}}', () => {
  test('leads to the page, by no redirect, and is no substitute for {{unsubscribe_url}}', async () => {
    await on.template('prefs', {
      body_html:
        '<p><a href="{{preferences_url}}">Choose</a> <a href="{{unsubscribe_url}}">Leave</a> {{postal_address}}</p>',
      body_text: 'Choose: {{preferences_url}} Leave: {{unsubscribe_url}} {{postal_address}}',
      layout: null,
    });
    const list = await on.list();
    await on.contact(list, 'prefers@example.com');
    const broadcast = await on.broadcast(list, { template: 'prefs' });
    await on.send(broadcast);
    const email_id = String((await on.turns(broadcast)).get('prefers@example.com')?.email_id);
    const { raw } = await on.app.services.deliveries.readCaptured(email_id);
    const plain = raw
      .replaceAll(/=\r?\n/g, '')
      .replaceAll('=3D', '=')
      .replaceAll('=20', ' ');
    const path = await pageOf(list, 'prefers@example.com');
    expect(plain).toContain(`<a href="http://satchel.test${path}#choices">Choose</a>`);
    expect(plain).toContain(`Choose: http://satchel.test${path}#choices Leave: http://satchel.test${path} `);
    expect(rowsOf(await on.call('GET', `/email-broadcasts/${broadcast}/recipients`))).toHaveLength(1);
    await on.setTemplate('prefs', {
      body_html: '<a href="{{preferences_url}}">Choose</a> {{postal_address}}',
      body_text: '{{preferences_url}} {{postal_address}}',
    });
    const without = await on.broadcast(list, { template: 'prefs' });
    const check = dataOf(await on.call('GET', `/email-broadcasts/${without}/check`));
    expect(check).toMatchObject({ ready: false, problems: [{ code: 'template_without_footer' }] });
  });
});
