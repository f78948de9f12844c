/** Words of public pages and of marketing mail's layout: a file for each language, with every key; and in which a page speaks to its reader. */
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export type Words = typeof en;

export const WORDS = { en, de, fr, es } satisfies Record<string, Words>;

/** A language that Satchel's own words come in. A list may have one of them. */
export type Language = keyof typeof WORDS;

export const DEFAULT_LANGUAGE: Language = 'en';

/** Whom a page is for. */
export interface Reader {
  language: Language;
  words: Words;
  /** Whether their request chose the language, so that caches must tell such requests apart. */
  is_by_request: boolean;
}

/** Nobody in particular: for pages that come in one language. */
export const ANYBODY: Reader = {
  language: DEFAULT_LANGUAGE,
  words: WORDS[DEFAULT_LANGUAGE],
  is_by_request: false,
};

/** Whoever sent a request; `own` is the language of what the page is about, null where that has none. */
export function readerOf(request: Request, own: Language | null): Reader {
  const language = own ?? chosenBy(request.headers.get('accept-language')) ?? DEFAULT_LANGUAGE;
  return { language, words: WORDS[language], is_by_request: own === null };
}

/** RFC 9110, 12.4.2 */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The available language that `Accept-Language` (RFC 9110, 12.5.4) likes best, whatever the region; the first
 * of equal ones. `*` means the default. Null where it likes none. An invalid range is left out.
 */
function chosenBy(header: string | null): Language | null {
  let best: { language: Language; weight: number } | null = null;
  for (const range of (header ?? '').toLowerCase().split(',')) {
    const [tag = '', parameter = 'q=1'] = range.split(';').map((part) => part.trim());
    const weight = Number(WEIGHT.exec(parameter)?.[1] ?? 0);
    const primary = tag === '*' ? DEFAULT_LANGUAGE : (tag.split('-')[0] ?? '');
    if (isLanguage(primary) && weight > (best?.weight ?? 0)) best = { language: primary, weight };
  }
  return best?.language ?? null;
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(WORDS, tag);
}

/** A time to wait in words: whole minutes, above an hour and a half whole hours. */
export function waitInWords(seconds: number, { language }: Reader): string {
  const [count, unit] = seconds > 90 * 60 ? [seconds / 3600, 'hour'] : [seconds / 60, 'minute'];
  const format = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(language, format).format(Math.max(1, Math.ceil(count)));
}
