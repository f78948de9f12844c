/** The health checks of every noun that has any, in the order in which `satchel doctor` reports. */

import { keyChecks } from '../access/keys/service.ts';
import { peopleChecks } from '../access/people/checks.ts';
import { projectChecks } from '../access/projects/link-domains.ts';
import { objectStoreChecks } from '../files/objects/checks.ts';
import { variantChecks } from '../files/variants/service.ts';
import { deliveryChecks } from '../mail/deliveries/reports.ts';
import { domainReportChecks } from '../mail/domain-reports/service.ts';
import { emailChecks } from '../mail/emails/checks.ts';
import { mailboxChecks } from '../mail/mailboxes/checks.ts';
import { eventChecks } from '../mail/mailboxes/event-checks.ts';
import { inboxChecks } from '../mail/mailboxes/inbox-checks.ts';
import { sendingDomainChecks } from '../mail/sending-domains/checks.ts';
import { submissionChecks } from '../mail/submission/checks.ts';
import { campaignChecks, marketingChecks } from '../marketing/checks.ts';
import { alertChecks } from '../operation/alerts/checks.ts';
import { backupChecks, objectChecks, overdueChecks } from '../operation/backups/checks.ts';
import { certificateChecks } from '../operation/certificates/checks.ts';
import type { DoctorDeps } from '../operation/doctor/service.ts';
import { holdChecks } from '../operation/holds/service.ts';
import { ownershipChecks } from '../operation/ownership/checks.ts';
import { replicaChecks } from '../operation/replica/checks.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { CheckedDirectory, HealthCheck } from '../platform/host/health-check.ts';
import { silentLogger } from '../platform/host/logger.ts';
import { providerAccountChecks } from '../secrets/provider-accounts/service.ts';
import { vaultChecks } from '../secrets/vault/service.ts';
import { webhookChecks } from '../webhooks/checks.ts';
import { createServices, type Services } from './app.ts';

/** Those that need nothing but the directory and its database. */
function createDirectoryChecks(on: CheckedDirectory): HealthCheck[] {
  return [
    ...objectChecks(on),
    ...emailChecks(on),
    ...backupChecks(on),
    ...holdChecks(on),
    ...replicaChecks(on),
  ];
}

/** Those that ask services, whose secrets the master key opens. */
function createServiceChecks(services: Services & { is_deep: boolean }): HealthCheck[] {
  return [
    ...sendingDomainChecks(services),
    ...domainReportChecks(services),
    ...mailboxChecks(services),
    ...submissionChecks(services),
    ...inboxChecks(services),
    ...eventChecks(services),
    ...deliveryChecks(services),
    ...objectStoreChecks(services),
    ...variantChecks(services),
    ...ownershipChecks(services),
    ...certificateChecks(services),
    ...projectChecks(services),
    ...keyChecks(services),
    ...vaultChecks(services),
    ...marketingChecks(services),
    ...campaignChecks(services),
    ...webhookChecks(services),
    ...providerAccountChecks(services),
    ...peopleChecks(services),
    ...alertChecks(services),
    ...overdueChecks(services),
  ];
}

/** What an examination of a data directory is made with. */
export function doctorDeps(clock: Clock): DoctorDeps {
  return {
    clock,
    createDirectoryChecks,
    createServiceChecks(config, { is_deep, ...on }) {
      const services = createServices(config, { clock, logger: silentLogger, ...on });
      return {
        checks: createServiceChecks({ ...services, is_deep }),
        close() {
          services.sender.stop();
          return services.mailer.stop(0);
        },
      };
    },
  };
}
