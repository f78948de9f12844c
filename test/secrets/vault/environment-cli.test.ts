/** `satchel environment`, and what `satchel vault` does of one: its values, what they were, and when they end. */
import { beforeAll, expect, test } from 'bun:test';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { type Ran, type RunOptions, runSpawned, satchel } from '../../support/command.ts';
import { makeDataDir } from '../../support/temp.ts';

const settings = { SATCHEL_DATA_DIR: makeDataDir() };
const run = (noun: string, verb: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  satchel([noun, verb, '--project', 'shop', ...args], { ...options, env: settings });
const environment = (verb: string, ...args: string[]) => run('environment', verb, args);
const vault = (verb: string, ...args: string[]) => run('vault', verb, args);
const set = (name: string, input: string, ...args: string[]) =>
  run('vault', 'set', ['stripe', 'secret_key=-', '--environment', name, ...args], { input });
const jsonOf = (ran: Ran): unknown => JSON.parse(ran.stdout);
const member = (value: unknown, ...path: string[]): unknown =>
  path.reduce((at: unknown, name) => (isPlainObject(at) ? at[name] : undefined), value);

beforeAll(async () => {
  await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], { env: settings });
  await environment('add', 'staging');
  await set('production', 'sk-live');
  await set('staging', 'sk-test');
});

test('environments are added, listed, changed, and removed with a yes', async () => {
  expect(await environment('add', 'preview', '--inherits')).toMatchObject({ exit: 0, stderr: '' });
  const again = await environment('add', 'preview');
  expect([again.exit, again.stderr]).toEqual([1, expect.stringContaining('already')]);
  expect((await environment('add', 'No')).stderr).toContain('must be a name such as staging');
  expect((await environment('list')).stdout).toMatch(
    /^NAME.*\nproduction.*\npreview +is production's.*\nstaging/,
  );
  expect(member(jsonOf(await vault('reveal', '--environment', 'preview', '--json')), 'services')).toEqual({
    stripe: { secret_key: 'sk-live' },
  });
  expect((await vault('show', '--environment', 'preview')).stdout).toContain('production');
  expect((await environment('change', 'preview')).exit).toBe(2);
  expect((await environment('change', 'preview', '--no-inherits')).exit).toBe(0);
  expect((await vault('show', '--environment', 'preview')).stdout).toContain('Nothing is stored.');
  expect((await environment('remove', 'preview')).exit).toBe(1);
  expect((await environment('remove', 'preview', '--yes')).stdout).toContain('Removed preview');
  const gone = await vault('show', '--environment', 'preview');
  expect([gone.exit, gone.stderr]).toEqual([1, expect.stringContaining('satchel environment list')]);
});

test('every verb but services is about one environment, production unless it is named', async () => {
  const named = ['--environment', 'staging'];
  expect((await vault('env', '--target', 'server', ...named)).stdout).toBe("STRIPE_SECRET_KEY='sk-test'\n");
  expect((await vault('env', '--target', 'server')).stdout).toBe("STRIPE_SECRET_KEY='sk-live'\n");
  const print = ['--', 'printenv', 'STRIPE_SECRET_KEY'];
  const ran = await runSpawned(['vault', 'run', '--project', 'shop', ...named, ...print], { env: settings });
  expect(ran).toMatchObject({ exit: 0, stdout: 'sk-test\n' });
  const imported = await run('vault', 'import', ['-', '--yes', ...named], { input: 'A=1\n' });
  expect(imported.stdout).toContain('in env of shop (staging)');
  expect((await vault('show', 'env')).stdout).toContain('Nothing is stored.');
  expect((await vault('delete', 'env', ...named)).stderr).toContain('of env of the project shop (staging)');
  expect((await vault('delete', 'env', '--yes', ...named)).exit).toBe(0);
});

test('diff tells which fields differ, and no value', async () => {
  await vault('set', 'env', 'ONLY=x', '--environment', 'staging');
  const { stdout } = await vault('diff', 'production', 'staging');
  expect(stdout).toMatch(/env +ONLY +only in staging\nstripe +secret_key +differs/);
  expect(stdout).not.toContain('sk-');
  expect((await vault('diff', 'staging', 'staging')).stdout).toContain('have the same values');
  expect((await vault('diff', 'staging', 'nothing')).exit).toBe(1);
});

test('what was stored is listed, restored, and forgotten with a yes', async () => {
  await set('staging', 'sk-test-2');
  const named = ['--environment', 'staging'];
  const listed = await vault('history', 'stripe', ...named, '--json');
  const data = jsonOf(listed);
  const versions = Array.isArray(data) ? data.map((one: unknown) => String(member(one, 'version'))) : [];
  expect([versions.length, listed.stdout.includes('sk-')]).toEqual([2, false]);
  expect((await vault('history', ...named)).stdout).toMatch(/stripe +secret_key +set +newest/);
  const restored = await vault('restore', 'stripe', versions[1] ?? '', ...named);
  expect(restored).toMatchObject({ exit: 0, stdout: 'Stored again: stripe.secret_key.\n' });
  expect((await vault('reveal', 'stripe', ...named)).stdout).toContain('sk-test\n');
  const asked = await vault('delete', 'stripe', ...named);
  expect(asked.stderr).toContain('vault history keeps them for 180 days, until vault purge');
  expect((await vault('purge', 'stripe', ...named)).stderr).toContain('forgets 2 versions of stripe');
  expect((await vault('purge', 'stripe', '--yes', ...named)).stdout).toBe('Forgot 2 versions.\n');
  expect((await vault('purge', '--yes', ...named)).exit).toBe(0);
});

test('set says when values end, and notes; a field without = keeps its value', async () => {
  const about = async (): Promise<unknown> =>
    member(jsonOf(await vault('show', 'stripe', '--json')), 'about', 'secret_key');
  const said = await vault(
    'set',
    'stripe',
    'secret_key',
    '--expires',
    '2041-03-01',
    '--note',
    'Ann renews it',
  );
  expect([said.exit, said.stdout]).toEqual([0, expect.stringContaining('Ann renews it')]);
  expect(await about()).toEqual({ expires_at: '2041-03-01T23:59:59.999Z', note: 'Ann renews it' });
  expect((await vault('reveal', 'stripe')).stdout).toContain('sk-live');
  await set('production', 'sk-live-2', '--expires', '2042-03-01');
  expect(await about()).toEqual({ expires_at: '2042-03-01T23:59:59.999Z', note: 'Ann renews it' });
  await vault('set', 'stripe', 'secret_key', '--expires', 'never', '--note', '');
  expect(await about()).toBeUndefined();
  for (const [args, exit, told] of [
    [['stripe', '--expires', '2041-03-01'], 2, 'Name the fields'],
    [['stripe', 'secret_key', '--expires', 'soon'], 1, 'expires_at must be a date'],
    [['stripe', 'webhook_secret', '--note', 'x'], 1, 'is not stored'],
    [['stripe', 'secret_key'], 2, 'field=value'],
  ] as const) {
    const refused = await vault('set', ...args);
    expect([args, refused.exit, refused.stderr]).toEqual([args, exit, expect.stringContaining(told)]);
  }
});

test('a token is made for some environments', async () => {
  const made = await satchel(
    [
      'token',
      'create',
      '--name',
      'ci',
      '--project',
      'shop',
      '--environment',
      'staging',
      '--environment',
      'b',
    ],
    { env: settings },
  );
  expect(made.exit).toBe(0);
  const listed = await satchel(['token', 'list', '--json'], { env: settings });
  expect(listed.stdout).toMatch(/"environments":\s*\[\s*"staging",\s*"b"\s*\]/);
  const admin = ['--name', 'x', '--all-projects', '--can', 'administer', '--environment', 'staging'];
  const refused = await satchel(['token', 'create', ...admin], { env: settings });
  expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('--environment')]);
});
