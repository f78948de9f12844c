/**
 * Work on strangers' input, which may take long, in a thread: piece by piece, each with a bound of processor
 * time. A thread that takes longer is ended, and the next piece gets another.
 */
import { AppError, messageOf } from '../../errors.ts';
import { monotonicMs } from './clock.ts';
import { Thread } from './threads.ts';

export interface ThreadOptions {
  startWorker: () => Worker;
  /** Processor time for one piece. */
  cpu_ms: number;
}

/** The piece itself is at fault, as `message` says; another attempt is likely to end the same way. */
export class PieceFailed extends Error {}

/** A piece of which nothing comes is given up after this, however busy the machine is. */
const PIECE_DEADLINE_MS = 60_000;
const IDLE_STOP_MS = 10_000;
/** How often the time of a thread is looked at. */
const MEASURE_EVERY_MS = 50;

/** Starts nothing yet: the thread begins with the first piece. */
export class BoundedThread<Piece, Result> {
  readonly #thread: Thread<Piece, Result>;
  readonly #cpu_ms: number;
  /** Settles when the last piece so far is done. */
  #last: Promise<unknown> = Promise.resolve();
  #is_stopped = false;

  constructor({ startWorker: start, cpu_ms }: ThreadOptions) {
    this.#thread = new Thread({ start, idle_stop_ms: IDLE_STOP_MS });
    this.#cpu_ms = cpu_ms;
  }

  /**
   * The result of a piece. Rejects with PieceFailed where it took too long or ended the thread, and with
   * AppError `unavailable` where no thread can be started.
   */
  do(piece: Piece): Promise<Result> {
    const turn = this.#last.then(() => this.#doNow(piece));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Ends the thread; what it does, and what waits, is answered with AppError `unavailable`. */
  stop(): void {
    this.#is_stopped = true;
    this.#thread.end(stopped());
  }

  async #doNow(piece: Piece): Promise<Result> {
    if (this.#is_stopped) throw stopped();
    const giveUp = (reason: string): void => this.#thread.end(new PieceFailed(reason));
    const meter = setInterval(measure(giveUp, this.#cpu_ms), MEASURE_EVERY_MS);
    try {
      return await this.#thread.ask(piece);
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unavailable') throw error;
      const failure = new PieceFailed(messageOf(error), { cause: error });
      // It may have left something behind.
      this.#thread.end(failure);
      throw failure;
    } finally {
      clearInterval(meter);
    }
  }
}

/**
 * A thread's own processor time can't be read from outside. The process's is never less, and unlike the time
 * of day it stands still while a busy machine runs none of its threads.
 */
function measure(fail: (reason: string) => void, cpu_ms: number): () => void {
  const began = { ms: monotonicMs(), cpu: process.cpuUsage() };
  return () => {
    const { user, system } = process.cpuUsage(began.cpu);
    if ((user + system) / 1_000 >= cpu_ms) fail(`it took more than ${cpu_ms / 1_000} s of processor time.`);
    if (monotonicMs() - began.ms >= PIECE_DEADLINE_MS)
      fail(`nothing came of it within ${PIECE_DEADLINE_MS / 1_000} s.`);
  };
}

function stopped(): AppError {
  return new AppError('unavailable', 'The server is stopping.');
}
