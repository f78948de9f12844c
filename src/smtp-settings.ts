/** The SATCHEL_SMTP_ settings: where apps hand mail in by SMTP, who may without TLS; their bounds. */

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

export const SMTP_SETTINGS = [
  'SATCHEL_SMTP_HOST',
  'SATCHEL_SMTP_PORT',
  'SATCHEL_SMTPS_PORT',
  'SATCHEL_SMTP_TLS_CERT',
  'SATCHEL_SMTP_TLS_KEY',
  'SATCHEL_SMTP_PLAIN_FROM',
  'SATCHEL_SMTP_MAX_BYTES',
] as const;
type SmtpSetting = (typeof SMTP_SETTINGS)[number];

/** The settings as they were read one by one. */
interface Given extends Pick<SmtpSettings, 'host' | 'plain_from' | 'max_bytes'> {
  get(name: SmtpSetting): string | null;
  portOf(name: SmtpSetting): number | null;
  /** Where HTTP is served, and whether a certificate is seen to for that. */
  http: { port: number; tls: { http_port: number } | null };
  bad(setting: string, expected: string): Error;
}

/** All of them; null where nothing listens. Throws what `bad` makes of settings that do not go together. */
export function readSmtp({ get, portOf, http, bad, ...rest }: Given): SmtpSettings | null {
  const port = portOf('SATCHEL_SMTP_PORT');
  const tls_port = portOf('SATCHEL_SMTPS_PORT');
  if (port === null && tls_port === null) {
    const alone = SMTP_SETTINGS.find((name) => get(name) !== null);
    if (alone) throw bad(alone, 'goes with SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT');
    return null;
  }
  // 0 has the system choose one.
  const ports = [http.port, http.tls?.http_port, port, tls_port].filter(Boolean);
  if (new Set(ports).size < ports.length)
    throw bad('SATCHEL_SMTP_PORT and SATCHEL_SMTPS_PORT', 'must each be a port that nothing else here uses');
  const [cert_file, key_file] = [get('SATCHEL_SMTP_TLS_CERT'), get('SATCHEL_SMTP_TLS_KEY')];
  if ((cert_file === null) !== (key_file === null))
    throw bad('SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY', 'go together: set both, or neither');
  if (tls_port !== null && cert_file === null && !http.tls)
    throw bad(
      'SATCHEL_SMTPS_PORT',
      'needs a certificate: SATCHEL_TLS (serve --tls), or SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY',
    );
  const certificate = cert_file === null || key_file === null ? null : { cert_file, key_file };
  return { ...rest, port, tls_port, certificate };
}

/** Decision: the largest message, with headers and encoded parts. Large receivers take 25 MiB. */
export const SMTP_MAX_BYTES = { fallback: 25 * 1024 ** 2, min: 64 * 1024, max: 150 * 1024 ** 2 };
/** Decision: connections in all, of strangers, who are neither local nor in SATCHEL_SMTP_PLAIN_FROM, and of one of these. */
export const SMTP_CONNECTIONS = 200;
export const SMTP_CONNECTIONS_OF_STRANGERS = 150;
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
/** Decision: what the log shows of a text, and how long reading a message may take. */
export const SMTP_SHOWN_BYTES = 500 * 1024;
export const SMTP_READ_MS = 5_000;
