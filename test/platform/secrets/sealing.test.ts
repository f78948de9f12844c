/** Sealing: what was sealed opens at its own place under its own key, and nothing else does. */
import { describe, expect, test } from 'bun:test';
import { createDecipheriv } from 'node:crypto';
import {
  createDataKey,
  createMasterKey,
  dataKeyIdOf,
  masterKeyIdOf,
  masterKeyOf,
  openValue,
  sealValue,
  unwrapDataKey,
  wrapDataKey,
} from '../../../src/platform/secrets/sealing.ts';

const CONTEXT = ['vault', '01J0000000000000000000000A', 'captcha', 'secret_key'];

function textOf(opened: ReturnType<typeof openValue>): string {
  return opened ? Buffer.from(opened).toString() : 'does not open';
}

describe('a sealed value', () => {
  const key = createDataKey();
  const sealed = sealValue(key, 'hunter2 ✓', CONTEXT);

  test('opens under its key at its place', () => {
    expect(textOf(openValue(key, sealed, CONTEXT))).toBe('hunter2 ✓');
  });

  test('names its data key and shows nothing of the value', () => {
    expect(sealed).toMatch(/^v1\.\d+\.[\w-]+$/);
    expect(dataKeyIdOf(sealed)).toBe(key.id);
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('hunter2');
  });

  test('is plain AES-256-GCM: nonce, ciphertext, tag', () => {
    const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from(JSON.stringify(['value', ...CONTEXT])));
    decipher.setAuthTag(bytes.subarray(-16));
    expect(decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')).toBe(
      'hunter2 ✓',
    );
  });

  test('differs each time', () => {
    const many = new Set(
      Array.from({ length: 500 }, () => sealValue(key, '', CONTEXT).split('.')[2]?.slice(0, 16)),
    );
    expect(many.size).toBe(500);
  });

  test('keeps any bytes, from none to a mebibyte', () => {
    for (const size of [0, 1, 15, 16, 17, 1024 * 1024]) {
      const bytes = new Uint8Array(size).map((_, index) => (index * 31) % 256);
      const opened = openValue(key, sealValue(key, bytes, CONTEXT), CONTEXT);
      expect(opened && Buffer.compare(opened, bytes)).toBe(0);
    }
  });

  test.each([
    ['another project', ['vault', '01J0000000000000000000000B', 'captcha', 'secret_key']],
    ['another field', ['vault', '01J0000000000000000000000A', 'captcha', 'site_key']],
    ['fewer parts', ['vault', '01J0000000000000000000000A', 'captcha']],
    ['more parts', [...CONTEXT, '']],
    ['parts cut elsewhere', ['vault', '01J0000000000000000000000A', 'captchas', 'ecret_key']],
    ['parts joined', [CONTEXT.join('","')]],
    ['no context', []],
  ])('does not open at %s', (_name, context) => {
    expect(openValue(key, sealed, context)).toBeNull();
  });

  test('does not open under another key, even one that takes its id', () => {
    const other = createDataKey();
    expect(openValue(other, sealed, CONTEXT)).toBeNull();
    expect(openValue({ id: key.id, bytes: other.bytes }, sealed, CONTEXT)).toBeNull();
  });

  test('does not open with any one character altered, missing or added', () => {
    for (let index = 0; index < sealed.length; index += 1) {
      const other = sealed[index] === 'A' ? 'B' : 'A';
      expect(openValue(key, sealed.slice(0, index) + other + sealed.slice(index + 1), CONTEXT)).toBeNull();
      expect(openValue(key, sealed.slice(0, index) + sealed.slice(index + 1), CONTEXT)).toBeNull();
      expect(openValue(key, `${sealed.slice(0, index)}=${sealed.slice(index)}`, CONTEXT)).toBeNull();
    }
  });

  test.each(['', 'v1', 'v1..', `v1.${key.id}.`, `v1.${key.id}.AAAA`, `v2.${key.id}.AAAA`, 'hunter2'])(
    'is not %p',
    (text) => {
      expect(openValue(key, text, CONTEXT)).toBeNull();
    },
  );
});

describe('a wrapped data key', () => {
  const master = createMasterKey();
  const key = createDataKey();
  const scope = 'project:01J0000000000000000000000A';
  const wrapped = wrapDataKey(master, key, scope);

  test('names its master key and unwraps under it', () => {
    expect(wrapped).toMatch(/^w1\.[0-9a-f]{16}\.[\w-]+$/);
    expect(masterKeyIdOf(wrapped)).toBe(master.id);
    const unwrapped = unwrapDataKey(master, { id: key.id, scope, wrapped });
    expect(unwrapped?.id).toBe(key.id);
    expect(Buffer.compare(unwrapped?.bytes ?? new Uint8Array(), key.bytes)).toBe(0);
  });

  test('does not unwrap under another master key, in another row or altered', () => {
    const row = { id: key.id, scope, wrapped };
    expect(unwrapDataKey(createMasterKey(), row)).toBeNull();
    expect(unwrapDataKey({ id: master.id, bytes: createMasterKey().bytes }, row)).toBeNull();
    expect(unwrapDataKey(master, { ...row, id: key.id + 1 })).toBeNull();
    expect(unwrapDataKey(master, { ...row, scope: 'platform' })).toBeNull();
    expect(unwrapDataKey(master, { ...row, wrapped: wrapped.slice(0, -1) })).toBeNull();
    expect(unwrapDataKey(master, { ...row, wrapped: '' })).toBeNull();
  });

  test('is no sealed value, and a sealed value is no wrapped key', () => {
    const payload = wrapped.split('.')[2];
    const as_data_key = { id: key.id, bytes: master.bytes };
    expect(openValue(as_data_key, `v1.${key.id}.${payload}`, ['data_key', String(key.id), scope])).toBeNull();
  });
});

test('a master key is named by its bytes', () => {
  const bytes = new Uint8Array(32).fill(7);
  // sha256("satchel master key id" + 32 times 0x07), worked out with sha256sum.
  expect(masterKeyOf(bytes).id).toBe('d94d2d9a1e046911');
  expect(masterKeyOf(new Uint8Array(32).fill(8)).id).not.toBe(masterKeyOf(bytes).id);
});
