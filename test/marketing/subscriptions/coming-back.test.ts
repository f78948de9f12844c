/** Who unsubscribed comes back by the form of a list that asks to confirm: by a click in a mail, and by nothing else. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { contactsOf, heldOf } from '../../support/addresses.ts';
import { type Answer, actor, addCapturingMailbox } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
  await addCapturingMailbox(on.app);
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      name: 'C',
      slug: 'confirm',
      category: 'opt_in',
      subject: 'Confirm',
      body_text: '{{confirm_url}}',
    },
  });
});

const services = () => on.app.services;
const owner = () => services().projects.require(on.project.slug);
const DOUBLE = { double_opt_in: true, confirmation_template: 'confirm' };
const MINUTE = 60_000;

async function signUp(list: string, email: string, fields: Record<string, unknown> = {}): Promise<Answer> {
  on.app.clock.advance(MINUTE);
  const answer = await on.mirror('POST', `/email-lists/${list}/subscribe`, { email, ...fields });
  await on.app.app.engine.whenIdle();
  return answer;
}
const leave = async (id: unknown): Promise<void> => {
  on.app.clock.advance(MINUTE);
  dataOf(await on.call('POST', `/email-contacts/${id}/unsubscribe`));
  on.app.clock.advance(MINUTE);
};
const contacts = (email: string) => contactsOf(services(), owner().id, email);
const statuses = (email: string) => contacts(email).map(({ status }) => status);
const suppression = (email: string) => services().suppressions.find(owner(), email)?.kind ?? null;
const why = async (email: string) => (await services().privacy.explain(owner(), email)).join('\n');
const click = async (link: string): Promise<number> => (await on.app.call('POST', link)).status;

/** Links of the confirmation mails of an address, oldest first. */
async function links(email: string): Promise<string[]> {
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const mails = (body.data as { id: string }[]).toReversed();
  const raws = await Promise.all(mails.map(({ id }) => services().deliveries.readCaptured(id)));
  return raws.flatMap(({ raw }) => /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, ''))?.[0] ?? []);
}

/** Somebody who was on two lists and left; their address and the first list. */
async function gone(name: string) {
  const [list, other] = [await on.list(DOUBLE), await on.list({ name: 'Other' })];
  const email = `${name}@example.com`;
  const { id } = await on.contact(list, email, { first_name: 'Ann' });
  await on.contact(other, email);
  await leave(id);
  expect([statuses(email), suppression(email)]).toEqual([['unsubscribed', 'unsubscribed'], 'unsubscribed']);
  return { list, email };
}

test('the mail asks, nothing changes before its click, and that brings the contact of this list back', async () => {
  const { list, email } = await gone('back');
  const before = contacts(email);
  const answer = await signUp(list, email, { first_name: 'Anna' });
  expect(answer.status).toBe(202);
  expect([contacts(email), suppression(email)]).toEqual([before, 'unsubscribed']);
  const [link = '', ...more] = await links(email);
  expect(more).toEqual([]);
  const signed_up_at = new Date(on.app.clock.now()).toISOString();
  expect(await why(email)).toContain(
    `It signed up at the list News ${signed_up_at}, while it was suppressed: it was asked by mail to confirm that (${signed_up_at}), and has not.`,
  );
  expect((await on.app.call('GET', link)).status).toBe(200);
  expect(contacts(email)).toEqual(before);
  on.app.clock.advance(MINUTE);
  const confirmed_at = new Date(on.app.clock.now()).toISOString();
  expect(await click(link)).toBe(200);
  expect([statuses(email), suppression(email)]).toEqual([['active', 'unsubscribed'], null]);
  expect(contacts(email)[0]).toMatchObject({
    ...{
      first_name: 'Anna',
      consent_basis: 'double_opt_in',
      consent_at: signed_up_at,
      source_platform: 'form',
    },
    confirmed_at,
  });
  expect(await why(email)).toContain(
    `while it was suppressed: it was asked by mail to confirm that, and did so ${confirmed_at}.`,
  );
  // A second press changes nothing, and is told the same.
  const after = contacts(email);
  expect([await click(link), contacts(email)]).toEqual([200, after]);
});

test('of a contact that is new to the list: it is pending, and active with the click', async () => {
  const { email } = await gone('new-to-it');
  const third = await on.list({ name: 'Third', ...DOUBLE });
  await signUp(third, email);
  expect([statuses(email), suppression(email)]).toEqual([
    ['unsubscribed', 'unsubscribed', 'pending'],
    'unsubscribed',
  ]);
  const [link = ''] = await links(email);
  expect(await click(link)).toBe(200);
  expect([statuses(email), suppression(email)]).toEqual([['unsubscribed', 'unsubscribed', 'active'], null]);
});

test('an old link lifts nothing: who left again since stays away', async () => {
  const { list, email } = await gone('again');
  await signUp(list, email);
  const [link = ''] = await links(email);
  expect(await click(link)).toBe(200);
  await leave(contacts(email)[0]?.id);
  expect(await click(link)).toBe(409);
  expect([statuses(email), suppression(email)]).toEqual([['unsubscribed', 'unsubscribed'], 'unsubscribed']);
  // Where the operator lifted it meanwhile, too.
  await services().suppressions.lift(actor, owner(), { address: email });
  expect(await click(link)).toBe(409);
  expect(statuses(email)).toEqual(['unsubscribed', 'unsubscribed']);
  // A new sign-up gets a link of its own.
  await signUp(list, email);
  expect(await click((await links(email)).at(-1) ?? '')).toBe(200);
  expect(statuses(email)).toEqual(['active', 'unsubscribed']);
});

test('its limits hold: three mails an address and day', async () => {
  const { list, email } = await gone('often');
  for (let n = 0; n < 4; n += 1) expect((await signUp(list, email)).status).toBe(202);
  expect(await links(email)).toHaveLength(3);
  expect(await why(email)).toContain(
    'no mail came, as it had been asked to confirm as often as a day allows',
  );
});

describe('nothing comes, and it is told why', () => {
  test.each([
    ['added by hand', (email: string) => on.call('POST', '/email-suppressions', { email })],
    ['bounced', (email: string) => leaveBy(email, 'hard_bounce')],
    ['complained', (email: string) => leaveBy(email, 'complaint')],
  ])('where the address was also %s', async (name, more) => {
    const { list, email } = await gone(name.replaceAll(' ', '-'));
    await more(email);
    const before = contacts(email);
    expect((await signUp(list, email)).status).toBe(202);
    expect([await links(email), contacts(email)]).toEqual([[], before]);
    expect(await why(email)).toContain(
      'nothing came of it, as it is suppressed for another reason than that it unsubscribed',
    );
  });
  const leaveBy = (email: string, kind: 'hard_bounce' | 'complaint') =>
    services().database.write((tx) => services().contacts.leave(tx, owner(), email, kind));

  test('where another reason comes between the mail and its click', async () => {
    const { list, email } = await gone('late-reason');
    await signUp(list, email);
    await on.call('POST', '/email-suppressions', { email });
    const [link = ''] = await links(email);
    expect([await click(link), statuses(email)]).toEqual([409, ['unsubscribed', 'unsubscribed']]);
  });

  test('at a list without double opt-in', async () => {
    const { email } = await gone('single');
    const single = await on.list({ name: 'Single' });
    expect((await signUp(single, email)).status).toBe(202);
    expect([await links(email), statuses(email)]).toEqual([[], ['unsubscribed', 'unsubscribed']]);
    expect(await why(email)).toMatch(
      /It signed up at the list Single \S+, while it was suppressed: nothing came of it, as that list does not ask/,
    );
  });

  test('by a test key', async () => {
    const { list, email } = await gone('test-key');
    const key = await on.project.key({
      can_manage_email_marketing: true,
      restricted: true,
      allow_no_origin: true,
      is_test: true,
    });
    const path = `/api/v1/email-lists/${list}/subscribe`;
    expect((await on.app.call('POST', path, { key, body: { email } })).status).toBe(202);
    await on.app.app.engine.whenIdle();
    expect([await links(email), statuses(email)]).toEqual([[], ['unsubscribed', 'unsubscribed']]);
    expect(await why(email)).toContain('nothing came of it, as a test key brought it');
  });
});

test('strangers see the same of all of them', async () => {
  const list = await on.list(DOUBLE);
  const { email } = await gone('seen');
  const held = await gone('held');
  await on.call('POST', '/email-suppressions', { email: held.email });
  const answers = await Promise.all(
    [email, held.email, 'fresh@example.com', 'x@null-mx.example'].map((one) => signUp(list, one)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test('it is part of what is held about an address, and is forgotten with it', async () => {
  const { list, email } = await gone('forgotten');
  await signUp(list, email);
  expect((await heldOf(services(), owner(), email)).sign_ups_of_left).toMatchObject([{ outcome: 'asked' }]);
  const count = (): unknown =>
    services().database.read.$client.query('SELECT count(*) FROM sign_ups_of_left').values()[0]?.[0];
  const before = Number(count());
  await services().privacy.forget(actor, owner(), email);
  expect(count()).toBe(before - 1);
  expect(suppression(email)).toBe('unsubscribed');
  expect(await why(email)).not.toContain('It signed up');
});
