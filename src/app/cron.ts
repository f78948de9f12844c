/** All that is done by the clock, in one list: the schedules of apps, and tidying up at a quiet hour (UTC). */
import { sweepWords } from '../marketing/campaigns.ts';
import type { CronEntry } from '../platform/jobs/scheduler.ts';
import type { Services } from './app.ts';
import { urgentChecks } from './urgent-checks.ts';

/** The entries of every noun that has any. */
export function createCronEntries(services: Services): CronEntry[] {
  const { schedules, sending_domains, emails, deliveries, domain_reports, replies, objects, bytes } =
    services;
  const { uploads, variants, people, entry, webhooks, link_domains, jobs, transfers } = services;
  const { backup_schedule, idempotency, rates, contacts, privacy, imports, subscriptions } = services;
  const { alerts, heartbeat, mailgun } = services;
  const urgent = urgentChecks(services);
  const { sequences, sequence_life, going_on, broadcasts, broadcast_life, templates } = services;
  return [
    // Contract: every active schedule is looked at each minute; at the start too, as a restart may have missed one.
    atStart('email-schedules', '* * * * *', () => schedules.queueDueRuns()),
    atStart('DKIM rotation', '0 * * * *', () => sending_domains.lookForNewKeys()),
    atStart('email retention', '41 3 * * *', () => emails.sweep()),
    atStart('late attempts', '31 * * * *', () => deliveries.mendTimes()),
    atStart('contents of calls', '41 3 * * *', () => mailgun.sweep()),
    atStart('captured messages', '43 3 * * *', () => deliveries.sweep()),
    atStart('domain reports', '49 3 * * *', () => domain_reports.sweep()),
    atStart('replies', '47 3 * * *', () => replies.sweep()),
    atStart('job retention', '11 3 * * *', () => jobs.sweep()),
    atStart('expired objects', '11 3 * * *', () => objects.sweepExpired()),
    atStart('days of uploads', '17 3 * * *', () => objects.sweepDays()),
    // Bytes without a row are looked for at each start too, in `App.start`.
    { name: 'orphaned bytes', expression: '21 3 * * *', run: () => objects.sweepOrphans() },
    atStart('object store', '* * * * *', () => bytes.tend()),
    atStart('keys of no object', '41 3 * * *', () => bytes.sweepStoreDaily()),
    atStart('whole uploads', '* * * * *', () => uploads.finishWhole()),
    atStart('expired uploads', '37 * * * *', () => uploads.sweep()),
    atStart('image variants', '31 3 * * *', () => variants.sweep()),
    {
      name: 'sessions',
      expression: '49 * * * *',
      run: () => Promise.all([people.sweepLinks(), entry.sessions.sweep(), entry.passkeys.sweep()]),
    },
    atStart('tokens of trusts', '27 * * * *', () => services.tokens.sweep()),
    atStart('contacts of deleted projects', '*/10 * * * *', () => contacts.sweep()),
    atStart('addresses to forget', '41 * * * *', () => privacy.goOn()),
    atStart('rejected rows', '31 3 * * *', () => imports.sweep()),
    atStart('confirmations', '33 3 * * *', () => subscriptions.sweep()),
    atStart('finished sequences', '37 * * * *', () => sequence_life.sweep()),
    atStart('late enrollments', '29 * * * *', () => going_on.mendTimes()),
    atStart('open broadcasts', '31 * * * *', () => broadcast_life.mend()),
    atStart('words of nothing', '39 3 * * *', () => sweepWords(templates, [sequences, broadcasts])),
    atStart('past of vaults', '23 3 * * *', () => services.vault_versions.sweep()),
    atStart('webhooks', '19 3 * * *', () => webhooks.sweep()),
    atStart('tries of webhooks', '29 * * * *', () => webhooks.sweepTries()),
    atStart('link domains', '7 * * * *', () => link_domains.verifyAll()),
    atStart('imports cut off', '41 * * * *', () => transfers.sweep()),
    atStart('project files', '43 * * * *', async () => transfers.files.sweep()),
    atStart('nightly backup', '* * * * *', () => backup_schedule.tick()),
    { name: 'alerts', expression: '* * * * *', run: () => alerts.tick(urgent) },
    atStart('heartbeat', '*/5 * * * *', () => heartbeat.beat()),
    atStart('idempotency keys', '51 * * * *', () => idempotency.sweep()),
    atStart('rates', '53 * * * *', () => rates.sweep()),
  ];
}

function atStart(name: string, expression: string, run: CronEntry['run']): CronEntry {
  return { name, expression, at_start: true, run };
}
