/** The check of `satchel doctor` on the SMTP server: apps elsewhere may sign in, and its certificate is good for a while. */
import type { Config } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import { type Finding, type HealthCheck, ok, problem, warning } from '../../platform/host/health-check.ts';
import { isLoopback } from '../../platform/http/hosts.ts';
import { describeCertificate, readPair } from './certificate.ts';

const CHECK = 'SMTP server';
/** Authorities renew at a third of a certificate's life: less than this is left where nobody did. */
const RENEWED_BY_MS = 14 * DAY_MS;
const REMEDY =
  'renew the files of SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY: they are read again each minute';

export function submissionChecks({ config, clock }: { config: Config; clock: Clock }): HealthCheck[] {
  return [{ check: CHECK, run: () => (config.smtp ? [findingOf(config, config.smtp, clock.now())] : []) }];
}

function findingOf(config: Config, smtp: NonNullable<Config['smtp']>, now_ms: number): Finding {
  const ports = [smtp.port, smtp.tls_port].filter((port) => port !== null).join(' and ');
  const where = `Apps hand mail in at ${smtp.host}, port ${ports}`;
  if (config.tls) return ok(CHECK, `${where}, with the certificate of SATCHEL_TLS.`);
  if (!smtp.certificate)
    return isLoopback(smtp.host) || smtp.plain_from.length > 0
      ? ok(CHECK, `${where}, without TLS.`)
      : warning(
          CHECK,
          `${where}, without TLS: nobody may sign in there but this machine.`,
          'set SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY, or name networks in SATCHEL_SMTP_PLAIN_FROM',
        );
  try {
    const { to_ms } = describeCertificate(readPair(smtp.certificate));
    const until = `${where}; its certificate is good until ${toIso(to_ms)}`;
    if (to_ms <= now_ms) return problem(CHECK, `${where}; its certificate ended ${toIso(to_ms)}.`, REMEDY);
    return to_ms - now_ms < RENEWED_BY_MS ? warning(CHECK, `${until}.`, REMEDY) : ok(CHECK, `${until}.`);
  } catch (error) {
    return problem(CHECK, `${messageOf(error)} A server that runs keeps the one that it has.`, REMEDY);
  }
}
