/**
 * Mail, composed: what it goes out from, what is written and when, what was accepted and what becomes of it.
 */

import type { Keys } from '../access/keys/service.ts';
import type { Projects } from '../access/projects/service.ts';
import type { Config } from '../config.ts';
import type { Database } from '../platform/database/database.ts';
import type { Beside } from '../platform/host/beside.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { Destinations } from '../platform/http/destinations.ts';
import type { Idempotency } from '../platform/http/idempotency.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { Sender } from '../platform/http/sender.ts';
import type { JobQueue } from '../platform/jobs/engine.ts';
import type { generateDkimKey } from '../platform/mail/dkim.ts';
import type { Resolver } from '../platform/mail/dns.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import type { ReportReader } from '../platform/mail/report-reader.ts';
import type { KeyRing } from '../platform/secrets/key-ring.ts';
import { Apps, type AppsDeps } from './apps/service.ts';
import { Arrivals } from './arrivals.ts';
import { Deliveries, type DeliveriesDeps } from './deliveries/service.ts';
import { DomainReports } from './domain-reports/service.ts';
import { EmailBatches } from './emails/batches.ts';
import { Emails } from './emails/service.ts';
import { InboxReaders } from './inboxes/reader.ts';
import { Inboxes } from './inboxes/service.ts';
import { Mailboxes } from './mailboxes/service.ts';
import { RelayEventIntake } from './relay-events/intake.ts';
import { RelayEvents } from './relay-events/service.ts';
import { Sns } from './relay-events/sns.ts';
import { Replies } from './replies/service.ts';
import { createScheduleTask, Schedules } from './schedules/service.ts';
import { SendingDomains } from './sending-domains/service.ts';
import { MessageViewer, Submission } from './submission/service.ts';
import { Templates, templateNaming } from './templates/service.ts';
import type { MessageStore } from './whole-messages.ts';

/** The parts that mail is made of. */
interface MailNeeds extends JobQueue {
  config: Config;
  clock: Clock;
  logger: Logger;
  database: Database;
  key_ring: KeyRing;
  resolver: Resolver;
  generateDkimKey: typeof generateDkimKey;
  idempotency: Idempotency;
  mailer: Mailer;
  report_reader: ReportReader;
  beside: Beside;
  keys: Keys;
  projects: Projects;
  /** The bytes of attachments. */
  objects: DeliveriesDeps['objects'] & ConstructorParameters<typeof Emails>[0]['objects'];
  /** Messages that came whole. */
  internal_objects: ConstructorParameters<typeof Emails>[0]['internal_objects'] & MessageStore;
  limiter: RateLimiter;
  blobs: AppsDeps['blobs'];
  destinations: Destinations;
  sender: Sender;
  ownership: { refuseChanges(): void };
}

type MailServices = ReturnType<typeof createMail>;

/** The nouns of mail, each told of what the others do. Starts nothing. */
export function createMail(needs: MailNeeds) {
  const on = { ...needs, max_body_bytes: needs.config.max_email_body_bytes };
  const sending_domains = new SendingDomains({ ...on, mailboxes: () => mailboxes });
  const inboxes = new Inboxes(on);
  const relay_events = new RelayEvents(on);
  const mailboxes: Mailboxes = new Mailboxes({ ...on, sending_domains, inboxes, relay_events });
  const templates = new Templates(on);
  const viewer = new MessageViewer();
  const emails: Emails = new Emails({
    ...on,
    viewer,
    templates,
    sendNow: (email, claimed) => deliveries.sending_now.send(email, claimed),
  });
  const email_batches = new EmailBatches({ ...on, templates, emails });
  const replies = new Replies({ ...on, emails });
  const deliveries = new Deliveries({ ...on, mailboxes, sending_domains, emails, replies });
  const schedules = new Schedules({ ...on, templates, emails });
  const submission = new Submission({ ...on, emails });
  const apps = new Apps({ ...on, emails });
  const domain_reports = new DomainReports({ ...on, sending_domains });
  const arrivals = new Arrivals({ ...on, mailboxes, deliveries, replies, domain_reports });
  const sns = new Sns({ ...on, relay_events });
  const relay_event_intake = new RelayEventIntake({ ...on, relay_events, sns, deliveries });
  const inbox_readers = new InboxReaders({ ...on, inboxes, arrivals });
  return {
    sending_domains,
    inboxes,
    relay_events,
    relay_event_intake,
    mailboxes,
    templates,
    template_names: templateNaming(on),
    emails,
    email_batches,
    replies,
    domain_reports,
    deliveries,
    arrivals,
    schedules,
    schedule_names: schedules.naming(),
    inbox_readers,
    submission,
    apps,
    viewer,
  };
}

/** The jobs of mail. */
export function mailTasks({ deliveries, schedules }: MailServices) {
  return [deliveries.attempts.task(), deliveries.bulk.task(), createScheduleTask(schedules)];
}
