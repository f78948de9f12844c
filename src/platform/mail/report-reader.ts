/** Reads reports and replies in a thread of its own: strangers write them, and reading one may take long. */
import { BoundedThread, PieceFailed, type ThreadOptions } from '../host/bounded-thread.ts';
import type { AggregateReading } from './aggregate-reports.ts';
import type { MailReply } from './mail-replies.ts';
import type { MailReport } from './mail-reports.ts';

/** Decision: processor time for reading one report; real ones take some ten milliseconds. */
const REPORT_CPU_MS = 2_000;

/** A message, and what it is read for. */
export interface ToRead {
  as: 'report' | 'reply' | 'aggregates';
  message: Uint8Array;
}
export interface Reading {
  report?: MailReport | null;
  reply?: MailReply | null;
  aggregates?: AggregateReading;
}

export interface ReportReader {
  /**
   * The report in a message, or null. Rejects with UnreadableReport where reading took too long or ended the
   * thread, and with AppError `unavailable` where no thread can be started.
   */
  read(message: Uint8Array): Promise<MailReport | null>;
  /** As `read`, the reply in a message. */
  readReply(message: Uint8Array): Promise<MailReply | null>;
  /** As `read`, the reports about domains in a message. */
  readAggregates(message: Uint8Array): Promise<AggregateReading>;
  /** Ends the thread; what it reads is answered with AppError `unavailable`. */
  stop(): void;
}

/** The message itself is at fault; another attempt is likely to end the same way. */
export class UnreadableReport extends Error {}

/** Starts nothing yet: the thread begins with the first message. Tests give other bounds. */
export function createReportReader(options: Partial<ThreadOptions> = {}): ReportReader {
  const thread = new BoundedThread<ToRead, Reading>({
    startWorker: startReportWorker,
    cpu_ms: REPORT_CPU_MS,
    ...options,
  });
  const read = (as: ToRead['as'], message: Uint8Array) => thread.do({ as, message }).catch(refuse);
  return {
    read: async (message) => (await read('report', message)).report ?? null,
    readReply: async (message) => (await read('reply', message)).reply ?? null,
    readAggregates: async (message) =>
      (await read('aggregates', message)).aggregates ?? { reports: [], unread: null },
    stop: () => thread.stop(),
  };
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startReportWorker(): Worker {
  return new Worker(new URL('./report-reader.worker.ts', import.meta.url));
}

function refuse(error: unknown): never {
  if (!(error instanceof PieceFailed)) throw error;
  throw new UnreadableReport(`The message could not be read: ${error.message}`);
}
