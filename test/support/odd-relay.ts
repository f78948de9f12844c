/** A relay on loopback that answers word for word as a test says, as no sound SMTP server would. */
import { createServer, type Socket } from 'node:net';

/** What it says when it is connected to, at a command, and after the content. */
type Moment =
  | 'greeting'
  | 'EHLO'
  | 'STARTTLS'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'RSET'
  | 'QUIT'
  | 'content';

/** Lines to say, without the last line break; or what else is to happen with the connection. */
type Saying = string | Buffer | ((socket: Socket) => void);

export interface OddRelay {
  host: string;
  port: number;
  /** What stood between DATA and the dot, mail by mail. */
  contents: string[];
  connections_total: number;
  stop(): void;
}

const SOUND: Readonly<Record<Moment, string>> = {
  greeting: '220 odd.test ESMTP',
  EHLO: '250-odd.test\r\n250 PIPELINING',
  STARTTLS: '220 go on',
  AUTH: '235 welcome',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  RSET: '250 ok',
  QUIT: '221 bye',
  content: '250 queued',
};

/** Starts one on a free port of 127.0.0.1. What is not given is answered as it should be. */
export async function startOddRelay(sayings: Partial<Record<Moment, Saying>>): Promise<OddRelay> {
  const sockets = new Set<Socket>();
  const say = (socket: Socket, moment: Moment): void => {
    const saying = sayings[moment] ?? SOUND[moment];
    if (typeof saying === 'function') saying(socket);
    else if (saying.length > 0) socket.write(Buffer.concat([Buffer.from(saying), Buffer.from('\r\n')]));
  };
  const server = createServer((socket) => {
    relay.connections_total += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let heard = '';
    let is_content = false;
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      for (;;) {
        const end = is_content ? '\r\n.\r\n' : '\r\n';
        const at = heard.indexOf(end);
        if (at < 0) return;
        const words = heard.slice(0, at);
        heard = heard.slice(at + end.length);
        if (is_content) relay.contents.push(words.slice(2));
        const moment = is_content ? 'content' : momentOf(words);
        is_content = moment === 'DATA';
        // A dot that follows at once ends the content too.
        if (is_content) heard = `\r\n${heard}`;
        say(socket, moment);
      }
    });
    say(socket, 'greeting');
  });
  const relay: OddRelay = {
    host: '127.0.0.1',
    port: 0,
    contents: [],
    connections_total: 0,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  await new Promise<void>((resolve) => server.listen(0, relay.host, resolve));
  const address = server.address();
  relay.port = typeof address === 'object' && address ? address.port : 0;
  return relay;
}

function momentOf(command: string): Moment {
  const verb = command.slice(0, 4).toUpperCase();
  const verbs = ['EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'RSET', 'QUIT'] as const;
  return verbs.find((known) => known === verb) ?? 'STARTTLS';
}
