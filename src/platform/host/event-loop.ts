/** How late the event loop comes to what is due: for so long a request that comes meanwhile waits. */
import { monotonicMs } from './clock.ts';
import { Histogram, WAIT_BOUNDS_S } from './measures.ts';

/** Costs nothing to notice beside work; a delay that is shorter may fall between two looks. */
const LOOK_MS = 100;

/** Looks while there is work, so that a server at rest is not woken. */
export class EventLoopWatch {
  readonly delays = new Histogram(WAIT_BOUNDS_S);
  /** How many pieces of work are under way, and whether one began since the last look. */
  #under_way = 0;
  #has_begun = false;
  #timer: Timer | null = null;

  /** Work begins: a request, a job. Each ends with `leave`. */
  enter(): void {
    this.#under_way += 1;
    this.#has_begun = true;
    if (this.#timer === null) this.#start();
  }

  leave(): void {
    this.#under_way -= 1;
  }

  #start(): void {
    let due_ms = monotonicMs() + LOOK_MS;
    this.#timer = setInterval(() => {
      const now_ms = monotonicMs();
      this.delays.observe(Math.max(0, now_ms - due_ms) / 1_000);
      due_ms = now_ms + LOOK_MS;
      if (this.#under_way === 0 && !this.#has_begun) this.stop();
      this.#has_begun = false;
    }, LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }
}
