/** Writing to stdout and stderr: whole, in order, and without what would steer the terminal. */

import { readSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import type { OnProgress } from '../host/waiting.ts';
import { formatBytes } from '../words/phrases.ts';
import type { CliProcess } from './cli.ts';

/** Paints text that can't steer a terminal any more. Synchronous: no exit cuts it off in a pipe. */
export function writeTo(descriptor: number, text: string, paint = (shown: string) => shown): void {
  writeAll(descriptor, Buffer.from(paint(isatty(descriptor) ? showControls(text) : text)));
}

/** Replaces the line that the cursor is on: a carriage return, then ECMA-48's "erase in line". */
export function writeStatus(descriptor: number, line: string): void {
  writeAll(descriptor, Buffer.from(`\r\x1b[K${line}`));
}

/** The line typed in answer to a question on standard error; standard output is for the result. */
export function askOnTerminal(question: string): string {
  writeAll(2, Buffer.from(question));
  // A terminal gives line by line; what is longer than this is no answer to a question.
  const bytes = Buffer.alloc(1_024);
  while (true) {
    try {
      return bytes.toString('utf8', 0, readSync(0, bytes)).trim();
    } catch (error) {
      if (errorCodeOf(error) !== 'EAGAIN') throw error;
      Bun.sleepSync(10);
    }
  }
}

/** As `writeTo`, bytes as they are. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === 'EPIPE') return; // The reader (head, less) has seen enough.
      if (code !== 'EAGAIN') throw error;
      Bun.sleepSync(1);
    }
  }
}

const writeLater = promisify(write);

/** A failure says this of an archive on standard output. */
export const NOT_WHOLE = 'What came of it is not whole.';

/** As `writeAll`, of what must go out whole. Signals are heard while its reader is slow. */
export async function writeArchive(descriptor: number, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      const { bytesWritten } = await writeLater(descriptor, rest, 0, rest.length, null);
      rest = rest.subarray(bytesWritten);
    } catch (cause) {
      const code = errorCodeOf(cause);
      if (code === 'EAGAIN') {
        await Bun.sleep(1);
        continue;
      }
      const why = code === 'EPIPE' ? 'nobody reads it any more' : messageOf(cause);
      const message = `The archive could not be written to standard output: ${why}. ${NOT_WHOLE}`;
      throw new AppError('unavailable', message, { cause });
    }
  }
}

/**
 * Writes control characters as escapes, so that a relay's reply or a subject can't steer the terminal. JSON
 * stays valid.
 */
function showControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
  return text.replace(/\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

export interface Progress {
  /** Shows what is being done; the function that it returns shows how far it has come. */
  of(what: string): OnProgress;
  end(): void;
}

const percentOf = (done: number, total: number): string =>
  `${Math.min(100, Math.floor((100 * done) / Math.max(1, total)))} %`;

export function createProgress(process: CliProcess): Progress {
  let shown = '';
  const show = (line: string): void => {
    if (line === shown) return;
    shown = line;
    process.status(line);
  };
  return {
    of(what) {
      show(`${what} ...`);
      return (done, total) => show(`${what} ${total === null ? formatBytes(done) : percentOf(done, total)}`);
    },
    end: () => show(''),
  };
}
