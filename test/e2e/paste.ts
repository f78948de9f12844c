/** Pasting blocks of the documents into a shell, word for word, but for the port. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { BINARY } from './binary.ts';

/** A port that was free a moment ago, in place of the one that the documents name. */
export function freePort(): string {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return String(port);
}

/** What pasting some blocks prints, and the commands that ended with another status than 0. */
export async function paste(
  blocks: readonly string[],
  on: { cwd: string; port: string; env?: Record<string, string> },
): Promise<{ stdout: string; stderr: string }> {
  const bin = makeTempDir();
  symlinkSync(BINARY, join(bin, 'satchel'));
  // As on a machine that has neither: nothing that is pasted needs them.
  for (const other of ['bun', 'node'])
    writeFileSync(join(bin, other), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
  const lines = blocks.join('\n').replaceAll('8420', on.port);
  const script = `trap 'echo "ended with $?: $BASH_COMMAND" >&2' ERR\ntrap 'trap - ERR; kill $(jobs -p) 2>/dev/null' EXIT\n${lines}`;
  const child = Bun.spawn(['bash', '-c', script], {
    ...{ cwd: on.cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    env: { PATH: `${bin}:${process.env.PATH}`, SATCHEL_PORT: on.port, SATCHEL_LOG_LEVEL: 'error', ...on.env },
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr };
}
