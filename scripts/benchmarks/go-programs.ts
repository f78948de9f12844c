/** Programs to measure against, which Go builds from its module proxy and the cache keeps. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { leftOut } from './harness.ts';

const PROGRAMS = {
  PocketBase: { module: 'github.com/pocketbase/pocketbase', version: 'v0.36.0', folder: './examples/base' },
  MinIO: { module: 'github.com/minio/minio', version: 'v0.0.0-20260212201848-7aac2a2c5b7c', folder: '.' },
  // Later releases lack their number in the module's path, so Go can't name them.
  listmonk: { module: 'github.com/knadh/listmonk', version: 'v1.1.0', folder: './cmd' },
} as const;
/** From nothing MinIO takes five minutes of two processors. */
const BUILD_LIMIT_MS = 10 * 60_000;

/** Where a program is, and its sources, which listmonk reads as it runs; null, told in a line, without them. */
export async function builtByGo(
  name: keyof typeof PROGRAMS,
): Promise<{ path: string; sources: string } | null> {
  const { module, version, folder } = PROGRAMS[name];
  const go = Bun.which('go', { PATH: `${process.env.PATH}:/usr/local/go/bin` });
  if (go === null) return leftOut(name, 'there is no Go to build it with');
  const sources = await downloaded(go, `${module}@${version}`);
  if (sources === null) return leftOut(name, `Go can't download ${module}@${version}`);
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'satchel-bench-peers');
  const path = join(cache, `${name.toLowerCase()}-${version}`);
  if (existsSync(path)) return { path, sources };
  process.stderr.write(`building ${name} ...\n`);
  const { code } = await run([go, 'build', '-C', sources, '-o', path, folder]);
  return code === 0 ? { path, sources } : leftOut(name, `Go can't build ${module}@${version}`);
}

/** The folder of a module in Go's cache. */
async function downloaded(go: string, module: string): Promise<string | null> {
  const { code, text } = await run([go, 'mod', 'download', '-json', module]);
  return code === 0 ? String((JSON.parse(text) as Record<string, unknown>).Dir) : null;
}

/** In a folder without a module, whose go.mod would speak for the program's. */
async function run(command: string[]): Promise<{ code: number; text: string }> {
  const child = Bun.spawn(command, { cwd: '/', timeout: BUILD_LIMIT_MS, stdout: 'pipe', stderr: 'ignore' });
  const text = await new Response(child.stdout).text();
  return { code: await child.exited, text };
}
