/** The progress of a long command: one line on a terminal's standard error, overwritten, gone at the end. */
import type { OnProgress } from '../host/waiting.ts';
import { formatBytes } from '../words/phrases.ts';
import type { CliProcess } from './cli.ts';

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
