/**
 * Clicks that the database does not have yet, in a file of the data directory. A click is in it before it is
 * answered, however long the database is busy with other work, and outlasts a kill of the server.
 */
import { closeSync, constants, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openOwn } from '../../platform/host/ownership.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { NewClick } from './click-store.ts';
import { CLICK_FLAGS } from './tables.ts';

const FILE = 'clicks.jsonl';

export class ClickFile {
  readonly #path: string;
  /** Null while there is none. */
  #fd: number | null = null;

  constructor(data_dir: string) {
    this.#path = join(data_dir, FILE);
  }

  /** What a server that was killed left in it. */
  read(): NewClick[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').flatMap(clickOf);
    } catch {
      return [];
    }
  }

  /** Adds a click. Where the disk takes none, memory alone has it. */
  add(click: NewClick): void {
    try {
      this.#fd ??= openOwn(this.#path, constants.O_APPEND);
      writeSync(this.#fd, lineOf(click));
    } catch {}
  }

  /** Takes out all but these. Where that fails more is left in it, which the next start finds in the database. */
  keepOnly(clicks: readonly NewClick[]): void {
    const fresh = `${this.#path}.new`;
    let fd: number | null = null;
    try {
      rmSync(fresh, { force: true });
      if (clicks.length === 0) {
        rmSync(this.#path, { force: true });
      } else {
        fd = openOwn(fresh, constants.O_APPEND);
        writeFileSync(fd, clicks.map(lineOf).join(''));
        renameSync(fresh, this.#path);
      }
      [this.#fd, fd] = [fd, this.#fd];
    } catch {}
    if (fd !== null) closeSync(fd);
  }
}

/** The break stands first: a line that a full disk cut off spoils none after it. */
const lineOf = (click: NewClick): string => `\n${JSON.stringify(click)}`;

function clickOf(line: string): NewClick[] {
  try {
    const said: unknown = JSON.parse(line);
    if (!isPlainObject(said)) return [];
    const { email_id, position, at, flag, user_agent } = said;
    if (typeof email_id !== 'string' || typeof position !== 'number' || typeof at !== 'number') return [];
    const known = CLICK_FLAGS.find((each) => each === flag) ?? null;
    return [
      { email_id, position, at, flag: known, user_agent: typeof user_agent === 'string' ? user_agent : null },
    ];
  } catch {
    return [];
  }
}
