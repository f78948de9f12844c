/** The addresses in marketing mail, which are links and the picture that tells of an opening; and previews of what is being written. */
import type { Database } from '../../platform/database/database.ts';
import { pageResponse, paragraphs } from '../../platform/http/pages.ts';
import { openRoute, projectRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { readerOf } from '../../platform/words/words.ts';
import type { Previews } from './previews.ts';
import { draft, draft_test, draft_test_sent, preview } from './schemas.ts';
import { type Clicks, type MarketingMail, mailPage } from './service.ts';

const TAG = 'Links in mail';

/** One transparent pixel (GIF89a). */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

export interface MarketingMailRouteDeps {
  marketing_mail: MarketingMail;
  clicks: Clicks;
  database: Database;
}

export function marketingMailRoutes({ marketing_mail, clicks, database }: MarketingMailRouteDeps): Route[] {
  const { links } = marketing_mail;
  const unknown = (ctx: RequestContext) => {
    const reader = readerOf(ctx.request, null);
    const { unknown_title, unknown: text } = reader.words.link;
    return pageResponse(404, unknown_title, paragraphs(text), { reader });
  };
  const hidden = (ctx: RequestContext) => {
    const reader = readerOf(ctx.request, null);
    const { hidden_title, hidden: text } = reader.words.link;
    return pageResponse(200, hidden_title, paragraphs(text), { reader });
  };
  const pictured = ({ params }: RequestContext) => /^(.+)\.gif$/.exec(params.token ?? '')?.[1] ?? '';
  const { pages } = marketing_mail;
  return [
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/view/:token',
      tag: TAG,
      languageOf: () => null,
      summary: 'A mail of a sequence or broadcast in a browser',
      description:
        'As long as the log has its content, 30 days at most. Its links stand as they were written, but those of its reader: to leave, ' +
        'and to choose what they get. Nothing in it runs, and nothing of it is counted.',
      projectOf: ({ params }) => pages.find(params.token ?? '')?.project_id ?? null,
      handle: async ({ ctx }) => {
        const mail = pages.find(ctx.params.token ?? '');
        if (!mail) return unknown(ctx);
        return mailPage(await pages.ofMail(mail), {
          'Cache-Control': 'private, no-store',
          'X-Robots-Tag': 'noindex',
        });
      },
    }),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/c/:token',
      tag: TAG,
      languageOf: () => null,
      summary: 'A link of a marketing mail',
      description:
        'Redirects to where the mail says, and nowhere else: 302, or 404 for a token that was not made here; 200 with a page ' +
        'for the link that no reader sees. Scanners and HEAD requests are told apart from people and count as nobody.',
      also: { 302: 'The target' },
      projectOf: ({ params }) => links.projectOfLink(database.read, params.token ?? ''),
      handle: ({ ctx }) => {
        const token = ctx.params.token ?? '';
        const mail = links.mailOf(database.read, token);
        if (mail?.is_counted) clicks.trap(mail.email_id, ctx.request);
        if (mail) return hidden(ctx);
        const link = links.follow(database.read, token);
        if (!link) return unknown(ctx);
        if (link.is_counted) clicks.click(link, ctx.request);
        return new Response(null, {
          status: 302,
          headers: { Location: link.url, 'X-Robots-Tag': 'noindex, nofollow' },
        });
      },
    }),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/o/:token',
      tag: TAG,
      languageOf: () => null,
      summary: 'The picture that tells of an opening',
      description: 'In mail of sequences and broadcasts with `track_opens` alone. It drives no condition.',
      projectOf: (ctx) => links.projectOfLink(database.read, pictured(ctx)),
      handle: ({ ctx }) => {
        const mail = links.mailOf(database.read, pictured(ctx));
        if (!mail) return unknown(ctx);
        if (mail.is_counted) clicks.open(mail.email_id, ctx.request);
        return new Response(PIXEL, { headers: { 'Content-Type': 'image/gif' } });
      },
    }),
  ];
}

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
