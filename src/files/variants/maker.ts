/**
 * The process that makes variants. It takes one job after another from the server that started it, and knows
 * nothing else. It ends with that server, and by itself when an image takes too much memory.
 */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { errorCodeOf, messageOf } from '../../errors.ts';
import { makeVariant } from './making.ts';
import type { VariantAnswer, VariantJob } from './protocol.ts';

/** How often the memory is looked at: a decoder takes some 100 MB in this time. */
const LOOK_MS = 10;
/** Others go first (setpriority(2)). At the lowest priority a busy machine would let nothing end in time. */
const NICENESS = 10;

/** Makes variants until the server is gone. Answers null at once in a process that no server started. */
export function makeVariants(): Promise<void> | null {
  if (!process.send) return null;
  const send = process.send.bind(process);
  stepBack();
  // The same everywhere: other systems' own decoders know more formats, and are others' to mend.
  Bun.Image.backend = 'bun';
  process.on('message', (job: VariantJob) => void answer(job).then((said) => send(said)));
  return new Promise((resolve) => process.on('disconnect', resolve));
}

async function answer(job: VariantJob): Promise<VariantAnswer> {
  const endIfTooLarge = (): void => {
    if (process.memoryUsage.rss() > job.memory_bytes) process.kill(process.pid, 'SIGKILL');
  };
  endIfTooLarge();
  const watch = setInterval(endIfTooLarge, LOOK_MS);
  try {
    return { reply: await makeVariant(job), memory_bytes: process.memoryUsage.rss() };
  } catch (error) {
    const reply = { is: 'failed', message: messageOf(error), code: errorCodeOf(error) } as const;
    return { reply, memory_bytes: process.memoryUsage.rss() };
  } finally {
    clearInterval(watch);
  }
}

/** Others get the processor first, and this process goes first where memory is short. Not always allowed. */
function stepBack(): void {
  const attempts = [() => setPriority(NICENESS), () => writeFileSync('/proc/self/oom_score_adj', '1000')];
  for (const attempt of attempts) {
    try {
      attempt();
    } catch {
      // Containers forbid the one, other systems lack the other.
    }
  }
}
