/**
 * What a server notes of itself in its data directory, so that verbs beside it judge as it would. Its owner's
 * alone, there while it listens, and believed only while the lock is held. And how a verb asks that server, or wakes it: it touches a
 * file that the kernel watches for it. Nobody polls.
 */
import {
  closeSync,
  type FSWatcher,
  futimesSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { join } from 'node:path';
import type { Environment } from '../../config.ts';
import { STORE_KEYS } from '../../noted-settings.ts';
import { isPlainObject } from '../http/schema.ts';
import { isServed } from './directory-lock.ts';
import { isOpenToOthers } from './health-check.ts';
import { asOwner, openOwn } from './ownership.ts';

export interface ServerNote {
  /** Where it listens, such as http://127.0.0.1:8420. */
  address: string;
  /** Its settings but secrets; see noted-settings.ts. */
  settings: Environment;
  /** Opens GET /findings of it, and nothing else. Null in the note of a Satchel that has none. */
  findings_key: string | null;
  /** The names of its secrets, which it keeps to itself. */
  kept: readonly string[];
}

const NOTE_FILE = 'server.json';

/** Writes the note of a server that has the lock. Throws where the disk takes none. */
export function writeServerNote(data_dir: string, note: ServerNote): void {
  const path = join(data_dir, NOTE_FILE);
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const fd = openOwn(temporary);
  try {
    writeFileSync(fd, `${JSON.stringify(note, null, 2)}\n`);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
}

/** For who has the lock: as it ends, and as it begins, for what one that was killed left. */
export function removeServerNote(data_dir: string): void {
  rmSync(join(data_dir, NOTE_FILE), { force: true });
}

/** What the server of a directory noted; null where none runs, or nothing was noted that can be believed. */
export function readServerNote(data_dir: string): ServerNote | null {
  const path = join(data_dir, NOTE_FILE);
  try {
    const stat = lstatSync(path);
    const is_owners = stat.isFile() && !isOpenToOthers(stat) && stat.uid === statSync(data_dir).uid;
    // The lock first: what is read after that is of a server that had it then, or of one after that.
    if (!is_owners || !isServed(data_dir)) return null;
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isPlainObject(note) || typeof note.address !== 'string' || !isPlainObject(note.settings))
      return null;
    const settings = Object.entries(note.settings).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    );
    return {
      address: note.address,
      settings: withKeysRead(Object.fromEntries(settings), data_dir),
      findings_key: typeof note.findings_key === 'string' ? note.findings_key : null,
      kept: Array.isArray(note.kept) ? note.kept.map(String) : [],
    };
  } catch {
    return null;
  }
}

/**
 * With the store's keys in place of the files that hold them. Root reads those as the directory's owner, whose
 * word the note is; what they can't read is left out, and the store counts as none.
 */
function withKeysRead(noted: Environment, data_dir: string): Environment {
  const read = STORE_KEYS.flatMap((name) => {
    const path = noted[`${name}_FILE`];
    try {
      return path === undefined ? [] : [[name, asOwner(data_dir, () => readFileSync(path, 'utf8')).trim()]];
    } catch {
      return [];
    }
  });
  const others = Object.entries(noted).filter(([name]) => !STORE_KEYS.some((key) => name === `${key}_FILE`));
  return Object.fromEntries([...others, ...read]);
}

/**
 * The body of what the server of a note answers with 200. It is asked where it listens, on this machine, whatever proxy the
 * environment names and wherever its name leads. Rejects where it does not answer so.
 */
export function askNoted(
  { address, settings, findings_key }: Pick<ServerNote, 'address' | 'settings' | 'findings_key'>,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const { hostname, protocol } = new URL(address);
  const host = settings.SATCHEL_HOST ?? '127.0.0.1';
  const options = {
    // A listener at all addresses is at this machine's own too.
    host: host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host,
    port: settings.SATCHEL_PORT,
    path,
    headers: findings_key === null ? {} : { Authorization: `Bearer ${findings_key}` },
    agent: false,
    signal,
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const onAnswer = (answer: IncomingMessage): void => {
    const chunks: Uint8Array[] = [];
    answer.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    answer.on('error', reject);
    answer.on('end', () => {
      if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`it answers with status ${answer.statusCode}`));
    });
  };
  const request =
    protocol === 'https:'
      ? getHttps({ ...options, servername: hostname, rejectUnauthorized: false }, onAnswer)
      : getHttp(options, onAnswer);
  request.on('error', reject);
  return promise;
}

const WAKE_FILE = 'wake';

/** Touches the file, making it where it is missing. */
export function touchWakeFile(data_dir: string, now_ms: number): void {
  const file = openOwn(join(data_dir, WAKE_FILE));
  try {
    const now_s = now_ms / 1000;
    futimesSync(file, now_s, now_s);
  } finally {
    closeSync(file);
  }
}

/** Calls `onWake` after each touch by any process, until closed. */
export function watchWakeFile(data_dir: string, now_ms: number, onWake: () => void): FSWatcher {
  touchWakeFile(data_dir, now_ms);
  const watcher = watch(join(data_dir, WAKE_FILE), { persistent: false }, () => onWake());
  // Without the watch the engine still looks by itself within a minute.
  watcher.on('error', () => watcher.close());
  return watcher;
}
