/** The main thread's side of sending mail: hands requests to the mailer worker, which it starts when needed and restarts when it dies. */
import { AppError } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { requireThreadDescriptors } from '../host/descriptors.ts';
import { within } from '../host/waiting.ts';
import { interruptedOutcome, postponedOutcome } from './outcomes.ts';
import type {
  DeliverOptions,
  DeliveryOutcome,
  FramedContent,
  KeyedContent,
  MailContent,
  MailerReply,
  MailerRequest,
  MailFrame,
  SmtpDeadlines,
  SmtpRoute,
  WholeContent,
} from './types.ts';

/** Servers drop an idle connection after one to five minutes; closing first avoids most races with that. */
const SMTP_IDLE_CLOSE_MS = 30_000;
/** Worker thread and its 20 to 30 MB are given back after this long without a mail. */
const MAILER_IDLE_STOP_MS = 5 * 60_000;
/** How long the thread may take to tell how far each mail came that it gives up. */
const GIVING_UP_MS = 200;
/** Frames that the thread keeps: some dozens with bodies of 100 KB, each as given and as composed. When full it begins anew. */
const MAX_FRAME_CHARS_KEPT = 8 * 1024 * 1024;
/** What keeping a part takes besides its text. */
const CHARS_OF_A_PART = 100;

export interface Mailer {
  /**
   * Sends a mail to those of its recipients (to, cc and bcc alike) that are given here. Resolves with what became of
   * it, whatever that is; never rejects.
   */
  deliver(
    content: MailContent | FramedContent | WholeContent,
    route: SmtpRoute,
    recipients: string[],
    options?: DeliverOptions,
  ): Promise<DeliveryOutcome>;
  /** The message as it would be sent, DKIM-signed. Rejects with AppError `invalid` or `not_found` when it can't be built, `unavailable` when not now. */
  compose(content: MailContent | FramedContent | WholeContent): Promise<Uint8Array>;
  /**
   * Takes no more mail, waits up to `deadline_ms` for mails whose content is on its way, and ends the thread. Mails
   * that had not got as far are answered with stage `interrupted`, and those whose answer has not come as if it were lost.
   */
  stop(deadline_ms: number): Promise<void>;
}

export interface MailerOptions {
  deadlines?: Partial<SmtpDeadlines>;
  /** The thread is ended after this long without a request. */
  idle_stop_ms?: number;
  /** Called with the error when the worker thread dies. */
  onCrash?: (message: string) => void;
  /** How the thread is started. */
  startWorker?: () => Worker;
}

export const SMTP_DEADLINES: SmtpDeadlines = {
  connect_ms: limits.SMTP_CONNECT_TIMEOUT_MS,
  greeting_ms: limits.SMTP_COMMAND_TIMEOUT_MS,
  command_ms: limits.SMTP_COMMAND_TIMEOUT_MS,
  data_ms: limits.SMTP_DATA_TIMEOUT_MS,
  block_ms: limits.SMTP_BLOCK_TIMEOUT_MS,
  answer_ms: limits.SMTP_ANSWER_TIMEOUT_MS,
  idle_ms: SMTP_IDLE_CLOSE_MS,
};

interface Pending {
  resolve(reply: MailerReply): void;
  /** The thread ended without an answer. */
  abandon(reason: string): void;
}

type Request =
  | { op: 'compose'; content: MailContent | FramedContent | WholeContent }
  | (Omit<Extract<MailerRequest, { op: 'deliver' }>, 'id' | 'content'> & {
      content: MailContent | FramedContent | WholeContent;
    });

/** Starts nothing yet: the worker thread begins with the first request. */
export function createMailer(options: MailerOptions = {}): Mailer {
  return new WorkerMailer(options);
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startMailerWorker(): Worker {
  return new Worker(new URL('./mailer.worker.ts', import.meta.url));
}

class WorkerMailer implements Mailer {
  readonly #options: MailerOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  /** Keys of the frames that the worker has. */
  readonly #frames = new Set<string>();
  #frame_chars = 0;
  #next_id = 1;
  #outbox: MailerRequest[] = [];
  #idle_timer: Timer | null = null;
  #is_stopping = false;
  #onStopped: (() => void) | null = null;

  constructor(options: MailerOptions) {
    this.#options = options;
  }

  async deliver(
    content: MailContent | FramedContent | WholeContent,
    route: SmtpRoute,
    recipients: string[],
    options: DeliverOptions = {},
  ): Promise<DeliveryOutcome> {
    try {
      const reply = await this.#ask({ op: 'deliver', content, route, recipients, options });
      if (reply.op === 'delivered') return reply.outcome;
      throw new Error(`the mailer worker answered a delivery with ${reply.op}`);
    } catch (error) {
      if (error instanceof Interrupted) return interruptedOutcome(error.message, error);
      // No thread could be started: that is neither the mail's fault nor the relay's, and may pass.
      if (error instanceof AppError) return postponedOutcome(error.message);
      throw error;
    }
  }

  async compose(content: MailContent | FramedContent | WholeContent): Promise<Uint8Array> {
    const reply = await this.#ask({ op: 'compose', content }).catch(toUnavailable);
    if (reply.op === 'composed') return reply.message;
    if (reply.op === 'unfit') throw new AppError(reply.kind, reply.message);
    throw new Error(`the mailer worker answered a composition with ${reply.op}`);
  }

  async stop(deadline_ms: number): Promise<void> {
    this.#is_stopping = true;
    if (!this.#worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onStopped = resolve;
    this.#post({ op: 'stop' });
    await within(promise, deadline_ms);
    if (this.#worker) this.#post({ op: 'give_up' });
    await within(promise, GIVING_UP_MS);
    this.#endWorker('The mailer stopped while this mail was being handed over.');
  }

  #ask(request: Request): Promise<MailerReply> {
    if (this.#is_stopping) {
      return Promise.reject(new Interrupted('The mailer has stopped.', false));
    }
    return new Promise((resolve, reject) => {
      if (!this.#worker) requireThreadDescriptors();
      const id = this.#next_id++;
      this.#pending.set(id, { resolve, abandon: (reason) => reject(new Interrupted(reason, true)) });
      this.#post({ ...request, id, content: this.#keyed(request.content) });
    });
  }

  /** A frame travels ahead of the first mail that needs it. */
  #keyed(content: MailContent | FramedContent | WholeContent): MailContent | KeyedContent | WholeContent {
    if (!('frame' in content)) return content;
    const { frame, ...rest } = content;
    if (!this.#frames.has(frame.key)) this.#giveFrame(frame);
    return { ...rest, frame_key: frame.key };
  }

  #giveFrame(frame: MailFrame): void {
    const chars = charsOf(frame);
    if (this.#frame_chars + chars > MAX_FRAME_CHARS_KEPT) {
      this.#post({ op: 'drop_frames' });
      this.#forgetFrames();
    }
    this.#post({ op: 'keep_frame', frame });
    this.#frames.add(frame.key);
    this.#frame_chars += chars;
  }

  #forgetFrames(): void {
    this.#frames.clear();
    this.#frame_chars = 0;
  }

  /** Requests of one turn of the event loop travel together: a message between threads costs more than its content. */
  #post(request: MailerRequest): void {
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#idle_timer = null;
    const worker = this.#worker ?? this.#startWorker();
    if (this.#outbox.push(request) > 1) return;
    queueMicrotask(() => worker.postMessage(this.#outbox.splice(0)));
  }

  #startWorker(): Worker {
    const worker = (this.#options.startWorker ?? startMailerWorker)();
    worker.onmessage = (event: MessageEvent<MailerReply[]>) => {
      for (const reply of event.data) this.#receive(reply);
    };
    worker.onerror = (event) => this.#onWorkerGone(worker, event.message);
    worker.addEventListener('close', () => this.#onWorkerGone(worker, 'it ended by itself'));
    this.#worker = worker;
    const deadlines = { ...SMTP_DEADLINES, ...this.#options.deadlines };
    this.#outbox = [{ op: 'configure', deadlines }];
    queueMicrotask(() => worker.postMessage(this.#outbox.splice(0)));
    return worker;
  }

  #receive(reply: MailerReply): void {
    if (reply.op === 'stopped') {
      this.#onStopped?.();
      return;
    }
    this.#pending.get(reply.id)?.resolve(reply);
    this.#pending.delete(reply.id);
    if (this.#pending.size > 0 || this.#is_stopping) return;
    const idle_stop_ms = this.#options.idle_stop_ms ?? MAILER_IDLE_STOP_MS;
    this.#idle_timer = setTimeout(() => this.#endWorker(''), idle_stop_ms);
    this.#idle_timer.unref();
  }

  #onWorkerGone(worker: Worker, message: string): void {
    if (worker !== this.#worker) return;
    this.#options.onCrash?.(message);
    this.#endWorker('The mailer broke down while it had this mail in hand.');
    this.#onStopped?.();
  }

  /** Ends the thread and answers whoever still waits for it. The next request starts another. */
  #endWorker(reason: string): void {
    const worker = this.#worker;
    this.#worker = null;
    this.#outbox = [];
    this.#forgetFrames();
    worker?.terminate();
    const abandoned = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of abandoned) pending.abandon(reason);
  }
}

function charsOf({ html, text }: MailFrame): number {
  return [...(html ?? []), ...(text ?? [])].reduce<number>(
    (sum, part) => sum + CHARS_OF_A_PART + (typeof part === 'string' ? part.length : 0),
    0,
  );
}

/** The answer where the thread gave none: whether the request took effect is unknown, unless it never left this thread. */
class Interrupted extends Error {
  readonly may_be_sent: boolean;

  constructor(reason: string, may_be_sent: boolean) {
    super(reason);
    this.may_be_sent = may_be_sent;
  }
}

function toUnavailable(error: unknown): never {
  if (error instanceof Interrupted) {
    throw new AppError('unavailable', error.message, { retry_after_s: 5, cause: error });
  }
  throw error;
}
