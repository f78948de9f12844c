/** Changing contacts: limits to their letter, several changes at once, and tags of many while others go on. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;
beforeAll(async () => {
  on = await startMarketingApp();
  list = await on.list();
});

let count = 0;
async function makeContact(fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  count += 1;
  return on.contact(list, `c${count}@example.com`, fields);
}
const patch = (id: unknown, body: unknown) => on.call('PATCH', `/email-contacts/${id}`, body);
const show = async (id: unknown) => dataOf(await on.call('GET', `/email-contacts/${id}`));
const times = <T>(n: number, make: (n: number) => T): T[] =>
  Array.from({ length: n }, (_, index) => make(index));

describe('what just fits is taken, and one more is refused by name:', () => {
  const emoji = '🙂';
  for (const [what, fits, more, field] of [
    ['custom fields', customs(50), customs(51), 'custom'],
    [
      'a custom name',
      { custom: { [emoji.repeat(100)]: 1 } },
      { custom: { [emoji.repeat(101)]: 1 } },
      `custom.${emoji.repeat(100)}`,
    ],
    [
      'a custom value',
      { custom: { a: emoji.repeat(1_000) } },
      { custom: { a: emoji.repeat(1_001) } },
      'custom.a',
    ],
    ['tags', { tags: times(50, (n) => `t${n}`) }, { tags: times(51, (n) => `t${n}`) }, 'tags'],
    ['a tag', { tags: [emoji.repeat(100)] }, { tags: [emoji.repeat(101)] }, 'tags.0'],
    ['a first name', { first_name: 'x'.repeat(255) }, { first_name: 'x'.repeat(256) }, 'first_name'],
    ['a source', { source: 'x'.repeat(255) }, { source: 'x'.repeat(256) }, 'source'],
    ['a reason', { reason: 'x'.repeat(1_000) }, { reason: 'x'.repeat(1_001) }, 'reason'],
  ] as const)
    test(what, async () => {
      const { id } = await makeContact(fits);
      expect(await show(id)).toMatchObject(sorted(fits));
      expect((await patch(id, fits)).status).toBe(200);
      const before = await show(id);
      const refused = await patch(id, { ...more, last_name: 'Changed' });
      expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([422, [field]]);
      expect(await show(id)).toEqual(before);
    });

  function customs(n: number) {
    return { custom: Object.fromEntries(times(n, (index) => [`f${index}`, index])) };
  }
  /** Tags are told in alphabetical order. */
  function sorted(fields: object) {
    return 'tags' in fields ? { tags: [...(fields.tags as string[])].sort() } : fields;
  }
});

test('custom takes plain values alone, null leaves one out, and nothing of it reaches the prototype', async () => {
  const { id } = await makeContact({ custom: { s: '', n: -0.5, yes: true, no: false, gone: null } });
  expect((await show(id)).custom).toEqual({ s: '', n: -0.5, yes: true, no: false });
  const hostile = '{"custom":{"__proto__":{"owned":1},"constructor":"x","toString":"y"}}';
  const answer = await on.app.call('PATCH', `/api/v1/email-contacts/${id}`, { key: on.key, body: hostile });
  expect([200, 422]).toContain(answer.status);
  expect(Object.hasOwn(Object.prototype, 'owned')).toBe(false);
  expect(await show(id)).not.toHaveProperty('custom.owned');
});

test('what PATCH may not change it leaves alone, and names as ignored', async () => {
  const contact = await makeContact();
  const answer = await patch(contact.id, {
    status: 'unsubscribed',
    email: 'other@example.com',
    consent_basis: 'contract',
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Warning')).toBe('299 satchel "ignored fields: status, email, consent_basis"');
  expect(await show(contact.id)).toEqual({
    ...contact,
    updated_at: (await show(contact.id)).updated_at as string,
  });
});

test('changes of different fields at the same time all hold, and a leave among them', async () => {
  const { id } = await makeContact({ tags: ['old'] });
  await Promise.all([
    patch(id, { first_name: 'Ann' }),
    patch(id, { last_name: 'Lee' }),
    patch(id, { custom: { plan: 'pro' } }),
    on.call('POST', `/email-contacts/${id}/unsubscribe`),
    on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, { contact_ids: [id], add: ['new'] }),
    patch(id, { reason: 'asked' }),
  ]);
  expect(await show(id)).toMatchObject({
    first_name: 'Ann',
    last_name: 'Lee',
    custom: { plan: 'pro' },
    status: 'unsubscribed',
    tags: ['new', 'old'],
    reason: 'asked',
  });
  const left = await on.call('GET', `/email-lists/${list}/contacts?tag=new&status=active`);
  expect(rowsOf(left)).toEqual([]);
});

test('the same address twice at once is one contact', async () => {
  const own = await on.list();
  const answers = await Promise.all(
    times(8, (n) =>
      on.call('POST', `/email-lists/${own}/contacts`, {
        email: n % 2 ? 'Twin@example.com' : 'twin@EXAMPLE.com',
      }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  expect(new Set(answers.map(({ body }) => (body.data as { id: string }).id)).size).toBe(1);
  expect(dataOf(await on.call('GET', `/email-lists/${own}`))).toMatchObject({ contacts_count: 1 });
});

describe('tags of many', () => {
  test('are changed in pieces, between which other requests are answered', async () => {
    const own = await on.list();
    const text = times(4_000, (n) => `many${n}@example.com`).join('\n');
    dataOf(await on.call('POST', `/email-lists/${own}/imports`, { method: 'paste', text }), 201);
    let is_done = false;
    const tagging = on
      .call('POST', `/email-lists/${own}/contacts/bulk-tag`, { filter: {}, add: ['wave'] })
      .finally(() => {
        is_done = true;
      });
    const seen = new Set<number>();
    while (!is_done) {
      // However many looks fit in, the key may have them.
      on.app.clock.advance(1_000);
      const page = await on.call('GET', `/email-lists/${own}/contacts?tag=wave&per_page=1`);
      seen.add((page.body.meta as { total: number }).total);
      await Bun.sleep(0);
    }
    expect(dataOf(await tagging)).toEqual({ changed: 4_000 });
    // Others saw it on its way.
    expect([...seen].filter((total) => total > 0 && total < 4_000).length).toBeGreaterThan(2);
  });

  test('leave those that have as many as one may have as they are', async () => {
    const own = await on.list();
    const full = await on.contact(own, 'full@example.com', { tags: times(50, (n) => `t${n}`) });
    await on.contact(own, 'room@example.com');
    const answer = await on.call('POST', `/email-lists/${own}/contacts/bulk-tag`, {
      filter: {},
      add: ['more'],
    });
    expect(dataOf(answer)).toEqual({ changed: 1 });
    expect((await show(full.id)).tags).toHaveLength(50);
    const swap = { filter: { q: 'full' }, add: ['more'], remove: ['t0'] };
    await on.call('POST', `/email-lists/${own}/contacts/bulk-tag`, swap);
    expect((await show(full.id)).tags).toContain('more');
  });
});
