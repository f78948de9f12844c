/** Endpoints of emails: sending, the log, and cancelling what is scheduled. */

import { CSV_ANSWER, csvResponse } from '../../platform/http/csv.ts';
import { hashRequest, idempotentRequest, REPLAYED_HEADERS } from '../../platform/http/idempotency.ts';
import { bothPlanes, projectRoute, Reply, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { EmailBatches } from './batches.ts';
import {
  batchBody,
  batchResult,
  CONTENT_FIELDS,
  emailContent,
  emailListQuery,
  emailLogQuery,
  emailRecord,
  sendBody,
  sendResult,
} from './schemas.ts';
import type { Emails } from './service.ts';

const TAG = 'Emails';

export function emailRoutes(emails: Emails, batches: EmailBatches): Route[] {
  return [...sendingRoutes(emails, batches), ...logRoutes(emails)];
}

function sendingRoutes(emails: Emails, batches: EmailBatches): Route[] {
  return [
    ...bothPlanes({
      method: 'POST',
      path: '/emails/send',
      needs: ['email'],
      status: 202,
      also: { 201: 'Sent (`queue` is false), or scheduled (`scheduled_at`)' },
      is_idempotent: true,
      tag: TAG,
      summary: 'Send one email',
      description:
        'Raw, or from a template. Queued (202) unless `queue` is false or `scheduled_at` is given (201). ' +
        'With an Idempotency-Key the same request is answered once more instead of sent once more, with the header ' +
        '`Idempotent-Replayed: true`. A relay that has not answered within 30 s, or lost contact after the message, makes it a 503 with ' +
        'the code `outcome_unknown`, `email_id` and `job_id`: the log tells how it ends, and the same key answers the same.',
      body: sendBody,
      example: { to: 'ann@example.org', subject: 'Hello', body_text: 'Your order is on its way.' },
      response: sendResult,
      together: CONTENT_FIELDS,
      errorsIn: ({ caller, body }) => emails.errorsIn(caller, body),
      async handle({ ctx, caller, body, raw, acceptAgain }) {
        // A relay may take longer over its answer than a connection may be idle.
        if (body.queue === false) ctx.keepOpen();
        const answer = await emails.send(caller, body, {
          idempotency: idempotentRequest(caller, ctx.request.headers, acceptAgain),
          hash: () => hashRequest('POST', '/emails/send', raw),
          ip: ctx.ip,
          user_agent: ctx.user_agent,
        });
        return new Reply(answer.status, answer.value, answer.is_replayed ? REPLAYED_HEADERS : {});
      },
    }),
    ...bothPlanes({
      method: 'POST',
      path: '/emails/batch',
      needs: ['email'],
      status: 202,
      family: 'wrapped',
      is_idempotent: true,
      tag: TAG,
      summary: 'Send many emails',
      description:
        'Each as POST /emails/send takes it, but for `queue: false`; all are accepted or none. What is wrong with one is told under ' +
        'its place: `emails.1.to`. A batch counts as one request, and each of its emails towards the daily limits: where not all ' +
        'have room, it is 429. One Idempotency-Key is for the whole batch.',
      body: batchBody,
      example: {
        emails: [
          { to: 'ann@example.org', subject: 'Hello Ann', body_text: 'Your order is on its way.' },
          { to: 'bob@example.org', subject: 'Hello Bob', body_text: 'Your order is ready.' },
        ],
      },
      response: t.Array(batchResult),
      async handle({ ctx, caller, body, raw, acceptAgain }) {
        const answer = await batches.send(caller, body.emails, {
          idempotency: idempotentRequest(caller, ctx.request.headers, acceptAgain),
          hash: () => hashRequest('POST', '/emails/batch', raw),
          ip: ctx.ip,
          user_agent: ctx.user_agent,
        });
        return new Reply(answer.status, answer.value, answer.is_replayed ? REPLAYED_HEADERS : {});
      },
    }),
  ];
}

function logRoutes(emails: Emails): Route[] {
  return [
    ...bothPlanes({
      method: 'GET',
      path: '/emails',
      needs: ['read'],
      tag: TAG,
      summary: 'The email log, newest first',
      query: emailListQuery,
      response: emailRecord,
      handle: ({ caller, query }) => emails.list(caller.project, query),
    }),
    ...bothPlanes({
      method: 'GET',
      path: '/emails.csv',
      needs: ['read'],
      tag: TAG,
      summary: 'The email log as CSV, newest first',
      description:
        'All that the filters fit. Columns are the fields of an email; copies stand with commas between, attachments and refusals ' +
        'as JSON. What a spreadsheet would take for a formula is prefixed with an apostrophe. It stands on the audit trail, by keys too.',
      query: emailLogQuery,
      ...CSV_ANSWER,
      handle: async ({ ctx, caller, query }) => {
        ctx.keepOpen();
        return csvResponse('emails.csv', await emails.export(caller.project, query, caller.record));
      },
    }),
    ...bothPlanes({
      method: 'GET',
      path: '/emails/:id',
      needs: ['read'],
      tag: TAG,
      summary: 'The delivery record of one email',
      response: emailRecord,
      load: ({ ctx, caller }) => emails.get(caller.project, ctx.params.id ?? ''),
      handle: ({ resource }) => resource,
    }),
    projectRoute({
      method: 'GET',
      path: '/emails/:id/content',
      tag: TAG,
      summary: 'What an email says',
      description:
        'Its headers and bodies. Tokens in links to this server stand as `…`: whoever looks at a mail is not its reader, ' +
        'and neither counts as an opening or a click nor leaves or confirms a list.',
      response: emailContent,
      handle: ({ ctx, caller }) => emails.readContent(caller.project, ctx.params.id ?? ''),
    }),
    projectRoute({
      method: 'GET',
      path: '/emails/:id/message',
      tag: TAG,
      summary: 'The message of an email that came whole: by SMTP, or by the API of Resend or Mailgun',
      description:
        'As it is sent, but without our signature. 404 for mail that came otherwise, and once it is no longer kept.',
      response: t.String(),
      produces: 'message/rfc822',
      headers: { 'Content-Disposition': '`attachment`, and a file name.' },
      async handle({ ctx, caller }) {
        const { name, bytes } = await emails.readMessage(caller.project, ctx.params.id ?? '');
        return new Response(bytes, {
          headers: {
            'content-type': 'message/rfc822',
            'content-disposition': `attachment; filename="${name}"`,
          },
        });
      },
    }),
    ...bothPlanes({
      method: 'DELETE',
      path: '/emails/:id/schedule',
      needs: ['email'],
      tag: TAG,
      summary: 'Cancel a scheduled email',
      description: 'Answers its log. 409 when it is not scheduled any more.',
      response: emailRecord,
      handle: ({ ctx, caller }) => emails.cancel(caller.project, ctx.params.id ?? '', caller.note),
    }),
  ];
}
