/** What every benchmark uses: a compiled Satchel on a scratch directory, baselines in processes of their own, a load, medians. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Subprocess } from 'bun';

export const BINARY = resolve(import.meta.dir, '../../dist/satchel');
const REPEATS = 3;
const CONCURRENCY = 32;
/** A request that takes this long hangs: the benchmark must say so instead of waiting with it. */
const REQUEST_LIMIT_MS = 20_000;
/** How long a program may take until it answers. */
const START_LIMIT_MS = 30_000;
/** Satchel lets mails in hand finish before it ends. */
const STOP_LIMIT_MS = 60_000;
/** What a group may take in all. */
const GROUP_LIMIT_MS = 15 * 60_000;

/** One row of the report: `ratio` is ours over the baseline in the direction that `target` speaks of. */
export interface Row {
  work: string;
  ours: string;
  baseline: string;
  ratio: number | null;
  target: string;
  is_met: boolean | null;
}

export function row(
  work: string,
  parts: { ours: string; baseline: string; ratio: number; at_least?: number; at_most?: number },
): Row {
  const { ours, baseline, ratio, at_least, at_most } = parts;
  const is_met = at_least !== undefined ? ratio >= at_least : at_most !== undefined ? ratio <= at_most : null;
  const target = at_least !== undefined ? `>= ${at_least}` : at_most !== undefined ? `<= ${at_most}` : '-';
  return { work, ours, baseline, ratio, target, is_met };
}

export function reported(work: string, ours: string, target = '-', is_met: boolean | null = null): Row {
  return { work, ours, baseline: '-', ratio: null, target, is_met };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Medians of both, measured in turn, so that a machine that gets slower gets slower for both. `warm_up` has both run once
 * before: it is for loads of many requests, where the compiler of a process that has just started would be measured.
 */
export async function compare(
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
  options: { warm_up: boolean } = { warm_up: false },
): Promise<{ ours: number; baseline: number }> {
  if (options.warm_up) {
    await baseline();
    await ours();
  }
  const measured = { ours: [] as number[], baseline: [] as number[] };
  for (let n = 0; n < REPEATS; n += 1) {
    measured.baseline.push(await baseline());
    measured.ours.push(await ours());
  }
  return { ours: median(measured.ours), baseline: median(measured.baseline) };
}

const scratch: string[] = [];
const processes = new Set<Subprocess>();

export function scratchDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-bench-'));
  scratch.push(dir);
  return dir;
}

export async function cleanUp(): Promise<void> {
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all([...processes].map((child) => child.exited));
  for (const dir of scratch) rmSync(dir, { recursive: true, force: true });
}

/** A process that says where it listens in its first line of output. */
export async function spawnListening(
  command: string[],
  env: Record<string, string> = {},
): Promise<{ url: string; child: Subprocess; stop(): Promise<void> }> {
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'ignore',
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  processes.add(child);
  const reader = child.stdout.getReader();
  let text = '';
  while (!text.includes('\n')) {
    const { done, value } = await within(
      REQUEST_LIMIT_MS,
      `the start of ${command.join(' ')}`,
      reader.read(),
    );
    if (done) throw new Error(`${command.join(' ')} ended before it listened: ${text}`);
    text += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  const url = /(?:http|smtp):\/\/\S+/.exec(text)?.[0] ?? '';
  return {
    url,
    child,
    async stop() {
      child.kill('SIGTERM');
      await within(STOP_LIMIT_MS, `the end of ${command.join(' ')}`, child.exited);
      processes.delete(child);
    },
  };
}

/** A process that nobody listens to. */
export function spawnQuiet(
  command: string[],
  env: Record<string, string> = {},
  cwd = process.cwd(),
): { pid: number; stop(): Promise<void> } {
  const all = { ...process.env, ...env };
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', env: all });
  processes.add(child);
  return {
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM');
      await within(STOP_LIMIT_MS, `the end of ${command.join(' ')}`, child.exited);
      processes.delete(child);
    },
  };
}

export interface Satchel {
  url: string;
  data_dir: string;
  pid: number;
  /** Runs a command of the executable on the same directory and returns its JSON. */
  cli(...args: string[]): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export async function startSatchel(
  env: Record<string, string> = {},
  data_dir = scratchDir(),
): Promise<Satchel> {
  const all = { SATCHEL_DATA_DIR: data_dir, SATCHEL_LOG_LEVEL: 'warn', ...env };
  const { url, child, stop } = await spawnListening([BINARY, 'serve', '--port', '0'], all);
  return { url, data_dir, pid: child.pid, cli: (...args) => runCli(data_dir, args), stop };
}

export async function runCli(
  data_dir: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const child = Bun.spawn([BINARY, ...args, '--json', '--data-dir', data_dir], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...env },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`satchel ${args.join(' ')} failed: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

/** A project with a key that may do what the benchmarks need, without a rate that would get in the way. */
export async function makeKey(satchel: Pick<Satchel, 'cli'>, slug = 'bench'): Promise<string> {
  await satchel.cli('project', 'create', '--name', slug, '--slug', slug);
  const key = await satchel.cli(
    'key',
    'create',
    '--project',
    slug,
    '--name',
    'k',
    '--can',
    'read,write,email,email_template,marketing',
    '--rate-limit',
    '100000000',
  );
  return String(key.plaintext_key);
}

/** As fetch, but never waits longer than a request may take. */
export function request(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_LIMIT_MS) });
}

/** `work`, or an error once it has taken longer than `limit_ms`. */
export async function within<T>(limit_ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const give_up = () => reject(new Error(`${what} took longer than ${limit_ms / 1000} s`));
  const timer = setTimeout(give_up, limit_ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A group's rows, or an error when it takes longer than any group should. */
export function limitGroup<T>(name: string, work: Promise<T>): Promise<T> {
  return within(GROUP_LIMIT_MS, `the group ${name}`, work);
}

/** Runs `total` requests, `concurrency` at a time, and returns how many a second were answered with `status`. */
export async function load(
  total: number,
  status: number,
  ask: (n: number) => Promise<Response>,
  concurrency = CONCURRENCY,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (next < total) {
      const n = next++;
      const response = await within(REQUEST_LIMIT_MS, 'a request', ask(n));
      if (response.status !== status)
        throw new Error(`expected ${status}, got ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return total / ((performance.now() - started) / 1000);
}

/** Milliseconds that each of `count` requests took, one after the other, `pause_ms` apart. */
export async function latencies(
  count: number,
  ask: () => Promise<Response>,
  pause_ms = 0,
): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const started = performance.now();
    const response = await within(REQUEST_LIMIT_MS, 'a request', ask());
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`list answered ${response.status}`);
    taken.push(performance.now() - started);
    if (pause_ms > 0) await Bun.sleep(pause_ms);
  }
  return taken;
}

export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Resolves once `ask` answers; it may refuse and throw until then. */
export async function untilUp(what: string, ask: () => Promise<boolean>): Promise<void> {
  const give_up_at = Date.now() + START_LIMIT_MS;
  while (!(await ask().catch(() => false))) {
    if (Date.now() > give_up_at) throw new Error(`${what} does not answer`);
    await Bun.sleep(50);
  }
}

/** Says in a line what is not measured against, and why. */
export function leftOut(what: string, why: string): null {
  process.stderr.write(`left out: ${what}, as ${why}\n`);
  return null;
}

/** A line of /proc/PID/status in MiB, such as VmHWM (peak) or VmRSS (now). */
export function memoryMib(pid: number, line: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
}

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const TICK_MS = 10;

/** User and system time of a process so far; proc(5), fields 14 and 15 of /proc/PID/stat. */
export function processorMs(pid: number): number {
  const [user = 0, system = 0] = timesOf(pid);
  return user + system;
}

/** The same with its children's, also of those who have ended: who ends meanwhile is among these. */
export function familyProcessorMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const running = children.map((child) => (existsSync(`/proc/${child}`) ? processorMs(Number(child)) : 0));
  return [...running, ...timesOf(pid)].reduce((sum, each) => sum + each, 0);
}

/** User and system time, and both of the children who have ended: fields 14 to 17. */
function timesOf(pid: number): number[] {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  return after
    .split(' ')
    .slice(11, 15)
    .map((ticks) => Number(ticks) * TICK_MS);
}

export const rate = (value: number): string => `${Math.round(value)}/s`;
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
