import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {
  type Database,
  openDatabase,
  type Tx,
  type WalThreadOptions,
} from '../../../src/platform/database/database.ts';
import { WalSync } from '../../../src/platform/database/log-flush.ts';
import {
  rewriteWal,
  startWalThread,
  WalSyncError,
  type WalThread,
  WalThreadGone,
} from '../../../src/platform/database/log-flush-thread.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { meta } from '../../../src/platform/database/tables.ts';
import { makeTempDir } from '../../temp.ts';

const put = (tx: Tx, name: string, value = '1') => tx.insert(meta).values({ name, value }).run();

const namesIn = (database: Database) => database.read.select({ name: meta.name }).from(meta).all().length;

const synchronous = (database: Database) =>
  database.write((tx) => tx.$client.query('PRAGMA synchronous').values()[0]?.[0]);

/** Some turns of the event loop, in which all that can go on does. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

function open(options: Partial<WalThreadOptions> = {}): {
  database: Database;
  path: string;
  lost: unknown[];
} {
  const path = `${makeTempDir()}/satchel.db`;
  migrate(path, { create: true, now_ms: 1 });
  const lost: unknown[] = [];
  const onLost = (error: unknown) => lost.push(error);
  const wal_thread = { from_commits: 1, onLost, ...options };
  return { database: openDatabase(path, { create: false, wal_thread }), path, lost };
}

/** A thread whose flushes end when the test says so. */
class HeldThread implements WalThread {
  readonly flushes: PromiseWithResolvers<void>[] = [];
  is_closed = false;
  onClose = () => {};

  sync(): Promise<void> {
    const flush = Promise.withResolvers<void>();
    this.flushes.push(flush);
    return flush.promise;
  }

  close(): Promise<void> {
    this.is_closed = true;
    this.onClose();
    return Promise.resolve();
  }
}

/** A database that has gone over to a thread under the test's control. */
async function openHeld(options: Partial<WalThreadOptions> = {}) {
  const thread = new HeldThread();
  const opened = open({ startThread: () => Promise.resolve(thread), ...options });
  await opened.database.write((tx) => put(tx, 'first'));
  await turns();
  return { ...opened, thread };
}

/** What has become of a promise so far. */
function watch(promise: Promise<unknown>): { state: 'pending' | 'done' | 'refused' } {
  const seen: { state: 'pending' | 'done' | 'refused' } = { state: 'pending' };
  promise.then(
    () => {
      seen.state = 'done';
    },
    () => {
      seen.state = 'refused';
    },
  );
  return seen;
}

describe('a commit whose flush another thread waits for', () => {
  test('is acknowledged once it is on disk', async () => {
    const { database, thread } = await openHeld();
    const change = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    const settled = watch(database.settled() ?? Promise.reject(new Error('nothing is on its way')));
    await turns();
    expect(thread.flushes).toHaveLength(1);
    expect([change.state, settled.state]).toEqual(['pending', 'pending']);
    thread.flushes[0]?.resolve();
    await turns();
    expect([change.state, settled.state]).toEqual(['done', 'done']);
    expect(database.settled()).toBeNull();
    await database.close();
  });

  test('is followed by one for all that came meanwhile, and by none while nothing does', async () => {
    const { database, thread } = await openHeld();
    const first = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    const later: { state: string }[] = [];
    for (let n = 0; n < 40; n += 1) {
      later.push(watch(database.write((tx) => put(tx, `later ${n}`))));
      await turns();
    }
    expect(thread.flushes).toHaveLength(1);
    expect(namesIn(database)).toBe(2);
    thread.flushes[0]?.resolve();
    await turns();
    expect(first.state).toBe('done');
    expect(later.every(({ state }) => state === 'pending')).toBe(true);
    // One, unless they take longer than a slice of time.
    for (let n = 1; later.some(({ state }) => state === 'pending'); n += 1) {
      expect(thread.flushes).toHaveLength(n + 1);
      thread.flushes[n]?.resolve();
      await turns();
    }
    expect(later.every(({ state }) => state === 'done')).toBe(true);
    expect(thread.flushes.length).toBeLessThan(20);
    await database.close();
  });

  test('that the disk fails to keep is written anew, and kept after all', async () => {
    const troubles: unknown[] = [];
    const { database, path, thread, lost } = await openHeld({ onTrouble: (error) => troubles.push(error) });
    const change = database.write((tx) => put(tx, 'a'));
    await turns();
    const wal_path = `${path}-wal`;
    const before = readFileSync(wal_path);
    utimesSync(wal_path, 1, 1);
    // Closing, its connection could move the log into the database.
    let written_ms = 0;
    thread.onClose = () => {
      written_ms = statSync(wal_path).mtimeMs;
    };
    thread.flushes[0]?.reject(new WalSyncError('EIO'));
    await change;
    expect(written_ms).toBeGreaterThan(1_000);
    expect(readFileSync(wal_path).equals(before)).toBe(true);
    expect([troubles.length, lost.length, thread.is_closed]).toEqual([1, 0, true]);
    // The lock for it is released, and commits wait for the disk themselves for a while.
    const other = new Sqlite(path);
    other.run("INSERT INTO meta (name, value) VALUES ('b', '1')");
    other.close();
    expect(await synchronous(database)).toBe(2);
    await turns();
    expect(await synchronous(database)).toBe(2);
    expect(namesIn(database)).toBe(3);
    await database.close();
  });

  test('that the disk fails to keep even so is told to everybody, and nothing is taken on any more', async () => {
    const { database, path, thread, lost } = await openHeld();
    const change = database.write((tx) => put(tx, 'a'));
    await turns();
    const waiting = database.write((tx) => put(tx, 'b'));
    rmSync(`${path}-wal`);
    thread.flushes[0]?.reject(new WalSyncError('EIO'));
    for (const end of await Promise.allSettled([change, waiting])) {
      expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', status: 503 } });
      expect(String(end.status === 'rejected' ? end.reason : '')).toContain('is unknown');
    }
    expect(lost).toEqual([expect.any(WalSyncError)]);
    await expect(database.write((tx) => put(tx, 'c'))).rejects.toMatchObject({ kind: 'unavailable' });
    await database.close();
  });

  test('is flushed here when the thread dies, as are all later ones', async () => {
    const troubles: unknown[] = [];
    const { database, thread, lost } = await openHeld({ onTrouble: (error) => troubles.push(error) });
    const change = database.write((tx) => put(tx, 'a'));
    await turns();
    thread.flushes[0]?.reject(new WalThreadGone('it died'));
    await change;
    expect(troubles).toHaveLength(1);
    expect(thread.is_closed).toBe(true);
    expect(lost).toEqual([]);
    // It would go over to a thread again after this one.
    expect(await synchronous(database)).toBe(2);
    expect(namesIn(database)).toBe(2);
    await database.close();
  });

  test('is waited for by a close, which then commits what is queued', async () => {
    const { database, path, thread } = await openHeld();
    const change = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    const queued = watch(database.write((tx) => put(tx, 'b')));
    const closed = watch(database.close());
    await turns();
    expect([change.state, queued.state, closed.state]).toEqual(['pending', 'pending', 'pending']);
    thread.flushes[0]?.resolve();
    await turns();
    expect([change.state, queued.state, closed.state]).toEqual(['done', 'done', 'done']);
    expect(thread.is_closed).toBe(true);
    const other = new Sqlite(path);
    expect(other.query('SELECT count(*) FROM meta').values()).toEqual([[3]]);
    other.close();
  });
});

describe('the thread', () => {
  test('is not started for few commits, nor again when it cannot be', async () => {
    let starts = 0;
    const startThread = () => {
      starts += 1;
      return Promise.reject(new Error('no memory'));
    };
    const troubles: unknown[] = [];
    const { database } = open({
      from_commits: 3,
      from_wait_ms: Number.POSITIVE_INFINITY,
      startThread,
      onTrouble: (error) => troubles.push(error),
    });
    for (const name of ['a', 'b']) await database.write((tx) => put(tx, name));
    expect(starts).toBe(0);
    await database.write((tx) => put(tx, 'c'));
    expect(starts).toBe(1);
    for (const name of ['d', 'e', 'f']) {
      await turns();
      await database.write((tx) => put(tx, name));
    }
    expect(starts).toBe(1);
    expect(troubles).toEqual([new Error('no memory')]);
    expect(await synchronous(database)).toBe(2);
    expect(namesIn(database)).toBe(6);
    await database.close();
  });

  test.each([
    ['3.43.2', 0],
    ['3.51.2', 0],
    ['3.51.3', 1],
    ['3.54.0', 1],
    ['4.0.0', 1],
  ])('beside SQLite %s is started %i times', async (sqlite_version, times) => {
    let starts = 0;
    const startThread = () => {
      starts += 1;
      return Promise.reject(new Error('no memory'));
    };
    const { database } = open({ sqlite_version, startThread });
    for (const name of ['a', 'b']) await database.write((tx) => put(tx, name));
    expect(starts).toBe(times);
    await database.close();
  });

  test('is started for few commits too where the disk is slow', async () => {
    const { database, path } = open({ from_commits: Number.POSITIVE_INFINITY, from_wait_ms: 0.000_001 });
    await database.write((tx) => put(tx, 'a'));
    while ((await synchronous(database)) !== 1) await Bun.sleep(1);
    await database.close();
    const writer = new Sqlite(path);
    let starts = 0;
    const startThread = () => {
      starts += 1;
      return Promise.resolve(new HeldThread());
    };
    const sync = new WalSync(path, writer, { from_commits: 1_000, from_wait_ms: 100, startThread });
    for (const waited_ms of [40, 40]) expect(sync.afterCommit(waited_ms)).toBeNull();
    expect(starts).toBe(0);
    expect(sync.afterCommit(40)).toBeNull();
    expect(starts).toBe(1);
    await sync.close();
    writer.close();
  });

  test('that is still starting at a close is ended', async () => {
    const thread = new HeldThread();
    const started = Promise.withResolvers<WalThread>();
    const { database } = open({ startThread: () => started.promise });
    await database.write((tx) => put(tx, 'a'));
    const closed = database.close();
    started.resolve(thread);
    await closed;
    expect(thread.is_closed).toBe(true);
  });

  test('keeps the log short under commits without end, and loses none of them', async () => {
    const { database, path } = open();
    const value = 'x'.repeat(3_000);
    let longest = 0;
    for (let n = 0; n < 6_000; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => database.write((tx) => put(tx, `n${n + index}`, value))),
      );
      longest = Math.max(longest, statSync(`${path}-wal`).size);
    }
    expect(await synchronous(database)).toBe(1);
    // 6,000 rows are well over 6,000 pages in the log; SQLite begins it afresh after 1,000 and what comes meanwhile.
    expect(longest).toBeLessThan(3_000 * 4_120);
    await database.close();
    const other = new Sqlite(path);
    expect(other.query('SELECT count(*) FROM meta').values()).toEqual([[6_000]]);
    expect(other.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    other.close();
  }, 60_000);

  test('leaves the log to grow while another process reads, and shortens it afterwards', async () => {
    const { database, path } = open();
    await database.write((tx) => put(tx, 'first'));
    await turns();
    const reader = new Sqlite(path);
    reader.run('BEGIN');
    expect(reader.query('SELECT count(*) FROM meta').values()).toEqual([[1]]);
    const value = 'x'.repeat(3_000);
    const add = (n: number) => database.write((tx) => put(tx, `n${n}`, value));
    const addTen = (from: number) => Promise.all(Array.from({ length: 10 }, (_, index) => add(from + index)));
    for (let n = 0; n < 3_000; n += 10) await addTen(n);
    expect(reader.query('SELECT count(*) FROM meta').values()).toEqual([[1]]);
    const grown = statSync(`${path}-wal`).size;
    reader.run('COMMIT');
    for (let n = 3_000; n < 6_000; n += 10) await addTen(n);
    expect(statSync(`${path}-wal`).size).toBeLessThan(grown * 1.5);
    expect(reader.query('SELECT count(*) FROM meta').values()).toEqual([[6_001]]);
    reader.close();
    await database.close();
  }, 60_000);

  test.if(process.platform === 'linux')(
    'ends when it has nothing to do, and leaves no file open',
    async () => {
      const { database, path } = open({ idle_stop_ms: 20, from_commits: 2 });
      const openFiles = () =>
        readdirSync('/proc/self/fd').filter((fd) => {
          try {
            return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
          } catch {
            return false;
          }
        }).length;
      await database.write((tx) => put(tx, 'first'));
      await turns();
      // SQLite keeps one descriptor for later, as closing it would let go of the other connections' locks.
      const settled = openFiles() + 1;
      for (let n = 0; n < 3; n += 1) {
        // By then it may have ended again where this process had to wait for its turn: so writing goes on until it is met.
        while (openFiles() <= settled) {
          await synchronous(database);
          await Bun.sleep(1);
        }
        while (openFiles() > settled) await Bun.sleep(1);
      }
      expect(await synchronous(database)).toBe(2);
      await database.close();
    },
    30_000,
  );

  test('writes a log of any length anew without changing it', async () => {
    const { database, path } = open({ from_commits: Number.POSITIVE_INFINITY });
    expect(() => rewriteWal(`${path}.nothing`)).toThrow(WalSyncError);
    const value = 'x'.repeat(3_000);
    await database.write((tx) => {
      for (let n = 0; n < 700; n += 1) put(tx, `n${n}`, value);
    });
    const before = readFileSync(`${path}-wal`);
    expect(before.length).toBeGreaterThan(2 * 1024 * 1024);
    rewriteWal(path);
    expect(readFileSync(`${path}-wal`).equals(before)).toBe(true);
    await database.close();
  });

  test('says that the log can not be flushed, and that it can not be opened', async () => {
    const nothing = `${makeTempDir()}/nothing.db`;
    const refusal = () => startWalThread(nothing).catch((error: unknown) => String(error));
    expect(await refusal()).toContain('ENOENT');
    writeFileSync(`${nothing}-wal`, '');
    expect(await refusal()).toContain('unable to open database file');
    const { path, database } = open();
    await database.write((tx) => put(tx, 'a'));
    const broken = () =>
      new Worker(
        URL.createObjectURL(
          new Blob([
            `self.onmessage = ({ data }) => data.op === 'sync'
              ? self.postMessage({ ok: false, message: 'EIO' })
              : self.postMessage({ ok: true });`,
          ]),
        ),
      );
    const thread = await startWalThread(path, broken);
    const sync = () => thread.sync().catch((error: unknown) => error);
    expect(await sync()).toBeInstanceOf(WalSyncError);
    await thread.close();
    expect(await sync()).toBeInstanceOf(WalThreadGone);
    await database.close();
  });

  test('that breaks down fails nobody', async () => {
    const workers: Worker[] = [];
    const startThread = (path: string) =>
      startWalThread(path, () => {
        const worker = new Worker(
          new URL('../../../src/platform/database/log-flush.worker.ts', import.meta.url),
        );
        workers.push(worker);
        return worker;
      });
    const { database, lost } = open({ startThread });
    let written = 0;
    for (let break_down = 1; break_down <= 3; break_down += 1) {
      while ((await synchronous(database)) !== 1) await Bun.sleep(1);
      for (let n = 0; n < 20; n += 1) {
        const changes = [0, 1, 2].map((index) => database.write((tx) => put(tx, `n${written + index}`)));
        if (n === 10) setImmediate(() => workers.at(-1)?.terminate());
        await Promise.all(changes);
        written += changes.length;
      }
    }
    expect(workers.length).toBeGreaterThanOrEqual(3);
    expect(namesIn(database)).toBe(written);
    expect(lost).toEqual([]);
    await database.close();
  }, 30_000);
});
