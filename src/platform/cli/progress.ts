/** The progress of a long command: one line on a terminal's standard error, overwritten, gone at the end. */
import type { CliProcess } from './cli.ts';

/** Told how much of a long piece of work is done, in any unit. */
export type OnProgress = (done: number, total: number) => void;

export interface Progress {
  /** Shows what is being done; the function that it returns shows how far it has come. */
  of(what: string): OnProgress;
  end(): void;
}

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
      return (done, total) =>
        show(`${what} ${Math.min(100, Math.floor((100 * done) / Math.max(1, total)))} %`);
    },
    end: () => show(''),
  };
}
