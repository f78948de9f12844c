/** The facets of a list: counted as contacts come, change and go, and told on both planes. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import { dataOf } from '../../support/management.ts';
import { type MarketingApp, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list = '';

beforeAll(async () => {
  on = await startMarketingApp();
});
beforeEach(async () => {
  list = await on.list();
});

const facets = async () => dataOf(await on.call('GET', `/email-lists/${list}/facets`));
const event = (email: string, name: string) =>
  on.call('POST', '/email-contacts/events', { email, list, event: name });
const counts = () =>
  on.app.services.database.read.$client
    .query(
      `SELECT kind, contact_facets.name, n FROM contact_facets JOIN contact_lists ON list_id = contact_lists.id WHERE public_id = ?
        ORDER BY 1, 2`,
    )
    .values(list);

test('an empty list has none', async () => {
  expect(await facets()).toEqual({ tags: [], custom: [], events: [] });
});

test('both planes tell tags, fields with samples and events, most first', async () => {
  await on.contact(list, 'ann@example.com', { tags: ['vip'], custom: { plan: 'pro', seats: 3 } });
  await on.contact(list, 'bob@example.com', { tags: ['vip', 'beta'], custom: { plan: 'free' } });
  await on.contact(list, 'cem@example.com', { custom: { plan: 'pro', is_owner: true } });
  for (const email of ['ann@example.com', 'bob@example.com']) await event(email, 'purchased');
  await event('ann@example.com', 'purchased');
  await event('bob@example.com', 'logged-in');
  const told = {
    tags: [
      { name: 'vip', count: 2 },
      { name: 'beta', count: 1 },
    ],
    custom: [
      { name: 'plan', count: 3, samples: ['pro', 'free'] },
      { name: 'is_owner', count: 1, samples: [true] },
      { name: 'seats', count: 1, samples: [3] },
    ],
    events: [
      { name: 'purchased', count: 2 },
      { name: 'logged-in', count: 1 },
    ],
  };
  expect(await facets()).toEqual(told);
  expect(dataOf(await on.mirror('GET', `/email-lists/${list}/facets`))).toEqual(told);
});

test('they follow each change, and who goes is counted no more', async () => {
  const ann = await on.contact(list, 'ann@example.com', { tags: ['a'], custom: { x: 1, y: 2 } });
  await on.contact(list, 'bob@example.com', { custom: { x: 1 } });
  await event('ann@example.com', 'purchased');
  await on.call('PATCH', `/email-contacts/${ann.id}`, { custom: { y: 3, z: 4 }, tags: ['b'] });
  expect(counts()).toEqual([
    ['custom', 'x', 1],
    ['custom', 'y', 1],
    ['custom', 'z', 1],
    ['event', 'purchased', 1],
  ]);
  expect(await facets()).toMatchObject({ tags: [{ name: 'b', count: 1 }] });
  await on.call('POST', `/email-contacts/${ann.id}/unsubscribe`, {});
  expect(await facets()).toMatchObject({ tags: [{ name: 'b', count: 1 }] });
  const { database } = on.app.services;
  const forgotten = await on.mirror('POST', '/email-addresses/forget', { address: 'ann@example.com' });
  expect(forgotten.status).toBe(200);
  expect(counts()).toEqual([['custom', 'x', 1]]);
  await database.write((tx) => tx.$client.run('DELETE FROM contacts'));
  expect(counts()).toEqual([]);
});

test('names are told up to 200, values up to five different ones of the newest thousand', async () => {
  const { database } = on.app.services;
  const [{ id = 0 } = {}] = database.read.$client
    .query<{ id: number }, [string]>('SELECT id FROM contact_lists WHERE public_id = ?')
    .all(list);
  await database.write((tx) =>
    tx.$client.run(
      `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 1100)
       INSERT INTO contacts (public_id, project_id, list_id, email, custom, status, contact_token, consent_basis, consent_at,
           source_platform, status_changed_at, created_at, updated_at)
         SELECT 'C' || ?1 || '-' || n, 1, ?1, n || '@example.com',
           CASE WHEN n <= 100 THEN json_object('old', 1) ELSE json_object('n', n, 'f' || (n % 250), 'v') END,
           'active', 't' || ?1 || '-' || n, 'consent', 0, 'test', 0, 0, 0 FROM i`,
      [id],
    ),
  );
  const custom = (await facets()).custom as { name: string; count: number; samples: unknown[] }[];
  expect(custom).toHaveLength(200);
  expect(custom[0]).toEqual({ name: 'n', count: 1_000, samples: [1100, 1099, 1098, 1097, 1096] });
  expect(custom[1]).toEqual({ name: 'old', count: 100, samples: [] });
});

test("another project's list is not found", async () => {
  const answer = await on.call('GET', '/email-lists/01ARZ3NDEKTSV4RRFFQ69G5FAV/facets');
  expect(answer.status).toBe(404);
});
