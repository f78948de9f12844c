/** Starting this executable once more. */
import { join } from 'node:path';

/** The command that runs it with a verb: the compiled executable, or the runtime with the sources. */
export function ownCommand(verb: string): string[] {
  // Where the files of a compiled executable are said to be.
  if (import.meta.dir.startsWith('/$bunfs/')) return [process.execPath, verb];
  return [process.execPath, join(import.meta.dir, '../../main.ts'), verb];
}
