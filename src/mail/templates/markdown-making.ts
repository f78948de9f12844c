/** Makes bodies of Markdown in a thread: 500 KB may take seconds, and only its author waits for them. */
import { AppError } from '../../errors.ts';
import { BoundedThread, PieceFailed, type ThreadOptions } from '../../platform/host/bounded-thread.ts';
import type { MarkdownBodies } from './markdown.ts';

/** Decision: processor time for one text; a long newsletter takes some milliseconds. */
const MARKDOWN_CPU_MS = 2_000;
/** How many texts of a project may be in work or waiting; one more is refused. */
export const MARKDOWN_AT_ONCE = 10;
const RETRY_AFTER_S = 2;

export interface MarkdownPiece {
  markdown: string;
  max_bytes: number;
}

/** The texts of one project: their number, and a promise that settles once the last is made. */
interface Queue {
  count: number;
  last: Promise<unknown>;
}

/** Starts nothing yet: the thread begins with the first text. */
export class MarkdownMaking {
  readonly #thread: BoundedThread<MarkdownPiece, MarkdownBodies>;
  readonly #queues = new Map<number, Queue>();

  /** Tests give other options. */
  constructor(options: Partial<ThreadOptions> = {}) {
    const usual = { startWorker: startMarkdownWorker, cpu_ms: MARKDOWN_CPU_MS };
    this.#thread = new BoundedThread({ ...usual, ...options });
  }

  /**
   * The bodies of a text, or why it has none. Only one text of a project is in the thread's queue, so that
   * projects take turns. Throws AppError `rate_limited` and `unavailable`.
   */
  async make(project_id: number, piece: MarkdownPiece): Promise<MarkdownBodies> {
    const queue = this.#queues.get(project_id) ?? { count: 0, last: Promise.resolve() };
    if (queue.count >= MARKDOWN_AT_ONCE) throw tooMany();
    this.#queues.set(project_id, queue);
    queue.count += 1;
    const made = queue.last.then(() => this.#thread.do(piece));
    queue.last = made.catch(() => {});
    try {
      return await made;
    } catch (error) {
      if (!(error instanceof PieceFailed)) throw error;
      return { ok: false, message: `must be shorter or simpler: ${error.message.replace(/\.$/, '')}` };
    } finally {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(project_id);
    }
  }

  /** Ends the thread; whoever waits is told `unavailable`. */
  stop(): void {
    this.#thread.stop();
  }
}

/** The build names workers flatly beside the executable's code, so this address works there, too. */
function startMarkdownWorker(): Worker {
  return new Worker(new URL('./markdown.worker.ts', import.meta.url));
}

function tooMany(): AppError {
  const message = `${MARKDOWN_AT_ONCE} texts in Markdown of this project are being made already. Try again shortly.`;
  return new AppError('rate_limited', message, { retry_after_s: RETRY_AFTER_S });
}
