/** Nouns and verbs of the command line: commander's commands that know how to run, list, show and remove. */
import type { Static, TSchema } from '@sinclair/typebox';
import { Command } from 'commander';
import type { FieldErrors } from '../../errors.ts';
import type { Note } from '../database/audit-trail.ts';
import type { FieldList } from '../http/fields.ts';
import type { Page, PageQuery } from '../http/pagination.ts';
import { requireAll, validate } from '../http/validation.ts';
import type { Naming } from '../words/phrases.ts';
import type { Cli, CliResult, CliSession } from './cli.ts';
import {
  addChangeOptions,
  addCreationOptions,
  given,
  inOptions,
  type OptionNames,
  optionNames,
  type Readers,
  readFields,
} from './fields.ts';
import { type Options, requireYes, UsageError } from './options.ts';
import { addPaging, pageOf, presentPage } from './paging.ts';
import { addProjectOfName, projectOf, requireNamed } from './project-option.ts';
import { formatFields, type Table } from './tables.ts';

/** A verb of a noun works with this, and with what is said of it by `ofProject`, `named`, `finds`, `takes` and `changes`. */
export interface VerbSession<S> extends CliSession<S> {
  /** Those fields that were given of what it takes or changes, as the API takes them. */
  readonly fields: Record<string, unknown>;
}

interface OfProjects<P> {
  projects: { require(ref: string): P; requireById(id: number): P };
}
type Project = { id: number; public_id: string };

/** A verb about a project works with this besides. */
export interface OnProject<P> {
  readonly project: P;
  /** Puts what is changed in it on the audit trail, as done by the shell user. */
  readonly trail: Note;
}

/** How a verb reads its fields. */
interface Reading<C, B extends TSchema> {
  /** Of fields that the shell takes otherwise than the API. */
  reads?: Readers<C>;
  /** Fields that arguments and options of its own give. */
  more?(options: Options, session: C, ...args: string[]): object | Promise<object>;
  /** Those options by their fields, for refusals. */
  options?: OptionNames;
  /** Rules beyond the shape, for fields that fit it. */
  errorsIn?(sound: Partial<Static<B>>, session: C): FieldErrors;
  /** Of which fields some stand for the others. */
  together?: readonly string[];
}

/** Runs a verb with commander's options and arguments. */
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

/** `S` is what its services are, `X` what it works with besides, as it was said of it. */
export class Verb<S, X = unknown> extends Command {
  /** They find `X`, one after the other. Methods, so that a verb of all services is one of some. */
  readonly #steps: {
    find(session: VerbSession<S>, options: Options, args: string[]): object | Promise<object>;
  }[] = [];
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

  /** Adds to its help. */
  remark(text: string): this {
    return this.addHelpText('after', `\n${text}`);
  }

  /** Adds examples to its help. */
  example(...commands: string[]): this {
    const title = commands.length === 1 ? 'Example' : 'Examples';
    return this.addHelpText('after', [`\n${title}:`, ...commands.map((each) => `  ${each}`)].join('\n'));
  }

  /** It is about the project that --project names. */
  ofProject<P extends Project>(this: Verb<S & OfProjects<P>, X>): Verb<S, X & OnProject<P>> {
    this.requiredOption('--project <project>', 'the project: numeric id, ULID or slug');
    return this.#knows((session, options) => onProject(session, projectOf(session.services, options)));
  }

  /** Its first argument names one of these, in whatever way, of which `id` is what services take it by. */
  named<P extends Project>(
    this: Verb<S & OfProjects<P>, X>,
    names: (services: S) => Naming,
  ): Verb<S, X & OnProject<P> & { readonly id: string }> {
    if (!this.options.some(({ long }) => long === '--project')) addProjectOfName(this);
    return this.#knows((session, options, args) => {
      const { projects } = session.services;
      const found = requireNamed({ projects, ...names(session.services) }, args[0] ?? '', options);
      args[0] = found.key;
      return { id: found.key, ...onProject(session, projects.requireById(found.project_id)) };
    });
  }

  /** Its first argument is of a row, which `find` finds whatever its project. */
  finds<P extends Project, R extends { project_id: number }>(
    this: Verb<S & OfProjects<P>, X>,
    find: (services: S, ref: string, options: Options) => R,
  ): Verb<S, X & OnProject<P> & { readonly row: R }> {
    return this.#knows((session, options, [ref = '']) => {
      const row = find(session.services, ref, options);
      return { row, ...onProject(session, session.services.projects.requireById(row.project_id)) };
    });
  }

  /** It takes these fields, each by its option, and knows them as `sent` once they fit the shape. */
  takes<B extends TSchema>(
    fields: FieldList,
    shape: B,
    reading: Reading<VerbSession<S> & X, B> = {},
  ): Verb<S, X & { readonly sent: Static<B> }> {
    addCreationOptions(this, fields, reading.reads);
    return this.#reads(fields, { shape, reading, needs_some: false });
  }

  /** It changes these fields of a thing; otherwise as `takes`. Wrong usage where none is given. */
  changes<B extends TSchema>(
    fields: FieldList,
    shape: B,
    reading: Reading<VerbSession<S> & X, B> = {},
  ): Verb<S, X & { readonly sent: Static<B> }> {
    addChangeOptions(this, fields, reading.reads);
    return this.#reads(fields, { shape, reading, needs_some: true });
  }

  #reads<B extends TSchema>(
    fields: FieldList,
    how: { shape: B; reading: Reading<VerbSession<S> & X, B>; needs_some: boolean },
  ): Verb<S, X & { readonly sent: Static<B> }> {
    const { shape, reading, needs_some } = how;
    this.#option_names = { ...optionNames(fields), ...reading.options };
    return this.#knows(async (found, options, args) => {
      const session = found as VerbSession<S> & X; // The steps before have found it.
      const read = await readFields(this.cli, fields, options, { readers: reading.reads, session });
      const sent = { ...read, ...given({ ...(await reading.more?.(options, session, ...args)) }) };
      if (needs_some && Object.keys(sent).length === 0) throw new UsageError('Name what to change.');
      const { errorsIn = () => ({}), together } = reading;
      const sound = requireAll(validate(shape, sent), (each) => errorsIn(each, session), together);
      return { fields: sent, sent: sound };
    });
  }

  #knows<Y>(
    find: (session: VerbSession<S>, options: Options, args: string[]) => object | Promise<object>,
  ): Verb<S, X & Y> {
    this.#steps.push({ find });
    return this as unknown as Verb<S, X & Y>; // Its session has what the step finds.
  }

  /** Runs as `Cli.action` says. Refusals of its fields name their options. */
  does(run: Run<VerbSession<S> & X, CliResult>): this {
    return this.action(
      this.cli.action(async (services, options, ...args) =>
        inOptions(this.#option_names, async () => {
          let session: VerbSession<S> = { ...services, fields: {} };
          for (const { find } of this.#steps)
            session = { ...session, ...(await find(session, options, args)) };
          return run(session as VerbSession<S> & X, options, ...args); // The steps have found the rest.
        }),
      ),
    );
  }

  /** Lists what `find` finds, by pages, with a titled row each. Says `empty` where there is nothing. */
  lists<T>(
    find: Run<VerbSession<S> & X & { page: PageQuery }, Page<T>>,
    row: (one: T) => Readonly<Record<string, unknown>>,
    empty: string | ((session: VerbSession<S> & X, options: Options) => string),
  ): this {
    return addPaging(this).does(async (session, options, ...args) => {
      const page = await find({ ...session, page: pageOf(options) }, options, ...args);
      const none = typeof empty === 'string' ? empty : empty(session, options);
      return presentPage(session, options, page, { row, empty: none });
    });
  }

  /** Shows one thing, be it only found or done first: as `tell` says it, by its fields or in words; else all of its fields. */
  shows<T extends object>(
    find: Run<VerbSession<S> & X, T>,
    tell: (record: T, session: VerbSession<S> & X) => object | string | Table = (record) => record,
  ): this {
    return this.does(async (session, ...given) => {
      const record = await find(session, ...given);
      const told = tell(record, session);
      return { json: record, text: typeof told === 'object' ? formatFields(told) : told };
    });
  }

  /** Destroys something: `run` says with `consent` what, and goes no further unless --yes was given. */
  removes(run: Run<VerbSession<S> & X & { consent(what: string): void }, CliResult>): this {
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

function onProject<S, P extends Project>({ onTrail }: VerbSession<S>, project: P): OnProject<P> {
  return { project, trail: onTrail(project) };
}

/** Verbs of a noun whose things belong to projects, and have names there. */
export function namedVerbs<P extends Project, S extends OfProjects<P>>(
  noun: Noun<S>,
  names: (services: S) => Naming,
) {
  return {
    /** About those of a project. */
    all: (name: string, says: string) => noun.verb(name, says).ofProject<P>(),
    /** About one. */
    one: (name: string, says: string) => noun.verb(`${name} <${noun.name()}>`, says).named<P>(names),
  };
}
