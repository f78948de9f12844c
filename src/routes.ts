/** Every route of Satchel, in the order of the documentation. */

import { aiAccountRoutes } from './ai-accounts/routes.ts';
import type { Services } from './app.ts';
import { auditRoutes } from './audit/routes.ts';
import { backupRoutes } from './backups/routes.ts';
import { captchaRoutes } from './captcha/routes.ts';
import { consolePageRoutes } from './console/routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { databaseAccountRoutes } from './database-accounts/routes.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { doctorRoutes } from './doctor/routes.ts';
import { emailRoutes } from './emails/routes.ts';
import { importRoutes } from './imports/routes.ts';
import { jobRoutes } from './jobs/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { listRoutes } from './lists/routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import { marketingRoutes } from './marketing/routes.ts';
import { marketingMailRoutes } from './marketing-mail/routes.ts';
import { objectRoutes } from './objects/routes.ts';
import { originRoutes } from './origins/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { peopleManagementRoutes } from './people/management-routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { withEtags } from './platform/http/etags.ts';
import type { Route } from './platform/http/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { sendingDomainRoutes } from './sending-domains/routes.ts';
import { eventRoutes } from './sequences/event-routes.ts';
import { sequenceRoutes } from './sequences/routes.ts';
import { statusRoutes } from './status/routes.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { templateRoutes } from './templates/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { vaultRoutes } from './vault/routes.ts';

export function createRoutes(services: Services): Route[] {
  const routes: Route[] = withEtags([
    ...projectRoutes(services),
    ...keyRoutes(services),
    ...originRoutes(services),
    ...tokenRoutes(services),
    ...peopleRoutes(services),
    ...peopleManagementRoutes(services.people),
    ...auditRoutes(services),
    ...searchRoutes(services.search),
    ...overviewRoutes(services.overviews),
    ...vaultRoutes(services.vault, services.projects),
    ...databaseAccountRoutes(services),
    ...aiAccountRoutes(services),
    ...captchaRoutes(services.captcha, services.limiter),
    ...objectRoutes(services),
    ...emailRoutes(services.emails),
    ...deliveryRoutes(services),
    ...templateRoutes(services.templates),
    ...scheduleRoutes(services.schedules, services.config),
    ...jobRoutes(services.jobs, (id) => services.backups.findJob(id)),
    ...marketingRoutes(services),
    ...listRoutes(services),
    ...contactRoutes(services),
    ...importRoutes(services),
    ...suppressionRoutes(services),
    ...subscriptionRoutes(services),
    ...sequenceRoutes(services),
    ...eventRoutes(services),
    ...marketingMailRoutes(services),
    ...mailboxRoutes(services),
    ...sendingDomainRoutes(services),
    ...backupRoutes(services.backups),
    ...doctorRoutes(services.doctor),
    ...statusRoutes(services.status, services.config),
    ...docsRoutes(() => routes, services.config),
    ...consolePageRoutes(services),
  ]);
  return routes;
}
