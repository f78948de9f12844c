/** `satchel vault` as it is run: exit statuses, masks, warnings, and commands with the vault in their environment. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { type Ran, type RunOptions, runSpawned, satchel, spawnVerb } from '../command.ts';
import { makeTempDir } from '../temp.ts';

const dir = makeTempDir();
const settings = { SATCHEL_DATA_DIR: join(dir, 'data') };

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
    const own = { SATCHEL_PASSPHRASE: 'correct horse', SATCHEL_DATA_DIR: join(dir, 'by-passphrase') };
    await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], { env: own });
    const run = await vaultRun(['--', 'sh', '-c', 'env'], own);
    expect(run.exit).toBe(0);
    expect(run.stdout).not.toContain('correct horse');
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
  });

  test('refuses a command that cannot be started, and --json, which would not be one document', async () => {
    const missing = await vaultRun(['--', 'no-such-command-here']);
    expect([missing.exit, missing.stderr]).toEqual([
      1,
      'satchel: The command could not be started: no-such-command-here\n',
    ]);
    expect((await vault('run', ['--json', '--', 'true'])).exit).toBe(2);
    expect((await vault('run', [])).exit).toBe(2);
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

test('delete removes a service and says how much that was', async () => {
  expect(documentOf(await vault('delete', ['stripe', '--json']))).toEqual({
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
  expect(Array.isArray(registry) ? registry.length : 0).toBe(12);
});
