/** The handbook for tools of assistants. These stand in no list of routes: tools alone reach them. */
import { notFound } from '../../errors.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { guideText, readGuides } from './guides.ts';
import { createDocsSearch } from './search.ts';

const MAX_WORDS_CHARS = 200;

export function handbookRoutes(): Route[] {
  let search: ReturnType<typeof createDocsSearch> | undefined;
  const asked = { method: 'GET', tag: 'MCP' } as const;
  return [
    managementRoute({
      ...asked,
      path: '/mcp/handbook',
      summary: 'Search the handbook',
      query: t.Object({ q: text({ min: 1, max: MAX_WORDS_CHARS, description: 'Words to look for.' }) }),
      async handle({ query: { q } }) {
        search ??= createDocsSearch({});
        const { found } = (await search)(q);
        return found.map(({ title, where, href, excerpt }) => ({
          name: href.replace(/^.*\/|#.*$/g, ''),
          guide: where,
          section: title,
          excerpt,
        }));
      },
    }),
    managementRoute({
      ...asked,
      path: '/mcp/handbook/guide',
      summary: 'A guide of the handbook',
      query: t.Object({
        name: t.String({
          description: `One of ${readGuides()
            .map(({ name }) => name)
            .join(', ')}.`,
        }),
      }),
      handle({ query: { name } }) {
        const markdown = guideText(name);
        if (markdown === null) throw notFound('Guide');
        return { name, markdown };
      },
    }),
  ];
}
