/** The frame of the command line: what every verb has, and which data directory it works on. */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { notedSettings, saysOtherwise, settingsForVerb } from '../../../src/noted-settings.ts';
import { shellActor } from '../../../src/platform/cli/shell-actor.ts';
import { formatTable } from '../../../src/platform/cli/tables.ts';
import { systemClock } from '../../../src/platform/host/clock.ts';
import { isServed, lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { writeServerNote } from '../../../src/platform/host/server-note.ts';
import { createToken } from '../../../src/platform/secrets/token-format.ts';
import { captureLog } from '../../support/captured-log.ts';
import {
  type RunOptions,
  run,
  runInTerminal,
  runInTerminalWith,
  runJson,
  runRecord,
  runSpawned,
  runWith,
  satchel,
} from '../../support/command.ts';
import { makeDataDir, makeTempDir, placeDatabase } from '../../support/temp.ts';
import { allVerbs, examplesOf, pathOf } from '../../support/verbs.ts';

// Every step starts a process, and a busy machine takes its time for that.
setDefaultTimeout(60_000);

test("every verb's help ends with an example of that very verb", async () => {
  const lacking = (await allVerbs()).filter(
    (command) => !examplesOf(command).some((example) => example.includes(pathOf(command))),
  );
  expect(lacking.map(pathOf)).toEqual([]);
});

test('every list verb takes --limit and --page', async () => {
  const lists = (await allVerbs()).filter((verb) => verb.name() === 'list');
  const lacking = lists.filter(({ options }) =>
    ['--limit', '--page'].some((name) => !options.some(({ long }) => long === name)),
  );
  expect([lists.length, lacking.map(pathOf)]).toEqual([23, []]);
});

test('a list of more than a page says where it goes on, on stderr where stdout is a document', async () => {
  const dir = makeDataDir();
  for (const name of ['a', 'b', 'c']) await run(dir, 'project', 'create', '--name', name);
  const list = (...args: string[]) => run(dir, 'project', 'list', '--limit', '2', ...args);
  expect((await list()).stdout).toEndWith('1 to 2 of 3. Next: --page 2.\n');
  const { stdout, stderr } = await list('--json');
  expect([JSON.parse(stdout).length, stderr]).toEqual([2, '1 to 2 of 3. Next: --page 2.\n']);
  expect(await runJson(dir, 'project', 'list', '--limit', '2', '--page', '2')).toMatchObject([{ slug: 'a' }]);
  expect(await runJson(dir, 'project', 'list')).toHaveLength(3);
});

test('a verb makes no data directory, and names what would, and the installed one for whom it is', async () => {
  const dir = join(makeTempDir(), 'mistyped');
  const refused = await run(dir, 'project', 'list');
  expect([refused.exit, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain(`no database in ${dir}. Name the data directory with --data-dir`);
  expect(existsSync(dir)).toBe(false);
  const empty = makeTempDir();
  expect((await run(empty, 'project', 'list')).exit).toBe(1);
  expect(readdirSync(empty)).toEqual([]);
});

test('a verb finds the installed service where nothing names a data directory and ./data holds none', async () => {
  const SATCHEL_DATA_DIR = makeDataDir();
  await run(SATCHEL_DATA_DIR, 'project', 'create', '--name', 'Installed');
  const slugs = async (env: Record<string, string>, more: Partial<RunOptions> = {}, ...args: string[]) => {
    const { exit, stdout } = await satchel(['project', 'list', '--json', ...args], { env, ...more });
    return exit === 0 ? JSON.parse(stdout).map(({ slug }: { slug: string }) => slug) : exit;
  };
  const installed = { SATCHEL_DATA_DIR, SATCHEL_LOG_LEVEL: 'info' };
  // The checkout that the tests run in may have a ./data of its own.
  const home = process.cwd();
  process.chdir(makeTempDir());
  try {
    expect(await slugs({}, { installed })).toEqual(['installed']);
    expect(await slugs({ SATCHEL_DATA_DIR: '' }, { installed })).toEqual(['installed']);
    expect(await slugs({ SATCHEL_DATA_DIR: makeDataDir() }, { installed })).toEqual([]);
    expect(await slugs({ SATCHEL_DATA_DIR: makeTempDir() }, { installed })).toBe(1);
    expect(await slugs({}, { installed }, '--data-dir', makeDataDir())).toEqual([]);
    // Its settings count too.
    expect(await slugs({}, { installed: { ...installed, SATCHEL_LOG_LEVEL: 'loud' } })).toBe(1);
    expect(await slugs({})).toBe(1);
    mkdirSync('data');
    placeDatabase('data');
    expect(await slugs({}, { installed })).toEqual([]);
  } finally {
    process.chdir(home);
  }
});

test("restore without a directory means the folder that its program is installed in, but never the machine's service", async () => {
  const from = makeDataDir();
  await run(from, 'project', 'create', '--name', 'Kept');
  const backup = join(makeTempDir(), 'b.tar');
  expect((await run(from, 'backup', backup)).exit).toBe(0);
  const SATCHEL_DATA_DIR = join(makeTempDir(), 'data');
  const installed = { SATCHEL_DATA_DIR };
  const restore = (has_own_folder: boolean, ...args: string[]) =>
    satchel(['restore', backup, ...args, '--json'], { installed, has_own_folder });
  const home = process.cwd();
  const elsewhere = makeTempDir();
  process.chdir(elsewhere);
  try {
    expect(JSON.parse((await restore(true)).stdout)).toMatchObject({ data_dir: SATCHEL_DATA_DIR });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect((await restore(false)).exit).toBe(0);
    expect(readdirSync(elsewhere)).toEqual(['data']);
    // A ./data beside does not change what is meant, and what is named does.
    expect((await restore(true)).stderr).toContain(`${SATCHEL_DATA_DIR} holds data already`);
    const named = join(elsewhere, 'named');
    expect((await restore(true, '--data-dir', named)).exit).toBe(0);
    expect(existsSync(join(named, 'satchel.db'))).toBe(true);
  } finally {
    process.chdir(home);
  }
});

test("the installed service's settings count wherever its data directory is named, and nowhere else", async () => {
  const SATCHEL_DATA_DIR = makeDataDir();
  const installed = { SATCHEL_DATA_DIR, SATCHEL_PUBLIC_URL: 'https://files.example.com' };
  const linkOf = async (data_dir: string, more: RunOptions = {}) => {
    const args = ['person', 'add', '--first', '--json', '--data-dir', data_dir];
    return new URL(JSON.parse((await satchel(args, { installed, ...more })).stdout).link).origin;
  };
  expect(await linkOf(SATCHEL_DATA_DIR)).toBe('https://files.example.com');
  const env = { SATCHEL_PUBLIC_URL: 'https://other.example.com' };
  expect(await linkOf(SATCHEL_DATA_DIR, { env })).toBe('https://other.example.com');
  expect(await linkOf(makeDataDir())).toBe('http://localhost:8420');
  // By another way to the same folder.
  const link = join(makeTempDir(), 'link');
  symlinkSync(SATCHEL_DATA_DIR, link);
  expect(await linkOf(link)).toBe('https://files.example.com');
});

describe('beside a server', () => {
  const linkOf = async (env: Record<string, string>) => {
    const { stdout } = await satchel(['person', 'add', '--first', '--json'], { env });
    return new URL(JSON.parse(stdout).link).origin;
  };
  const SECRETS = {
    SATCHEL_PASSPHRASE: 'p-secret',
    SATCHEL_S3_ACCESS_KEY_ID: 'id-secret',
    SATCHEL_S3_SECRET_ACCESS_KEY: 'key-secret',
    SATCHEL_CAPTCHA_VERIFY_URL: 'https://user:url-secret@captcha.example.com',
  };

  test("a verb takes the server's settings where nothing was said itself, while the lock is held and the note is the owner's alone", async () => {
    const SATCHEL_DATA_DIR = makeDataDir();
    const note = join(SATCHEL_DATA_DIR, 'server.json');
    const env = { ...SECRETS, SATCHEL_OBJECT_STORE: 's3://b?endpoint=http%3A%2F%2Fs3.example.com' };
    const flags = { data_dir: '/srv', public_url: 'https://files.example.com', port: '0' };
    const settings = notedSettings(env, flags, { port: 27_011, public_url: 'https://files.example.com' });
    expect(settings).toEqual({
      SATCHEL_OBJECT_STORE: env.SATCHEL_OBJECT_STORE,
      SATCHEL_PORT: '27011',
      SATCHEL_PUBLIC_URL: 'https://files.example.com',
    });
    const lock = lockDirectory(SATCHEL_DATA_DIR, process.pid);
    const of_newer_server = { ...settings, SATCHEL_OF_LATER: '1' };
    writeServerNote(SATCHEL_DATA_DIR, {
      ...{ address: 'http://127.0.0.1:27011', settings: of_newer_server, findings_key: null, kept: [] },
    });
    expect(statSync(note).mode & 0o777).toBe(0o600);
    // A store whose keys are the server's secret is none here, and no refusal either.
    expect(await linkOf({ SATCHEL_DATA_DIR })).toBe('https://files.example.com');
    expect(await linkOf({ SATCHEL_DATA_DIR, SATCHEL_PUBLIC_URL: '' })).toBe('https://files.example.com');
    const told = { SATCHEL_DATA_DIR, SATCHEL_PUBLIC_URL: 'https://other.example.com' };
    expect(await linkOf(told)).toBe('https://other.example.com');
    expect((await run(SATCHEL_DATA_DIR, 'doctor')).stdout).toContain(
      `as process ${process.pid} at http://127.0.0.1:27011; links begin with https://files.example.com.`,
    );
    chmodSync(note, 0o644);
    expect(await linkOf({ SATCHEL_DATA_DIR })).toBe('http://localhost:8420');
    chmodSync(note, 0o600);
    renameSync(note, `${note}.moved`);
    symlinkSync(`${note}.moved`, note);
    expect(await linkOf({ SATCHEL_DATA_DIR })).toBe('http://localhost:8420');
    renameSync(`${note}.moved`, note);
    expect(await linkOf({ SATCHEL_DATA_DIR })).toBe('https://files.example.com');
    lock.release();
    expect(await linkOf({ SATCHEL_DATA_DIR })).toBe('http://localhost:8420');
  });

  test('what takes the place of another setting does so over one that the server has, and paths are whole', () => {
    const noted = notedSettings(
      { SATCHEL_MASTER_KEY_FILE: 'keys/master', SATCHEL_S3_ACCESS_KEY_ID_FILE: '/id' },
      {},
      { port: 1, public_url: 'http://a.test' },
    );
    expect(noted.SATCHEL_MASTER_KEY_FILE).toBe(join(process.cwd(), 'keys/master'));
    const own = { SATCHEL_PASSPHRASE: 'mine', SATCHEL_S3_ACCESS_KEY_ID: 'id', SATCHEL_LOG_LEVEL: ' ' };
    expect(settingsForVerb(own, noted, { SATCHEL_LOG_LEVEL: 'warn' })).toEqual({
      SATCHEL_PASSPHRASE: 'mine',
      SATCHEL_S3_ACCESS_KEY_ID: 'id',
      SATCHEL_LOG_LEVEL: 'warn',
      SATCHEL_PORT: '1',
      SATCHEL_PUBLIC_URL: 'http://a.test',
    });
    const sso = { SATCHEL_OIDC_ISSUER: 'https://id.example.com', SATCHEL_OIDC_CLIENT_ID: 'a' };
    const secret = { SATCHEL_OIDC_CLIENT_SECRET: 'hush' };
    const told = notedSettings({ ...sso, ...secret }, {}, { port: 1, public_url: 'http://a.test' });
    expect(told).toEqual({ ...sso, SATCHEL_PORT: '1', SATCHEL_PUBLIC_URL: 'http://a.test' });
    // Of which a verb has no use without the secret, that the server keeps.
    expect(settingsForVerb({}, told, {})).not.toHaveProperty('SATCHEL_OIDC_ISSUER');
    expect(settingsForVerb(secret, told, {})).toMatchObject({ ...sso, ...secret });
    expect(saysOtherwise({}, told)).toBe(false);
    const store = { SATCHEL_OBJECT_STORE: 's3://b', SATCHEL_S3_ACCESS_KEY_ID_FILE: '/id' };
    expect(settingsForVerb({}, store, {})).not.toHaveProperty('SATCHEL_OBJECT_STORE');
    expect(settingsForVerb({ SATCHEL_S3_SECRET_ACCESS_KEY: 'key' }, store, {})).toMatchObject(store);
  });

  test('who only looks whether there is one is not taken for one', () => {
    const dir = makeTempDir();
    lockDirectory(dir, 1).release();
    const look = new Database(join(dir, 'server.lock'), { readonly: true });
    look.run('BEGIN');
    look.query('SELECT count(*) FROM sqlite_master').get();
    expect(isServed(dir)).toBe(false);
    look.close();
  });
});

test('--version is the verb version, and help comes before a noun or a verb as well as --help after it', async () => {
  const version = await satchel(['version']);
  expect(version).toMatchObject({ exit: 0, stderr: '', stdout: expect.stringContaining('backend_version') });
  expect(await satchel(['--version'])).toEqual(version);
  expect(await satchel(['--json', '--version'])).toEqual(await satchel(['version', '--json']));
  for (const words of [[], ['key'], ['key', 'create']]) {
    const help = await satchel([...words, '--help']);
    expect(help).toMatchObject({ exit: 0, stdout: expect.stringContaining('Usage: satchel') });
    expect(await satchel(['help', ...words])).toEqual(help);
  }
  for (const words of [['kye'], ['key', 'crate']])
    expect(await satchel(['help', ...words])).toMatchObject({
      ...{ exit: 2, stdout: '' },
      stderr: expect.stringContaining('unknown command'),
    });
});

test('an option that is not known is named before one that is missing', async () => {
  const refused = await satchel(['key', 'create', '--project', 'shop', '--nmae', 'web']);
  expect([refused.exit, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain("unknown option '--nmae'\n(Did you mean --name?)");
  expect((await satchel(['key', 'create', '--project', 'shop'])).stderr).toContain('--name <name>');
});

test('--json and --data-dir may stand before the noun', async () => {
  const dir = makeDataDir();
  const { stdout } = await run('/nonexistent', '--json', '--data-dir', dir, 'project', 'list');
  expect(JSON.parse(stdout)).toEqual([]);
});

test('--json makes one document of the completion script too', async () => {
  const script = await runRecord(makeDataDir(), 'completion', 'bash');
  expect(script).toMatchObject({ shell: 'bash', script: expect.stringContaining('complete') });
});

test('what commander cannot check is wrong usage all the same, with a hint', async () => {
  const dir = makeDataDir();
  await runRecord(dir, 'project', 'create', '--name', 'Shop');
  for (const args of [
    ['token', 'create', '--name', 'ci'],
    ['origin', 'add', '--type', 'phone', '--value', 'com.example.app'],
    ['vault', 'set', '--project', 'shop', 'stripe'],
    ['token', 'revoke', 'ci', '--yes'],
    ['audit', 'list', '--since', 'yesterday'],
    ['project', 'list', '--status', 'sleeping'],
    ['object', 'list', '--project', 'shop', '--visibility', 'hidden'],
    ['contact', 'list', '--list', '1', '--status', 'gone'],
    ['list', 'create', '--project', 'shop', '--name', 'News', '--basis', 'hope'],
    ['contact', 'add', 'a@example.com', '--list', 'News', '--project', 'shop', '--basis', 'hope'],
    ['schedule', 'change', 'Daily', '--project', 'shop', '--missed-runs', 'all'],
  ]) {
    const { exit, stdout, stderr } = await run(dir, ...args);
    expect({ args, exit, stdout }).toEqual({ args, exit: 2, stdout: '' });
    expect(stderr).toContain('--help');
  }
});

test('a complaint about the usage repeats nothing that may be a secret in the wrong place', async () => {
  const dir = makeDataDir();
  await runRecord(dir, 'project', 'create', '--name', 'Shop');
  for (const args of [
    ['vault', 'set', '--project', 'shop', 'stripe', 'SECRET_KEY=sekret'],
    ['vault', 'set', '--project', 'shop', 'stripe', 'sekret'],
    ['mailbox', 'add', 'a@shop.test', 'smtps://user:sekret@relay.test'],
    ['mailbox', 'add', 'a@shop.test', '--smpt=smtps://user:sekret@relay.test'],
  ]) {
    const { exit, stdout, stderr } = await run(dir, ...args);
    expect({ args, exit, stdout }).toEqual({ args, exit: 2, stdout: '' });
    expect(stderr).toStartWith('error: ');
    expect(stderr).not.toContain('sekret');
  }
});

test('what others wrote cannot steer the terminal that it is shown on, and is left as it is in a file', async () => {
  const dir = makeDataDir();
  const name = 'Sh\u009b31mop \u001b]0;mine\u0007';
  await runRecord(dir, 'project', 'create', '--name', name, '--slug', 'shop');
  expect((await run(dir, 'project', 'list')).stdout).toContain(name);
  expect(await runInTerminal(dir, 'project', 'list')).toContain('Sh\\u009b31mop \\u001b]0;mine\\u0007');
  // What JSON itself leaves as it is must not make it anything else.
  const json = await runInTerminal(dir, 'project', 'list', '--json');
  expect(json).not.toContain('\u009b');
  expect(JSON.parse(json)).toMatchObject([{ name }]);
});

test("a refused field's message reads as a sentence", async () => {
  const { exit, stderr } = await run(
    makeDataDir(),
    ...['origin', 'add', '--type', 'domain', '--value', 'http://shop.example.com'],
  );
  expect(exit).toBe(1);
  expect(stderr).toContain('value: A public host needs https.');
});

test('the audit trail names the account that ran a verb, not what USER says', async () => {
  const dir = makeDataDir();
  await run(dir, 'project', 'create', '--name', 'Shop');
  const events = await runJson(dir, 'audit', 'list');
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.split(':')[2] === String(userInfo().uid));
  if (line === undefined) return;
  expect(JSON.stringify(events)).toContain(`"${line.split(':')[0]}"`);
});

test('a user without an account, as in a container, is named by number', () => {
  const actor = shellActor(() => {
    throw new Error('ENOENT: no such file or directory, uv_os_homedir');
  }, 4_294_967_000);
  expect(actor).toMatchObject({ kind: 'shell', id: '4294967000', name: '4294967000' });
});

test('a key or token that a client has put into an address is not in the log', () => {
  for (const format of ['text', 'json'] as const) {
    const log = captureLog(systemClock, { format });
    const secrets = (['management', 'live', 'test'] as const).map((kind) => createToken(kind));
    for (const { plaintext } of secrets) log.logger.info('request', { path: `/api/v1/${plaintext}/x` });
    for (const { plaintext, prefix_shown } of secrets) {
      expect(log.text()).not.toContain(plaintext.slice(0, 20));
      expect(log.text()).toContain(`/api/v1/${prefix_shown}.../x`);
    }
  }
});

test('a log for people leaves out what there is nothing to say of', () => {
  const log = captureLog(systemClock, { format: 'text' });
  log.logger.info('request', { caller: null, status: 404 });
  expect(log.text()).toMatch(/INFO {2}request status=404\n$/);
});

test('a row of a table is one line, whatever its cells say', () => {
  const refusal = '535-5.7.8 Username and Password not accepted.\n535 5.7.8 See the documentation.';
  const table = formatTable([{ mailbox: 'a@shop.example', 'last error': refusal, today: 7 }], '')(200);
  const [, row, ...more] = table.split('\n');
  expect(row).toBe(`a@shop.example  ${refusal.replace('\n', ' ')}  7`);
  expect(more).toEqual([]);
});

test('colour is on a terminal alone, says what a state is, and no value can ask for it', async () => {
  const dir = makeDataDir();
  await runRecord(dir, 'project', 'create', '--name', 'Sh\ufdd3op', '--slug', 'shop');
  const [plain, shown] = [
    (await run(dir, 'project', 'list')).stdout,
    await runInTerminal(dir, 'project', 'list'),
  ];
  expect(plain).not.toMatch(/[\ufdd0-\ufdd4]/);
  expect(plain).not.toContain('\x1b');
  expect(shown).toStartWith('\x1b[1mID ');
  expect(shown).toContain('\x1b[32mactive\x1b[0m');
  expect(shown).toContain('Sh\\ufdd3op');
  for (const variables of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    expect(
      await runInTerminalWith({ SATCHEL_DATA_DIR: dir, ...variables }, ['project', 'list']),
    ).not.toContain('\x1b[3');
  // What is no table stays as it is.
  await run(dir, 'vault', 'set', '--project', 'shop', 'env', 'MARKED=a\ufdd1b');
  const env = await run(dir, 'vault', 'env', '--project', 'shop', '--target', 'server');
  expect(env.stdout).toContain('a\ufdd1b');
});

test('a table leaves out its last columns until it fits, says which, and never the first', () => {
  const row = ['a'.repeat(30), 'b'.repeat(30), 'c'.repeat(30), 'd'];
  const [one = '', two = '', three = '', four = ''] = row;
  const table = formatTable([{ one, two, three, four }], '');
  expect(table(100).split('\n')[1]).toBe(row.join('  '));
  expect(table(99).split('\n').slice(1)).toEqual([
    row.slice(0, 3).join('  '),
    '',
    'Not shown for want of room: four. --json has all.',
  ]);
  expect(table(80).split('\n')[1]).toBe(row.slice(0, 2).join('  '));
  expect(table(10).split('\n')[1]).toBe(row[0] ?? '');
  expect(formatTable([{ one, two }], '', { keep: 2 })(10)).not.toContain('Not shown');
});

test('a table has all its columns where no terminal is, and fits the terminal where one is, or COLUMNS', async () => {
  const dir = makeDataDir();
  const long = { name: 'A project with quite a long name', slug: 'a-project-with-quite-a-long-slug' };
  await runRecord(dir, 'project', 'create', '--name', long.name, '--slug', long.slug);
  const { stdout } = await run(dir, 'project', 'list');
  expect(stdout).toContain('CREATED');
  expect(stdout).not.toContain('Not shown');
  const [head = ''] = stdout.split('\n');
  expect(head.length).toBeGreaterThan(80);
  expect(await runInTerminal(dir, 'project', 'list')).toContain('CREATED');
  const narrow = await runWith({ SATCHEL_DATA_DIR: dir, COLUMNS: '80' }, 'project', 'list');
  expect(narrow.stdout).toContain('Not shown for want of room: ');
  expect(Math.max(...narrow.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const COLUMNS of ['0', 'wide', ''])
    expect((await runWith({ SATCHEL_DATA_DIR: dir, COLUMNS }, 'project', 'list')).stdout).toBe(stdout);
});

test('a refusal is one document on stdout with --json, and the sentence on stderr all the same', async () => {
  const dir = makeDataDir();
  await runRecord(dir, 'project', 'create', '--name', 'Shop');
  const { exit, stdout, stderr } = await run(dir, 'project', 'show', 'nothing', '--json');
  const { error } = JSON.parse(stdout);
  expect([exit, error.code, stderr]).toEqual([1, 'not_found', `satchel: ${error.message}\n`]);
  const taken = await run(dir, 'project', 'create', '--name', 'x', '--slug', 'shop', '--json');
  expect(JSON.parse(taken.stdout).error.code).toBe('SLUG_ALREADY_EXISTS');
  expect((await run(dir, 'project', 'show', 'nothing')).stdout).toBe('');
  const usage = await run(dir, 'project', 'show', '--json');
  expect([usage.exit, usage.stdout]).toEqual([2, '']);
});

test('a long command shows on a terminal how far it is, and nothing anywhere else', async () => {
  const dir = makeDataDir();
  await runRecord(dir, 'project', 'create', '--name', 'Shop');
  const file = join(makeTempDir(), 'a.tar');
  expect((await runSpawned(['backup', file], { env: { SATCHEL_DATA_DIR: dir } })).stderr).toBe('');
  const shown = await runInTerminal(dir, 'verify', file);
  // Each state in place of the one before, and none left behind.
  const [before, ...states] = shown.split('\r\u001b[K');
  expect([before, states[0], states.at(-2)]).toEqual([
    '',
    'verifying ...',
    expect.stringMatching(/^verifying \d+ %$/),
  ]);
  expect(states.at(-1)).toStartWith('Sound: ');
  expect(await runInTerminal(dir, 'master-key', 'rotate')).toContain(
    '\r\u001b[Kwrapping every data key anew ...',
  );
});
