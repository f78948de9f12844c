/** The compiled executable, as its users run it: commands, a server, kills. Everything started is ended after the tests. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { atEveryEnd } from '../support/cleanup.ts';
import { satchel as runHere } from '../support/command.ts';
import { BINARY } from '../support/executable.ts';
import { parseObject } from '../support/helpers.ts';

export { BINARY };

export interface Outcome {
  exit: number;
  stdout: string;
  stderr: string;
  /** stdout as a JSON object; empty where it is none. */
  json: Record<string, unknown>;
}

/** An environment without the settings of whoever runs the tests. */
function cleanEnvironment(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/tmp', ...env };
}

/** Runs a command to its end. */
export async function satchel(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; wrap?: string[] } = {},
): Promise<Outcome> {
  const child = Bun.spawn([...(options.wrap ?? []), BINARY, ...args], {
    stdin: new Blob(['']),
    stdout: 'pipe',
    stderr: 'pipe',
    env: cleanEnvironment(options.env ?? {}),
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, stdout, stderr, json: parseObject(stdout) };
}

export interface Server {
  /** Empty where it waits for a certificate. */
  url: string;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Ends it with a signal and resolves with its exit status. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number>;
  signal(signal: 'SIGTERM'): void;
  exited: Promise<number>;
}

const servers = new Set<Server>();
atEveryEnd(() => Promise.all([...servers].map((server) => server.end('SIGKILL'))));

const READY = /^satchel (?:listening on (https?:\S+)|waits for a certificate for .*)$/m;

/** Starts a server on a port of the system's choice; throws with what it printed when it ends before it listens. */
export async function startServer(
  data_dir: string,
  env: Record<string, string> = {},
  wrap: string[] = [],
  flags: string[] = [],
): Promise<Server> {
  const child = Bun.spawn([...wrap, BINARY, 'serve', '--port', '0', '--data-dir', data_dir, ...flags], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: cleanEnvironment(env),
  });
  let stderr = '';
  void (async () => {
    for await (const chunk of child.stderr) stderr += new TextDecoder().decode(chunk);
  })();
  let stdout = '';
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  void (async () => {
    for await (const chunk of child.stdout) {
      stdout += new TextDecoder().decode(chunk);
      if (READY.test(stdout)) resolve();
    }
    resolve();
  })();
  await ready;
  const [line, url = ''] = READY.exec(stdout) ?? [];
  if (line === undefined) throw new Error(`the server ended with ${await child.exited}: ${stderr}`);
  const server: Server = {
    url,
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    exited: child.exited,
    signal: (signal) => child.kill(signal),
    async end(signal) {
      servers.delete(server);
      child.kill(signal);
      return child.exited;
    },
  };
  servers.add(server);
  return server;
}

/**
 * Runs a command that prepares a test, which must end well, and returns the document that it prints: in this process, as one of
 * its own takes ten times as long, or where only a wrapped process can reach the directory.
 */
async function prepare(data_dir: string, args: string[], wrap: string[]): Promise<Record<string, unknown>> {
  const command = [...args, '--data-dir', data_dir, '--json'];
  const { exit, stdout, stderr } = await (wrap.length > 0 ? satchel(command, { wrap }) : runHere(command));
  if (exit !== 0) throw new Error(`satchel ${args.join(' ')}: ${stderr}`);
  return parseObject(stdout);
}

/**
 * A wrap for what prepares a directory that a command must later have for itself: this process holds a database that it closed
 * until garbage is collected.
 */
export const OWN_PROCESS = ['env'];

/** A project with a key, made beside the running server or without one. */
export async function makeKey(
  data_dir: string,
  can = 'read,write,email',
  wrap: string[] = [],
): Promise<string> {
  await prepare(data_dir, ['project', 'create', '--name', 'Shop', '--slug', 'shop'], wrap);
  const of_key = ['--project', 'shop', '--name', 'web', '--can', can, '--rate-limit', '1000000'];
  return String((await prepare(data_dir, ['key', 'create', ...of_key], wrap)).plaintext_key);
}

/** An access token of an administrator of all projects. */
export async function makeToken(data_dir: string, wrap: string[] = []): Promise<string> {
  const fields = ['--name', 'a', '--all-projects', '--can', 'administer'];
  return String((await prepare(data_dir, ['token', 'create', ...fields], wrap)).token);
}

/** A trusted domain with a mailbox whose relay is this one, or listens on this port of 127.0.0.1. */
export async function addMailbox(
  data_dir: string,
  relay: string | number,
  wrap: string[] = [],
): Promise<void> {
  const url = typeof relay === 'string' ? relay : `smtp://127.0.0.1:${relay}`;
  await prepare(data_dir, ['domain', 'add', 'mail.example.com', '--trust'], wrap);
  await prepare(data_dir, ['mailbox', 'add', 'shop@mail.example.com', '--smtp', url], wrap);
}

/** Names of the files of stored objects, partial uploads included, sorted. */
export function storedFiles(data_dir: string): string[] {
  return readdirSync(join(data_dir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

/** Uploads bytes as a public object and returns the answer, or null when the server went away. */
export async function upload(
  url: string,
  key: string,
  bytes: string | Buffer<ArrayBuffer>,
): Promise<{ status: number; public_id: string } | null> {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-test' }), 'a.bin');
  form.set('visibility', 'public');
  try {
    const response = await fetch(`${url}/api/v1/objects`, {
      method: 'POST',
      headers: { 'X-API-Key': key },
      body: form,
    });
    const body = parseObject(await response.text());
    return { status: response.status, public_id: String(body.public_id) };
  } catch {
    return null;
  }
}

/** A port that was free a moment ago. */
export function freePort(): string {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return String(port);
}
