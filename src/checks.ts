/** The health checks of every capability that has any, in the order in which `satchel doctor` reports. */
import { aiAccountChecks } from './ai-accounts/checks.ts';
import { createServices, type Services } from './app.ts';
import { backupChecks } from './backups/checks.ts';
import { databaseAccountChecks } from './database-accounts/checks.ts';
import { deliveryChecks } from './deliveries/checks.ts';
import type { DoctorDeps } from './doctor/service.ts';
import { emailChecks } from './emails/checks.ts';
import { keyChecks } from './keys/checks.ts';
import { mailboxChecks } from './mailboxes/checks.ts';
import { inboxChecks } from './mailboxes/inbox-checks.ts';
import { marketingChecks } from './marketing/checks.ts';
import { objectChecks } from './objects/checks.ts';
import { peopleChecks } from './people/checks.ts';
import type { Clock } from './platform/host/clock.ts';
import type { CheckedDirectory, HealthCheck } from './platform/host/health-check.ts';
import { silentLogger } from './platform/host/logger.ts';
import { sendingDomainChecks } from './sending-domains/checks.ts';
import { sequenceChecks } from './sequences/health.ts';
import { vaultChecks } from './vault/checks.ts';

/** Those that need nothing but the directory and its database. */
function createDirectoryChecks(on: CheckedDirectory): HealthCheck[] {
  return [...objectChecks(on), ...emailChecks(on), ...backupChecks(on)];
}

/** Those that ask services, whose secrets the master key opens. */
function createServiceChecks(services: Services): HealthCheck[] {
  return [
    ...sendingDomainChecks(services),
    ...mailboxChecks(services),
    ...inboxChecks(services),
    ...deliveryChecks(services),
    ...keyChecks(services),
    ...vaultChecks(services),
    ...marketingChecks(services),
    ...sequenceChecks(services),
    ...databaseAccountChecks(services),
    ...aiAccountChecks(services),
    ...peopleChecks(services),
  ];
}

/** What an examination of a data directory is made with. */
export function doctorDeps(clock: Clock): DoctorDeps {
  return {
    clock,
    createDirectoryChecks,
    createServiceChecks(config, on) {
      const services = createServices(config, { clock, logger: silentLogger, ...on });
      return { checks: createServiceChecks(services), close: () => services.mailer.stop(0) };
    },
  };
}
