/** The audit trail: what its filters pick, what its pages count, and that it cannot be changed. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { changesOf } from '../../../src/platform/database/audit-trail.ts';
import { actor } from '../../support/helpers.ts';
import {
  beforeEachOnStage,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
} from '../../support/management.ts';

let stage: Management;
/** `mine` has project.created at 12:00, three api_key.created at 12:01, 12:02, 12:03, the last by a token. */
beforeEachOnStage(async (given) => {
  stage = given;
  const { clock, services } = stage.app;
  for (let n = 0; n < 2; n += 1) {
    clock.advance(60_000);
    await services.keys.create(actor, stage.mine, { name: `key ${n}` });
  }
  clock.advance(60_000);
  await stage.call('POST', '/projects/mine/api-keys', stage.scoped, { name: 'by token' });
  await services.keys.create(actor, stage.other, { name: 'foreign' });
});

const list = (query: string, token = stage.scoped) =>
  stage.call('GET', `/projects/mine/audit${query}`, token);

describe('the trail of a project', () => {
  test('runs newest first and says who did what from where', async () => {
    const answer = await list('');
    expect(answer.status).toBe(200);
    const events = listOf(answer);
    expect(events.map((event) => event.event)).toEqual([
      'api_key.created',
      'api_key.created',
      'api_key.created',
      'project.created',
    ]);
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      at: '2030-01-15T12:03:00.000Z',
      event: 'api_key.created',
      target: 'api_key:3',
      actor_kind: 'token',
      actor_id: '2',
      actor_name: 'test token',
      ip: null,
      project_id: stage.mine.public_id,
      metadata: { name: 'by token', key_prefix: expect.any(String) },
      sentence: 'test token made the key by token',
      changes: {},
    });
    expect(events[3]).toMatchObject({ actor_kind: 'shell', actor_name: 'tester' });
  });

  test.each([
    ['', 4],
    ['?event=api_key.created', 3],
    ['?event=api_key.deleted', 0],
    ['?actor=tester', 3],
    ['?actor=test%20token', 1],
    ['?actor=TESTER', 0],
    ['?since=2030-01-15T12:02:00Z', 2],
    ['?until=2030-01-15T12:02:00Z', 2],
    ['?since=2030-01-15T12:01:00Z&until=2030-01-15T13:02:00%2B01:00', 1],
    ['?since=2031-01-01', 0],
    ['?event=api_key.created&actor=tester&since=2030-01-15T12:02:00Z', 1],
  ])('%s picks %i', async (query, n) => {
    const answer = await list(query);
    expect(listOf(answer)).toHaveLength(n);
    expect(answer.body.meta).toMatchObject({ total: n });
  });

  test('comes in pages', async () => {
    const answer = await list('?per_page=3&page=2');
    expect(listOf(answer).map((event) => event.event)).toEqual(['project.created']);
    expect(answer.body.meta).toMatchObject({ total: 4, last_page: 2, from: 4, to: 4, next_page: null });
  });

  test.each([
    ['since', 'since=yesterday'],
    ['until', 'until=2030-02-30'],
    ['event', 'event='],
    ['page', 'page=0'],
  ])('refuses a bad %s', async (field, query) => {
    const answer = await list(`?${query}`);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
  });
});

test('the newest events of all projects, deleted ones too, are there for the shell', async () => {
  const { audit, projects } = stage.app.services;
  await projects.remove(actor, 'mine');
  const events = audit.listNewest({}, 3).map((event) => [event.event, event.project_id]);
  expect(events).toEqual([
    ['public_api.project.deleted', stage.mine.public_id],
    ['api_key.created', stage.other.public_id],
    ['api_key.created', stage.mine.public_id],
  ]);
});

test.each([sql`UPDATE audit_events SET event = 'x'`, sql`DELETE FROM audit_events`])(
  'no statement changes what is on record',
  async (change) => {
    const before = stage.snapshot();
    const refusal = stage.app.services.database.write((tx) => {
      tx.run(change);
    });
    expect(
      await refusal.then(
        () => 'changed',
        () => 'refused',
      ),
    ).toBe('refused');
    expect(stage.snapshot()).toBe(before);
  },
);

describe('the whole trail', () => {
  const all = (query: string, token: string) => stage.call('GET', `/audit${query}`, token);

  test('has every project and what belongs to none, and its total is counted whatever is deleted', async () => {
    const admin = await stage.makeToken({ capabilities: ['can_administer'] });
    await stage.app.services.projects.remove(actor, 'other');
    const answer = await all('?per_page=3', admin);
    expect(listOf(answer).map(({ event, project_id }) => [event, project_id])).toEqual([
      ['public_api.project.deleted', stage.other.public_id],
      ['token.created', null],
      ['api_key.created', stage.other.public_id],
    ]);
    const rows = stage.app.services.database.read.all(sql`SELECT * FROM audit_events`);
    expect(answer.body.meta).toMatchObject({ total: rows.length, count: 3 });
    const keys = await all('?event=api_key.created', admin);
    expect(keys.body.meta).toMatchObject({ total: 4, count: 4 });
  });

  test('is filtered as that of a project', async () => {
    const admin = await stage.makeToken({ capabilities: ['can_administer'] });
    const named = listOf(await all('?actor=test%20token', admin));
    expect(named.map(({ metadata }) => metadata)).toMatchObject([{ name: 'by token' }]);
    const since = listOf(await all('?since=2030-01-15T12:03:00Z&event=api_key.created', admin));
    expect(since.map(({ metadata }) => metadata)).toMatchObject([{ name: 'foreign' }, { name: 'by token' }]);
    expect(listOf(await all('?until=2030-01-15T12:01:00Z&event=api_key.created', admin))).toEqual([]);
    expect(invalidFieldsOf(await all('?since=yesterday', admin))).toEqual(['since']);
  });

  test('is for administrators alone', async () => {
    for (const token of [stage.all, stage.scoped]) {
      const answer = await all('', token);
      expect([answer.status, detailsOf(answer)]).toEqual([403, { required_scope: 'can_administer' }]);
    }
    expect((await stage.call('GET', '/audit', null)).status).toBe(401);
  });
});

describe('a change is on the trail with what each field that changed was and became', () => {
  test('whatever else was sent, cut, with moments as the API has them', () => {
    const before = { id: 1, name: 'a', notes: null, tags: ['x'], expires_at: 0, updated_at: 1, is_on: true };
    const after = {
      ...before,
      notes: 'n'.repeat(300),
      tags: ['y'.repeat(300)],
      expires_at: 1_000,
      updated_at: 2,
    };
    expect(changesOf(before, after)).toEqual({
      notes: { from: null, to: 'n'.repeat(200) },
      tags: { from: ['x'], to: `["${'y'.repeat(198)}` },
      expires_at: { from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:01.000Z' },
    });
    expect(changesOf(before, { ...before })).toEqual({});
  });

  test('but of secrets, and of what is known of a contact, only that they changed', () => {
    const of = (field: string, options = {}) =>
      JSON.stringify(changesOf({ [field]: 'old' }, { [field]: 'new' }, options));
    for (const field of ['sealed_api_key', 'password_hash', 'sign_up_token'])
      expect(of(field)).toBe(JSON.stringify({ [field.replace('sealed_', '')]: { secret: true } }));
    expect(of('url', { secret: ['url'] })).toBe('{"url":{"secret":true}}');
    expect(of('first_name', { is_personal: true })).toBe('{"first_name":{"personal":true}}');
  });
});
