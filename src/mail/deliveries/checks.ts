/**
 * What `satchel doctor` asks of deliveries: refusals that only reports tell, as the relay itself has taken
 * those mails.
 */
import { DOCTOR_FAILURES_MS, REFUSALS_TO_PAUSE } from '../../limits.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type HealthCheck, ok, problem, warning } from '../../platform/host/health-check.ts';
import type { Deliveries } from './service.ts';

const CHECK = 'refusals in reports';

export function deliveryChecks({
  deliveries,
  clock,
}: {
  deliveries: Deliveries;
  clock: Clock;
}): HealthCheck[] {
  return [
    {
      check: CHECK,
      run() {
        const refused = deliveries.listRefusedSince(clock.now() - DOCTOR_FAILURES_MS);
        if (refused.length === 0) return [ok(CHECK, 'In the last 24 hours no report told of any.')];
        return refused.map(({ mailbox, n, words, last_at, email_id }) => {
          // A single one may be of one recipient's server.
          const tell = n < REFUSALS_TO_PAUSE ? warning : problem;
          const message = `relay refuses us: ${n} of the mails from ${mailbox} came back so in the last 24 hours, the last one at ${toIso(last_at)}: ${words}`;
          return tell(CHECK, message, `satchel email why ${email_id}`);
        });
      },
    },
  ];
}
