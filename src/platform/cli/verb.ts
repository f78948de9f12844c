/** A verb of the command line: a command of commander's that knows how examples are shown and how verbs run. */
import { Command } from 'commander';
import type { Cli } from './cli.ts';

export class Verb<S> extends Command {
  readonly #cli: Cli<S>;

  /** `signature` is commander's: `show <ref>`. */
  constructor(cli: Cli<S>, signature: string) {
    const [name, ...args] = signature.split(' ');
    super(name);
    this.#cli = cli;
    if (args.length > 0) this.arguments(args.join(' '));
  }

  /** How it may be called, for its help. */
  example(...commands: string[]): this {
    const title = commands.length === 1 ? 'Example' : 'Examples';
    return this.addHelpText('after', [`\n${title}:`, ...commands.map((each) => `  ${each}`)].join('\n'));
  }

  /** What it does: see `Cli.action`. */
  does(run: Parameters<Cli<S>['action']>[0]): this {
    return this.action(this.#cli.action(run));
  }

  /** Commander would complain of an option that is missing first, where it is only spelled wrong. */
  override parseOptions(argv: string[]) {
    const parsed = super.parseOptions(argv);
    if (parsed.unknown.length > 0) for (const option of this.options) option.mandatory = false;
    return parsed;
  }
}
