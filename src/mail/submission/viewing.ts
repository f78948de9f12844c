/** What a message that came whole says, as its reader would see it: read when somebody looks, in a thread of its own. */
import { AppError } from '../../errors.ts';
import { BoundedThread, PieceFailed } from '../../platform/host/bounded-thread.ts';
import { SMTP_READ_MS } from './protocol.ts';

export interface MessageView {
  headers: { name: string; value: string }[];
  body_html: string | null;
  body_text: string | null;
  attachments: { public_id: null; filename: string; mime_type: string; size_bytes: number }[];
}

export class MessageViewer {
  readonly #thread = new BoundedThread<{ path: string }, MessageView>({
    startWorker: () => new Worker(new URL('./viewing.worker.ts', import.meta.url)),
    cpu_ms: SMTP_READ_MS,
  });

  /** Reads the message in a file. Throws AppError `unavailable` where that takes too long. */
  async view(path: string): Promise<MessageView> {
    try {
      return await this.#thread.do({ path });
    } catch (error) {
      if (!(error instanceof PieceFailed)) throw error;
      throw new AppError('unavailable', `The message could not be read: ${error.message}`, { cause: error });
    }
  }

  stop(): void {
    this.#thread.stop();
  }
}
