/** The plain data of mails, relays and outcomes, which crosses between threads; and what a frame reads with a mail's values. */
import type { DkimIdentity } from './dkim.ts';
import type { RefusalSubject } from './refusals.ts';

interface NamedAddress {
  address: string;
  name: string | null;
}

export interface MailAttachment {
  filename: string;
  mime_type: string;
  /** A blob on disk, which never changes while it is pinned; streamed from there. */
  path: string;
  size_bytes: number;
  /** By which the HTML names it, where it stands in that. */
  content_id?: string | undefined;
}

/** Everything of a mail but its bodies. */
export interface MailHead {
  /** With angle brackets; the same at every attempt. */
  message_id: string;
  /** Milliseconds since the epoch, for the Date header. */
  date_ms: number;
  from: NamedAddress;
  to: NamedAddress;
  cc: string[];
  /** Stands in no header. Who gets a copy is decided by the recipients of the delivery alone. */
  bcc: string[];
  reply_to: string | null;
  subject: string;
  attachments: MailAttachment[];
  /** Further headers, such as List-Unsubscribe. */
  headers?: Record<string, string>;
  /** Null where the relay signs. */
  dkim: DkimIdentity | null;
}

export interface MailContent extends MailHead {
  html: string | null;
  /** Without it the text part is derived from `html`. */
  text: string | null;
}

/** A message that is sent as it came, but for the signature: every byte of a file. */
export interface WholeContent {
  path: string;
  size_bytes: number;
  from: NamedAddress;
  dkim: DkimIdentity | null;
}

/** What the bodies of many mails share, with holes: a number says which of a mail's values stands there. */
export interface MailFrame {
  /** Frames of the same key are the same. */
  key: string;
  /** Values stand in it escaped, unless they are HTML. */
  html: readonly (string | number)[] | null;
  are_values_html?: boolean;
  text: readonly (string | number)[] | null;
}

/** Bodies of one of many mails; the values are plain text. */
export interface FramedBodies {
  frame: MailFrame;
  values: readonly string[];
}

/** One of many mails that share a frame. */
export interface FramedContent extends MailHead, FramedBodies {}

/** As it travels to the worker, which was given the frame before. */
export interface KeyedContent extends MailHead {
  frame_key: string;
  values: readonly string[];
}

/**
 * `tls`: TLS from the first byte (smtps). `starttls`: never without it. `opportunistic` (smtp): STARTTLS
 * where it is offered; only a loopback host gets a password in the clear. `none`: never STARTTLS, same rule
 * for passwords. Certificates are always checked, but for opportunistic TLS to a loopback host: what stays on
 * the machine has no name to prove, and distributions give such relays a made-up certificate.
 */
type SmtpSecurity = 'tls' | 'starttls' | 'opportunistic' | 'none';

export interface SmtpRoute {
  /** Identity of the connection pool: must change when any other field does. */
  key: string;
  host: string;
  port: number;
  security: SmtpSecurity;
  username: string | null;
  password: string | null;
  /** Envelope sender; without it that is the From address. */
  return_path: string | null;
  /** The least time between two mails as they reach the relay; none unless given. */
  gap_ms?: number;
  /** What EHLO says (RFC 5321 4.1.1.1). Some relays refuse a machine's own name, unknown to the world. */
  client_name: string;
  /** Trusted instead of the system's certificate authorities. */
  ca_pem?: string;
}

/** Transactional mail that waits for a connection goes before all marketing. */
export type MailPurpose = 'transactional' | 'marketing';

export interface DeliverOptions {
  /** Transactional unless given. */
  purpose?: MailPurpose;
  /** What reports of the relays on the way name this mail by (ENVID, RFC 3461), where they know of that. */
  envelope_id?: string;
  /** Envelope sender of this mail alone. Where the relay refuses it, the route's sender is used. */
  return_path?: string | null;
  /** Fields that go before all others, unsigned; one that the mail has itself stays as it is. */
  fields?: Readonly<Record<string, string>>;
}

/**
 * How far a delivery got. `choose`: no mailbox to go out from. `compose`: before any SMTP. `interrupted`: the
 * mailer itself was stopped or crashed.
 */
export type DeliveryStage =
  | 'choose'
  | 'compose'
  | 'connect'
  | 'greeting'
  | 'tls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'interrupted';

export interface RefusedRecipient {
  address: string;
  smtp_code: number | null;
  response: string;
  /** Null: it may be taken another time. */
  about: RefusalSubject | null;
}

/** A reply that asks the mailbox for less mail. */
export interface Slowdown {
  words: string;
  /** What it asks to wait for, in milliseconds; null where it does not say. */
  asked_ms: number | null;
  /** It speaks of a limit of a day or an hour. */
  is_quota: boolean;
}

/** What the mailer says besides of what came of a mail that it handed over. */
interface Aside {
  /** What the relay said to a sender of this mail alone, where it judged the mail with another one. */
  return_path_refusal?: string;
  slowdown?: Slowdown;
}

export interface SentOutcome extends Aside {
  outcome: 'sent';
  tls: string | null;
  smtp_code: number;
  response: string;
  accepted: string[];
  /** Refused at RCPT while others were taken. */
  rejected: RefusedRecipient[];
}

/**
 * `refused`: the relay said no for good, or the mail can't be built; trying again is useless. `deferred`: it
 * may take the mail later. `unreachable`: the relay did not judge this mail; it was silent, without TLS, or
 * refused the log-in. `interrupted`: the mailer itself cut the attempt off.
 */
type UnsentKind = 'refused' | 'deferred' | 'unreachable' | 'interrupted';

export interface UnsentOutcome extends Aside {
  outcome: UnsentKind;
  stage: DeliveryStage;
  tls: string | null;
  /** What a final refusal (a 5xx; at RCPT of all recipients) speaks of. Null: another attempt may do. */
  about: RefusalSubject | null;
  /** All of the content had been handed over when contact was lost: the relay may have taken it. */
  may_be_sent: boolean;
  smtp_code: number | null;
  /** The relay's reply, or what happened instead of one. */
  response: string;
  /** Refused at RCPT, each for itself: those that are about nothing (4xx) deserve another attempt. */
  rejected: RefusedRecipient[];
  /** It greeted without 220: perhaps it is no mail server at all. */
  is_stranger?: boolean;
  /** No relay was asked, for want of what the mail is made of, or of room to make it: this is no attempt. */
  is_free?: boolean;
}

/**
 * What became of handing a mail over, classified once for all that follows. `tls` is the version that secured
 * the connection, such as `TLSv1.3`, or `none`; null without a connection.
 */
export type DeliveryOutcome = SentOutcome | UnsentOutcome;

/** Deadlines of an SMTP session, in milliseconds. */
export interface SmtpDeadlines {
  connect_ms: number;
  greeting_ms: number;
  /** Any command but DATA. */
  command_ms: number;
  /** The command DATA. */
  data_ms: number;
  /** Each block of the content, until the relay has taken it off our hands. */
  block_ms: number;
  /** The answer to the dot behind the content. */
  answer_ms: number;
  /** An unused connection is closed after this long. */
  idle_ms: number;
  /** A check of a relay as a whole. */
  check_ms: number;
  /** All of opening a connection; no more than its steps together unless given. */
  total_ms?: number;
}

/** What trying a relay came to. */
export interface RelayCheck {
  /** Where it ended; null where the relay would take mail. */
  stage: 'connect' | 'tls' | 'greeting' | 'login' | 'sender' | null;
  smtp_code: number | null;
  /** The relay's last words, or what happened instead of any. */
  words: string;
}

/** What the main thread asks of the mailer worker. */
export type MailerRequest =
  | { op: 'configure'; deadlines: SmtpDeadlines; dns_servers: readonly string[] }
  | { op: 'keep_frame'; frame: MailFrame }
  | { op: 'drop_frames' }
  | {
      op: 'deliver';
      content: MailContent | KeyedContent | WholeContent;
      route: SmtpRoute;
      recipients: string[];
      options: DeliverOptions;
      /** Its one byte is 1 once the relay may have the mail: so that is known even where the thread ends. */
      handed: Uint8Array<SharedArrayBuffer>;
    }
  | { op: 'compose'; content: MailContent | KeyedContent | WholeContent }
  | { op: 'check'; route: SmtpRoute; from: string }
  | { op: 'stop' }
  /** After 'stop': waits for no answer any more. */
  | { op: 'give_up' };

/** What the mailer worker answers. */
export type MailerReply =
  | { op: 'delivered'; outcome: DeliveryOutcome }
  | { op: 'composed'; message: Uint8Array }
  | { op: 'checked'; check: RelayCheck }
  /** To 'stop', once nothing is on its way any more; all else wants no answer. */
  | { op: 'done' };

/** The bodies as they read with a mail's values. */
export function fillFrame({ frame, values }: FramedBodies): { html: string | null; text: string | null } {
  const fill = (parts: MailFrame['html'], encode: (value: string) => string): string | null =>
    parts?.map((part) => (typeof part === 'string' ? part : encode(values[part] ?? ''))).join('') ?? null;
  const asItIs = (value: string): string => value;
  const encode = frame.are_values_html ? asItIs : Bun.escapeHTML;
  return { html: fill(frame.html, encode), text: fill(frame.text, asItIs) };
}
