/** What is done for reports about domains by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { DomainReports } from './service.ts';

export function domainReportCronEntries(domain_reports: DomainReports): CronEntry[] {
  return [
    { name: 'domain reports', expression: '49 3 * * *', at_start: true, run: () => domain_reports.sweep() },
  ];
}
