/** How many items of a long change the next piece takes: as many as the last ones say that a short time is enough for. */
import { monotonicMs } from '../host/clock.ts';

/** A request that comes meanwhile waits for so long at most, whatever the machine and the load. */
const PIECE_MS = 5;
/** The weight of the last piece: one that was held up does not make all others small. */
const LAST_WEIGHT = 0.3;

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
