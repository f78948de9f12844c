/** Turns of those who compete: projects in a lane, webhooks, whoever waits for an image. */

/** Those whose turn comes next, then the others in their order: who was served last waits for all others. */
export function inTurn<T>(rivals: readonly T[], isNext: (one: T) => boolean): T[] {
  return [...rivals.filter(isNext), ...rivals.filter((one) => !isNext(one))];
}
