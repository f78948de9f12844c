/** What the main thread and the thread that speaks SMTP tell each other. */

/** Decision: how long a connection may be without signing in, and idle after that; and how long reading a message may take. */
export const SMTP_SIGN_IN_MS = 60_000;
export const SMTP_IDLE_MS = 5 * 60_000;
export const SMTP_READ_MS = 5_000;

/** A certificate chain and its key, in PEM. */
export interface TlsPair {
  cert: string;
  key: string;
}

export interface ThreadSettings {
  /** What the greeting and EHLO call this server. */
  name: string;
  host: string;
  port: number | null;
  tls_port: number | null;
  plain_from: readonly string[];
  max_bytes: number;
  /** Messages are written into its folder of bytes. */
  data_dir: string;
  pair: TlsPair | null;
  /** Other times than SMTP_SIGN_IN_MS, SMTP_IDLE_MS and SMTP_READ_MS, for tests. */
  sign_in_ms?: number;
  idle_ms?: number;
  read_ms?: number;
}

/** A message that is on disk under its id, and was read. */
export interface Submitted {
  id: string;
  size_bytes: number;
  /** Hex. */
  sha256: string;
  /** Null where From holds no single address. */
  from_email: string | null;
  from_name: string | null;
  reply_to: string | null;
  subject: string;
  message_id: string;
  idempotency_key: string | null;
  /** In their order, each once. */
  recipients: string[];
}

/** An SMTP reply of three digits; the text begins with an enhanced code. */
export interface Reply {
  code: number;
  text: string;
}

/** What the thread asks: whether a key may sign in, whether it may begin a message, and to take one. */
export type Question =
  | { op: 'sign_in'; api_key: string }
  | { op: 'begin'; api_key: string }
  | { op: 'take'; api_key: string; message: Submitted };

/** `id`: of the first mail. Unless it `is_kept`, the message's bytes are to go: this is the answer to an earlier one. */
export type Answer =
  | { ok: true; taken: { id: string; is_kept: boolean } | null }
  | { ok: false; reply: Reply };

/** Since the thread began, but for what is open now. */
export interface Measures {
  connections: number;
  /** By the first digit of the reply to the end of DATA. */
  taken: number;
  put_off: number;
  refused: number;
  failed_sign_ins: number;
}

export type ToThread =
  | { op: 'start'; settings: ThreadSettings }
  | { op: 'pair'; pair: TlsPair }
  | { op: 'answer'; id: number; answer: Answer }
  | { op: 'stop'; deadline_ms: number };

export type FromThread =
  | { op: 'started'; port: number | null; tls_port: number | null }
  | { op: 'failed'; message: string }
  | { op: 'ask'; id: number; question: Question }
  | { op: 'measures'; measures: Measures }
  | { op: 'stopped' };

/** The end of a command that is refused: the reply goes to the client. */
export class Refusal extends Error {
  readonly responseCode: number;

  constructor({ code, text }: Reply) {
    super(text);
    this.responseCode = code;
  }
}
