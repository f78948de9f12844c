/** What a server looks at each minute, so that somebody is told soon. Each reads what is at hand, and asks no stranger. */
import { storeAwayCheck } from '../files/objects/checks.ts';
import { mailboxHealth } from '../mail/mailboxes/checks.ts';
import { arrivalCheck } from '../operation/alerts/checks.ts';
import { lastBackupCheck } from '../operation/backups/checks.ts';
import { heldCertificateCheck } from '../operation/certificates/checks.ts';
import { diskCheck } from '../operation/doctor/directory-checks.ts';
import { replicaAwayCheck } from '../operation/replica/checks.ts';
import type { HealthCheck } from '../platform/host/health-check.ts';
import type { Services } from './app.ts';

/** The checks, which remember what they saw before. */
export function urgentChecks(services: Services): HealthCheck[] {
  const { config, object_store } = services;
  return [
    mailboxHealth(services),
    lastBackupCheck(config.data_dir),
    diskCheck(config.data_dir),
    ...(config.tls ? [heldCertificateCheck(services)] : []),
    ...(object_store ? [storeAwayCheck({ ...services, object_store })] : []),
    replicaAwayCheck(services),
    arrivalCheck(services),
  ];
}
