/** The words that a broadcast or step has of its own, and drafts of any words: kept apart, copied, swept, tested. */
import { beforeAll, expect, test } from 'bun:test';
import { createCronEntries } from '../../src/app/cron.ts';
import { actor } from '../support/helpers.ts';
import { invalidFieldsOf } from '../support/management.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from './broadcasts/setup.ts';

const TEMPLATES = '/email-templates';
const DAY_HOURS = 24;
const OWN = {
  ...{ name: 'June', category: 'marketing', subject: 'Hello {{first_name}}', body_markdown: 'Some *news*.' },
  ...{ is_marketing: true, layout: 'marketing', is_own: true },
};

let on: BroadcastApp;
let list = '';

beforeAll(async () => {
  on = await startBroadcastApp();
  list = await on.list();
});

const words = async (fields = {}) => dataOf(await on.mirror('POST', TEMPLATES, { ...OWN, ...fields }), 201);
const find = (slug: unknown) => on.mirror('GET', `${TEMPLATES}/${slug}`);
const listed = async (query = '') =>
  rowsOf(await on.mirror('GET', TEMPLATES + query)).map(({ slug }) => slug);
const sweep = () =>
  createCronEntries(on.app.services)
    .find(({ name }) => name === 'words of nothing')
    ?.run();
const changesTold = () => on.app.services.audit.listNewest({ event: 'template.changed' }, 50);

test('own words take no name, stand in no list unless asked for, and are for marketing', async () => {
  const { slug, is_own } = await words();
  expect([slug, is_own]).toEqual([expect.stringMatching(/^own-[0-9a-z]{26}$/), true]);
  expect(await listed()).not.toContain(slug);
  expect(await listed('?with_own=true')).toContain(slug);
  const refused = await on.mirror('POST', TEMPLATES, { ...OWN, is_marketing: false, layout: null });
  expect(invalidFieldsOf(refused)).toEqual(['is_own']);
  const changed = await on.mirror('PATCH', `${TEMPLATES}/${slug}`, { is_marketing: false });
  expect(invalidFieldsOf(changed)).toEqual(['is_own']);
});

test('a copy has words of its own, and what both took from a template stays one', async () => {
  const { slug } = await words();
  const own = await on.broadcast(list, { template: slug });
  const copy = dataOf(await on.post(own, 'copy'), 201);
  expect(copy.template).not.toBe(slug);
  expect(dataOf(await find(copy.template))).toMatchObject({ is_own: true, body_markdown: 'Some *news*.' });
  const shared = dataOf(await on.post(await on.broadcast(list), 'copy'), 201);
  expect(shared.template).toBe('news');

  const steps = [
    { key: 'a', template: slug },
    { key: 'b', template: 'news', is_final: true },
  ];
  const sequence = await on.draft(list, steps);
  const copied = dataOf(await on.call('POST', `/email-sequences/${sequence}/copy`), 201);
  const [a, b] = (copied.steps as { template: string }[]).map(({ template }) => template);
  expect([a === slug, b]).toEqual([false, 'news']);
  expect((await find(a)).status).toBe(200);
});

test('words that nothing names any more are gone a day later, and no others', async () => {
  const [used, stepped, left, deleted] = await Promise.all([words(), words(), words(), words()]);
  await on.broadcast(list, { template: used.slug });
  await on.draft(list, [{ key: 'a', template: stepped.slug, is_final: true }]);
  const gone = await on.broadcast(list, { template: deleted.slug });
  dataOf(await on.call('DELETE', `/email-broadcasts/${gone}`));
  await sweep();
  expect((await find(left.slug)).status).toBe(200);
  on.app.clock.advance(DAY_HOURS * 3_600_000 + 1);
  const young = await words();
  await sweep();
  const standing = await Promise.all([used, stepped, left, deleted, young].map(({ slug }) => find(slug)));
  expect(standing.map(({ status }) => status)).toEqual([200, 200, 404, 404, 200]);
  expect((await find('news')).status).toBe(200);
});

test('a draft is in no mail and on no trail until it is published', async () => {
  const before = dataOf(await find('news'));
  const told = changesTold().length;
  const draft = { subject: '', body_markdown: 'Half a {{sent', preheader: 'Soon' };
  const saved = dataOf(await on.mirror('PATCH', `${TEMPLATES}/news`, { draft }));
  expect(saved).toEqual({ ...before, draft, has_draft: true });
  const [{ has_draft } = {}] = rowsOf(await on.mirror('GET', TEMPLATES)).filter(
    ({ slug }) => slug === 'news',
  );
  expect(has_draft).toBe(true);
  expect(changesTold()).toHaveLength(told);
  const id = await on.broadcast(list);
  expect(dataOf(await on.call('GET', `/email-broadcasts/${id}/preview`)).body_text).toContain('Text of news');
  const long = { body_text: 'x'.repeat(3_000_000) };
  expect(invalidFieldsOf(await on.mirror('PATCH', `${TEMPLATES}/news`, { draft: long }))).toEqual([
    'draft.body_text',
  ]);
  const published = dataOf(
    await on.mirror('PATCH', `${TEMPLATES}/news`, { subject: 'Now', body_text: 'Anew', draft: null }),
  );
  expect(published).toMatchObject({ subject: 'Now', body_text: 'Anew', draft: null });
  expect(changesTold()).toHaveLength(told + 1);
  expect(Object.keys(changesTold()[0]?.changes ?? {}).toSorted()).toEqual(['body_text', 'subject']);
});

test('what is typed of own words in one sitting is on the trail once', async () => {
  const { slug } = await words();
  const told = changesTold().length;
  const type = (subject: string) => on.mirror('PATCH', `${TEMPLATES}/${slug}`, { subject });
  for (const subject of ['J', 'Ju', 'Jun']) {
    await type(subject);
    on.app.clock.advance(60_000);
  }
  expect(changesTold()).toHaveLength(told + 1);
  on.app.clock.advance(11 * 60_000);
  await type('June');
  expect(changesTold()).toHaveLength(told + 2);
  expect(changesTold()[0]).toMatchObject({ target: `template:${slug}`, metadata: { name: 'June' } });
});

test('what is being written is sent as a test, as its preview shows it', async () => {
  const ann = await on.contact(list, 'ann@example.com', { first_name: 'Ann' });
  const send = (body: object) => on.mirror('POST', `${TEMPLATES}/test`, { to: 'me@example.org', ...body });
  const marketing = {
    subject: 'Hi {{first_name}}',
    body_markdown: 'Dear {{first_name}}',
    is_marketing: true,
  };
  const { email_id } = dataOf(
    await send({ ...marketing, layout: 'marketing', contact: ann.id, preheader: 'Soon' }),
    202,
  );
  const plain = { subject: 'Order {{id}}', body_text: 'For {{name}}', variables: { id: '7' }, sample: true };
  const other = dataOf(await send(plain), 202);
  await on.pass();
  const mailOf = async (id: unknown) => dataOf(await on.mirror('GET', `/emails/${id}`));
  const contentOf = async (id: unknown) => dataOf(await on.mirror('GET', `/emails/${id}/content`));
  expect(await mailOf(email_id)).toMatchObject({ subject: '[Test] Hi Ann', source: 'test', status: 'sent' });
  const { body_text: text } = await contentOf(email_id);
  expect(text).toContain('Dear Ann');
  expect(text).toContain('/unsubscribe/test');
  expect(await mailOf(other.email_id)).toMatchObject({ subject: '[Test] Order 7' });
  expect((await contentOf(other.email_id)).body_text).toBe('For Sample name');
  expect(on.app.services.audit.listNewest({ event: 'email.accepted' }, 2)).toHaveLength(2);

  expect(invalidFieldsOf(await send({ subject: '', body_text: 'x' }))).toEqual(['subject']);
  expect(invalidFieldsOf(await send({ subject: 'x' }))).toContain('body_html');
  expect((await on.mirror('POST', `${TEMPLATES}/test`, marketing)).status).toBe(422);
  const { projects } = on.app.services;
  await projects.update(actor, projects.require(on.project.public_id), { status: 'inactive' });
  expect((await send(plain)).status).toBe(409);
});
