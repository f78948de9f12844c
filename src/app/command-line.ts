/** The whole command line, apart from the process that it runs in. */
import { Command } from 'commander';
import { Cli, type CliHost, type CliProcess } from '../platform/cli/cli.ts';
import { systemClock } from '../platform/host/clock.ts';
import type { Services } from './app.ts';
import { FIRST_WORDS } from './first-words.ts';

/** Every verb there is. Of nouns only the one that is named is loaded; nothing is opened before a verb runs. */
export function createCli(process: CliProcess): Cli<Services> {
  const program = new Command('satchel')
    .description('Files, email, secrets and API keys for a small team: one executable, one data directory.')
    .addHelpText(
      'after',
      `
Examples:
  satchel serve                         # start the server on http://127.0.0.1:8420
  satchel project create --name Shop    # a project is what keys, files and mail belong to
  satchel key create --project shop --name web --can read,write,email
  satchel help key                      # what can be done with keys; likewise with every noun
  satchel --version                     # which Satchel this is, as satchel version

A table that is wider than the terminal, or than COLUMNS says, leaves out its last columns, and says which;
in a pipe or a file it has them all. With --json a refusal is a document too: {"error":{"code","message"}}.`,
    );
  const open: CliHost<Services>['open'] = async (config) =>
    (await import('./open-services.ts')).openServices(config);
  return new Cli(program, { process, clock: systemClock, words: FIRST_WORDS, open });
}
