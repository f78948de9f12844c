/** A broadcast from its draft to its end: who gets it, who does not and why, and what its numbers say. */
import { beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { addContacts } from '../sequences/setup.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from './setup.ts';

let on: BroadcastApp;
beforeAll(async () => {
  on = await startBroadcastApp();
});

const NOBODY_LEFT_OUT = {
  ...{
    unsubscribed: 0,
    suppressed: 0,
    bounced: 0,
    complained: 0,
    pending: 0,
    paused: 0,
    filter: 0,
    no_value: 0,
  },
};
const NO_STATS = {
  ...{ to_come: 0, opened_by_machine: 0, untracked: 0 },
  ...{
    waiting: 0,
    sent: 0,
    lost: 0,
    clicked: 0,
    opened: 0,
    bounced: 0,
    complained: 0,
    unsubscribed: 0,
    replied: 0,
  },
};

describe('a draft', () => {
  test('shows what it was made of, and may be incomplete', async () => {
    const list = await on.list();
    const filter = { tags_any: ['vip'], custom: { plan: 'pro' } };
    const made = dataOf(
      await on.call('POST', '/email-broadcasts', {
        ...{ name: 'June', list, variables: { n: 5 }, filter, preheader: 'For {{first_name}}' },
      }),
      201,
    );
    expect(made).toEqual({
      ...{ id: expect.any(String), name: 'June', list, template: null, variables: { n: '5' }, filter },
      ...{ preheader: 'For {{first_name}}', segment: null, ab: null },
      filter_sentence: 'Those who have the tag “vip” and have “pro” as plan.',
      ...{
        status: 'draft',
        pause_reason: null,
        pause_words: null,
        is_test: false,
        send_at: null,
        started_at: null,
      },
      ...{
        finished_at: null,
        track_opens: false,
        utm: null,
        in_archive: null,
        recipients: null,
        links: [],
        stats: NO_STATS,
      },
      left_out: { total: 0, by_reason: NOBODY_LEFT_OUT },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    expect((await on.call('GET', '/email-broadcasts?status=draft')).body.data).toContainEqual(made);
    const called = (name: string) => on.call('GET', `/email-broadcasts?name=${encodeURIComponent(name)}`);
    expect((await called(String(made.name))).body).toMatchObject({ data: [made], meta: { total: 1 } });
    expect((await called(String(made.name).slice(0, -1))).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
    const copy = dataOf(await on.post(String(made.id), 'copy'), 201);
    expect(copy).toMatchObject({
      name: 'June (copy)',
      preheader: made.preheader,
      filter,
      variables: { n: '5' },
      status: 'draft',
    });
    expect((await on.call('DELETE', `/email-broadcasts/${copy.id}`)).body.data).toEqual({ deleted: true });
    expect((await on.call('GET', `/email-broadcasts/${copy.id}`)).status).toBe(404);
  });

  test('is refused by field, all at once', async () => {
    const list = await on.list();
    const bad = { name: '', list, filter: { tags: ['a'] }, variables: { a: {} }, preheader: 'x'.repeat(201) };
    const { status, body } = await on.call('POST', '/email-broadcasts', bad);
    expect(status).toBe(422);
    expect(Object.keys(Object(body.errors)).sort()).toEqual([
      'filter.tags',
      'name',
      'preheader',
      'variables.a',
    ]);
    const unknown = await on.call('POST', '/email-broadcasts', { name: 'a', list: 'x'.repeat(26) });
    expect(unknown.body.errors).toHaveProperty('list');
  });

  test('is shown as its reader sees it, its links as they were written, and stores nothing', async () => {
    await on.template('shown', {
      ...{ subject: '{{issue}} for {{first_name}}', body_text: 'Read https://example.com/a & {{gone}}' },
      body_html: '<p>{{first_name}} {{issue}} <a href="https://example.com/{{issue}}">Read</a> {{gone}}</p>',
    });
    const list = await on.list({ language: 'de' });
    const id = await on.broadcast(list, {
      template: 'shown',
      preheader: 'Dear {{first_name}}: {{issue}}',
      variables: { issue: '<June>' },
      track_opens: true,
    });
    const sources = on.count('SELECT count(*) AS n FROM merge_sources');
    const shown = dataOf(await on.call('GET', `/email-broadcasts/${id}/preview`));
    expect(shown).toMatchObject({
      subject: '<June> for there',
      preheader: 'Dear there: <June>',
      missing: ['gone'],
    });
    expect(shown.body_text).toContain('Read https://example.com/a & {{gone}}');
    expect(shown.body_html).toContain(
      '<p dir="auto">there &lt;June&gt; <a href="https://example.com/%3CJune%3E">Read</a> {{gone}}</p>',
    );
    expect(shown.body_html).toContain('>Dear there: &lt;June&gt;&#847;');
    expect(shown.body_html).toContain('<html lang="de">');
    expect(shown.body_text).toContain('\nAbmelden: http');
    // In the layout, and without what only machines see.
    expect(shown.body_html).toContain('/unsubscribe/');
    expect(shown.body_html).not.toContain('/o/');
    expect(on.count('SELECT count(*) AS n FROM merge_sources')).toBe(sources);
    const bare = await on.broadcast(list, { template: null });
    expect((await on.call('GET', `/email-broadcasts/${bare}/preview`)).status).toBe(422);
  });

  test('is told by check what is missing and whom it would reach', async () => {
    const list = await on.list();
    const id = await on.broadcast(list, { template: null });
    const found = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(found).toMatchObject({ ready: false, captured: true, recipients: 0 });
    expect((found.problems as { code: string }[]).map(({ code }) => code)).toEqual(['no_template', 'nobody']);
    const refused = await on.post(id, 'send');
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ code: 'send_refused', problems: found.problems });
    expect(await on.show(id)).toMatchObject({ status: 'draft', recipients: null });
  });
});

test('goes to whoever is active, fits and is not suppressed, each once, and ends', async () => {
  const list = await on.list();
  await on.contact(list, 'ann@example.com', { first_name: 'Ann', tags: ['vip'] });
  await on.contact(list, 'bob@example.com', { tags: ['vip'] });
  await on.contact(list, 'cid@example.com');
  const left = await on.contact(list, 'left@example.com', { tags: ['vip'] });
  await on.contact(list, 'hand@example.com', { tags: ['vip'] });
  await on.call('POST', `/email-contacts/${left.id}/unsubscribe`);
  await on.call('POST', '/email-suppressions', { email: 'hand@example.com' });
  const id = await on.broadcast(list, { filter: { tags_any: ['vip'] } });
  const left_out = { total: 3, by_reason: { ...NOBODY_LEFT_OUT, unsubscribed: 1, suppressed: 1, filter: 1 } };
  expect(dataOf(await on.call('GET', `/email-broadcasts/${id}/check`))).toEqual({
    ...{ ready: true, captured: true, problems: [], warnings: [], recipients: 2, left_out },
  });
  const begun = dataOf(await on.post(id, 'send'), 202);
  expect(begun).toMatchObject({ status: 'sending', recipients: 2, started_at: expect.any(String) });
  expect((await on.post(id, 'send')).status).toBe(409);
  await on.pass();
  expect(await on.got('ann@example.com')).toEqual(['news for Ann']);
  expect(await on.got('bob@example.com')).toEqual(['news for there']);
  for (const name of ['cid', 'left', 'hand']) expect(await on.got(`${name}@example.com`)).toEqual([]);
  expect(await on.show(id)).toMatchObject({
    ...{ status: 'sent', recipients: 2, left_out, finished_at: expect.any(String) },
    stats: { ...NO_STATS, sent: 2 },
  });
  const turns = await on.turns(id);
  expect(turns.get('ann@example.com')).toMatchObject({ status: 'sent', reason: null, clicked_at: null });
  expect(turns.get('cid@example.com')).toMatchObject({
    status: 'left_out',
    reason: 'filter',
    email_id: null,
  });
  expect(turns.size).toBe(5);
  // Whoever comes later gets nothing of it.
  await on.contact(list, 'late@example.com', { tags: ['vip'] });
  await on.pass(24);
  expect(await on.got('late@example.com')).toEqual([]);
  const audit = await on.mirror('GET', '/audit?event=broadcast.sent');
  expect(audit.body.data).toContainEqual(
    expect.objectContaining({ target: `broadcast:${id}`, metadata: { name: 'June', recipients: 2 } }),
  );
});

test('reaches a long list in pieces, whoever it is, once', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'many', count: 320 });
  const id = await on.broadcast(list);
  await on.send(id);
  for (let n = 0; n < 20 && (await on.show(id)).status !== 'sent'; n += 1) {
    on.app.clock.advance(1_000);
    await on.pass();
  }
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 320, waiting: 0, lost: 0 } });
  const sent = `FROM emails WHERE to_email LIKE 'many%' AND status = 'sent'`;
  expect(on.count(`SELECT count(*) AS n ${sent}`)).toBe(320);
  expect(on.count(`SELECT count(DISTINCT to_email) AS n ${sent}`)).toBe(320);
}, 60_000);

describe('a template that takes long to compose', () => {
  const tell = async (path: string, body?: object) => {
    const answer = await on.call(body ? 'POST' : 'GET', path, body);
    return { status: answer.status, text: answer.text };
  };

  test('is composed beside the server', async () => {
    await on.template('long', { body_html: '<ul><li>a</li></ul>'.repeat(25_000), layout: 'marketing' });
    const list = await on.list();
    await addContacts(on, list, { name: 'q', count: 1 });
    const id = await on.broadcast(list, { template: 'long' });
    const transform = spyOn(HTMLRewriter.prototype, 'transform');
    try {
      expect((await tell(`/email-broadcasts/${id}/test`, { to: 'me@example.com' })).status).toBe(202);
      expect((await on.post(id, 'send')).status).toBe(202);
      expect(transform).toHaveBeenCalledTimes(0);
    } finally {
      transform.mockRestore();
    }
    await on.pass();
    expect(await on.got('q0@example.com')).toHaveLength(1);
  });

  test('or can’t be is a problem, and is not sent', async () => {
    const words =
      'The template tangled makes no mail: body_html: has too many tags that close what was never opened';
    await on.template('tangled', {
      body_html: `${'<p>'.repeat(60_000)}${'</x>'.repeat(30_000)}`,
      layout: 'marketing',
    });
    const list = await on.list();
    await addContacts(on, list, { name: 'p', count: 1 });
    const id = await on.broadcast(list, { template: 'tangled' });
    const check = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
    expect(check).toMatchObject({
      ready: false,
      problems: [{ code: 'template_makes_no_mail', message: expect.stringContaining(words) }],
    });
    const sequence = await on.draft(list, [{ key: 'a', template: 'tangled' }]);
    const activated = await tell(`/email-sequences/${sequence}/activate`, {});
    expect([activated.status, activated.text.includes(`a: ${words}`)]).toEqual([422, true]);
  });
});
