/** Compiled templates in memory, the least recently used leaving first. */

interface Held<T> {
  version: number;
  bytes: number;
  compiled: T;
}

/**
 * Holds what was compiled from one version of a row. Asking for another version finds nothing, whoever
 * changed the row, so nothing ever has to be told of a change.
 */
export class CompiledCache<T, Id = number> {
  /** In the order of last use. */
  readonly #held = new Map<Id, Held<T>>();
  #bytes = 0;

  constructor(private readonly max_bytes: number) {}

  get(id: Id, version: number): T | undefined {
    const held = this.#held.get(id);
    if (held?.version !== version) return undefined;
    this.#held.delete(id);
    this.#held.set(id, held);
    return held.compiled;
  }

  /** `bytes` is about what it occupies. What is larger than the whole cache is not kept. */
  set(id: Id, version: number, compiled: T, bytes: number): void {
    this.#drop(id);
    if (bytes > this.max_bytes) return;
    this.#held.set(id, { version, bytes, compiled });
    this.#bytes += bytes;
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.max_bytes) break;
      this.#drop(oldest);
    }
  }

  #drop(id: Id): void {
    const held = this.#held.get(id);
    if (!held) return;
    this.#held.delete(id);
    this.#bytes -= held.bytes;
  }
}
