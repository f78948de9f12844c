/** An image that no variant can be made of, thrown where that is found out. */
import type { Refusal } from './protocol.ts';

export class RefusedImage extends Error {
  constructor(readonly why: Refusal) {
    super(why);
  }
}
