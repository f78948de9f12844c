/** The key ring: binding a database to its master key, sealing by scope, and rotation that survives being killed. */
import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { asc, eq } from 'drizzle-orm';
import { AppError } from '../../../src/errors.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { dataKeys, meta } from '../../../src/platform/database/tables.ts';
import {
  createKeyRing,
  type KeyRing,
  PLATFORM_SCOPE,
  projectScope,
} from '../../../src/platform/secrets/key-ring.ts';
import { type MasterKeySource, parseMasterKey } from '../../../src/platform/secrets/master-key-source.ts';
import { createMasterKey, dataKeyIdOf } from '../../../src/platform/secrets/sealing.ts';
import { makeDatabase, makeTempDir, TestClock } from '../../support/temp.ts';

const clock = new TestClock();
const CONTEXT = ['test', 'value'];
const SHOP = projectScope('01J0000000000000000000000A');

function keyText(): string {
  return Buffer.from(createMasterKey().bytes).toString('base64');
}

/** A database with its key file, and ways to look at both as another process would. */
function makePlace() {
  const dir = makeTempDir();
  const { database, path } = makeDatabase(dir);
  const source: MasterKeySource = { kind: 'file', path: join(dir, 'master.key'), is_default: true };
  return { dir, database, path, source, key_path: source.path };
}

function openRing(database: Database, source: MasterKeySource): Promise<KeyRing> {
  return createKeyRing({ database, source, clock });
}

function sealNow(ring: KeyRing, database: Database, scope: string, text: string): Promise<string> {
  return database.write((tx) => ring.seal(tx, scope, CONTEXT, text));
}

function keyFilesIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith('master.key'));
}

/** Everything that a refused start must leave as it was. */
function stateOf(database: Database, dir: string) {
  return {
    meta: database.read.select().from(meta).orderBy(asc(meta.name)).all(),
    data_keys: database.read.select().from(dataKeys).orderBy(asc(dataKeys.id)).all(),
    files: keyFilesIn(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]),
  };
}

async function refusalOf(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => new Error('was not refused'),
    (reason) => reason,
  );
  if (!(error instanceof AppError)) throw error;
  return error;
}

describe('a first start', () => {
  test('makes a 0600 key file and binds the database to it', async () => {
    const { database, source, key_path, dir } = makePlace();
    const ring = await openRing(database, source);
    expect(statSync(key_path).mode & 0o777).toBe(0o600);
    expect(keyFilesIn(dir)).toEqual(['master.key']);
    expect(stateOf(database, dir).meta).toEqual([{ name: 'master_key_id', value: ring.master_key_id }]);
    expect(ring.warnings).toEqual([]);
    await database.close();
  });

  test('that a crash cut off after the file was made goes on with that file', async () => {
    const { database, source, key_path } = makePlace();
    const text = keyText();
    writeFileSync(key_path, `${text}\n`, { mode: 0o600 });
    const ring = await openRing(database, source);
    expect(readFileSync(key_path, 'utf8')).toBe(`${text}\n`);
    expect((await openRing(database, { kind: 'key', text })).master_key_id).toBe(ring.master_key_id);
    await database.close();
  });

  test('of two processes at once agrees on one key', async () => {
    const { database, path, source } = makePlace();
    const other = openDatabase(path);
    const rings = await Promise.all([openRing(database, source), openRing(other, source)]);
    expect(rings[0].master_key_id).toBe(rings[1].master_key_id);
    await Promise.all([database.close(), other.close()]);
  });

  test('of two processes at once agrees on one passphrase salt', async () => {
    const { database, path } = makePlace();
    const source: MasterKeySource = { kind: 'passphrase', passphrase: 'correct horse' };
    const other = openDatabase(path);
    const rings = await Promise.all([openRing(database, source), openRing(other, source)]);
    expect(rings[0].master_key_id).toBe(rings[1].master_key_id);
    await Promise.all([database.close(), other.close()]);
  });

  test('refuses a missing file that the operator named, and says how to make it', async () => {
    const { database, dir } = makePlace();
    const path = join(dir, 'not-mounted', 'key');
    const refusal = await refusalOf(openRing(database, { kind: 'file', path, is_default: false }));
    expect(refusal.message).toContain('SATCHEL_MASTER_KEY_FILE');
    expect(refusal.message).toContain('openssl rand -base64 32');
    expect(stateOf(database, dir)).toEqual({ meta: [], data_keys: [], files: [] });
    await database.close();
  });

  test('refuses a malformed SATCHEL_MASTER_KEY and binds nothing', async () => {
    const { database, dir } = makePlace();
    const refusal = await refusalOf(openRing(database, { kind: 'key', text: 'short' }));
    expect(refusal.message).toContain('SATCHEL_MASTER_KEY must be exactly 32 bytes');
    expect(stateOf(database, dir).meta).toEqual([]);
    await database.close();
  });
});

describe('a later start', () => {
  test('refuses a missing key file, names it, and makes no new one', async () => {
    const { database, source, key_path, dir } = makePlace();
    const ring = await openRing(database, source);
    rmSync(key_path);
    const before = stateOf(database, dir);
    const refusal = await refusalOf(openRing(database, source));
    expect(refusal.message).toContain(key_path);
    expect(refusal.message).toContain('Restore the file');
    expect(refusal.message).toContain(ring.master_key_id);
    expect(stateOf(database, dir)).toEqual(before);
    expect(existsSync(key_path)).toBe(false);
    await database.close();
  });

  test.each<[string, MasterKeySource, string]>([
    ['SATCHEL_MASTER_KEY', { kind: 'key', text: keyText() }, 'SATCHEL_MASTER_KEY does not fit'],
    ['SATCHEL_PASSPHRASE', { kind: 'passphrase', passphrase: 'wrong' }, 'SATCHEL_PASSPHRASE does not fit'],
  ])('refuses a %s that does not fit and changes nothing', async (_setting, wrong, message) => {
    const { database, source, dir } = makePlace();
    await sealNow(await openRing(database, source), database, SHOP, 'x');
    const before = stateOf(database, dir);
    const refusal = await refusalOf(openRing(database, wrong));
    expect(refusal.message).toContain(message);
    expect(refusal.message).not.toContain('wrong');
    expect(stateOf(database, dir)).toEqual(before);
    await database.close();
  });

  test('refuses a key file that does not fit and changes nothing, a left-over of a rotation included', async () => {
    const { database, source, key_path, dir } = makePlace();
    await sealNow(await openRing(database, source), database, SHOP, 'x');
    writeFileSync(key_path, `${keyText()}\n`);
    writeFileSync(`${key_path}.next`, `${keyText()}\n`);
    const before = stateOf(database, dir);
    expect((await refusalOf(openRing(database, source))).message).toContain(
      `${key_path} (no SATCHEL_MASTER_KEY_FILE`,
    );
    expect(stateOf(database, dir)).toEqual(before);
    await database.close();
  });

  test('takes the content of the key file as SATCHEL_MASTER_KEY', async () => {
    const { database, source, key_path } = makePlace();
    const sealed = await sealNow(await openRing(database, source), database, SHOP, 'kept');
    const ring = await openRing(database, { kind: 'key', text: readFileSync(key_path, 'utf8').trim() });
    expect(ring.openText(database.read, sealed, CONTEXT)).toBe('kept');
    await database.close();
  });

  test('warns of a key file that others may read, and of a data key that does not open', async () => {
    const { database, source, key_path } = makePlace();
    const sealed = await sealNow(await openRing(database, source), database, SHOP, 'x');
    chmodSync(key_path, 0o644);
    await database.write((tx) => tx.update(dataKeys).set({ wrapped: 'w1.0000000000000000.AAAA' }).run());
    const ring = await openRing(database, source);
    expect(ring.warnings.join('\n')).toContain('chmod 600');
    expect(ring.warnings.join('\n')).toContain(`The data key of ${SHOP} does not open`);
    expect(ring.open(database.read, sealed, CONTEXT)).toBeNull();
    await database.close();
  });
});

describe('sealing', () => {
  test('gives each scope one data key of its own, made at first need', async () => {
    const { database, source, dir } = makePlace();
    const ring = await openRing(database, source);
    expect(stateOf(database, dir).data_keys).toEqual([]);
    const sealed = await Promise.all([
      sealNow(ring, database, SHOP, 'a'),
      sealNow(ring, database, SHOP, 'b'),
      sealNow(ring, database, PLATFORM_SCOPE, 'c'),
    ]);
    expect(
      stateOf(database, dir)
        .data_keys.map((row) => row.scope)
        .sort(),
    ).toEqual([PLATFORM_SCOPE, SHOP]);
    expect(stateOf(database, dir).data_keys[0]?.created_at).toBe(clock.now());
    const later = await openRing(database, source);
    expect(sealed.map((text) => later.openText(database.read, text, CONTEXT))).toEqual(['a', 'b', 'c']);
    await database.close();
  });

  test('opens within the very transaction that sealed', async () => {
    const { database, source } = makePlace();
    const ring = await openRing(database, source);
    const text = await database.write((tx) => ring.openText(tx, ring.seal(tx, SHOP, CONTEXT, 'a'), CONTEXT));
    expect(text).toBe('a');
    await database.close();
  });

  test('keeps nothing of a data key whose transaction was undone', async () => {
    const { database, source, path } = makePlace();
    const ring = await openRing(database, source);
    const undone = database.write((tx) => {
      ring.seal(tx, SHOP, CONTEXT, 'a');
      throw new Error('undone');
    });
    expect(undone).rejects.toThrow('undone');
    await undone.catch(() => {});
    const other = openDatabase(path);
    const by_other = await sealNow(await openRing(other, source), other, SHOP, 'by another process');
    const sealed = await sealNow(ring, database, SHOP, 'b');
    const later = await openRing(database, source);
    expect(later.openText(database.read, sealed, CONTEXT)).toBe('b');
    expect(ring.openText(database.read, by_other, CONTEXT)).toBe('by another process');
    await Promise.all([database.close(), other.close()]);
  });

  test('goes on with a new data key where that of the scope does not open, and keeps the old one for a repair', async () => {
    const { database, source, dir } = makePlace();
    const old = await sealNow(await openRing(database, source), database, SHOP, 'old');
    const wrapped = stateOf(database, dir).data_keys[0]?.wrapped ?? '';
    await database.write((tx) =>
      tx
        .update(dataKeys)
        .set({ wrapped: `${wrapped.slice(0, -8)}AAAAAAAA` })
        .run(),
    );
    const ring = await openRing(database, source);
    const fresh = await sealNow(ring, database, SHOP, 'new');
    expect(ring.openText(database.read, fresh, CONTEXT)).toBe('new');
    expect(ring.openText(database.read, old, CONTEXT)).toBeNull();
    // Said at the start that found it; once it is replaced, doctor alone tells of what it sealed.
    expect(ring.warnings).toHaveLength(1);
    expect((await openRing(database, source)).warnings).toEqual([]);

    const id = dataKeyIdOf(old) ?? 0;
    await database.write((tx) => tx.update(dataKeys).set({ wrapped }).where(eq(dataKeys.id, id)).run());
    const repaired = await openRing(database, source);
    expect(repaired.openText(database.read, old, CONTEXT)).toBe('old');
    expect(await repaired.rotate(null)).toMatchObject({ rewrapped: 2, undecryptable: [] });
    const later = await openRing(database, source);
    expect([old, fresh].map((text) => later.openText(database.read, text, CONTEXT))).toEqual(['old', 'new']);

    await database.write((tx) => later.forgetScope(tx, SHOP));
    expect(stateOf(database, dir).data_keys).toEqual([]);
    expect([old, fresh].map((text) => later.openText(database.read, text, CONTEXT))).toEqual([null, null]);
    await database.close();
  });

  test('opens nothing at another place, nor anything that is no sealed value', async () => {
    const { database, source } = makePlace();
    const ring = await openRing(database, source);
    const sealed = await sealNow(ring, database, SHOP, 'a');
    for (const [text, context] of [
      [sealed, ['test', 'other']],
      [sealed.replace(/^v1\.\d+/, 'v1.5'), CONTEXT],
      ['', CONTEXT],
      ['plaintext', CONTEXT],
    ] as const) {
      expect(ring.open(database.read, text, context)).toBeNull();
      expect(ring.openText(database.read, text, context)).toBeNull();
    }
    await database.close();
  });

  test('of a forgotten scope opens no more, and the scope starts afresh', async () => {
    const { database, source } = makePlace();
    const ring = await openRing(database, source);
    const sealed = await sealNow(ring, database, SHOP, 'a');
    await database.write((tx) => ring.forgetScope(tx, SHOP));
    expect(ring.openText(database.read, sealed, CONTEXT)).toBeNull();
    const again = await sealNow(ring, database, SHOP, 'b');
    expect(ring.openText(database.read, again, CONTEXT)).toBe('b');
    expect(ring.openText(database.read, sealed, CONTEXT)).toBeNull();
    await database.close();
  });
});

describe('rotation', () => {
  test('of the key file rewraps every data key and keeps nothing of the old key', async () => {
    const { database, source, key_path, dir } = makePlace();
    const ring = await openRing(database, source);
    const sealed = await Promise.all(
      [SHOP, PLATFORM_SCOPE].map((scope) => sealNow(ring, database, scope, scope)),
    );
    const [old_id, old_text] = [ring.master_key_id, readFileSync(key_path, 'utf8')];
    const rotation = await ring.rotate(null);
    expect(rotation).toEqual({
      master_key_id: ring.master_key_id,
      rewrapped: 2,
      undecryptable: [],
      next_step: null,
    });
    expect(ring.master_key_id).not.toBe(old_id);
    expect(keyFilesIn(dir)).toEqual(['master.key']);
    expect(statSync(key_path).mode & 0o777).toBe(0o600);
    expect(readFileSync(key_path, 'utf8')).not.toBe(old_text);
    for (const row of stateOf(database, dir).data_keys)
      expect(row.wrapped).toStartWith(`w1.${ring.master_key_id}.`);
    const later = await openRing(database, source);
    expect(sealed.map((text) => later.openText(database.read, text, CONTEXT))).toEqual([
      SHOP,
      PLATFORM_SCOPE,
    ]);
    expect((await refusalOf(openRing(database, { kind: 'key', text: old_text.trim() }))).kind).toBe(
      'conflict',
    );
    await database.close();
  });

  test('that can not be put on record does not happen', async () => {
    const { database, source, dir } = makePlace();
    const ring = await openRing(database, source);
    const before = [ring.master_key_id, stateOf(database, dir)];
    const rotation = ring.rotate(null, () => {
      throw new Error('no record');
    });
    await expect(rotation).rejects.toThrow('no record');
    expect([ring.master_key_id, stateOf(database, dir)]).toEqual(before);
    await database.close();
  });

  test('of SATCHEL_MASTER_KEY takes the new key from the caller and says what to set', async () => {
    const { database } = makePlace();
    const [old_key, new_key] = [keyText(), keyText()];
    const ring = await openRing(database, { kind: 'key', text: old_key });
    const sealed = await sealNow(ring, database, SHOP, 'kept');
    expect((await refusalOf(ring.rotate(null))).message).toContain('SATCHEL_MASTER_KEY');
    expect((await refusalOf(ring.rotate('short'))).message).toContain(
      'The new master key must be exactly 32 bytes',
    );
    expect((await refusalOf(ring.rotate(old_key))).message).toContain('must differ');
    expect((await ring.rotate(new_key)).next_step).toContain('Set SATCHEL_MASTER_KEY');
    expect((await refusalOf(openRing(database, { kind: 'key', text: old_key }))).message).toContain(
      'rotated',
    );
    const later = await openRing(database, { kind: 'key', text: new_key });
    expect(later.openText(database.read, sealed, CONTEXT)).toBe('kept');
    await database.close();
  });

  test('of SATCHEL_PASSPHRASE takes the new passphrase and a new salt', async () => {
    const { database } = makePlace();
    const ring = await openRing(database, { kind: 'passphrase', passphrase: 'old words' });
    const saltOf = () =>
      database.read.select().from(meta).where(eq(meta.name, 'passphrase_salt')).get()?.value;
    const [sealed, old_salt] = [await sealNow(ring, database, SHOP, 'kept'), saltOf()];
    expect((await refusalOf(ring.rotate('old words'))).message).toContain('must differ');
    expect((await ring.rotate('new words')).next_step).toContain('Set SATCHEL_PASSPHRASE');
    expect(saltOf()).not.toBe(old_salt);
    const later = await openRing(database, { kind: 'passphrase', passphrase: 'new words' });
    expect(later.openText(database.read, sealed, CONTEXT)).toBe('kept');
    expect((await refusalOf(openRing(database, { kind: 'passphrase', passphrase: 'old words' }))).kind).toBe(
      'conflict',
    );
    await database.close();
  });

  test('leaves a data key that does not open as it is, and names its scope', async () => {
    const { database, source, dir } = makePlace();
    const ring = await openRing(database, source);
    await sealNow(ring, database, PLATFORM_SCOPE, 'fine');
    await sealNow(ring, database, SHOP, 'lost');
    const damaged = `w1.${ring.master_key_id}.AAAA`;
    await database.write((tx) =>
      tx.update(dataKeys).set({ wrapped: damaged }).where(eq(dataKeys.scope, SHOP)).run(),
    );
    const later = await openRing(database, source);
    expect(await later.rotate(null)).toMatchObject({ rewrapped: 1, undecryptable: [SHOP] });
    expect(stateOf(database, dir).data_keys.find((row) => row.scope === SHOP)?.wrapped).toBe(damaged);
    await database.close();
  });

  test('that another process overtook is refused and changes nothing', async () => {
    const { database, path, source, dir } = makePlace();
    const other = openDatabase(path);
    const [ring, overtaken] = [await openRing(database, source), await openRing(other, source)];
    await ring.rotate(null);
    const before = stateOf(database, dir);
    expect((await refusalOf(overtaken.rotate(null))).message).toContain('by another process');
    expect(stateOf(database, dir)).toEqual(before);
    await Promise.all([database.close(), other.close()]);
  });
});

describe('a running server, while a command rotates', () => {
  test('goes on with the key file: it opens what it knew, and wraps new data keys under the new key', async () => {
    const { database, path, source } = makePlace();
    const server = await openRing(database, source);
    const sealed = await sealNow(server, database, SHOP, 'before');
    const cli = openDatabase(path);
    const rotation = await (await openRing(cli, source)).rotate(null);
    const by_cli = await sealNow(await openRing(cli, source), cli, projectScope('new'), 'by the command');
    expect(server.openText(database.read, sealed, CONTEXT)).toBe('before');
    expect(server.openText(database.read, by_cli, CONTEXT)).toBe('by the command');
    const after = await sealNow(server, database, PLATFORM_SCOPE, 'after');
    expect(server.master_key_id).toBe(rotation.master_key_id);
    const later = await openRing(database, source);
    expect(later.openText(database.read, after, CONTEXT)).toBe('after');
    await Promise.all([database.close(), cli.close()]);
  });

  test('with SATCHEL_MASTER_KEY goes on with known data keys, and says what to do when it needs a new one', async () => {
    const { database, path } = makePlace();
    const source: MasterKeySource = { kind: 'key', text: keyText() };
    const first = await openRing(database, source);
    const sealed = await sealNow(first, database, SHOP, 'before');
    const server = await openRing(database, source);
    const cli = openDatabase(path);
    const new_source: MasterKeySource = { kind: 'key', text: keyText() };
    await (await openRing(cli, source)).rotate(new_source.text);
    const by_cli = await sealNow(await openRing(cli, new_source), cli, projectScope('new'), 'x');
    expect(server.openText(database.read, sealed, CONTEXT)).toBe('before');
    const again = await sealNow(server, database, SHOP, 'after');
    const refusal = await refusalOf(sealNow(server, database, PLATFORM_SCOPE, 'y'));
    expect(refusal.kind).toBe('unavailable');
    expect(refusal.message).toContain('Restart Satchel with the new SATCHEL_MASTER_KEY');
    expect(() => server.open(database.read, by_cli, CONTEXT)).toThrow('Restart Satchel');
    const later = await openRing(cli, new_source);
    expect(later.openText(cli.read, again, CONTEXT)).toBe('after');
    await Promise.all([database.close(), cli.close()]);
  });
});

test('a start in whose middle another process rotates goes by what that left', async () => {
  const { database, path, source, key_path } = makePlace();
  const before = await openRing(database, source);
  // All in one turn of the event loop, so that the start still sees the database as it was.
  expect(database.read.select().from(meta).all().length).toBeGreaterThan(0);
  const text = keyText();
  const { id } = parseMasterKey(text);
  const other = new Sqlite(path);
  other.run("UPDATE meta SET value = ? WHERE name = 'master_key_id'", [id]);
  other.close();
  writeFileSync(key_path, `${text}\n`, { mode: 0o600 });
  const ring = await openRing(database, source);
  expect(ring.master_key_id).toBe(id);
  expect(ring.master_key_id).not.toBe(before.master_key_id);
  await database.close();
});

describe('a rotation that is killed', () => {
  test('before its commit is undone by the next start', async () => {
    const { database, source, key_path, dir } = makePlace();
    const ring = await openRing(database, source);
    const sealed = await sealNow(ring, database, SHOP, 'kept');
    writeFileSync(`${key_path}.next`, `${keyText()}\n`, { mode: 0o600 });
    const later = await openRing(database, source);
    expect(later.master_key_id).toBe(ring.master_key_id);
    expect(later.openText(database.read, sealed, CONTEXT)).toBe('kept');
    expect(keyFilesIn(dir)).toEqual(['master.key']);
    await database.close();
  });

  test('after its commit is completed by the next start', async () => {
    const { database, source, key_path, dir } = makePlace();
    const ring = await openRing(database, source);
    const sealed = await sealNow(ring, database, SHOP, 'kept');
    const old_text = readFileSync(key_path, 'utf8');
    const { master_key_id } = await ring.rotate(null);
    renameSync(key_path, `${key_path}.next`);
    writeFileSync(key_path, old_text, { mode: 0o600 });
    const later = await openRing(database, source);
    expect(later.master_key_id).toBe(master_key_id);
    expect(later.openText(database.read, sealed, CONTEXT)).toBe('kept');
    expect(keyFilesIn(dir)).toEqual(['master.key']);
    expect(readFileSync(key_path, 'utf8')).not.toBe(old_text);
    await database.close();
  });

  const ROTATE_FOR_EVER = `
    const [, , database_path, key_path] = process.argv;
    const { openDatabase } = await import('${join(import.meta.dir, '../../../src/platform/database/database.ts')}');
    const { createKeyRing } = await import('${join(import.meta.dir, '../../../src/platform/secrets/key-ring.ts')}');
    const database = openDatabase(database_path);
    const source = { kind: 'file', path: key_path, is_default: true };
    for (;;) {
      try {
        await (await createKeyRing({ database, source, clock: { now: () => 1 } })).rotate(null);
        process.stdout.write('.');
      } catch (error) {
        if (!/by another process|is busy/.test(String(error))) process.stdout.write('FAILED ' + error);
      }
      await Bun.sleep(Math.random() * 5);
    }`;

  function startRotating(dir: string, path: string, key_path: string) {
    const script = join(dir, 'rotate-for-ever.ts');
    writeFileSync(script, ROTATE_FOR_EVER);
    return Bun.spawn([process.execPath, script, path, key_path], { stdout: 'pipe', stderr: 'inherit' });
  }

  test('at any moment, even beside another one and a server that seals, loses nothing', async () => {
    const { database, path, source, key_path, dir } = makePlace();
    const server = await openRing(database, source);
    const sealed = new Map<string, string>();
    for (let round = 0; round < 4; round += 1) {
      const processes = [startRotating(dir, path, key_path), startRotating(dir, path, key_path)];
      const said = processes.map((one) => new Response(one.stdout).text());
      try {
        // Each round lasts until the others have rotated under this ring, then ends wherever they happen to be.
        const first_id = server.master_key_id;
        for (let n = 0; server.master_key_id === first_id || n < 10 + round * 3; n += 1) {
          if (n === 3_000) throw new Error('nothing was rotated');
          const scope = projectScope(`${round}-${n}`);
          sealed.set(await sealNow(server, database, scope, scope), scope);
          await Bun.sleep(1);
        }
      } finally {
        for (const one of processes) one.kill('SIGKILL');
        await Promise.all(processes.map((one) => one.exited));
      }
      expect((await Promise.all(said)).join('')).toMatch(/^\.*$/);
      const other = openDatabase(path);
      const ring = await openRing(other, source);
      expect(keyFilesIn(dir)).toEqual(['master.key']);
      for (const [text, scope] of sealed) expect(ring.openText(other.read, text, CONTEXT)).toBe(scope);
      await other.close();
    }
    await database.close();
  }, 60_000);
});
