/** Running another program in our place: its own environment, our terminal, our signals, its exit status. */
import { constants } from 'node:os';
import { processEnvironment } from '../../config.ts';
import { errorCodeOf, messageOf } from '../../errors.ts';
import { asCaller } from '../host/ownership.ts';
import { writeTo } from './output.ts';

/** Left out of the program's environment: they open Satchel itself. */
const OWN_SECRETS: readonly string[] = ['SATCHEL_MASTER_KEY', 'SATCHEL_PASSPHRASE', 'SATCHEL_WELCOME_TOKEN'];

/** Signals that are sent to us but meant for the program. */
const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** A terminal sends these to the program as well: handed on, it would see each twice. */
const OF_THE_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** POSIX, 2.8.2: a command that is not found, and one that is no executable. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Shells report a program that a signal ended with 128 and the signal's number. */
const SIGNAL_EXIT_BASE = 128;

/**
 * Runs a command with these variables added to the environment, and resolves with its exit status, as a shell
 * does: 127 where there is no such command, 126 where it can't be run. Standard error says so.
 */
export async function runCommand(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
  umask: number | undefined,
): Promise<number> {
  const inherited = Object.entries(processEnvironment()).filter(([name]) => !OWN_SECRETS.includes(name));
  if (umask !== undefined) process.umask(umask);
  let child: Bun.Subprocess | null = null;
  const early: (typeof FORWARDED)[number][] = [];
  const forward = (signal: (typeof FORWARDED)[number]): void => {
    if (process.stdin.isTTY && OF_THE_TERMINAL.includes(signal)) return;
    if (child) child.kill(signal);
    else early.push(signal);
  };
  // Listened to before the program starts: a signal right after that would end us alone and leave it running.
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    const started = start(command, { ...Object.fromEntries(inherited), ...variables });
    if (typeof started === 'number') return started;
    child = started;
    for (const signal of early) child.kill(signal);
    await child.exited;
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
  const signal = child.signalCode;
  if (signal === null) return child.exitCode ?? SIGNAL_EXIT_BASE;
  return SIGNAL_EXIT_BASE + (typeof signal === 'number' ? signal : constants.signals[signal]);
}

function start(command: readonly string[], env: Record<string, string | undefined>): Bun.Subprocess | number {
  try {
    return asCaller(() =>
      Bun.spawn([...command], { env, stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' }),
    );
  } catch (error) {
    const is_missing = errorCodeOf(error) === 'ENOENT';
    const problem = is_missing ? 'there is no such command' : `it can't be run (${messageOf(error)})`;
    writeTo(2, `satchel: ${command[0] ?? ''}: ${problem}\n`);
    return is_missing ? NOT_FOUND : NOT_RUNNABLE;
  }
}
