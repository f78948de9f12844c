/** Turns of the event loop: what is long is done a piece a turn, and between them whatever waits is done. */

/** Resolves in the next turn, once all that waits had its own. */
export function letOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
