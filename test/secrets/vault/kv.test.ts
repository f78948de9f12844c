/** The vault as KV version 2: by node-vault and hvac as they are, and what others may not. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import nodeVault from 'node-vault';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import type { Answer } from '../../support/helpers.ts';
import { type Management, startManagement } from '../../support/management.ts';
import { part } from '../../support/parts.ts';

let stage: Management;
let token: string;

beforeAll(async () => {
  stage = await startManagement();
  token = await stage.makeToken({ capabilities: ['can_read_vault', 'can_write_vault', 'can_reveal_vault'] });
  await put('mine', 'env', { GREETING: 'it\'s "$fine" #1', LINES: 'a\nb' });
  await put('mine', 'stripe', { secret_key: 'sk_1' });
  const content_base64 = Buffer.from('{"a":1}').toString('base64');
  await put('mine', 'google_play', { service_account: { filename: 'play.json', content_base64 } });
});

async function put(project: string, service: string, values: unknown): Promise<void> {
  const answer = await stage.call('PUT', `/projects/${project}/vault/${service}`, token, { values });
  expect(answer.status).toBe(200);
}

const ask = (path: string, sent: string | null = token, method = 'GET'): Promise<Answer> =>
  stage.app.call(method, `/v1${path}`, sent === null ? {} : { headers: { 'X-Vault-Token': sent } });
const member = (value: unknown, ...path: string[]): unknown =>
  path.reduce((at: unknown, name) => (isPlainObject(at) ? at[name] : undefined), value);
const dataOf = (answer: Answer): unknown => member(answer.body, 'data');
const rows = (query: string) => stage.app.services.database.read.all<Record<string, unknown>>(sql.raw(query));
const versionOf = async (project: string): Promise<unknown> =>
  member(dataOf(await ask(`/secret/data/${project}`)), 'metadata', 'version');

const VALUES = { GREETING: 'it\'s "$fine" #1', LINES: 'a\nb', STRIPE_SECRET_KEY: 'sk_1' };

describe('a secret', () => {
  test('is what the server block has, unquoted and without files, in the envelope of KV', async () => {
    const answer = await ask('/secret/data/mine');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      request_id: answer.headers.get('x-request-id'),
      lease_id: '',
      renewable: false,
      lease_duration: 0,
      data: {
        data: VALUES,
        metadata: {
          version: 3,
          created_time: expect.stringMatching(/^\d{4}-.*Z$/),
          deletion_time: '',
          destroyed: false,
          custom_metadata: null,
        },
      },
      wrap_info: null,
      warnings: null,
      auth: null,
      mount_type: 'kv',
    });
    expect([answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      'application/json',
      'no-store',
    ]);
  });

  test('is found under any mount, by slug, id and ULID, by a bearer, whatever the namespace', async () => {
    const { id, public_id } = stage.mine;
    for (const path of [`/kv/data/${id}`, `/apps/data/${public_id}`, '/my%20mount/data/mine'])
      expect(member(dataOf(await ask(path)), 'data')).toEqual(VALUES);
    const headers = { Authorization: `Bearer ${token}`, 'X-Vault-Namespace': 'team' };
    expect((await stage.app.call('GET', '/v1/secret/data/mine', { headers })).status).toBe(200);
  });

  test('is empty where nothing is stored, at version 0', async () => {
    expect(dataOf(await ask('/secret/data/other'))).toMatchObject({ data: {}, metadata: { version: 0 } });
  });

  test('has a version that grows with each change, and no other than that one', async () => {
    const before = Number(await versionOf('mine'));
    await put('mine', 'stripe', { publishable_key: 'pk_1' });
    await put('mine', 'stripe', { publishable_key: null });
    // What was not there is not removed.
    await put('mine', 'stripe', { publishable_key: null });
    expect(await versionOf('mine')).toBe(before + 2);
    for (const [version, status] of [
      ['0', 200],
      [String(before + 2), 200],
      [String(before + 1), 404],
      [String(before + 3), 404],
      ['x', 404],
    ] as const)
      expect([version, (await ask(`/secret/data/mine?version=${version}`)).status]).toEqual([
        version,
        status,
      ]);
    await put('other', 'stripe', { publishable_key: 'pk_2' });
    expect((await stage.call('DELETE', '/projects/other/vault/stripe', token)).status).toBe(200);
    expect(await versionOf('other')).toBe(2);
  });

  test('that does not decrypt is 500 with its name, and none of the others', async () => {
    await put('other', 'env', { GOOD: 'fine', BROKEN: 'x' });
    await stage.app.services.database.write((tx) => {
      tx.run(sql`UPDATE vault_values SET sealed = 'v1.AAAA' WHERE field = 'BROKEN'`);
    });
    const answer = await ask('/secret/data/other');
    expect([answer.status, Object.keys(answer.body)]).toEqual([500, ['errors']]);
    expect(answer.text).toContain('env.BROKEN');
    expect(answer.text).not.toContain('fine');
    await put('other', 'env', { GOOD: null, BROKEN: null });
  });
});

describe('on record', () => {
  test('a minute of one token and project is one row, before the answer; the next is another', async () => {
    stage.app.clock.advance(120_000);
    const count = () => rows("SELECT * FROM vault_reveals WHERE how = 'kv'").length;
    const told = () => rows("SELECT * FROM audit_events WHERE event = 'vault.revealed'").length;
    const [before, told_before] = [count(), told()];
    for (let n = 0; n < 3; n += 1) await ask('/secret/data/mine');
    expect([count(), told()]).toEqual([before + 1, told_before + 1]);
    const another = await stage.makeToken({ capabilities: ['can_reveal_vault'] });
    await ask('/secret/data/mine', another);
    await ask('/secret/data/other');
    expect(count()).toBe(before + 3);
    stage.app.clock.advance(61_000);
    await ask('/secret/data/mine');
    expect(count()).toBe(before + 4);
  });

  test('what cannot be recorded is not read', async () => {
    stage.app.clock.advance(61_000);
    await stage.app.services.database.write((tx) => {
      tx.run(
        sql.raw(
          "CREATE TRIGGER no_record BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no'); END",
        ),
      );
    });
    const answer = await ask('/secret/data/mine');
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('sk_1');
    await stage.app.services.database.write((tx) => {
      tx.run(sql.raw('DROP TRIGGER no_record'));
    });
  });
});

describe('who may not', () => {
  test('hears one sentence with 403, whatever is missing', async () => {
    const key = await stage.app.services.keys.create(
      { kind: 'shell', id: null, name: 'root', ip: null },
      stage.mine,
      { name: 'k', can_read: true },
    );
    const weak = await stage.makeToken({ capabilities: ['can_read_vault'] });
    const answers = [
      await ask('/secret/data/mine', null),
      await ask('/secret/data/mine', 'satm_nonsense'),
      await ask('/secret/data/mine', weak),
      await ask('/secret/data/mine', key.plaintext_key),
      await ask('/secret/data/nothing', weak),
      await ask('/secret/metadata?list=true', weak),
      await stage.app.call('GET', '/v1/secret/data/mine', { headers: { Cookie: 'satchel-session=x' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.headers.get('content-type')).toBe('application/json');
  });

  test("sees nothing of another's project, or of what is not there", async () => {
    const scoped = await stage.makeToken({ capabilities: ['can_reveal_vault'], projects: ['other'] });
    for (const path of ['/secret/data/mine', '/secret/data/nothing', '/sys/data/other', '/secret/other', ''])
      expect([path, (await ask(path, scoped)).status]).toEqual([path, 404]);
    expect(dataOf(await ask('/secret/metadata?list=true', scoped))).toEqual({ keys: ['other'] });
  });

  test('changes nothing: other methods are 405', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ask('/secret/data/mine', token, method);
      expect([method, answer.status, Object.keys(answer.body)]).toEqual([method, 405, ['errors']]);
    }
  });
});

test('lists are asked for by GET, with or without the last slash', async () => {
  for (const path of [
    '/secret/metadata?list=true',
    '/secret/metadata/?list=true',
    '/secret/metadata/?list=1',
  ])
    expect(dataOf(await ask(path))).toEqual({ keys: expect.arrayContaining(['mine', 'other']) });
  expect((await ask('/secret/metadata')).status).toBe(404);
});

test('a token learns what it is, and never itself', async () => {
  const answer = await ask('/auth/token/lookup-self');
  expect(dataOf(answer)).toMatchObject({ display_name: 'test token', policies: [], type: 'service' });
  expect(answer.text).not.toContain(token);
  expect((await ask('/auth/token/lookup-self', null)).status).toBe(403);
  for (const path of ['/sys/internal/ui/mounts/secret', '/sys/internal/ui/mounts/secret/mine'])
    expect(dataOf(await ask(path))).toEqual({ path: 'secret/', type: 'kv', options: { version: '2' } });
  const health = await ask('/sys/health?standbyok=true', null);
  expect(health.body).toMatchObject({ initialized: true, sealed: false, standby: false });
});

test('node-vault reads it as it is', async () => {
  const vault = nodeVault({ endpoint: stage.app.url, token, noCustomHTTPVerbs: true });
  const read: unknown = await vault.read('secret/data/mine');
  expect(member(read, 'data', 'data')).toEqual(VALUES);
  const listed: unknown = await vault.list('secret/metadata');
  expect(member(listed, 'data', 'keys')).toContain('mine');
  expect(member(await vault.tokenLookupSelf(), 'data', 'display_name')).toBe('test token');
  expect(member(await vault.health(), 'sealed')).toBe(false);
  expect(vault.read('secret/data/nothing')).rejects.toThrow('Project not found');
});

const hvac = part('hvac');
test.skipIf(hvac === null)('hvac reads it as it is', async () => {
  const script = `
import hvac, json
client = hvac.Client(url=${JSON.stringify(stage.app.url)}, token=${JSON.stringify(token)}, strict_http=True)
kv = client.secrets.kv.v2
def failure(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
print(json.dumps({
    "is_good": client.is_authenticated(),
    "data": kv.read_secret_version(path="mine", raise_on_deleted_version=True)["data"]["data"],
    "keys": kv.list_secrets(path="")["data"]["keys"],
    "missing": failure(lambda: kv.read_secret_version(path="nothing", raise_on_deleted_version=True)),
    "write": failure(lambda: kv.create_or_update_secret(path="mine", secret={"a": "b"})),
    "stranger": failure(lambda: hvac.Client(url=${JSON.stringify(stage.app.url)}, token="x").secrets.kv.v2.read_secret_version(path="mine", raise_on_deleted_version=True)),
}))`;
  const python = Bun.spawn([hvac ?? '', '-c', script], { stdout: 'pipe', stderr: 'pipe' });
  const stderr = await python.stderr.text();
  expect(stderr).toBe('');
  expect(JSON.parse(await python.stdout.text())).toEqual({
    is_good: true,
    data: VALUES,
    keys: expect.arrayContaining(['mine', 'other']),
    missing: 'InvalidPath',
    write: 'UnexpectedError',
    stranger: 'Forbidden',
  });
});
