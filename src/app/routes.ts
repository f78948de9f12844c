/** Every route of Satchel, in the order of the documentation. */

import { auditRoutes } from '../access/audit/routes.ts';
import { keyRoutes } from '../access/keys/routes.ts';
import { originRoutes } from '../access/origins/routes.ts';
import { peopleManagementRoutes } from '../access/people/management-routes.ts';
import { peopleRoutes } from '../access/people/routes.ts';
import { linkDomainRoutes, projectRoutes } from '../access/projects/routes.ts';
import { tokenRoutes } from '../access/tokens/routes.ts';
import { tokenTrustRoutes } from '../access/tokens/trust-routes.ts';
import { captchaRoutes } from '../captcha/routes.ts';
import { consolePageRoutes } from '../console/routes.ts';
import { objectRoutes } from '../files/objects/routes.ts';
import { uploadRoutes } from '../files/uploads/routes.ts';
import { resendRoutes } from '../mail/apps/resend-routes.ts';
import { deliveryRoutes } from '../mail/deliveries/routes.ts';
import { emailRoutes } from '../mail/emails/routes.ts';
import { mailboxRoutes } from '../mail/mailboxes/routes.ts';
import { relayEventRoutes } from '../mail/relay-events/routes.ts';
import { domainReportRoutes, replyRoutes, submissionRoutes } from '../mail/routes.ts';
import { scheduleRoutes } from '../mail/schedules/routes.ts';
import { sendingDomainRoutes } from '../mail/sending-domains/routes.ts';
import { templateRoutes } from '../mail/templates/routes.ts';
import { archiveRoutes } from '../marketing/broadcasts/archive-routes.ts';
import { broadcastRoutes } from '../marketing/broadcasts/routes.ts';
import { contactRoutes } from '../marketing/contacts/routes.ts';
import { importRoutes } from '../marketing/imports/routes.ts';
import { listRoutes } from '../marketing/lists/routes.ts';
import { mailgunRoutes } from '../marketing/mailgun/routes.ts';
import { marketingMailRoutes, previewRoutes } from '../marketing/mails/routes.ts';
import { segmentRoutes } from '../marketing/segments/routes.ts';
import { eventRoutes } from '../marketing/sequences/event-routes.ts';
import { sequenceRoutes } from '../marketing/sequences/routes.ts';
import { marketingRoutes } from '../marketing/settings/routes.ts';
import { pagePreviewRoutes, subscriptionRoutes } from '../marketing/subscriptions/routes.ts';
import { suppressionRoutes } from '../marketing/suppressions/routes.ts';
import { alertRoutes } from '../operation/alerts/routes.ts';
import { backupRoutes } from '../operation/backups/routes.ts';
import { handbookRoutes } from '../operation/docs/handbook-routes.ts';
import { docsRoutes } from '../operation/docs/routes.ts';
import { doctorRoutes } from '../operation/doctor/routes.ts';
import { holdRoutes } from '../operation/holds/routes.ts';
import { jobRoutes } from '../operation/jobs/routes.ts';
import { ownRoutes } from '../operation/mcp/own-routes.ts';
import { mcpRoutes } from '../operation/mcp/routes.ts';
import { metricsRoutes } from '../operation/metrics/routes.ts';
import { overviewRoutes } from '../operation/overview/routes.ts';
import { searchRoutes } from '../operation/search/routes.ts';
import { statusRoutes } from '../operation/status/routes.ts';
import { transferRoutes } from '../operation/transfers/routes.ts';
import { withEtags } from '../platform/http/etags.ts';
import type { Route } from '../platform/http/routes.ts';
import { providerAccountRoutes } from '../secrets/provider-accounts/routes.ts';
import { kvRoutes } from '../secrets/vault/kv-routes.ts';
import { vaultRoutes } from '../secrets/vault/routes.ts';
import { webhookRoutes } from '../webhooks/routes.ts';
import type { Services } from './app.ts';

export function createRoutes(services: Services): Route[] {
  const routes: Route[] = withEtags([
    ...projectRoutes(services),
    ...linkDomainRoutes(services),
    ...keyRoutes(services),
    ...submissionRoutes(services),
    ...originRoutes(services),
    ...tokenRoutes(services),
    ...tokenTrustRoutes(services),
    ...peopleRoutes(services),
    ...peopleManagementRoutes(services),
    ...auditRoutes(services),
    ...searchRoutes(services.search),
    ...overviewRoutes(services.overviews),
    ...vaultRoutes(services.vault, services.vault_versions, services.projects),
    ...kvRoutes(services),
    ...providerAccountRoutes(services),
    ...captchaRoutes(services.captcha, services.limiter),
    ...objectRoutes(services),
    ...uploadRoutes(services),
    ...emailRoutes(services.emails, services.email_batches),
    ...deliveryRoutes(services),
    ...replyRoutes(services),
    ...resendRoutes(services),
    ...templateRoutes(services.templates),
    ...previewRoutes(services.previews),
    ...scheduleRoutes(services.schedules, services.config),
    ...jobRoutes(services.jobs),
    ...marketingRoutes(services),
    ...listRoutes(services),
    ...contactRoutes(services),
    ...segmentRoutes(services),
    ...importRoutes(services),
    ...suppressionRoutes(services),
    ...subscriptionRoutes(services),
    ...pagePreviewRoutes(services.page_previews),
    ...sequenceRoutes(services),
    ...broadcastRoutes(services),
    ...archiveRoutes(services),
    ...eventRoutes(services),
    ...marketingMailRoutes(services),
    ...mailgunRoutes(services),
    ...webhookRoutes(services),
    ...mailboxRoutes(services),
    ...relayEventRoutes(services),
    ...sendingDomainRoutes(services),
    ...domainReportRoutes(services),
    ...backupRoutes(services),
    ...holdRoutes(services),
    ...transferRoutes(services),
    ...doctorRoutes(services.doctor),
    ...alertRoutes(services.alerts),
    ...statusRoutes(services.status, services.config),
    ...metricsRoutes(services.metrics),
    ...docsRoutes(() => routes, services.config),
    ...mcpRoutes(() => routesForTools(routes, services)),
    ...consolePageRoutes(services),
  ]);
  return routes;
}

/** What tools of assistants ask: endpoints, and a few that only they have. */
export function routesForTools(routes: readonly Route[], services: Services): Route[] {
  return [...routes, ...handbookRoutes(), ...ownRoutes(services)];
}
