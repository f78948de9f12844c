/** Litestream beside a server, for tests that ask for `part('litestream')`. Everything started is ended after the tests. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atEveryEnd } from './cleanup.ts';
import { part } from './parts.ts';
import { until } from './until.ts';

const executable = part('litestream');

const running = new Set<Bun.Subprocess>();
atEveryEnd(() => Promise.all([...running].map((child) => end(child))));

async function end(child: Bun.Subprocess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  running.delete(child);
  child.kill(signal);
  await child.exited;
}

export interface Litestream {
  /** What it said until now. */
  log(): string;
  /** Resolves once the replica has what the database holds now. */
  catchUp(data_dir: string): Promise<void>;
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

function command(args: string[]): string[] {
  if (executable === null) throw new Error('this machine has no litestream');
  return [executable, ...args];
}

/** Replicates as the configuration says, which puts the control socket here. */
export function startLitestream(
  config: string,
  { socket, env = {} }: { socket: string; env?: Record<string, string> },
): Litestream {
  // One that was killed leaves its socket there.
  rmSync(socket, { force: true });
  const child = Bun.spawn(command(['replicate', '-config', config]), {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', HOME: dirname(config), ...env },
  });
  running.add(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    void (async () => {
      for await (const chunk of stream) log += new TextDecoder().decode(chunk);
    })();
  return {
    log: () => log,
    stop: (signal) => end(child, signal),
    async catchUp(data_dir) {
      await until(() => existsSync(socket));
      await run(['sync', '-wait', '-socket', socket, join(data_dir, 'satchel.db')]);
    },
  };
}

/** Runs one of its commands to its end. Throws with what it said. */
async function run(args: string[], env: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn(command(args), { stdout: 'pipe', stderr: 'pipe', env });
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(said.join(''));
}

/** Writes a configuration that replicates the database of a data directory into a folder; `settings` are the database's. */
export function writeFileConfig(
  home: string,
  data_dir: string,
  settings: Record<string, string> = {},
): { config: string; socket: string } {
  mkdirSync(home, { recursive: true });
  const socket = join(home, 'socket');
  const database = {
    path: join(data_dir, 'satchel.db'),
    replica: { type: 'file', path: join(home, 'replica') },
    ...settings,
  };
  const config = join(home, 'litestream.yml');
  writeFileSync(config, JSON.stringify({ socket: { enabled: true, path: socket }, dbs: [database] }));
  return { config, socket };
}

/** Writes the replica's newest state to `target`. Throws with what Litestream said. */
export async function restoreReplica(
  config: string,
  { data_dir, target, env }: { data_dir: string; target: string; env?: Record<string, string> },
): Promise<void> {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  await run(['restore', '-config', config, '-o', target, join(data_dir, 'satchel.db')], env);
}
