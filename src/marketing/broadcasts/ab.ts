/** The A/B of a broadcast: what it may be, who is in its share and gets which variant, and how likely each variant is the best. Pure functions. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { toIso } from '../../platform/host/clock.ts';
import type { AbPlan, AbRecord } from './schemas.ts';
import type { Drawn } from './store.ts';
import type { BroadcastRow, RecipientRow, VariantRow } from './tables.ts';

/** Contract: with fewer mails a variant chance decides. */
const FEW_MAILS_A_VARIANT = 100;

/** What is wrong with a plan beyond its schema, by field. */
export function errorsInPlan({ variants, decide_by, decide_after_hours }: AbPlan): FieldErrors {
  const errors: FieldErrors = {};
  for (const [index, { name, subject, preheader }] of variants.entries()) {
    const at = `ab.variants.${index}`;
    if (variants.findIndex((one) => one.name === name) < index)
      errors[`${at}.name`] = ['must be another than those before'];
    for (const [member, text] of Object.entries({ name, subject, preheader }))
      if (/\p{Cc}/u.test(text ?? ''))
        errors[`${at}.${member}`] = ['must have no line breaks or other control characters'];
  }
  const has_hours = typeof decide_after_hours === 'number';
  if (decide_by === 'clicks' && !has_hours)
    errors['ab.decide_after_hours'] = ['is required where clicks decide: 1 to 168'];
  if (decide_by === 'manual' && has_hours)
    errors['ab.decide_after_hours'] = ['must be left out where somebody decides'];
  return errors;
}

/** The people to whom a broadcast is giving turns: everybody's, or of an A/B those of the share, and once it is decided the rest's. */
export function phaseOf({ ab, winner }: Pick<BroadcastRow, 'ab' | 'winner'>): 'all' | 'share' | 'rest' {
  if (ab === null) return 'all';
  return winner === null ? 'share' : 'rest';
}

/** True once everybody who was on the list when it began was looked at, in this phase. */
export function isWalked({ decided_to, last_contact_id }: BroadcastRow): boolean {
  return last_contact_id !== null && decided_to >= last_contact_id;
}

/** True where the share had its turn, and nobody decided yet what the rest gets. */
export function isTested({ tested_at, winner }: Pick<BroadcastRow, 'tested_at' | 'winner'>): boolean {
  return tested_at !== null && winner === null;
}

/**
 * Who of the next people that are to get a mail is in the share, and the place of the variant that each gets. With all before them
 * the share is its percentage, and its variants are alike, each to within one. A hash of broadcast and contact says who it is, and
 * their order only with whom they are in the draw. At most `limit` are drawn: what is missing then, later draws make up for.
 */
export function drawShare(
  { share, variants }: AbPlan,
  broadcast: string,
  { before, people, limit }: { before: Drawn; people: readonly Drawable[]; limit: number },
): Map<number, number> {
  const in_share = Math.round(((before.seen + people.length) * share) / 100);
  const got = variants.map((_, place) => before.got[place] ?? 0);
  const missing = in_share - got.reduce((sum, n) => sum + n, 0);
  const drawn = people
    .map(({ id, public_id }) => ({ id, by: hashOf(`${broadcast}:${public_id}`) }))
    .toSorted((one, other) => (one.by < other.by ? -1 : 1))
    .slice(0, Math.max(0, Math.min(missing, limit)));
  return new Map(
    drawn.map(({ id }) => {
      const place = got.indexOf(Math.min(...got));
      got[place] = (got[place] ?? 0) + 1;
      return [id, place];
    }),
  );
}

const hashOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex');

interface Drawable {
  id: number;
  public_id: string;
}

/** The variant that wins: of which most people clicked per tracked mail; the first of those that are alike. */
export function bestOf(variants: readonly VariantRow[]): number {
  const rateOf = ({ sent, untracked, clicked }: VariantRow): number =>
    sent > untracked ? clicked / (sent - untracked) : 0;
  return variants.reduce((best, one) => (rateOf(one) > rateOf(best) ? one : best), NONE).variant;
}
const NONE: VariantRow = {
  broadcast_id: 0,
  variant: 0,
  source_id: 0,
  sent: 0,
  untracked: 0,
  clicked: 0,
  unsubscribed: 0,
};

/** The plan with what became of it; no result before sending began. What a test key sends counts nowhere. */
export function presentAb(row: BroadcastRow, variants: readonly VariantRow[]): AbRecord | null {
  const { ab, is_test, winner } = row;
  if (ab === null) return null;
  const counted = variants.map((one) => (is_test ? { ...NONE, variant: one.variant } : one));
  const chances =
    counted.length === 0
      ? []
      : chancesOfBest(counted.map((one) => ({ clicked: one.clicked, tracked: one.sent - one.untracked })));
  return {
    ...ab,
    decide_after_hours: ab.decide_after_hours ?? null,
    decides_at: toIso(row.decides_at),
    winner: winner === null ? null : nameOf(ab, winner),
    decided_at: toIso(row.decided_at),
    results: counted.map(({ variant, sent, untracked, clicked, unsubscribed }, index) => ({
      name: nameOf(ab, variant),
      sent,
      untracked,
      clicked,
      unsubscribed,
      chance_best: chances[index] ?? 0,
    })),
  };
}

function nameOf({ variants }: AbPlan, place: number): string {
  return variants[place]?.name ?? '';
}

/** Throws AppError `invalid` where the broadcast has no variant of this name. */
export function variantCalled({ ab }: Pick<BroadcastRow, 'ab'>, name: string): AbPlan['variants'][number] {
  const variant = ab?.variants.find((one) => one.name === name);
  if (variant) return variant;
  const names = ab?.variants.map((one) => one.name).join(', ');
  throw invalid({
    variant: [ab === null ? 'must be left out: the broadcast has no A/B' : `must be one of ${names}`],
  });
}

/** The name of the variant that somebody got; null for who got none, or where there is no A/B. */
export function variantGot({ ab, winner }: BroadcastRow, { variant, reason }: RecipientRow): string | null {
  const place = variant ?? winner;
  return ab === null || place === null || reason !== null ? null : nameOf(ab, place);
}

/** What `check` says of a plan that is not in the way: where chance would decide. */
export function warningsOf(
  { ab }: Pick<BroadcastRow, 'ab'>,
  recipients: number,
): { code: string; message: string }[] {
  if (ab === null) return [];
  const each = Math.floor((recipients * ab.share) / 100 / ab.variants.length);
  if (each >= FEW_MAILS_A_VARIANT) return [];
  const message = `Each variant would go to about ${each} people. With fewer than ${FEW_MAILS_A_VARIANT}, chance decides rather than the mail.`;
  return [{ code: 'ab_small', message }];
}

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
