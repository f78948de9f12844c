/**
 * Reading reports in a thread of its own: strangers write them, and reading one may take long. One at a time,
 * each within REPORT_CPU_MS; the thread of one that takes longer is ended, and the next one gets another.
 */
import { AppError } from '../../errors.ts';
import { monotonicMs } from '../host/clock.ts';
import { requireThreadDescriptors } from '../host/descriptors.ts';
import type { MailReport } from './mail-reports.ts';

/** Decision: processor time for reading one report; real ones take some ten milliseconds. */
const REPORT_CPU_MS = 2_000;
/** A thread that reads nothing and ends nothing is given up after this, however busy the machine is. */
const REPORT_DEADLINE_MS = 60_000;
/** The thread that reads reports, and its 20 to 30 MB, is given back after this long without one. */
const REPORT_READER_IDLE_STOP_MS = 10_000;

export type ReportReply = { report: MailReport | null } | { failure: string };

export interface ReportReader {
  /**
   * The report in a message; null where there is none. Rejects with UnreadableReport where reading it took too long or
   * ended the thread, and with AppError `unavailable` where no thread can be started at present.
   */
  read(message: Uint8Array): Promise<MailReport | null>;
  /** Ends the thread; what it reads is answered with AppError `unavailable`. */
  stop(): void;
}

/** The message itself is at fault; another attempt is likely to end the same way. */
export class UnreadableReport extends Error {}

interface ReportReaderOptions {
  /** How the thread is started. */
  startWorker?: () => Worker;
  /** Other bounds, for tests. */
  cpu_ms?: number;
}

/** How often the time of a thread is looked at. */
const MEASURE_EVERY_MS = 50;

/** Starts nothing yet: the thread begins with the first message. */
export function createReportReader(options: ReportReaderOptions = {}): ReportReader {
  return new ThreadReader(options);
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startReportWorker(): Worker {
  return new Worker(new URL('./report-reader.worker.ts', import.meta.url));
}

class ThreadReader implements ReportReader {
  readonly #options: ReportReaderOptions;
  #worker: Worker | null = null;
  #idle_timer: Timer | null = null;
  /** Settles when the last message so far was read. */
  #last: Promise<unknown> = Promise.resolve();
  #giveUp: (error: Error) => void = () => {};
  #is_stopped = false;

  constructor(options: ReportReaderOptions) {
    this.#options = options;
  }

  read(message: Uint8Array): Promise<MailReport | null> {
    const turn = this.#last.then(() => this.#readNow(message));
    this.#last = turn.catch(() => {});
    return turn;
  }

  stop(): void {
    this.#is_stopped = true;
    this.#giveUp(stopped());
    this.#endThread();
  }

  async #readNow(message: Uint8Array): Promise<MailReport | null> {
    if (this.#is_stopped) throw stopped();
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    const worker = this.#worker ?? this.#startThread();
    const { promise, resolve, reject } = Promise.withResolvers<MailReport | null>();
    const fail = (reason: string): void => reject(unreadable(reason));
    this.#giveUp = reject;
    worker.onmessage = ({ data }: MessageEvent<ReportReply>) =>
      'failure' in data ? fail(data.failure) : resolve(data.report);
    worker.onerror = ({ message: words }) => fail(words);
    const meter = setInterval(measure(fail, this.#options.cpu_ms ?? REPORT_CPU_MS), MEASURE_EVERY_MS);
    worker.postMessage(message);
    try {
      const report = await promise;
      this.#idle_timer = setTimeout(() => this.#endThread(), REPORT_READER_IDLE_STOP_MS);
      this.#idle_timer.unref();
      return report;
    } catch (error) {
      this.#endThread();
      throw error;
    } finally {
      clearInterval(meter);
    }
  }

  #startThread(): Worker {
    requireThreadDescriptors();
    const worker = (this.#options.startWorker ?? startReportWorker)();
    worker.addEventListener('close', () => {
      if (worker !== this.#worker) return;
      this.#giveUp(unreadable('its thread ended.'));
      this.#endThread();
    });
    this.#worker = worker;
    return worker;
  }

  #endThread(): void {
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#idle_timer = null;
    this.#worker?.terminate();
    this.#worker = null;
  }
}

/**
 * No thread's own time can be asked for from outside. That of the whole process is never less, and, unlike the time of day,
 * does not run where a busy machine lets none of its threads.
 */
function measure(fail: (reason: string) => void, cpu_ms: number): () => void {
  const began = { ms: monotonicMs(), cpu: process.cpuUsage() };
  return () => {
    const { user, system } = process.cpuUsage(began.cpu);
    if ((user + system) / 1_000 >= cpu_ms) fail(`it took more than ${cpu_ms / 1_000} s of processor time.`);
    if (monotonicMs() - began.ms >= REPORT_DEADLINE_MS)
      fail(`nothing came of it within ${REPORT_DEADLINE_MS / 1_000} s.`);
  };
}

function unreadable(reason: string): UnreadableReport {
  return new UnreadableReport(`The message could not be read: ${reason}`);
}

function stopped(): AppError {
  return new AppError('unavailable', 'The server is stopping.');
}
