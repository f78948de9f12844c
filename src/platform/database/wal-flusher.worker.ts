/**
 * The thread behind `WalFlusher`. SQLite starts its log afresh only after a checkpoint has moved all of it
 * into the database, and commits make it longer meanwhile. So each flush moves it, while nothing is
 * committed.
 */
import { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../errors.ts';
import { monotonicMs } from '../host/clock.ts';
import type { WalFlusherReply, WalFlusherRequest } from './wal-flusher.ts';

/** Pages in the log from which on it is moved into the database: SQLite's own default. */
const WAL_CHECKPOINT_FRAMES = 1_000;

/** Of the file's format: the header of the log, with what tells it from the one before, and that of each frame. */
const WAL_HEADER_BYTES = 32;
const SALTS = { from: 16, to: 24 };
const FRAME_HEADER_BYTES = 24;
/** What stands behind the end of a log that just began anew is left for so long: Litestream looks there for the last frame that it knows. */
const SETTLED_MS = 2_000;
/** Looks that a log is left alone for beside Litestream, which has it begin anew by itself unless others move it into the database. */
const LOOKS_BESIDE_LITESTREAM = 7;

declare const self: Worker;

let database: Database | null = null;
/** Has the lock of who writes while the file is cut. */
let keeper: Database | null = null;
let wal_fd = -1;
/** The log, as far as it was seen: since when it is this one, and whether what stood behind its end is gone. */
const header = Buffer.alloc(WAL_HEADER_BYTES);
let seen = { salts: '', since_ms: 0, is_cut: false, looks: 0, has_commits: false };
/** Frames (pages in the log) from which on a checkpoint is worth its time. */
let worth_frames = WAL_CHECKPOINT_FRAMES;

self.onmessage = ({ data: request }: MessageEvent<WalFlusherRequest>) => {
  try {
    if (request.op === 'open') {
      open(request.path);
      return;
    }
    if (request.op === 'flush') {
      answer({ failure: null, synced_s: flush() });
      return;
    }
    if (request.op === 'tidy') {
      answer({ failure: null, is_moved: quietly(tidy) === true });
      return;
    }
    close();
    answer({ failure: null });
  } catch (error) {
    answer({ failure: messageOf(error) });
  }
};

function answer(reply: WalFlusherReply): void {
  self.postMessage(reply);
}

function open(path: string): void {
  wal_fd = openSync(`${path}-wal`, 'r+');
  database = new Database(path, { readwrite: true, create: false });
  keeper = new Database(path, { readwrite: true, create: false });
  // The log may have been made just now: its name must outlast a power cut as its bytes do.
  const directory = openSync(dirname(path), 'r');
  fsyncSync(directory);
  closeSync(directory);
}

function close(): void {
  keeper?.close();
  database?.close();
  closeSync(wal_fd);
}

/** Returns how many seconds the disk took over the log. */
function flush(): number {
  const started_ms = monotonicMs();
  fdatasyncSync(wal_fd);
  const synced_s = (monotonicMs() - started_ms) / 1_000;
  quietly(() => {
    glance();
    seen.has_commits = true;
    if (isSettled()) cut();
  });
  if (checkpoint('NOOP').in_log < worth_frames) return synced_s;
  const { in_log, moved } = moveAll();
  // A reader of another process can keep the log from being moved whole: it is tried again once it has grown.
  worth_frames = moved === in_log ? WAL_CHECKPOINT_FRAMES : in_log + WAL_CHECKPOINT_FRAMES;
  return synced_s;
}

/**
 * One look at the log: what stands behind its end goes, and it is moved into the database; true where a commit may begin it anew. One
 * frame alone is no earlier state of anything.
 */
function tidy(): boolean {
  const { in_log } = checkpoint('NOOP');
  if (in_log === 0) return false;
  glance();
  seen.looks += 1;
  const is_replicated = isReplicated();
  if (!is_replicated || isSettled()) cut();
  const is_left_alone = is_replicated && (seen.looks <= LOOKS_BESIDE_LITESTREAM || !seen.has_commits);
  if (is_left_alone || in_log === 1) return false;
  Object.assign(seen, { looks: 0, has_commits: false });
  return moveAll().moved === in_log;
}

/**
 * Moves the log into the database. Beside Litestream a log that is moved whole is emptied, so that nothing of it stands behind the end
 * of the next: a Litestream that was away, and found there the last frame that it knows, would take it that none followed.
 */
function moveAll(): ReturnType<typeof checkpoint> {
  const done = checkpoint('PASSIVE');
  // It fails while Litestream is there, which keeps its place in the log.
  if (done.moved === done.in_log && quietly(isReplicated)) checkpoint('TRUNCATE');
  return done;
}

/** Null where it fails: it is tried again, and the log is as good as before. */
function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** Notes whether the log has begun anew since it was seen last. */
function glance(): void {
  readSync(wal_fd, header, 0, WAL_HEADER_BYTES, 0);
  const salts = header.toString('hex', SALTS.from, SALTS.to);
  if (salts !== seen.salts)
    seen = { salts, since_ms: monotonicMs(), is_cut: false, looks: 0, has_commits: false };
}

function isSettled(): boolean {
  return monotonicMs() - seen.since_ms >= SETTLED_MS;
}

/** Cuts off what stands behind the end of the log, unless another process is about to write. */
function cut(): void {
  if (seen.is_cut) return;
  keeper?.run('BEGIN IMMEDIATE');
  try {
    const page_bytes = Number(keeper?.query('PRAGMA page_size').values()[0]?.[0]);
    const end = WAL_HEADER_BYTES + checkpoint('NOOP').in_log * (FRAME_HEADER_BYTES + page_bytes);
    if (fstatSync(wal_fd).size > end && end > WAL_HEADER_BYTES) ftruncateSync(wal_fd, end);
    seen.is_cut = true;
  } finally {
    keeper?.run('ROLLBACK');
  }
}

/** Whether Litestream works on the database, or has. */
function isReplicated(): boolean {
  return database?.query("SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'").get() != null;
}

/** How many frames the log holds, and how many of them are in the database by now. NOOP moves none. */
function checkpoint(mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): { in_log: number; moved: number } {
  try {
    const [, in_log, moved] = database?.query(`PRAGMA wal_checkpoint(${mode})`).values()[0] ?? [];
    return { in_log: Number(in_log), moved: Number(moved) };
  } catch {
    // For example a full disk. The log is on disk, so it just grows. The next commit reports the full disk.
    return { in_log: 0, moved: -1 };
  }
}
