/** The main thread's side of sending mail. It starts the mailer's thread, and again when that dies. */
import { AppError } from '../../errors.ts';
import { Thread, ThreadEnded } from '../host/threads.ts';
import { within } from '../host/waiting.ts';
import { interruptedOutcome, postponedOutcome, unsentOutcome } from './outcomes.ts';
import type {
  DeliverOptions,
  DeliveryOutcome,
  FramedContent,
  KeyedContent,
  MailContent,
  MailerReply,
  MailerRequest,
  MailFrame,
  RelayCheck,
  SmtpDeadlines,
  SmtpRoute,
  WholeContent,
} from './types.ts';

/** RFC 5321 4.5.3.2: greeting, MAIL, RCPT; DATA; a block; the answer to the dot. Connecting: decision. */
const SMTP_COMMAND_TIMEOUT_MS = 5 * 60_000;
const SMTP_DATA_TIMEOUT_MS = 2 * 60_000;
const SMTP_BLOCK_TIMEOUT_MS = 3 * 60_000;
const SMTP_ANSWER_TIMEOUT_MS = 10 * 60_000;
export const SMTP_CONNECT_TIMEOUT_MS = 10_000;

/** Servers drop an idle connection after one to five minutes; closing first avoids most races with that. */
const SMTP_IDLE_CLOSE_MS = 30_000;
/** Contract: a relay that is tried is told of within 15 s. */
const SMTP_CHECK_MS = 14_000;
const MAILER_IDLE_STOP_MS = 5 * 60_000;
/** How long the thread may take to tell how far each mail came that it gives up. */
const GIVING_UP_MS = 200;
/** Frames that the thread keeps, given and composed: some dozens of 100 KB. When full it begins anew. */
const MAX_FRAME_CHARS_KEPT = 8 * 1024 * 1024;
/** What keeping a part takes besides its text. */
const CHARS_OF_A_PART = 100;

export interface Mailer {
  /** Sends a mail to the given ones of its recipients (to, cc, bcc). Resolves with any outcome. */
  deliver(
    content: MailContent | FramedContent | WholeContent,
    route: SmtpRoute,
    recipients: string[],
    options?: DeliverOptions,
  ): Promise<DeliveryOutcome>;
  /**
   * The message as it would be sent, DKIM-signed. Of one that came whole, only the signature, which goes
   * before its bytes. Rejects with AppError `invalid` or `not_found` when it can't be built, `unavailable`
   * when not now.
   */
  compose(content: MailContent | FramedContent | WholeContent): Promise<Uint8Array>;
  /** Tries a relay and sends nothing; `from` is the envelope sender. Rejects with AppError `unavailable`. */
  check(route: SmtpRoute, from: string): Promise<RelayCheck>;
  /**
   * Takes no more mail, waits up to `deadline_ms` for mails whose content is on its way, and ends the thread.
   * Earlier mails are answered with stage `interrupted`; those whose answer is missing count as unanswered.
   */
  stop(deadline_ms: number): Promise<void>;
}

export interface MailerOptions {
  deadlines?: Partial<SmtpDeadlines>;
  /** Who is asked where relays are; the system's name servers unless given. */
  dns_servers?: readonly string[];
  /** The thread is ended after this long without a request. */
  idle_stop_ms?: number;
  /** Called with the error when the worker thread dies. */
  onCrash?: (message: string) => void;
  /** How the thread is started. */
  startWorker?: () => Worker;
}

export const SMTP_DEADLINES: SmtpDeadlines = {
  connect_ms: SMTP_CONNECT_TIMEOUT_MS,
  greeting_ms: SMTP_COMMAND_TIMEOUT_MS,
  command_ms: SMTP_COMMAND_TIMEOUT_MS,
  data_ms: SMTP_DATA_TIMEOUT_MS,
  block_ms: SMTP_BLOCK_TIMEOUT_MS,
  answer_ms: SMTP_ANSWER_TIMEOUT_MS,
  idle_ms: SMTP_IDLE_CLOSE_MS,
  check_ms: SMTP_CHECK_MS,
};

/** Starts nothing yet: the worker thread begins with the first request. */
export function createMailer(options: MailerOptions = {}): Mailer {
  return new WorkerMailer(options);
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startMailerWorker(): Worker {
  return new Worker(new URL('./mailer.worker.ts', import.meta.url));
}

class WorkerMailer implements Mailer {
  readonly #thread: Thread<MailerRequest, MailerReply>;
  /** Keys of the frames that the thread has. */
  readonly #frames = new Set<string>();
  #frame_chars = 0;
  #is_stopping = false;

  constructor(options: MailerOptions) {
    const { deadlines, dns_servers = [], idle_stop_ms = MAILER_IDLE_STOP_MS, startWorker, onCrash } = options;
    this.#thread = new Thread({
      start: startWorker ?? startMailerWorker,
      idle_stop_ms,
      onStart: () =>
        this.#thread.tell({
          op: 'configure',
          deadlines: { ...SMTP_DEADLINES, ...deadlines },
          dns_servers,
        }),
      ...(onCrash ? { onCrash } : {}),
      onEnd: () => this.#forgetFrames(),
    });
  }

  async deliver(
    content: MailContent | FramedContent | WholeContent,
    route: SmtpRoute,
    recipients: string[],
    options: DeliverOptions = {},
  ): Promise<DeliveryOutcome> {
    if (this.#is_stopping) return interruptedOutcome('The mailer has stopped.', { may_be_sent: false });
    const handed = new Uint8Array(new SharedArrayBuffer(1));
    try {
      const keyed = this.#keyed(content);
      const request = { op: 'deliver', content: keyed, route, recipients, options, handed } as const;
      const reply = await this.#thread.ask(request);
      if (reply.op === 'delivered') return reply.outcome;
      throw new Error(`the mailer worker answered a delivery with ${reply.op}`);
    } catch (error) {
      if (error instanceof Stopped) return interruptedOutcome(wordsOf(error), { may_be_sent: true });
      if (error instanceof ThreadEnded) return outcomeOfBreakdown(wordsOf(error), handed[0] === 1);
      // No thread could be started: that is neither the mail's fault nor the relay's, and may pass.
      if (error instanceof AppError && error.kind === 'unavailable') return postponedOutcome(error.message);
      throw error;
    }
  }

  async compose(content: MailContent | FramedContent | WholeContent): Promise<Uint8Array> {
    if (this.#is_stopping) throw unavailable('The mailer has stopped.');
    try {
      const reply = await this.#thread.ask({ op: 'compose', content: this.#keyed(content) });
      if (reply.op === 'composed') return reply.message;
      throw new Error(`the mailer worker answered a composition with ${reply.op}`);
    } catch (error) {
      throw error instanceof ThreadEnded ? unavailable(wordsOf(error)) : error;
    }
  }

  async check(route: SmtpRoute, from: string): Promise<RelayCheck> {
    if (this.#is_stopping) throw unavailable('The mailer has stopped.');
    try {
      const reply = await this.#thread.ask({ op: 'check', route, from });
      if (reply.op === 'checked') return reply.check;
      throw new Error(`the mailer worker answered a check with ${reply.op}`);
    } catch (error) {
      throw error instanceof ThreadEnded ? unavailable(wordsOf(error)) : error;
    }
  }

  async stop(deadline_ms: number): Promise<void> {
    this.#is_stopping = true;
    if (!this.#thread.is_running) return;
    const stopped = this.#thread.ask({ op: 'stop' }).catch(() => {});
    await within(stopped, deadline_ms);
    if (this.#thread.is_running) this.#thread.tell({ op: 'give_up' });
    await within(stopped, GIVING_UP_MS);
    this.#thread.end(new Stopped());
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
      this.#thread.tell({ op: 'drop_frames' });
      this.#forgetFrames();
    }
    this.#thread.tell({ op: 'keep_frame', frame });
    this.#frames.add(frame.key);
    this.#frame_chars += chars;
  }

  #forgetFrames(): void {
    this.#frames.clear();
    this.#frame_chars = 0;
  }
}

/** Ended by us, and not by itself. */
class Stopped extends ThreadEnded {}

/** A relay that has all of a mail may have taken it, and is as one that never answered. */
function outcomeOfBreakdown(response: string, may_be_sent: boolean): DeliveryOutcome {
  return may_be_sent
    ? unsentOutcome({ stage: 'data', response, may_be_sent })
    : interruptedOutcome(response, { may_be_sent });
}

function wordsOf(error: ThreadEnded): string {
  return error instanceof Stopped
    ? 'The mailer stopped while this mail was being handed over.'
    : 'The mailer broke down while it had this mail in hand.';
}

function unavailable(message: string): AppError {
  return new AppError('unavailable', message, { retry_after_s: 5 });
}

function charsOf({ html, text }: MailFrame): number {
  return [...(html ?? []), ...(text ?? [])].reduce<number>(
    (sum, part) => sum + CHARS_OF_A_PART + (typeof part === 'string' ? part.length : 0),
    0,
  );
}
