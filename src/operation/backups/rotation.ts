/** Backups by the clock, in a folder that keeps the newest of them. Each is named by its moment. */
import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import { looksWhole } from './format.ts';
import { type BackupResult, backUp } from './making.ts';

interface RotatedBackup extends BackupResult {
  /** Older backups that this one took the place of. */
  removed: string[];
  /** Files with such a backup's name that are none or incomplete: neither counted nor touched. */
  unsound: string[];
}

/** Without milliseconds they are of an older Satchel. */
const DATED_NAME = /^satchel-\d{8}T\d{6}(\.\d{3})?Z\.tar$/;

const NIGHTLY_NAME = /^nightly-\d{8}T\d{6}\.\d{3}Z\.tar$/;

/** Names a backup that the server makes by itself. */
export function nightlyName(at_ms: number): string {
  return datedName(at_ms).replace('satchel', 'nightly');
}

/** Removes all but the newest `keep` whole ones that the server made by itself. */
export function pruneNightly(dir: string, keep: number): void {
  for (const path of newestFirst(dir, NIGHTLY_NAME).filter(looksWhole).slice(keep)) rmSync(path);
}

function newestFirst(dir: string, name: RegExp): string[] {
  return readdirSync(dir)
    .filter((each) => name.test(each))
    .sort()
    .reverse()
    .map((each) => join(dir, each));
}

/** Names the backup of a moment. */
export function datedName(at_ms: number): string {
  return `satchel-${toIso(at_ms).replaceAll(/[-:]/g, '')}.tar`;
}

/**
 * Backs a data directory up into a folder and, once that is durable, removes all but the newest `keep`
 * backups of this kind. Throws AppError as `backUp` does, and then removes nothing.
 */
export async function backUpInto(
  data_dir: string,
  options: { dir: string; keep: number; clock: Clock; store?: S3Store | null; onProgress?: OnProgress },
): Promise<RotatedBackup> {
  const dir = resolve(options.dir);
  const file = join(dir, datedName(options.clock.now()));
  const result = await backUp(data_dir, { ...options, file });
  const dated = newestFirst(dir, DATED_NAME);
  const whole = dated.filter(looksWhole);
  const removed = whole.slice(options.keep).filter((path) => path !== result.file);
  for (const path of removed) rmSync(path);
  return { ...result, removed, unsound: dated.filter((path) => !whole.includes(path)) };
}
