/** Reads files and secrets that a command names: secrets from where no other user of the machine can read them. */

import { isUtf8 } from 'node:buffer';
import { createReadStream, openSync, readFileSync } from 'node:fs';
import { AppError, messageOf } from '../../errors.ts';
import { asCaller } from '../host/ownership.ts';
import type { Cli } from './cli.ts';
import { UsageError } from './options.ts';

/** An argument names where its value is, instead of being it. */
export function isIndirect(argument: string): boolean {
  return argument === '-' || argument.startsWith('@') || argument.startsWith('env:');
}

/**
 * A secret from the command line: `-` reads standard input, `@file` a file, `env:NAME` a variable. A plain
 * argument works, with a warning: every user of the machine can see it in the process list.
 */
export async function readSecret<S>(cli: Cli<S>, argument: string, what: string): Promise<string> {
  const bytes = await readSecretBytes(cli, argument, what);
  // Editors and echo end a file with a newline that is no part of the secret.
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}

/** As `readSecret`, of an option that takes no plain argument: wrong usage. */
export async function readHiddenSecret<S>(cli: Cli<S>, argument: string, option: string): Promise<string> {
  if (!isIndirect(argument))
    throw new UsageError(
      `${option} takes - (standard input), @file or env:NAME: as a plain argument it would stand in the process list.`,
    );
  return await readSecret(cli, argument, option);
}

/** A file's text, or for `-` standard input's. Throws AppError `invalid`: unreadable, or no UTF-8. */
export async function readFileText<S>(cli: Cli<S>, path: string): Promise<string> {
  const bytes = path === '-' ? await cli.host.process.input() : readBytes(path, 'The file');
  if (!isUtf8(bytes))
    throw new AppError('invalid', `${path === '-' ? 'Standard input' : path} must be text in UTF-8.`);
  return new TextDecoder().decode(bytes);
}

function readBytes(path: string, what: string): Uint8Array {
  try {
    return readNamedFile(path);
  } catch (error) {
    throw new AppError('invalid', `${what} could not be read: ${messageOf(error)}`);
  }
}

/** As `readSecret`, for files: the bytes untouched. */
export async function readSecretBytes<S>(cli: Cli<S>, argument: string, what: string): Promise<Uint8Array> {
  if (argument === '-') return await cli.host.process.input();
  if (argument.startsWith('@')) return readBytes(argument.slice(1), `The file for ${what}`);
  if (argument.startsWith('env:')) {
    const value = cli.host.process.environment[argument.slice(4)];
    if (value === undefined)
      throw new AppError('invalid', `The variable for ${what} is not set: ${argument.slice(4)}`);
    return new TextEncoder().encode(value);
  }
  cli.note(
    `satchel: warning: ${what} stands in the process list and the shell's history; give - (standard input), @file or env:NAME instead`,
  );
  return new TextEncoder().encode(argument);
}

export function readNamedFile(path: string): Buffer {
  return asCaller(() => readFileSync(path));
}

/** The bytes as they are read. Throws at the first where the file can't be opened. */
export async function* streamNamedFile(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { fd: asCaller(() => openSync(path, 'r')) });
}
