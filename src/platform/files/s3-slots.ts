/** How many requests a store gets at once. Who finds no place waits a while, in the order of asking. */

export class Slots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** A place, which its taker gives back once; null where none became free in time. */
  async take(patience_ms: number): Promise<(() => void) | null> {
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#wait(patience_ms))) return null;
    let is_held = true;
    return () => {
      if (!is_held) return;
      is_held = false;
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    };
  }

  #wait(patience_ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (has_place: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(enter);
        resolve(has_place);
      };
      const enter = (): void => end(true);
      const timer = setTimeout(() => end(false), patience_ms);
      this.#waiting.add(enter);
    });
  }
}
