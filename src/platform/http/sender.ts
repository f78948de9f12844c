/** Sends requests to addresses that somebody named, such as webhooks, from a thread of its own. */
import { messageOf } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import { monotonicMs } from '../host/clock.ts';
import { Thread } from '../host/threads.ts';
import { hostOf } from './destinations.ts';
import type { Answer, Outgoing } from './exchange.ts';

const IDLE_STOP_MS = 60_000;

interface SenderOptions {
  /** Authorities besides the system's; for tests. */
  ca?: string | undefined;
  /** Called with the error when the thread dies. */
  onCrash?: (message: string) => void;
}

export class Sender {
  readonly #ca: string | undefined;
  readonly #thread: Thread<Outgoing, Answer>;

  constructor({ ca, ...options }: SenderOptions = {}) {
    this.#ca = ca;
    this.#thread = new Thread({
      ...options,
      start: () => new Worker(new URL('./sender.worker.ts', import.meta.url)),
      idle_stop_ms: IDLE_STOP_MS,
    });
  }

  /** Sends a request. Resolves with what became of it, whatever that is; never rejects. */
  send(outgoing: Outgoing): Promise<Answer> {
    return this.#thread
      .ask({ ...outgoing, ca: this.#ca })
      .catch((error: unknown) => ({ failure: messageOf(error), is_unreached: true, is_ours: true }));
  }

  /** As `send`, to the first of these addresses that is reached, all within `timeout_ms`. */
  async sendToFirst(addresses: readonly string[], outgoing: Omit<Outgoing, 'address'>): Promise<Answer> {
    const ends_ms = monotonicMs() + outgoing.timeout_ms;
    let answer: Answer = { failure: 'no answer in time', is_unreached: true, is_ours: false };
    for (const address of addresses) {
      const timeout_ms = Math.floor(ends_ms - monotonicMs());
      if (timeout_ms <= 0) break;
      answer = await this.send({ ...outgoing, address, timeout_ms });
      if (!('failure' in answer) || !answer.is_unreached || answer.is_ours) break;
    }
    return answer;
  }

  /** Ends the thread; what it had in hand was not tried, as far as is known. */
  stop(): void {
    this.#thread.end(new Error('the server stopped'));
  }
}

/** A request to a URL, and the headers that it has. */
export function requestOf(method: string, url: URL, of_content: Record<string, string>, body: string) {
  const is_tls = url.protocol === 'https:';
  const headers: Record<string, string> = {
    Host: url.host,
    'User-Agent': `Satchel/${VERSION}`,
    ...(method === 'GET' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    Connection: 'close',
    ...of_content,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    headers,
    port: Number(url.port || (is_tls ? 443 : 80)),
    certified_name: is_tls ? hostOf(url) : null,
    message: `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`,
  };
}

/** Why a receiver has not taken what it was sent, in a sentence; null where it has. */
export function whyNotTaken(answer: Answer): string | null {
  if ('failure' in answer) return `${answer.failure.charAt(0).toUpperCase()}${answer.failure.slice(1)}.`;
  const { status } = answer;
  if (status >= 200 && status < 300) return null;
  const is_redirect = status >= 300 && status < 400;
  return `It answered ${is_redirect ? `a redirect (${status}), which is not followed` : status}.`;
}
