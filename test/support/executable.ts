/** The command that runs Satchel in a process of its own: the compiled executable, where it is of these sources. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');
export const BINARY = join(ROOT, 'dist/satchel');

/** Whether nothing that it is made of was changed since it was compiled, as in a run of all tests. */
function isOfTheseSources(): boolean {
  const built = statSync(BINARY, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return ['src', 'handbook', 'package.json', 'bun.lock'].every((part) => {
    const path = join(ROOT, part);
    const inside = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
      : [];
    return ['', ...inside].every((each) => statSync(join(path, each)).mtimeMs < built);
  });
}

let command: readonly string[] | null = null;

/** What `satchel` is before its arguments. Starting from the sources takes a second of a processor, the executable a tenth. */
export function satchelCommand(): readonly string[] {
  command ??= isOfTheseSources() ? [BINARY] : [process.execPath, join(ROOT, 'src/main.ts')];
  return command;
}
