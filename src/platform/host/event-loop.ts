/** How late the event loop comes to what is due: for so long a request that comes meanwhile waits. */
import { monotonicMs } from './clock.ts';
import { Histogram, WAIT_BOUNDS_S } from './measures.ts';

/** Costs nothing to notice; a delay that is shorter may fall between two looks. */
const LOOK_MS = 100;

export class EventLoopWatch {
  readonly delays = new Histogram(WAIT_BOUNDS_S);
  #timer: Timer | null = null;

  start(): void {
    let due_ms = monotonicMs() + LOOK_MS;
    this.#timer ??= setInterval(() => {
      const now_ms = monotonicMs();
      this.delays.observe(Math.max(0, now_ms - due_ms) / 1_000);
      due_ms = now_ms + LOOK_MS;
    }, LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}
