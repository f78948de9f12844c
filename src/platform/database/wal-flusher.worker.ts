/**
 * The thread behind `WalFlusher`. SQLite starts its log afresh only after a checkpoint has moved all of it
 * into the database, and commits make it longer meanwhile. So each flush moves it, while nothing is
 * committed.
 */
import { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../errors.ts';
import { monotonicMs } from '../host/clock.ts';
import type { WalFlusherReply, WalFlusherRequest } from './wal-flusher.ts';

/** Pages in the log from which on it is moved into the database: SQLite's own default. */
const WAL_CHECKPOINT_FRAMES = 1_000;

declare const self: Worker;

let database: Database | null = null;
let wal_fd = -1;
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
  // The log may have been made just now: its name must outlast a power cut as its bytes do.
  const directory = openSync(dirname(path), 'r');
  fsyncSync(directory);
  closeSync(directory);
}

function close(): void {
  database?.close();
  closeSync(wal_fd);
}

/** Returns how many seconds the disk took over the log. */
function flush(): number {
  const started_ms = monotonicMs();
  fdatasyncSync(wal_fd);
  const synced_s = (monotonicMs() - started_ms) / 1_000;
  if (checkpoint('NOOP').in_log < worth_frames) return synced_s;
  const { in_log, moved } = checkpoint('PASSIVE');
  // A reader of another process can keep the log from being moved whole: it is tried again once it has grown.
  worth_frames = moved === in_log ? WAL_CHECKPOINT_FRAMES : in_log + WAL_CHECKPOINT_FRAMES;
  return synced_s;
}

/** How many frames the log holds, and how many of them are in the database by now. NOOP moves none. */
function checkpoint(mode: 'NOOP' | 'PASSIVE'): { in_log: number; moved: number } {
  try {
    const [, in_log, moved] = database?.query(`PRAGMA wal_checkpoint(${mode})`).values()[0] ?? [];
    return { in_log: Number(in_log), moved: Number(moved) };
  } catch {
    // For example a full disk. The log is on disk, so it just grows. The next commit reports the full disk.
    return { in_log: 0, moved: -1 };
  }
}
