/** The endpoints that show a mail while it is written, and send it as a test. */
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import type { Previews } from './previews.ts';
import { draft, draft_test, draft_test_sent, preview } from './schemas.ts';

export function previewRoutes(previews: Previews): Route[] {
  return [
    projectRoute({
      method: 'POST',
      path: '/email-templates/preview',
      may_take_long: true,
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
    projectRoute({
      method: 'POST',
      path: '/email-templates/test',
      may_take_long: true,
      tag: 'Email templates',
      summary: 'Send a mail that is being written to an address, as a test',
      description:
        'What the preview of the same fields shows, marked as a test in its subject. It goes out at once, of a marketing mail from a ' +
        'mailbox that marketing may use, and counts nowhere; its link to unsubscribe does nothing.',
      status: 202,
      body: draft_test,
      example: {
        to: 'you@example.com',
        subject: 'Hello {{first_name}}',
        body_markdown: 'See [the shop](https://example.com).',
        sample: true,
      },
      response: draft_test_sent,
      handle: ({ caller, body }) => previews.sendTest(caller.project, body, caller.note),
    }),
  ];
}
