/** The words of public pages and of the layout of marketing mail: one file a language, each with every key. */
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';

export type Words = typeof en;

export const WORDS = { en, de, fr, es } satisfies Record<string, Words>;

/** A language that Satchel's own words come in. A list may have one of them. */
export type Language = keyof typeof WORDS;

export const DEFAULT_LANGUAGE: Language = 'en';
