/** What anybody may read of a list: its archive, each broadcast in it, and the feed. */
import { AppError } from '../../errors.ts';
import { listsTag } from '../../platform/files/ranges.ts';
import { pageResponse } from '../../platform/http/pages.ts';
import { openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { readerOf } from '../../platform/words/words.ts';
import { mailPage } from '../mails/service.ts';
import { lookOf } from '../subscriptions/service.ts';
import type { Archive, ListArchive } from './archive.ts';
import { archiveContent, feedLink, feedText } from './archive-pages.ts';

const nothing = (): AppError => new AppError('not_found', 'There is nothing at this address, or no longer.');

export function archiveRoutes({ archive }: { archive: Archive }): Route[] {
  const find = ({ params }: RequestContext): ListArchive => {
    const found = archive.find(params.token ?? '');
    if (!found) throw nothing();
    return found;
  };
  const common = {
    plane: 'page',
    method: 'GET',
    tag: 'Archives',
    also: { 304: 'Not changed: `If-None-Match` holds' },
    headers: { ETag: 'For `If-None-Match`.' },
    projectOf: ({ params }: RequestContext) => archive.find(params.token ?? '')?.owner.id ?? null,
    languageOf: ({ params }: RequestContext) => archive.find(params.token ?? '')?.list.language ?? null,
  } as const;
  return [
    openRoute({
      ...common,
      path: '/archive/:token',
      summary: 'What was sent to a list, newest first, 20 a page',
      query: t.Object({ page: t.Optional(t.Integer({ minimum: 1 })) }),
      handle: ({ ctx }) => {
        const of = find(ctx);
        const issues = archive.issues(of, pageOf(ctx));
        if (!issues) throw nothing();
        const reader = readerOf(ctx.request, of.list.language);
        const title = reader.words.archive.title({ list: of.list.name });
        const shown = { look: lookOf(of.brand), reader, head: feedLink(of) };
        const response = pageResponse(200, title, archiveContent(of, issues, reader), shown);
        // Who writes for everybody is to be found.
        response.headers.delete('X-Robots-Tag');
        return tagged(ctx, response);
      },
    }),
    openRoute({
      ...common,
      path: '/archive/:token/feed.xml',
      summary: 'The newest 20 of them as an Atom feed',
      handle: ({ ctx }) => {
        const of = find(ctx);
        const issues = archive.issues(of);
        if (!issues) throw nothing();
        const text = feedText(of, issues, readerOf(ctx.request, of.list.language ?? 'en').language);
        return tagged(
          ctx,
          new Response(text, { headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' } }),
        );
      },
    }),
    openRoute({
      ...common,
      path: '/archive/:token/:broadcast',
      summary: 'One of them, as it is for nobody in particular',
      description:
        'Not tracked, and nothing in it runs. Links to leave lead to the sign-up page, without one to the archive.',
      handle: async ({ ctx }) => {
        const html = await archive.issue(find(ctx), ctx.params.broadcast ?? '');
        if (html === null) throw nothing();
        return tagged(ctx, mailPage(html, {}));
      },
    }),
  ];
}

/** Throws AppError `not_found` for what is no number of a page. */
function pageOf({ url }: RequestContext): number {
  const asked = url.searchParams.get('page') ?? '1';
  if (!/^[1-9]\d{0,8}$/.test(asked)) throw nothing();
  return Number(asked);
}

/** The answer with its ETag, or that whoever asks has it already. What leaves an archive is gone at once: it is asked for anew each time. */
async function tagged({ request }: RequestContext, made: Response): Promise<Response> {
  const text = await made.text();
  const { headers } = made;
  const tag = `"${new Bun.CryptoHasher('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  headers.set('ETag', `W/${tag}`);
  headers.set('Cache-Control', 'no-cache');
  const known = request.headers.get('if-none-match');
  if (known === null || !listsTag(known, tag, 'weak')) return new Response(text, { headers });
  headers.delete('Content-Type');
  return new Response(null, { status: 304, headers });
}
