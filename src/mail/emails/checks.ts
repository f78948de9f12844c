/**
 * What `satchel doctor` asks of emails: those that failed, and those of which nobody knows whether they were
 * sent.
 */
import { slugsOf } from '../../access/projects/service.ts';
import { DOCTOR_FAILURES_MS } from '../../limits.ts';
import { toIso } from '../../platform/host/clock.ts';
import {
  act,
  aside,
  type CheckedDirectory,
  type HealthCheck,
  ok,
  warning,
} from '../../platform/host/health-check.ts';
import { countSingleTries } from '../../platform/jobs/store.ts';
import { listFailedJobs } from './store.ts';

export function emailChecks({ sqlite, now_ms }: Pick<CheckedDirectory, 'sqlite' | 'now_ms'>): HealthCheck[] {
  const check = 'failed emails';
  const since_ms = now_ms - DOCTOR_FAILURES_MS;
  const run: HealthCheck['run'] = () => {
    const ended = listFailedJobs(sqlite, since_ms);
    if (ended.length === 0) return [ok(check, 'None failed in the last 24 hours.')];
    const failed = ended.filter(({ status }) => status === 'failed');
    const jobs = failed.map(({ job_id }) => job_id);
    const count = jobs.length;
    const unknown = ended.length - count;
    const lost = `${unknown} of the last 24 hours may have been sent: a relay had all of each and never answered. Look at one with: satchel email why ID`;
    const doubt = warning(check, lost, 'satchel email retry ID, though it may arrive twice');
    const doubts = unknown === 0 ? [] : [aside('unknown', doubt)];
    if (count === 0) return doubts;
    // Those that were sent while their client waited.
    const left_out = countSingleTries(sqlite, jobs);
    const all_but =
      left_out === 0
        ? ''
        : `, ${left_out} of them sent while their client waited: those are queued again by name only`;
    const message = `${count} failed in the last 24 hours${all_but}. Look at one with: satchel email why ID`;
    const all = `satchel email retry --failed --since ${toIso(since_ms)}`;
    if (left_out === count) return [warning(check, message, 'satchel email retry ID'), ...doubts];
    const slugs = slugsOf(sqlite, new Set(failed.map(({ project_id }) => project_id)));
    const acts = slugs.map((slug) => act('retry_mail', null, slug));
    return [warning(check, message, all, acts), ...doubts];
  };
  return [{ check, run }];
}
