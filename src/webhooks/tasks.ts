/** What is done about webhooks by the clock. */
import type { CronEntry } from '../platform/jobs/scheduler.ts';
import type { Webhooks } from './service.ts';

export function webhookCronEntries(webhooks: Webhooks): CronEntry[] {
  return [
    { name: 'webhooks', expression: '19 3 * * *', at_start: true, run: () => webhooks.sweep() },
    { name: 'tries of webhooks', expression: '29 * * * *', at_start: true, run: () => webhooks.sweepTries() },
  ];
}
