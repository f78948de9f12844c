/** The tree of commands, as far as capabilities register it, and the examples of its help. */
import type { Command } from 'commander';
import { createCli } from '../../src/app/command-line.ts';
import { standInProcess } from './command.ts';

/** Every verb that help shows. */
export async function allVerbs(): Promise<Command[]> {
  const leaves = (command: Command): Command[] => {
    const children = command.createHelp().visibleCommands(command);
    return children.length === 0 ? [command] : children.flatMap(leaves);
  };
  const cli = createCli(standInProcess().process);
  await cli.register(() => true);
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
