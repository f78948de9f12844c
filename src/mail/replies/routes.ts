/** The endpoint of replies. */
import { pageQuery } from '../../platform/http/pagination.ts';
import { projectRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { replyRecord } from './schemas.ts';
import type { Replies } from './service.ts';

export function replyRoutes({ replies }: { replies: Replies }): Route[] {
  return [
    projectRoute({
      method: 'GET',
      path: '/emails/:id/replies',
      tag: 'Emails',
      summary: 'What people answered to an email, newest first',
      description:
        'Those that came to the inbox of its mailbox, or of another of its domain, for 90 days. Automatic ones stand in its story alone.',
      query: t.Object(pageQuery),
      response: t.Array(replyRecord),
      handle: ({ ctx, caller, query }) => replies.list(caller.project, ctx.params.id ?? '', query),
    }),
  ];
}
