/** The endpoint of what an app that speaks SMTP is to be set to. */
import type { Keys } from '../../access/keys/service.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { smtpAnswer } from './schemas.ts';
import type { Submission } from './service.ts';

export function submissionRoutes({ keys, submission }: { keys: Keys; submission: Submission }): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/projects/:project/api-keys/:apiKey/smtp',
      tag: 'API keys',
      summary: 'What an app that sends by SMTP with a key is to be set to',
      description:
        'The password is the key; `tls` is from the first byte. null where no SMTP server is set: SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT opens one.',
      response: smtpAnswer,
      load: ({ ctx, caller }) => keys.getFor(caller, ctx.params.project ?? '', ctx.params.apiKey ?? ''),
      handle: () => ({ smtp: submission.access() }),
    }),
  ];
}
