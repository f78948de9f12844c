/** Lists of the management plane: all come in pages that say where they stand, but those that the contract names. */
import { beforeAll, expect, test } from 'bun:test';
import { actor, addCapturingMailbox, startTestApp, type TestApp } from '../support/helpers.ts';
import { listOf } from '../support/management.ts';

let app: TestApp;
let token = '';

beforeAll(async () => {
  app = await startTestApp();
  const fields = { name: 't', all_projects: true, projects: [] };
  ({ token } = await app.services.tokens.create(actor, { ...fields, capabilities: ['can_administer'] }));
  for (const name of ['a', 'b', 'c']) await addCapturingMailbox(app, `hello@${name}.example.com`);
});

test('those that are plain arrays are these', () => {
  const plain = app.app.routes.filter(
    ({ plane, method, docs }) =>
      plane === 'management' &&
      method === 'GET' &&
      docs.response?.type === 'array' &&
      !Object.hasOwn(Object(docs.query?.properties), 'per_page'),
  );
  expect(plain.map(({ path }) => path).sort()).toEqual([
    '/global-origins',
    '/projects/:project/api-keys/:apiKey/origins',
    '/projects/:project/email-templates',
    '/projects/:project/environments',
    '/projects/:project/vault',
    '/relay-providers',
    '/vault/services',
  ]);
});

test.each(['/sending-domains', '/mailboxes', '/findings'])(
  '%s has the page that was asked for',
  async (path) => {
    const ask = (query: string) => app.call('GET', `/api/public/v1${path}${query}`, { token });
    const all = listOf(await ask('?per_page=50'));
    const second = await ask('?per_page=2&page=2');
    // What a finding says may differ each time: how much room is left, say.
    const named = (rows: typeof all) => rows.map(({ check, name, address }) => check ?? name ?? address);
    expect(named(listOf(second))).toEqual(named(all.slice(2, 4)));
    expect([second.body.meta, second.body.message]).toMatchObject([
      { current_page: 2, per_page: 2, total: all.length, from: 3, prev_page: 1 },
      expect.stringContaining('Page 2 of'),
    ]);
  },
);
