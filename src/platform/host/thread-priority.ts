/**
 * Which thread goes first when there are more than processors: the event loop's, which answers requests. Signing and
 * sending mail can keep every processor busy, and without this a request would wait for its time slice behind them.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** The lowest priority (setpriority(2)); only felt while the processors are all busy. */
const LAST = 19;

/** Threads that requests wait for as they do for the event loop. */
const exempt = new Set<number>();

/** The system's number of the thread that asks; null where that is not to be had. */
export function ownThread(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return null;
  }
}

/** Has a thread never stand back. Call what comes back once it has ended, as its number may then be another's. */
export function exemptThread(thread: number): () => void {
  exempt.add(thread);
  return () => exempt.delete(thread);
}

/**
 * Has every other thread that runs now stand back behind the event loop's. Does nothing where threads have no priority
 * of their own (elsewhere than on Linux) or it may not be changed. Call it on the main thread.
 */
export function yieldToEventLoop(): void {
  if (process.platform !== 'linux') return;
  try {
    for (const name of readdirSync('/proc/self/task')) {
      const thread = Number(name);
      // The main thread has the process's own id.
      if (thread !== process.pid && !exempt.has(thread) && getPriority(thread) < LAST)
        setPriority(thread, LAST);
    }
  } catch {
    // A sandbox may forbid it, and a thread may end meanwhile: mail is sent all the same.
  }
}
