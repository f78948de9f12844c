/** The endpoint that shows what strangers see while its settings are typed. */
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import { pages_draft, pages_preview } from './preview-schemas.ts';
import type { PagePreviews } from './previews.ts';

export function pagePreviewRoutes(previews: PagePreviews): Route[] {
  return [
    projectRoute({
      method: 'POST',
      path: '/email-marketing/pages/preview',
      may_take_long: true,
      only_reads: true,
      tag: 'Sign-up forms',
      summary: 'Show the public pages and mails as strangers see them, by settings as they are typed',
      description:
        'To sign up, confirm, unsubscribe and choose, for a sample reader, in the language of the list or else of `language`; ' +
        'the mail that asks to confirm, and a sample newsletter. The same code makes what strangers get. Nothing is stored, and no form or link in it acts for anybody.',
      body: pages_draft,
      example: { settings: { brand_name: 'Corner shop', brand_color: '#1a73e8' }, language: 'de' },
      response: pages_preview,
      handle: ({ caller, body }) => previews.preview(caller.project, body),
    }),
  ];
}
