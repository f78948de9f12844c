/**
 * Whose work is done first, of many who ask for it. Bun answers all that one connection brings, and all who
 * connect meanwhile, before it looks at anybody else. Here everybody comes in the order in which they asked,
 * and nobody with a hundred requests at a time.
 */
import { monotonicMs } from './clock.ts';

/** Of what one connection brings in a turn of the event loop. Clients wait for their answers, as a rule. */
const MAX_AT_ONCE = 16;
/** So long work is done as it comes; what comes later in a turn waits for the next. */
const TURN_MS = 10;

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  readonly port: number;
}

export class Turns {
  #began_ms: number | null = null;
  readonly #waiting: (() => Promise<void>)[] = [];
  #last: Peer | null = null;
  /** What one connection brings comes in a row. */
  #in_a_row = 0;

  /** Does a piece of work now, or when it is its turn. */
  do<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.take(null, work);
  }

  /**
   * Answers a request now, or when it is its turn. Where it `is_last` of its connection the answer must say
   * so, which drops what stands behind it.
   */
  take<T>(peer: Peer | null, answer: (is_last: boolean) => T | Promise<T>): T | Promise<T> {
    if (this.#began_ms === null) {
      this.#began_ms = monotonicMs();
      setImmediate(() => this.#end());
    }
    const is_same = peer !== null && peer.port === this.#last?.port && peer.address === this.#last.address;
    this.#in_a_row = is_same ? this.#in_a_row + 1 : 1;
    this.#last = peer;
    // None waits behind one of its own connection: Bun ends a connection that brings more meanwhile.
    if (is_same) return answer(this.#in_a_row > MAX_AT_ONCE);
    if (this.#waiting.length === 0 && monotonicMs() - this.#began_ms < TURN_MS) return answer(false);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push(() => Promise.try(answer, false).then(resolve, reject));
    return promise;
  }

  #end(): void {
    this.#last = null;
    if (this.#waiting.length > 0) void this.#goOn();
    else this.#began_ms = null;
  }

  /** Those who wait are answered for a while; who comes meanwhile gets behind the rest. */
  async #goOn(): Promise<void> {
    const began_ms = monotonicMs();
    do {
      // Nobody waits for one who waits for the disk.
      await Promise.race([this.#waiting.shift()?.(), new Promise(setImmediate)]);
      this.#last = null;
    } while (this.#waiting.length > 0 && monotonicMs() - began_ms < TURN_MS);
    setImmediate(() => this.#end());
  }
}

/** Those whose turn comes next, then the others in their order: who was served last waits for all others. */
export function inTurn<T>(rivals: readonly T[], isNext: (one: T) => boolean): T[] {
  return [...rivals.filter(isNext), ...rivals.filter((one) => !isNext(one))];
}
