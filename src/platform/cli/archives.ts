/** `-` in place of an archive's file: the standard stream. What can't be is wrong usage, before anything is opened. */
import type { Command } from 'commander';
import { STANDARD_OUTPUT } from '../files/archive-writer.ts';
import { shellWord } from '../words/phrases.ts';
import type { Cli } from './cli.ts';
import { type Options, UsageError } from './options.ts';

export const STREAM = '-';

/** A verb whose last argument is the file that it writes; with `-`, all that it prints is on standard error. */
export function writesArchive<C extends Command, S>(verb: C, cli: Cli<S>): C {
  return beforeStream(verb, (options) => {
    if (options.json === true)
      throw new UsageError('--json prints its document where the archive goes: name a file, or leave it out');
    if (options.keep !== undefined)
      throw new UsageError('--keep writes files into a folder: name that, or leave it out');
    if (cli.is_shown)
      throw new UsageError(
        'standard output is a terminal, which is no place for an archive: name a file, or pipe it on',
      );
    cli.leaveStdout();
  });
}

/** A verb whose last argument is the file that it reads. */
export function readsArchive<C extends Command, S>(verb: C, cli: Cli<S>): C {
  return beforeStream(verb, (options) => {
    if (options.passphrase === STREAM)
      throw new UsageError(
        '--passphrase - reads standard input, where the archive comes from: give it as @file or env:NAME',
      );
    if (cli.host.process.is_input_typed)
      throw new UsageError(
        'standard input is a terminal, where no archive comes from: name a file, or pipe it in',
      );
  });
}

/** An archive's file as a command takes it; where standard output went, its reader knows. */
export function fileWord(file: string): string {
  return file === STANDARD_OUTPUT ? '<file>' : shellWord(file);
}

function beforeStream<C extends Command>(verb: C, check: (options: Options) => void): C {
  return verb.hook('preAction', (_, command) => {
    if (command.args.at(-1) === STREAM) check(command.optsWithGlobals());
  });
}
