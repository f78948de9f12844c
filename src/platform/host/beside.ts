/**
 * Work that a caller can make long, done beside the server: in a thread, with a bound of processor time for
 * each piece. Nobody else waits for it, and projects take turns.
 */
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import { BoundedThread, PieceFailed } from './bounded-thread.ts';
import { serve } from './threads.ts';

/** Decision: processor time for one piece; a long newsletter takes some milliseconds. */
const CPU_MS = 2_000;
/** How many pieces of a project may be in work or waiting; one more is refused. */
export const PIECES_AT_ONCE = 10;
const RETRY_AFTER_S = 2;

/** What the thread can do. `run` throws nothing but AppError `invalid`, and knows its input alone. */
export interface Task<Input, Output> {
  readonly name: string;
  run(input: Input): Output;
}

interface Piece {
  task: string;
  input: unknown;
}
type Done = { output: unknown } | { refusal: FieldErrors };

/** The pieces of one project: their number, and a promise that settles once the last is done. */
interface Queue {
  count: number;
  last: Promise<unknown>;
}

/** Starts nothing yet: the thread begins with the first piece. */
export class Beside {
  readonly #thread: BoundedThread<Piece, Done>;
  readonly #queues = new Map<number, Queue>();

  /** The worker is one that calls `serveTasks`. */
  constructor(startWorker: () => Worker, cpu_ms = CPU_MS) {
    this.#thread = new BoundedThread({ startWorker, cpu_ms });
  }

  /**
   * What a task makes of its input. Throws what it throws, AppError `invalid` under `field` for what takes
   * too long, `rate_limited`, and `unavailable`.
   */
  async do<Input, Output>(
    { project_id, field }: { project_id: number; field: string },
    task: Task<Input, Output>,
    input: Input,
  ): Promise<Output> {
    const done = await this.#inTurn(project_id, { task: task.name, input }).catch((error: unknown) => {
      if (!(error instanceof PieceFailed)) throw error;
      const reason = error.message.replace(/\.$/, '');
      throw invalid({ [field]: [`must be shorter or simpler: ${reason}`] }, { cause: error });
    });
    if ('refusal' in done) throw invalid(done.refusal);
    return done.output as Output; // The thread runs the task of this name.
  }

  /** Ends the thread; whoever waits is told `unavailable`. */
  stop(): void {
    this.#thread.stop();
  }

  /** Only one piece of a project is in the thread's queue. */
  async #inTurn(project_id: number, piece: Piece): Promise<Done> {
    const queue = this.#queues.get(project_id) ?? { count: 0, last: Promise.resolve() };
    if (queue.count >= PIECES_AT_ONCE) throw tooMany();
    this.#queues.set(project_id, queue);
    queue.count += 1;
    const done = queue.last.then(() => this.#thread.do(piece));
    queue.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(project_id);
    }
  }
}

function tooMany(): AppError {
  const message = `${PIECES_AT_ONCE} texts and previews of this project are being made already. Try again shortly.`;
  return new AppError('rate_limited', message, { retry_after_s: RETRY_AFTER_S });
}

/** In the thread: does what it is asked for. */
export function serveTasks(tasks: readonly Task<never, unknown>[]): void {
  const by_name = new Map(tasks.map((task) => [task.name, task]));
  serve(({ task: name, input }: Piece): Done => {
    const task = by_name.get(name);
    if (!task) throw new AppError('internal', `There is no task ${name}.`);
    try {
      return { output: task.run(input as never) }; // As `Beside.do` was given it.
    } catch (error) {
      if (error instanceof AppError && error.errors) return { refusal: error.errors };
      throw error;
    }
  });
}
