/** Endpoints of a project's marketing settings. */
import type { ProjectCaller, Route } from '../../platform/http/routes.ts';
import { type Static, t } from '../../platform/http/schema.ts';
import { marketingRoute } from '../marketing-route.ts';
import { changes, shown_settings } from './schemas.ts';
import type { MarketingSettings } from './service.ts';

const TAG = 'Marketing settings';

export function marketingRoutes({ marketing }: { marketing: MarketingSettings }): Route[] {
  /** What a caller may change: others' changes of mailboxes are ignored. */
  const own = (caller: ProjectCaller, sent: Partial<Static<typeof changes>>) => {
    const { accounts: _, ...rest } = sent;
    return caller.manager ? sent : rest;
  };
  /**
   * The deployment's mailboxes are no business of a project: only the management plane shows and sets them,
   * and says what is missing.
   */
  const shown = (caller: ProjectCaller) => {
    const { accounts: named, ...rest } = marketing.settings(caller.project.id);
    return caller.manager ? { ...rest, accounts: named, lacks: marketing.lacks(caller.project.id) } : rest;
  };
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-marketing/settings',
      tag: TAG,
      summary: 'Marketing settings of the project',
      unversioned: ['mailboxes', 'captured', 'problem_of_links', 'lacks'],
      description:
        'The management plane adds `accounts`, the mailboxes that marketing may go out from, and `lacks`.',
      query: t.Object({ dns: t.Optional(t.Boolean({ description: 'Adds `mailboxes`, looked up now.' })) }),
      response: shown_settings,
      handle: ({ caller, query }) =>
        query.dns
          ? marketing.checkMailboxes(caller.project.id).then((mailboxes) => ({
              ...shown(caller),
              mailboxes,
              captured: marketing.isCaptured(caller.project.id),
              problem_of_links: marketing.problemOfLinks(caller.project.id),
            }))
          : shown(caller),
    }),
    ...marketingRoute({
      method: 'PATCH',
      path: '/email-marketing/settings',
      tag: TAG,
      summary: 'Change marketing settings',
      description: 'Only what is sent changes; null clears an optional field.',
      body: changes,
      example: {
        from_name: 'Shop',
        postal_address: 'Shop, 1 High Street, Springfield',
        brand_color: '#1a73e8',
      },
      response: shown_settings,
      errorsIn: ({ caller, body }) => marketing.errorsIn(caller.project.id, own(caller, body)),
      handle: async ({ caller, body }) => {
        await marketing.change(caller.project.id, own(caller, body), caller.note);
        return shown(caller);
      },
    }),
  ];
}
