/**
 * Where signatures are made, and how many at once. An RSA signature is half a millisecond of a processor, so a backlog of
 * mail keeps all of them busy; while requests come, one is left to the event loop, which else waits for its turn behind them.
 */
import { availableParallelism } from 'node:os';
import { QUIET_AFTER_MS } from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';

/** A count of requests that another thread can read. */
export type RequestCount = Int32Array<SharedArrayBuffer>;

/** What the event loop of this process has answered. */
export const request_count: RequestCount = new Int32Array(new SharedArrayBuffer(4));

/** Notes that a request came. */
export function countRequest(): void {
  Atomics.add(request_count, 0, 1);
}

interface GateOptions {
  processors: number;
  monotonicMs: () => number;
}

export class SigningGate {
  readonly #requests: RequestCount;
  readonly #processors: number;
  readonly #monotonicMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #turn: Promise<void> = Promise.resolve();
  #seen = 0;
  #seen_ms = Number.NEGATIVE_INFINITY;

  /** The options are for tests. */
  constructor(requests: RequestCount, options: Partial<GateOptions> = {}) {
    this.#requests = requests;
    this.#processors = options.processors ?? availableParallelism();
    this.#monotonicMs = options.monotonicMs ?? monotonicMs;
    this.#seen = Atomics.load(requests, 0);
  }

  /**
   * Signs on the thread pool once there is room, or where there never is any, on this thread: that of the mailer, which
   * has a processor to itself besides the event loop's.
   */
  async pass<T>(signOnPool: () => Promise<T>, signHere: () => T): Promise<T> {
    if (this.#limit() < 1) {
      await this.#nextTurn();
      return signHere();
    }
    // Who lets a waiting one in counts it, so that no other takes its room meanwhile.
    if (this.#running < this.#limit()) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await signOnPool();
    } finally {
      this.#running -= 1;
      this.#admit();
    }
  }

  /** One signature a turn of the event loop: many in a row would hold up what goes over the connections meanwhile. */
  #nextTurn(): Promise<void> {
    this.#turn = this.#turn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turn;
  }

  #admit(): void {
    while (this.#running < this.#limit()) {
      const enter = this.#waiting.shift();
      if (!enter) return;
      this.#running += 1;
      enter();
    }
  }

  #limit(): number {
    const now_ms = this.#monotonicMs();
    const count = Atomics.load(this.#requests, 0);
    if (count !== this.#seen) {
      this.#seen = count;
      this.#seen_ms = now_ms;
    }
    // The thread pool has as many threads as there are processors; what waits in its own queue leaves no gaps between.
    if (now_ms - this.#seen_ms >= QUIET_AFTER_MS) return Number.POSITIVE_INFINITY;
    return this.#processors - 2;
  }
}
