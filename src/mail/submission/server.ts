/** The SMTP server of its thread: its listeners, who may connect, and what clients are told. */
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { messageOf } from '../../errors.ts';
import { BlobStore } from '../../platform/files/store.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { Turns } from '../../platform/host/turns.ts';
import { createNetworkMatcher, networkOf } from '../../platform/http/client-ip.ts';
import { isLoopback } from '../../platform/http/hosts.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { type House, SubmissionConnection } from './connection.ts';
import { receive } from './intake.ts';
import {
  type Answer,
  type Measures,
  type Question,
  Refusal,
  SMTP_IDLE_MS,
  SMTP_READ_MS,
  SMTP_SIGN_IN_MS,
  type ThreadSettings,
  type TlsPair,
} from './protocol.ts';

/** Decision: connections in all, of strangers, who are neither local nor in SATCHEL_SMTP_PLAIN_FROM, and of one of these. */
const SMTP_CONNECTIONS = 200;
const SMTP_CONNECTIONS_OF_STRANGERS = 150;
const SMTP_CONNECTIONS_PER_ADDRESS = 20;
/** Decision: the failed sign-in that ends a connection. */
const SMTP_SIGN_IN_TRIES = 3;
/** Decision: recipients of one message, each of which makes a mail. */
const SMTP_RECIPIENTS = 50;

/** What smtp-server knows beyond what a mail needs, and would answer to anybody. */
const DISABLED = ['HELP', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];
/** So many times as many connections are told that there are too many; beyond that they are hung up on. */
const TOLD = 2;
/** How often a stop looks whether the last client is gone. */
const STOP_LOOK_MS = 20;

export class SubmissionServer implements House {
  readonly measures: Measures = { connections: 0, taken: 0, put_off: 0, refused: 0, failed_sign_ins: 0 };
  readonly sign_in_ms: number;
  readonly idle_ms: number;
  readonly isTrusted: (address: string) => boolean;
  is_stopping = false;
  readonly #settings: ThreadSettings;
  readonly #ask: (question: Question) => Promise<Answer>;
  readonly #blobs: BlobStore;
  readonly #turns = new Turns();
  readonly #connections = new WeakMap<SMTPServerSession, SubmissionConnection>();
  readonly #sockets = new Map<Socket, { network: string; is_trusted: boolean; deadline: Timer }>();
  #servers: SMTPServer[] = [];
  #tls_server: SMTPServer | null = null;
  #pair: TlsPair | null;

  constructor(settings: ThreadSettings, ask: (question: Question) => Promise<Answer>) {
    this.#settings = settings;
    this.#ask = ask;
    this.#pair = settings.pair;
    this.sign_in_ms = settings.sign_in_ms ?? SMTP_SIGN_IN_MS;
    this.idle_ms = settings.idle_ms ?? SMTP_IDLE_MS;
    this.#blobs = new BlobStore(settings.data_dir);
    const isWithin = createNetworkMatcher(settings.plain_from);
    // A listener at :: has IPv4 clients as ::ffff:192.0.2.1.
    this.isTrusted = (address) => isLoopback(address.replace(/^::ffff:/i, '')) || isWithin(address);
  }

  get has_certificate(): boolean {
    return this.#pair !== null;
  }

  isFull(address: string): boolean {
    const open = this.#servers.flatMap(({ connections }) => [...connections]);
    const strangers = open.filter(({ remoteAddress }) => !this.isTrusted(remoteAddress));
    // Those who are just told that there are too many take nobody's place.
    const taken = open.length - strangers.length + Math.min(strangers.length, SMTP_CONNECTIONS_OF_STRANGERS);
    if (taken > SMTP_CONNECTIONS) return true;
    if (this.isTrusted(address)) return false;
    if (strangers.length > SMTP_CONNECTIONS_OF_STRANGERS) return true;
    const network = networkOf(address);
    const same = strangers.filter(({ remoteAddress }) => networkOf(remoteAddress) === network);
    return same.length > SMTP_CONNECTIONS_PER_ADDRESS;
  }

  /** Opens the listeners. The one that begins with TLS waits for a certificate. Throws where a port can't be had. */
  async start(): Promise<{ port: number | null; tls_port: number | null }> {
    const { port, tls_port } = this.#settings;
    return {
      port: port === null ? null : await this.#listen(false, port),
      tls_port: tls_port === null || !this.#pair ? tls_port : await this.#listen(true, tls_port),
    };
  }

  /** Has new connections get another certificate, which is a good one. */
  async use(pair: TlsPair): Promise<void> {
    this.#pair = pair;
    for (const server of this.#servers) server.updateSecureContext(pair);
    const { tls_port } = this.#settings;
    if (tls_port !== null && !this.#tls_server) await this.#listen(true, tls_port);
  }

  /** Takes nothing new, and lets messages that are on their way come to their end until the deadline. */
  async stop(deadline_ms: number): Promise<void> {
    this.is_stopping = true;
    const ends_ms = monotonicMs() + deadline_ms;
    for (const { server } of this.#servers) server.close();
    const left = (): SubmissionConnection[] =>
      this.#servers.flatMap(({ connections }) => [...connections]).filter(isOurs);
    const dismissIdle = (): void => {
      for (const connection of left()) if (connection.is_idle) connection.sayStopping();
    };
    for (dismissIdle(); left().length > 0 && monotonicMs() < ends_ms; dismissIdle())
      await Bun.sleep(STOP_LOOK_MS);
    for (const connection of left()) connection.sayStopping();
  }

  async #listen(secure: boolean, port: number): Promise<number> {
    const server = this.#create(secure);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.server.once('error', reject);
    server.listen(port, this.#settings.host, resolve);
    await promise;
    server.server.off('error', reject);
    this.#servers.push(server);
    if (secure) this.#tls_server = server;
    const address = server.server.address();
    return typeof address === 'object' && address ? address.port : port;
  }

  #create(secure: boolean): SMTPServer {
    const { name, max_bytes } = this.#settings;
    const options: SMTPServerOptions = {
      name,
      banner: 'Satchel',
      secure,
      ...(this.#pair ?? {}),
      minVersion: 'TLSv1.2',
      size: max_bytes,
      disabledCommands: DISABLED,
      hideSMTPUTF8: true,
      hideENHANCEDSTATUSCODES: false,
      heloResponse: '%s',
      allowInsecureAuth: true,
      disableReverseLookup: true,
      maxRecipients: SMTP_RECIPIENTS,
      maxClients: TOLD * SMTP_CONNECTIONS,
      maxAllowedUnauthenticatedCommands: Number.POSITIVE_INFINITY,
      // The connection has times of its own.
      socketTimeout: this.idle_ms + this.sign_in_ms,
      logger: false,
      onAuth: (auth, session, done) =>
        void this.#signIn(this.#of(session), auth.password ?? '').then(
          (user) => done(null, { user }),
          (error) => done(error),
        ),
      onMailFrom: ({ args }, session, done) =>
        void this.#begin(this.#of(session), args !== false && 'SMTPUTF8' in args).then(() => done(), done),
      onRcptTo: ({ address }, _session, done) => done(parseAddress(address) ? null : NO_ADDRESS()),
      onData: (stream, session, done) =>
        void this.#receive(this.#of(session), stream).then((text) => done(null, text), done),
    };
    const server = new SMTPServer(options);
    server.connect = (socket) => {
      const connection = new SubmissionConnection(server, socket, this);
      this.#connections.set(connection.session, connection);
      server.connections.add(connection);
      connection.on('error', () => {});
      connection.init();
    };
    // What a client or its network does is nothing to report.
    server.on('error', () => {});
    server.server.prependListener('connection', (socket: Socket) => this.#guard(socket));
    return server;
  }

  /** From its first moment a socket has as long as its client may take to sign in: for a TLS handshake too. */
  #guard(socket: Socket): void {
    const address = socket.remoteAddress ?? '127.0.0.1';
    const network = networkOf(address);
    const is_trusted = this.isTrusted(address);
    const strangers = [...this.#sockets.values()].filter((other) => !other.is_trusted);
    const same = strangers.filter((other) => other.network === network);
    const is_flooding =
      !is_trusted &&
      (same.length >= TOLD * SMTP_CONNECTIONS_PER_ADDRESS ||
        strangers.length >= TOLD * SMTP_CONNECTIONS_OF_STRANGERS);
    if (is_flooding || this.#sockets.size >= TOLD * SMTP_CONNECTIONS) {
      socket.destroy();
      return;
    }
    const deadline = setTimeout(() => {
      if (this.#servers.some(({ _pendingSockets }) => _pendingSockets.has(socket))) socket.destroy();
    }, this.sign_in_ms);
    this.#sockets.set(socket, { network, is_trusted, deadline });
    socket.once('close', () => this.onGone(socket));
    this.measures.connections = this.#sockets.size;
  }

  onGone(socket: Socket): void {
    clearTimeout(this.#sockets.get(socket)?.deadline);
    this.#sockets.delete(socket);
    this.measures.connections = this.#sockets.size;
  }

  #of(session: SMTPServerSession): SubmissionConnection {
    const connection = this.#connections.get(session);
    if (!connection) throw new Error('a session has no connection');
    return connection;
  }

  async #signIn(connection: SubmissionConnection, api_key: string): Promise<string> {
    const answer = await this.#ask({ op: 'sign_in', api_key });
    if (answer.ok) {
      connection.signIn(api_key);
      return 'key';
    }
    this.measures.failed_sign_ins += 1;
    connection.failures += 1;
    if (connection.failures < SMTP_SIGN_IN_TRIES) throw new Refusal(answer.reply);
    throw new Refusal({ code: 421, text: '4.7.0 Too many sign-ins failed.' });
  }

  async #begin(connection: SubmissionConnection, is_utf8: boolean): Promise<void> {
    if (is_utf8) throw new Refusal({ code: 555, text: '5.5.4 SMTPUTF8 is not offered here.' });
    const answer = await this.#ask({ op: 'begin', api_key: connection.api_key ?? '' });
    if (answer.ok) return;
    if (answer.reply.code === 530) connection.signOut();
    throw new Refusal(answer.reply);
  }

  async #receive(connection: SubmissionConnection, stream: AsyncIterable<Buffer>): Promise<string> {
    const { max_bytes, read_ms = SMTP_READ_MS } = this.#settings;
    const count = (code: number): void => {
      this.measures[code < 400 ? 'taken' : code < 500 ? 'put_off' : 'refused'] += 1;
    };
    try {
      const text = await receive(
        {
          stream,
          api_key: connection.api_key ?? '',
          recipients: connection.session.envelope.rcptTo,
          onProgress: (bytes) => connection.noteProgress(bytes),
          hangUp({ code, text }) {
            connection.send(code, text);
            connection.close();
          },
        },
        { blobs: this.#blobs, max_bytes, read_ms, turns: this.#turns, ask: this.#ask },
      );
      count(250);
      return text;
    } catch (error) {
      if (!(error instanceof Refusal)) throw new Refusal({ code: 451, text: `4.3.0 ${messageOf(error)}` });
      count(error.responseCode);
      throw error;
    }
  }
}

const NO_ADDRESS = (): Refusal => new Refusal({ code: 501, text: '5.1.3 That is no email address.' });

function isOurs(connection: unknown): connection is SubmissionConnection {
  return connection instanceof SubmissionConnection;
}
