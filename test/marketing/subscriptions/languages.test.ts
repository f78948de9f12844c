/** Public pages, their refusals and the layout of mails in the language of the list, or else of their reader. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Language, WORDS } from '../../../src/platform/words/words.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';
import { type MarketingApp, startMarketingApp } from '../settings/setup.ts';

const PUBLIC_URL = 'https://satchel.example.com';
const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
let on: MarketingApp;
let template_key: string;
/** A list of each language. */
const lists = new Map<Language | null, string>();

async function makeTemplate(slug: string): Promise<void> {
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: template_key,
    body: { name: slug, slug, category: 'opt_in', subject: 'Confirm', body_text: '{{confirm_url}}' },
  });
}

beforeAll(async () => {
  on = await startMarketingApp({
    env: { SATCHEL_PUBLIC_URL: PUBLIC_URL, SATCHEL_TRUSTED_PROXIES: '127.0.0.1' },
  });
  await addCapturingMailbox(on.app);
  template_key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  await makeTemplate('c');
  for (const language of [...LANGUAGES, null]) {
    const sign_up = { double_opt_in: true, confirmation_template: 'c', sign_up_page: true };
    lists.set(language, await on.list({ ...sign_up, language, name: 'News' }));
  }
});

interface Shown {
  status: number;
  language: string | undefined;
  title: string | undefined;
  text: string;
  vary: string;
}

let visitors = 0;
/** Over a real connection, as only that has an address; each call from another one, unless told. */
async function open(
  path: string,
  {
    accepts,
    form,
    ip,
    method = form === undefined ? 'GET' : 'POST',
  }: { accepts?: string; form?: string; ip?: string; method?: string } = {},
): Promise<Shown> {
  visitors += 1;
  const response = await fetch(on.app.url + path, {
    method,
    headers: {
      'X-Forwarded-For': ip ?? `198.51.100.${visitors}`,
      ...(accepts === undefined ? {} : { 'Accept-Language': accepts }),
      ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
    },
    ...(form === undefined ? {} : { body: form }),
  });
  const text = await response.text();
  return {
    status: response.status,
    language: /<html lang="(\w+)">/.exec(text)?.[1],
    title: /<h1>(.*)<\/h1>/.exec(text)?.[1],
    text,
    vary: response.headers.get('Vary') ?? '',
  };
}

const listOf = (language: Language | null): string => lists.get(language) ?? '';
/** As a page shows it. */
const shown = (text: string): string => Bun.escapeHTML(text);

async function unsubscribePath(language: Language | null, email: string): Promise<string> {
  const { id } = await on.contact(listOf(language), email);
  const { subscriptions, projects, database } = on.app.services;
  const url = await database.write((tx) =>
    subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: String(id) }),
  );
  return new URL(url).pathname;
}

/** The path of the link that a sign-up was sent. */
async function confirmPath(language: Language, email: string): Promise<string> {
  await open(`/join/${listOf(language)}`, { form: `email=${email}` });
  await on.app.app.engine.whenIdle();
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const [mail] = body.data as { id: string }[];
  const { raw } = await on.app.services.deliveries.readCaptured(mail?.id ?? '');
  return /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, ''))?.[0] ?? '';
}

describe.each(LANGUAGES)('a list in %s', (language) => {
  const words = WORDS[language];
  // The list's language wins.
  const accepts = language === 'de' ? 'fr' : 'de';

  test('is joined and confirmed in it', async () => {
    const email = `${language}@example.com`;
    const path = `/join/${listOf(language)}`;
    const page = await open(path, { accepts });
    expect(page).toMatchObject({ status: 200, language, title: words.join.title({ list: 'News' }) });
    for (const text of [
      words.join.email,
      words.join.first_name,
      words.join.trap,
      words.join.button,
      words.join.promise({ brand: 'shop' }),
    ])
      expect(page.text).toContain(shown(text));
    expect(await open(path, { accepts, form: 'email=robot%40example.com&comment=x' })).toMatchObject({
      status: 200,
      language,
      title: words.join.thanks_title,
    });
    const confirm = await confirmPath(language, email);
    const question = await open(confirm, { accepts });
    expect(question).toMatchObject({ status: 200, language, title: words.confirm.title });
    expect(question.text).toContain(shown(words.confirm.question({ email, brand: 'shop' })));
    const done = await open(confirm, { accepts, method: 'POST' });
    expect(done).toMatchObject({ status: 200, language, title: words.confirm.done_title });
    expect(done.text).toContain(shown(words.confirm.done({ email })));
  });

  test('says in it what is wrong with a form', async () => {
    const form = 'email=nobody&first_name=www.example.com&last_name=http%3A%2F%2Fx';
    const page = await open(`/join/${listOf(language)}`, { accepts, form });
    expect(page).toMatchObject({ status: 422, language, title: words.join.title({ list: 'News' }) });
    const { email, first_name, last_name, captcha_token } = words.join.wrong;
    for (const text of [email, first_name, last_name])
      expect(page.text).toContain(`<p role="alert">${shown(text)}</p>`);
    expect(page.text).not.toContain(shown(captcha_token));
  });

  test('refuses in it what the form is not even read for', async () => {
    const path = `/join/${listOf(language)}`;
    const { not_understood, too_many } = words.refusals;
    const nothing = await open(path, { accepts, form: '' });
    expect(nothing).toMatchObject({ status: 422, language, title: not_understood.title });
    expect(nothing.text).toContain(shown(not_understood.text));
    const long = await open(path, { accepts, form: `email=${'x'.repeat(20_000)}` });
    expect(long).toMatchObject({ status: 413, language, title: not_understood.title });
    const ip = `203.0.113.${LANGUAGES.indexOf(language)}`;
    for (let n = 0; n < 5; n += 1) await open(path, { form: 'email=nobody', ip });
    const late = await open(path, { accepts, form: 'email=a%40example.com', ip });
    expect(late).toMatchObject({ status: 429, language, title: too_many.title });
    const [before = '', after = ''] = too_many.text({ wait: '|' }).split('|');
    expect(late.text).toMatch(new RegExp(`<p>${before.replace('(', '\\(')}\\d+ \\w+`));
    expect(late.text).toContain(after);
  });

  test('is left in it', async () => {
    const email = `leaver-${language}@example.com`;
    const path = await unsubscribePath(language, email);
    const question = await open(path, { accepts });
    expect(question).toMatchObject({ status: 200, language, title: words.unsubscribe.title });
    expect(question.text).toContain(shown(words.unsubscribe.question({ email, brand: 'shop' })));
    const done = await open(path, { accepts, method: 'POST' });
    expect(done).toMatchObject({ status: 200, language, title: words.unsubscribe.done_title });
    expect(done.text).toContain(shown(words.unsubscribe.done({ email, brand: 'shop' })));
    // By the list: no cache needs to tell its readers apart.
    for (const page of [question, done]) expect(page.vary).not.toContain('Accept-Language');
  });

  test('tells in it that a confirmation changes nothing', async () => {
    const email = `late-${language}@example.com`;
    const path = await confirmPath(language, email);
    await on.call('PATCH', `/email-lists/${listOf(language)}`, { archived: true });
    expect(await open(path, { accepts, method: 'POST' })).toMatchObject({
      status: 409,
      language,
      title: words.confirm.unchanged_title,
    });
    await on.call('PATCH', `/email-lists/${listOf(language)}`, { archived: false });
    await on.call('POST', '/email-suppressions', { email });
    const left = await open(path, { accepts, method: 'POST' });
    expect(left.status).toBe(409);
    expect(left.text).toContain(shown(words.confirm.left({ email })));
  });
});

test('the box that allows counting is in the language of its page', async () => {
  await on.call('PATCH', '/email-marketing/settings', { tracking: 'consented' });
  for (const language of LANGUAGES)
    expect((await open(`/join/${listOf(language)}`)).text).toContain(
      `name="tracking" value="true"> ${shown(WORDS[language].join.tracking)}</label>`,
    );
  await on.call('PATCH', '/email-marketing/settings', { tracking: 'all' });
});

describe('a reader whose list says nothing', () => {
  test.each(LANGUAGES)('gets what their browser asks for: %s', async (language) => {
    const accepts = `it, ${language}-XX;q=0.8, en;q=0.1`;
    const words = WORDS[language];
    const left = await unsubscribePath(null, `reader-${language}@example.com`);
    for (const [path, status, title] of [
      [`/join/${listOf(null)}`, 200, words.join.title({ list: 'News' })],
      ['/join/nowhere', 404, words.refusals.not_found.title],
      ['/confirm/none', 404, words.confirm.unknown_title],
      ['/unsubscribe/none', 404, words.unsubscribe.unknown_title],
      ['/unsubscribe/test', 200, words.unsubscribe.test_title],
      [left, 200, words.unsubscribe.title],
      ['/c/none', 404, words.link.unknown_title],
      ['/o/none.gif', 404, words.link.unknown_title],
    ] as const) {
      const page = await open(path, { accepts });
      expect([path, page.status, page.language, page.title]).toEqual([path, status, language, title]);
      expect([path, page.vary]).toEqual([path, expect.stringContaining('Accept-Language')]);
    }
    expect((await open('/join/nowhere', { accepts })).text).toContain(shown(words.texts.no_sign_up_page));
  });

  test('gets English without a word', async () => {
    expect(await open(`/join/${listOf(null)}`)).toMatchObject({ language: 'en', title: 'Sign up for News' });
  });

  test('reads nothing of what the operator left undone, which the log tells', async () => {
    await makeTemplate('gone');
    const sign_up = { double_opt_in: true, confirmation_template: 'gone', sign_up_page: true };
    const list = await on.list({ ...sign_up, language: 'de' });
    await on.app.call('DELETE', '/api/v1/emails/templates/gone', { key: template_key });
    const page = await open(`/join/${list}`);
    expect(page).toMatchObject({ status: 409, language: 'de', title: WORDS.de.refusals.not_possible.title });
    expect(page.text).toContain(WORDS.de.texts.confirmation_template_unusable);
    expect(page.text).not.toContain('confirmation_template');
    expect(on.app.logs()).toContain('its confirmation_template');
  });
});
