import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { type Database, openDatabase, type Tx } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { meta } from '../../../src/platform/database/tables.ts';
import {
  type FlushWorker,
  isSafeBesideCommits,
  WalFlusher,
  type WalFlusherRequest,
} from '../../../src/platform/database/wal-flusher.ts';
import { makeTempDir } from '../../support/temp.ts';

const put = (tx: Tx, name: string, value = '1') => tx.insert(meta).values({ name, value }).run();

const rowsIn = (database: Database) => database.read.select({ name: meta.name }).from(meta).all().length;

/** Some turns of the event loop, in which all that can go on does. */
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Stands in for the thread: it answers when the test says so. */
class HeldWorker implements FlushWorker {
  onmessage: FlushWorker['onmessage'] = null;
  onerror: FlushWorker['onerror'] = null;
  readonly asked: string[] = [];
  is_terminated = false;

  postMessage(request: WalFlusherRequest): void {
    this.asked.push(request.op);
  }

  answer(failure: string | null = null): void {
    this.onmessage?.call(
      new Worker('data:text/javascript,'),
      new MessageEvent('message', { data: { failure } }),
    );
  }

  terminate(): void {
    this.is_terminated = true;
  }
}

function open(worker?: FlushWorker): { database: Database; path: string; lost: string[] } {
  const path = `${makeTempDir()}/satchel.db`;
  migrate(path, { now_ms: 1 });
  const lost: string[] = [];
  const onLost = (error: Error) => lost.push(error.message);
  const flush_thread = { onLost, ...(worker ? { worker } : {}) };
  return { database: openDatabase(path, flush_thread), path, lost };
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

describe('a commit whose flush the thread waits for', () => {
  test('is acknowledged once it is on disk, as is one that was refused', async () => {
    const worker = new HeldWorker();
    const { database } = open(worker);
    expect(database.settled()).toBeNull();
    const change = watch(database.write((tx) => put(tx, 'a')));
    const refused = watch(
      database.write(() => {
        throw new Error('no');
      }),
    );
    await turns();
    const settled = watch(database.settled() ?? Promise.reject(new Error('nothing is on its way')));
    await turns();
    expect(rowsIn(database)).toBe(1);
    expect(worker.asked).toEqual(['open', 'flush']);
    expect([change.state, refused.state, settled.state]).toEqual(['pending', 'pending', 'pending']);
    worker.answer();
    await turns();
    expect([change.state, settled.state]).toEqual(['done', 'done']);
    // In the next commit, where the first took a slice of time.
    if (database.settled()) worker.answer();
    await turns();
    expect(refused.state).toBe('refused');
    expect(database.settled()).toBeNull();
    const closed = database.close();
    await turns();
    worker.answer();
    await closed;
  });

  test('is followed by one for all that came meanwhile, and by none while nothing does', async () => {
    const worker = new HeldWorker();
    const { database } = open(worker);
    const first = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    const later: { state: string }[] = [];
    for (let n = 0; n < 40; n += 1) {
      later.push(watch(database.write((tx) => put(tx, `later ${n}`))));
      await turns();
    }
    expect(worker.asked).toEqual(['open', 'flush']);
    expect(rowsIn(database)).toBe(1);
    worker.answer();
    await turns();
    expect(first.state).toBe('done');
    expect(later.every(({ state }) => state === 'pending')).toBe(true);
    // One, but for changes that take longer than a slice of time.
    let flushes = 1;
    for (; later.some(({ state }) => state === 'pending'); flushes += 1) {
      expect(worker.asked).toHaveLength(flushes + 2);
      worker.answer();
      await turns();
    }
    expect(flushes).toBeLessThan(later.length);
    const closed = database.close();
    await turns();
    worker.answer();
    await closed;
  });

  test('is never acknowledged where the disk does not keep it, nor is anything after it', async () => {
    const worker = new HeldWorker();
    const { database, lost } = open(worker);
    const change = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    worker.answer('EIO: i/o error, fdatasync');
    const later = watch(database.write((tx) => put(tx, 'b')));
    await turns();
    expect(lost).toEqual(['EIO: i/o error, fdatasync']);
    expect([change.state, later.state]).toEqual(['pending', 'pending']);
    expect(database.settled()).not.toBeNull();
    expect(rowsIn(database)).toBe(1);
  });

  test('is waited for by a close, which commits what is queued before it ends the thread', async () => {
    const worker = new HeldWorker();
    const { database, path } = open(worker);
    const change = watch(database.write((tx) => put(tx, 'a')));
    await turns();
    const queued = watch(database.write((tx) => put(tx, 'b')));
    const closed = watch(database.close());
    for (const flushes of [1, 2]) {
      await turns();
      expect(worker.asked).toEqual(['open', ...Array<string>(flushes).fill('flush')]);
      expect([queued.state, closed.state]).toEqual(['pending', 'pending']);
      worker.answer();
    }
    await turns();
    expect([change.state, queued.state, closed.state]).toEqual(['done', 'done', 'pending']);
    expect(worker.asked.at(-1)).toBe('close');
    worker.answer();
    await turns();
    expect([closed.state, worker.is_terminated]).toEqual(['done', true]);
    const other = new Sqlite(path);
    expect(other.query('SELECT count(*) FROM meta').values()).toEqual([[2]]);
    other.close();
  });
});

describe('the thread', () => {
  test.each([
    ['3.43.2', false],
    ['3.51.2', false],
    ['3.51.3', true],
    ['3.54.0', true],
    ['4.0.0', true],
  ])('is safe beside SQLite %s: %p', (version, is_safe) => {
    expect(isSafeBesideCommits(version)).toBe(is_safe);
  });

  test('keeps the log short under commits without end, and loses none of them', async () => {
    const { database, path, lost } = open();
    const value = 'x'.repeat(3_000);
    let longest = 0;
    for (let n = 0; n < 6_000; n += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => database.write((tx) => put(tx, `n${n + index}`, value))),
      );
      longest = Math.max(longest, statSync(`${path}-wal`).size);
    }
    // 6,000 rows are well over 6,000 pages in the log; SQLite begins it afresh after 1,000 and what comes meanwhile.
    expect(longest).toBeLessThan(3_000 * 4_120);
    await database.close();
    const other = new Sqlite(path);
    expect(other.query('SELECT count(*) FROM meta').values()).toEqual([[6_000]]);
    expect(other.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    other.close();
    expect(lost).toEqual([]);
  }, 60_000);

  test('leaves the log to grow while another process reads, and shortens it afterwards', async () => {
    const { database, path } = open();
    await database.write((tx) => put(tx, 'first'));
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

  test('says which file it can not open, and what broke it', async () => {
    const { promise, resolve } = Promise.withResolvers<Error>();
    const nothing = new WalFlusher(`${makeTempDir()}/nothing.db`, resolve);
    expect(String(await promise)).toContain('nothing.db-wal');
    void nothing;
    const broken = Promise.withResolvers<Error>();
    const script = new Blob(["self.onmessage = () => { throw new Error('out of order'); }"]);
    new WalFlusher('a.db', broken.resolve, new Worker(URL.createObjectURL(script)));
    expect(String(await broken.promise)).toContain('out of order');
  });
});

test('where Litestream has worked, nothing of a log that was ended stands behind the end of the next', async () => {
  const { database, path } = open();
  await database.write((tx) =>
    tx.$client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'),
  );
  /** The salts of the log, and of each of its frames. */
  const salts = (): string[] => {
    const log = readFileSync(`${path}-wal`);
    const found = [log.toString('hex', 16, 24)];
    for (let at = 32; at < log.length; at += 24 + 4_096) found.push(log.toString('hex', at + 8, at + 16));
    return found;
  };
  const [before] = salts();
  for (let n = 0; salts()[0] === before; n += 1)
    await database.write((tx) => put(tx, `n${n}`, 'x'.repeat(40_000)));
  expect(new Set(salts()).size).toBe(1);
  await database.close();
});

describe('what was deleted', () => {
  const SECRET = 'a secret that is to go ';
  /** In which of its files the database still has it. */
  const filesWith = (path: string): string[] =>
    [path, `${path}-wal`].filter((file) => readFileSync(file, 'latin1').includes(SECRET));

  /** A database that kept secrets, short and long, among other rows, and deleted them. */
  async function deleted() {
    const opened = open();
    const { database } = opened;
    for (let n = 0; n < 400; n += 1) {
      const text =
        n % 3 === 0 ? 'other' : SECRET.repeat([1, 20, 2_000][n % 2 === 0 ? 2 : n % 5 === 0 ? 1 : 0] ?? 1);
      await database.write((tx) => put(tx, `n${String(n).padStart(4, '0')}`, text));
    }
    for (let n = 0; n < 400; n += 1)
      if (n % 3 !== 0)
        await database.write((tx) =>
          tx.$client.run('DELETE FROM meta WHERE name = ?', [`n${String(n).padStart(4, '0')}`]),
        );
    return opened;
  }

  test('is in none of its files after two looks, and all else is there', async () => {
    const { database, path, lost } = await deleted();
    expect(filesWith(path)).toContain(`${path}-wal`);
    const rows = rowsIn(database);
    for (let looks = 0; looks < 2; looks += 1) await database.tidyLog();
    expect(filesWith(path)).toEqual([]);
    // Nothing more is done while nothing is written.
    const log = readFileSync(`${path}-wal`);
    for (let looks = 0; looks < 2; looks += 1) await database.tidyLog();
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
    expect(rowsIn(database)).toBe(rows);
    await database.close();
    const other = new Sqlite(path);
    expect(other.query('SELECT count(*) FROM meta').values()).toEqual([[rows]]);
    expect(other.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    other.close();
    expect(lost).toEqual([]);
  });

  test('by another process is in none of them either', async () => {
    const { database, path } = open();
    await database.write((tx) => put(tx, 'one', SECRET));
    const other = new Sqlite(path);
    other.run('PRAGMA secure_delete = ON');
    other.run("DELETE FROM meta WHERE name = 'one'");
    for (let looks = 0; looks < 2; looks += 1) await database.tidyLog();
    expect(filesWith(path)).toEqual([]);
    other.close();
    await database.close();
  });

  test('stays in the log while somebody reads an earlier state of it, and goes afterwards', async () => {
    const { database, path } = open();
    await database.write((tx) => put(tx, 'one', SECRET));
    const reader = new Sqlite(path);
    reader.run('BEGIN');
    expect(reader.query('SELECT count(*) FROM meta').values()).toEqual([[1]]);
    await database.write((tx) => tx.$client.run("DELETE FROM meta WHERE name = 'one'"));
    for (let looks = 0; looks < 2; looks += 1) await database.tidyLog();
    expect(reader.query('SELECT value FROM meta').values()).toEqual([[SECRET]]);
    reader.run('COMMIT');
    for (let looks = 0; looks < 2; looks += 1) await database.tidyLog();
    expect(filesWith(path)).toEqual([]);
    reader.close();
    await database.close();
  });

  test('waits beside Litestream until that has the log begin anew, which the server leaves to it', async () => {
    const { database, path } = await deleted();
    await database.write((tx) =>
      tx.$client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'),
    );
    await Bun.sleep(2_100);
    await database.tidyLog();
    const before = readFileSync(`${path}-wal`);
    for (let looks = 0; looks < 5; looks += 1) await database.tidyLog();
    expect(readFileSync(`${path}-wal`).equals(before)).toBe(true);
    expect(filesWith(path)).toContain(`${path}-wal`);
    const litestream = new Sqlite(path);
    litestream.run('PRAGMA wal_checkpoint(PASSIVE)');
    litestream.run('INSERT INTO _litestream_seq VALUES (1, 1)');
    // It looks for the last frame of the log before, behind the end of the new one.
    const anew = readFileSync(`${path}-wal`);
    await database.tidyLog();
    expect(readFileSync(`${path}-wal`).equals(anew)).toBe(true);
    await Bun.sleep(2_100);
    // Whoever commits then is as good as a look.
    await database.write((tx) => put(tx, 'later'));
    expect(filesWith(path)).toEqual([]);
    litestream.close();
    await database.close();
  });

  test('goes where Litestream has worked and works no more, a while later', async () => {
    const { database, path } = open();
    await database.write((tx) =>
      tx.$client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'),
    );
    await database.write((tx) => put(tx, 'one', SECRET));
    await database.write((tx) => tx.$client.run("DELETE FROM meta WHERE name = 'one'"));
    for (let looks = 0; looks < 9; looks += 1) await database.tidyLog();
    await Bun.sleep(2_100);
    await database.tidyLog();
    expect(filesWith(path)).toEqual([]);
    await database.close();
  });
});
