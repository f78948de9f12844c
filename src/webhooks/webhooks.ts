/** Webhooks, composed: who sends, who is told, and of what. */
import type { Projects } from '../access/projects/service.ts';
import type { Config } from '../config.ts';
import type { ObjectEvent, Objects } from '../files/objects/service.ts';
import type { Deliveries, EmailEvent } from '../mail/deliveries/service.ts';
import { emailLife, presentEmail } from '../mail/emails/service.ts';
import type { Replies } from '../mail/replies/service.ts';
import type { BroadcastLife } from '../marketing/broadcasts/lifecycle.ts';
import type { Broadcasts } from '../marketing/broadcasts/service.ts';
import type { ContactEvent, Contacts } from '../marketing/contacts/service.ts';
import type { Imports } from '../marketing/imports/service.ts';
import type { Clicks } from '../marketing/mails/service.ts';
import type { GoingOn } from '../marketing/sequences/going-on.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { Destinations } from '../platform/http/destinations.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { Sender } from '../platform/http/sender.ts';
import type { KeyRing } from '../platform/secrets/key-ring.ts';
import { Dispatcher } from './dispatcher.ts';
import type { EventType } from './schemas.ts';
import { type EventData, WebhookEvents, Webhooks } from './service.ts';
import { Tries } from './tries.ts';

/** The parts that webhooks are made of. */
interface WebhookNeeds {
  config: Config;
  clock: Clock;
  logger: Logger;
  database: Database;
  key_ring: KeyRing;
  limiter: RateLimiter;
  destinations: Destinations;
  sender: Sender;
  projects: Projects;
}

/** Starts nothing. */
export function createWebhooks(needs: WebhookNeeds) {
  const tries = new Tries(needs);
  const dispatcher = new Dispatcher({ ...needs, tries });
  const webhooks = new Webhooks({ ...needs, tries, dispatcher });
  const events = new WebhookEvents({ ...needs, onEvent: () => dispatcher.noteEvents() });
  return { webhooks, webhook_events: events, webhook_dispatcher: dispatcher };
}

/** Whose doings webhooks are told of. */
interface Sources {
  webhook_events: WebhookEvents;
  projects: Projects;
  objects: Objects;
  deliveries: Deliveries;
  replies: Replies;
  contacts: Contacts;
  clicks: Clicks;
  imports: Imports;
  broadcasts: Broadcasts;
  broadcast_life: BroadcastLife;
  going_on: GoingOn;
}

const EMAIL_TYPES: Partial<Record<EmailEvent['kind'], EventType>> = {
  sent: 'email.sent',
  failed: 'email.failed',
  unknown: 'email.failed',
  bounced: 'email.bounced',
  soft_bounced: 'email.bounced',
  complained: 'email.complained',
};

/** Has webhooks told of what happens, each event in the transaction of what it tells. */
export function tellWebhooks(sources: Sources): void {
  const { webhook_events: events, contacts, broadcasts, clicks } = sources;
  sources.objects.listeners.add((tx, event) => tellOfObject(sources, tx, event));
  sources.deliveries.listeners.add((tx, event) => tellOfEmail(sources, tx, event));
  sources.replies.listen((tx, { email, reply }) =>
    // Whoever got the mail: what is held about them is forgotten with it.
    events.tell(tx, email.project_id, 'email.replied', () => ({ data: reply, address: email.to_email })),
  );
  contacts.listen((tx, event) => tellOfContact(sources, tx, event));
  contacts.choices.listen((tx, { contact, changes }) =>
    events.tell(tx, contact.project_id, 'contact.changed', () => {
      return { data: { contact: dataOf(contacts, contact).data, changes }, address: contact.email };
    }),
  );
  clicks.listen((tx, { kind, contact_id, is_test }) => {
    const contact =
      kind === 'clicked' && !is_test && contact_id !== null && contacts.findById(contact_id, tx);
    if (contact) events.tell(tx, contact.project_id, 'contact.clicked', () => dataOf(contacts, contact));
  });
  sources.imports.listen((tx, project_id, data) =>
    events.tell(tx, project_id, 'import.completed', () => ({ data })),
  );
  sources.broadcast_life.listenToSent((tx, { project_id, public_id, is_test }) => {
    if (is_test) return;
    events.tell(tx, project_id, 'broadcast.sent', () => ({ data: broadcasts.get(project_id, public_id) }));
  });
  sources.going_on.listen((tx, { project_id, describe }) =>
    events.tell(tx, project_id, 'sequence.completed', () => {
      const data = describe();
      return data && { data, address: data.email };
    }),
  );
}

function tellOfObject(
  { webhook_events, objects, projects }: Sources,
  tx: Tx,
  { kind, object }: ObjectEvent,
): void {
  webhook_events.tell(tx, object.project_id, `object.${kind}`, () => {
    const project = projects.findById(object.project_id);
    return project && { data: objects.describe(object, project) };
  });
}

/** Of a mail's own recipient alone: what became of a copy the record does not tell. */
function tellOfEmail({ webhook_events, projects }: Sources, tx: Tx, event: EmailEvent): void {
  const type = EMAIL_TYPES[event.kind];
  if (type === undefined || event.is_captured) return;
  webhook_events.tell(tx, event.project_id, type, () => {
    const email = emailLife.find(tx, event.email_id);
    const project = projects.findById(event.project_id);
    if (!email || !project || email.to_email.toLowerCase() !== event.address.toLowerCase()) return null;
    return { data: presentEmail(email, project.public_id), address: email.to_email };
  });
}

function tellOfContact(
  { webhook_events, contacts }: Sources,
  tx: Tx,
  { kind, contact, at }: ContactEvent,
): void {
  const type = contactTypeOf(kind, contact.confirmed_at === at);
  if (type) webhook_events.tell(tx, contact.project_id, type, () => dataOf(contacts, contact));
}

/** Whoever confirms was told of as they signed up. */
function contactTypeOf(kind: ContactEvent['kind'], is_confirmed: boolean): EventType | null {
  if (kind === 'unsubscribed') return 'contact.unsubscribed';
  if (kind === 'signed_up') return 'contact.subscribed';
  if (kind === 'activated') return is_confirmed ? 'contact.confirmed' : 'contact.subscribed';
  return null;
}

/** A contact but for its token, by which whoever has it acts in its name. */
function dataOf(contacts: Contacts, contact: ContactEvent['contact']): EventData {
  const { contact_token, ...data } = contacts.present(contact);
  return { data, address: contact.email };
}
