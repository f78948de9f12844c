/** One client of the SMTP server: smtp-server's connection, with what it asks and answers otherwise. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { SubmissionParser } from './parser.ts';

/** Commands that a client may send before it has signed in. */
const BEFORE_SIGN_IN = new Set(['EHLO', 'HELO', 'STARTTLS', 'AUTH', 'NOOP', 'RSET', 'QUIT']);
const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;
/** Of a message within SMTP_IDLE_MS; less is a client that keeps a connection, and no slow line. */
const LEAST_PROGRESS_BYTES = 64 * 1024;

/** What a connection asks of its server. */
export interface House {
  readonly is_stopping: boolean;
  readonly has_certificate: boolean;
  readonly sign_in_ms: number;
  readonly idle_ms: number;
  /** True where a password is taken from there without TLS. */
  isTrusted(address: string): boolean;
  /** Whether there are too many connections, or of this address. */
  isFull(address: string): boolean;
  /** Its client is gone. STARTTLS takes every listener off a socket, so that it can't tell of that itself. */
  onGone(socket: Socket): void;
}

export class SubmissionConnection extends SMTPConnection {
  /** Sign-ins that failed. */
  failures = 0;
  /** The key that signed in, which is asked about anew at each message. */
  api_key: string | null = null;
  readonly #accepted: Socket;
  #deadline: Timer | undefined;
  #progress_bytes = 0;

  constructor(
    server: SMTPServer,
    socket: Socket | TLSSocket,
    private readonly house: House,
  ) {
    super(server, socket);
    this.#accepted = socket;
  }

  /** Without the library's wait for clients that talk too soon: those who sign in are no spammers. */
  override init(): void {
    this.#arm(this.house.sign_in_ms);
    this._setListeners(() => {
      if (this.house.is_stopping) this.sayStopping();
      else if (this.house.isFull(this.remoteAddress))
        this.send(421, '4.3.2 There are too many connections. Try again in a moment.');
      else this.connectionReady();
    });
  }

  override _createParser(): SMTPStream {
    const { maxCommandLength } = this._server.options;
    const parser = new SubmissionParser(maxCommandLength === undefined ? {} : { maxCommandLength });
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    parser.on('error', (error) => this.send(421, `4.3.0 ${error.message}.`));
    return parser;
  }

  override _onCommand(command: Buffer, callback: () => void = () => {}): void {
    if (this._upgrading || this._nextHandler !== false || isHttp(command)) {
      super._onCommand(command, callback);
      return;
    }
    const name = command.toString('latin1').trim().split(/\s/, 1)[0]?.toUpperCase() ?? '';
    const is_known = Boolean(this.session.user);
    if (is_known) this.#arm(this.house.idle_ms);
    if (this.house.is_stopping && name !== 'QUIT') this.sayStopping();
    else if (!is_known && !BEFORE_SIGN_IN.has(name))
      this.#refuse(530, '5.7.0 Sign in first: the password is an API key.', callback);
    else if (name === 'AUTH' && !this.#maySignIn())
      this.#refuse(538, '5.7.11 A password is taken over TLS alone: begin with STARTTLS.', callback);
    else super._onCommand(command, callback);
  }

  #refuse(code: number, text: string, callback: () => void): void {
    this.send(code, text);
    setImmediate(() => this._whenWritable(callback));
  }

  /** What EHLO offers. */
  override _isSupported(command: string): boolean {
    if (command === 'AUTH' && !this.#maySignIn()) return false;
    if (command === 'STARTTLS' && !this.house.has_certificate) return false;
    return super._isSupported(command);
  }

  #maySignIn(): boolean {
    return this.secure || this.house.isTrusted(this.remoteAddress);
  }

  /** A text that begins with an enhanced code gets no other. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const has_code = typeof data === 'string' && ENHANCED_CODE.test(data);
    super.send(code, data, has_code ? false : context);
  }

  sayStopping(): void {
    this.send(421, '4.3.2 The server is stopping. Try again in a moment.');
  }

  /** Whether nothing was asked that is yet to be answered. */
  get is_idle(): boolean {
    return !this._handlerPending && !this._dataStream;
  }

  signIn(api_key: string): void {
    this.api_key = api_key;
    this.failures = 0;
    this.#arm(this.house.idle_ms);
  }

  /** Ends the sign-in: the key answers no more. */
  signOut(): void {
    this.api_key = null;
    this.session.user = undefined;
    this.#arm(this.house.sign_in_ms);
  }

  /** So much of a message came. */
  noteProgress(bytes: number): void {
    this.#progress_bytes += bytes;
    if (this.#progress_bytes < LEAST_PROGRESS_BYTES) return;
    this.#progress_bytes = 0;
    this.#arm(this.house.idle_ms);
  }

  override _onClose(): void {
    clearTimeout(this.#deadline);
    this.house.onGone(this.#accepted);
    super._onClose();
  }

  /** The library's own timeout starts again with every byte. */
  #arm(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      // What it waits for is our own answer.
      const waits_for_us =
        this._handlerPending || (this._dataStream && this._parser && !this._parser._dataMode);
      if (waits_for_us) this.#arm(ms);
      else this.send(421, '4.4.2 Nothing came for too long.');
    }, ms);
  }
}

/** A web page that has a browser talk to this port: the library ends such a connection. */
function isHttp(command: Buffer): boolean {
  return /^(OPTIONS|GET|HEAD|POST|PUT|DELETE|TRACE|CONNECT) \/.* HTTP\/\d\.\d$/i.test(command.toString());
}
