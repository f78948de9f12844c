/**
 * The providers that tell by HTTP what became of mail: how each names our mail, signs, and writes its events.
 * This is the only table of them; all that follows is the same for all.
 */
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { EventProvider } from './tables.ts';

/** What an event makes of a mail to one recipient. `ours`: it was refused because of us, or of the mail. */
export type EventKind = 'hard' | 'soft' | 'complaint' | 'ours' | 'delivered' | 'unsubscribed';

/** What an event says of one recipient. */
export interface ToldEvent {
  kind: EventKind;
  address: string;
  /** Our code, as it came back. */
  code: string;
  /** Of our mail, with angle brackets or without. */
  message_id: string;
  /** Of Resend, which gives back nothing of ours. */
  sent: { answer_id: string; subject: string } | null;
  /** By the provider's clock; null where it does not say. */
  at: number | null;
  /** What the receiving server said, to be judged where a reply is in it and the event is a failure. */
  said: string;
  /** Of such a reply, by the provider (RFC 3463). */
  status: string | null;
  /** The provider's own words for it. */
  words: string;
}

/** Who tells of it. */
export interface Teller {
  provider: EventProvider;
  /** By its signature, too: then a Message-ID is believed. */
  is_signed: boolean;
  /** Those that it may tell of. */
  mailboxes: readonly number[];
}

/** A request as it came. */
export interface EventRequest {
  headers: Headers;
  raw: Uint8Array;
  /** The JSON in it. */
  body: unknown;
}

export interface Signing {
  /** What a key is, for whoever gave something else. */
  form: string;
  isKey(key: string): boolean;
  isSigned(key: string, request: EventRequest): boolean;
}

interface Provider {
  label: string;
  /** Fields of a mail that bring our code, by which its events name it. */
  fields(code: string, configuration_set: string | null): Record<string, string>;
  /** Null where it takes no key. */
  signing: Signing | null;
  /** It has one, or is not believed. */
  needs_key?: true;
  /** Where an event without it is none of its. */
  mark: string;
  read(event: Json): ToldEvent[];
  /** Where the URL goes in its settings, and which events to tick there. */
  place: string;
  ticks: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Strings of JSON that may hold anything: what is none of that kind is empty. */
const object = (value: unknown): Json => (isPlainObject(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
/** A moment in seconds, or in another unit of so many milliseconds. */
const moment = (value: unknown, unit_ms = 1_000): number | null => {
  const number = text(value) === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? Math.floor(number * unit_ms) : null;
};
const iso = (value: unknown): number | null => Date.parse(text(value)) || null;

/** An event by what is known of it. Nothing where its type means nothing. */
function tell(kind: EventKind | null | undefined, address: unknown, of: Partial<ToldEvent>): ToldEvent[] {
  if (!kind) return [];
  const blank = { code: '', message_id: '', sent: null, at: null, said: '', status: null, words: '' };
  return [{ ...blank, ...of, kind, address: text(address) }];
}

const NO_FIELDS = (): Record<string, string> => ({});

export const PROVIDERS: Readonly<Record<EventProvider, Provider>> = {
  ses: {
    label: 'Amazon SES',
    fields: (code, configuration_set) => ({
      'X-SES-MESSAGE-TAGS': `satchel=${code}`,
      ...(configuration_set !== null && { 'X-SES-CONFIGURATION-SET': configuration_set }),
    }),
    // Always: by SNS, with certificates of its own (sns.ts).
    signing: null,
    mark: 'mail',
    read: readSes,
    place:
      'Amazon SES, Configuration sets: give the set an event destination of Amazon SNS, and its topic an HTTPS subscription to this URL, without raw message delivery',
    ticks: 'Hard bounces, Complaints, Deliveries, Rejects',
  },
  sendgrid: {
    label: 'SendGrid',
    fields: (code) => ({ 'X-SMTPAPI': JSON.stringify({ unique_args: { satchel: code } }) }),
    signing: {
      form: 'must be the verification key of the signed event webhook, in base64',
      isKey: (key) => publicKeyOf(key)?.asymmetricKeyDetails?.namedCurve === 'prime256v1',
      isSigned(key, { headers, raw }) {
        const public_key = publicKeyOf(key);
        const name = 'x-twilio-email-event-webhook';
        const signature = Buffer.from(headers.get(`${name}-signature`) ?? '', 'base64');
        const signed = Buffer.concat([Buffer.from(headers.get(`${name}-timestamp`) ?? ''), raw]);
        return public_key !== null && verify('sha256', signed, public_key, signature);
      },
    },
    mark: 'event',
    read: readSendgrid,
    place:
      'SendGrid, Settings, Mail Settings, Event Webhook: the Post URL of the only webhook of the account',
    ticks: 'Dropped, Delivered, Bounced, Spam Reports, Unsubscribed, Group Unsubscribes',
  },
  mailgun: {
    label: 'Mailgun',
    fields: (code) => ({ 'X-Mailgun-Variables': JSON.stringify({ satchel: code }) }),
    signing: {
      form: 'must be the HTTP webhook signing key',
      isKey: (key) => /^[\x21-\x7e]+$/.test(key),
      isSigned(key, { body }) {
        const isOne = (event: unknown): boolean => {
          const { timestamp, token, signature } = object(object(event).signature);
          const own = createHmac('sha256', key).update(`${text(timestamp)}${text(token)}`);
          return isSame(own.digest('hex'), text(signature));
        };
        const events = eventsIn(body);
        return events.length > 0 && events.every(isOne);
      },
    },
    mark: 'event-data',
    read: readMailgun,
    place: 'Mailgun, Sending, Webhooks of the domain: add this URL to each of the events',
    ticks: 'Delivered, Permanent Failure, Spam Complaints, Unsubscribes',
  },
  postmark: {
    label: 'Postmark',
    fields: (code) => ({ 'X-PM-Metadata-satchel': code }),
    signing: null,
    mark: 'RecordType',
    read: readPostmark,
    place: 'Postmark, the server, its message stream, Webhooks: add a webhook with this URL',
    ticks: 'Delivery, Bounce, Spam Complaint, Subscription Change',
  },
  brevo: {
    label: 'Brevo',
    fields: (code) => ({ 'X-Mailin-custom': code }),
    signing: null,
    mark: 'event',
    read: readBrevo,
    place: 'Brevo, Transactional, Settings, Webhooks: add a webhook with this URL',
    ticks: 'Delivered, Soft Bounce, Hard Bounce, Invalid Email, Error, Complaint, Unsubscribed, Blocked',
  },
  mailjet: {
    label: 'Mailjet',
    fields: (code) => ({ 'X-MJ-CustomID': code }),
    signing: null,
    mark: 'event',
    read: readMailjet,
    place: 'Mailjet, Account, Event notifications (webhooks): this URL for each of the events',
    ticks: 'sent, bounce, blocked, spam, unsub',
  },
  resend: {
    label: 'Resend',
    fields: NO_FIELDS,
    signing: {
      form: 'must be the signing secret of the webhook, which begins with whsec_',
      isKey: (key) => secretOf(key).length >= 16,
      isSigned(key, { headers, raw }) {
        const [id, timestamp] = [headers.get('svix-id') ?? '', headers.get('svix-timestamp') ?? ''];
        const own = createHmac('sha256', secretOf(key)).update(`${id}.${timestamp}.`).update(raw);
        const expected = `v1,${own.digest('base64')}`;
        return (headers.get('svix-signature') ?? '').split(' ').some((one) => isSame(one, expected));
      },
    },
    needs_key: true,
    mark: 'type',
    read: readResend,
    place: 'Resend, Webhooks: add an endpoint with this URL',
    ticks: 'email.delivered, email.bounced, email.complained, email.failed, email.suppressed',
  },
};

/** One event, or an array of them. */
export function eventsIn(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

function publicKeyOf(key: string) {
  try {
    return createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

/** The bytes of a secret as Standard Webhooks write it; none where it is none. */
function secretOf(key: string): Buffer {
  const [, base64 = ''] = /^whsec_([\w+/-]+={0,2})$/.exec(key) ?? [];
  return Buffer.from(base64, 'base64');
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

const kinds = (of: Readonly<Record<string, EventKind>>): ReadonlyMap<string, EventKind> =>
  new Map(Object.entries(of));

const SES_BOUNCES = kinds({ Permanent: 'hard', Transient: 'soft', Undetermined: 'soft' });
const SES_OURS = ['ContentRejected', 'AttachmentRejected', 'MessageTooLarge'];

/** An event of a configuration set, or of an identity, which has no tags. */
function readSes(event: Json): ToldEvent[] {
  const mail = object(event.mail);
  const field = list(mail.headers).find((one) => /^message-id$/i.test(text(object(one).name)));
  const code = text(list(object(mail.tags).satchel)[0]);
  const own = { code, message_id: text(object(field).value) };
  switch (text(event.eventType) || text(event.notificationType)) {
    case 'Bounce': {
      const { bounceType, bounceSubType, bouncedRecipients, timestamp } = object(event.bounce);
      const kind = SES_OURS.includes(text(bounceSubType)) ? 'ours' : SES_BOUNCES.get(text(bounceType));
      const why = { ...own, at: iso(timestamp), words: `${text(bounceType)}, ${text(bounceSubType)}` };
      return list(bouncedRecipients).flatMap((one) => {
        const { emailAddress, diagnosticCode, status } = object(one);
        return tell(kind, emailAddress, { ...why, said: text(diagnosticCode), status: text(status) || null });
      });
    }
    case 'Complaint': {
      const { complainedRecipients, complaintFeedbackType: type, timestamp } = object(event.complaint);
      const why = { ...own, at: iso(timestamp), words: `a complaint (${text(type) || 'abuse'})` };
      return type === 'not-spam'
        ? []
        : list(complainedRecipients).flatMap((one) => tell('complaint', object(one).emailAddress, why));
    }
    case 'Delivery': {
      const { recipients, smtpResponse, timestamp } = object(event.delivery);
      const why = { ...own, at: iso(timestamp), words: text(smtpResponse) };
      return list(recipients).flatMap((one) => tell('delivered', one, why));
    }
    case 'Reject': {
      const why = { ...own, at: iso(mail.timestamp), words: text(object(event.reject).reason) };
      return list(mail.destination).flatMap((one) => tell('ours', one, why));
    }
    default:
      return [];
  }
}

const SENDGRID = kinds({
  spamreport: 'complaint',
  delivered: 'delivered',
  unsubscribe: 'unsubscribed',
  group_unsubscribe: 'unsubscribed',
});
const SENDGRID_DROPS = kinds({
  'bounced address': 'hard',
  invalid: 'hard',
  'spam reporting address': 'complaint',
  'unsubscribed address': 'unsubscribed',
});

function readSendgrid(event: Json): ToldEvent[] {
  const { reason, type, status, response } = event;
  const name = text(event.event);
  const is_bounce = name === 'bounce';
  const drop = SENDGRID_DROPS.get(text(reason).trim().toLowerCase()) ?? 'ours';
  const bounce = type === 'blocked' ? 'ours' : 'hard';
  return tell(is_bounce ? bounce : name === 'dropped' ? drop : SENDGRID.get(name), event.email, {
    code: text(event.satchel),
    message_id: text(event['smtp-id']),
    at: moment(event.timestamp),
    said: is_bounce ? text(reason) : '',
    status: text(status) || null,
    words: text(reason) || text(response) || name,
  });
}

const MAILGUN = kinds({
  complained: 'complaint',
  rejected: 'ours',
  delivered: 'delivered',
  unsubscribed: 'unsubscribed',
});
const MAILGUN_FAILURES = kinds({
  'suppress-bounce': 'hard',
  'suppress-complaint': 'complaint',
  'suppress-unsubscribe': 'unsubscribed',
  old: 'soft',
});

function readMailgun(body: Json): ToldEvent[] {
  const data = object(body['event-data']);
  const [name, reason] = [text(data.event), text(data.reason)];
  const { code, message, description } = object(data['delivery-status']);
  const headers = object(object(data.message).headers);
  const words = text(message) || text(description);
  const is_failure = name === 'failed' && data.severity === 'permanent';
  const has_code = /^[245]\d\d\b/.test(words) || text(code) === '';
  return tell(is_failure ? (MAILGUN_FAILURES.get(reason) ?? 'hard') : MAILGUN.get(name), data.recipient, {
    code: text(object(data['user-variables']).satchel),
    message_id: text(headers['message-id']),
    at: moment(data.timestamp),
    said: is_failure && !reason.startsWith('suppress-') ? `${has_code ? '' : `${text(code)} `}${words}` : '',
    words: words || text(object(data.reject).reason) || reason || name,
  });
}

const POSTMARK = kinds({
  HardBounce: 'hard',
  BadEmailAddress: 'hard',
  ManuallyDeactivated: 'hard',
  SoftBounce: 'soft',
  DnsError: 'soft',
  Unknown: 'soft',
  SpamComplaint: 'complaint',
  Blocked: 'ours',
  SpamNotification: 'ours',
  DMARCPolicy: 'ours',
  VirusNotification: 'ours',
  SMTPApiError: 'ours',
  Unsubscribe: 'unsubscribed',
});
const POSTMARK_RECORDS = kinds({ SpamComplaint: 'complaint', Delivery: 'delivered' });
const POSTMARK_CHANGES = kinds({
  HardBounce: 'hard',
  SpamComplaint: 'complaint',
  ManualSuppression: 'unsubscribed',
});

function readPostmark(event: Json): ToldEvent[] {
  const { RecordType: record, SuppressionReason: reason, SuppressSending: is_suppressed } = event;
  const change = is_suppressed === true ? POSTMARK_CHANGES.get(text(reason)) : undefined;
  const listed = record === 'Bounce' ? POSTMARK.get(text(event.Type)) : POSTMARK_RECORDS.get(text(record));
  return tell(record === 'SubscriptionChange' ? change : listed, text(event.Email) || event.Recipient, {
    code: text(object(event.Metadata).satchel),
    at: iso(event.BouncedAt) ?? iso(event.DeliveredAt) ?? iso(event.ChangedAt),
    said: text(event.Details),
    words: text(event.Details) || text(event.Description) || text(reason) || text(record),
  });
}

const BREVO = kinds({
  hard_bounce: 'hard',
  invalid_email: 'hard',
  blocked: 'hard',
  soft_bounce: 'soft',
  spam: 'complaint',
  complaint: 'complaint',
  error: 'ours',
  delivered: 'delivered',
  unsubscribed: 'unsubscribed',
  unsubscribe: 'unsubscribed',
});

function readBrevo(event: Json): ToldEvent[] {
  const name = text(event.event);
  return tell(BREVO.get(name), event.email, {
    code: text(event['X-Mailin-custom']),
    // All its other times are in the time zone of the account.
    at: moment(event.ts_epoch, 1),
    said: text(event.reason),
    words: text(event.reason) || name,
  });
}

const MAILJET = kinds({ spam: 'complaint', sent: 'delivered', unsub: 'unsubscribed' });

function readMailjet(event: Json): ToldEvent[] {
  const { error, comment, smtp_reply } = event;
  const name = text(event.event);
  const is_of_recipient = error === 'preblocked' || event.error_related_to === 'recipient';
  const blocked = error === 'spam reporter' ? 'complaint' : is_of_recipient ? 'hard' : 'ours';
  const bounce = event.hard_bounce === true ? 'hard' : 'soft';
  return tell(name === 'bounce' ? bounce : name === 'blocked' ? blocked : MAILJET.get(name), event.email, {
    code: text(event.CustomID),
    at: moment(event.time),
    said: text(comment),
    words: text(comment) || text(error) || text(smtp_reply) || name,
  });
}

const RESEND = kinds({
  'email.suppressed': 'hard',
  'email.complained': 'complaint',
  'email.failed': 'ours',
  'email.delivered': 'delivered',
});

function readResend(event: Json): ToldEvent[] {
  const data = object(event.data);
  const name = text(event.type);
  const { bounce, suppressed, failed, email_id, subject } = data;
  const [to, ...others] = list(data.to);
  const kind = name === 'email.bounced' ? SES_BOUNCES.get(text(object(bounce).type)) : RESEND.get(name);
  return tell(others.length === 0 ? kind : null, to, {
    sent: { answer_id: text(email_id), subject: text(subject) },
    at: iso(event.created_at),
    words:
      text(object(bounce).message) ||
      text(object(suppressed).message) ||
      text(object(failed).reason) ||
      name.replace('email.', ''),
  });
}
