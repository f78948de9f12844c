/** The main thread's side of sending. Its thread starts when needed and ends when nothing is sent. */
import { messageOf } from '../errors.ts';
import { Thread } from '../platform/host/threads.ts';
import type { Answer, Outgoing } from './exchange.ts';

const IDLE_STOP_MS = 60_000;

interface SenderOptions {
  /** Authorities besides the system's; for tests. */
  ca?: string | undefined;
  /** Called with the error when the thread dies. */
  onCrash?: (message: string) => void;
}

export class Sender {
  readonly #ca: string | undefined;
  readonly #thread: Thread<Outgoing, Answer>;

  constructor({ ca, ...options }: SenderOptions = {}) {
    this.#ca = ca;
    this.#thread = new Thread({
      ...options,
      start: () => new Worker(new URL('./sender.worker.ts', import.meta.url)),
      idle_stop_ms: IDLE_STOP_MS,
    });
  }

  /** Sends a request. Resolves with what became of it, whatever that is; never rejects. */
  send(outgoing: Outgoing): Promise<Answer> {
    return this.#thread
      .ask({ ...outgoing, ca: this.#ca })
      .catch((error: unknown) => ({ failure: messageOf(error), is_unreached: true, is_ours: true }));
  }

  /** Ends the thread; what it had in hand was not tried, as far as is known. */
  stop(): void {
    this.#thread.end(new Error('the server stopped'));
  }
}
