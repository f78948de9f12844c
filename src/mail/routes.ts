/** The endpoints of those nouns of mail that have one each. */

import type { Keys } from '../access/keys/service.ts';
import { ADMINISTER } from '../platform/http/callers.ts';
import { pageQuery } from '../platform/http/pagination.ts';
import { managementRoute, projectRoute, type Route } from '../platform/http/routes.ts';
import { t } from '../platform/http/schema.ts';
import { type DomainReports, daysQuery, domainReportsRecord } from './domain-reports/service.ts';
import { type Replies, replyRecord } from './replies/service.ts';
import { type Submission, smtpAnswer } from './submission/service.ts';

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

export function domainReportRoutes({ domain_reports }: { domain_reports: DomainReports }): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/sending-domains/:name/reports',
      needs: [ADMINISTER],
      tag: 'Sending domains',
      summary: 'Who sends in the name of a domain, by what receivers report',
      description:
        'DMARC and TLS reports that came to an inbox of any mailbox, by the day on which each ends. Anybody can write one: nothing acts on them.',
      query: daysQuery,
      response: domainReportsRecord,
      handle: ({ ctx, query }) => domain_reports.get(ctx.params.name ?? '', query.days),
    }),
  ];
}

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
