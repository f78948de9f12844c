/** One SMTP connection: opens it (TCP, TLS, greeting, log-in) and sends mails one by one, with deadlines. */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { Readable, Transform } from 'node:stream';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { domainToASCII } from 'node:url';
import type { NodemailerError } from 'nodemailer/lib/errors.js';
import SMTPConnection, { type SMTPConnectionEnvelope } from 'nodemailer/lib/smtp-connection';
import { monotonicMs } from '../host/clock.ts';
import { lacksDescriptors } from '../host/shortages.ts';
import { isLoopback } from '../http/hosts.ts';
import { bytesOf, type ComposedMessage } from './message.ts';
import { interruptedOutcome, postponedOutcome, unsentOutcome } from './outcomes.ts';
import { isLinkLocal, LINK_LOCAL, type ServerLookup } from './server-lookup.ts';
import { outcomeOfOpening, outcomeOfSending, readReply, STRANGER, sentOutcome } from './smtp-replies.ts';
import type { DeliveryOutcome, DeliveryStage, SmtpDeadlines, SmtpRoute, UnsentOutcome } from './types.ts';

export interface Envelope {
  from: string;
  recipients: readonly string[];
  id: string | null;
  /** Called as all of its content has been handed over: from here on the relay may have it. */
  onWritten: () => void;
}

/** RFC 5321 4.5.3.1.5: a line of a reply has 512; some have many lines. */
const MAX_REPLY_CHARS = 8_192;
/** What of the content goes to the socket at a time: a relay has the deadline for each. */
const BLOCK_BYTES = 64 * 1024;

const NO_DESCRIPTORS = 'The server has no file descriptor left for a connection (LimitNOFILE, ulimit -n).';

/** What sessions need besides their relay. */
export interface SessionTerms {
  deadlines: SmtpDeadlines;
  /** Finds where a relay is. */
  lookup: ServerLookup;
}

/** Connects, greets, secures and logs in. Never throws: a failure is an outcome as of a delivery. */
export async function openSession(
  route: SmtpRoute,
  { deadlines, lookup }: SessionTerms,
): Promise<SmtpSession | UnsentOutcome> {
  const ends_ms = monotonicMs() + (deadlines.total_ms ?? Number.POSITIVE_INFINITY);
  const atMost = (limit_ms: number): number => Math.max(1, Math.min(limit_ms, ends_ms - monotonicMs()));
  if (isLinkLocal(route.host))
    return unsentOutcome({ stage: 'connect', response: `The server ${LINK_LOCAL}.` });
  const socket = await connectSocket(route, atMost(deadlines.connect_ms), lookup);
  if ('outcome' in socket) return lacksDescriptors() ? postponedOutcome(NO_DESCRIPTORS) : socket;
  const connection = new SMTPConnection({
    host: route.host,
    port: route.port,
    name: route.client_name,
    connection: socket,
    secure: route.security === 'tls',
    secured: route.security === 'tls',
    requireTLS: route.security === 'starttls',
    ignoreTLS: route.security === 'none',
    tls: tlsOptions(route),
    greetingTimeout: deadlines.greeting_ms,
    // Longer than the deadlines of this module, which are the ones that count.
    connectionTimeout: deadlines.greeting_ms + 2 * deadlines.command_ms,
    socketTimeout: 2 * Math.max(...Object.values(deadlines)),
    socketCloseTimeout: 0,
  });
  // Errors reach the step that waits for an answer; without any such step 'end' says all that matters.
  connection.on('error', () => {});
  const handshake_ms = deadlines.greeting_ms + 2 * deadlines.command_ms;
  const greeting_error = await step(connection, atMost(handshake_ms), (done) => connection.connect(done), {
    socket,
    answer_ms: deadlines.command_ms,
  });
  const tls = tlsVersionOf(connection);
  if (greeting_error) {
    const refusal = { ...greetedOutcome(greeting_error), tls };
    // Where both sides wait for the other, the port may be one that begins with TLS.
    const may_be_tls = greeting_error.timeoutType === 'GREETING_TIMEOUT' && route.security !== 'tls';
    return may_be_tls
      ? {
          ...refusal,
          response: `${refusal.response}. A port that begins with TLS, such as 465, wants smtps://.`,
        }
      : refusal;
  }
  const { username, password } = route;
  if (username !== null) {
    if (!connection.secure && !isLoopback(route.host)) {
      connection.close();
      const response = 'The relay offers no TLS, so the password was not sent to it.';
      return unsentOutcome({ stage: 'tls', response });
    }
    // Without the log-in the relay would refuse the mail as a stranger's, as if its recipients were at fault.
    if (!connection.allowsAuth) {
      connection.close();
      const response =
        'The relay offers no log-in on this port: try another one, or add the mailbox without a user name.';
      return unsentOutcome({ stage: 'auth', response, tls });
    }
    const auth = { credentials: { user: username, pass: password ?? '' } };
    const limit_ms = atMost(deadlines.command_ms);
    const error = await step(connection, limit_ms, (done) => connection.login(auth, done));
    if (error) return { ...outcomeOfOpening(error, 'auth'), tls };
  }
  return new SmtpSession(connection, deadlines);
}

/**
 * What greets without 220 may be no mail server: none of its words are told then, unless they are a refusal as
 * mail servers write them. Nodemailer has the command CONN for what came before any.
 */
function greetedOutcome(error: NodemailerError): UnsentOutcome {
  const outcome = outcomeOfOpening(error, 'greeting');
  if (error.command !== 'CONN' || error.response === undefined) return outcome;
  return { ...outcome, is_stranger: true, ...(outcome.smtp_code === null ? { response: STRANGER } : {}) };
}

function tlsVersionOf({ _socket: socket }: SMTPConnection): string {
  return (socket instanceof TLSSocket ? socket.getProtocol() : null) ?? 'none';
}

function tlsOptions(route: SmtpRoute) {
  const is_unchecked = route.security === 'opportunistic' && isLoopback(route.host);
  return {
    minVersion: 'TLSv1.2' as const,
    rejectUnauthorized: !is_unchecked,
    ...(isIP(route.host) === 0 ? { servername: route.host } : {}),
    ...(route.ca_pem === undefined ? {} : { ca: route.ca_pem }),
  };
}

/** A connected socket, with TLS where the route begins so. The deadline covers look-up, TCP and TLS. */
function connectSocket(
  route: SmtpRoute,
  limit_ms: number,
  lookup: ServerLookup,
): Promise<Socket | UnsentOutcome> {
  return new Promise((resolve) => {
    const { host, port } = route;
    const target = { host, port, ...lookup };
    const is_tls = route.security === 'tls';
    const socket = is_tls ? connectTls({ ...target, ...tlsOptions(route) }) : connectTcp(target);
    const give_up = setTimeout(() => {
      socket.destroy();
      const response = `No connection to the relay within ${limit_ms / 1000} s.`;
      resolve(unsentOutcome({ stage: 'connect', response }));
    }, limit_ms);
    const onError = (error: Error): void => {
      clearTimeout(give_up);
      socket.destroy();
      resolve(outcomeOfOpening(error, 'connect'));
    };
    const onClose = (): void => onError(new Error('The relay closed the connection at once.'));
    socket.on('error', onError).once('close', onClose);
    socket.once(is_tls ? 'secureConnect' : 'connect', () => {
      clearTimeout(give_up);
      socket.off('close', onClose);
      // The error listener stays until nodemailer adds its own. Once the promise is settled it does nothing.
      resolve(socket);
    });
  });
}

/**
 * Runs a step of nodemailer's until it calls back, the connection ends or time is up. Null is success; else
 * the connection is closed. Where a step has several answers over the socket, each starts the next one's
 * time.
 */
function step(
  connection: SMTPConnection,
  limit_ms: number,
  start: (done: (error?: NodemailerError | null) => void) => void,
  several?: { socket: Socket; answer_ms: number },
): Promise<NodemailerError | null> {
  return new Promise((resolve) => {
    let next_answer: Timer | undefined;
    let is_over = false;
    const onAnswer = (): void => {
      // The last answer still arrives here: a listener that is removed during an event still gets that event.
      if (!several || is_over) return;
      clearTimeout(next_answer);
      next_answer = setTimeout(() => finish(silence(several.answer_ms)), several.answer_ms);
      // What follows STARTTLS is no answer any more, but TLS.
      if (connection._socket !== several.socket) several.socket.off('data', onAnswer);
    };
    const finish = (error?: NodemailerError | null): void => {
      is_over = true;
      clearTimeout(give_up);
      clearTimeout(next_answer);
      several?.socket.off('data', onAnswer);
      connection.off('error', finish).off('end', onEnd);
      if (error) connection.close();
      resolve(error ?? null);
    };
    const onEnd = (): void => finish(new Error('The relay closed the connection.'));
    const give_up = setTimeout(() => finish(silence(limit_ms)), limit_ms);
    connection.on('error', finish).once('end', onEnd);
    start(finish);
    // Nodemailer listens from the next turn of the event loop on. Listening earlier would take its greeting.
    if (several) setImmediate(() => several.socket.on('data', onAnswer));
  });
}

function silence(limit_ms: number): NodemailerError {
  return new Error(`No answer from the relay within ${Math.round(limit_ms / 100) / 10} s.`);
}

/** A mail on its way: how far it got, and how to end the wait for it. */
interface Sending {
  stage: DeliveryStage;
  is_all_written: boolean;
  onWritten(): void;
  /** Gives the relay time for its next step. */
  renew(): void;
  finish(outcome: DeliveryOutcome): void;
}

export class SmtpSession {
  readonly #tls: string;
  #sending: Sending | null = null;
  #is_closed = false;

  constructor(
    private readonly connection: SMTPConnection,
    private readonly deadlines: SmtpDeadlines,
  ) {
    this.#tls = tlsVersionOf(connection);
    connection.once('end', () => {
      this.#is_closed = true;
    });
    // Each reply within the envelope gives the next command its own time. After it, one answer to the whole
    // content must come in time.
    const onReply = (): void => (this.isPastEnvelope ? undefined : this.#sending?.renew());
    if (connection._socket) connection._socket.on('data', onReply);
  }

  get isClosed(): boolean {
    return this.#is_closed;
  }

  /** Whether the content of a mail is on its way or its answer is awaited. */
  get isPastEnvelope(): boolean {
    return this.#sending?.stage === 'data';
  }

  /** Calls back once when the connection ends, whichever side ended it. */
  onClosed(listener: () => void): void {
    if (this.#is_closed) listener();
    else this.connection.once('end', listener);
  }

  /** Sends one mail. Never throws. After a refusal it may be closed; else reset it before the next mail. */
  async send(envelope: Envelope, message: ComposedMessage): Promise<DeliveryOutcome> {
    const original = new Map(envelope.recipients.map((address) => [toAscii(address), address]));
    const to = [...original.keys()];
    const tracked: SMTPConnectionEnvelope = {
      from: toAscii(envelope.from),
      to,
      size: message.size_bytes,
      // Said where the relay offers it. Elsewhere the message goes as it is, as in Exim and qmail: changing
      // it breaks signatures.
      use8BitMime: message.is_8bit,
      rcptQueue: [],
      rejected: [],
      rejectedErrors: [],
      accepted: [],
      // Sent only where the relay offers DSN (RFC 3461). Set for each RCPT, as nodemailer has one ORCPT for
      // all.
      get dsn() {
        const current = to[to.length - (tracked.rcptQueue?.length ?? 0) - 1] ?? '';
        return {
          ret: 'HDRS',
          orcpt: `rfc822;${current}`,
          ...(envelope.id === null ? {} : { envid: envelope.id }),
        };
      },
      set dsn(_normalized) {},
    };
    const content = { message, lines: await linesOf(message) };
    const transferred = await this.#transfer(tracked, original, content, envelope.onWritten);
    const outcome = { ...transferred, tls: this.#tls };
    if (outcome.outcome === 'sent') return outcome;
    // A refusal by reply leaves the session usable, anything else leaves it in an unknown state.
    const is_reply = outcome.smtp_code !== null && outcome.smtp_code !== 421;
    if (!is_reply || this.#hasContentLeft) this.close();
    return outcome;
  }

  /** The relay's reply to a sender, which it then forgets. Nothing can be sent afterwards. */
  async askSender(from: string, limit_ms: number): Promise<{ smtp_code: number | null; words: string }> {
    const { _socket: socket } = this.connection;
    if (!socket || this.#is_closed) return readReply('');
    const reply = Promise.withResolvers<string>();
    const end = (): void => reply.resolve('');
    let heard = '';
    // From here on its replies are read here.
    socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
      heard = (heard + bytes.toString()).slice(0, MAX_REPLY_CHARS);
      if (/^\d{3}(?: .*)?\r?\n/m.test(heard)) reply.resolve(heard);
    });
    this.onClosed(end);
    const give_up = setTimeout(end, limit_ms);
    socket.write(`MAIL FROM:<${toAscii(from)}>\r\n`);
    const words = await reply.promise;
    clearTimeout(give_up);
    if (words !== '' && !this.#is_closed) socket.write('RSET\r\n');
    return readReply(words);
  }

  /** Cuts off the mail in hand, as when the mailer stops. If it was all written, its answer is lost. */
  interrupt(response: string): void {
    const sending = this.#sending;
    this.close();
    sending?.finish(
      sending.is_all_written
        ? unsentOutcome({ stage: 'data', response, may_be_sent: true })
        : interruptedOutcome(response, { may_be_sent: false }),
    );
  }

  /** Has the relay forget a mail that it refused; where it does not, the session is closed. */
  async reset(): Promise<void> {
    if (this.#is_closed) return;
    await step(this.connection, this.deadlines.command_ms, (done) => this.connection.reset(done));
  }

  /** Says QUIT to an idle relay, which has as long for its answer as for a connection. */
  quit(): void {
    if (this.#is_closed) return;
    this.connection.quit();
    const give_up = setTimeout(() => this.close(), this.deadlines.connect_ms);
    this.onClosed(() => clearTimeout(give_up));
  }

  close(): void {
    this.connection.close();
  }

  #transfer(
    envelope: SMTPConnectionEnvelope,
    original: ReadonlyMap<string, string>,
    { message, lines }: { message: ComposedMessage; lines: Buffer | null },
    onWritten: () => void,
  ): Promise<DeliveryOutcome> {
    return new Promise((resolve) => {
      const { command_ms, data_ms, block_ms, answer_ms } = this.deadlines;
      const onError = (error: NodemailerError): void => {
        const { stage, is_all_written } = sending;
        const rejected = error.rejectedErrors ?? envelope.rejectedErrors;
        sending.finish(outcomeOfSending(error, { stage, rejected, original, is_all_written }));
      };
      // A relay that answers byte by byte gets no more than the time of all its commands.
      const envelope_ends_at = monotonicMs() + command_ms * (2 + original.size);
      let deadline: Timer | undefined;
      const limitNow = (): number => {
        if (sending.stage === 'data') return sending.is_all_written ? answer_ms : block_ms;
        const answered = (envelope.accepted?.length ?? 0) + (envelope.rejected?.length ?? 0);
        // With all recipients answered, DATA is what the relay is to answer next.
        return answered === original.size ? data_ms : Math.min(command_ms, envelope_ends_at - monotonicMs());
      };
      // Looked at repeatedly: nodemailer reads some replies of a packet later, when another step has begun.
      const watch = (began_ms: number): void => {
        const limit_ms = limitNow();
        const left_ms = began_ms + limit_ms - monotonicMs();
        if (left_ms > 0) {
          deadline = setTimeout(watch, Math.min(left_ms, command_ms, data_ms, block_ms), began_ms);
          return;
        }
        this.close();
        onError(silence(limit_ms));
      };
      const sending: Sending = {
        stage: 'mail',
        is_all_written: false,
        onWritten,
        renew: () => {
          clearTimeout(deadline);
          // What is left of the content may still be read once the relay has refused it.
          if (this.#sending === sending) watch(monotonicMs());
        },
        finish: (outcome) => {
          clearTimeout(deadline);
          if (this.#sending === sending) this.#sending = null;
          resolve(outcome);
        },
      };
      this.#sending = sending;
      sending.renew();
      const content = lines
        ? new LinesInOne(lines, sending)
        : Readable.from(watchContent(message, sending), { objectMode: false });
      this.connection.send(envelope, content, (error, result) => {
        if (error) {
          onError(error);
          return;
        }
        const onTaken = (): void => {
          // The content was incomplete, so the relay can't have taken it, and the next mail would end up
          // inside it.
          if (this.#hasContentLeft) onError(new Error('The relay answered before the message was over.'));
          else sending.finish(sentOutcome(result, original));
        };
        // The stream may end in the turn in which the answer to it comes.
        if (this.#hasContentLeft) setImmediate(onTaken);
        else onTaken();
      });
    });
  }

  /** Whether a mail's content is partly unwritten: until then nodemailer keeps its stream. */
  get #hasContentLeft(): boolean {
    const connection = this.connection;
    return '_currentDataStream' in connection && connection._currentDataStream !== false;
  }
}

/**
 * A message of one block as the lines that DATA wants, dots doubled (RFC 5321 4.5.2), without the last line
 * break. Null for a larger one, and for one that has other line breaks, which nodemailer mends.
 */
async function linesOf(message: ComposedMessage): Promise<Buffer | null> {
  if (message.size_bytes > BLOCK_BYTES) return null;
  const text = (await bytesOf(message)).toString('latin1');
  if (!text.endsWith('\r\n') || /\r(?!\n)|(?<!\r)\n/.test(text)) return null;
  return Buffer.from(text.slice(0, -2).replace(/^\./gm, '..'), 'latin1');
}

/**
 * Such lines. Nodemailer's stream looks at each byte that is written to it; what is pushed into it goes out as
 * it is, and its end adds the line break and the last dot.
 */
class LinesInOne extends Readable {
  constructor(
    private readonly lines: Buffer,
    private readonly sending: Sending,
  ) {
    super();
  }

  override pipe<T extends NodeJS.WritableStream>(stream: T): T {
    beginContent(this.sending);
    if (!(stream instanceof Transform)) throw new Error('nodemailer takes the content by a transform');
    // Noted first: a thread that ends right behind the writing must not have the mail sent again at once.
    endContent(this.sending);
    stream.push(this.lines);
    stream.end();
    return stream;
  }
}

function beginContent(sending: Sending): void {
  sending.stage = 'data';
  sending.renew();
}

function endContent(sending: Sending): void {
  sending.is_all_written = true;
  sending.onWritten();
  sending.renew();
}

/**
 * The content. Notes when the relay began to take it and when all was handed over. Each block, and the end,
 * renews the deadline.
 */
async function* watchContent(message: ComposedMessage, sending: Sending): AsyncIterable<Buffer> {
  beginContent(sending);
  for await (const chunk of message.read()) {
    for (let from = 0; from < chunk.length; from += BLOCK_BYTES) {
      yield chunk.subarray(from, from + BLOCK_BYTES);
      sending.renew();
    }
  }
  endContent(sending);
}

/** Domains in other scripts travel as punycode; the local part stays as it is (SMTPUTF8). */
function toAscii(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return domain === '' ? address : `${address.slice(0, at)}@${domain}`;
}
