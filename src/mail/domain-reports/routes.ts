/** The endpoint of what receivers reported of a domain. */
import { ADMINISTER } from '../../platform/http/callers.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { daysQuery, domainReportsRecord } from './schemas.ts';
import type { DomainReports } from './service.ts';

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
