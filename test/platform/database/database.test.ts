import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { openDatabase, statement, type Tx } from '../../../src/platform/database/database.ts';
import { listPendingMigrations, migrate } from '../../../src/platform/database/migrate.ts';
import { dataKeys, meta } from '../../../src/platform/database/tables.ts';
import { makeDatabase, makeTempDir } from '../../support/temp.ts';

const put = (tx: Tx, name: string, value = '1') => tx.insert(meta).values({ name, value }).run();

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('write', () => {
  test('a change is visible to readers once its promise resolves, not before', async () => {
    const { database } = makeDatabase();
    const promise = database.write((tx) => put(tx, 'a'));
    expect(database.read.select().from(meta).all()).toEqual([]);
    await promise;
    expect(database.read.select().from(meta).all()).toEqual([{ name: 'a', value: '1' }]);
    await database.close();
  });

  test('changes of one turn share commits', async () => {
    const { database, path } = makeDatabase();
    const other = new Sqlite(path);
    const version = () => other.query('PRAGMA data_version').values()[0]?.[0];
    const before = Number(version());
    await Promise.all([1, 2, 3, 4, 5].map((n) => database.write((tx) => put(tx, `n${n}`))));
    expect(Number(version()) - before).toBeLessThan(5);
    expect(database.read.select().from(meta).all()).toHaveLength(5);
    other.close();
    await database.close();
  });

  test('changes go before pieces, wait for one at most, and hold none up for good', async () => {
    const { database } = makeDatabase();
    const order: string[] = [];
    /** Takes longer than changes share one transaction for. */
    const take = (name: string): void => {
      for (const until = performance.now() + 2; performance.now() < until; );
      order.push(name);
    };
    const under_way: Promise<void>[] = [];
    const asked = (name: string, later = 0): Promise<void> =>
      database.write(() => {
        take(name);
        if (later > 0) under_way.push(asked(`${name}+`, later - 1));
      });
    for (const n of [1, 2, 3])
      under_way.push(
        database.writePiece(() => {
          take(`piece ${n}`);
          if (n === 1) under_way.push(asked('c'), asked('d'));
        }),
      );
    under_way.push(asked('a'), asked('b', 3));
    while (under_way.length > 0) await under_way.pop();
    expect(order).toEqual(['a', 'b', 'piece 1', 'b+', 'c', 'd', 'piece 2', 'b++', 'piece 3', 'b+++']);
    await database.close();
  });

  test('a change that throws is undone alone', async () => {
    const { database } = makeDatabase();
    const results = await Promise.allSettled([
      database.write((tx) => put(tx, 'before')),
      database.write((tx) => {
        put(tx, 'undone');
        throw new Error('no');
      }),
      database.write((tx) => put(tx, 'after')),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(
      database.read
        .select({ name: meta.name })
        .from(meta)
        .all()
        .map((row) => row.name),
    ).toEqual(['after', 'before']);
    await database.close();
  });

  test('an asynchronous change is refused and undone', async () => {
    const { database } = makeDatabase();
    const change = async (tx: Tx) => void put(tx, 'half');
    // @ts-expect-error the type refuses what the run time refuses too
    const promise = database.write(change);
    expect(promise).rejects.toThrow('asynchronous');
    await database.write(() => null);
    expect(database.read.select().from(meta).all()).toEqual([]);
    await database.close();
  });

  test('after closing, changes are refused instead of lost', async () => {
    const { database } = makeDatabase();
    const last = database.write((tx) => put(tx, 'queued'));
    await database.close();
    await last;
    expect(database.write((tx) => put(tx, 'late'))).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('the reading connection refuses changes', async () => {
    const { database } = makeDatabase();
    expect(() => put(database.read, 'x')).toThrow();
    await database.close();
  });

  test('a full database refuses the change with 503, keeps what was there and heals', async () => {
    const { database } = makeDatabase();
    await database.write((tx) => put(tx, 'kept'));
    await database.write((tx) => tx.run(sql.raw('PRAGMA max_page_count = 100'))).catch(() => {});
    const big = 'x'.repeat(2_000_000);
    expect(await database.write((tx) => put(tx, 'big', big)).catch((error: unknown) => error)).toMatchObject({
      kind: 'unavailable',
      status: 503,
      message: expect.stringContaining('disk is full'),
    });
    expect(database.read.select({ name: meta.name }).from(meta).all()).toEqual([{ name: 'kept' }]);
    await database.write((tx) => put(tx, 'small'));
    await database.close();
  });

  test('a piece has its turn after changes that a failing disk refused', async () => {
    const { database } = makeDatabase();
    await database.write((tx) => tx.run(sql.raw('PRAGMA query_only = ON')));
    const refused = await Promise.allSettled([
      database.write((tx) => put(tx, 'a')),
      database.writePiece((tx) => put(tx, 'b')),
    ]);
    expect(refused).toMatchObject([{ reason: { status: 503 } }, { reason: { status: 503 } }]);
    await database.close();
  });

  test('a file that may not be written is not called a full disk', async () => {
    const { database } = makeDatabase();
    await database.write((tx) => tx.run(sql.raw('PRAGMA query_only = ON')));
    await expect(database.write((tx) => put(tx, 'a'))).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('can not write to its data directory'),
    });
    await database.close();
  });

  test('what another process commits is seen by the next read', async () => {
    const { database, path } = makeDatabase();
    const other = openDatabase(path);
    await other.write((tx) => put(tx, 'theirs'));
    expect(database.read.select().from(meta).all()).toHaveLength(1);
    await other.close();
    await database.close();
  });

  test('one turn reads one snapshot, which ends with the turn and with an own commit', async () => {
    const { database, path } = makeDatabase();
    const names = () => database.read.select({ name: meta.name }).from(meta).all();
    const other = new Sqlite(path);
    expect(names()).toEqual([]);
    other.run("INSERT INTO meta (name, value) VALUES ('theirs', '1')");
    expect(names()).toEqual([]);
    await nextTurn();
    expect(names()).toEqual([{ name: 'theirs' }]);
    // What was read in the turn before the change was made is from before its commit.
    const change = database.write((tx) => put(tx, 'ours'));
    expect(names()).toHaveLength(1);
    await change;
    expect(names()).toHaveLength(2);
    other.close();
    await database.close();
  });

  test('no snapshot is left open, so the log can be moved into the file', async () => {
    const { database, path } = makeDatabase();
    await database.write((tx) => put(tx, 'a'));
    expect(database.read.select().from(meta).all()).toHaveLength(1);
    await nextTurn();
    const other = new Sqlite(path);
    other.run("INSERT INTO meta (name, value) VALUES ('b', '1')");
    const [busy] = other.query('PRAGMA wal_checkpoint(TRUNCATE)').values()[0] ?? [];
    expect(busy).toBe(0);
    other.close();
    await database.close();
  });

  test('a read that fails on a bad disk harms no change of the same turn, nor later reads', async () => {
    const { database, path } = makeDatabase();
    const value = 'x'.repeat(100_000);
    await database.write((tx) => put(tx, 'long', value));
    const other = new Sqlite(path);
    other.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
    other.close();
    // Pages that hold nothing but a part of the long value, after the number of the next such page.
    const bytes = readFileSync(path);
    for (let page = 0; page < bytes.length; page += 4_096) {
      if (bytes.subarray(page + 4, page + 4_096).every((byte) => byte === 0x78))
        bytes.fill(0xff, page, page + 4);
    }
    writeFileSync(path, bytes);

    const longOf = (read: Tx) => read.select().from(meta).where(eq(meta.name, 'long')).all();
    const long = () => longOf(database.read);
    const add = (tx: Tx, scope: string) =>
      tx.run(sql`INSERT INTO data_keys (scope, wrapped, created_at) VALUES (${scope}, 'w', 1)`);
    // Queued first, so that it runs before the snapshot of the read ends by itself.
    const change = database.write((tx) => add(tx, 'a'));
    expect(long).toThrow('malformed');
    await change;
    const { read } = database;
    await database.write((tx) => {
      add(tx, 'b');
      expect(() => longOf(read)).toThrow('malformed');
    });
    expect(long).toThrow('malformed');
    await nextTurn();
    expect(database.read.select({ scope: dataKeys.scope }).from(dataKeys).all()).toEqual([
      { scope: 'a' },
      { scope: 'b' },
    ]);
    await database.close();
  });

  test('while another process writes, a turn sees whole transactions, own changes at once and theirs by the next turn', async () => {
    const { database, path } = makeDatabase();
    await database.write((tx) => ['left', 'right', 'own'].map((name) => put(tx, name, '0')));
    const numberOf = (tx: Tx, name: string) =>
      Number(tx.select({ value: meta.value }).from(meta).where(eq(meta.name, name)).get()?.value);
    const script = `
      const { Database } = await import('bun:sqlite');
      const db = new Database(process.argv[1]);
      db.run('PRAGMA busy_timeout = 60000');
      for (let n = 1; n <= 400; n += 1) {
        db.transaction(() => {
          db.run("UPDATE meta SET value = ? WHERE name = 'left'", [n]);
          db.run("UPDATE meta SET value = ? WHERE name = 'right'", [n]);
        }).immediate();
      }`;
    const other = Bun.spawn([process.execPath, '-e', script, path], { stderr: 'inherit' });
    let theirs = 0;
    for (let own = 1; other.exitCode === null || theirs < 400; own += 1) {
      const left = numberOf(database.read, 'left');
      await null; // Still the same turn.
      expect(numberOf(database.read, 'right')).toBe(left);
      expect(left).toBeGreaterThanOrEqual(theirs);
      theirs = left;
      const [seen, read] = await database.write((tx) => {
        tx.update(meta)
          .set({ value: String(own) })
          .where(eq(meta.name, 'own'))
          .run();
        return [numberOf(tx, 'left'), numberOf(database.read, 'own')];
      });
      expect(read).toBe(own);
      expect(numberOf(database.read, 'own')).toBe(own);
      expect(numberOf(database.read, 'left')).toBeGreaterThanOrEqual(Number(seen));
      await nextTurn();
    }
    expect(other.exitCode).toBe(0);
    const checker = new Sqlite(path);
    expect(checker.query('PRAGMA wal_checkpoint(TRUNCATE)').values()[0]?.[0]).toBe(0);
    checker.close();
    await database.close();
  }, 60_000);

  test('a change reads what its own transaction sees, wherever it asks', async () => {
    const { database } = makeDatabase();
    const names = () =>
      database.read
        .select({ name: meta.name })
        .from(meta)
        .all()
        .map(({ name }) => name);
    const seen = await Promise.all([
      database.write((tx) => {
        put(tx, 'a');
        return names();
      }),
      database
        .write((tx) => {
          put(tx, 'undone');
          throw new Error(names().join());
        })
        .catch(String),
      database.write(names),
    ]);
    expect(seen).toEqual([['a'], 'Error: a,undone', ['a']]);
    expect(names()).toEqual(['a']);
    await database.close();
  });

  test('a prepared statement belongs to its connection', async () => {
    const { database } = makeDatabase();
    const names = statement((tx) => tx.select({ name: meta.name }).from(meta).prepare());
    const { read } = database;
    const inside = await database.write((tx) => {
      put(tx, 'a');
      return [names(tx).all().length, names(read).all().length];
    });
    expect(inside).toEqual([1, 0]);
    await database.close();
  });
});

describe('the file', () => {
  test('is 0600, in WAL mode, with full synchronisation and foreign keys', async () => {
    const { database, path } = makeDatabase();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const pragma = (name: string) => database.read.values(sql.raw(`PRAGMA ${name}`))[0]?.[0];
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')]).toEqual(['wal', 2, 1]);
    await database.close();
  });
});

describe('migrations', () => {
  const path = () => join(makeTempDir(), 'm.db');
  const one = { version: 1, name: 'one', sql: 'CREATE TABLE a (x); CREATE TABLE b (y);' };
  const two = { version: 2, name: 'two', sql: 'CREATE TABLE c (z);' };

  test('apply once, in order, and record themselves', () => {
    const file = path();
    expect(migrate(file, { now_ms: 5, migrations: [one] }).map((m) => m.name)).toEqual(['one']);
    expect(listPendingMigrations(file, [one, two]).map((m) => m.name)).toEqual(['two']);
    expect(migrate(file, { now_ms: 6, migrations: [one, two] }).map((m) => m.name)).toEqual(['two']);
    expect(migrate(file, { now_ms: 7, migrations: [one, two] })).toEqual([]);
  });

  test('one that fails leaves nothing of itself', () => {
    const file = path();
    const broken = { version: 2, name: 'broken', sql: 'CREATE TABLE c (z); CREATE TABLE a (again);' };
    expect(() => migrate(file, { now_ms: 5, migrations: [one, broken] })).toThrow();
    expect(listPendingMigrations(file, [one, two]).map((m) => m.name)).toEqual(['two']);
    expect(migrate(file, { now_ms: 6, migrations: [one, two] })).toHaveLength(1);
  });

  test('a database of a newer binary is refused with the migration that is unknown', () => {
    const file = path();
    migrate(file, { now_ms: 5, migrations: [one, two] });
    expect(() => migrate(file, { now_ms: 6, migrations: [one] })).toThrow(
      /newer Satchel.*migration 2 \(two\)/,
    );
  });

  test('an altered migration is refused', () => {
    const file = path();
    migrate(file, { now_ms: 5, migrations: [one] });
    expect(() =>
      migrate(file, { now_ms: 6, migrations: [{ ...one, sql: 'CREATE TABLE a (other);' }] }),
    ).toThrow(/differs/);
  });
});
