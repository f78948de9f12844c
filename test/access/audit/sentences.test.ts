/** Every action of the audit trail has its sentence, and each says what it was done to. */
import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import { SENTENCES, sentenceOf } from '../../../src/access/audit/sentences.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { dataOf, listOf } from '../../support/management.ts';

const row = { event: 'api_key.rotated', actor_name: 'Ann', target: 'api_key:3', metadata: {}, changes: {} };

/** The actions that the sources put on the trail, by how they write it. */
async function listActions(): Promise<string[]> {
  const found = new Set<string>();
  for await (const path of new Glob('src/**/*.ts').scan()) {
    // What webhooks are told of is no action.
    if (/^src\/(?:console|webhooks\/webhooks)|cli\.ts$/.test(path)) continue;
    const code = await Bun.file(path).text();
    const written =
      /(?:event: |[aA]udit\([^'`]*|noteOf\(|entryOf\(|note\(|EMAIL_RETRIED = |event = [^'\n]*|\? |' : )'((?:public_api\.)?[a-z_]+\.[a-z_]+)'/g;
    for (const [, event = ''] of code.matchAll(written)) found.add(event);
  }
  return [...found].toSorted();
}

test('every action that is put on the trail has one', async () => {
  const actions = await listActions();
  expect(actions.length).toBeGreaterThan(80);
  expect(actions.filter((event) => !(event in SENTENCES))).toEqual([]);
});

test('it says who, what and of a change the fields, in one line', () => {
  expect(sentenceOf(row)).toBe('Ann gave the key 3 a new secret');
  expect(sentenceOf({ ...row, metadata: { name: 'web' } })).toBe('Ann gave the key web a new secret');
  const changes = { daily_limit: { from: 1, to: 2 }, name: { from: 'a', to: 'b' } };
  expect(sentenceOf({ ...row, event: 'api_key.updated', metadata: { name: 'web' }, changes })).toBe(
    'Ann changed the key web: daily limit, name',
  );
  const one = (event: string, field: string, from: unknown, to: unknown) =>
    sentenceOf({ ...row, event, metadata: { name: 'Newsletter' }, changes: { [field]: { from, to } } });
  expect([
    one('list.changed', 'sign_up_page', false, true),
    one('list.changed', 'archived_at', '2030-01-01T00:00:00.000Z', null),
    one('project.updated', 'status', 'active', 'inactive'),
    one('mailbox.changed', 'daily_limit', 1, 2),
    one('person.updated', 'capabilities', [], ['can_read_vault']),
    one('segment.created', 'filter', null, {}),
  ]).toEqual([
    'Ann switched on the sign-up page of Newsletter',
    'Ann restored the list Newsletter',
    'Ann deactivated the project Newsletter',
    'Ann changed the daily limit of the mailbox Newsletter',
    'Ann changed the capabilities of Newsletter',
    'Ann made the segment Newsletter: filter',
  ]);
  const kept = { STRIPE_KEY: { secret: true as const } };
  expect(sentenceOf({ ...row, event: 'vault.updated', changes: kept })).toBe(
    'Ann changed the vault: STRIPE_KEY',
  );
  expect(sentenceOf({ ...row, actor_name: 'A\nB', metadata: { name: "$& $'\n" } })).toBe(
    "A B gave the key $& $' a new secret",
  );
  expect(sentenceOf({ ...row, metadata: { name: 'x'.repeat(5_000) } })).toHaveLength(300);
  expect(sentenceOf({ ...row, event: 'later.done', target: null })).toBe('Ann did later.done of something');
});

test('the API has it in every row', async () => {
  const app = await startTestApp();
  await app.services.projects.create(actor, { name: 'Shop', slug: 'shop' });
  const made = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: ['can_administer'] },
  });
  const answer = await app.call('GET', '/api/public/v1/audit', { token: made.token });
  expect(listOf(answer).map(({ sentence }) => sentence)).toEqual([
    'tester made the token t',
    'tester made the project Shop',
  ]);
  const key = await app.call('POST', '/api/public/v1/projects/shop/api-keys', {
    token: made.token,
    body: { name: 'web' },
  });
  expect(dataOf(key).name).toBe('web');
  const of_project = await app.call('GET', '/api/public/v1/projects/shop/audit', { token: made.token });
  expect(listOf(of_project)[0]?.sentence).toBe('t made the key web');
});

test('so have those whose names are put together', () => {
  const records = ['ai_account', 'database_account', 'database_project'];
  const composed = [
    ...records.flatMap((kind) =>
      ['created', 'updated', 'deleted', 'revealed'].map((done) => `${kind}.${done}`),
    ),
    ...['made_default', 'activated', 'deactivated', 'trusted', 'distrusted'].map(
      (done) => `sending_domain.${done}`,
    ),
    ...['sequence', 'broadcast'].flatMap((what) => [`${what}.created`, `${what}.paused`]),
  ];
  expect(composed.filter((event) => !(event in SENTENCES))).toEqual([]);
});
