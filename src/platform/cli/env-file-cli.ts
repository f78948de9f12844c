/** The hidden verb by which install.sh reads environment files as everything else does. */
import { parseEnvFile, readEnvFile } from '../host/env-file.ts';
import { linesShellsReadOtherwise } from '../host/shell-reading.ts';
import { type Cli, ENV_FILE_VERB } from './cli.ts';

/** Prints the value of a variable; or, of none, the numbers of the lines that a shell reads otherwise. */
export function registerEnvFileVerb<S>(cli: Cli<S>): void {
  cli
    .command(ENV_FILE_VERB)
    .argument('<file>')
    .argument('[name]')
    .action((path: string, name?: string) => {
      const text = readEnvFile(path);
      const named = parseEnvFile(text).assignments.findLast((each) => each.name === name);
      cli.print(name === undefined ? linesShellsReadOtherwise(text).join(', ') : (named?.value ?? ''));
    });
}
