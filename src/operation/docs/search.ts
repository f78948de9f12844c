/** The search of the documentation: over the sections of the guides and the endpoints. */
import MiniSearch from 'minisearch';
import { isPlainObject } from '../../platform/http/schema.ts';
import { readGuides } from './guides.ts';

export interface Found {
  title: string;
  /** The guide's name, or the group of an endpoint. */
  where: string;
  href: string;
  /** What stands around the first word that was looked for. */
  excerpt: string;
}

interface Entry {
  id: number;
  title: string;
  where: string;
  href: string;
  text: string;
}

const MAX_FOUND = 30;
/** Anybody may search, and each word is looked for in everything: a hundred single letters would hold all others up for 50 ms. */
const MAX_WORDS = 10;
const tokenize: (text: string) => string[] = MiniSearch.getDefault('tokenize');
const EXCERPT_CHARS = 200;

/** Looks into the guides and this OpenAPI document. Words may be beginnings, or misspelt a little. */
export function createDocsSearch(openapi: Record<string, unknown>): (words: string) => Found[] {
  const sections = sectionsOfGuides();
  const entries = [...sections, ...endpointsOf(openapi)].map((entry, id) => ({ ...entry, id }));
  const index = new MiniSearch<Entry>({
    fields: ['title', 'where', 'text'],
    searchOptions: {
      boost: { title: 4, where: 2 },
      // Endpoints are many, and short: without this a guide that explains them would stand behind them all.
      boostDocument: (id) => (Number(id) < sections.length ? 12 : 1),
      prefix: true,
      combineWith: 'AND',
      fuzzy: 0.2,
      tokenize: (words) => [...new Set(tokenize(words.toLowerCase()))].slice(0, MAX_WORDS),
    },
  });
  index.addAll(entries);
  return (words) =>
    index
      .search(words)
      .slice(0, MAX_FOUND)
      .flatMap(({ id, terms }) => {
        const entry = entries[Number(id)];
        return entry ? [{ ...entry, excerpt: excerptOf(entry.text, terms) }] : [];
      });
}

function sectionsOfGuides(): Omit<Entry, 'id'>[] {
  return readGuides().flatMap((guide) =>
    guide.sections.map(({ id, title, text }) => ({
      title,
      text,
      where: guide.title,
      href: `/docs/guide/${guide.name}${id === '' ? '' : `#${id}`}`,
    })),
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
        // As Swagger UI links to an operation.
        href: `/docs#/${encodeURIComponent(group)}/${String(operationId)}`,
        text: [summary, description]
          .filter((each) => typeof each === 'string')
          .join('. ')
          .replaceAll('`', ''),
      };
    }),
  );
}

function membersOf(value: unknown): [string, unknown][] {
  return isPlainObject(value) ? Object.entries(value) : [];
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
