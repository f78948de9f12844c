/** The search of the documentation: over the sections of the guides and the endpoints. */
import MiniSearch from 'minisearch';
import { letOthers } from '../../platform/host/waiting.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { readGuides } from './guides.ts';
import { KNOWN_AS, SMALL_WORDS } from './known-as.ts';
import { membersOf, referenceHref } from './reference.ts';

export interface Found {
  title: string;
  /** The guide's name, or the group of an endpoint. */
  where: string;
  href: string;
  /** The text around the first word that was looked for. */
  excerpt: string;
}

interface Entry {
  id: number;
  title: string;
  where: string;
  href: string;
  text: string;
  /** By which other words it is looked for. */
  known_as: string;
}

const MAX_FOUND = 40;
/** So many sections take about 5 ms. */
const PIECE = 50;
/** Anybody may search, and each word in everything: a hundred letters would take 50 ms of others' time. */
const MAX_WORDS = 10;
const tokenize: (text: string) => string[] = MiniSearch.getDefault('tokenize');
const EXCERPT_CHARS = 200;

export interface Search {
  found: Found[];
  /** Nothing has all of the words: these have some of them. */
  is_part: boolean;
}

/**
 * Searches guides and this OpenAPI document, by beginnings, slight misspellings and other names. The index is
 * made a piece a turn.
 */
export async function createDocsSearch(openapi: Record<string, unknown>): Promise<(words: string) => Search> {
  const sections = sectionsOfGuides();
  const entries = [...sections, ...endpointsOf(openapi)].map((entry, id) => ({ ...entry, id }));
  const index = new MiniSearch<Entry>({
    fields: ['title', 'where', 'text', 'known_as'],
    searchOptions: {
      boost: { title: 4, where: 2, known_as: 4 },
      // Endpoints are many, and short: without this a guide that explains them would stand behind them all.
      boostDocument: (id) => (Number(id) < sections.length ? 12 : 1),
      prefix: true,
      fuzzy: 0.2,
    },
  });
  for (let from = 0; from < entries.length; from += PIECE) {
    index.addAll(entries.slice(from, from + PIECE));
    await letOthers();
  }
  const look = (terms: readonly string[], combineWith: 'AND' | 'OR'): Found[] =>
    index
      .search({ combineWith, queries: [...terms] })
      .slice(0, MAX_FOUND)
      .flatMap(({ id, terms: matched }) => {
        const entry = entries[Number(id)];
        return entry ? [{ ...entry, excerpt: excerptOf(entry.text, matched) }] : [];
      });
  return (words) => {
    const terms = termsOf(words);
    const found = look(terms, 'AND');
    return found.length > 0 || terms.length < 2
      ? { found, is_part: false }
      : { found: look(terms, 'OR'), is_part: true };
  };
}

/** The words that say something, each once. */
function termsOf(words: string): string[] {
  const all = [...new Set(tokenize(words.toLowerCase()))].filter((word) => word !== '');
  const telling = all.filter((word) => !SMALL_WORDS.has(word));
  return (telling.length > 0 ? telling : all).slice(0, MAX_WORDS);
}

function sectionsOfGuides(): Omit<Entry, 'id'>[] {
  return readGuides().flatMap((guide) =>
    guide.sections.map(({ id, title, text }) => {
      const place = `${guide.name}${id === '' ? '' : `#${id}`}`;
      const known_as = Object.hasOwn(KNOWN_AS, place) ? (KNOWN_AS[place] ?? '') : '';
      return { title, text, known_as, where: guide.title, href: `/docs/guide/${place}` };
    }),
  );
}

function endpointsOf(openapi: Record<string, unknown>): Omit<Entry, 'id'>[] {
  return membersOf(openapi.paths).flatMap(([path, methods]) =>
    membersOf(methods).map(([method, operation]) => {
      const { summary, description, tags, operationId } = isPlainObject(operation) ? operation : {};
      const group = Array.isArray(tags) ? String(tags[0]) : '';
      return {
        title: `${method.toUpperCase()} ${path}`,
        where: group,
        href: referenceHref(group, String(operationId)),
        text: [summary, description]
          .filter((each) => typeof each === 'string')
          .join('. ')
          .replaceAll('`', ''),
        known_as: '',
      };
    }),
  );
}

/** `terms` are words as the index has them: in lower case. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const first = Math.min(...terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0), text.length);
  if (text.length <= EXCERPT_CHARS || first === text.length) return cut(text, 0);
  return cut(text, Math.max(0, text.lastIndexOf(' ', Math.max(0, first - EXCERPT_CHARS / 4)) + 1));
}

function cut(text: string, from: number): string {
  const rest = text.slice(from);
  const end = rest.length <= EXCERPT_CHARS ? rest.length : rest.lastIndexOf(' ', EXCERPT_CHARS);
  return `${from > 0 ? '… ' : ''}${rest.slice(0, end)}${end < rest.length ? ' …' : ''}`;
}
