/** The words that strangers read: each language has all of them, and each reader gets theirs. */
import { describe, expect, test } from 'bun:test';
import { LANGUAGES } from '../../../src/marketing/lists/tables.ts';
import { readerOf, WORDS, waitInWords } from '../../../src/platform/words/words.ts';

/** Each text with where it stands. What has values put into it is filled with their names. */
function textsOf(words: object, at = ''): Map<string, string> {
  const named = new Proxy({}, { get: (_, name) => `<${String(name)}>` });
  return new Map(
    Object.entries(words).flatMap(([key, value]): [string, string][] => {
      const path = `${at}${key}`;
      if (typeof value === 'function') return [[path, String(value(named))]];
      return typeof value === 'string' ? [[path, value]] : [...textsOf(value, `${path}.`)];
    }),
  );
}

const valuesIn = (text: string | undefined): string[] => (text?.match(/<\w+>/g) ?? []).toSorted();

test('there are words in every language that a list may have, and in no other', () => {
  expect(Object.keys(WORDS).toSorted()).toEqual([...LANGUAGES].toSorted());
});

describe.each(['de', 'fr', 'es'] as const)('%s', (language) => {
  const english = textsOf(WORDS.en);
  const texts = textsOf(WORDS[language]);

  test('has every text, in words of its own', () => {
    expect([...texts.keys()].toSorted()).toEqual([...english.keys()].toSorted());
    for (const [key, text] of texts) {
      expect([key, text.trim()]).not.toEqual([key, '']);
      expect([key, text]).not.toEqual([key, english.get(key) ?? '']);
    }
  });

  test('names in each text what English does', () => {
    for (const [key, text] of texts) expect([key, valuesIn(text)]).toEqual([key, valuesIn(english.get(key))]);
  });
});

describe('a reader', () => {
  const languageFor = (accepts: string | null, own: 'fr' | null = null) =>
    readerOf(
      new Request('http://x.example/', accepts === null ? {} : { headers: { 'Accept-Language': accepts } }),
      own,
    ).language;

  test('gets what their browser likes best of the languages that there are', () => {
    for (const [accepts, language] of [
      ['de', 'de'],
      ['de-AT', 'de'],
      ['FR-ca, en;q=0.5', 'fr'],
      ['en;q=0.3, es;q=0.7, de;q=0.5', 'es'],
      ['it, pt;q=0.9, fr;q=0.1', 'fr'],
      ['es, fr', 'es'],
      ['de;q=0.500,fr;q=0.501', 'fr'],
      ['*', 'en'],
      ['*;q=0.5, de;q=0.4', 'en'],
      ['fr;q=0, de;q=0.1', 'de'],
      ['de ; q=0.2 , fr ; q=0.3', 'fr'],
    ] as const)
      expect([accepts, languageFor(accepts)]).toEqual([accepts, language]);
  });

  test('gets English where nothing fits, or nothing is said that can be understood', () => {
    for (const accepts of [
      null,
      '',
      'it',
      'de;q=0',
      'deutsch',
      'de;q=high',
      'de;q=2',
      'fr;q=-1',
      'constructor',
      ',;,;q=',
    ])
      expect([accepts, languageFor(accepts)]).toEqual([accepts, 'en']);
  });

  test('gets the language of what the page is about before their own', () => {
    expect(languageFor('de', 'fr')).toBe('fr');
  });

  test('is told how long to wait in whole units, rounded up', () => {
    const inWords = (seconds: number, accepts: string) =>
      waitInWords(
        seconds,
        readerOf(new Request('http://x.example/', { headers: { 'Accept-Language': accepts } }), null),
      );
    expect(inWords(1, 'en')).toBe('1 minute');
    expect(inWords(61, 'de')).toBe('2 Minuten');
    expect(inWords(90 * 60, 'fr')).toBe('90 minutes');
    expect(inWords(90 * 60 + 1, 'es')).toBe('2 horas');
  });
});
