/** What is done for projects by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { LinkDomains } from './link-domains.ts';

export function projectCronEntries({ link_domains }: { link_domains: LinkDomains }): CronEntry[] {
  return [
    { name: 'link domains', expression: '7 * * * *', at_start: true, run: () => link_domains.verifyAll() },
  ];
}
