/** Mailgun's API, for apps that speak it alone: one message for all recipients, or bulk mail with values for each. */
import type { Projects } from '../../access/projects/service.ts';
import { AppError, invalid, notFound } from '../../errors.ts';
import { EMAIL_BODY_RETENTION_MS } from '../../limits.ts';
import {
  type Apps,
  type ComposedBulk,
  cutAtEnd,
  cutAtNames,
  insertCall,
  type MessageStore,
  requireSender,
  valuesInOrder,
} from '../../mail/apps/service.ts';
import type { Deliveries, SendDecision } from '../../mail/deliveries/service.ts';
import { type EmailRow, type Emails, emailLife } from '../../mail/emails/service.ts';
import type { SendingDomains } from '../../mail/sending-domains/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { firstIdOf, newId } from '../../platform/host/ids.ts';
import {
  type Actor,
  type KeyCaller,
  refuseRestricted,
  requirePermissions,
} from '../../platform/http/callers.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import type { MarketingMail } from '../mails/service.ts';
import type { KeyOwner, MarketingSettings } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import { MailgunEvents } from './events.ts';
import * as store from './store.ts';

const NOT_ENABLED =
  'recipient-variables make bulk mail, and marketing is not enabled in this project: satchel marketing change --project PROJECT --enabled';
/** What a client calls the suppressions that it lifts. */
const LIFTED = { bounces: 'hard_bounce', complaints: 'complaint' } as const;

export const MAILGUN_LISTS = ['bounces', 'complaints', 'unsubscribes'] as const;
type MailgunList = (typeof MAILGUN_LISTS)[number];

export interface MailgunDeps {
  database: Database;
  clock: Clock;
  apps: Apps;
  emails: Emails;
  deliveries: Pick<Deliveries, 'listeners' | 'wordsOfRefusal'>;
  internal_objects: MessageStore;
  objects: { releaseBytes(public_ids: readonly string[]): Promise<void> };
  ownership: { refuseChanges(): void };
  sending_domains: Pick<SendingDomains, 'listRows'>;
  marketing: Pick<MarketingSettings, 'settings' | 'keys'>;
  suppressions: Suppressions;
  tracking: Pick<TrackingChoices, 'isTracked'>;
  links: MarketingMail['links'];
  projects: Pick<Projects, 'requireActive'>;
  projectOf(id: number): KeyOwner | null;
}

/** A call to send, whose caller is accepted. */
export interface SendCall {
  domain: string;
  request: Request;
  path: string;
  caller: KeyCaller;
  acceptAgain(): KeyCaller;
}

/** What a client is told of a call. */
interface Sent {
  message_id: string;
  ignored: readonly string[];
}

export class Mailgun {
  readonly events: MailgunEvents;

  constructor(private readonly deps: MailgunDeps) {
    const { deliveries } = deps;
    const { listeners } = deliveries;
    const wordsOfRefusal = (read: Tx, id: string) => deliveries.wordsOfRefusal(read, id);
    this.events = new MailgunEvents({ ...deps, wordsOfRefusal });
    for (const source of ['mailgun', 'mailgun_bulk'] as const)
      listeners.add((tx, event) => this.events.onMail(tx, event), { source, kinds: TOLD });
    deps.emails.renderWith('mailgun_bulk', (tx, merge, email) => this.#render(tx, merge, email));
  }

  /** Throws AppError `not_found` for what is no sending domain of the project. */
  requireDomain(project_id: number, name: string): string {
    const domain = canonicalDomain(name);
    const { sending_domains, database } = this.deps;
    const known = sending_domains.listRows(database.read, { project_id });
    if (domain === null || !known.some((row) => row.name === domain))
      throw new AppError('not_found', `Domain not found: ${name.slice(0, 253)}`);
    return domain;
  }

  /** Takes a call to send. Throws AppError, with nothing changed. */
  async send(call: SendCall): Promise<Sent> {
    const { domain, caller } = call;
    const { project_id } = caller;
    let sent: Sent | null = null;
    await this.deps.apps.take({
      ...call,
      source: 'mailgun',
      idempotency_key: null,
      picture: await this.#picture(project_id),
      onAccepted: (tx, { message_id, ignored = [] }, email_ids) => {
        this.events.accepted(tx, { project_id, domain }, email_ids);
        sent = { message_id, ignored };
      },
      takeBulk: async (bulk) => {
        sent = await this.#takeBulk(call, bulk);
      },
    });
    if (sent === null) throw new AppError('internal', 'A call was taken of which nothing came.');
    return sent;
  }

  /** Whether bulk mail that is about to be tried goes out: asked each time, as nobody takes it back. */
  decideSend(tx: Tx, { email_id, project_id }: { email_id: string; project_id: number }): SendDecision {
    const owner = this.deps.projectOf(project_id);
    const email = owner && emailLife.find(tx, email_id);
    if (!owner || !email) return 'cancel';
    return this.deps.suppressions.checker(tx, owner)(email.to_email.toLowerCase()) === null
      ? 'send'
      : 'cancel';
  }

  /** Lifts the suppression of an address, by what Mailgun calls its list. Throws AppError `not_found` where there is none. */
  async lift(actor: Actor, owner: KeyOwner, of: { list: MailgunList; address: string }): Promise<void> {
    // A person's no is lifted by that person alone.
    if (of.list === 'unsubscribes') throw notFound('Address');
    await this.deps.suppressions.lift(actor, owner, { address: of.address, kind: LIFTED[of.list] });
  }

  /** Forgets what mails were made of that ended long ago. */
  async sweep(): Promise<void> {
    const { database, clock, objects } = this.deps;
    const before = firstIdOf(clock.now() - EMAIL_BODY_RETENTION_MS);
    for (const { call_id, attachments } of store.listOldContents(database.read, before)) {
      await database.writePiece((tx) => {
        if (emailLife.isCallOpen(tx, call_id)) return;
        emailLife.forgetMerges(tx, call_id);
        store.deleteContent(tx, call_id);
      });
      await objects.releaseBytes(attachments.map(({ public_id }) => public_id));
    }
  }

  async #picture(project_id: number): Promise<{ email_id: string; html: string } | null> {
    const { database, clock, links, marketing } = this.deps;
    const email_id = newId(clock.now());
    const picture = (): string | null => links.pictureOf(database.read, { email_id, project_id });
    const known = picture();
    if (known !== null) return { email_id, html: known };
    const owner = this.deps.projectOf(project_id);
    if (owner) await database.write((tx) => marketing.keys.obtain(tx, owner, 'click', clock.now()));
    const html = picture();
    return html === null ? null : { email_id, html };
  }

  async #takeBulk({ domain, acceptAgain }: SendCall, bulk: ComposedBulk): Promise<Sent> {
    const { internal_objects, ownership } = this.deps;
    const caller = this.#bulkCaller(acceptAgain());
    const made_id = `<${bulk.id.toLowerCase()}${bulk.from.address.slice(bulk.from.address.lastIndexOf('@'))}>`;
    const files = bulk.files.map(({ id, filename, mime_type, size_bytes, sha256 }) => {
      const named = { public_id: id, project_id: caller.project_id, original_filename: filename };
      return { ...named, mime_type, size_bytes, sha256 };
    });
    await internal_objects.keep(files, (tx) => {
      // Others had their turn meanwhile.
      this.#bulkCaller(acceptAgain());
      ownership.refuseChanges();
      this.#acceptBulk(tx, bulk, { caller, domain, made_id });
    });
    return { message_id: bulk.message_id ?? made_id, ignored: bulk.ignored ?? [] };
  }

  /** Throws AppError `forbidden`, and `invalid` while the project sends no marketing. */
  #bulkCaller(caller: KeyCaller): KeyCaller {
    requirePermissions(caller, ['email_marketing']);
    refuseRestricted(caller);
    if (this.deps.marketing.settings(caller.project_id).enabled) return caller;
    throw invalid({ _: [NOT_ENABLED] });
  }

  #acceptBulk(
    tx: Tx,
    bulk: ComposedBulk,
    { caller, domain, made_id }: { caller: KeyCaller; domain: string; made_id: string },
  ): void {
    const { emails, clock } = this.deps;
    const { id: call_id, from, extra, html, text, has_picture, scheduled_at } = bulk;
    const { project_id, key_id } = caller;
    const sender = requireSender(emails, { project_id, source: 'mailgun_bulk', from: from.address });
    const attachments = bulk.files.map(({ id, filename, mime_type, content_id, size_bytes }) => {
      const named = content_id === null ? {} : { content_id };
      return { public_id: id, filename, mime_type, size_bytes, ...named };
    });
    const created_at = clock.now();
    insertCall(tx, { id: call_id, project_id, source: 'mailgun', parties: {}, extra, created_at });
    store.insertContent(tx, {
      call_id,
      project_id,
      body_html: html,
      body_text: text,
      has_picture,
      attachments,
    });
    const shared = {
      project_id,
      call_id,
      api_key_id: key_id,
      is_test: caller.is_test || bulk.is_test === true,
      source: 'mailgun_bulk' as const,
      cc: [],
      bcc: [],
      reply_to: null,
      from_name: from.name,
      template: null,
      domain: null,
      attachments: [],
      allowed_mailboxes: [sender],
      scheduled_at,
      client: null,
    };
    const ids = emails.acceptBulk(tx, (accept) =>
      bulk.recipients.map(({ to, subject, headers, message_id, values }) =>
        accept(
          {
            ...shared,
            to: to.address,
            to_name: to.name,
            subject,
            headers,
            message_id: message_id ?? made_id,
            content: { merge: { values } },
          },
          attachments,
        ),
      ),
    );
    this.events.accepted(tx, { project_id, domain }, ids);
  }

  /** Throws AppError `not_found` once the call's content is no longer kept. */
  #render(tx: Tx, merge: Readonly<Record<string, unknown>>, email: EmailRow) {
    const content = store.findContent(tx, email.call_id ?? '');
    if (!content) throw new AppError('not_found', 'The content of the email is no longer kept.');
    const sent = isPlainObject(merge.values) ? (merge.values as Record<string, string>) : {}; // Written above, and nowhere else.
    const { call_id, body_html, body_text, has_picture } = content;
    const { id: email_id, project_id, to_email } = email;
    const to = { project_id, email: to_email.toLowerCase() };
    const is_seen = has_picture && this.deps.tracking.isTracked(tx, to);
    const picture = (is_seen && this.deps.links.pictureOf(tx, { email_id, project_id })) || '';
    const names = new Map<string, number>();
    const [page = [], end = []] = cutAtEnd(body_html ?? '').map((part) => cutAtNames(part, names));
    const text = body_text === null ? null : cutAtNames(body_text, names);
    // The picture is the last of the values.
    const html = body_html === null ? null : [...page, names.size, ...end];
    const frame = { key: `mailgun-${call_id}`, html, text, are_values_html: true };
    return { frame, values: [...valuesInOrder(names, sent), picture] };
  }
}

/** What becomes of mails that events tell of. */
const TOLD = [
  'sent',
  'failed',
  'deferred',
  'withheld',
  'bounced',
  'soft_bounced',
  'refused',
  'complained',
  'unsubscribed',
] as const;
