/** The management plane's endpoints of whom doctor tells. */
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { alertsChanges, alertsRecord, alertsTest } from './schemas.ts';
import type { Alerts } from './service.ts';

const needs = [ADMINISTER] as const;
const tag = 'Overview';
const path = '/alerts';

export function alertRoutes(alerts: Alerts): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path,
      needs,
      tag,
      summary: 'Who is told of problems',
      description: 'Of the URL its scheme and host; `problem` says where alerts do not arrive, and why.',
      response: alertsRecord,
      unversioned: ['last_sent_at', 'problem'],
      handle: () => alerts.show(),
    }),
    managementRoute({
      method: 'PUT',
      path,
      needs,
      tag,
      summary: 'Have problems told',
      description:
        'What is left out stays, null takes it away. A problem that `GET /findings` knows is told within a minute of being found, again ' +
        'after a day while it lasts, and once more when it is mended; what is found within ten seconds is one message, and there are six ' +
        'an hour at most. The server looks at everything hourly, and each minute at mailboxes, backups, the disk, the certificate, the ' +
        'object store and the replica. The mail goes through a mailbox of the default domain, else through any that delivers, and is in no ' +
        'log. To the URL goes a POST: `json` is `{text, findings: [{id, check, status, message, remedy, state, since}], url}`, with a state of ' +
        '`new`, `still` or `mended` and the URL of the console.',
      body: alertsChanges,
      example: { email: ['ops@example.com'], url: 'https://ntfy.sh/a-secret-topic', format: 'ntfy' },
      response: alertsRecord,
      errorsIn: ({ body }) => alerts.errorsIn(body),
      handle: ({ caller, ctx, body }) => alerts.set(actorOf(caller, ctx.ip), body),
    }),
    managementRoute({
      method: 'POST',
      path: `${path}/test`,
      needs,
      tag,
      summary: 'Send a test to all that are told',
      description:
        'The answer comes once each has taken it, or has not: a relay that hangs is given half a minute. 409 where nobody is told.',
      response: alertsTest,
      async handle({ caller, ctx }) {
        ctx.keepOpen();
        return alerts.test(actorOf(caller, ctx.ip));
      },
    }),
  ];
}
