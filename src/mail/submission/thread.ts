/** The main thread's side of the thread that speaks SMTP: starts it, answers what it asks, and starts another where it ends. */
import { conflict, messageOf } from '../../errors.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { requireThreadDescriptors } from '../../platform/host/shortages.ts';
import type {
  Answer,
  FromThread,
  Measures,
  Question,
  ThreadSettings,
  TlsPair,
  ToThread,
} from './protocol.ts';

/** A thread that ended is started again after this. */
const RESTART_MS = 1_000;
/** What its end may take beyond the deadline that it was given. */
const STOP_GRACE_MS = 500;

interface ThreadDeps {
  logger: Logger;
  answer(question: Question): Promise<Answer>;
  /** How the thread is started; for tests. */
  startWorker?: () => Worker;
}

/** The build gives every worker a flat name beside the executable's code, so this address holds there too. */
function startSubmissionWorker(): Worker {
  return new Worker(new URL('./submission.worker.ts', import.meta.url));
}

export class SubmissionThread {
  #settings: ThreadSettings;
  #worker: Worker | null = null;
  #is_stopping = false;
  #onStarted: (ports: { port: number | null; tls_port: number | null }) => void = () => {};
  #onFailed: (message: string) => void = () => {};
  #onStopped: () => void = () => {};
  /** Of the thread that runs. */
  measures: Measures = { connections: 0, taken: 0, put_off: 0, refused: 0, failed_sign_ins: 0 };
  /** Of threads before. */
  #before: Measures = this.measures;

  constructor(
    settings: ThreadSettings,
    private readonly deps: ThreadDeps,
  ) {
    this.#settings = settings;
  }

  /** Starts it and resolves with the ports. Throws AppError `conflict` where one can't be had. */
  async start(): Promise<{ port: number | null; tls_port: number | null }> {
    requireThreadDescriptors();
    const { promise, resolve, reject } = Promise.withResolvers<{
      port: number | null;
      tls_port: number | null;
    }>();
    this.#onStarted = resolve;
    this.#onFailed = (message) =>
      reject(
        conflict(
          `No SMTP server could be started at ${this.#settings.host}: ${message}. Set SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT to a port that is free.`,
        ),
      );
    this.#run();
    const ports = await promise;
    // Where the thread has to be started again it is at the same ports.
    this.#settings = { ...this.#settings, ...ports };
    return ports;
  }

  /** Has new connections get another certificate. */
  use(pair: TlsPair): void {
    this.#settings = { ...this.#settings, pair };
    this.#tell({ op: 'pair', pair });
  }

  /** Lets messages on their way come to their end within the deadline. */
  async stop(deadline_ms: number): Promise<void> {
    this.#is_stopping = true;
    const worker = this.#worker;
    if (!worker) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onStopped = resolve;
    const give_up = setTimeout(resolve, deadline_ms + STOP_GRACE_MS);
    this.#tell({ op: 'stop', deadline_ms });
    await promise;
    clearTimeout(give_up);
    this.#worker = null;
    worker.terminate();
    this.measures = { ...this.measures, connections: 0 };
  }

  /** What all threads counted, and the connections that are open now. */
  count(): Measures {
    const { connections, ...now } = this.measures;
    const before = this.#before;
    return {
      connections,
      taken: now.taken + before.taken,
      put_off: now.put_off + before.put_off,
      refused: now.refused + before.refused,
      failed_sign_ins: now.failed_sign_ins + before.failed_sign_ins,
    };
  }

  #run(): void {
    const worker = (this.deps.startWorker ?? startSubmissionWorker)();
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromThread>) => this.#hear(worker, data);
    worker.onerror = ({ message }) => this.#onGone(worker, message);
    worker.addEventListener('close', () => this.#onGone(worker, 'it ended by itself'));
    this.#tell({ op: 'start', settings: this.#settings });
  }

  #tell(word: ToThread): void {
    this.#worker?.postMessage(word);
  }

  #hear(worker: Worker, word: FromThread): void {
    if (word.op === 'ask') {
      // Not to a thread that was started meanwhile: its questions have the same numbers.
      const tell = (answer: Answer) => worker.postMessage({ op: 'answer', id: word.id, answer });
      void this.deps.answer(word.question).then(tell);
    } else if (word.op === 'started') this.#onStarted(word);
    else if (word.op === 'failed') {
      this.deps.logger.error('no SMTP server', { error: word.message });
      this.#onFailed(word.message);
    } else if (word.op === 'measures') this.measures = word.measures;
    else this.#onStopped();
  }

  #onGone(worker: Worker, message: string): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#before = { ...this.count(), connections: 0 };
    this.measures = { connections: 0, taken: 0, put_off: 0, refused: 0, failed_sign_ins: 0 };
    this.#onStopped();
    if (this.#is_stopping) return;
    this.deps.logger.error('the SMTP thread ended, and is started again', { error: message });
    worker.terminate();
    setTimeout(() => {
      if (this.#is_stopping) return;
      try {
        requireThreadDescriptors();
        this.#run();
      } catch (error) {
        this.#onGone(worker, messageOf(error));
      }
    }, RESTART_MS);
  }
}
