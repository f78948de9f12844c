/** A mail shown while it is written: whose values it has, how it looks, and what is wrong with it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { longestTurnMs } from '../../support/event-loop.ts';
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

/** As many as a body may have. */
function many(piece: (n: number) => string): string {
  let text = '';
  for (let n = 0; text.length < 480_000; n++) text += piece(n);
  return text;
}

test.each([
  ['links', many((n) => `<a href="https://a.example/${n}">x</a>`)],
  ['braces', many(() => '{{')],
  ['names', many((n) => `{{n${n}}}`)],
  ['styles that never end', `${many(() => '<style>')}<body>`],
  ['bodies that never end', many(() => '<body ')],
])('25,000 %s keep nobody waiting, and two of a caller at once are made', async (_, body_html) => {
  const draft = { subject: 's', body_html };
  for (const body of [draft, { ...draft, is_marketing: true, layout: 'marketing' }]) {
    let answers: Answer[] = [];
    const turn_ms = await longestTurnMs(async () => {
      answers = await Promise.all(Array.from({ length: 5 }, () => preview(body)));
    });
    expect(turn_ms).toBeLessThan(150);
    const [first, second, ...others] = answers;
    expect(others.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(others[0]?.headers.get('retry-after')).toBe('1');
    // A placeholder is shown longer than it was written.
    for (const made of [first, second]) expect([200, 422]).toContain(made?.status ?? 0);
  }
});

test('what no rewriter gets through is refused, and so is what its values make too long', async () => {
  const of_marketing = { subject: 's', is_marketing: true, layout: 'marketing' };
  for (const body_html of ['<p></div>'.repeat(53_000), `${'<p>'.repeat(60_000)}${'</x>'.repeat(30_000)}`])
    for (const draft of [{ subject: 's' }, of_marketing])
      expect(invalidFieldsOf(await preview({ ...draft, body_html }))).toEqual(['body_html']);
  // As old mail programs write it, and deep tables.
  for (const body_html of ['<p>x<br>'.repeat(5_000), `${'<div>'.repeat(900)}${'</div>'.repeat(900)}`])
    expect((await preview({ ...of_marketing, body_html })).status).toBe(200);
  const repeated = { body_text: '{{a}}'.repeat(90_000), variables: { a: 'x'.repeat(400_000) } };
  expect(invalidFieldsOf(await preview({ subject: 's', ...repeated }))).toEqual(['body_text']);
  expect(invalidFieldsOf(await preview({ ...of_marketing, ...repeated }))).toEqual(['template']);
  const { id } = await on.contact(on.list_id, 'long@example.com', { custom: { a: 'x'.repeat(900) } });
  const merged = { ...of_marketing, body_text: '{{custom.a}}'.repeat(1_000), contact: String(id) };
  expect((await preview(merged)).text).toContain('has more than 512000 bytes once its values are merged in');
});
