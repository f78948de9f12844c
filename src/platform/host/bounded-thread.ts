/**
 * Work on what strangers write, which may take long, in a thread of its own: one piece at a time, each within a bound of processor
 * time. The thread of one that takes longer is ended, and the next one gets another.
 */
import { AppError } from '../../errors.ts';
import { monotonicMs } from './clock.ts';
import { requireThreadDescriptors } from './descriptors.ts';

/** What a thread answers to a piece. */
export type ThreadReply<Result> = { result: Result } | { failure: string };

export interface ThreadOptions {
  startWorker: () => Worker;
  /** Processor time for one piece. */
  cpu_ms: number;
}

/** The piece itself is at fault, as `message` says; another attempt is likely to end the same way. */
export class PieceFailed extends Error {}

/** A piece of which nothing comes is given up after this, however busy the machine is. */
const PIECE_DEADLINE_MS = 60_000;
/** The thread, and its 20 to 30 MB, is given back after this long without a piece. */
const IDLE_STOP_MS = 10_000;
/** How often the time of a thread is looked at. */
const MEASURE_EVERY_MS = 50;

/** Starts nothing yet: the thread begins with the first piece. */
export class BoundedThread<Piece, Result> {
  readonly #options: ThreadOptions;
  #worker: Worker | null = null;
  #idle_timer: Timer | null = null;
  /** Settles when the last piece so far is done. */
  #last: Promise<unknown> = Promise.resolve();
  #giveUp: (error: Error) => void = () => {};
  #is_stopped = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * What comes of a piece. Rejects with PieceFailed where it took too long or ended the thread, and with AppError `unavailable` where
   * no thread can be started at present.
   */
  do(piece: Piece): Promise<Result> {
    const turn = this.#last.then(() => this.#doNow(piece));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Ends the thread; what it does, and what waits, is answered with AppError `unavailable`. */
  stop(): void {
    this.#is_stopped = true;
    this.#giveUp(stopped());
    this.#endThread();
  }

  async #doNow(piece: Piece): Promise<Result> {
    if (this.#is_stopped) throw stopped();
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    const worker = this.#worker ?? this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const fail = (reason: string): void => reject(new PieceFailed(reason));
    this.#giveUp = reject;
    worker.onmessage = ({ data }: MessageEvent<ThreadReply<Result>>) =>
      'failure' in data ? fail(data.failure) : resolve(data.result);
    worker.onerror = ({ message }) => fail(message);
    const meter = setInterval(measure(fail, this.#options.cpu_ms), MEASURE_EVERY_MS);
    worker.postMessage(piece);
    try {
      const result = await promise;
      this.#idle_timer = setTimeout(() => this.#endThread(), IDLE_STOP_MS);
      this.#idle_timer.unref();
      return result;
    } catch (error) {
      this.#endThread();
      throw error;
    } finally {
      clearInterval(meter);
    }
  }

  #startThread(): Worker {
    requireThreadDescriptors();
    const worker = this.#options.startWorker();
    worker.addEventListener('close', () => {
      if (worker !== this.#worker) return;
      this.#giveUp(new PieceFailed('its thread ended.'));
      this.#endThread();
    });
    this.#worker = worker;
    return worker;
  }

  #endThread(): void {
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#idle_timer = null;
    this.#worker?.terminate();
    this.#worker = null;
  }
}

/**
 * No thread's own time can be asked for from outside. That of the whole process is never less, and, unlike the time of day,
 * does not run where a busy machine lets none of its threads.
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
