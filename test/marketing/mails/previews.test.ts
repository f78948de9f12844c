/** A mail shown while it is written: whose values it has, how it looks, and what is wrong with it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, actor } from '../../support/helpers.ts';
import { dataOf, invalidFieldsOf } from '../../support/management.ts';
import { type MailApp, startMailApp } from './setup.ts';

const PATH = '/email-templates/preview';

let on: MailApp;
let ann = '';

beforeAll(async () => {
  on = await startMailApp();
  const fields = { first_name: 'Ann', custom: { shop: 'Berlin' } };
  ann = String((await on.contact(on.list_id, 'ann@example.com', fields)).id);
});

const preview = (body: Record<string, unknown>): Promise<Answer> => on.mirror('POST', PATH, body);
const shown = async (body: Record<string, unknown>) => dataOf(await preview(body));
const problemsOf = async (body: Record<string, unknown>) =>
  (await shown(body)).problems as { code: string; message: string }[]; // By its schema.
const deadOf = async (body_html: string) =>
  (await problemsOf({ subject: 's', body_html })).filter(({ code }) => code === 'dead_link');
const stored = () =>
  on.rows(
    'SELECT (SELECT count(*) FROM email_templates) t, (SELECT count(*) FROM emails) e, (SELECT count(*) FROM jobs) j, (SELECT count(*) FROM audit_events) a, (SELECT count(*) FROM merge_sources) s',
  );

describe('a marketing mail', () => {
  const news = {
    ...{ is_marketing: true, layout: 'marketing', preheader: 'For {{first_name}}' },
    ...{
      subject: 'Hello {{first_name}}',
      body_markdown: 'In [{{custom.shop}}](https://shop.example.com/a).',
    },
  };

  test("has a contact's values, in its layout, with links as they were written and a test's to leave", async () => {
    const before = stored();
    const mail = await shown({ ...news, contact: ann });
    expect(mail).toMatchObject({ subject: 'Hello Ann', preheader: 'For Ann', problems: [] });
    const html = String(mail.body_html);
    expect(html).toContain('The Shop');
    expect(html).toContain('<a href="https://shop.example.com/a">Berlin</a>');
    expect(html).toContain('/unsubscribe/test');
    expect(html).not.toMatch(/\/[co]\//);
    expect(mail.body_text).toContain('Berlin');
    expect(stored()).toEqual(before);
  });

  test('has a sample without a contact, whether one is asked for or not', async () => {
    const mail = await shown({ ...news, sample: true });
    expect(mail).toMatchObject({ subject: 'Hello there', problems: [] });
    expect(mail.body_text).toContain('Sample shop');
    expect(await shown(news)).toEqual(mail);
    expect(await shown({ ...news, variables: { default_first_name: 'friend' } })).toMatchObject({
      subject: 'Hello friend',
    });
  });

  test("never shows a contact's token, nor a preheader without HTML", async () => {
    const [{ contact_token = '' } = {}] = on.rows('SELECT contact_token FROM contacts');
    const body = {
      ...news,
      body_markdown: null,
      body_text: 'https://x.example/?t={{contact_token}} {{unsubscribe_url}}',
    };
    const mail = await shown({ ...body, contact: ann });
    expect(mail).toMatchObject({ body_html: null, preheader: null, problems: [] });
    expect(mail.body_text).toContain('?t=sample-token');
    expect(JSON.stringify(mail)).not.toContain(String(contact_token));
  });

  test('says what has no value and leaves it in its place, and that nobody could leave', async () => {
    const body = {
      is_marketing: true,
      subject: '{{ offer }}',
      body_html: '<p>{{custom.size}}</p>',
      body_text: 'x',
    };
    const mail = await shown({ ...body, contact: ann });
    expect(mail.subject).toBe('{{offer}}');
    expect(mail.problems).toEqual([
      { code: 'missing_value', message: 'There is no value for {{offer}}.' },
      { code: 'missing_value', message: 'There is no value for {{custom.size}}.' },
      { code: 'no_unsubscribe', message: expect.stringContaining('The HTML has no link to unsubscribe') },
      { code: 'no_unsubscribe', message: expect.stringContaining('The text has no link to unsubscribe') },
    ]);
    expect(await problemsOf({ ...body, declared: [{ name: 'offer' }], sample: true })).toMatchObject([
      { code: 'no_unsubscribe' },
      { code: 'no_unsubscribe' },
    ]);
  });
});

describe('a transactional mail', () => {
  const order = { subject: 'Order {{ order.id }}', body_text: 'Dear {{ first_name }}, see {{ order_url }}' };

  test('has the values that were sent, and names what has none', async () => {
    const mail = await shown({ ...order, variables: { order: { id: 7 }, first_name: ['Bo'] } });
    expect(mail).toMatchObject({ subject: 'Order 7', body_html: null, preheader: null });
    expect(mail.problems).toEqual([
      { code: 'missing_value', message: 'There is no value for {{order_url}}.' },
      { code: 'missing_value', message: 'The value for {{first_name}} is no text, number or boolean.' },
    ]);
    expect(await problemsOf({ subject: '{{a}}', body_text: 'x', declared: [{ name: 'a' }] })).toEqual([]);
  });

  test("has samples where they are asked for, or a contact's fields, and the layout of none", async () => {
    expect(await shown({ ...order, sample: true, layout: 'marketing' })).toMatchObject({
      ...{ subject: 'Order Sample order.id', problems: [] },
      body_text: 'Dear Sample first_name, see https://example.com/',
    });
    expect(await shown({ ...order, contact: ann })).toMatchObject({
      body_text: expect.stringContaining('Dear Ann'),
    });
    expect(await problemsOf({ subject: 's', body_html: 'x' })).toEqual([]);
  });
});

describe('links that lead nowhere', () => {
  const links: [string, string][] = [
    ['', 'has no address'],
    ['#', 'leads to no page'],
    ['#top', 'leads to no page'],
    ['/sale', 'is relative'],
    ['//shop.example.com/', 'is relative'],
    ['shop.example.com', 'is relative'],
    ['http://localhost:3000/x', "the reader's own machine"],
    ['http://127.0.0.1/', "the reader's own machine"],
    ['https://[::1]/', "the reader's own machine"],
    ['javascript:alert(1)', 'do not follow'],
    ['ftp://files.example.com/', 'do not follow'],
    ['https://', 'is no web address'],
  ];
  for (const [href, why] of links)
    test(`"${href}"`, async () => {
      expect(await deadOf(`<a href="${href}">x</a><a href="${href}">again</a>`)).toEqual([
        { code: 'dead_link', message: expect.stringContaining(why) },
      ]);
    });

  test('are none of those that mail programs follow, nor one whose value is missing', async () => {
    const good = [
      'https://example.com/',
      'mailto:a@example.com',
      'tel:+49301',
      'https://x.example/{{ id }}',
      '{{ url }}',
    ];
    expect(await deadOf(good.map((href) => `<a href="${href}">x</a>`).join(''))).toEqual([]);
    expect(await problemsOf({ subject: 's', body_text: 'at http://localhost/ now' })).toMatchObject([
      { code: 'dead_link' },
    ]);
  });

  test('are named up to fifty', async () => {
    const many = Array.from({ length: 60 }, (_, n) => `<a href="/${n}">x</a>`).join('');
    expect(await deadOf(many)).toHaveLength(50);
  });
});

test('what could be no mail is refused by field', async () => {
  const { services } = on.app;
  await services.projects.create(actor, { name: 'Other', slug: 'other' });
  const body = { subject: 's', body_text: 'x' };
  const fields = async (sent: Record<string, unknown>) => invalidFieldsOf(await preview(sent));
  expect(await fields({ subject: 's' })).toEqual(['body_html']);
  expect(await fields({ ...body, contact: ann, sample: true })).toEqual(['sample']);
  expect(await fields({ ...body, contact: on.list_id })).toEqual(['contact']);
  expect(await fields({ ...body, is_marketing: true, variables: { a: [] } })).toEqual(['variables.a']);
  const { token } = await services.tokens.create(actor, {
    ...{ name: 'other', all_projects: false, projects: ['other'], capabilities: [] },
  });
  const theirs = await on.app.call('POST', `/api/public/v1/projects/other${PATH}`, {
    token,
    body: { ...body, contact: ann },
  });
  expect(invalidFieldsOf(theirs)).toEqual(['contact']);
});
