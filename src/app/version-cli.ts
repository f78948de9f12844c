/** `satchel version`. */
import type { Command } from 'commander';
import type { Cli } from '../platform/cli/cli.ts';
import { envFileOption } from '../platform/cli/options.ts';
import { formatFields } from '../platform/cli/tables.ts';
import { BACKEND_VERSION, VERSION } from '../version.ts';

export function registerVersion<S>(cli: Cli<S>): void {
  cli
    .command('version')
    .addOption(envFileOption())
    .option('--json', 'print exactly one JSON document on stdout')
    .addHelpText('after', '\nExample:\n  satchel version --json')
    .action((_: unknown, command: Command) => {
      const options: Record<string, unknown> = command.optsWithGlobals();
      const version = { version: VERSION, backend_version: BACKEND_VERSION };
      cli.print(options.json === true ? JSON.stringify(version) : formatFields(version));
    });
}
