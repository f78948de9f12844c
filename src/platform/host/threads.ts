/**
 * Our threads: each is asked by messages, and answers every request once or ends. `Thread` asks, `serve`
 * answers. Messages of one turn of the event loop travel together, as one costs more than its content.
 */
import { AppError, type ErrorKind, messageOf } from '../../errors.ts';
import { requireThreadDescriptors } from './shortages.ts';

/** The id of a message that wants no answer. */
const NO_ANSWER = 0;

export interface Asked<Ask> {
  id: number;
  ask: Ask;
}
type Reply<Answer, Notice> =
  | { id: number; answer: Answer }
  | { id: number; failure: { kind: ErrorKind; message: string } }
  | { notice: Notice };

/** The thread ended before it answered: by an error, from outside, or for lack of memory. */
export class ThreadEnded extends Error {}

export interface ThreadOptions<Notice> {
  /** `new Worker(new URL('./x.worker.ts', import.meta.url))`: the build names workers flatly. */
  start: () => Worker;
  /** The thread and its 20 to 30 MB are given back after so long without a request. */
  idle_stop_ms: number;
  /** Called once it has started. A message sent here reaches it before all others. */
  onStart?: () => void;
  /** Called with each message that it sends unasked. */
  onNotice?: (notice: Notice) => void;
  /** Called with its last words where it ended by itself. */
  onCrash?: (message: string) => void;
  /** Called whenever it has ended. */
  onEnd?: () => void;
}

/** Starts nothing yet: the thread begins with the first request, and again with the next after it ended. */
export class Thread<Ask, Answer, Notice = never> {
  readonly #pending = new Map<number, PromiseWithResolvers<Answer>>();
  #worker: Worker | null = null;
  #outbox: Asked<Ask>[] = [];
  #last_id = NO_ANSWER;
  #idle_timer: Timer | undefined;

  constructor(private readonly options: ThreadOptions<Notice>) {}

  get is_running(): boolean {
    return this.#worker !== null;
  }

  /**
   * Rejects with an AppError of the kind that the thread threw (`internal` for other errors), with
   * ThreadEnded or what `end` was given where it ended first, and with AppError `unavailable` where none can
   * be started.
   */
  async ask(ask: Ask): Promise<Answer> {
    clearTimeout(this.#idle_timer);
    const id = ++this.#last_id;
    this.#post({ id, ask });
    const answer = Promise.withResolvers<Answer>();
    this.#pending.set(id, answer);
    return answer.promise;
  }

  /** Says something that wants no answer. Throws AppError `unavailable` where no thread can be started. */
  tell(ask: Ask): void {
    this.#post({ id: NO_ANSWER, ask });
  }

  /** Ends the thread; whoever waits for it gets the error. */
  end(error: Error): void {
    clearTimeout(this.#idle_timer);
    this.#worker?.terminate();
    this.#worker = null;
    this.#outbox = [];
    const abandoned = [...this.#pending.values()];
    this.#pending.clear();
    this.options.onEnd?.();
    for (const { reject } of abandoned) reject(error);
  }

  #post(asked: Asked<Ask>): void {
    const worker = this.#worker ?? this.#start();
    if (this.#outbox.push(asked) > 1) return;
    queueMicrotask(() => worker === this.#worker && worker.postMessage(this.#outbox.splice(0)));
  }

  #start(): Worker {
    requireThreadDescriptors();
    const worker = this.options.start();
    worker.onmessage = ({ data }: MessageEvent<Reply<Answer, Notice>[]>) => {
      for (const reply of data) if (worker === this.#worker) this.#receive(reply);
    };
    worker.onerror = ({ message }) => this.#onGone(worker, message);
    worker.addEventListener('close', () => this.#onGone(worker, 'its thread ended.'));
    this.#worker = worker;
    this.options.onStart?.();
    return worker;
  }

  #receive(reply: Reply<Answer, Notice>): void {
    if ('notice' in reply) {
      this.options.onNotice?.(reply.notice);
      return;
    }
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ('answer' in reply) pending?.resolve(reply.answer);
    else pending?.reject(new AppError(reply.failure.kind, reply.failure.message));
    if (this.#pending.size > 0) return;
    this.#idle_timer = setTimeout(() => this.end(new ThreadEnded()), this.options.idle_stop_ms);
    this.#idle_timer.unref();
  }

  #onGone(worker: Worker, message: string): void {
    if (worker !== this.#worker) return;
    this.options.onCrash?.(message);
    this.end(new ThreadEnded(message));
  }
}

/** Asks a thread of its own, which ends with its answer. Rejects as `Thread.ask`. */
export async function askOnce<Ask, Answer>(start: () => Worker, ask: Ask): Promise<Answer> {
  const thread = new Thread<Ask, Answer>({ start, idle_stop_ms: 0 });
  return await thread.ask(ask).finally(() => thread.end(new ThreadEnded()));
}

declare const self: Worker;

/**
 * In a thread: answers each request with what `handle` returns or throws. A message without an answer must
 * not throw, as that ends the thread. Returns a function that sends a notice to the other side.
 */
export function serve<Ask, Answer, Notice = never>(
  handle: (ask: Ask) => Answer | Promise<Answer>,
): (notice: Notice) => void {
  const outbox: Reply<Answer, Notice>[] = [];
  const post = (reply: Reply<Answer, Notice>): void => {
    if (outbox.push(reply) === 1) setImmediate(() => self.postMessage(outbox.splice(0)));
  };
  const answer = async ({ id, ask }: Asked<Ask>): Promise<void> => {
    try {
      post({ id, answer: await handle(ask) });
    } catch (error) {
      const kind = error instanceof AppError ? error.kind : 'internal';
      post({ id, failure: { kind, message: messageOf(error) } });
    }
  };
  self.onmessage = ({ data }: MessageEvent<Asked<Ask>[]>) => {
    for (const asked of data)
      if (asked.id === NO_ANSWER) void handle(asked.ask);
      else void answer(asked);
  };
  return (notice) => post({ notice });
}
