/** What is done for sending domains by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { SendingDomains } from './service.ts';

export function sendingDomainCronEntries(domains: SendingDomains): CronEntry[] {
  return [
    { name: 'DKIM rotation', expression: '0 * * * *', at_start: true, run: () => domains.lookForNewKeys() },
  ];
}
