/** Patterns of claims: `*` stands for one or more characters but `:` and `/`; nothing else is special. */
import type { TrustRow } from './tables.ts';

/** Between segments. */
const SEPARATOR = /([:/])/;

/** Whether a pattern fits the whole claim, with case. Linear in the claim for each star: strangers write claims. */
export function fits(pattern: string, claim: string): boolean {
  const parts = pattern.split(SEPARATOR);
  const given = claim.split(SEPARATOR);
  return parts.length === given.length && parts.every((part, at) => fitsSegment(part, given[at] ?? ''));
}

function fitsSegment(pattern: string, given: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return given === first;
  if (!given.startsWith(first) || !given.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = given.indexOf(part, at + 1);
    if (found < 0) return false;
    at = found + part.length;
  }
  return given.length - last.length > at;
}

/** Everybody has an account at GitHub: `repo:*` would be all of them. */
export function isOfAnybody(subject: string): boolean {
  return subject
    .split(/[:/]/)
    .slice(0, 2)
    .some((segment) => segment.includes('*'));
}

/** Why the claims of a token that is rightly signed do not fit a trust whose audience is this; null where they do. */
export function misfitOf(
  { subject, claims }: Pick<TrustRow, 'subject' | 'claims'>,
  audience: string,
  given: Readonly<Record<string, unknown>>,
): string | null {
  if (typeof given.sub !== 'string' || !fits(subject, given.sub)) return 'its subject does not fit';
  const audiences: unknown[] = Array.isArray(given.aud) ? given.aud : [given.aud];
  if (!audiences.includes(audience)) return `its audience is not ${audience}`;
  for (const [name, pattern] of Object.entries(claims)) {
    const text = textOf(Object.hasOwn(given, name) ? given[name] : undefined);
    if (text === null || !fits(pattern, text)) return `its claim ${name} does not fit`;
  }
  return null;
}

/** Lists and objects fit nothing. */
function textOf(claim: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof claim) ? String(claim) : null;
}
