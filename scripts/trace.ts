/**
 * `bun run trace [BACKEND_VERSION] < LOG` repeats a log (or a stack trace) with lines of the sources in place of those of the
 * executable's bundle. It bundles this checkout again: check out what was built, on a machine of that platform, and give its
 * version as `satchel version` prints it, such as 2030.01.31.1 (the day of its commit, and which one of that day it was);
 * unless given it is this checkout's.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backendVersion, compile } from './build.ts';

/** A place as stack traces of the executable have it. */
const BUNDLED = /\/\$bunfs\/root\/([\w.-]+):(\d+):(\d+)/g;

/** Replaces what can be found in the maps; what cannot stays as it is. */
function translate(text: string, maps: ReadonlyMap<string, SourceMap>): string {
  return text.replace(BUNDLED, (place, name: string, line: string, column: string) => {
    // A bare number is a line or column from 0, where a trace counts from 1.
    const entry = maps.get(name)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!entry || !('originalSource' in entry)) return place;
    return `${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

process.chdir(join(import.meta.dir, '..'));
const dir = await mkdtemp(join(tmpdir(), 'satchel-trace-'));
try {
  await compile(join(dir, 'satchel'), {
    backend_version: process.argv[2] ?? backendVersion(),
    with_maps: true,
  });
  const maps = new Map<string, SourceMap>();
  for await (const name of new Bun.Glob('*.map').scan(dir))
    maps.set(name.replace(/\.map$/, ''), new SourceMap(await Bun.file(join(dir, name)).json()));
  process.stdout.write(translate(await Bun.stdin.text(), maps));
} finally {
  await rm(dir, { recursive: true, force: true });
}
