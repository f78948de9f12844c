/** What the SATCHEL_SMTP_ settings say: where apps hand mail in by SMTP, and who may do so without TLS; and the bounds of that. */

export interface SmtpSettings {
  readonly host: string;
  /** Where a connection begins in the clear; null is nowhere. */
  readonly port: number | null;
  /** Where it begins with TLS; null is nowhere. */
  readonly tls_port: number | null;
  /** The certificate where `serve --tls` sees to none. */
  readonly certificate: { readonly cert_file: string; readonly key_file: string } | null;
  /** Whom a password is taken from without TLS, besides this machine: addresses and networks. */
  readonly plain_from: readonly string[];
  readonly max_bytes: number;
}

/** Decision: the largest message, as its headers and encoded parts. 25 MiB is what the large receivers take. */
export const DEFAULT_SMTP_MAX_BYTES = 25 * 1024 * 1024;
export const MIN_SMTP_MAX_BYTES = 64 * 1024;
export const MAX_SMTP_MAX_BYTES = 150 * 1024 * 1024;
/** Decision: connections in all, and of one address that is neither this machine nor in SATCHEL_SMTP_PLAIN_FROM. */
export const SMTP_CONNECTIONS = 200;
export const SMTP_CONNECTIONS_PER_ADDRESS = 20;
/** Decision: how long a connection may be without signing in, and idle after that. */
export const SMTP_SIGN_IN_MS = 60_000;
export const SMTP_IDLE_MS = 5 * 60_000;
/** Decision: the failed sign-in that ends a connection. */
export const SMTP_SIGN_IN_TRIES = 3;
/** Decision: recipients of one message, each of which makes a mail. */
export const SMTP_RECIPIENTS = 50;
/** Decision: what one section of header fields may have, that of the message or of a part. */
export const SMTP_HEADER_BYTES = 256 * 1024;
export const SMTP_HEADER_FIELDS = 1_000;
/** RFC 5322, 2.1.1: octets of a line without its CRLF. */
export const SMTP_LINE_BYTES = 998;
/** Decision: MIME parts of a message, and how deep they may stand in one another. */
export const SMTP_PARTS = 500;
export const SMTP_PART_DEPTH = 20;
/** Decision: what the log shows of a text, and how long reading a message for that may take. */
export const SMTP_SHOWN_BYTES = 500 * 1024;
export const SMTP_READ_MS = 5_000;
