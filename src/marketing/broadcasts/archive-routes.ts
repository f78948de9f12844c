/** What anybody may read of a list: its archive, each broadcast in it, and the feed. */
import { AppError } from '../../errors.ts';
import { listsTag } from '../../platform/files/ranges.ts';
import { pageResponse } from '../../platform/http/pages.ts';
import { openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { readerOf } from '../../platform/words/words.ts';
import { mailPage } from '../mails/service.ts';
import { lookOf } from '../subscriptions/service.ts';
import type { Archive, ListArchive } from './archive.ts';
import { archiveContent, feedLink, feedText } from './archive-pages.ts';

export function archiveRoutes({ archive }: { archive: Archive }): Route[] {
  const find = ({ params }: RequestContext) => archive.find(params.token ?? '');
  const route = (
    path: string,
    says: { summary: string; description?: string },
    answer: (of: ListArchive, ctx: RequestContext) => Response | Promise<Response>,
  ): Route =>
    openRoute({
      ...says,
      plane: 'page',
      method: 'GET',
      path: `/archive/:token${path}`,
      tag: 'Archives',
      also: { 304: 'Not changed: `If-None-Match` holds' },
      headers: { ETag: 'For `If-None-Match`.' },
      projectOf: (ctx) => find(ctx)?.owner.id ?? null,
      languageOf: (ctx) => find(ctx)?.list.language ?? null,
      handle: async ({ ctx }) => tagged(ctx, await answer(found(find(ctx)), ctx)),
    });
  return [
    route('', { summary: 'What was sent to a list, newest first, 20 a page (`?page=`)' }, (of, ctx) => {
      const issues = found(archive.issues(of, pageOf(ctx)));
      const reader = readerOf(ctx.request, of.list.language);
      const title = reader.words.archive.title({ list: of.list.name });
      const shown = { look: lookOf(of.brand), reader, head: feedLink(of) };
      const response = pageResponse(200, title, archiveContent(of, issues, reader), shown);
      // What is for everybody is to be found.
      response.headers.delete('X-Robots-Tag');
      return response;
    }),
    route('/feed.xml', { summary: 'The newest 20 of them as an Atom feed' }, (of) => {
      const text = feedText(of, found(archive.issues(of)));
      return new Response(text, { headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' } });
    }),
    route(
      '/:broadcast',
      {
        summary: 'One of them, as it is for nobody in particular',
        description:
          'Not tracked, and nothing in it runs. Links to leave lead to the sign-up page, without one to the archive.',
      },
      async (of, ctx) => mailPage(found(await archive.issue(of, ctx.params.broadcast ?? '')), {}),
    ),
  ];
}

/** Throws AppError `not_found` where it is null. */
function found<T>(what: T | null): T {
  if (what === null) throw new AppError('not_found', 'There is nothing at this address, or no longer.');
  return what;
}

/** Throws AppError `not_found` for what is no number of a page. */
function pageOf({ url }: RequestContext): number {
  const asked = url.searchParams.get('page') ?? '1';
  return Number(found(/^[1-9]\d{0,8}$/.exec(asked))[0]);
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
