/** Words of public pages and of marketing mail's layout: a file for each language, with every key. */
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export type Words = typeof en;

export const WORDS = { en, de, fr, es } satisfies Record<string, Words>;

/** A language that Satchel's own words come in. A list may have one of them. */
export type Language = keyof typeof WORDS;

export const DEFAULT_LANGUAGE: Language = 'en';
