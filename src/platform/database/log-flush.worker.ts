/**
 * The thread that flushes the database's log (WAL) and moves it into the database (a checkpoint). SQLite can begin its log
 * afresh only when all of it has been moved, and the event loop's commits make it longer while that goes on. So most of it is
 * moved between flushes, and the rest as part of the next flush, while the event loop commits nothing.
 */
import { Database } from 'bun:sqlite';
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { WAL_CHECKPOINT_FRAMES } from '../../limits.ts';
import type { WalReply, WalRequest } from './log-flush-thread.ts';

declare const self: Worker;

let database: Database | null = null;
let wal_fd = -1;
/** Whether the next flush moves what the last checkpoint left. */
let is_rest_due = false;
/** Frames (pages in the log) from which on a checkpoint is worth its time. */
let worth_frames = WAL_CHECKPOINT_FRAMES;

self.onmessage = ({ data: request }: MessageEvent<WalRequest>) => {
  try {
    if (request.op === 'open') open(request.path, request.wal_path);
    else if (request.op === 'close') close();
    else sync();
    answer({ ok: true });
  } catch (error) {
    answer({ ok: false, message: String(error) });
    return;
  }
  if (request.op === 'sync') moveIfWorthIt();
};

function answer(reply: WalReply): void {
  self.postMessage(reply);
}

function open(path: string, wal_path: string): void {
  wal_fd = openSync(wal_path, 'r+');
  database = new Database(path, { readwrite: true, create: false });
}

function close(): void {
  database?.close();
  database = null;
  if (wal_fd >= 0) closeSync(wal_fd);
  wal_fd = -1;
}

function sync(): void {
  fdatasyncSync(wal_fd);
  if (!is_rest_due) return;
  is_rest_due = false;
  const { in_log, moved } = checkpoint('PASSIVE');
  // A reader of another process can keep the log from being moved whole: it is tried again once it has grown.
  worth_frames = moved === in_log ? WAL_CHECKPOINT_FRAMES : in_log + WAL_CHECKPOINT_FRAMES;
}

function moveIfWorthIt(): void {
  const { in_log } = checkpoint('NOOP');
  if (in_log < worth_frames) return;
  checkpoint('PASSIVE');
  is_rest_due = true;
}

/** How many frames the log holds, and how many of them are in the database by now. NOOP moves none. */
function checkpoint(mode: 'NOOP' | 'PASSIVE'): { in_log: number; moved: number } {
  try {
    const [, in_log, moved] = database?.query(`PRAGMA wal_checkpoint(${mode})`).values()[0] ?? [];
    return { in_log: Number(in_log), moved: Number(moved) };
  } catch {
    // A full disk, say. The log is kept and goes on growing; whoever commits to it is told of the disk.
    return { in_log: 0, moved: -1 };
  }
}
