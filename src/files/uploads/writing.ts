/** One request that writes to an upload: it can be told to stop, and knows whether its client still sends. */
import { AppError } from '../../errors.ts';
import { monotonicMs } from '../../platform/host/clock.ts';

export class Writing {
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  /** Since when it waits for its client; null while it works. */
  #waits_since_ms: number | null = monotonicMs();

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** How long its client has sent nothing. */
  get silence_ms(): number {
    return this.#waits_since_ms === null ? 0 : monotonicMs() - this.#waits_since_ms;
  }

  works(): void {
    this.#waits_since_ms = null;
  }

  waits(): void {
    this.#waits_since_ms = monotonicMs();
  }

  /** Has it keep what came and answer this; resolves when it has ended. */
  stop(refusal: AppError): Promise<void> {
    this.#stop.abort(refusal);
    return this.#ended.promise;
  }

  end(): void {
    this.#ended.resolve();
  }
}

/** The refusal of a request that ended before its body did: clients ask for the offset then, and go on. */
export function cutShort(why: string, cause?: unknown): AppError {
  const message = `The request ended early: ${why}. Ask for the offset of the upload, and go on from there.`;
  return new AppError('unavailable', message, { retry_after_s: 1, cause });
}
