/** AI accounts: their keys, their assignment to projects, the standing rule, and what a scoped token may do. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Capability } from '../../../src/platform/http/callers.ts';
import {
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

const BOTH: Capability[] = ['can_read_ai_accounts', 'can_write_vault'];
const KEY = 'sk-canary-0123456789abcdef0123456789';
const actor = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;

let stage: Management;
let all: string;
let scoped: string;

beforeAll(async () => {
  stage = await startManagement();
  all = await stage.makeToken({ capabilities: BOTH });
  scoped = await stage.makeToken({ projects: ['mine'], capabilities: BOTH });
});

const rowsOf = (table: string): unknown[] =>
  stage.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`));
const run = (statement: string): Promise<unknown> =>
  stage.app.services.database.write((tx) => void tx.run(sql.raw(statement)));
const make = async (fields: Record<string, unknown> = {}, token = all): Promise<Record<string, unknown>> => {
  const body = { name: 'Account', provider: 'openai', api_key: KEY, ...fields };
  const answer = await stage.call('POST', '/ai-accounts', token, body);
  expect([answer.status, answer.text.includes('canary-0123')]).toEqual([201, false]);
  return dataOf(answer);
};
const statusOf = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await stage.call(method, path, token, body);
  return [answer.status, codeOf(answer)];
};
const projectsOf = async (account: unknown, token = all): Promise<unknown[]> =>
  listOf(await stage.call('GET', `/ai-accounts/${account}/projects`, token)).map((each) => each.slug);
const accountsOf = async (project: string, token = all): Promise<unknown[]> =>
  listOf(await stage.call('GET', `/projects/${project}/ai-accounts`, token)).map((each) => each.id);

describe('an account', () => {
  test('is made with a sealed key, shown without it, changed, revealed and deleted', async () => {
    const made = await make({ base_url: 'https://api.openai.com/v1', organization_id: 'org-1' });
    expect(made).toEqual({
      id: expect.any(Number),
      public_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      name: 'Account',
      provider: 'openai',
      key_prefix: 'sk-canar',
      base_url: 'https://api.openai.com/v1',
      organization_id: 'org-1',
      is_active: true,
      all_projects: false,
      created_at: '2030-01-15T12:00:00.000Z',
    });
    const path = `/ai-accounts/${made.id}`;
    expect(dataOf(await stage.call('GET', `/ai-accounts/${made.public_id}`, all))).toEqual(made);
    expect(dataOf(await stage.call('POST', `${path}/reveal`, all))).toEqual({ api_key: KEY });
    expect(stage.lastEvent()).toMatchObject({
      event: 'ai_account.revealed',
      target: `ai_account:${made.id}`,
    });
    const changed = await stage.call('PATCH', path, all, {
      is_active: false,
      base_url: null,
      api_key: 'sk-canary-new-0123456789abcdef0123456789',
    });
    expect(dataOf(changed)).toEqual({ ...made, is_active: false, base_url: null });
    expect(dataOf(await stage.call('POST', `${path}/reveal`, all))).toEqual({
      api_key: 'sk-canary-new-0123456789abcdef0123456789',
    });
    expect(JSON.stringify([rowsOf('ai_accounts'), rowsOf('audit_events')])).not.toContain('canary-');
    await stage.call('PUT', `${path}/projects`, all, { project_ids: ['mine'] });
    expect(dataOf(await stage.call('DELETE', path, all))).toEqual({ deleted: true, cascade: { links: 1 } });
    expect(await statusOf('GET', path, all)).toEqual([404, 'NOT_FOUND']);
    expect(rowsOf('ai_account_projects')).toEqual([]);
  });

  test('takes the decided providers alone, and a key unless the provider works without one', async () => {
    for (const provider of ['openai', 'anthropic', 'gemini', 'openrouter']) {
      const answer = await stage.call('POST', '/ai-accounts', all, { name: 'a', provider });
      expect([provider, answer.status, invalidFieldsOf(answer)]).toEqual([provider, 422, ['api_key']]);
    }
    for (const provider of ['bedrock', 'vertex-ai', 'ollama', 'custom']) {
      const { id } = dataOf(await stage.call('POST', '/ai-accounts', all, { name: 'a', provider }));
      expect(dataOf(await stage.call('POST', `/ai-accounts/${id}/reveal`, all))).toEqual({ api_key: null });
      await stage.call('DELETE', `/ai-accounts/${id}`, all);
    }
    const bad = await stage.call('POST', '/ai-accounts', all, { provider: 'acme', base_url: 'x' });
    expect(invalidFieldsOf(bad)).toEqual(['name', 'provider', 'base_url']);
    const { id } = await make();
    const unset = await stage.call('PATCH', `/ai-accounts/${id}`, all, { api_key: null });
    expect([unset.status, invalidFieldsOf(unset)]).toEqual([422, ['api_key']]);
    const nulls = await stage.call('PATCH', `/ai-accounts/${id}`, all, { name: null, all_projects: null });
    expect(invalidFieldsOf(nulls)).toEqual(['name', 'all_projects']);
    await stage.call('DELETE', `/ai-accounts/${id}`, all);
  });

  test('whose key was swapped for that of another is 409 PLAINTEXT_UNAVAILABLE', async () => {
    const [one, two] = [await make(), await make()];
    await run(
      `UPDATE ai_accounts SET sealed_api_key = (SELECT sealed_api_key FROM ai_accounts WHERE id = ${two.id}) WHERE id = ${one.id}`,
    );
    const answer = await stage.call('POST', `/ai-accounts/${one.id}/reveal`, all);
    expect([answer.status, codeOf(answer), detailsOf(answer).reason]).toEqual([
      409,
      'PLAINTEXT_UNAVAILABLE',
      'undecryptable',
    ]);
    for (const { id } of [one, two]) await stage.call('DELETE', `/ai-accounts/${id}`, all);
  });

  test('gives its key away only once that is on record', async () => {
    const { id } = await make();
    await run(
      "CREATE TRIGGER no_record BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no record'); END",
    );
    const answer = await stage.call('POST', `/ai-accounts/${id}/reveal`, all);
    await run('DROP TRIGGER no_record');
    expect([answer.status, answer.text.includes(KEY)]).toEqual([500, false]);
    await stage.call('DELETE', `/ai-accounts/${id}`, all);
  });
});

describe('assignments', () => {
  test('of an account are replaced by project_ids, which name projects in each way', async () => {
    const { id } = await make();
    const path = `/ai-accounts/${id}/projects`;
    const answer = await stage.call('PUT', path, all, {
      project_ids: [stage.mine.id, stage.other.public_id, 'mine'],
    });
    expect([answer.status, listOf(answer).map((each) => each.slug)]).toEqual([200, ['other', 'mine']]);
    expect(answer.body.meta).toMatchObject({ total: 2 });
    expect(stage.lastEvent()).toMatchObject({
      event: 'ai_account.assigned',
      metadata: { added: [stage.mine.id, stage.other.id], removed: [] },
    });
    await stage.call('PUT', path, all, { project_ids: ['mine'] });
    expect(await projectsOf(id)).toEqual(['mine']);
    const page = await stage.call('GET', `${path}?per_page=1&page=2`, all);
    expect([listOf(page), page.body.meta]).toMatchObject([[], { total: 1, prev_page: 1 }]);
  });

  test('refuse both forms at once, neither, and projects that do not exist', async () => {
    const { id } = await make();
    for (const [body, field] of [
      [{ all_existing: true, project_ids: ['mine'] }, '_'],
      [{ all_existing: false, project_ids: ['mine'] }, '_'],
      [{}, '_'],
      [{ all_existing: false }, '_'],
      [{ project_ids: ['mine', 'nowhere'] }, 'project_ids.1'],
      [{ project_ids: 'mine' }, 'project_ids'],
    ] as const) {
      const answer = await stage.call('PUT', `/ai-accounts/${id}/projects`, all, body);
      expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [field]]);
    }
    expect(await projectsOf(id)).toEqual([]);
  });

  test('of all_existing are a snapshot, those of all_projects a standing rule', async () => {
    const [snapshot, standing] = [await make(), await make()];
    await stage.call('PUT', `/ai-accounts/${snapshot.id}/projects`, all, { all_existing: true });
    const ruled = await stage.call('PATCH', `/ai-accounts/${standing.id}`, all, { all_projects: true });
    expect(dataOf(ruled).all_projects).toBe(true);
    expect(await projectsOf(snapshot.id)).toEqual(['other', 'mine']);
    const { projects } = stage.app.services;
    await projects.create(actor, { name: 'Later', slug: 'later' });
    expect(await projectsOf(snapshot.id)).toEqual(['other', 'mine']);
    expect(await projectsOf(standing.id)).toEqual(['later', 'other', 'mine']);
    expect(await accountsOf('later')).toEqual([standing.id]);
    await stage.call('PATCH', `/ai-accounts/${standing.id}`, all, { all_projects: false });
    expect(await accountsOf('later')).toEqual([]);
    await projects.remove(actor, 'later');
  });

  test('of a project are replaced by account_ids', async () => {
    const [one, two] = [await make(), await make()];
    const path = '/projects/other/ai-accounts';
    await stage.call('PUT', path, all, { account_ids: [one.id, two.public_id] });
    expect(await accountsOf('other')).toEqual([two.id, one.id]);
    const answer = await stage.call('PUT', path, all, { account_ids: [two.id] });
    expect(listOf(answer).map((each) => each.id)).toEqual([two.id]);
    expect(stage.lastEvent()).toMatchObject({
      event: 'project.ai_accounts_assigned',
      target: `project:${stage.other.id}`,
    });
    const bad = await stage.call('PUT', path, all, { account_ids: [two.id, 999_999] });
    expect([bad.status, invalidFieldsOf(bad)]).toEqual([422, ['account_ids.1']]);
    expect((await stage.call('PUT', path, all, {})).status).toBe(422);
    expect(await accountsOf('other')).toEqual([two.id]);
  });

  test('go with their project, and are counted in its cascade', async () => {
    const { projects } = stage.app.services;
    await projects.create(actor, { name: 'Doomed', slug: 'doomed' });
    const { id } = await make();
    await stage.call('PUT', `/ai-accounts/${id}/projects`, all, { project_ids: ['doomed'] });
    expect((await projects.remove(actor, 'doomed')).cascade.links).toBe(1);
    expect(await projectsOf(id)).toEqual([]);
  });
});

describe('a scoped token', () => {
  test('sees accounts of its projects and of all projects, and the rest is 404', async () => {
    const [assigned, foreign, loose, standing] = [
      await make(),
      await make(),
      await make(),
      await make({ all_projects: true }),
    ];
    await stage.call('PUT', `/ai-accounts/${assigned.id}/projects`, all, { project_ids: ['mine', 'other'] });
    await stage.call('PUT', `/ai-accounts/${foreign.id}/projects`, all, { project_ids: ['other'] });
    const seen = listOf(await stage.call('GET', '/ai-accounts', scoped)).map((each) => each.id);
    expect(seen).toContain(assigned.id);
    expect(seen).toContain(standing.id);
    for (const { id } of [foreign, loose]) {
      expect(seen).not.toContain(id);
      for (const [method, suffix, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'stolen' }],
        ['DELETE', '', undefined],
        ['POST', '/reveal', undefined],
        ['GET', '/projects', undefined],
        ['PUT', '/projects', { all_existing: true }],
      ] as const) {
        const refused = await statusOf(method, `/ai-accounts/${id}${suffix}`, scoped, body);
        expect(refused).toEqual([404, 'NOT_FOUND']);
      }
      const taken = await stage.call('PUT', '/projects/mine/ai-accounts', scoped, { account_ids: [id] });
      expect([taken.status, invalidFieldsOf(taken)]).toEqual([422, ['account_ids.0']]);
    }
    expect(dataOf(await stage.call('POST', `/ai-accounts/${standing.id}/reveal`, scoped))).toEqual({
      api_key: KEY,
    });
    expect(await projectsOf(assigned.id, scoped)).toEqual(['mine']);
    expect(await projectsOf(standing.id, scoped)).toEqual(['mine']);
  });

  test('has what it creates assigned to its projects', async () => {
    const { id } = await make({}, scoped);
    expect(await projectsOf(id)).toEqual(['mine']);
    expect((await stage.call('PATCH', `/ai-accounts/${id}`, scoped, { name: 'x' })).status).toBe(200);
    expect((await stage.call('DELETE', `/ai-accounts/${id}`, scoped)).status).toBe(200);
  });

  test('replaces among its own projects alone', async () => {
    const { id } = await make();
    const path = `/ai-accounts/${id}/projects`;
    await stage.call('PUT', path, all, { project_ids: ['mine', 'other'] });
    const foreign = await stage.call('PUT', path, scoped, { project_ids: ['other'] });
    const missing = await stage.call('PUT', path, scoped, { project_ids: ['nowhere'] });
    expect([foreign.status, foreign.text]).toEqual([422, missing.text]);
    await stage.call('PUT', path, scoped, { project_ids: [] });
    expect(await projectsOf(id)).toEqual(['other']);
    await stage.call('PATCH', `/ai-accounts/${id}`, all, { all_projects: true });
    await stage.call('PUT', path, scoped, { all_existing: true });
    await stage.call('PATCH', `/ai-accounts/${id}`, all, { all_projects: false });
    expect(await projectsOf(id)).toEqual(['other', 'mine']);
  });

  test('sets no standing rule, and changes nothing that reaches beyond its projects', async () => {
    const before = rowsOf('ai_accounts').length;
    const body = { name: 'a', provider: 'ollama', all_projects: true };
    expect(await statusOf('POST', '/ai-accounts', scoped, body)).toEqual([403, 'FORBIDDEN']);
    // That comes before 422.
    expect(await statusOf('POST', '/ai-accounts', scoped, { ...body, name: 5 })).toEqual([403, 'FORBIDDEN']);
    expect(rowsOf('ai_accounts').length).toBe(before);
    const own = await make({}, scoped);
    expect(await statusOf('PATCH', `/ai-accounts/${own.id}`, scoped, { all_projects: true })).toEqual([
      403,
      'FORBIDDEN',
    ]);
    const [standing, shared] = [await make({ all_projects: true }), await make()];
    await stage.call('PUT', `/ai-accounts/${shared.id}/projects`, all, { all_existing: true });
    for (const { id } of [standing, shared]) {
      for (const change of [{ all_projects: false }, { base_url: 'https://evil.test' }]) {
        expect(await statusOf('PATCH', `/ai-accounts/${id}`, scoped, change)).toEqual([403, 'FORBIDDEN']);
      }
      expect(await statusOf('DELETE', `/ai-accounts/${id}`, scoped)).toEqual([403, 'FORBIDDEN']);
    }
    expect(dataOf(await stage.call('GET', `/ai-accounts/${standing.id}`, all))).toEqual(standing);
  });

  test('of a deleted project sees accounts of all projects alone, and creates nothing', async () => {
    const { projects } = stage.app.services;
    await projects.create(actor, { name: 'Gone', slug: 'gone' });
    const orphan = await stage.makeToken({ projects: ['gone'], capabilities: BOTH });
    await projects.remove(actor, 'gone');
    const seen = listOf(await stage.call('GET', '/ai-accounts', orphan));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((each) => each.all_projects !== true)).toEqual([]);
    expect(await statusOf('POST', '/ai-accounts', orphan, {})).toEqual([403, 'FORBIDDEN']);
  });
});
