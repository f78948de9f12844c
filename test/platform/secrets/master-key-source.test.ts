/** Where the master key comes from: exact settings, a passphrase, and a file that no crash loses. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createKeyFile,
  createSalt,
  deriveMasterKey,
  findKeyInFiles,
  hasNextKeyFile,
  type KeyFileSource,
  masterKeySourceOf,
  parseMasterKey,
  readKeyFile,
  settingOf,
  settleKeyFiles,
  warnOfKeyFileMode,
  writeNextKeyFile,
} from '../../../src/platform/secrets/master-key-source.ts';
import { createMasterKey, loadArgon2, masterKeyOf } from '../../../src/platform/secrets/sealing.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'satchel-master-key-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function keyFile(name = 'master.key', is_default = true): KeyFileSource {
  return { kind: 'file', path: join(folder, name), is_default };
}

const NO_KEY = { data_dir: '/data', master_key: null, master_key_file: null, passphrase: null };

test('the source is what the settings choose, and messages name it', () => {
  const sources = [
    masterKeySourceOf(NO_KEY),
    masterKeySourceOf({ ...NO_KEY, master_key_file: '/etc/satchel/key' }),
    masterKeySourceOf({ ...NO_KEY, master_key: 'k' }),
    masterKeySourceOf({ ...NO_KEY, passphrase: 'p' }),
  ];
  expect(sources).toEqual([
    { kind: 'file', path: '/data/master.key', is_default: true },
    { kind: 'file', path: '/etc/satchel/key', is_default: false },
    { kind: 'key', text: 'k' },
    { kind: 'passphrase', passphrase: 'p' },
  ]);
  expect(sources.map(settingOf)).toEqual([
    'The master key file /data/master.key (no SATCHEL_MASTER_KEY_FILE is set)',
    'The master key file /etc/satchel/key (SATCHEL_MASTER_KEY_FILE)',
    'SATCHEL_MASTER_KEY',
    'SATCHEL_PASSPHRASE',
  ]);
});

describe('SATCHEL_MASTER_KEY', () => {
  const bytes = new Uint8Array(32).map((_, index) => 255 - index);

  test('is 32 bytes in base64', () => {
    expect(parseMasterKey(Buffer.from(bytes).toString('base64'))).toEqual(masterKeyOf(Buffer.from(bytes)));
  });

  test.each([
    ['31 bytes', Buffer.from(bytes.slice(1)).toString('base64')],
    ['33 bytes', Buffer.from([...bytes, 0]).toString('base64')],
    ['no padding', Buffer.from(bytes).toString('base64').slice(0, -1)],
    ['base64url', Buffer.from(bytes).toString('base64url')],
    ['hex', Buffer.from(bytes).toString('hex')],
    [
      'a line break within',
      Buffer.from(bytes)
        .toString('base64')
        .replace(/^(.{20})/, '$1\n'),
    ],
    // The last character before the padding carries 4 bits; here the 2 bits that mean nothing are not zero.
    [
      'a spelling that decodes but is not the key’s own',
      Buffer.from(bytes).toString('base64').replace(/.=$/, 'B='),
    ],
    ['nothing', ''],
  ])('with %s is refused by its name, without its value', (_name, text) => {
    let message = '';
    try {
      parseMasterKey(text);
    } catch (error) {
      message = error instanceof Error ? error.message : '';
    }
    expect(message).toContain('SATCHEL_MASTER_KEY must be exactly 32 bytes in base64');
    if (text !== '') expect(message).not.toContain(text);
  });
});

describe('a passphrase', () => {
  test('gives the argon2id key of its salt', async () => {
    // Worked out apart from this code: argon2id, version 0x13, 64 MiB, 3 passes, 4 lanes, 32 bytes.
    const key = await deriveMasterKey('correct horse', Buffer.alloc(16, 1).toString('base64'));
    expect(Buffer.from(key.bytes).toString('hex')).toBe(
      '4471256fa58cf203c9c30f88acf8284cb765abf5fdb02f0e300f6bade11793d1',
    );
  });

  test('gives another key with another salt, and the same however accents are composed', async () => {
    const [salt, other] = [createSalt(), createSalt()];
    const key = await deriveMasterKey('caf\u00e9', salt);
    expect((await deriveMasterKey('cafe\u0301', salt)).id).toBe(key.id);
    expect((await deriveMasterKey('caf\u00e9', other)).id).not.toBe(key.id);
    expect(Buffer.from(salt, 'base64').length).toBe(16);
  });
});

describe('a new key file', () => {
  test('is 0600, holds one line that fits SATCHEL_MASTER_KEY, and leaves nothing beside it', () => {
    const source = keyFile();
    const key = createKeyFile(source.path);
    expect(statSync(source.path).mode & 0o777).toBe(0o600);
    const text = readFileSync(source.path, 'utf8');
    expect(text).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    expect(parseMasterKey(text.trim()).id).toBe(key.id);
    expect(readKeyFile(source)?.id).toBe(key.id);
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test('is made past what a crash left of an earlier try', () => {
    writeFileSync(join(folder, 'master.key.new'), 'half');
    const key = createKeyFile(keyFile().path);
    expect(readKeyFile(keyFile())?.id).toBe(key.id);
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test.each(['file', 'dangling link'])('never takes the place of a %s', (kind) => {
    const { path } = keyFile();
    if (kind === 'file') writeFileSync(path, '');
    else symlinkSync(join(folder, 'not-mounted'), path);
    expect(() => createKeyFile(path)).toThrow('never overwritten');
    if (kind === 'file') expect(readFileSync(path, 'utf8')).toBe('');
  });
});

describe('a key file', () => {
  test('that is absent reads as null', () => {
    expect(readKeyFile(keyFile())).toBeNull();
  });

  test.each(['', 'not a key', 'QUJD\n'])('with the content %p is refused by the setting', (content) => {
    writeFileSync(join(folder, 'other.key'), content);
    expect(() => readKeyFile(keyFile('other.key', false))).toThrow(
      `${join(folder, 'other.key')} (SATCHEL_MASTER_KEY_FILE) does not hold a master key`,
    );
  });

  test('that is a folder is refused', () => {
    expect(() => readKeyFile({ kind: 'file', path: folder, is_default: false })).toThrow("can't be read");
  });

  test('is warned of when others may read or write it', () => {
    const source = keyFile();
    createKeyFile(source.path);
    expect(warnOfKeyFileMode(source)).toBeNull();
    chmodSync(source.path, 0o400);
    expect(warnOfKeyFileMode(source)).toBeNull();
    for (const mode of [0o640, 0o604, 0o620]) {
      chmodSync(source.path, mode);
      expect(warnOfKeyFileMode(source)).toContain(`mode 0${mode.toString(8)}`);
    }
  });
});

describe('a rotation of the key file', () => {
  test('puts the new key beside the old one, 0600, and both are found', () => {
    const { path } = keyFile();
    const [old, next] = [createKeyFile(path), createMasterKey()];
    writeNextKeyFile(path, next);
    expect(hasNextKeyFile(path)).toBe(true);
    expect(statSync(`${path}.next`).mode & 0o777).toBe(0o600);
    expect(findKeyInFiles(path, old.id)?.id).toBe(old.id);
    expect(findKeyInFiles(path, next.id)?.id).toBe(next.id);
    expect(findKeyInFiles(path, createMasterKey().id)).toBeNull();
  });

  test.each(['old', 'new'])('ends with the %s key alone when that is in force', (in_force) => {
    const { path } = keyFile();
    const [old, next] = [createKeyFile(path), createMasterKey()];
    writeNextKeyFile(path, next);
    const key = in_force === 'old' ? old : next;
    expect(settleKeyFiles(path, key.id)?.id).toBe(key.id);
    expect(readKeyFile(keyFile())?.id).toBe(key.id);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test('that was cut off while it wrote the new key ends with the old one', () => {
    const { path } = keyFile();
    const old = createKeyFile(path);
    writeFileSync(`${path}.next`, 'aGFsZg');
    expect(settleKeyFiles(path, old.id)?.id).toBe(old.id);
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test('touches nothing when neither key is in force', () => {
    const { path } = keyFile();
    createKeyFile(path);
    writeNextKeyFile(path, createMasterKey());
    const before = [readFileSync(path, 'utf8'), readFileSync(`${path}.next`, 'utf8')];
    expect(settleKeyFiles(path, createMasterKey().id)).toBeNull();
    expect([readFileSync(path, 'utf8'), readFileSync(`${path}.next`, 'utf8')]).toEqual(before);
  });

  test('replaces the file that a link points to, and leaves no old key behind', () => {
    const target = join(folder, 'real.key');
    createKeyFile(target);
    const link = join(folder, 'linked.key');
    symlinkSync(target, link);
    const next = createMasterKey();
    writeNextKeyFile(link, next);
    settleKeyFiles(link, next.id);
    expect(readKeyFile({ kind: 'file', path: target, is_default: false })?.id).toBe(next.id);
    expect(readKeyFile({ kind: 'file', path: link, is_default: false })?.id).toBe(next.id);
    expect(existsSync(`${link}.next`)).toBe(false);
  });
});

test('a native module that can not be unpacked names the setting that mends it', async () => {
  const broken = loadArgon2(() =>
    Promise.reject(new Error('Cannot find native binding. Please try `npm i` again')),
  );
  await expect(broken).rejects.toThrow('set TMPDIR to a folder that exists');
  await expect(broken).rejects.not.toThrow('npm');
});
