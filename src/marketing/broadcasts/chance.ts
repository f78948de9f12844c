/** How likely each variant of an A/B is the best, by what was clicked so far. Pure functions. */

/** Cells of the numeric integral: to four digits, in a millisecond or two for five variants. */
const CELLS = 4_000;
/** So many standard deviations around the means hold all that counts. */
const REACH_SD = 8;

interface Counted {
  clicked: number;
  /** Mails of which a click would be known. */
  tracked: number;
}

/**
 * The chance of each variant that its true rate of clicks is the highest: each rate is Beta(1 + clicked, 1 + tracked - clicked), and
 * the integral of its density times the others' distributions is summed over 4,000 cells. To two digits; together about 1.
 */
export function chancesOfBest(variants: readonly Counted[]): number[] {
  const rates = variants.map(({ clicked, tracked }) => {
    const a = 1 + clicked;
    const b = 1 + Math.max(0, tracked - clicked);
    const mean = a / (a + b);
    return { a, b, mean, sd: Math.sqrt((mean * (1 - mean)) / (a + b + 1)) };
  });
  const from = Math.max(0, Math.min(...rates.map(({ mean, sd }) => mean - REACH_SD * sd)));
  const to = Math.min(1, Math.max(...rates.map(({ mean, sd }) => mean + REACH_SD * sd)));
  const width = (to - from) / CELLS;
  const curves = rates.map((rate) => curveOf(rate, from, width));
  return curves.map((curve) => {
    const others = curves.filter((other) => other !== curve);
    let chance = 0;
    for (let cell = 0; cell < CELLS; cell += 1) {
      let share = curve.density[cell] ?? 0;
      for (const { below } of others) share *= below[cell] ?? 0;
      chance += share;
    }
    return Math.round(100 * chance) / 100;
  });
}

/** What of a rate lies in each cell, and below the middle of each. */
function curveOf({ a, b }: { a: number; b: number }, from: number, width: number) {
  const density = new Float64Array(CELLS);
  let top = Number.NEGATIVE_INFINITY;
  for (let cell = 0; cell < CELLS; cell += 1) {
    const x = from + (cell + 0.5) * width;
    const log = (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x);
    density[cell] = log;
    if (log > top) top = log;
  }
  let sum = 0;
  for (let cell = 0; cell < CELLS; cell += 1) {
    const share = Math.exp((density[cell] ?? 0) - top);
    density[cell] = share;
    sum += share;
  }
  const below = new Float64Array(CELLS);
  let before = 0;
  for (let cell = 0; cell < CELLS; cell += 1) {
    const share = (density[cell] ?? 0) / sum;
    density[cell] = share;
    below[cell] = before + share / 2;
    before += share;
  }
  return { density, below };
}
