/** What could not be made is remembered for a while, so that asking for it again and again keeps nobody else waiting. */
import type { AppError } from '../../errors.ts';
import { VARIANT_REFUSAL_KEPT_MS } from '../../limits.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import type { VariantWishes } from './schemas.ts';

interface Refused {
  error: AppError;
  until_ms: number;
  /** What asks for fewer pixels may succeed, and is tried. */
  least_pixels: number;
}

const MAX_REMEMBERED = 1_000;
/** What asks for so much less than what was too hard is tried. */
const EASIER_BY = 4;

export class Refusals {
  /** By the id of the source, the oldest first. */
  readonly #refused = new Map<string, Refused>();

  /** Throws what was thrown before for as much of this source. */
  check(public_id: string, wishes: VariantWishes): void {
    const refused = this.#refused.get(public_id);
    if (refused && refused.until_ms > monotonicMs() && pixelsOf(wishes) >= refused.least_pixels)
      throw refused.error;
  }

  /** Remembers that nothing can be made of a source; or, with wishes, nothing like these. */
  add(public_id: string, error: AppError, wishes: VariantWishes | null): void {
    const least_pixels = wishes ? pixelsOf(wishes) / EASIER_BY : 0;
    this.#refused.delete(public_id);
    this.#refused.set(public_id, { error, until_ms: monotonicMs() + VARIANT_REFUSAL_KEPT_MS, least_pixels });
    const [oldest = ''] = this.#refused.keys();
    if (this.#refused.size > MAX_REMEMBERED) this.#refused.delete(oldest);
  }
}

function pixelsOf({ width, height }: VariantWishes): number {
  return width * height;
}
