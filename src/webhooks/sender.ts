/** The main thread's side of sending: hands requests to a thread, which it starts when needed and gives back when nothing is sent. */
import { AppError, messageOf } from '../errors.ts';
import { requireThreadDescriptors } from '../platform/host/descriptors.ts';
import type { Answer, Outgoing } from './exchange.ts';
import type { SenderReply, SenderRequest } from './sender.worker.ts';

/** The thread and its 20 to 30 MB are given back after this long without a request. */
const IDLE_STOP_MS = 60_000;

interface SenderOptions {
  /** Authorities besides the system's; for tests. */
  ca?: string | undefined;
  /** How the thread is started. */
  startWorker?: () => Worker;
  /** Called with the error when the thread dies. */
  onCrash?: (message: string) => void;
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startSenderWorker(): Worker {
  return new Worker(new URL('./sender.worker.ts', import.meta.url));
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #worker: Worker | null = null;
  #outbox: SenderRequest[] = [];
  #next_id = 1;
  #idle_timer: Timer | null = null;

  constructor(options: SenderOptions = {}) {
    this.#options = options;
  }

  /** Sends a request. Resolves with what became of it, whatever that is; never rejects. */
  send(outgoing: Outgoing): Promise<Answer> {
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    try {
      const worker = this.#worker ?? this.#start();
      return new Promise((resolve) => {
        const id = this.#next_id++;
        this.#pending.set(id, resolve);
        // Requests of one turn of the event loop travel together.
        if (this.#outbox.push({ ...outgoing, ca: this.#options.ca, id }) > 1) return;
        queueMicrotask(() => worker.postMessage(this.#outbox.splice(0)));
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return Promise.resolve(notTried(messageOf(error)));
    }
  }

  /** Ends the thread; what it had in hand was not tried, as far as is known. */
  stop(): void {
    this.#end('the server stopped');
  }

  #start(): Worker {
    requireThreadDescriptors();
    const worker = (this.#options.startWorker ?? startSenderWorker)();
    worker.onmessage = ({ data }: MessageEvent<SenderReply[]>) => {
      for (const { id, answer } of data) {
        this.#pending.get(id)?.(answer);
        this.#pending.delete(id);
      }
      if (this.#pending.size > 0) return;
      this.#idle_timer = setTimeout(() => this.#end(''), IDLE_STOP_MS);
      this.#idle_timer.unref();
    };
    worker.onerror = ({ message }) => {
      if (worker !== this.#worker) return;
      this.#options.onCrash?.(message);
      this.#end(message);
    };
    this.#worker = worker;
    return worker;
  }

  #end(reason: string): void {
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#worker?.terminate();
    this.#worker = null;
    this.#outbox = [];
    const abandoned = [...this.#pending.values()];
    this.#pending.clear();
    for (const resolve of abandoned) resolve(notTried(reason));
  }
}

function notTried(failure: string): Answer {
  return { failure, is_unreached: true, is_ours: true };
}
