/** Email marketing, composed: the people, how they come and leave, and the mail they get. */
import type { LinkDomains, Projects } from '../access/projects/service.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import type { Objects } from '../files/objects/service.ts';
import type { Apps, MessageStore } from '../mail/apps/service.ts';
import type { Deliveries } from '../mail/deliveries/service.ts';
import { BULK_SOURCES, type Emails, isBulk } from '../mail/emails/service.ts';
import type { Mailboxes } from '../mail/mailboxes/service.ts';
import type { Replies } from '../mail/replies/service.ts';
import type { SendingDomains } from '../mail/sending-domains/service.ts';
import type { Templates } from '../mail/templates/service.ts';
import type { Database } from '../platform/database/database.ts';
import type { Beside } from '../platform/host/beside.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { DurableRates } from '../platform/http/rate-limit.ts';
import type { JobQueue } from '../platform/jobs/engine.ts';
import type { AddressHolder } from '../platform/mail/address.ts';
import type { Resolver } from '../platform/mail/dns.ts';
import type { KeyRing } from '../platform/secrets/key-ring.ts';
import { DEFAULT_LANGUAGE } from '../platform/words/words.ts';
import { Archive } from './broadcasts/archive.ts';
import { BroadcastEngine } from './broadcasts/engine.ts';
import { BroadcastLife } from './broadcasts/lifecycle.ts';
import { Broadcasts, noteReplyToBroadcast } from './broadcasts/service.ts';
import { createCampaignTask } from './campaign-engine.ts';
import { Privacy } from './contacts/privacy.ts';
import { Contacts } from './contacts/service.ts';
import { importsHolder } from './imports/privacy.ts';
import { Imports } from './imports/service.ts';
import { createImportTask } from './imports/tasks.ts';
import { Lists } from './lists/service.ts';
import { Mailgun } from './mailgun/service.ts';
import { LAY_OUT } from './mails/drafts.ts';
import type { LayoutValues } from './mails/layout.ts';
import { Previews } from './mails/previews.ts';
import { brandOf, Clicks, contactOfMail, layOutBodies, MarketingMail } from './mails/service.ts';
import { Segments } from './segments/service.ts';
import { SequenceEngine } from './sequences/engine.ts';
import { ContactEvents } from './sequences/events.ts';
import { exitByEvent, GoingOn } from './sequences/going-on.ts';
import { noteReplyToSequence, SequenceLife } from './sequences/lifecycle.ts';
import { Sequences } from './sequences/service.ts';
import { type KeyOwner, MarketingSettings, nextOpening } from './settings/service.ts';
import type { LayOut, LayoutOf } from './subscriptions/confirmation-mail.ts';
import { PagePreviews, type PagePreviewsDeps } from './subscriptions/previews.ts';
import {
  CONFIRMATION_VALUES,
  Subscriptions,
  type SubscriptionsDeps,
  testUnsubscribeUrl,
  testViewUrl,
} from './subscriptions/service.ts';
import { createSubscribeTask } from './subscriptions/tasks.ts';
import { Suppressions } from './suppressions/service.ts';
import { TrackingChoices } from './tracking/service.ts';

/** What email marketing needs. */
interface MarketingNeeds extends JobQueue {
  config: Config;
  clock: Clock;
  logger: Logger;
  database: Database;
  key_ring: KeyRing;
  resolver: Resolver;
  beside: Beside;
  rates: DurableRates;
  projects: Projects;
  link_domains: LinkDomains;
  captcha: SubscriptionsDeps['captcha'];
  objects: Objects;
  mailboxes: Mailboxes;
  sending_domains: SendingDomains;
  templates: Templates;
  emails: Emails;
  deliveries: Deliveries;
  apps: Apps;
  internal_objects: MessageStore;
  ownership: { refuseChanges(): void };
  replies: Replies;
  /** What webhooks hold of an address. */
  webhooks: { holderOfAddresses(): AddressHolder };
}

type MarketingServices = ReturnType<typeof createMarketing>;

/** The nouns of email marketing, each a listener to others. Starts nothing. */
export function createMarketing(needs: MarketingNeeds) {
  const { config, projects, sending_domains, mailboxes, templates, deliveries } = needs;
  const on = {
    ...needs,
    public_url: config.public_url,
    served_at: config.served_at,
    projectOf: (id: number) => projects.findById(id),
  };
  const marketing = new MarketingSettings({
    ...on,
    mailboxes: {
      listUses: (project_id) => mailboxes.listUses(project_id),
      refusalOf: (project_id, accounts) => mailboxes.refusalOf(project_id, 'marketing', accounts),
      checkDns: (address) => sending_domains.checkMailboxDns(address),
    },
  });
  layOutPreviews(needs, marketing);
  const suppressions = new Suppressions({ ...on, marketing });
  const lists = new Lists({
    ...on,
    problemOfConfirmations: (project_id, from) => marketing.problemOfConfirmations(project_id, from),
    senderOf: (project_id, address) => mailboxes.senderOf(project_id, address, 'transactional'),
    refusalOfConfirmation: (project_id, slug) => templates.refusalOf(project_id, slug, CONFIRMATION_VALUES),
  });
  const tracking = new TrackingChoices({ ...on, marketing });
  const contacts = new Contacts({ ...on, marketing, lists, suppressions, tracking });
  const segments = new Segments({ ...on, suppressions, lists, contacts });
  const audience = { marketing, suppressions, lists, contacts, segments, tracking };
  const imports = new Imports({ ...on, ...audience, rows_per_minute: config.import_rows_per_minute });
  const { confirmations_per_day } = config;
  const subscriptions = new Subscriptions({ ...on, ...audience, layOut, confirmations_per_day });
  const page_previews = new PagePreviews({ ...on, marketing, lists, layOut: layOutBeside(needs) });
  const clicks = new Clicks({ ...on, data_dir: config.data_dir });
  const sequencing = createSequences({ ...on, ...audience, subscriptions, clicks });
  deliveries.listeners.setMxCheck((project_id, address) => contacts.takesMail(project_id, address));
  // Listens after the contacts: that somebody left is a better reason for an end than that their mail ended.
  const { sequence_life } = sequencing;
  deliveries.listeners.add((tx, event) => contacts.onMail(tx, event), {
    kinds: ['bounced', 'complained', 'unsubscribed'],
  });
  deliveries.listeners.add((tx, event) => sequence_life.onMail(tx, event), { source: 'sequence' });
  const broadcasting = createBroadcasts({ ...on, ...audience, ...sequencing, subscriptions, clicks });
  const { broadcast_life, broadcasts } = broadcasting;
  deliveries.listeners.add((tx, event) => broadcast_life.onMail(tx, event), { source: 'broadcast' });
  needs.replies.listen((tx, answered) => {
    noteReplyToSequence(tx, { ...sequencing, answered });
    noteReplyToBroadcast(tx, { ...sequencing, contacts, answered });
  });
  const mailgun = new Mailgun({ ...on, ...audience, links: sequencing.marketing_mail.links });
  clicks.listen((tx, reading) => mailgun.events.onReading(tx, reading));
  guardBulkMail(deliveries, { marketing, sequence_life, broadcast_life, mailgun });
  contacts.listen((tx, event) => sequence_life.onContact(tx, event));
  contacts.listen((tx, event) => broadcast_life.onContact(tx, event));
  segments.listen((tx, event) => broadcasts.onSegment(tx, event));
  listenToLateMail({ deliveries, contacts, sequence_life, broadcast_life });
  listenToReaders({ tracking, clicks, contacts, sequence_life, broadcast_life });
  const privacy = createPrivacy({
    ...on,
    ...audience,
    subscriptions,
    clicks,
    ...sequencing,
    ...broadcasting,
    mailgun,
  });
  const nouns = {
    ...audience,
    imports,
    subscriptions,
    page_previews,
    clicks,
    privacy,
    ...sequencing,
    ...broadcasting,
    mailgun,
  };
  return { ...nouns, ...namesOf(nouns) };
}

/** Says of bulk mail whether it is tried, and when. */
function guardBulkMail(
  { listeners }: Deliveries,
  of: {
    marketing: MarketingSettings;
    sequence_life: SequenceLife;
    broadcast_life: BroadcastLife;
    mailgun: Mailgun;
  },
): void {
  const guards = { sequence: of.sequence_life, broadcast: of.broadcast_life, mailgun_bulk: of.mailgun };
  listeners.setGuard((tx, mail) => (isBulk(mail.source) ? guards[mail.source].decideSend(tx, mail) : 'send'));
  listeners.setWindow((project_id, now_ms) => {
    const settings = of.marketing.settings(project_id);
    return settings.enabled ? nextOpening(settings, now_ms) : Number.POSITIVE_INFINITY;
  });
}

/** What is held about an address, and told of it. */
function createPrivacy(
  on: CampaignNeeds &
    Pick<ReturnType<typeof createSequences>, 'sequences' | 'contact_events'> & {
      broadcasts: Broadcasts;
      mailgun: Mailgun;
    },
): Privacy {
  const { clicks, deliveries, subscriptions, contact_events, sequences, broadcasts } = on;
  const waiting = [importsHolder(on.database), ...subscriptions.holdersOfAddresses()];
  const holders = [
    contact_events.holderOfAddresses(),
    sequences.holderOfAddresses(),
    broadcasts.holderOfAddresses(),
    // Before the log, which forgets whom a mail was for.
    clicks.holderOfAddresses(),
    on.mailgun.events.holderOfAddresses(),
    on.replies.holderOfAddresses(),
    deliveries.holderOfAddresses(),
    on.webhooks.holderOfAddresses(),
  ];
  function* explainMore(owner: KeyOwner, email: string) {
    const { id: project_id } = owner;
    yield subscriptions.explainAddress(owner, email);
    yield contact_events.explainAddress(project_id, email);
    yield* sequences.explainAddress(project_id, email);
    yield* broadcasts.explainAddress(project_id, email);
    yield on.replies.explainAddress(project_id, email);
  }
  return new Privacy({ ...on, waiting, holders, explainMore });
}

/**
 * What people open and click is told to whoever counts it; that it may not be, and that they pause, to whoever has mail on its way.
 */
function listenToReaders(of: {
  tracking: TrackingChoices;
  clicks: Clicks;
  contacts: Contacts;
  sequence_life: SequenceLife;
  broadcast_life: BroadcastLife;
}): void {
  const { tracking, clicks, contacts, sequence_life, broadcast_life } = of;
  contacts.choices.listenToPauses((tx, pause) => {
    sequence_life.onPause(tx, pause);
    broadcast_life.onPause(tx, pause);
  });
  tracking.listen((tx, address) => {
    for (const contact of contacts.rowsOfAddress(tx, address)) {
      sequence_life.onUntracked(tx, contact);
      broadcast_life.onUntracked(tx, contact);
    }
  });
  clicks.listen((tx, reading) => sequence_life.onReading(tx, reading));
  clicks.listen((tx, reading) => broadcast_life.onReading(tx, reading));
  clicks.listenToLinks((tx, followed) => broadcast_life.onLink(tx, followed));
  clicks.listen((tx, reading) => contacts.onReading(tx, reading));
}

/** Whoever left while a mail was with its relay got that one last, once it is sent. */
function listenToLateMail(of: {
  deliveries: Deliveries;
  contacts: Contacts;
  sequence_life: SequenceLife;
  broadcast_life: BroadcastLife;
}): void {
  const { deliveries, contacts, sequence_life, broadcast_life } = of;
  for (const source of BULK_SOURCES)
    deliveries.listeners.add(
      (tx, { email_id }) => {
        const contact = contacts.findById(contactOfMail(tx, email_id) ?? 0, tx);
        if (contact?.status !== 'unsubscribed') return;
        for (const life of [sequence_life, broadcast_life])
          life.markLeft(tx, contact, contact.status_changed_at);
      },
      { kinds: ['sent'], source },
    );
}

/** How the shell finds what has a name. */
function namesOf(on: { lists: Lists; segments: Segments; sequences: Sequences; broadcasts: Broadcasts }) {
  return {
    list_names: on.lists.naming(),
    segment_names: on.segments.naming(),
    sequence_names: on.sequences.naming(),
    broadcast_names: on.broadcasts.naming(),
  };
}

const layOut: LayOut = (bodies, of) => {
  try {
    return layOutBodies(bodies, layoutValues(of));
  } catch (error) {
    // Who signs up gets the mail as it was written.
    if (error instanceof AppError && error.kind === 'invalid') return bodies;
    throw error;
  }
};

function layoutValues({
  owner,
  settings,
  language,
  postal_address,
  unsubscribe_url,
  view_url,
}: LayoutOf): LayoutValues {
  return {
    ...brandOf(owner, settings),
    language: language ?? DEFAULT_LANGUAGE,
    postal_address,
    unsubscribe_url,
    view: view_url ? { url: view_url, edge: '' } : null,
  };
}

/** As `layOut`, of what somebody looks at. */
function layOutBeside({ beside }: MarketingNeeds): PagePreviewsDeps['layOut'] {
  return (project_id, bodies, of) =>
    beside.do({ project_id, field: '_' }, LAY_OUT, { bodies, values: layoutValues(of) });
}

/** Previews of templates stand in the layout of their project's newsletters. */
function layOutPreviews(on: MarketingNeeds, marketing: MarketingSettings): void {
  const { config, projects, templates } = on;
  templates.setLayout((project_id, bodies) => {
    const settings = marketing.settings(project_id);
    return layOutBeside(on)(project_id, bodies, {
      owner: { name: projects.findById(project_id)?.name ?? '' },
      settings,
      language: null,
      postal_address: settings.postal_address ?? '{{ postal_address }}',
      unsubscribe_url: testUnsubscribeUrl(config.public_url),
      view_url: settings.view_link ? testViewUrl(config.public_url) : null,
    });
  });
}

/** What sequences and broadcasts need. */
interface CampaignNeeds extends MarketingNeeds {
  public_url: string;
  projectOf(id: number): ReturnType<Projects['findById']>;
  tracking: TrackingChoices;
  marketing: MarketingSettings;
  suppressions: Suppressions;
  lists: Lists;
  contacts: Contacts;
  segments: Segments;
  subscriptions: Subscriptions;
  clicks: Clicks;
}

function createSequences(needs: CampaignNeeds) {
  const on = {
    ...needs,
    marketing_mail: new MarketingMail({ ...needs, max_body_bytes: needs.config.max_email_body_bytes }),
  };
  const going_on = new GoingOn(on);
  const sequences = new Sequences({ ...on, going_on });
  const contact_events = new ContactEvents({
    ...on,
    onEvent: (tx, event) => exitByEvent(tx, on.deliveries, event),
  });
  const sequence_life = new SequenceLife({ ...on, sequences, contact_events, going_on });
  on.projects.listen((tx, event) => sequence_life.onProject(tx, event));
  const sequence_engine = new SequenceEngine({ ...on, contact_events, going_on });
  const { marketing_mail } = on;
  return { sequences, sequence_life, going_on, contact_events, sequence_engine, marketing_mail };
}

function createBroadcasts(on: CampaignNeeds & { marketing_mail: MarketingMail }) {
  const broadcasts = new Broadcasts(on);
  const broadcast_life = new BroadcastLife({ ...on, broadcasts });
  on.projects.listen((tx, event) => broadcast_life.onProject(tx, event));
  const broadcast_engine = new BroadcastEngine({ ...on, broadcasts, broadcast_life });
  return {
    broadcasts,
    broadcast_life,
    broadcast_engine,
    archive: new Archive(on),
    previews: new Previews({ ...on, max_body_bytes: on.config.max_email_body_bytes }),
  };
}

/** What takes part in the deletion of a project. */
export function marketingCascades({ lists, contacts, imports }: MarketingServices) {
  return [lists.projectCascade(), contacts.projectCascade(), imports.projectCascade()];
}

/** The jobs of email marketing. */
export function marketingTasks(services: MarketingServices & Pick<MarketingNeeds, 'clock' | 'projects'>) {
  const { clock, projects, subscriptions, sequence_engine, broadcast_engine } = services;
  return [
    createImportTask(services),
    createSubscribeTask(subscriptions, clock),
    createCampaignTask(sequence_engine, projects),
    createCampaignTask(broadcast_engine, projects),
  ];
}
