/** Running the command line: in the test's own process, or where that process is what is tested, in one of its own. */
import { createCli } from '../../src/app/command-line.ts';
import type { CliProcess } from '../../src/platform/cli/cli.ts';
import { uncoloured } from '../../src/platform/cli/colour.ts';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { satchelCommand } from './executable.ts';

export interface Ran {
  exit: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** The settings, and no others. */
  env?: Record<string, string | undefined>;
  /** What standard input holds. */
  input?: string;
  /** What somebody at the terminal answers when they are asked. */
  answer?: string;
  /** Whether a terminal is at both ends. */
  in_terminal?: boolean;
  /** Settings of a service that is installed, data directory included. */
  installed?: Record<string, string> & { SATCHEL_DATA_DIR: string };
  /** The file of that service's settings. */
  settings?: string;
  /** Whether that is a folder of its own, by whose program the verb is run. */
  has_own_folder?: boolean;
}

/** A process for verbs, with what they wrote to it so far. */
export function standInProcess({
  env: given = {},
  input = '',
  answer,
  in_terminal = false,
  installed,
  has_own_folder = false,
  settings = '/nowhere/satchel.env',
}: RunOptions = {}): {
  process: CliProcess;
  written: { stdout: string; stderr: string };
} {
  const env = { ...given };
  const written = { stdout: '', stderr: '' };
  const process: CliProcess = {
    environment: env,
    begin(variables) {
      for (const [name, value] of Object.entries(variables)) env[name] ||= value;
    },
    out: (text) => {
      written.stdout += text;
    },
    show: (text) => {
      written.stdout += uncoloured(text);
    },
    outBytes: (bytes) => {
      written.stdout += new TextDecoder().decode(bytes);
    },
    outArchive: async (bytes) => process.outBytes(bytes),
    is_input_typed: in_terminal,
    err: (text) => {
      written.stderr += text;
    },
    status: () => {},
    input: async () => new TextEncoder().encode(input),
    inputStream: () => new Blob([input]).stream(),
    ask: () => answer ?? null,
    out_columns: in_terminal ? 80 : null,
    err_columns: null,
    installedService: () =>
      installed
        ? {
            data_dir: installed.SATCHEL_DATA_DIR,
            has_own_folder,
            settings,
            readSettings: () => installed,
          }
        : null,
    runCommand: () => {
      throw new Error('A verb that runs a command needs a process of its own.');
    },
    actAsOwner: () => {},
    yieldToOthers: () => {},
  };
  return { process, written };
}

/** Runs `satchel <args>` to its end in this process. */
export async function satchel(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { process, written } = standInProcess(options);
  const exit = await createCli(process).main(args);
  // An app in this process reads one committed state until its turn ends, which may be from before the verb's.
  await new Promise((done) => setImmediate(done));
  return { exit, ...written };
}

/** As `satchel`, on a data directory. */
export function run(data_dir: string, ...args: string[]): Promise<Ran> {
  return satchel(args, { env: { SATCHEL_DATA_DIR: data_dir } });
}

/** As `satchel`, with these settings. */
export function runWith(env: Record<string, string | undefined>, ...args: string[]): Promise<Ran> {
  return satchel(args, { env });
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

/** Starts `satchel <args>` in a process of its own, which the caller ends or awaits. */
export function spawnVerb(args: readonly string[], { env = {}, input = '' }: RunOptions = {}) {
  return Bun.spawn([...satchelCommand(), ...args], {
    stdin: new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', ...env },
  });
}

/** As `satchel`, in a process of its own: what only that shows, such as the modes of files. */
export async function runSpawned(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawnVerb(args, options);
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, stdout, stderr };
}

/** As `run`, in a terminal: what that shows. */
export function runInTerminal(data_dir: string, ...args: string[]): Promise<string> {
  return runInTerminalWith({ SATCHEL_DATA_DIR: data_dir }, args);
}

export async function runInTerminalWith(
  env: Record<string, string>,
  args: readonly string[],
): Promise<string> {
  let shown = '';
  const decoder = new TextDecoder();
  const child = Bun.spawn([...satchelCommand(), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
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
