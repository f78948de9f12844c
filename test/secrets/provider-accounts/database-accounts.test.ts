/** Database accounts and database projects: who sees and changes them, what is sealed, and how projects are linked. */
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

let stage: Management;
let all: string;
let scoped: string;
let revealer: string;

beforeAll(async () => {
  stage = await startManagement();
  const manage: Capability[] = ['can_manage_database', 'can_read_database_tokens'];
  all = await stage.makeToken({ capabilities: manage });
  scoped = await stage.makeToken({ projects: ['mine'], capabilities: manage });
  revealer = await stage.makeToken({ capabilities: ['can_read_database_tokens'] });
});

const rowsOf = (table: string): unknown[] =>
  stage.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`));
const run = (statement: string): Promise<unknown> =>
  stage.app.services.database.write((tx) => void tx.run(sql.raw(statement)));
const make = async (path: string, body: unknown, token = all): Promise<Record<string, unknown>> => {
  const answer = await stage.call('POST', path, token, body);
  expect([path, answer.status]).toEqual([path, 201]);
  return dataOf(answer);
};
const statusOf = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await stage.call(method, path, token, body);
  return [answer.status, codeOf(answer)];
};

describe('a database account', () => {
  test('is made with a sealed token, shown without it, changed, revealed and deleted', async () => {
    const made = await make('/database-accounts', {
      name: 'Team',
      access_token: 'sbp_0123456789abcdef0123456789abcdef',
      provider: 'supabase',
      organization_slug: 'acme',
      expires_at: '2030-06-01T00:00:00+02:00',
    });
    expect(made).toEqual({
      id: expect.any(Number),
      public_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      name: 'Team',
      provider: 'supabase',
      organization_slug: 'acme',
      token_prefix: 'sbp_0123',
      expires_at: '2030-05-31T22:00:00.000Z',
      created_at: '2030-01-15T12:00:00.000Z',
    });
    for (const ref of [made.id, made.public_id]) {
      expect(dataOf(await stage.call('GET', `/database-accounts/${ref}`, all))).toEqual(made);
    }
    const path = `/database-accounts/${made.id}`;
    const changed = await stage.call('PATCH', path, all, {
      name: 'Renamed',
      expires_at: null,
      access_token: 'short',
    });
    expect(dataOf(changed)).toEqual({ ...made, name: 'Renamed', expires_at: null, token_prefix: 's' });
    expect(stage.lastEvent()).toMatchObject({
      event: 'database_account.updated',
      target: `database_account:${made.id}`,
      metadata: { name: 'Renamed' },
      changes: {
        name: { from: made.name, to: 'Renamed' },
        expires_at: { from: made.expires_at, to: null },
        access_token: { secret: true },
      },
    });
    expect(dataOf(await stage.call('PATCH', path, all, {}))).toEqual(dataOf(changed));
    const revealed = await stage.call('POST', `${path}/reveal`, revealer);
    expect([revealed.status, dataOf(revealed)]).toEqual([200, { access_token: 'short' }]);
    expect(stage.lastEvent()).toMatchObject({ event: 'database_account.revealed' });
    expect(dataOf(await stage.call('DELETE', path, all))).toEqual({ deleted: true, cascade: { links: 0 } });
    expect(await statusOf('GET', path, all)).toEqual([404, 'NOT_FOUND']);
  });

  test('needs a name and a token, and neither can be taken from it', async () => {
    const missing = await stage.call('POST', '/database-accounts', all, { provider: 'x' });
    expect([missing.status, invalidFieldsOf(missing)]).toEqual([422, ['name', 'access_token']]);
    const { id } = await make('/database-accounts', { name: 'a', access_token: 'b' });
    const nulls = await stage.call('PATCH', `/database-accounts/${id}`, all, {
      name: null,
      access_token: null,
    });
    expect([nulls.status, invalidFieldsOf(nulls)]).toEqual([422, ['name', 'access_token']]);
    const bad = await stage.call('PATCH', `/database-accounts/${id}`, all, { expires_at: 'soon' });
    expect(invalidFieldsOf(bad)).toEqual(['expires_at']);
  });

  test('is for tokens of all projects alone', async () => {
    const { id } = await make('/database-accounts', { name: 'a', access_token: 'b' });
    expect(listOf(await stage.call('GET', '/database-accounts', scoped))).toEqual([]);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/reveal'],
    ] as const) {
      const body = method === 'PATCH' ? { name: 'stolen' } : undefined;
      expect(await statusOf(method, `/database-accounts/${id}${path}`, scoped, body)).toEqual([
        404,
        'NOT_FOUND',
      ]);
    }
    // Refused before the body is judged.
    expect(await statusOf('POST', '/database-accounts', scoped, {})).toEqual([403, 'FORBIDDEN']);
  });

  test('in use is 409, and goes once nothing uses it', async () => {
    const account = await make('/database-accounts', { name: 'a', access_token: 'b' });
    const project = await make('/database-projects', { ref: 'r', name: 'n', account_id: account.public_id });
    expect(project.account_id).toBe(account.id);
    expect(await statusOf('DELETE', `/database-accounts/${account.id}`, all)).toEqual([409, 'CONFLICT']);
    await stage.call('PATCH', `/database-projects/${project.id}`, all, { account_id: null });
    expect((await stage.call('DELETE', `/database-accounts/${account.id}`, all)).status).toBe(200);
  });

  test('whose token does not decrypt is 409 PLAINTEXT_UNAVAILABLE', async () => {
    const [one, two] = [
      await make('/database-accounts', { name: 'a', access_token: 'token-one' }),
      await make('/database-accounts', { name: 'b', access_token: 'token-two' }),
    ];
    await run(
      `UPDATE database_accounts SET sealed_access_token = (SELECT sealed_access_token FROM database_accounts WHERE id = ${two.id}) WHERE id = ${one.id}`,
    );
    const answer = await stage.call('POST', `/database-accounts/${one.id}/reveal`, all);
    expect([answer.status, codeOf(answer), detailsOf(answer).reason]).toEqual([
      409,
      'PLAINTEXT_UNAVAILABLE',
      'undecryptable',
    ]);
    expect(answer.text).not.toContain('token-two');
  });
});

describe('a database project', () => {
  const SECRETS = {
    secret_key: 'canary-secret-key',
    db_password: 'canary-password',
    connection_string: 'postgres://canary',
  };

  test('is made with sealed secrets, shown without them, changed, revealed and deleted', async () => {
    const answer = await stage.call('POST', '/database-projects', all, {
      ref: 'abcdefgh',
      name: 'Prod',
      region: 'eu-central-1',
      status: 'ACTIVE_HEALTHY',
      api_url: 'https://abcdefgh.db.test',
      publishable_key: 'pk',
      db_host: 'db.test',
      db_port: 5432,
      db_name: 'postgres',
      db_user: 'postgres',
      pool_mode: 'session',
      ...SECRETS,
    });
    const made = dataOf(answer);
    expect(answer.text).not.toContain('canary');
    expect(made).toEqual({
      id: expect.any(Number),
      public_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      ref: 'abcdefgh',
      name: 'Prod',
      region: 'eu-central-1',
      status: 'ACTIVE_HEALTHY',
      api_url: 'https://abcdefgh.db.test',
      publishable_key: 'pk',
      db_host: 'db.test',
      db_port: 5432,
      db_name: 'postgres',
      db_user: 'postgres',
      pool_mode: 'session',
      account_id: null,
    });
    const path = `/database-projects/${made.public_id}`;
    expect(dataOf(await stage.call('POST', `${path}/reveal`, revealer))).toEqual({
      ...SECRETS,
      undecryptable: [],
    });
    expect(stage.lastEvent()).toMatchObject({ event: 'database_project.revealed' });
    const changed = await stage.call('PATCH', path, all, { region: null, db_password: null, db_port: 6543 });
    expect(dataOf(changed)).toEqual({ ...made, region: null, db_port: 6543 });
    expect(dataOf(await stage.call('POST', `${path}/reveal`, revealer)).db_password).toBeNull();
    expect(JSON.stringify([rowsOf('database_projects'), rowsOf('audit_events')])).not.toContain('canary');
    expect(dataOf(await stage.call('DELETE', path, all))).toMatchObject({ deleted: true });
    expect(await statusOf('GET', path, all)).toEqual([404, 'NOT_FOUND']);
  });

  test('needs ref and name, and takes only what fits', async () => {
    const missing = await stage.call('POST', '/database-projects', all, {});
    expect([missing.status, invalidFieldsOf(missing)]).toEqual([422, ['ref', 'name']]);
    for (const [field, value] of [
      ['pool_mode', 'statement'],
      ['db_port', 65_536],
      ['api_url', 'ftp://x'],
      ['account_id', 999_999],
      ['account_id', 'no-such-account'],
    ] as const) {
      const answer = await stage.call('POST', '/database-projects', all, {
        ref: 'r',
        name: 'n',
        [field]: value,
      });
      expect([field, answer.status, invalidFieldsOf(answer)]).toEqual([field, 422, [field]]);
    }
  });

  test('lists secrets that do not decrypt, and is 409 when none does', async () => {
    const { id } = await make('/database-projects', { ref: 'r', name: 'n', ...SECRETS });
    await run(`UPDATE database_projects SET sealed_db_password = sealed_secret_key WHERE id = ${id}`);
    expect(dataOf(await stage.call('POST', `/database-projects/${id}/reveal`, all))).toEqual({
      ...SECRETS,
      db_password: null,
      undecryptable: ['db_password'],
    });
    await run(
      `UPDATE database_projects SET sealed_secret_key = 'x', sealed_connection_string = 'x' WHERE id = ${id}`,
    );
    expect(await statusOf('POST', `/database-projects/${id}/reveal`, all)).toEqual([
      409,
      'PLAINTEXT_UNAVAILABLE',
    ]);
  });
});

describe('a scoped token', () => {
  test('sees database projects that are linked to its projects, and no others', async () => {
    const linked = await make('/database-projects', { ref: 'linked', name: 'linked', secret_key: 's' });
    const loose = await make('/database-projects', { ref: 'loose', name: 'loose' });
    await stage.call('PATCH', '/projects/mine', all, { database_project_id: linked.id });
    const listed = listOf(await stage.call('GET', '/database-projects', scoped));
    expect(listed.map((each) => each.ref)).toEqual(['linked']);
    expect((await stage.call('POST', `/database-projects/${linked.id}/reveal`, scoped)).status).toBe(200);
    for (const path of [`/database-projects/${loose.id}`, `/database-projects/${loose.public_id}`]) {
      expect(await statusOf('GET', path, scoped)).toEqual([404, 'NOT_FOUND']);
      expect(await statusOf('PATCH', path, scoped, { name: 'x' })).toEqual([404, 'NOT_FOUND']);
      expect(await statusOf('DELETE', path, scoped)).toEqual([404, 'NOT_FOUND']);
      expect(await statusOf('POST', `${path}/reveal`, scoped)).toEqual([404, 'NOT_FOUND']);
    }
    const unlinked = await stage.call('PATCH', '/projects/mine', scoped, { database_project_id: null });
    expect(dataOf(unlinked).database_project_id).toBeNull();
    expect(await statusOf('GET', `/database-projects/${linked.id}`, scoped)).toEqual([404, 'NOT_FOUND']);
  });

  test('links only what it can see', async () => {
    const loose = await make('/database-projects', { ref: 'loose', name: 'loose' });
    const link = (token: string, id: unknown) =>
      stage.call('PATCH', '/projects/mine', token, { database_project_id: id });
    const refused = await link(scoped, loose.public_id);
    expect([refused.status, invalidFieldsOf(refused)]).toEqual([422, ['database_project_id']]);
    expect((await link(all, 999_999)).status).toBe(422);
    const without = await stage.makeToken({});
    expect((await link(without, loose.id)).status).toBe(403);
    expect(dataOf(await link(all, loose.public_id)).database_project_id).toBe(loose.id);
    expect((await link(scoped, loose.id)).status).toBe(200);
    await link(all, null);
  });

  test('owns what it creates, and shows it at its project unless another one is shown there', async () => {
    const first = await make('/database-projects', { ref: 'first', name: 'first' }, scoped);
    const shown = async () => dataOf(await stage.call('GET', '/projects/mine', all)).database_project_id;
    expect(await shown()).toBe(first.id);
    const second = await make('/database-projects', { ref: 'second', name: 'second' }, scoped);
    expect(await shown()).toBe(first.id);
    const listed = listOf(await stage.call('GET', '/database-projects', scoped));
    expect(listed.map((each) => each.ref)).toEqual(['second', 'first']);
    await stage.call('PATCH', '/projects/mine', scoped, { database_project_id: second.id });
    expect(await shown()).toBe(second.id);
    const account = await make('/database-accounts', { name: 'a', access_token: 'b' });
    const borrowed = await stage.call('PATCH', `/database-projects/${second.id}`, scoped, {
      account_id: account.id,
    });
    expect([borrowed.status, invalidFieldsOf(borrowed)]).toEqual([422, ['account_id']]);
    expect((await stage.call('DELETE', `/database-projects/${second.id}`, scoped)).status).toBe(200);
    expect(await shown()).toBeNull();
  });

  test('does not change what projects out of its scope use as well', async () => {
    const shared = await make('/database-projects', { ref: 'shared', name: 'shared' });
    for (const slug of ['mine', 'other']) {
      await stage.call('PATCH', `/projects/${slug}`, all, { database_project_id: shared.id });
    }
    const path = `/database-projects/${shared.id}`;
    expect((await stage.call('GET', path, scoped)).status).toBe(200);
    expect(await statusOf('PATCH', path, scoped, { name: 'x' })).toEqual([403, 'FORBIDDEN']);
    expect(await statusOf('DELETE', path, scoped)).toEqual([403, 'FORBIDDEN']);
    expect(dataOf(await stage.call('GET', path, all)).name).toBe('shared');
  });

  test('of a deleted project stays scoped: it sees nothing and creates nothing', async () => {
    const actor = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;
    await stage.app.services.projects.create(actor, { name: 'Doomed', slug: 'doomed' });
    const orphan = await stage.makeToken({ projects: ['doomed'], capabilities: ['can_manage_database'] });
    await make('/database-projects', { ref: 'r', name: 'n' }, orphan);
    const deleted = await stage.call('DELETE', '/projects/doomed', all);
    expect(dataOf(deleted).cascade).toMatchObject({ links: 1 });
    expect(listOf(await stage.call('GET', '/database-projects', orphan))).toEqual([]);
    expect(await statusOf('POST', '/database-projects', orphan, {})).toEqual([403, 'FORBIDDEN']);
  });
});
