/** An unsubscription that is taken back on its page: by whom, for how long, and what of it comes back. */

import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { TAKING_BACK_MS } from '../../../src/marketing/subscriptions/service.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { WORDS } from '../../../src/platform/words/words.ts';
import { contactsOf } from '../../support/addresses.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from '../broadcasts/setup.ts';

let on: BroadcastApp;

beforeAll(async () => {
  on = await startBroadcastApp();
});

const services = () => on.app.services;
const owner = () => services().projects.require(on.project.slug);
const db = () => services().database.read.$client;
const ofAddress = (email: string) => contactsOf(services(), owner().id, email);
const statuses = (email: string) => ofAddress(email).map(({ status }) => status);
const suppression = (email: string) => services().suppressions.find(owner(), email)?.kind ?? null;
const leave = (email: string, kind: 'hard_bounce' | 'complaint') =>
  services().database.write((tx) => services().contacts.leave(tx, owner(), email, kind));
/** All that an unsubscription changes. */
const everything = () =>
  ['contacts', 'suppressions', 'contact_events', 'enrollments', 'webhook_events', 'contact_counts'].map(
    (table) =>
      db()
        .query(`SELECT ${table === 'webhook_events' ? 'id' : '*'} FROM ${table}`)
        .all(),
  );

let count = 0;
/** An address on these lists, and the path of the unsubscribe page of its first contact. */
async function someone(...lists: string[]): Promise<{ email: string; path: string }> {
  count += 1;
  const email = `reader${count}@example.com`;
  const contacts: Record<string, unknown>[] = [];
  for (const list of lists) contacts.push(await on.contact(list, email));
  const url = await services().database.write((tx) =>
    services().subscriptions.unsubscribeLinks(tx, owner())({ public_id: String(contacts[0]?.id) }),
  );
  return { email, path: new URL(url).pathname };
}

async function send(path: string, body: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await on.app.call('POST', path, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(body).toString(),
  });
  return { ...answer, take_back: /name="take_back" value="([^"]*)"/.exec(answer.text)?.[1] };
}
const OWN = { button: '1' };
/** By the page's own button; the value that takes it back. */
async function unsubscribe(path: string): Promise<string> {
  const { take_back } = await send(path, OWN);
  if (take_back === undefined) throw new Error('nothing to take back');
  return take_back;
}
const WORD = WORDS.en.unsubscribe;

describe('an unsubscription', () => {
  test('is taken back on its page alone, once: statuses, suppression, counters, webhooks and the story', async () => {
    const [a, b] = [await on.list({ double_opt_in: true }), await on.list()];
    const { email, path } = await someone(a, b);
    const other = await someone(a);
    const waits = await on.list();
    await on.contact(waits, email);
    await services().database.write((tx) =>
      tx.run(sql`UPDATE contacts SET status = 'pending' WHERE id = (SELECT max(id) FROM contacts)`),
    );
    const sequence = await on.active(b, [
      { key: 'later', template: 'news', delay_hours: 48, is_final: true },
    ]);
    await on.enroll(sequence);
    const broadcast = await on.broadcast(b);
    await on.send(broadcast);
    await services().webhooks.create(owner(), { url: 'https://hooks.example.com/x' }, noNote);
    const before = statuses(email);
    expect(before).toEqual(['active', 'active', 'pending']);
    const counted = () => services().lists.get(owner().id, b).contacts_count;
    const active = () => on.count(`SELECT count(*) n FROM contacts WHERE status = 'active'`);
    const active_before = active();

    const page = await on.app.call('GET', path);
    expect(page.text).toContain('<input type="hidden" name="button" value="1">');
    const value = await unsubscribe(path);
    expect([statuses(email), suppression(email)]).toEqual([
      ['unsubscribed', 'unsubscribed', 'unsubscribed'],
      'unsubscribed',
    ]);
    expect(await on.show(broadcast)).toMatchObject({ stats: { unsubscribed: 1 } });
    on.app.clock.advance(TAKING_BACK_MS - 1);
    const back = await send(path, { take_back: value });
    expect([back.status, back.text.includes(WORD.back_title), back.take_back]).toEqual([
      200,
      true,
      undefined,
    ]);
    expect([statuses(email), suppression(email), active()]).toEqual([before, null, active_before]);
    expect(counted()).toBe(1);
    expect(await on.show(broadcast)).toMatchObject({ stats: { unsubscribed: 0 } });
    // What it ended stays ended, as after any other way back.
    expect(await on.enrollment(sequence, email)).toMatchObject({
      state: 'exited',
      exit_reason: 'unsubscribed',
    });
    const told = db()
      .query<{ body: string }, []>('SELECT body FROM webhook_events ORDER BY id')
      .all()
      .map(({ body }): unknown => JSON.parse(body));
    expect(told.slice(-3)).toMatchObject(
      before.map((status) => ({
        type: 'contact.changed',
        data: { contact: { email, status }, changes: { status: { from: 'unsubscribed', to: status } } },
      })),
    );
    const story = (await services().privacy.explain(owner(), email)).join('\n');
    expect(
      story.match(
        /On the list .* it unsubscribed 2030-01-15T12:00:00\S*, and took that back 2030-01-15T12:09:59/g,
      ),
    ).toHaveLength(3);
    expect((await services().privacy.explain(owner(), other.email)).join('\n')).not.toContain(
      'took that back',
    );
    const events = dataOf(await on.call('GET', `/email-lists/${b}/facets`)).events;
    expect(events).toContainEqual({ name: 'resubscribed', count: 1 });

    // A second press: the same words, and nothing changes.
    const then = everything();
    expect((await send(path, { take_back: value })).text).toContain(WORD.back_title);
    expect(everything()).toEqual(then);
    // Once it left again, the old value brings nobody back.
    on.app.clock.advance(-60_000);
    await send(path, { 'List-Unsubscribe': 'One-Click' });
    expect((await send(path, { take_back: value })).status).toBe(409);
    expect(statuses(email)).toEqual(['unsubscribed', 'unsubscribed', 'unsubscribed']);
  });

  test.each<[string, Record<string, string>]>([
    ['one click (RFC 8058)', { 'List-Unsubscribe': 'One-Click' }],
    ['one click that says it is the button', { 'List-Unsubscribe': 'One-Click', ...OWN }],
    ['the link alone', {}],
    ['another value', { button: '2' }],
  ])('by %s has nothing that takes it back', async (_, body) => {
    const { email, path } = await someone(await on.list());
    const answer = await send(path, body);
    expect([answer.text.includes(WORD.done_title), answer.text.includes('take_back')]).toEqual([true, false]);
    expect(suppression(email)).toBe('unsubscribed');
  });

  test('that is repeated has none, and the page of the first one takes it back all the same', async () => {
    const { email, path } = await someone(await on.list());
    const value = await unsubscribe(path);
    expect((await send(path, OWN)).take_back).toBeUndefined();
    expect((await send(path, { take_back: value })).status).toBe(200);
    expect([statuses(email), suppression(email)]).toEqual([['active'], null]);
  });

  test('pressed twice at once comes back once', async () => {
    const { email, path } = await someone(await on.list(), await on.list());
    const value = await unsubscribe(path);
    const answers = await Promise.all([1, 2, 3].map(() => send(path, { take_back: value })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const of = ofAddress(email).map(({ id }) => services().contacts.requireAny(id).id);
    expect(
      on.count(
        `SELECT count(*) n FROM contact_events WHERE event = 'resubscribed' AND contact_id IN (${of})`,
      ),
    ).toBe(2);
  });
});

describe('it is too late', () => {
  const refused = async (path: string, take_back: string, language = 'en') => {
    const before = everything();
    const answer = await send(path, { take_back }, { 'Accept-Language': language });
    expect(everything()).toEqual(before);
    return answer;
  };

  test('after ten minutes, in the language of the reader', async () => {
    const { path, email } = await someone(await on.list());
    const value = await unsubscribe(path);
    on.app.clock.advance(TAKING_BACK_MS);
    for (const language of ['en', 'de', 'fr', 'es'] as const) {
      const { status, text } = await refused(path, value, language);
      const words = WORDS[language].unsubscribe;
      expect([status, text.includes(Bun.escapeHTML(words.too_late_title))]).toEqual([409, true]);
      expect(text).toContain(Bun.escapeHTML(words.too_late({ email, brand: 'shop' }).split(' ')[0] ?? '?'));
    }
  });

  test('for whoever makes the value up, has another contact’s, another project’s, or one made for something else', async () => {
    const { path } = await someone(await on.list());
    const value = await unsubscribe(path);
    const other = await someone(await on.list());
    const others = await unsubscribe(other.path);
    const [at = '', mac = ''] = value.split('-');
    const [id = '', link_mac = ''] = path.split('/').at(-1)?.split('-') ?? [];
    const elsewhere = await makeProject(on.app, 'elsewhere');
    const foreign = await services().database.write((tx) =>
      services().marketing.keys.obtain(tx, elsewhere, 'taking_back', 0),
    );
    for (const bad of [
      others,
      '',
      '-',
      at,
      mac,
      `${at}-`,
      `${at}-${mac.slice(1)}`,
      `${at}-${mac}0`,
      `${Number(at) + 1}-${mac}`,
      `0${value}`,
      `${at}-${link_mac}`,
      `${id}-${link_mac}`,
      `${at}-${foreign(`${id} ${at}`).slice(0, 32)}`,
      `NaN-${mac}`,
      'x'.repeat(10_000),
    ])
      expect([bad.slice(0, 60), (await refused(path, bad)).status]).toEqual([bad.slice(0, 60), 409]);
    expect((await send(path, { take_back: value })).status).toBe(200);
  });

  test('for one that a mail program posts with it, which unsubscribes', async () => {
    const { path, email } = await someone(await on.list());
    const value = await unsubscribe(path);
    const answer = await send(path, { take_back: value, 'List-Unsubscribe': 'One-Click' });
    expect([answer.text.includes(WORD.done_title), statuses(email)]).toEqual([true, ['unsubscribed']]);
  });

  test('once they complained, or an app or a person of the project unsubscribed them too', async () => {
    const complains = await someone(await on.list());
    const value = await unsubscribe(complains.path);
    await leave(complains.email, 'complaint');
    expect((await refused(complains.path, value)).status).toBe(409);
    expect([statuses(complains.email), suppression(complains.email)]).toEqual([['complained'], 'complaint']);
    const told = await someone(await on.list());
    const mine = await unsubscribe(told.path);
    await on.call('POST', `/email-contacts/${ofAddress(told.email)[0]?.id}/unsubscribe`);
    expect((await refused(told.path, mine)).status).toBe(409);
    expect([statuses(told.email), suppression(told.email)]).toEqual([['unsubscribed'], 'unsubscribed']);
  });
});

describe('a suppression that there is another reason for', () => {
  test('stays by that, given before or after, and the contacts have their status', async () => {
    for (const is_before of [true, false]) {
      const { email, path } = await someone(await on.list());
      if (is_before) await services().contacts.suppress(owner(), email, noNote);
      const value = await unsubscribe(path);
      if (!is_before) await services().contacts.suppress(owner(), email, noNote);
      expect(suppression(email)).toBe('unsubscribed');
      // Nobody is told that mail comes where none does.
      expect((await send(path, { take_back: value })).status).toBe(409);
      expect([statuses(email), suppression(email)]).toEqual([['active'], 'manual']);
    }
  });

  test('of a bounce is that again, with its mailbox, and gives back what the bounce took once it is lifted', async () => {
    const { email, path } = await someone(await on.list());
    await services().database.write((tx) =>
      services().contacts.leave(tx, owner(), email, 'hard_bounce', { mailbox: 'news@example.com' }),
    );
    const value = await unsubscribe(path);
    expect(statuses(email)).toEqual(['unsubscribed']);
    expect((await send(path, { take_back: value })).status).toBe(409);
    expect([statuses(email), suppression(email)]).toEqual([['bounced'], 'hard_bounce']);
    const of = { since_ms: 0, mailbox: 'news@example.com' };
    expect(await services().suppressions.liftBounces(actor, owner(), of)).toEqual({ lifted: 1, restored: 1 });
    expect([statuses(email), suppression(email)]).toEqual([['active'], null]);
  });

  test('that was lifted meanwhile is not made again', async () => {
    const { email, path } = await someone(await on.list());
    const value = await unsubscribe(path);
    await services().suppressions.lift(actor, owner(), { address: email });
    expect((await send(path, { take_back: value })).status).toBe(200);
    expect([statuses(email), suppression(email)]).toEqual([['active'], null]);
  });
});

test('a contact that changed since keeps what it is, and a list that was left before stays left', async () => {
  const [a, b] = [await on.list(), await on.list()];
  const { email, path } = await someone(a, b);
  const [, second] = ofAddress(email);
  await services().database.write((tx) =>
    services().contacts.choices.leaveList(tx, services().contacts.requireAny(String(second?.id))),
  );
  // At the very same moment of this clock.
  const value = await unsubscribe(path);
  expect((await send(path, { take_back: value })).status).toBe(200);
  expect(statuses(email)).toEqual(['active', 'unsubscribed']);
});
