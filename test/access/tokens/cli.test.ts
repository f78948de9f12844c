/** `satchel token`: what its verbs print, refuse and change. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { run, runJson, runRecord, runWith } from '../../support/command.ts';
import { startTestApp } from '../../support/helpers.ts';
import { makeDataDir } from '../../support/temp.ts';

// Every step starts a process, and a busy machine takes its time for that.
setDefaultTimeout(60_000);

test('a token works in the running server from when it is made to when it is revoked', async () => {
  const app = await startTestApp();
  const made = await runRecord(
    app.data_dir,
    'token',
    'create',
    '--name',
    'n',
    '--all-projects',
    '--can',
    'all',
  );
  expect(made).toEqual({
    id: 1,
    name: 'n',
    token: expect.stringMatching(/^satm_[0-9A-Za-z]{49}$/),
    token_prefix: String(made.token).slice(0, 11),
    expires_at: expect.stringMatching(/Z$/),
  });
  // The app's clock stands still in another year; a token is made by the real one.
  app.clock.at_ms = Date.parse(String(made.expires_at)) - 86_400_000;
  const token = String(made.token);
  expect((await app.call('GET', '/api/public/v1/token', { token })).body.data).toMatchObject({
    all_projects: true,
    can_read_vault: true,
    can_read_ai_accounts: true,
  });
  await run(app.data_dir, 'token', 'revoke', '1', '--yes');
  expect((await app.call('GET', '/api/public/v1/token', { token })).status).toBe(401);
});

test('administer is named beside all, which does not mean it', async () => {
  const dir = makeDataDir();
  const create = ['token', 'create', '--all-projects', '--name'];
  await run(dir, ...create, 'six', '--can', 'all');
  await run(dir, ...create, 'seven', '--can', 'all,administer');
  const listed = await runJson(dir, 'token', 'list');
  expect(listed).toEqual([
    expect.objectContaining({ name: 'seven', can_administer: true, can_read_ai_accounts: true }),
    expect.not.objectContaining({ can_administer: expect.anything() }),
  ]);
});

test('a scoped token gets its projects and capabilities; the list never shows it', async () => {
  const dir = makeDataDir();
  for (const name of ['One', 'Two']) await run(dir, 'project', 'create', '--name', name);
  const scope = ['--project', 'one', '--project', '2', '--can', 'read_vault,can_write_vault'];
  const { token } = await runRecord(
    dir,
    'token',
    'create',
    '--name',
    'ci',
    ...scope,
    '--expires-in-days',
    '1',
  );
  const ran = await run(dir, 'token', 'list', '--json');
  expect(ran.stdout).not.toContain(String(token));
  expect(JSON.parse(ran.stdout)).toEqual([
    expect.objectContaining({
      id: 1,
      name: 'ci',
      all_projects: false,
      can_read_vault: true,
      can_write_vault: true,
      can_reveal_vault: false,
      projects: [expect.objectContaining({ slug: 'one' }), expect.objectContaining({ slug: 'two' })],
      revoked_at: null,
    }),
  ]);
  expect((await run(dir, 'token', 'list')).stdout).not.toContain(String(token));
  expect(await runRecord(dir, 'token', 'revoke', '1', '--yes')).toMatchObject({
    id: 1,
    revoked_at: expect.any(String),
  });
});

test.each([
  [2, ['token', 'create', '--all-projects']],
  [2, ['token', 'create', '--name', 'n', '--all-projects', '--can', 'fly']],
  [2, ['token', 'create', '--name', 'n', '--all-projects', '--expires-in-days', '0']],
  [2, ['token', 'create', '--name', 'n']],
  [2, ['token', 'create', '--name', 'n', '--all-projects', '--project', 'one']],
  [1, ['token', 'create', '--name', 'n', '--project', 'nowhere']],
  [1, ['token', 'create', '--name', 'n', '--project', 'one', '--can', 'administer']],
  [1, ['token', 'create', '--name', 'n', '--all-projects', '--expires-in-days', '99999']],
  [1, ['token', 'revoke', '9']],
  [2, ['token', 'revoke', 'satm_x']],
])('exit %i: satchel %j', async (exit, args) => {
  const dir = makeDataDir();
  const ran = await run(dir, ...args);
  expect(ran).toMatchObject({ exit, stdout: '' });
  expect(ran.stderr).not.toBe('');
  expect(await runJson(dir, 'token', 'list')).toEqual([]);
});

test('a trust is added, listed and removed; refusals name options, and it is asked before tokens end', async () => {
  const dir = makeDataDir();
  await run(dir, 'project', 'create', '--name', 'Shop');
  const issuer = ['--issuer', 'https://issuer.example', '--project', 'shop'];
  const add = ['token', 'trust', 'add', '--name', 'ci', ...issuer, '--subject'];
  expect((await run(dir, 'token', 'trust', 'list')).stdout).toContain('There are no trusts.');
  for (const [args, says] of [
    [['repo:*', '--minutes', '61'], '--subject must have no * .*--minutes must be a whole number'],
    [['a', '--can', 'write_vault'], 'a trust without --read-write does not go with can_write_vault'],
    [['a', '--can', 'administer', '--read-write'], 'can_administer is nothing that a trust gives'],
    [['a', '--claim', 'b'], '--claim takes NAME=VALUE'],
    [['a', '--issuer', 'https://10.0.0.1'], '--issuer must lead to a public address'],
    [['a', '--project', 'nowhere'], 'Project not found'],
  ] as const) {
    const refused = await run(dir, ...add, ...args);
    expect([refused.exit > 0, refused.stdout, refused.stderr]).toEqual([
      true,
      '',
      expect.stringMatching(new RegExp(says, 's')),
    ]);
  }
  const claims = ['--claim', 'ref_protected=true', '--claim', 'a=b=c*', '--audience', 'satchel'];
  const powers = ['--can', 'write_vault', '--read-write', '--environment', 'staging', '--minutes', '5'];
  const made = await runRecord(dir, ...add, 'repo:acme/shop:*', ...claims, ...powers);
  expect(made).toMatchObject({
    ...{ id: 1, name: 'ci', issuer: 'https://issuer.example', subject: 'repo:acme/shop:*' },
    ...{ audience: 'satchel', claims: { ref_protected: 'true', a: 'b=c*' }, projects: [{ slug: 'shop' }] },
    ...{ can_write_vault: true, can_read_vault: false, read_only: false, environments: ['staging'] },
    ...{ minutes: 5, last_used_at: null, last_refused: null, created_by: { kind: 'shell' } },
  });
  expect((await run(dir, ...add, 'a')).stderr).toContain('There is a trust of this name.');
  const env = { SATCHEL_DATA_DIR: dir, SATCHEL_PUBLIC_URL: 'https://satchel.test' };
  const other = await runWith(env, ...add, 'a', '--name', 'second');
  expect(other.stdout).toBe('Trust 2 (second) takes tokens whose audience is https://satchel.test.\n');
  const listed = await run(dir, 'token', 'trust', 'list');
  expect(listed.stdout).toMatch(/second .* a +shop +read_only +15 .*ci .* shop +write_vault +5 +- +-/s);
  const asked = await run(dir, 'token', 'trust', 'remove', '1');
  expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining('Add --yes to do it.')]);
  expect((await run(dir, 'token', 'trust', 'remove', '1', '--yes')).stdout).toBe(
    'Trust 1 (ci) is removed.\n',
  );
  expect((await run(dir, 'token', 'trust', 'remove', '1', '--yes')).stderr).toContain('Trust not found.');
});
