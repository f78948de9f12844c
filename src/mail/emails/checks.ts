/** What `satchel doctor` asks of emails: those that failed. */
import { DOCTOR_FAILURES_MS } from '../../limits.ts';
import { toIso } from '../../platform/host/clock.ts';
import { type CheckedDirectory, type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import { countFailedEmails, countLeftOutEmails } from './failure-store.ts';

export function emailChecks({ sqlite, now_ms }: CheckedDirectory): HealthCheck[] {
  const check = 'failed emails';
  const since_ms = now_ms - DOCTOR_FAILURES_MS;
  const run: HealthCheck['run'] = () => {
    const count = countFailedEmails(sqlite, since_ms);
    if (count === 0) return [ok(check, 'None failed in the last 24 hours.')];
    const left_out = countLeftOutEmails(sqlite, since_ms);
    const all_but =
      left_out === 0
        ? ''
        : `, ${left_out} of them sent while their client waited: those are queued again by name only`;
    const message = `${count} failed in the last 24 hours${all_but}. Look at one with: satchel email why ID`;
    const all = `satchel email retry --failed --since ${toIso(since_ms)}`;
    return [warning(check, message, left_out === count ? 'satchel email retry ID' : all)];
  };
  return [{ check, run }];
}
