/** The endpoint that shows a mail while it is written. */
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import type { Previews } from './previews.ts';
import { draft, preview } from './schemas.ts';

export function previewRoutes(previews: Previews): Route[] {
  return [
    projectRoute({
      method: 'POST',
      path: '/email-templates/preview',
      only_reads: true,
      tag: 'Email templates',
      summary: 'Show a mail that is being written, and what is wrong with it',
      description:
        'As its reader would see it: a marketing mail in its layout, with the values of a contact or a sample. Nothing is ' +
        'stored, fetched, tracked or run; links stand as they were written, and the one that unsubscribes is a test’s. A placeholder ' +
        'without a value stands where it is. `problems` names values that are missing (missing_value), links that lead nowhere ' +
        '(dead_link: empty, `#`, relative, loopback, of other schemes) and a body of a marketing mail that cannot be left (no_unsubscribe).',
      body: draft,
      example: {
        subject: 'Hello {{first_name}}',
        body_markdown: 'See [the shop](https://example.com).',
        sample: true,
      },
      response: preview,
      handle: ({ caller, body }) => previews.preview(caller.project, body),
    }),
  ];
}
