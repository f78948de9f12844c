/** Nouns and verbs of the command line: commander's commands that know how to run, list, show and remove. */
import { Command } from 'commander';
import type { FieldList } from '../http/fields.ts';
import type { Page, PageQuery } from '../http/pagination.ts';
import type { Cli, CliResult, CliSession } from './cli.ts';
import {
  addChangeOptions,
  addCreationOptions,
  inOptions,
  type OptionNames,
  optionNames,
  readFields,
} from './fields.ts';
import { type Options, requireYes } from './options.ts';
import { addPaging, pageOf, presentPage } from './paging.ts';
import { addProjectOfName, type NamingPlace, resolveNamed } from './project-option.ts';
import { type Cell, formatFields } from './tables.ts';

/** What a verb of a noun works with. */
export interface VerbSession<S> extends CliSession<S> {
  /** What was given of the fields that `creates` or `changes` named, as the API takes them. */
  readonly fields: Record<string, unknown>;
}

/** What a verb does with what it was given: commander's options and arguments. */
export type Run<C, R> = (context: C, options: Options, ...args: string[]) => R | Promise<R>;

/** A noun: `satchel project`. Without a verb it prints its help. */
export class Noun<S> extends Command {
  constructor(
    private readonly cli: Cli<S>,
    parent: Command,
    name: string,
    description: string,
  ) {
    super(name);
    this.copyInheritedSettings(parent).description(description).exitOverride().helpCommand(false);
    parent.addCommand(this);
  }

  /** A noun below it: `satchel key origin`. */
  noun(name: string, description: string): Noun<S> {
    return new Noun(this.cli, this, name, description);
  }

  /** A verb of it. `signature` is commander's: `show <list>`. */
  verb(signature: string, description: string): Verb<S> {
    return new Verb(this.cli, this, signature, description);
  }
}

export class Verb<S> extends Command {
  /** A method, so that a verb of all services is one of some. */
  #place: { of(services: S): NamingPlace } | null = null;
  #fields: FieldList = {};
  #option_names: OptionNames = {};

  constructor(
    private readonly cli: Cli<S>,
    parent: Command,
    signature: string,
    description: string,
  ) {
    const [name, ...args] = signature.split(' ');
    super(name);
    if (args.length > 0) this.arguments(args.join(' '));
    this.copyInheritedSettings(parent).description(description).exitOverride();
    cli.addCommonOptions(this);
    parent.addCommand(this);
  }

  /** What its help says besides. */
  remark(text: string): this {
    return this.addHelpText('after', `\n${text}`);
  }

  /** How it may be called, for its help. */
  example(...commands: string[]): this {
    const title = commands.length === 1 ? 'Example' : 'Examples';
    return this.addHelpText('after', [`\n${title}:`, ...commands.map((each) => `  ${each}`)].join('\n'));
  }

  /** It is about one project, which `projectOf` finds. */
  ofProject(): this {
    return this.requiredOption('--project <project>', 'the project: numeric id, ULID or slug');
  }

  /** Its first argument names one of these, in whatever way; what the verb does is given its key. */
  named(place: (services: S) => NamingPlace): this {
    this.#place = { of: place };
    const has_project = this.options.some(({ long }) => long === '--project');
    return has_project ? this : addProjectOfName(this);
  }

  /** It makes a thing of these fields, each by its option. `others` have options of the verb's own. */
  creates(fields: FieldList, others: OptionNames = {}): this {
    addCreationOptions(this, fields);
    return this.#reads(fields, others);
  }

  /** It changes these fields of a thing, each by its option; `others` as in `creates`. */
  changes(fields: FieldList, others: OptionNames = {}): this {
    addChangeOptions(this, fields);
    return this.#reads(fields, others);
  }

  #reads(fields: FieldList, others: OptionNames): this {
    this.#fields = fields;
    this.#option_names = { ...optionNames(fields), ...others };
    return this;
  }

  /** What it does: see `Cli.action`. Refusals of its fields name their options. */
  does(run: Run<VerbSession<S>, CliResult>): this {
    return this.action(
      this.cli.action(async (session, options, ...args) => {
        const [ref, ...rest] = args;
        const named =
          this.#place === null || ref === undefined
            ? args
            : [resolveNamed(this.#place.of(session.services), ref, options), ...rest];
        const fields = await readFields(this.cli, this.#fields, options);
        return inOptions(this.#option_names, () => run({ ...session, fields }, options, ...named));
      }),
    );
  }

  /** Lists what `find` finds, by pages, with a titled row each. Says `empty` where there is nothing. */
  lists<T>(
    find: Run<VerbSession<S> & { page: PageQuery }, Page<T>>,
    row: (one: T) => Readonly<Record<string, Cell>>,
    empty: string | ((session: CliSession<S>, options: Options) => string),
  ): this {
    return addPaging(this).does(async (session, options, ...args) => {
      const page = await find({ ...session, page: pageOf(options) }, options, ...args);
      const none = typeof empty === 'string' ? empty : empty(session, options);
      return presentPage(session, options, page, { row, empty: none });
    });
  }

  /** Shows one thing, be it only found or changed first: as `present` gives its fields, else all of them. */
  shows<T extends object>(
    find: Run<VerbSession<S>, T>,
    present: (record: T) => object = (record) => record,
  ): this {
    return this.does(async (...given) => {
      const record = await find(...given);
      return { json: record, text: formatFields(present(record)) };
    });
  }

  /** Destroys something: `run` says with `consent` what, and goes no further unless --yes was given. */
  removes(run: Run<VerbSession<S> & { consent(what: string): void }, CliResult>): this {
    return this.option('--yes', 'really do it').does((session, options, ...args) =>
      run({ ...session, consent: (what) => requireYes(options, what) }, options, ...args),
    );
  }

  /** Commander would complain of an option that is missing first, where it is only spelled wrong. */
  override parseOptions(argv: string[]) {
    const parsed = super.parseOptions(argv);
    if (parsed.unknown.length > 0) for (const option of this.options) option.mandatory = false;
    return parsed;
  }
}
