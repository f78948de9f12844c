/** What `satchel doctor` asks of reports about domains: whether our own mail passes at receivers. */
import { about, type HealthCheck, warning } from '../../platform/host/health-check.ts';
import type { DomainReports } from './service.ts';

/** Contract: of so many mails of a week, one in so many that is not aligned. */
const ENOUGH_MAILS = 100;
const ONE_IN = 20;

export function domainReportChecks({ domain_reports }: { domain_reports: DomainReports }): HealthCheck[] {
  const check = 'domain reports';
  return [
    {
      check,
      run: () =>
        domain_reports
          .listOwnMail()
          .filter(({ count, unaligned }) => count >= ENOUGH_MAILS && unaligned * ONE_IN >= count)
          .map(({ name, count, unaligned }) =>
            about(
              'sending_domain',
              name,
              warning(
                check,
                `${name}: receivers report that ${unaligned} of ${count} mails of the last week from this server's relays passed neither DKIM nor SPF in its name.`,
                `satchel domain verify ${name}; satchel domain reports ${name}`,
              ),
            ),
          ),
    },
  ];
}
