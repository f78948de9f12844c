/** `satchel vault` as it is run: exit statuses, masks, warnings, and commands with the vault in their environment. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { makeTempDir } from '../temp.ts';

const MAIN = join(import.meta.dir, '../../src/main.ts');
const dir = makeTempDir();

interface Run {
  status: number;
  out: string;
  err: string;
}

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

function start(args: readonly string[], options: RunOptions = {}) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: dir,
    env: { PATH: process.env.PATH ?? '', SATCHEL_DATA_DIR: join(dir, 'data'), ...options.env },
    stdin: new TextEncoder().encode(options.input ?? ''),
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function satchel(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const child = start(args, options);
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { status: await child.exited, out, err };
}

const vault = (verb: string, args: readonly string[], options?: RunOptions): Promise<Run> =>
  satchel(['vault', verb, '--project', 'shop', ...args], options);

function documentOf(run: Run): Record<string, unknown> {
  const value: unknown = JSON.parse(run.out);
  if (!isPlainObject(value)) throw new Error(`no document: ${run.out}`);
  return value;
}

beforeAll(async () => {
  expect((await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'])).status).toBe(0);
});

describe('set', () => {
  test('takes a secret from standard input, a file or a variable without a warning, and masks it', async () => {
    const from_input = await vault('set', ['captcha', 'site_key=site', 'secret_key=-'], {
      input: "it's $ecret\n",
    });
    expect(from_input).toMatchObject({ status: 0, err: '' });
    expect(from_input.out).toContain('********');
    expect(from_input.out).not.toContain('$ecret');
    writeFileSync(join(dir, 'hook.txt'), 'whsec_1\n');
    const from_file = await vault('set', ['stripe', 'webhook_secret=@hook.txt', 'secret_key=env:SK'], {
      env: { SK: 'sk_1' },
    });
    expect(from_file).toMatchObject({ status: 0, err: '' });
    const { services } = documentOf(await vault('reveal', ['--json']));
    expect(services).toEqual({
      captcha: { site_key: 'site', secret_key: "it's $ecret" },
      stripe: { webhook_secret: 'whsec_1', secret_key: 'sk_1' },
    });
  });

  test('warns of a secret in the argument, and of a captcha secret that is for tests', async () => {
    const run = await vault('set', ['captcha', 'secret_key=1x0000000000000000000000000000000AA', '--json']);
    expect(run.status).toBe(0);
    expect(run.err).toContain('captcha.secret_key stands in the process list');
    expect(run.err).toContain('passes every visitor');
    expect(documentOf(run).present).toMatchObject({ secret_key: true });
    await vault('set', ['captcha', 'secret_key=-'], { input: "it's $ecret" });
  });

  test('stores a file under its name, byte by byte, and removes a field with --unset', async () => {
    writeFileSync(join(dir, 'AuthKey.p8'), 'binary \0 and a newline\n');
    expect(
      (await vault('set', ['app_store_connect', 'private_key_p8=@AuthKey.p8', 'key_id=K1'])).status,
    ).toBe(0);
    expect((await vault('set', ['app_store_connect', '--unset', 'key_id'])).status).toBe(0);
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
      expect([run.status, run.out]).toEqual([status, '']);
      expect(run.err).toContain(message);
    });
  }
});

test('show masks secrets and reveal does not', async () => {
  const shown = await vault('show', []);
  expect(shown.status).toBe(0);
  expect(shown.out).toContain('site');
  expect(shown.out).not.toContain('sk_1');
  expect((await vault('reveal', ['stripe'])).out).toContain('sk_1');
  expect(documentOf(await vault('show', ['captcha', '--json']))).toMatchObject({
    service: 'captcha',
    values: { site_key: 'site' },
  });
});

test('env prints the block of its target, and refuses a target that is none with exit 2', async () => {
  expect(parse((await vault('env', ['--target', 'server'])).out)).toEqual({
    CAPTCHA_SITE_KEY: 'site',
    CAPTCHA_SECRET_KEY: "it's $ecret",
    STRIPE_SECRET_KEY: 'sk_1',
    STRIPE_WEBHOOK_SECRET: 'whsec_1',
  });
  expect((await vault('env', ['--target', 'vite'])).out).toBe("VITE_CAPTCHA_SITE_KEY='site'\n");
  expect(documentOf(await vault('env', ['--target', 'vite', '--json']))).toEqual({
    env: { vite: "VITE_CAPTCHA_SITE_KEY='site'\n" },
    undecryptable: [],
  });
  expect((await vault('env', ['--target', 'nonsense'])).status).toBe(2);
});

describe('run', () => {
  test('gives its command the server block, its own umask and no key to the vault, and ends with its status', async () => {
    const script =
      'printf "%s|" "$CAPTCHA_SECRET_KEY" "$SATCHEL_PASSPHRASE" "$KEPT" "$*"; touch made; exit 7';
    const run = await vault('run', ['--', 'sh', '-c', script, 'sh', '--json', 'a b'], {
      env: { KEPT: 'kept' },
    });
    expect(run).toEqual({ status: 7, out: "it's $ecret||kept|--json a b|", err: '' });
    expect(statSync(join(dir, 'made')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test('never hands on what opens the vault', async () => {
    const own = { SATCHEL_PASSPHRASE: 'correct horse', SATCHEL_DATA_DIR: join(dir, 'by-passphrase') };
    await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], { env: own });
    const run = await vault('run', ['--', 'sh', '-c', 'env'], { env: own });
    expect(run.status).toBe(0);
    expect(run.out).not.toContain('correct horse');
    expect(run.out).toContain('SATCHEL_DATA_DIR=');
  });

  test('forwards a signal, and reports a command that a signal ended as shells do', async () => {
    const child = start([
      'vault',
      'run',
      '--project',
      'shop',
      '--',
      'sh',
      '-c',
      'trap "exit 42" TERM; echo ready; while :; do sleep 0.05; done',
    ]);
    const reader = child.stdout.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('ready\n');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(42);
    expect((await vault('run', ['--', 'sh', '-c', 'kill -KILL $$'])).status).toBe(137);
  });

  test('refuses a command that cannot be started, and --json, which would not be one document', async () => {
    const missing = await vault('run', ['--', 'no-such-command-here']);
    expect([missing.status, missing.err]).toEqual([
      1,
      'satchel: The command could not be started: no-such-command-here\n',
    ]);
    expect((await vault('run', ['--json', '--', 'true'])).status).toBe(2);
    expect((await vault('run', [])).status).toBe(2);
  });
});

test('every reveal of the command line is in the audit trail under the name of the shell user', async () => {
  const run = await satchel(['audit', 'list', '--project', 'shop', '--event', 'vault.revealed', '--json']);
  for (const how of ['reveal', 'env', 'run']) expect(run.out).toContain(`"how": "${how}"`);
  expect(run.out).toContain('"actor_kind": "shell"');
  expect(run.out).not.toContain('sk_1');
});

test('delete removes a service and says how much that was', async () => {
  expect(documentOf(await vault('delete', ['stripe', '--json']))).toEqual({
    deleted: true,
    cascade: { vault_credentials: 2, vault_files: 0 },
  });
  expect((await vault('show', [])).out).not.toContain('stripe');
});

test('services lists the registry without a data directory', async () => {
  const run = await satchel(['vault', 'services', '--json'], {
    env: { SATCHEL_DATA_DIR: join(dir, 'none') },
  });
  const registry: unknown = JSON.parse(run.out);
  expect(Array.isArray(registry) ? registry.length : 0).toBe(12);
});
