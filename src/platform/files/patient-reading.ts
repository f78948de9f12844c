/** Reading the body of an upload from a client that may be slow, silent or gone. */
import { UPLOAD_DEADLINE_MS, UPLOAD_IDLE_TIMEOUT_MS } from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';

interface Patience {
  /** For the whole body; `UPLOAD_DEADLINE_MS` unless given. */
  deadline_ms?: number;
  /** Without a single byte from the client; `UPLOAD_IDLE_TIMEOUT_MS` unless given. */
  idle_timeout_ms?: number;
  /** Ends the reading; its reason is thrown. */
  signal?: AbortSignal;
  /** What is thrown where the body does not come in time, or not to its end. */
  refuse(why: string, cause?: unknown): Error;
}

/**
 * The body in pieces, with a deadline for the whole and one for silence. Only waiting for the client counts:
 * a slow disk of ours makes nobody late.
 */
export async function* readPatiently(
  body: ReadableStream<Uint8Array>,
  options: Patience,
): AsyncGenerator<Uint8Array> {
  const {
    deadline_ms = UPLOAD_DEADLINE_MS,
    idle_timeout_ms = UPLOAD_IDLE_TIMEOUT_MS,
    signal,
    refuse,
  } = options;
  const tooSlow = (what: string, limit_ms: number): Error =>
    refuse(`${what} ${Math.ceil(limit_ms / 1000)} s, which is the time-out`);
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  const ends_ms = monotonicMs() + deadline_ms;
  let waits_since_ms: number | null = null;
  let too_late: Error | null = null;
  // Looked at four times in each span; a timer for each piece would cost more.
  const timer = setInterval(() => {
    const now_ms = monotonicMs();
    if (waits_since_ms === null) return;
    if (now_ms >= ends_ms) too_late = tooSlow('it was not complete within', deadline_ms);
    else if (now_ms - waits_since_ms >= idle_timeout_ms) {
      too_late = tooSlow('nothing was received for', idle_timeout_ms);
    }
    if (too_late) stop();
  }, Math.min(idle_timeout_ms, deadline_ms) / 4);
  signal?.addEventListener('abort', stop);
  try {
    for (;;) {
      signal?.throwIfAborted();
      waits_since_ms = monotonicMs();
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw refuse('it was cut off before its end', error);
      });
      waits_since_ms = null;
      // A reader that was cancelled looks just like one that came to the end.
      signal?.throwIfAborted();
      if (too_late) throw too_late;
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    clearInterval(timer);
    stop();
  }
}
