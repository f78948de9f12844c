/** Running the command line from its sources on a data directory; the compiled binary's tests are in e2e/. */
import { join } from 'node:path';
import { isPlainObject } from '../src/platform/http/schema.ts';

const MAIN = join(import.meta.dir, '../src/main.ts');

export interface Ran {
  exit: number;
  stdout: string;
  stderr: string;
}

/** Runs `satchel <args>` to its end, without the settings of whoever runs the tests. */
export async function run(data_dir: string, ...args: string[]): Promise<Ran> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', SATCHEL_DATA_DIR: data_dir },
  });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, stdout, stderr };
}

/** As `run` with `--json`; throws unless it ends well. The whole of stdout must be one document. */
export async function runJson(data_dir: string, ...args: string[]): Promise<unknown> {
  const { exit, stdout, stderr } = await run(data_dir, ...args, '--json');
  if (exit !== 0) throw new Error(`satchel ${args.join(' ')} ended with ${exit}: ${stderr}`);
  return JSON.parse(stdout);
}

/** As `runJson`, for a document that is an object. */
export async function runRecord(data_dir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const value = await runJson(data_dir, ...args);
  if (!isPlainObject(value)) throw new Error(`satchel ${args.join(' ')} printed no object`);
  return value;
}

/** As `run`, in a terminal: what that shows. */
export async function runInTerminal(data_dir: string, ...args: string[]): Promise<string> {
  let shown = '';
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', SATCHEL_DATA_DIR: data_dir },
    terminal: {
      cols: 200,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
      },
    },
  });
  await child.exited;
  child.terminal?.close();
  return shown;
}
