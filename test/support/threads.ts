/**
 * Threads that one app after the other uses, as starting one takes longer than most tests do. Preloaded (bunfig.toml). A thread
 * whose user ends it is kept for the next one where it has done all that it was asked for; any other ends.
 */

import { isPlainObject } from '../../src/platform/http/schema.ts';

/** A thread that nobody else has had, nor will: for tests of how threads begin and end. */
export const OwnThread = globalThis.Worker;

interface Kind {
  /** How many answers a message asks for. */
  owed(message: unknown): number;
  /** How many answers a message is. */
  paid(message: unknown): number;
}

const listOf = (messages: unknown): Record<string, unknown>[] =>
  Array.isArray(messages) ? messages.filter(isPlainObject) : [];
const opOf = (message: unknown): unknown => (isPlainObject(message) ? message.op : undefined);
/** As platform/host/threads.ts has it: 0 asks for no answer. */
const asksIn = (messages: unknown): Record<string, unknown>[] =>
  listOf(messages).filter(({ id }) => id !== 0);
const answersIn = (messages: unknown): number => listOf(messages).filter(({ id }) => id !== undefined).length;

const ASKED: Kind = { owed: (messages) => asksIn(messages).length, paid: answersIn };
const KINDS: Record<string, Kind> = {
  'maintenance.worker.ts': ASKED,
  'report-reader.worker.ts': ASKED,
  'beside.worker.ts': ASKED,
  'viewing.worker.ts': ASKED,
  'acme.worker.ts': ASKED,
  'password-strength.worker.ts': ASKED,
  'sender.worker.ts': ASKED,
  // It has to be stopped as well: the answer to that is what its configuration owes.
  'mailer.worker.ts': {
    owed: (messages) =>
      asksIn(messages).filter(({ ask }) => opOf(ask) !== 'stop').length +
      listOf(messages).filter(({ ask }) => opOf(ask) === 'configure').length,
    paid: answersIn,
  },
  // What it opens it has to close; only closing is not asked for by anything before.
  'wal-flusher.worker.ts': { owed: (message) => (opOf(message) === 'close' ? 0 : 1), paid: () => 1 },
};

const free = new Map<string, Worker[]>();

class Lent {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  readonly #thread: Worker;
  readonly #kind: Kind;
  readonly #free: Worker[];
  #owes = 0;
  #onClose: (() => void) | null = null;

  constructor(url: string, kind: Kind) {
    this.#free = free.get(url) ?? [];
    free.set(url, this.#free);
    this.#kind = kind;
    this.#thread = this.#free.pop() ?? new OwnThread(url);
    this.#thread.onmessage = (event) => {
      this.#owes -= kind.paid(event.data);
      this.onmessage?.(event);
    };
    this.#thread.onerror = (event) => {
      this.#owes = Number.POSITIVE_INFINITY;
      this.onerror?.(event);
    };
  }

  postMessage(message: unknown): void {
    this.#owes += this.#kind.owed(message);
    this.#thread.postMessage(message);
  }

  addEventListener(_type: 'close', listener: () => void): void {
    this.#onClose = listener;
    this.#thread.addEventListener('close', this.#closed);
  }

  readonly #closed = (): void => this.#onClose?.();

  terminate(): void {
    this.#thread.removeEventListener('close', this.#closed);
    if (this.#owes === 0) this.#free.push(this.#thread);
    else this.#thread.terminate();
  }
}

globalThis.Worker = new Proxy(OwnThread, {
  construct(target, args: ConstructorParameters<typeof Worker>) {
    const url = String(args[0]);
    const kind = KINDS[url.slice(url.lastIndexOf('/') + 1)];
    return kind ? new Lent(url, kind) : Reflect.construct(target, args);
  },
});
