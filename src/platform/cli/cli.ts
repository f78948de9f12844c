/** The frame of the command line: how a verb is declared, runs, prints and fails. */
import { Command, CommanderError } from 'commander';
import { type Config, type ConfigFlags, type Environment, loadConfig } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { settingsForVerb } from '../../noted-settings.ts';
import { withoutServiceLinks } from '../../settings.ts';
import type { Note, recordAudit } from '../database/audit-trail.ts';
import type { Clock } from '../host/clock.ts';
import { hasDatabase } from '../host/database-file.ts';
import { readEnvFile, variablesOf } from '../host/env-file.ts';
import { type InstalledService, isSameFolder } from '../host/installed-service.ts';
import { readServerNote } from '../host/server-note.ts';
import { diskFailureOf } from '../host/shortages.ts';
import type { OnProgress } from '../host/waiting.ts';
import type { Actor } from '../http/callers.ts';
import { uncoloured } from './colour.ts';
import { envFileOption, type Options, textOption, UsageError } from './options.ts';
import { createProgress } from './output.ts';
import { shellActor } from './shell-actor.ts';
import { PLAIN_COLUMNS, roomFor, type Table } from './tables.ts';
import { Noun, type Run, Verb } from './verb.ts';

/** The hidden verb that shells complete lines by. */
export const COMPLETE_VERB = '__complete';
/** The hidden verb that install.sh reads settings by. */
export const ENV_FILE_VERB = '__env_file';

/** Decision: 0 done, 1 refused, 2 wrong usage. */
export const EXIT = { done: 0, refused: 1, usage: 2 } as const;

/** A verb prints `json` as the one document of `--json`, and `text` for people. */
export interface CliResult {
  json: unknown;
  text: string | Table;
  /** Exit status where the verb itself ran but its answer is no; `done` unless given. */
  exit?: number;
}

/** Every verb works with this. */
export interface CliContext {
  readonly config: Config;
  /** The shell user, for the audit trail. */
  readonly actor: Actor;
  /** A remark for the person at the terminal, on stderr. */
  note(message: string): void;
  /** Writes on stdout what is too long to be printed at once; the verb's own text is then empty. */
  out(text: string): void;
  /** Shows on a terminal what is being done, until the verb ends or shows something else. */
  progress(what: string): OnProgress;
}

/** A verb of a noun works with this; services are opened for it and closed after it. */
export interface CliSession<S> extends CliContext {
  readonly services: S;
  /** Puts what is changed in a project on the audit trail, as done by the shell user. */
  onTrail(project: { id: number; public_id: string } | null): Note;
}

/** The process that verbs run in: the executable's own (own-process.ts), or what a test puts in its place. */
export interface CliProcess {
  readonly environment: Environment;
  /** Has these variables hold, where it has none of the name, as if it had begun with them. It may begin anew. */
  begin(variables: Readonly<Record<string, string>>): void;
  /** Writes text to standard output as it is. */
  out(text: string): void;
  /** Writes bytes to standard output. */
  outBytes(bytes: Uint8Array): void;
  /** As `outBytes`, of an archive. Throws AppError `unavailable` where not all of them go out. */
  outArchive(bytes: Uint8Array): Promise<void>;
  /** Writes text for people to standard output, with its colours where that shows any. */
  show(text: string): void;
  /** Writes text to standard error as it is. */
  err(text: string): void;
  /** Shows a line on the terminal of standard error, over the one before it; nothing without a terminal. */
  status(line: string): void;
  /** All of standard input. */
  input(): Promise<Uint8Array>;
  /** Standard input as it comes. */
  inputStream(): AsyncIterable<Uint8Array>;
  /** A terminal is standard input. */
  readonly is_input_typed: boolean;
  /** Asks whoever is at the terminal, and returns the answer; null where there is nobody. */
  ask(question: string): string | null;
  /** The width of the terminal that shows standard output; null where none does. */
  readonly out_columns: number | null;
  /** As `out_columns`, of standard error. */
  readonly err_columns: number | null;
  /** The service that is installed here; null where there is none, or it is not for this user. */
  installedService(): InstalledService | null;
  /** Runs a command in our place, with these variables added; resolves with its exit status. */
  runCommand(command: readonly string[], variables: Readonly<Record<string, string>>): Promise<number>;
  /** Has root act as the owner of a data directory that is another user's; see platform/host/ownership.ts. */
  actAsOwner(data_dir: string): void;
  /** Lowers the priority of this process for the rest of its life. */
  yieldToOthers(): void;
}

/**
 * Which data directory a verb works on where none is named. `any`: ./data where that holds a database, else
 * the installed service's. `own`: that of the folder that its program is installed in, else ./data, which it
 * may make. `none`: ./data, be it there or not.
 */
type Finds = 'any' | 'own' | 'none';

/** A word that a line begins with: a noun, or a verb without one. Only what is named is loaded. */
export interface FirstWord<S> {
  /** As help shows it: `key`, `backup [options] <file>`. */
  readonly usage: string;
  /** Help says this of it; null hides it. */
  readonly about: string | null;
  /** Makes its commands. */
  register(cli: Cli<S>): Promise<void>;
}

export interface CliHost<S> {
  readonly process: CliProcess;
  readonly clock: Clock;
  /** In help's order. */
  readonly words: readonly FirstWord<S>[];
  /**
   * Opens the data directory and everything on it. `record` writes on the audit trail. After writes, `close`
   * also wakes a running server.
   */
  open(config: Config): Promise<{ services: S; record: typeof recordAudit; close(): Promise<void> }>;
}

export { UsageError };

/** Builds the verbs of one executable. `S` is what its verbs may use. */
export class Cli<S> {
  readonly program: Command;
  readonly host: CliHost<S>;
  #exit: number = EXIT.done;
  #is_json = false;
  #has_stdout = true;

  constructor(program: Command, host: CliHost<S>) {
    this.program = program;
    this.host = host;
    // Here too, so that both may stand before the noun. Only one of them is given, so neither wins.
    this.addCommonOptions(program);
    const { out, err, out_columns, err_columns } = host.process;
    program.configureOutput({
      writeOut: out,
      writeErr: err,
      getOutHelpWidth: () => out_columns ?? PLAIN_COLUMNS,
      getErrHelpWidth: () => err_columns ?? PLAIN_COLUMNS,
      outputError: (text, write) => write(withoutValues(text)),
    });
    program.hook('preAction', (_program, command) => this.#begin(command));
    program.exitOverride().showHelpAfterError('(add --help for what this command takes)').helpCommand(false);
  }

  /** A noun: `satchel project`. Without a verb it prints its help. */
  noun(name: string): Noun<S> {
    return new Noun(this, this.program, name, this.#word(name).about ?? '');
  }

  /** A verb without a noun: `satchel doctor`, with the arguments that its usage shows. */
  topVerb(name: string): Verb<S> {
    const { usage, about } = this.#word(name);
    return new Verb(this, this.program, usage.replace(' [options]', ''), about ?? '');
  }

  /** Another first word: commander's command alone, with what help says of it. */
  command(name: string): Command {
    const { about } = this.#word(name);
    return this.program.command(name, { hidden: about === null }).description(about ?? '');
  }

  #word(name: string): FirstWord<S> {
    const word = this.host.words.find(({ usage }) => nameIn(usage) === name);
    if (!word) throw new Error(`no line begins with ${name}`);
    return word;
  }

  /** Makes the commands of these words, and of each other word as much as help shows. Once, before a line is read. */
  async register(isNamed: (name: string) => boolean): Promise<void> {
    for (const word of this.host.words) {
      if (isNamed(nameIn(word.usage))) await word.register(this);
      else if (word.about !== null) this.program.command(word.usage).description(word.about);
    }
  }

  addCommonOptions(command: Command): void {
    command
      .option('--data-dir <dir>', 'the data directory (SATCHEL_DATA_DIR, else ./data)')
      .addOption(envFileOption())
      .option('--json', 'print exactly one JSON document on stdout');
  }

  /** Before any verb: what the file of --env-file says holds from then on. */
  #begin(command: Command): void {
    const options: Options = command.optsWithGlobals();
    this.#is_json = options.json === true;
    const path = textOption(options, 'envFile');
    if (path !== undefined) this.host.process.begin(variablesOf(readEnvFile(path), path));
  }

  /** The action of a verb: opens the data directory, runs, prints, closes. `args` come from commander. */
  action(run: Run<CliSession<S>, CliResult>): (...raw: unknown[]) => Promise<void> {
    return this.plainAction(async (context, options, ...args) => {
      const { services, record, close } = await this.host.open(context.config);
      try {
        const onTrail: CliSession<S>['onTrail'] = (project) => (tx, entry) =>
          record(tx, context.actor, { ...entry, project }, this.host.clock.now());
        return await run({ ...context, services, onTrail }, options, ...args);
      } finally {
        await close();
      }
    });
  }

  /**
   * As `action`, for a verb that opens the data directory in its own way, or not at all. `finds` says whose
   * it works on where none is named.
   */
  plainAction(
    run: Run<CliContext, CliResult>,
    { finds = 'any' }: { finds?: Finds } = {},
  ): (...raw: unknown[]) => Promise<void> {
    return async (...raw) => {
      const command = raw.at(-1);
      if (!(command instanceof Command)) throw new Error('commander passes the command last');
      const options: Options = command.optsWithGlobals();
      const args = command.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string');
      const flags = { data_dir: textOption(options, 'dataDir') };
      const config = this.loadVerbConfig(flags, finds);
      const { process } = this.host;
      process.actAsOwner(config.data_dir);
      const progress = createProgress(process);
      const context: CliContext = {
        config,
        actor: shellActor(),
        note: (message) => {
          progress.end();
          this.note(message);
        },
        out: (text) => {
          progress.end();
          this.host.process.out(text);
        },
        progress: progress.of,
      };
      let result: CliResult;
      try {
        result = await run(context, options, ...args);
      } finally {
        progress.end();
      }
      const { json, text } = result;
      const shown = typeof text === 'string' ? text : text(roomFor(process.out_columns, process.environment));
      // Only what was laid out for people has colours. Other text, such as a .env file, stays exactly as it
      // is.
      if (this.#is_json) this.print(JSON.stringify(json, null, 2));
      else if (typeof text === 'string') this.print(shown);
      else process.show(withNewline(shown));
      this.#exit = result.exit ?? EXIT.done;
    };
  }

  /** The settings that the environment and these flags make. */
  loadConfig(flags: ConfigFlags): Config {
    const { environment, err_columns } = this.host.process;
    return loadConfig(environment, flags, err_columns !== null);
  }

  /**
   * The settings for a verb. Those of the installed service count for its data directory, as far as this user
   * may read them, and where no data directory is named or in its usual place. Those of a running server
   * count for its data directory.
   */
  loadVerbConfig(flags: ConfigFlags, finds: Finds = 'any'): Config {
    const { err_columns } = this.host.process;
    const environment = withoutServiceLinks(this.host.process.environment);
    const own = this.loadConfig(flags);
    const installed = this.#installedSettings(own.data_dir, flags, finds);
    const SATCHEL_DATA_DIR = installed?.SATCHEL_DATA_DIR ?? own.data_dir;
    const server = readServerNote(SATCHEL_DATA_DIR);
    if (!installed && !server) return own;
    const settings = settingsForVerb(environment, server?.settings ?? {}, installed ?? {});
    const config = loadConfig({ ...settings, SATCHEL_DATA_DIR }, flags, err_columns !== null);
    return { ...config, served_at: server?.address ?? null };
  }

  #installedSettings(data_dir: string, flags: ConfigFlags, finds: Finds): Environment | null {
    const { environment, installedService } = this.host.process;
    const service = installedService();
    if (service === null) return null;
    const is_named = flags.data_dir !== undefined || Boolean(environment.SATCHEL_DATA_DIR?.trim());
    const is_its_own = isSameFolder(data_dir, service.data_dir);
    const is_meant = finds === 'own' ? service.has_own_folder : finds === 'any' && !hasDatabase(data_dir);
    if (!is_its_own && (is_named || !is_meant)) return null;
    return is_its_own && is_named ? readableSettings(service) : service.readSettings();
  }

  /** Prints a document on stdout. */
  print(text: string): void {
    if (text === '') return;
    const { out, err } = this.host.process;
    (this.#has_stdout ? out : err)(withNewline(text));
  }

  /** An archive goes to stdout, and all else to stderr. */
  leaveStdout(): void {
    this.#has_stdout = false;
  }

  /** A terminal shows what is printed. */
  get is_shown(): boolean {
    return this.host.process.out_columns !== null;
  }

  /** A remark for the person at the terminal, on stderr. */
  note(message: string): void {
    this.host.process.err(`${uncoloured(message)}\n`);
  }

  /** Sets the exit status of a verb that ends by itself, such as one that runs another command. */
  exitWith(code: number): void {
    this.#exit = code;
  }

  /** Runs the executable with these arguments (without the program's name). Returns its exit status. */
  async main(argv: readonly string[]): Promise<number> {
    try {
      const line = firstWordFirst(argv);
      const named = namedIn(line, this.program);
      await this.register((name) => named.includes(name));
      await this.program.parseAsync(inFull(line, this.program), { from: 'user' });
      return this.#exit;
    } catch (error) {
      if (error instanceof CommanderError) {
        return error.exitCode === 0 ? EXIT.done : EXIT.usage;
      }
      if (error instanceof UsageError) {
        this.note(`error: ${error.message}\n(add --help for what this command takes)`);
        return EXIT.usage;
      }
      const message = explainFailure(error);
      if (this.#is_json) this.print(JSON.stringify({ error: { code: codeOf(error), message } }, null, 2));
      this.note(`satchel: ${message}`);
      return EXIT.refused;
    }
  }
}

/** Null where this user may not read them: with the directory named, the verb works without them. */
function readableSettings(service: InstalledService): Environment | null {
  try {
    return service.readSettings();
  } catch (error) {
    if (error instanceof AppError && errorCodeOf(error.cause) === 'EACCES') return null;
    throw error;
  }
}

/** The first word of a command, without what follows it in its usage. */
function nameIn(usage: string): string {
  return usage.split(' ', 1)[0] ?? usage;
}

/** `--version` is the verb of that name. */
function firstWordFirst(argv: readonly string[]): readonly string[] {
  const has_verb = argv.some((arg) => !arg.startsWith('-'));
  return !has_verb && argv.includes('--version')
    ? ['version', ...argv.filter((arg) => arg !== '--version')]
    : argv;
}

/** The first words that a line is about: its own, and the one that is asked about or completed. */
function namedIn(line: readonly string[], program: Command): string[] {
  const words = line.filter((arg, n) => {
    const takes_it = program.options.some((option) => option.required && option.long === line[n - 1]);
    return !arg.startsWith('-') && !takes_it;
  });
  return words.slice(0, words[0] === 'help' || words[0] === COMPLETE_VERB ? 2 : 1);
}

/** `help key create` is `key create --help`. */
function inFull(line: readonly string[], program: Command): string[] {
  const [first, ...words] = line;
  if (first === 'help') return isCommand(program, words) ? [...words, '--help'] : words;
  return [...line];
}

/** True where words lead to a command: without the option --help, commander complains of those that do not. */
function isCommand(from: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || from.commands.length === 0) return true;
  const command = from.commands.find((each) => each.name() === word);
  return command !== undefined && isCommand(command, rest);
}

/**
 * A complaint of commander's without the values that were typed: one may be a secret, and standard error is
 * often kept in logs.
 */
function withoutValues(text: string): string {
  return text.replace(/( but got \d+): .*$/s, '$1.\n').replace(/(unknown option '[^'=\n]*)=[^\n]*/, "$1'");
}

/** The contract's code where it names one, else the kind of failure. */
function codeOf(error: unknown): string {
  if (diskFailureOf(error) !== null) return 'unavailable';
  return error instanceof AppError ? (error.code ?? error.kind) : 'internal';
}

/** The message of a failure with every field's own, for a person at a terminal. */
function explainFailure(error: unknown): string {
  const disk = diskFailureOf(error);
  if (disk !== null) return `Nothing was stored: ${disk} (${messageOf(error)}).`;
  if (!(error instanceof AppError) || !error.errors) return messageOf(error);
  const lines = Object.entries(error.errors).flatMap(([field, messages]) =>
    messages.map((message) => (field === '_' ? message : joinField(field, message))),
  );
  return lines.length > 0 ? lines.join('\n         ') : error.message;
}

/** A message either goes on after the field's name or is a sentence of its own. */
function joinField(field: string, message: string): string {
  return /^[a-z]/.test(message) ? `${field} ${message}` : `${field}: ${message}`;
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
