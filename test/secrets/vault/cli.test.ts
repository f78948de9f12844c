/** `satchel vault` as it is run: exit statuses, masks, warnings, and commands with the vault in their environment. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { type Ran, type RunOptions, runSpawned, satchel, spawnVerb } from '../../support/command.ts';
import { makeDataDir, makeTempDir } from '../../support/temp.ts';

const dir = makeTempDir();
const settings = { SATCHEL_DATA_DIR: makeDataDir() };

const vault = (verb: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  satchel(['vault', verb, '--project', 'shop', ...args], {
    ...options,
    env: { ...settings, ...options.env },
  });

/** `vault run`, which hands its own process over to the command. */
const vaultRun = (args: readonly string[], env: RunOptions['env'] = {}): Promise<Ran> =>
  runSpawned(['vault', 'run', '--project', 'shop', ...args], { env: { ...settings, ...env } });

function documentOf(run: Ran): Record<string, unknown> {
  const value: unknown = JSON.parse(run.stdout);
  if (!isPlainObject(value)) throw new Error(`no document: ${run.stdout}`);
  return value;
}

beforeAll(async () => {
  const made = await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], { env: settings });
  expect(made.exit).toBe(0);
});

describe('set', () => {
  test('takes a secret from standard input, a file or a variable without a warning, and masks it', async () => {
    const from_input = await vault('set', ['captcha', 'site_key=site', 'secret_key=-'], {
      input: "it's $ecret\n",
    });
    expect(from_input).toMatchObject({ exit: 0, stderr: '' });
    expect(from_input.stdout).toContain('********');
    expect(from_input.stdout).not.toContain('$ecret');
    writeFileSync(join(dir, 'hook.txt'), 'whsec_1\n');
    const from_file = await vault(
      'set',
      ['stripe', `webhook_secret=@${join(dir, 'hook.txt')}`, 'secret_key=env:SK'],
      {
        env: { SK: 'sk_1' },
      },
    );
    expect(from_file).toMatchObject({ exit: 0, stderr: '' });
    const { services } = documentOf(await vault('reveal', ['--json']));
    expect(services).toEqual({
      captcha: { site_key: 'site', secret_key: "it's $ecret" },
      stripe: { webhook_secret: 'whsec_1', secret_key: 'sk_1' },
    });
  });

  test('warns of a secret in the argument, and of a captcha secret that is for tests', async () => {
    const run = await vault('set', ['captcha', 'secret_key=1x0000000000000000000000000000000AA', '--json']);
    expect(run.exit).toBe(0);
    expect(run.stderr).toContain('captcha.secret_key stands in the process list');
    expect(run.stderr).toContain('passes every visitor');
    expect(documentOf(run).present).toMatchObject({ secret_key: true });
    await vault('set', ['captcha', 'secret_key=-'], { input: "it's $ecret" });
  });

  test('stores a file under its name, byte by byte, and removes a field with --unset', async () => {
    writeFileSync(join(dir, 'AuthKey.p8'), 'binary \0 and a newline\n');
    expect(
      (await vault('set', ['app_store_connect', `private_key_p8=@${join(dir, 'AuthKey.p8')}`, 'key_id=K1']))
        .exit,
    ).toBe(0);
    expect((await vault('set', ['app_store_connect', '--unset', 'key_id'])).exit).toBe(0);
    const { services } = documentOf(await vault('reveal', ['app_store_connect', '--json']));
    expect(services).toEqual({
      app_store_connect: {
        private_key_p8: {
          filename: 'AuthKey.p8',
          content_base64: Buffer.from('binary \0 and a newline\n').toString('base64'),
        },
      },
    });
  });

  test('keeps the last line break of a value of several lines, and leaves out that of one', async () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----\n';
    writeFileSync(join(dir, 'id'), key);
    writeFileSync(join(dir, 'one'), 'one line\r\n');
    await vault('set', ['env', `SSH_KEY=@${join(dir, 'id')}`, `ONE=@${join(dir, 'one')}`, 'PIPED=-'], {
      input: 'a\r\nb\r\n',
    });
    await vault('set', ['captcha', 'secret_key=-'], { input: 'a\nb\n' });
    const { services } = documentOf(await vault('reveal', ['--json']));
    expect(services).toMatchObject({
      env: { SSH_KEY: key, ONE: 'one line', PIPED: 'a\r\nb\r\n' },
      captcha: { secret_key: 'a\nb\n' },
    });
    await vault('set', ['env', '--unset', 'SSH_KEY', '--unset', 'ONE', '--unset', 'PIPED']);
    await vault('set', ['captcha', 'secret_key=-'], { input: "it's $ecret" });
  });

  for (const [what, args, status, message] of [
    ['an unknown service', ['nonsense', 'a=b'], 1, 'The services are: captcha'],
    ['an unknown field', ['captcha', 'nonsense=b'], 1, 'its fields are: site_key'],
    ['a widget mode that is none', ['captcha', 'widget_mode=b'], 1, 'non-interactive'],
    ['a file as text', ['google_play', 'service_account={}'], 2, 'give service_account=@path'],
    ['a file that is not there', ['google_play', 'service_account=@nowhere'], 1, 'could not be read'],
    ['nothing to store', ['captcha'], 2, 'field=value'],
    ['an argument without a value', ['captcha', 'site_key'], 2, 'field=value'],
  ] as const) {
    test(`refuses ${what} with exit ${status}`, async () => {
      const run = await vault('set', args);
      expect([run.exit, run.stdout]).toEqual([status, '']);
      expect(run.stderr).toContain(message);
    });
  }
});

describe('import', () => {
  const file = join(dir, '.env');
  const put = (args: readonly string[] = [], options: RunOptions = {}) =>
    vault('import', [file, ...args], options);
  const stored = async (): Promise<unknown> => documentOf(await vault('reveal', ['env', '--json'])).services;

  test('shows names and what they replace, and stores nothing without a yes', async () => {
    await vault('set', ['env', 'OLD=-'], { input: 'before' });
    writeFileSync(file, 'export OLD="canary-1"\nNEW=\'two\nlines\'\nSTRIPE_SECRET_KEY=mine\n');
    for (const [run, exit] of [
      [await put(), 1],
      [await put(['--json']), 1],
      [await put([], { answer: 'no' }), 1],
      [await put([], { answer: '' }), 1],
    ] as const) {
      expect(run.exit).toBe(exit);
      expect(run.stderr).toMatch(/OLD +replaces what is stored +secret/);
      expect(run.stderr).toMatch(/STRIPE_SECRET_KEY +new +secret +stripe\.secret_key/);
      expect(run.stdout + run.stderr).not.toContain('canary');
      expect(await stored()).toEqual({ env: { OLD: 'before' } });
    }
    const run = await put(['--plain', 'NEW'], { answer: 'y' });
    expect([run.exit, run.stdout]).toEqual([
      0,
      'Stored 3 variables (1 of them stored before) in env of shop.\n',
    ]);
    expect(await stored()).toEqual({
      env: { OLD: 'canary-1', NEW: 'two\nlines', STRIPE_SECRET_KEY: 'mine' },
    });
    expect((await vault('show', ['env'])).stdout).toMatch(/NEW +two lines/);
    const again = documentOf(await put(['--yes', '--json']));
    expect(again).toMatchObject({
      stored: true,
      names: [{ name: 'OLD', replaces: true, hides: null, plain: false }, { plain: true }, {}],
    });
  });

  test('refuses a value that a # would cut, by its line, and stores nothing', async () => {
    writeFileSync(file, 'FIRST=1\nURL=postgres://u:p#w@h/db?x=1\n');
    const run = await put(['--yes']);
    expect([run.exit, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain('Line 2 has a # at which dotenv would cut the value');
    expect(run.stderr).not.toContain('postgres');
    expect(await stored()).not.toHaveProperty('env.FIRST');
  });

  test('refuses a line that dotenv would skip, a file that is none, and wrong usage', async () => {
    writeFileSync(file, 'A=1\ncanary\n');
    const run = await put(['--yes']);
    expect([run.exit, run.stderr]).toEqual([1, expect.stringContaining('Line 2 would be skipped by dotenv')]);
    expect(run.stderr).not.toContain('canary');
    writeFileSync(file, new Uint8Array([0x41, 0x3d, 0xff]));
    expect((await put(['--yes'])).stderr).toContain('UTF-8');
    expect((await vault('import', [join(dir, 'nowhere')])).exit).toBe(1);
    expect((await vault('import', [])).exit).toBe(2);
    expect(await stored()).not.toHaveProperty('env.A');
    await vault('delete', ['env', '--yes']);
  });
});

test('show masks secrets and reveal does not', async () => {
  const shown = await vault('show', []);
  expect(shown.exit).toBe(0);
  expect(shown.stdout).toContain('site');
  expect(shown.stdout).not.toContain('sk_1');
  expect((await vault('reveal', ['stripe'])).stdout).toContain('sk_1');
  expect(documentOf(await vault('show', ['captcha', '--json']))).toMatchObject({
    service: 'captcha',
    values: { site_key: 'site' },
  });
});

test('env prints the block of its target, and refuses a target that is none with exit 2', async () => {
  expect(parse((await vault('env', ['--target', 'server'])).stdout)).toEqual({
    CAPTCHA_SITE_KEY: 'site',
    CAPTCHA_SECRET_KEY: "it's $ecret",
    STRIPE_SECRET_KEY: 'sk_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  });
  expect((await vault('env', ['--target', 'vite'])).stdout).toBe("VITE_CAPTCHA_SITE_KEY='site'\n");
  expect(documentOf(await vault('env', ['--target', 'vite', '--json']))).toEqual({
    env: { vite: "VITE_CAPTCHA_SITE_KEY='site'\n" },
    undecryptable: [],
    shadowed: [],
    unquotable: [],
  });
  expect((await vault('env', ['--target', 'nonsense'])).exit).toBe(2);
});

describe('run', () => {
  test('gives its command the server block, its own umask and no key to the vault, and ends with its status', async () => {
    const script =
      'printf "%s|" "$CAPTCHA_SECRET_KEY" "$SATCHEL_PASSPHRASE" "$KEPT" "$*"; touch "$MADE"; exit 7';
    const run = await vaultRun(['--', 'sh', '-c', script, 'sh', '--json', 'a b'], {
      KEPT: 'kept',
      MADE: join(dir, 'made'),
    });
    expect(run).toEqual({ exit: 7, stdout: "it's $ecret||kept|--json a b|", stderr: '' });
    expect(statSync(join(dir, 'made')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test('never hands on what opens the vault', async () => {
    const token = 'a-token-that-makes-the-first-person-'.repeat(2);
    const own = {
      SATCHEL_PASSPHRASE: 'correct horse',
      SATCHEL_WELCOME_TOKEN: token,
      SATCHEL_DATA_DIR: makeDataDir(),
    };
    await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], { env: own });
    const run = await vaultRun(['--', 'sh', '-c', 'env'], own);
    expect(run.exit).toBe(0);
    expect(run.stdout).not.toContain('correct horse');
    expect(run.stdout).not.toContain(token);
    expect(run.stdout).toContain('SATCHEL_DATA_DIR=');
  });

  test('forwards a signal, and reports a command that a signal ended as shells do', async () => {
    const child = spawnVerb(
      [
        'vault',
        'run',
        '--project',
        'shop',
        '--',
        'sh',
        '-c',
        'trap "exit 42" TERM; echo ready; while :; do sleep 0.05; done',
      ],
      { env: settings },
    );
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('ready\n');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(42);
    expect((await vaultRun(['--', 'sh', '-c', 'kill -KILL $$'])).exit).toBe(137);
  }, 60_000);

  test('ends as a shell does where a command cannot be started, and takes no --json', async () => {
    const missing = await vaultRun(['--', 'no-such-command-here']);
    expect([missing.exit, missing.stderr]).toEqual([
      127,
      'satchel: no-such-command-here: there is no such command\n',
    ]);
    const plain = join(dir, 'plain.txt');
    writeFileSync(plain, 'no program');
    for (const path of [plain, dir]) {
      const unfit = await vaultRun(['--', path]);
      expect([unfit.exit, unfit.stderr]).toEqual([126, expect.stringContaining("can't be run")]);
    }
    expect((await vault('run', ['--json', '--', 'true'])).exit).toBe(2);
    expect((await vault('run', [])).exit).toBe(2);
  });
});

describe('env', () => {
  const env = (verb: string, args: readonly string[], input?: string): Promise<Ran> =>
    satchel(['vault', verb, '--project', 'own', ...args], {
      env: settings,
      ...(input === undefined ? {} : { input }),
    });

  beforeAll(async () => {
    await satchel(['project', 'create', '--name', 'Own', '--slug', 'own'], { env: settings });
  });

  test('is set by any names, secret unless --plain names them, and keeps their kinds', async () => {
    writeFileSync(join(dir, 'cert.pem'), '\ufeff-----BEGIN-----\r\nMIIE\r\n');
    const set = await env(
      'set',
      ['env', 'A_b=-', `CERT=@${join(dir, 'cert.pem')}`, 'VITE_X=x', '--plain', 'VITE_X'],
      '$a \n',
    );
    expect([set.exit, set.stderr]).toEqual([0, '']);
    expect(set.stdout.replace(/ +/g, ' ')).toContain('env VITE_X x ');
    expect(set.stdout).not.toContain('MIIE');
    // Plain still: its value draws no warning. A new name is a secret: its value does.
    expect((await env('set', ['env', 'VITE_X=y'])).stderr).toBe('');
    expect((await env('set', ['env', 'NEW='])).stderr).toContain('env.NEW stands in the process list');
    const { services } = documentOf(await env('reveal', ['--json']));
    expect(services).toEqual({
      env: { A_b: '$a ', CERT: '\ufeff-----BEGIN-----\r\nMIIE\r\n', NEW: '', VITE_X: 'y' },
    });
    expect((await env('set', ['env', '--unset', 'NEW'])).exit).toBe(0);
    const shown = documentOf(await env('show', ['env', '--json']));
    expect(shown).toMatchObject({
      values: { VITE_X: 'y' },
      present: { A_b: true, CERT: true, VITE_X: true },
    });
  });

  test('is shown masked under names that objects have anyway', async () => {
    await env('set', ['env', 'constructor=-'], 'secret');
    const shown = (await env('show', ['env'])).stdout;
    expect(shown).toMatch(/env +constructor +\*{8} /);
    expect((await env('set', ['env', '--unset', 'constructor'])).exit).toBe(0);
  });

  test('takes no bytes that are no text, and standard input once', async () => {
    writeFileSync(join(dir, 'image.png'), Uint8Array.of(0x89, 0x50, 0xff));
    const binary = await env('set', ['env', `IMAGE=@${join(dir, 'image.png')}`]);
    expect([binary.exit, binary.stderr]).toEqual([1, 'satchel: env.IMAGE must be text in UTF-8.\n']);
    expect((await env('set', ['env', 'B=-', 'C=-'], 'x')).exit).toBe(2);
    expect((await env('set', ['env', 'B-C=x'])).exit).toBe(2);
    const plain = await env('set', ['sentry', 'org=acme', '--plain', 'org']);
    expect([plain.exit, plain.stderr]).toEqual([1, 'satchel: plain has no meaning for sentry\n']);
    expect(documentOf(await env('show', ['env', '--json'])).present).toEqual({
      A_b: true,
      CERT: true,
      VITE_X: true,
    });
  });

  test('stands in for other services in env and run, which say so, and says what a loader cannot carry', async () => {
    await env('set', ['stripe', 'secret_key=-'], 'sk_1');
    await env('set', ['env', 'STRIPE_SECRET_KEY=-'], 'mine');
    await env('set', ['env', 'VITE_CR=-', '--plain', 'VITE_CR'], 'a\rb');
    const note = 'satchel: STRIPE_SECRET_KEY is the one of env; stripe.secret_key is left out\n';
    const server = await env('env', ['--target', 'server']);
    expect([server.stderr, parse(server.stdout).STRIPE_SECRET_KEY]).toEqual([note, 'mine']);
    const vite = await env('env', ['--target', 'vite']);
    expect(vite.stderr).toBe(
      'satchel: warning: no vite block can hold the value of VITE_CR; it is left out\n',
    );
    expect(parse(vite.stdout)).toEqual({ VITE_X: 'y' });
    expect(documentOf(await env('env', ['--target', 'vite', '--json']))).toMatchObject({
      shadowed: [],
      unquotable: [{ target: 'vite', name: 'VITE_CR' }],
    });
    const printed = ['sh', '-c', 'printf "%s|" "$STRIPE_SECRET_KEY" "$A_b" "$VITE_CR"'];
    const ran = await runSpawned(['vault', 'run', '--project', 'own', '--', ...printed], { env: settings });
    expect(ran).toEqual({ exit: 0, stdout: 'mine|$a |a\rb|', stderr: note });
  });

  test('comes out of --target shell as it is stored', async () => {
    const { stdout } = await env('env', ['--target', 'shell']);
    const child = Bun.spawn(['sh', '-c', `${stdout}printf '%s|' "$A_b" "$CERT" "$VITE_CR"`], {
      stderr: 'inherit',
    });
    expect(await new Response(child.stdout).text()).toBe('$a |\ufeff-----BEGIN-----\r\nMIIE\r\n|a\rb|');
  });

  test('comes back from a backup', async () => {
    const file = join(dir, 'backup.tar');
    expect((await satchel(['backup', file], { env: settings })).exit).toBe(0);
    const elsewhere = {
      SATCHEL_DATA_DIR: join(dir, 'restored'),
      SATCHEL_MASTER_KEY_FILE: join(settings.SATCHEL_DATA_DIR, 'master.key'),
    };
    expect((await satchel(['restore', file, '--yes'], { env: elsewhere })).stderr).toBe('');
    const revealed = await satchel(['vault', 'reveal', '--project', 'own', 'env', '--json'], {
      env: elsewhere,
    });
    expect(documentOf(revealed)).toMatchObject({
      services: { env: { A_b: '$a ', VITE_CR: 'a\rb', VITE_X: 'y' } },
      undecryptable: [],
    });
  });
});

test('every reveal of the command line is in the audit trail under the name of the shell user', async () => {
  const run = await satchel(['audit', 'list', '--project', 'shop', '--event', 'vault.revealed', '--json'], {
    env: settings,
  });
  for (const how of ['reveal', 'env', 'run']) expect(run.stdout).toContain(`"how": "${how}"`);
  expect(run.stdout).toContain('"actor_kind": "shell"');
  expect(run.stdout).not.toContain('sk_1');
});

test('delete says in numbers what would go, does nothing without --yes, and then removes it', async () => {
  const refused = await vault('delete', ['stripe']);
  expect([refused.exit, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toBe(
    'satchel: This deletes 2 values and 0 files of stripe of the project shop; vault history keeps them for 180 days, until vault purge. Add --yes to do it.\n',
  );
  expect((await vault('show', [])).stdout).toContain('stripe');
  expect(documentOf(await vault('delete', ['stripe', '--yes', '--json']))).toEqual({
    deleted: true,
    cascade: { vault_credentials: 2, vault_files: 0 },
  });
  expect((await vault('show', [])).stdout).not.toContain('stripe');
});

test('services lists the registry without a data directory', async () => {
  const run = await satchel(['vault', 'services', '--json'], {
    env: { SATCHEL_DATA_DIR: join(dir, 'none') },
  });
  const registry: unknown = JSON.parse(run.stdout);
  expect(Array.isArray(registry) ? registry.length : 0).toBe(13);
});
