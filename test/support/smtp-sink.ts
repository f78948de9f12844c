/** A real SMTP server on loopback that keeps what it gets and can be told to misbehave at any stage. */
import { createServer, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from './smtp-certificates.ts';

export interface SinkReply {
  code: number;
  message: string;
}

/** How the sink treats mails; may be changed while it runs. */
export interface SinkBehavior {
  /** Refuse at the greeting. */
  greeting?: SinkReply;
  /** Refuse the sender; a function is asked at each mail. */
  mail?: SinkReply | (() => SinkReply | undefined);
  /** Refuse these senders, some relays only at RCPT. */
  sender?: { like: RegExp; reply: SinkReply; at: 'mail' | 'rcpt' };
  /** Refuse these recipients, by address. */
  rcpt?: Record<string, SinkReply>;
  /** Answer the content with this; with 250 it is taken. */
  data?: SinkReply;
  /** Never answer at this stage. `connect` says nothing at all, not even TLS. */
  hang?: 'connect' | 'greeting' | 'mail' | 'rcpt' | 'data';
  /** Close the connection after the content instead of answering. */
  drop_after_data?: boolean;
  /** Answer the sender of any further mail over a connection with 421, and close it. */
  max_mails_per_connection?: number;
}

export interface SinkOptions extends SinkBehavior {
  /** Where one listened that was stopped; a free one unless given. */
  port?: number;
  /** `starttls` offers it, `tls` begins with it. */
  tls?: 'none' | 'starttls' | 'tls';
  certificate?: keyof typeof SERVER_CERTIFICATES;
  /** Passwords by user name; when given, log-in is required. */
  users?: Record<string, string>;
  /** Offer log-in without TLS too. */
  offers_plain_auth?: boolean;
  max_size_bytes?: number;
  hides_pipelining?: boolean;
  hides_8bitmime?: boolean;
  offers_dsn?: boolean;
}

export interface SunkMail {
  envelope: { from: string; to: string[] };
  raw: Buffer;
  is_tls: boolean;
  is_smtputf8: boolean;
  /** As MAIL said (RFC 6152); `7bit` where it said nothing. */
  body_type: string;
  user: string | null;
  /** What the client called itself at EHLO. */
  client_name: string;
  /** RFC 3461: RET and ENVID, and the ORCPT of each recipient; null where it was said. */
  dsn: { ret: string | null; envid: string | null; orcpt: (string | null)[] };
  /** Mails with the same number came over the same connection. */
  connection: string;
}

export interface SmtpSink {
  host: string;
  port: number;
  /** Authority to trust for its certificate. */
  ca_pem: string;
  /** What was taken, in order. */
  mails: SunkMail[];
  behavior: SinkBehavior;
  /** Connections so far, and at this moment. */
  connections_total: number;
  connections_open: number;
  /** Answers that `hang` withheld, to be given late. */
  unanswered: (() => void)[];
  /** User names that tried to log in. */
  log_ins: string[];
  /** Resolves once this holds; asked again at every mail, withheld answer, log-in and connection. */
  until(holds: () => boolean): Promise<void>;
  /** Resolves once that many mails were taken. */
  waitForMails(count: number): Promise<SunkMail[]>;
  /** Cuts every connection, as a relay does with idle ones. */
  dropConnections(): void;
  stop(): Promise<void>;
}

/** Starts a sink on 127.0.0.1. */
export async function startSmtpSink(options: SinkOptions = {}): Promise<SmtpSink> {
  const {
    port = 0,
    tls,
    certificate,
    users,
    offers_plain_auth,
    max_size_bytes,
    hides_pipelining,
    hides_8bitmime,
    offers_dsn,
    ...behavior
  } = options;
  const sockets = new Set<Socket>();
  let waiting: { holds(): boolean; resolve(): void }[] = [];
  const changed = (): void => {
    const ready = waiting.filter(({ holds }) => holds());
    waiting = waiting.filter((waiter) => !ready.includes(waiter));
    for (const { resolve } of ready) resolve();
  };
  const sink: SmtpSink = {
    host: '127.0.0.1',
    port: 0,
    ca_pem: TEST_CA_PEM,
    mails: [],
    behavior,
    connections_total: 0,
    connections_open: 0,
    unanswered: [],
    log_ins: [],
    until: (holds) =>
      new Promise((resolve) => {
        if (holds()) resolve();
        else waiting.push({ holds, resolve });
      }),
    async waitForMails(count) {
      await sink.until(() => sink.mails.length >= count);
      return sink.mails;
    },
    dropConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      sink.dropConnections();
      await stopListening();
    },
  };
  const server = new SMTPServer({
    ...SERVER_CERTIFICATES[certificate ?? 'localhost'],
    secure: tls === 'tls',
    authOptional: users === undefined,
    allowInsecureAuth: offers_plain_auth ?? false,
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(users ? [] : ['AUTH'])],
    disableReverseLookup: true,
    closeTimeout: 10,
    logger: false,
    hideDSN: !offers_dsn,
    ...(max_size_bytes === undefined ? {} : { size: max_size_bytes }),
    ...(hides_pipelining ? { hidePIPELINING: true } : {}),
    ...(hides_8bitmime ? { hide8BITMIME: true } : {}),
    ...handlersOf(sink, { users: users ?? {}, changed, sockets }),
  });
  server.on('error', () => {});
  const listener: Server = behavior.hang === 'connect' ? createServer(() => {}) : server.server;
  listener.on('connection', (socket: Socket) => {
    sink.connections_total += 1;
    sink.connections_open += 1;
    sockets.add(socket);
    setImmediate(() => greetAtOnce(server));
    changed();
    socket.on('error', () => {});
    socket.on('close', () => {
      sink.connections_open -= 1;
      sockets.delete(socket);
      changed();
    });
  });
  const stopListening = (): Promise<void> =>
    new Promise((resolve) => {
      if (listener === server.server) server.close(() => resolve());
      else listener.close(() => resolve());
    });
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
  const address = listener.address();
  sink.port = typeof address === 'object' && address ? address.port : 0;
  return sink;
}

/**
 * The package lets 100 ms pass before each greeting, to catch clients that talk too early: without them a test of mail takes
 * half its time. What the timer calls later does nothing any more.
 */
function greetAtOnce(server: SMTPServer): void {
  for (const connection of server.connections) {
    const ready: unknown = Reflect.get(connection, 'connectionReady');
    if (typeof ready !== 'function' || Object.hasOwn(connection, 'connectionReady')) continue;
    Object.defineProperty(connection, 'connectionReady', { value: () => {} });
    ready.call(connection);
  }
}

type Answer = (error?: Error | null) => void;

function handlersOf(
  sink: SmtpSink,
  context: { users: Record<string, string>; changed(): void; sockets: Set<Socket> },
): SMTPServerOptions {
  const answer = (stage: SinkBehavior['hang'], refusal: SinkReply | undefined, callback: Answer): void => {
    const reply = () =>
      callback(refusal ? Object.assign(new Error(refusal.message), { responseCode: refusal.code }) : null);
    if (sink.behavior.hang === stage) {
      sink.unanswered.push(reply);
      context.changed();
    } else reply();
  };
  return {
    onConnect: (_session, callback) => answer('greeting', sink.behavior.greeting, callback),
    onAuth: (auth, _session, callback) => {
      const name = auth.username ?? '';
      sink.log_ins.push(name);
      context.changed();
      const is_right = Object.hasOwn(context.users, name) && context.users[name] === auth.password;
      if (is_right) callback(null, { user: name });
      else callback(Object.assign(new Error('5.7.8 Authentication failed'), { responseCode: 535 }));
    },
    onMailFrom: (address, session, callback) => {
      const taken = sink.mails.filter((mail) => mail.connection === session.id).length;
      const is_used_up = taken >= (sink.behavior.max_mails_per_connection ?? Number.POSITIVE_INFINITY);
      const { mail, sender } = sink.behavior;
      const of_all = typeof mail === 'function' ? mail() : mail;
      const of_sender = sender?.at === 'mail' && sender.like.test(address.address) ? sender.reply : of_all;
      const refusal = is_used_up ? { code: 421, message: '4.7.0 too many mails' } : of_sender;
      answer('mail', refusal, callback);
    },
    onRcptTo: (address, { envelope }, callback) => {
      const { rcpt, sender } = sink.behavior;
      const from = envelope.mailFrom ? envelope.mailFrom.address : '';
      const is_of_sender = sender?.at === 'rcpt' && sender.like.test(from);
      answer('rcpt', is_of_sender ? sender.reply : rcpt?.[address.address], callback);
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (sink.behavior.drop_after_data) {
          for (const socket of context.sockets)
            if (socket.remotePort === session.remotePort) socket.destroy();
          return;
        }
        const is_taken = (sink.behavior.data?.code ?? 250) < 300;
        if (is_taken && sink.behavior.hang !== 'data') {
          sink.mails.push(sunk(session, Buffer.concat(chunks)));
          context.changed();
        }
        answer('data', sink.behavior.data, callback);
      });
    },
  };
}

function sunk(session: SMTPServerSession, raw: Buffer): SunkMail {
  const { mailFrom, rcptTo, dsn } = session.envelope;
  return {
    envelope: { from: mailFrom ? mailFrom.address : '', to: rcptTo.map((recipient) => recipient.address) },
    raw,
    is_tls: session.secure,
    dsn: {
      ret: dsn?.ret ?? null,
      envid: dsn?.envid ?? null,
      orcpt: rcptTo.map((recipient) => recipient.dsn?.orcpt ?? null),
    },
    is_smtputf8: session.envelope.smtpUtf8 ?? false,
    body_type: session.envelope.bodyType ?? '7bit',
    user: typeof session.user === 'string' ? session.user : null,
    client_name: session.hostNameAppearsAs || '',
    connection: session.id,
  };
}

export function subjectOf({ raw }: SunkMail): string {
  return /^Subject: (\S+)/m.exec(raw.toString())?.[1] ?? '';
}

/** Resolves once a mail of each of these subjects, of one word each, was taken. */
export async function waitForSubjects(sink: SmtpSink, subjects: Iterable<string>): Promise<void> {
  const missing = new Set(subjects);
  let seen = 0;
  await sink.until(() => {
    for (const mail of sink.mails.slice(seen)) missing.delete(subjectOf(mail));
    seen = sink.mails.length;
    return missing.size === 0;
  });
}
