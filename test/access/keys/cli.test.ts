/** `satchel key` and `satchel origin`: what their verbs print, refuse and change. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { run, runJson, runRecord } from '../../support/command.ts';
import { actor, startTestApp } from '../../support/helpers.ts';

// Every step starts a process, and a busy machine takes its time for that.
setDefaultTimeout(60_000);

let dir: string;
let plaintext_key: string;
beforeEach(async () => {
  const app = await startTestApp();
  const { projects, keys } = app.services;
  const project = await projects.create(actor, { name: 'Shop' });
  ({ plaintext_key } = await keys.create(actor, project, { name: 'web', restricted: true }));
  await app.stop();
  dir = app.data_dir;
});

test('a key gets what --can, the flags and the limits say', async () => {
  const made = await runRecord(
    dir,
    ...[
      'key',
      'create',
      '--project',
      '1',
      '--name',
      'all',
      '--test',
      '--allow-no-origin',
      '--rate-limit',
      '30',
    ],
    ...[
      '--can',
      'read,write,email',
      '--can',
      'email_template, captcha,marketing',
      '--email-daily-limit',
      '0',
    ],
  );
  expect(made).toMatchObject({
    can_read: true,
    can_write: true,
    can_send_emails: true,
    can_manage_email_marketing: true,
    permissions: { email_template: true, captcha: true },
    restricted: false,
    allow_no_origin: true,
    rate_limit_per_minute: 30,
    email_daily_limit: 0,
    is_test: true,
    plaintext_key: expect.stringMatching(/^sat_test_/),
  });
  const page = await runRecord(
    dir,
    ...['key', 'create', '--project', '1', '--name', 'page', '--can', 'upload'],
  );
  expect(page).toMatchObject({ can_read: false, can_write: false, permissions: { upload: true } });
  const writer = await runRecord(
    dir,
    ...['key', 'create', '--project', '1', '--name', 'writer', '--can', 'write', '--no-delete'],
  );
  expect(writer).toMatchObject({ can_write: true, permissions: { delete: false } });
  const bare = await runRecord(dir, 'key', 'create', '--project', '1', '--name', 'bare');
  expect(bare).toMatchObject({ can_read: false, can_write: false, permissions: {}, is_test: false });
});

test('lists never show the secret, reveal does, and rotating changes it', async () => {
  for (const args of [
    ['list', '--project', 'shop'],
    ['deactivate', '1'],
    ['activate', '1'],
  ]) {
    expect((await run(dir, 'key', ...args)).stdout).not.toContain(plaintext_key);
    expect((await run(dir, 'key', ...args, '--json')).stdout).not.toContain(plaintext_key);
  }
  expect((await run(dir, 'key', 'reveal', '1')).stdout).toBe(`${plaintext_key}\n`);
  const rotated = await runRecord(dir, 'key', 'rotate', '1');
  expect(rotated.plaintext_key).not.toBe(plaintext_key);
  expect(await runJson(dir, 'key', 'reveal', '1')).toEqual({ plaintext_key: rotated.plaintext_key });
});

test('a key that is not retained is never revealed, and the refusal names the remedy', async () => {
  await run(dir, 'key', 'create', '--project', 'shop', '--name', 'shy', '--no-retain');
  const ran = await run(dir, 'key', 'reveal', '2');
  expect(ran).toMatchObject({ exit: 1, stdout: '' });
  expect(ran.stderr).toContain('Rotate');
});

test('a key is switched off and on, and deleted only with --yes', async () => {
  expect(await runRecord(dir, 'key', 'deactivate', '1')).toMatchObject({ id: 1, is_active: false });
  expect(await runRecord(dir, 'key', 'activate', '1')).toMatchObject({ id: 1, is_active: true });
  expect((await run(dir, 'key', 'delete', '1')).exit).toBe(1);
  expect(await runJson(dir, 'key', 'list', '--project', 'shop')).toHaveLength(1);
  expect(await runJson(dir, 'key', 'delete', '1', '--yes')).toEqual({
    deleted: true,
    cascade: { origins: 0 },
  });
  expect(await runJson(dir, 'key', 'list', '--project', 'shop')).toEqual([]);
});

test('origins of a key are added, listed and removed', async () => {
  const pin = 'ab'.repeat(32);
  await run(dir, 'key', 'origin', 'add', '1', '--type', 'domain', '--value', 'app.example.com');
  const app = ['--type', 'android', '--value', 'com.example.app'];
  const origin = await runRecord(dir, 'key', 'origin', 'add', '1', ...app, '--sha256', pin, '--sha256', pin);
  expect(origin).toEqual({
    id: 2,
    type: 'android',
    value: 'com.example.app',
    sha256_fingerprints: [pin.toUpperCase()],
    sha1_fingerprints: [],
  });
  expect(await runJson(dir, 'key', 'origin', 'list', '1')).toHaveLength(2);
  expect(await runJson(dir, 'key', 'origin', 'remove', '1', '2', '--yes')).toEqual({ deleted: true });
  expect(await runJson(dir, 'key', 'origin', 'list', '1')).toEqual([
    { id: 1, type: 'domain', value: 'https://app.example.com' },
  ]);
});

test('global origins are added, listed and removed', async () => {
  const args = ['--type', 'domain', '--value', '*.example.com', '--note', 'ours'];
  expect(await runRecord(dir, 'origin', 'add', ...args)).toMatchObject({ id: 1, note: 'ours' });
  const again = await run(dir, 'origin', 'add', ...args);
  expect(again.exit).toBe(1);
  expect(await runJson(dir, 'origin', 'list')).toEqual([
    expect.objectContaining({ id: 1, value: 'https://*.example.com' }),
  ]);
  expect((await run(dir, 'origin', 'remove', '1', '--yes')).exit).toBe(0);
  expect(await runJson(dir, 'origin', 'list')).toEqual([]);
});

describe('key why', () => {
  beforeEach(async () => {
    await run(dir, 'key', 'origin', 'add', '1', '--type', 'domain', '--value', 'app.example.com');
    await run(dir, 'origin', 'add', '--type', 'ios', '--value', 'com.example.app');
  });

  test('names the rule that accepts', async () => {
    expect(await runJson(dir, 'key', 'why', '1', '--origin', 'https://app.example.com')).toEqual({
      accepted: true,
      code: null,
      why: expect.stringContaining('own rule 1'),
      rule: { id: 1, type: 'domain', value: 'https://app.example.com', scope: 'own' },
    });
    expect(await runRecord(dir, 'key', 'why', '1', '--app-id', 'com.example.app')).toMatchObject({
      accepted: true,
      rule: { type: 'ios', scope: 'global' },
    });
  });

  test('says why none does', async () => {
    const ran = await run(dir, 'key', 'why', '1', '--origin', 'https://sub.app.example.com');
    expect(ran.stdout).toStartWith('Refused.');
    expect(ran.stdout).toContain('covers no subdomains');
    expect(ran).toMatchObject({ exit: 1, stderr: '' });
    const neither = await run(dir, 'key', 'why', '1', '--json');
    expect(neither.exit).toBe(1);
    expect(JSON.parse(neither.stdout)).toMatchObject({
      accepted: false,
      code: 'ORIGIN_REQUIRED',
      rule: null,
    });
  });

  test('says that the key is off before it speaks of rules', async () => {
    await run(dir, 'key', 'deactivate', '1');
    const off = await run(dir, 'key', 'why', '1', '--origin', 'https://app.example.com', '--json');
    expect(off.exit).toBe(1);
    expect(JSON.parse(off.stdout)).toMatchObject({
      accepted: false,
      code: 'KEY_INACTIVE',
      why: expect.stringContaining('satchel key activate 1'),
      rule: null,
    });
  });
});

test.each([
  [2, ['key', 'create', '--project', 'shop']],
  [2, ['key', 'create', '--project', 'shop', '--name', 'k', '--can', 'read,fly']],
  [2, ['key', 'create', '--project', 'shop', '--name', 'k', '--rate-limit', '0']],
  [2, ['key', 'create', '--project', 'shop', '--name', 'k', '--email-daily-limit', 'many']],
  [2, ['key', 'origin', 'add', '1', '--type', 'domain']],
  [1, ['key', 'create', '--project', 'nowhere', '--name', 'k']],
  [1, ['key', 'rotate', '99']],
  [1, ['key', 'rotate', 'web']],
  [2, ['key', 'origin', 'add', '1', '--type', 'web', '--value', 'a.example.com']],
  [1, ['key', 'origin', 'add', '1', '--type', 'domain', '--value', 'http://a.example.com']],
  [1, ['key', 'origin', 'remove', '1', '9']],
  [1, ['origin', 'remove', '9']],
  [1, ['origin', 'remove', 'x']],
])('exit %i: satchel %j', async (exit, args) => {
  const ran = await run(dir, ...args);
  expect(ran).toMatchObject({ exit, stdout: '' });
  expect(ran.stderr).not.toBe('');
});

describe('a key is found', () => {
  let other: Record<string, unknown>;
  beforeEach(async () => {
    await runRecord(dir, 'project', 'create', '--name', 'Blog');
    other = await runRecord(dir, 'key', 'create', '--project', 'blog', '--name', 'web', '--can', 'read');
  });
  const changed = async (...named: string[]) =>
    (await runRecord(dir, 'key', 'change', ...named, '--rate-limit', '7')).id;

  test('by its id, by the start of its secret, and by its name together with its project', async () => {
    expect(await changed('2')).toBe(2);
    expect(await changed(`${other.key_prefix}...`)).toBe(2);
    expect(await changed('web', '--project', 'shop')).toBe(1);
    expect(await changed('web', '--project', 'blog')).toBe(2);
    for (const [ref, ...project] of [
      ['web'],
      ['2', '--project', 'shop'],
      ['sat_live_zzz'],
      ['api', '--project', 'blog'],
    ]) {
      const { exit, stderr } = await run(dir, 'key', 'deactivate', ref ?? '', ...project);
      expect([ref, exit, stderr]).toEqual([ref, 1, expect.stringContaining('API key not found')]);
    }
  });

  test('unless several fit: then their ids are listed, and nothing is changed', async () => {
    await runRecord(dir, 'key', 'create', '--project', 'blog', '--name', 'web');
    const before = await runJson(dir, 'key', 'list', '--project', 'blog');
    for (const named of [['web', '--project', 'blog'], ['sat_live_']]) {
      const { exit, stderr } = await run(dir, 'key', 'delete', ...named, '--yes');
      expect([exit, stderr]).toEqual([1, expect.stringMatching(/Several keys fit: (1, )?2, 3\./)]);
    }
    expect(await runJson(dir, 'key', 'list', '--project', 'blog')).toEqual(before);
  });
});

test('change touches what is given and nothing else, and --can means these and no others', async () => {
  const before = await runRecord(dir, 'key', 'change', '1', '--can', 'read,captcha', '--rate-limit', '30');
  expect(before).toMatchObject({
    can_read: true,
    permissions: { captcha: true },
    restricted: true,
    rate_limit_per_minute: 30,
  });
  const after = await runRecord(
    dir,
    'key',
    'change',
    '1',
    '--can',
    'email',
    '--no-restricted',
    '--rate-limit',
    'default',
  );
  expect(after).toEqual({
    ...before,
    ...{ can_read: false, can_send_emails: true, permissions: {} },
    ...{ restricted: false, rate_limit_per_minute: null, purpose: 'Sends mail' },
  });
  expect(await runRecord(dir, 'key', 'change', '1', '--name', 'site')).toEqual({ ...after, name: 'site' });
  expect((await run(dir, 'key', 'change', '1')).exit).toBe(2);
  expect((await run(dir, 'key', 'change', '1', '--rate-limit', 'none')).exit).toBe(2);
});

test('a key without any permission draws a warning', async () => {
  const make = (name: string, ...can: string[]) =>
    run(dir, 'key', 'create', '--project', '1', '--name', name, ...can);
  expect((await make('idle')).stderr).toContain(
    'warning: this key may do nothing. Give it permissions with: satchel key change 2',
  );
  expect((await make('form', '--can', 'captcha')).stderr).toBe('');
});

test('an origin that every app of a tool sends is added with words on stderr that say so', async () => {
  const add = (...noun: string[]) =>
    run(dir, ...noun, '--type', 'domain', '--value', 'capacitor://localhost', '--json');
  for (const noun of [
    ['key', 'origin', 'add', '1'],
    ['origin', 'add'],
  ]) {
    const { stdout, stderr } = await add(...noun);
    expect(JSON.parse(stdout)).toMatchObject({ value: 'capacitor://localhost' });
    expect(stderr).toBe(
      'satchel: Every app that is made with Capacitor may send capacitor://localhost: it keeps web pages out, and no such app.\n',
    );
  }
});
