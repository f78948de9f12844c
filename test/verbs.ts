/** The tree of commands, as far as capabilities register it, and the examples of its help. */
import { Command } from 'commander';
import type { Services } from '../src/app.ts';
import { Cli } from '../src/platform/cli/cli.ts';
import { systemClock } from '../src/platform/host/clock.ts';
import { registerVerbs } from '../src/verbs.ts';

/** Help is asked for only: nothing is ever opened. */
function unused(): never {
  throw new Error('Help opens no data directory.');
}

/** Every verb that a capability registers. */
export function allVerbs(): Command[] {
  const cli = new Cli<Services>(new Command('satchel'), {
    loadConfig: unused,
    open: unused,
    environment: () => undefined,
  });
  registerVerbs(cli, { clock: systemClock, createServices: unused });
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  return leaves(cli.program);
}

/** `satchel key create` */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** The commands below `Examples:` in the help of a verb. */
export function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return examplesIn(help);
}

/** The commands below `Examples:` in a help text. */
export function examplesIn(help: string): string[] {
  const [, examples = ''] = help.split(/^Examples?:$/m);
  return examples
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim());
}
