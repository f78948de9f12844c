/** What is done by the clock: the schedules of apps, and tidying up at a quiet hour (UTC). */
import { mailCronEntries } from '../mail/mail.ts';
import { marketingCronEntries } from '../marketing/marketing.ts';
import type { CronEntry } from '../platform/jobs/scheduler.ts';
import type { Services } from './app.ts';

/** The districts of mail say themselves what is done for them. */
export function createCronEntries(services: Services): CronEntry[] {
  const { jobs, objects, bytes, uploads, variants, people, entry, webhooks, link_domains } = services;
  const { transfers, backup_schedule, idempotency, rates } = services;
  const at = (expression: string, name: string, run: CronEntry['run']): CronEntry => ({
    name,
    expression,
    run,
  });
  const alsoAtStart = (...[expression, name, run]: Parameters<typeof at>): CronEntry => ({
    ...at(expression, name, run),
    at_start: true,
  });
  return [
    ...mailCronEntries(services),
    alsoAtStart('11 3 * * *', 'job retention', () => jobs.sweep()),
    alsoAtStart('11 3 * * *', 'expired objects', () => objects.sweepExpired()),
    alsoAtStart('17 3 * * *', 'days of uploads', () => objects.sweepDays()),
    // They are looked for at each start too, in `App.start`.
    at('21 3 * * *', 'orphaned bytes', () => objects.sweepOrphans()),
    alsoAtStart('* * * * *', 'object store', () => bytes.tend()),
    alsoAtStart('41 3 * * *', 'keys of no object', () => bytes.sweepStoreDaily()),
    alsoAtStart('* * * * *', 'whole uploads', () => uploads.finishWhole()),
    alsoAtStart('37 * * * *', 'expired uploads', () => uploads.sweep()),
    alsoAtStart('31 3 * * *', 'image variants', () => variants.sweep()),
    at('49 * * * *', 'sessions', () => Promise.all([people.sweepLinks(), entry.sessions.sweep()])),
    ...marketingCronEntries(services),
    alsoAtStart('19 3 * * *', 'webhooks', () => webhooks.sweep()),
    alsoAtStart('29 * * * *', 'tries of webhooks', () => webhooks.sweepTries()),
    alsoAtStart('7 * * * *', 'link domains', () => link_domains.verifyAll()),
    // What broke off, and files whose day is over.
    alsoAtStart('41 * * * *', 'imports cut off', () => transfers.sweep()),
    alsoAtStart('43 * * * *', 'project files', async () => transfers.files.sweep()),
    // Whether the nightly one is due.
    alsoAtStart('* * * * *', 'nightly backup', () => backup_schedule.tick()),
    alsoAtStart('51 * * * *', 'idempotency keys', () => idempotency.sweep()),
    alsoAtStart('53 * * * *', 'rates', () => rates.sweep()),
  ];
}
