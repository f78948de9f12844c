/** What strangers see, before they do: the pages and mails of typed settings, word for word those that people get afterwards. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { contactsOf } from '../../support/addresses.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';
import { invalidFieldsOf } from '../../support/management.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let templates_key: string;

beforeAll(async () => {
  on = await startMarketingApp();
  await addCapturingMailbox(on.app);
  templates_key = await on.project.key({
    can_write: true,
    can_read: true,
    permissions: { email_template: true },
  });
  await template('confirm', {
    body_html: '<p>Hello {{first_name}}, <a href="{{confirm_url}}">yes</a></p>',
    body_text: 'Yes: {{confirm_url}}',
  });
});

async function template(slug: string, fields: Record<string, unknown>): Promise<void> {
  const body = { name: slug, slug, category: 'opt_in', subject: 'Confirm {{list_name}}', ...fields };
  const made = await on.app.call('POST', '/api/v1/emails/templates', { key: templates_key, body });
  expect(made.status).toBe(201);
}

interface Preview {
  language: string;
  pages: { page: string; title: string; html: string | null; leads_to: string | null }[];
  newsletter: { body_html: string; body_text: string };
  confirmation: { subject: string; body_html: string; body_text: string } | null;
  confirmation_problem: string | null;
}
const ask = (body: object) => on.mirror('POST', '/email-marketing/pages/preview', body);
async function preview(body: object): Promise<Preview & { of(page: string): string }> {
  const answer = await ask(body);
  if (answer.status !== 200) throw new Error(answer.text);
  const shown = answer.body.data as Preview;
  return { ...shown, of: (page) => shown.pages.find((each) => each.page === page)?.html ?? '' };
}
/** What is different from visit to visit. */
const settled = (page: string): string => page.replaceAll(/value="\d+-[0-9a-f]{32}"/g, 'value=""');

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const visit = async (path: string, body?: string): Promise<string> => {
  const options = body === undefined ? {} : { headers: form, body };
  return settled((await on.app.call(body === undefined ? 'GET' : 'POST', path, options)).text);
};

async function confirmationTo(email: string) {
  await on.app.app.engine.whenIdle();
  const [row] = on.app.services.database.read.all<{
    subject: string;
    body_html: string | null;
    body_text: string | null;
  }>(sql`SELECT subject, body_html, body_text FROM emails JOIN email_bodies ON email_id = id
    WHERE to_email = ${email} AND source = 'confirmation'`);
  if (!row) throw new Error(`no mail to ${email}`);
  return row;
}

const LOOKS = {
  brand_name: 'Söhne & Co',
  brand_color: '#ffee00',
  brand_logo_url: 'https://cdn.example.com/logo.png',
  brand_website_url: 'https://shop.example.com',
  postal_address: 'Söhne & Co\n1 High Street',
};

describe('the preview', () => {
  test('is what people get once it is saved, in the language of the list', async () => {
    const list = await on.list({
      name: 'Neues',
      language: 'de',
      double_opt_in: true,
      confirmation_template: 'confirm',
      sign_up_page: true,
      is_public: true,
    });
    const shown = await preview({ settings: LOOKS, list, language: 'fr' });
    expect(shown.language).toBe('de');
    expect(shown.pages.map(({ page }) => page)).toEqual([
      'join',
      'thanks',
      'confirm',
      'confirmed',
      'unsubscribe',
      'unsubscribed',
      'taken_back',
      'choices_saved',
    ]);
    dataOf(await on.call('PATCH', '/email-marketing/settings', LOOKS));

    const { sign_up_url } = dataOf(await on.call('GET', `/email-lists/${list}`));
    const join = new URL(String(sign_up_url)).pathname;
    expect(await visit(join)).toBe(shown.of('join'));
    expect(await visit(join, 'email=ann%40example.com&first_name=Ann')).toBe(shown.of('thanks'));
    const mail = await confirmationTo('ann@example.com');
    const [, confirm = ''] = /(\/confirm\/[^\s"]+)/.exec(mail.body_text ?? '') ?? [];
    const asPreviewed = (text: string | null): string | undefined =>
      text?.replaceAll(confirm, '/confirm/preview');
    expect(asPreviewed(mail.body_html)).toBe(shown.confirmation?.body_html);
    expect(asPreviewed(mail.body_text)).toBe(shown.confirmation?.body_text);
    expect(mail.subject).toBe(shown.confirmation?.subject ?? '?');
    expect(await visit(confirm)).toBe(shown.of('confirm'));
    expect(await visit(confirm, '')).toBe(shown.of('confirmed'));

    const { subscriptions, projects, database } = on.app.services;
    const [{ id } = { id: '' }] = contactsOf(on.app.services, on.project.id, 'ann@example.com');
    const url = await database.write((tx) =>
      subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: id }),
    );
    const { pathname } = new URL(url);
    const page = await visit(pathname);
    expect(page).toBe(shown.of('unsubscribe'));
    expect(page).toContain('Neues');
    const shown_field = /name="shown" value="([^"]*)"/.exec(page)?.[1] ?? '';
    const kept = new URLSearchParams({
      choices: '1',
      shown: shown_field,
      tracking: '1',
      [`list.${list}`]: '1',
    });
    expect(await visit(pathname, kept.toString())).toBe(shown.of('choices_saved'));
    const done = (await on.app.call('POST', pathname, { headers: form, body: 'button=1' })).text;
    expect(settled(done)).toBe(shown.of('unsubscribed'));
    const value = /name="take_back" value="([^"]*)"/.exec(done)?.[1] ?? '';
    expect(await visit(pathname, new URLSearchParams({ take_back: value }).toString())).toBe(
      shown.of('taken_back'),
    );
    await on.call('PATCH', `/email-lists/${list}`, { is_public: false });
  });

  test('is of what is typed, of a list or without one, and saves nothing', async () => {
    const list = await on.list({ name: 'News' });
    const before = on.app.services.database.read.all(sql`SELECT * FROM contact_lists, marketing_settings`);
    const shown = await preview({
      list,
      settings: { brand_name: 'Typed', tracking: 'consented' },
      list_changes: {
        name: 'Typed list',
        signed_up_url: 'https://shop.example.com/inbox',
        confirmation_template: 'confirm',
        is_public: true,
      },
      language: 'es',
    });
    expect(shown.language).toBe('es');
    for (const text of ['Typed list', 'name="tracking"', '<html lang="es">'])
      expect(shown.of('join')).toContain(text);
    expect(shown.of('unsubscribe')).toContain('Typed list');
    expect(shown.pages.find(({ page }) => page === 'thanks')).toMatchObject({
      html: null,
      leads_to: 'https://shop.example.com/inbox',
    });
    expect(shown.newsletter.body_html).toContain('Typed');
    expect(shown.confirmation?.subject).toBe('Confirm Typed list');
    const after = on.app.services.database.read.all(sql`SELECT * FROM contact_lists, marketing_settings`);
    expect(after).toEqual(before);
    const without = await preview({ settings: { postal_address: null, brand_logo_url: null } });
    expect(without.newsletter.body_html).toContain('{{ postal_address }}');
    expect(without.newsletter.body_html).not.toContain('<img');
    expect(without).toMatchObject({ language: 'en', confirmation: null, confirmation_problem: 'is not set' });
  });

  test('says what is wrong by field, of whom it may show, and why a mail is none', async () => {
    const bad = await ask({
      settings: { brand_color: 'red', brand_logo_url: 'http://x.example/l.png' },
      list_changes: { confirmed_url: 'http://shop.example.com' },
    });
    expect(bad.status).toBe(422);
    expect(invalidFieldsOf(bad).toSorted()).toEqual([
      'list_changes.confirmed_url',
      'settings.brand_color',
      'settings.brand_logo_url',
    ]);
    expect((await ask({ list: '01JYZ3NDEKTSV4RRFFQ69G5FAV' })).status).toBe(404);
    expect((await ask({ settings: { accounts: ['a@example.com'] } })).status).toBe(200);
    expect((await ask({ language: 'xx' })).status).toBe(422);
    await template('strange', { body_text: '{{confirm_url}} {{discount}}' });
    const refused = await ask({ list_changes: { confirmation_template: 'strange' } });
    expect(invalidFieldsOf(refused)).toEqual(['list_changes.confirmation_template']);
    const marked = await preview({ settings: { brand_name: '<script>alert(1)</script>' } });
    expect(JSON.stringify([marked.pages, marked.newsletter.body_html])).not.toContain('<script>');
  });
});

describe('the mail that asks to confirm', () => {
  async function asked(slug: string, settings: object, fields: object = {}) {
    await on.call('PATCH', '/email-marketing/settings', settings);
    const list = await on.list({
      double_opt_in: true,
      confirmation_template: slug,
      sign_up_page: true,
      ...fields,
    });
    const { sign_up_url } = dataOf(await on.call('GET', `/email-lists/${list}`));
    const email = `to-${list.toLowerCase()}@example.com`;
    await visit(new URL(String(sign_up_url)).pathname, new URLSearchParams({ email }).toString());
    return confirmationTo(email);
  }

  test('wears the layout, in HTML and in text, with brand and address, and nothing to unsubscribe from', async () => {
    const mail = await asked('confirm', LOOKS, { language: 'fr' });
    for (const part of [
      'class="s-card"',
      'lang="fr"',
      '#ffee00',
      'logo.png',
      'Söhne &amp; Co<br>1 High Street',
    ])
      expect(mail.body_html).toContain(part);
    expect(mail.body_text).toMatch(
      /^Yes: \S+\n\n----\nSöhne & Co\nSöhne & Co\n1 High Street\nhttps:\/\/shop.example.com\n$/,
    );
    for (const body of [mail.body_html, mail.body_text])
      expect(body).not.toMatch(/unsubscribe|null|undefined/i);
  });

  test('without an address has none, and one part alone wears it too', async () => {
    await template('text-only', { body_text: 'Yes: {{confirm_url}}' });
    const mail = await asked('text-only', { ...LOOKS, postal_address: null, brand_website_url: null });
    expect(mail.body_html).toBeNull();
    expect(mail.body_text).toMatch(/^Yes: \S+\n\n----\nSöhne & Co\n$/);
  });

  test('that is a whole document of its own keeps its looks', async () => {
    await template('own', {
      body_html: '<!doctype html><html><body><a href="{{confirm_url}}">Yes</a></body></html>',
      body_text: 'Yes: {{confirm_url}}',
    });
    const mail = await asked('own', LOOKS);
    expect(mail.body_html).toMatch(/^<!doctype html><html><body><a href="\S+">Yes<\/a><\/body><\/html>$/);
    expect(mail.body_text).toMatch(/^Yes: \S+$/);
  });
});
