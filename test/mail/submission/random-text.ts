/** Texts that are made at random, and are the same at each run. */

/** Numbers from 0 up to below a bound, the same ones at each run (mulberry32). */
export function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Some of these words, one behind the other. */
export function makeText(words: readonly string[], count: number, random: (below: number) => number): string {
  return Array.from({ length: count }, () => words[random(words.length)] ?? '').join('');
}
