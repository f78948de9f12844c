/** The progress of a long command: one line on a terminal's standard error, overwritten, gone at the end. */
import type { CliProcess } from './cli.ts';
import { formatBytes } from './tables.ts';

/** Told how much of a long piece of work is done, in any unit; in bytes where its end is not known yet. */
export type OnProgress = (done: number, total: number | null) => void;

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
