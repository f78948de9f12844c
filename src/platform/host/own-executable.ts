/** Starting this executable once more. */
import { join } from 'node:path';
import type { Environment } from '../../config.ts';

/** The command that runs it with a verb: the compiled executable, or the runtime with the sources. */
export function ownCommand(verb: string): string[] {
  return [process.execPath, ...ownArguments(), verb];
}

/** Runs it in place of itself, as the same process, in this environment. Does not return. */
export function beginAnew(argv: readonly string[], env: Environment): void {
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  process.execve?.(process.execPath, [process.execPath, ...ownArguments(), ...argv], Object.fromEntries(set));
}

/** What makes the runtime Satchel: nothing, where it is compiled, and its files are said to be where only such have theirs. */
function ownArguments(): string[] {
  return import.meta.dir.startsWith('/$bunfs/') ? [] : [join(import.meta.dir, '../../main.ts')];
}
