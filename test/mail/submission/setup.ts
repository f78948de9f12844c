/** Clients of the SMTP server as hostile ones are: bytes over a socket, and what comes back. */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { TestAppOptions } from '../../support/helpers.ts';
import { type Sender, startSender } from '../emails/setup.ts';

/** A Satchel that takes mail by SMTP at a port of its own. */
export function startTaking(options: TestAppOptions = {}): Promise<Sender> {
  return startSender({ ...options, env: { SATCHEL_SMTP_PORT: '0', ...options.env } });
}

export function portOf(
  { app }: { app: Pick<Sender['app'], 'services'> },
  which: 'port' | 'tls_port' = 'port',
): number {
  return app.services.submission.ports?.[which] ?? 0;
}

/** `AUTH PLAIN` with a key. */
export function authPlain(key: string, user = 'satchel'): string {
  return `AUTH PLAIN ${Buffer.from(`\0${user}\0${key}`).toString('base64')}`;
}

interface From {
  tls?: boolean;
  host?: string;
  /** The address that it comes from. */
  from?: string;
}

export class RawClient {
  #socket: Socket;
  #came = '';
  /** Whether the other side has ended the connection, or was never there. */
  is_over = false;
  #onCame: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** A connection, before the greeting. */
  static open(port: number, { tls = false, host = '127.0.0.1', from }: From = {}): RawClient {
    const to = { port, host, ...(from && { localAddress: from }) };
    return new RawClient(tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to));
  }

  static async connect(port: number, options: From = {}): Promise<RawClient> {
    const client = RawClient.open(port, options);
    await client.reply();
    return client;
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#came += chunk.toString('latin1');
      this.#onCame();
    });
    const onOver = (): void => {
      this.is_over = true;
      this.#onCame();
    };
    this.#socket.on('close', onOver).on('end', onOver).on('error', onOver);
  }

  /** The next reply, all of its lines; empty once the connection is over. */
  async reply(): Promise<string> {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.#came)?.[0];
      if (whole !== undefined) {
        this.#came = this.#came.slice(whole.length);
        return whole.trimEnd();
      }
      if (this.is_over) return '';
      await new Promise<void>((resolve) => {
        this.#onCame = resolve;
      });
    }
  }

  /** Says a line and returns the reply to it. */
  say(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** Says these, each of which must be answered by 2xx or 3xx but for the last, whose reply is returned. */
  async sayAll(...lines: string[]): Promise<string> {
    let last = '';
    for (const [index, line] of lines.entries()) {
      last = await this.say(line);
      if (index < lines.length - 1 && !/^[23]/.test(last)) throw new Error(`${line}: ${last}`);
    }
    return last;
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Resolves when all that was written has left. */
  async flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write('', () => resolve()));
  }

  /** Says that no more comes. */
  end(): void {
    this.#socket.end();
  }

  /** Resolves when the other side has ended the connection. */
  async over(): Promise<void> {
    while (!this.is_over) await this.reply();
  }

  /** Begins TLS over the connection. */
  async secure(): Promise<void> {
    this.#socket.removeAllListeners('data');
    const secured = connectTls({ socket: this.#socket, rejectUnauthorized: false });
    await new Promise<void>((resolve, reject) =>
      secured.once('secureConnect', resolve).once('error', reject),
    );
    this.#socket = secured;
    this.#listen();
  }

  close(): void {
    this.#socket.destroy();
  }
}

export const GREETING = 'EHLO client.example';

/** A message from a mailbox, with more header fields and another body if given. */
export function messageFrom(
  from: string,
  { fields = [] as string[], body = 'Hi Ada\r\n', subject = 'Hello' } = {},
): string {
  const header = [
    `From: ${from}`,
    'To: ada@example.org',
    ...(subject ? [`Subject: ${subject}`] : []),
    ...fields,
  ];
  return `${header.join('\r\n')}\r\n\r\n${body}`;
}

/** Hands one message in, over a connection that has signed in; the reply to its end. */
export async function handIn(
  client: RawClient,
  message: string | Uint8Array,
  to = ['ada@example.org'],
): Promise<string> {
  const taken = await client.sayAll(
    'MAIL FROM:<app@localhost.example>',
    ...to.map((address) => `RCPT TO:<${address}>`),
    'DATA',
  );
  if (!taken.startsWith('354')) return taken;
  client.write(message);
  return client.say('.');
}

/** A client that has signed in. */
export async function signedIn(port: number, key: string): Promise<RawClient> {
  const client = await RawClient.connect(port);
  const reply = await client.sayAll(GREETING, authPlain(key));
  if (!reply.startsWith('235')) throw new Error(reply);
  return client;
}

/** Names of the files of messages, those on their way included. */
export function storedFiles(data_dir: string): string[] {
  return readdirSync(join(data_dir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
