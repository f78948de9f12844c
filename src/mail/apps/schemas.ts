/** What apps ask to be sent by another product's API, whichever that is: as it was read, and as it is kept. */

export interface Party {
  address: string;
  name: string | null;
}

/** As they were sent: addresses, with their names or not. */
export interface Parties {
  to?: string[];
  cc?: string[];
  bcc?: string[];
  reply_to?: string[];
}

/** An object that is attached: its bytes in a file, or a copy of them. */
export interface StoredFile {
  path: string;
  filename: string;
  mime_type: string;
  size_bytes: number;
}

/** Where its bytes came along, `content`; else what names the object that has them. */
export interface OutgoingFile {
  /** Null where the object has one. */
  filename: string | null;
  mime_type: string | null;
  content_id: string | null;
  content: Buffer | { object: string };
}

/** One message, read from a request. */
export interface Outgoing {
  from: Party;
  to: readonly Party[];
  cc: readonly Party[];
  bcc: readonly Party[];
  reply_to: readonly Party[];
  subject: string;
  html: string | null;
  /** Made of the HTML where there is none. */
  text: string | null;
  headers: readonly { key: string; value: string }[];
  files: readonly OutgoingFile[];
  /** With brackets; made unless given. */
  message_id?: string;
  scheduled_at: number | null;
  parties: Parties;
  /** What else is kept with the call. */
  extra: Record<string, unknown>;
  /** It is captured, whatever the key. */
  is_test?: boolean;
  /** Names of fields that mean nothing here. */
  ignored?: readonly string[];
  /** The id of its only mail, where its picture names that. */
  email_id?: string | undefined;
  /** The message where it came whole, in place of what it is made of. */
  raw?: Buffer;
}

/** What differs from mail to mail of a call that has one for each recipient. */
export interface BulkRecipient {
  to: Party;
  subject: string;
  headers: Record<string, string>;
  /** With brackets; null: the call's. */
  message_id: string | null;
  /** Those that stand in the bodies. */
  values: Record<string, string>;
}

/** A mail for each recipient, all made of the same. */
export interface Bulk
  extends Pick<
    Outgoing,
    'from' | 'html' | 'text' | 'files' | 'scheduled_at' | 'extra' | 'is_test' | 'ignored'
  > {
  /** As it was sent, with brackets and perhaps holes; null: it is made. */
  message_id: string | null;
  has_picture: boolean;
  recipients: BulkRecipient[];
}

/** The same, with its files on the disk. */
export interface ComposedBulk extends Omit<Bulk, 'files'> {
  id: string;
  files: {
    id: string;
    filename: string;
    mime_type: string;
    content_id: string | null;
    size_bytes: number;
    sha256: string;
  }[];
}

/** The same on the disk, under its id. */
export interface Composed
  extends Pick<
    Outgoing,
    | 'from'
    | 'reply_to'
    | 'subject'
    | 'scheduled_at'
    | 'parties'
    | 'extra'
    | 'is_test'
    | 'ignored'
    | 'email_id'
  > {
  id: string;
  size_bytes: number;
  /** Hex. */
  sha256: string;
  message_id: string;
  /** Each once. */
  recipients: Party[];
}
