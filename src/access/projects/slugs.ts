/** Slugs of projects: which ones may be chosen, and how one is made from a name. Pure functions. */

import { invalid } from '../../errors.ts';
import { COMPLETED_WORDS, MAX_NAME_CHARS } from '../../limits.ts';
import type { Word } from '../../platform/cli/completion.ts';
import type { Tx } from '../../platform/database/database.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { listProjectsFrom } from './store.ts';

/** Room for the number behind a generated slug that exists already. */
const MAX_BASE_CHARS = MAX_NAME_CHARS - 12;
const ONLY_DIGITS = /^\d+$/;

/**
 * Accepts a slug as it is. Throws AppError `invalid` for other characters, and for one that looks like a
 * project's id or ULID.
 */
export function checkSlug(slug: string): string {
  if (!/^[a-z0-9-]+$/.test(slug)) throw refuse('must be of lowercase letters, digits and hyphens');
  if (ONLY_DIGITS.test(slug)) throw refuse('must not be of digits only: it would read as a numeric id');
  if (isUlid(slug)) throw refuse('must not have the shape of a ULID: it would read as a public id');
  return slug;
}

function refuse(message: string): Error {
  return invalid({ slug: [message] });
}

/** A slug for a name; a number is added until `isTaken` finds it free. */
export function generateSlug(name: string, isTaken: (slug: string) => boolean): string {
  const base = slugBase(name);
  let slug = base;
  for (let n = 2; isTaken(slug); n += 1) slug = `${base}-${n}`;
  return slug;
}

function slugBase(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_BASE_CHARS)
    .replace(/^-+|-+$/g, '');
  if (words === '') return 'project';
  return ONLY_DIGITS.test(words) || isUlid(words) ? `project-${words}` : words;
}

/** Slugs that begin so. */
export function completeProject(read: Tx, typed: string): Word[] {
  return listProjectsFrom(read, typed, COMPLETED_WORDS).map(({ slug, name }) => ({
    word: slug,
    description: name,
  }));
}
