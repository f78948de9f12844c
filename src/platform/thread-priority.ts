/**
 * Which thread goes first when there are more than processors: the event loop's, which answers requests. Signing and
 * sending mail can keep every processor busy, and without this a request would wait for its time slice behind them.
 */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** Steps of niceness by which the other threads stand back; only felt while the processors are all busy. */
const NICENESS = 10;

/**
 * Has every other thread that runs now stand back behind the event loop's. Does nothing where threads have no priority
 * of their own (elsewhere than on Linux) or it may not be changed. Call it on the main thread.
 */
export function yieldToEventLoop(): void {
  if (process.platform !== 'linux') return;
  try {
    const wanted = Math.min(19, getPriority(process.pid) + NICENESS);
    for (const name of readdirSync('/proc/self/task')) {
      const thread = Number(name);
      // The main thread has the process's own id.
      if (thread !== process.pid && getPriority(thread) < wanted) setPriority(thread, wanted);
    }
  } catch {
    // A sandbox may forbid it, and a thread may end meanwhile: mail is sent all the same.
  }
}
