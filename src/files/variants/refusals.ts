/** Remembers for a while what could not be made, so that asking again keeps nobody waiting. */
import type { AppError } from '../../errors.ts';
import { VARIANT_REFUSAL_KEPT_MS } from '../../limits.ts';
import { monotonicMs } from '../../platform/host/clock.ts';

const MAX_REMEMBERED = 1_000;

export class Refusals {
  /** By the id of a useless source, or by the name of a variant that was too hard; oldest first. */
  readonly #refused = new Map<string, { error: AppError; until_ms: number }>();

  /** Throws what was thrown before for any of these. */
  check(...names: string[]): void {
    for (const name of names) {
      const refused = this.#refused.get(name);
      if (refused && refused.until_ms > monotonicMs()) throw refused.error;
    }
  }

  /**
   * Refuses just this variant, not larger ones of the same file: anybody may ask for variants of a public
   * file, and asking for the hardest would block those that pages show.
   */
  add(name: string, error: AppError): void {
    this.#refused.delete(name);
    this.#refused.set(name, { error, until_ms: monotonicMs() + VARIANT_REFUSAL_KEPT_MS });
    const [oldest = ''] = this.#refused.keys();
    if (this.#refused.size > MAX_REMEMBERED) this.#refused.delete(oldest);
  }
}
