/** Long work, so that nobody waits longer for it than they can: waiting in time, doing it in pieces, letting others go first. */
import { monotonicMs } from './clock.ts';

const LOOK_MS = 5;

/** Told how much of a long piece of work is done, in any unit; in bytes where its end is not known yet. */
export type OnProgress = (done: number, total: number | null) => void;

/** Until something is done, or for `deadline_ms`: for a stop, which looks often. */
export async function until(isDone: () => boolean, deadline_ms: number): Promise<void> {
  const give_up_ms = monotonicMs() + deadline_ms;
  while (!isDone() && monotonicMs() < give_up_ms) await Bun.sleep(LOOK_MS);
}

/** What comes of it in time; it goes on in any case. */
export async function within<T>(work: Promise<T>, wait_ms: number): Promise<T | 'not yet'> {
  const { promise, resolve } = Promise.withResolvers<'not yet'>();
  const give_up = setTimeout(() => resolve('not yet'), Math.max(0, wait_ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(give_up);
  }
}

/** Those who do long work, in the order in which they let others go first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, after all that waits: long work is done a piece a turn. Of several that do such work
 * one goes on in each turn, so that nobody waits for more than a piece.
 */
export function letOthers(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/** A request that comes meanwhile waits for so long at most, whatever the machine and the load. */
const PIECE_MS = 5;
/** The weight of the last piece: one that was held up does not make all others small. */
const LAST_WEIGHT = 0.3;

/** How many items of a long change the next piece takes: as many as the last ones say that a short time is enough for. */
export class PieceSize {
  #item_ms: number;

  /** `first` is what the first piece takes, before anything is known; `most` what any takes. */
  constructor(
    first: number,
    private readonly most: number,
  ) {
    this.#item_ms = PIECE_MS / first;
  }

  get next(): number {
    return Math.max(1, Math.min(this.most, Math.floor(PIECE_MS / this.#item_ms)));
  }

  /** Does a piece and learns from it; `countOf` tells how many items it had. */
  learn<T>(work: () => T, countOf: (done: T) => number): T {
    const began_ms = monotonicMs();
    const done = work();
    const count = countOf(done);
    if (count > 0) {
      const item_ms = (monotonicMs() - began_ms) / count;
      this.#item_ms += (item_ms - this.#item_ms) * LAST_WEIGHT;
    }
    return done;
  }
}
