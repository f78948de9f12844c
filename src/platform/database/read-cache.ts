/** What every request asks the database again, remembered for as long as nothing at all is committed. */
import { MAX_CACHED_READS } from '../../limits.ts';
import type { Database, Tx } from './database.ts';

/** A commit by anyone, this process or another, empties it before the next read: what it answers is what the database holds. */
export class ReadCache<V extends object> {
  readonly #database: Database;
  readonly #entries = new Map<string, Readonly<V>>();
  #version = -1;

  constructor(database: Database) {
    this.#database = database;
  }

  /** What `read` finds; null is not remembered, or guesses would drive out what exists. The value is shared: change nothing in it. */
  get(key: string, read: (tx: Tx) => V | null): Readonly<V> | null {
    const version = this.#database.dataVersion();
    if (version !== this.#version || this.#entries.size >= MAX_CACHED_READS) {
      this.#entries.clear();
      this.#version = version;
    }
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const found = read(this.#database.read);
    if (found !== null) this.#entries.set(key, found);
    return found;
  }
}
