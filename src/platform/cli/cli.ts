/** The frame of the command line: how a verb is declared, runs, prints, and fails. The verbs are in each capability's cli.ts. */
import { readFileSync, writeSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Config, ConfigFlags } from '../../config.ts';
import { AppError, messageOf } from '../../errors.ts';
import { sqliteErrorOf } from '../database/database.ts';
import { accountName } from '../host/user-accounts.ts';
import type { Actor } from '../http/callers.ts';

/** Decision: 0 done, 1 refused, 2 wrong usage. */
export const EXIT = { done: 0, refused: 1, usage: 2 } as const;

/** What a verb prints: `json` is the one document of `--json`, `text` is for people. */
export interface CliResult {
  json: unknown;
  text: string;
  /** Exit status where the verb itself ran but its answer is no; `done` unless given. */
  exit?: number;
}

/** What every verb works with. */
export interface CliContext {
  readonly config: Config;
  /** The shell user, for the audit trail. */
  readonly actor: Actor;
  /** A remark for the person at the terminal, on stderr. */
  note(message: string): void;
}

/** What a verb of a capability works with. Opened for it, closed after it. */
export interface CliSession<S> extends CliContext {
  readonly services: S;
}

export interface CliHost<S> {
  loadConfig(flags: ConfigFlags): Config;
  /** Opens the data directory and everything on it; `close` also wakes a running server if anything was written. */
  open(config: Config): Promise<{ services: S; close(): Promise<void> }>;
  /** The value of an environment variable that an argument named with `env:`. */
  environment(name: string): string | undefined;
  /** The umask Satchel was started with; a command that it runs gets it back. */
  readonly umask?: number;
}

type Options = Record<string, unknown>;

/** The command was not given as it is written; ends with `EXIT.usage`. For what commander itself cannot check. */
export class UsageError extends Error {}

/** Builds the verbs of one executable. `S` is what its verbs may use. */
export class Cli<S> {
  readonly program: Command;
  readonly host: CliHost<S>;
  #exit: number = EXIT.done;

  constructor(program: Command, host: CliHost<S>) {
    this.program = program;
    this.host = host;
    // Here too, so that both may stand before the noun; a verb's own wins nothing over it, as only one of them is given.
    program
      .option('--data-dir <dir>', 'the data directory (SATCHEL_DATA_DIR, else ./data)')
      .option('--json', 'print exactly one JSON document on stdout');
    program.configureOutput({ outputError: (text, write) => write(withoutValues(text)) });
    program.exitOverride().showHelpAfterError('(add --help for what this command takes)').helpCommand(false);
  }

  /** A noun: `satchel project`. Without a verb it prints its help. */
  noun(name: string, description: string, parent: Command = this.program): Command {
    return parent.command(name).description(description).exitOverride().helpCommand(false);
  }

  /** A verb of a noun, with the options every verb takes. `signature` is commander's: `show <ref>`. */
  verb(noun: Command, signature: string, description: string): Command {
    return noun
      .command(signature)
      .description(description)
      .exitOverride()
      .option('--data-dir <dir>', 'the data directory (SATCHEL_DATA_DIR, else ./data)')
      .option('--json', 'print exactly one JSON document on stdout');
  }

  /** The action of a verb: opens the data directory, runs, prints, closes. `args` are commander's arguments and options. */
  action(
    run: (session: CliSession<S>, options: Options, ...args: string[]) => Promise<CliResult>,
  ): (...raw: unknown[]) => Promise<void> {
    return this.plainAction(async (context, options, ...args) => {
      const { services, close } = await this.host.open(context.config);
      try {
        return await run({ ...context, services }, options, ...args);
      } finally {
        await close();
      }
    });
  }

  /** As `action`, for a verb that opens the data directory in its own way, or not at all. */
  plainAction(
    run: (context: CliContext, options: Options, ...args: string[]) => Promise<CliResult>,
  ): (...raw: unknown[]) => Promise<void> {
    return async (...raw) => {
      const command = raw.at(-1);
      if (!(command instanceof Command)) throw new Error('commander passes the command last');
      const options: Options = command.optsWithGlobals();
      const args = command.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string');
      const config = this.host.loadConfig({ data_dir: textOption(options, 'dataDir') });
      const result = await run({ config, actor: shellActor(), note }, options, ...args);
      writeOut(options.json === true ? JSON.stringify(result.json, null, 2) : result.text);
      this.#exit = result.exit ?? EXIT.done;
    };
  }

  /** Prints a document on stdout, for a verb that needs no data directory. */
  print(text: string): void {
    writeOut(text);
  }

  /** Sets the exit status of a verb that ends by itself, such as one that runs another command. */
  exitWith(code: number): void {
    this.#exit = code;
  }

  /** Runs the executable with these arguments (without the program's own name) and returns its exit status. */
  async main(argv: readonly string[]): Promise<number> {
    try {
      await this.program.parseAsync([...argv], { from: 'user' });
      return this.#exit;
    } catch (error) {
      if (error instanceof CommanderError) {
        return error.exitCode === 0 ? EXIT.done : EXIT.usage;
      }
      if (error instanceof UsageError) {
        note(`error: ${error.message}\n(add --help for what this command takes)`);
        return EXIT.usage;
      }
      note(`satchel: ${describeFailure(error)}`);
      return EXIT.refused;
    }
  }
}

/**
 * A complaint of commander's without what was typed where something else was expected: that may be a secret without its
 * option, and what commands print on stderr is kept in many a log.
 */
function withoutValues(text: string): string {
  return text.replace(/( but got \d+): .*$/s, '$1.\n').replace(/(unknown option '[^'=\n]*)=[^\n]*/, "$1'");
}

/** The message of a failure with every field's own, for a person at a terminal. */
function describeFailure(error: unknown): string {
  if (/^SQLITE_(FULL|IOERR)/.test(sqliteErrorOf(error)?.code ?? ''))
    return `The disk is full or failing (${messageOf(error)}). Make room on it and try again.`;
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

/** A line on stderr. */
export function note(message: string): void {
  write(2, `${message}\n`);
}

/** A document on stdout; written synchronously, so that an exit right after cannot cut it off in a pipe. */
export function writeOut(text: string): void {
  if (text !== '') write(1, text.endsWith('\n') ? text : `${text}\n`);
}

function write(descriptor: number, text: string): void {
  let rest = Buffer.from(isatty(descriptor) ? showControls(text) : text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null;
      if (code === 'EPIPE') return; // The reader (head, less) has seen enough.
      if (code !== 'EAGAIN') throw error;
      Bun.sleepSync(1);
    }
  }
}

/** A relay's words or a client's subject must not steer the terminal that they are shown on. Shown so, JSON stays JSON. */
function showControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
  return text.replace(/\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Who runs this process. `username` and `uid` are what the system says; they are given for tests. */
export function shellActor(
  username: () => string = () => userInfo().username,
  uid: number | undefined = process.getuid?.(),
): Actor {
  const name = uid === undefined ? null : accountName(uid);
  return {
    kind: 'shell',
    id: uid === undefined ? null : String(uid),
    name: name ?? nameOf(username, uid),
    ip: null,
  };
}

/** The system has no name for a user without an account, which a container may well be run as. */
function nameOf(username: () => string, uid: number | undefined): string {
  try {
    return username();
  } catch {
    return String(uid ?? 'unknown');
  }
}

/* --- Reading options ------------------------------------------------------------------------------------------ */

/** A text option, or undefined where it was not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** A repeatable or comma-separated option as a list. */
export function listOption(options: Options, name: string): string[] {
  const value = options[name];
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
  return parts
    .flatMap((part) => (typeof part === 'string' ? part.split(',') : []))
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Collects a repeatable option; hand it to commander as the option's parser. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Commander's parser of a whole number from `min`. Wrong usage otherwise. */
export function wholeNumber(min: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min)) throw new InvalidArgumentError(`It must be a whole number of at least ${min}.`);
    return number;
  };
}

export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}

/**
 * A secret given on the command line: `-` reads standard input, `@file` a file, `env:NAME` a variable. A plain argument
 * works, with a warning: every user of the machine can read it in the process list.
 */
export async function readSecret<S>(host: CliHost<S>, argument: string, what: string): Promise<string> {
  const bytes = await readSecretBytes(host, argument, what);
  // Editors and echo end a file with a newline that is no part of the secret.
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
}

/** As `readSecret`, for files: the bytes untouched. */
export async function readSecretBytes<S>(
  host: CliHost<S>,
  argument: string,
  what: string,
): Promise<Uint8Array> {
  if (argument === '-') return new Uint8Array(await Bun.stdin.arrayBuffer());
  if (argument.startsWith('@')) {
    try {
      return readFileSync(argument.slice(1));
    } catch (error) {
      throw new AppError('invalid', `The file for ${what} could not be read: ${messageOf(error)}`);
    }
  }
  if (argument.startsWith('env:')) {
    const value = host.environment(argument.slice(4));
    if (value === undefined)
      throw new AppError('invalid', `The variable for ${what} is not set: ${argument.slice(4)}`);
    return new TextEncoder().encode(value);
  }
  note(
    `satchel: warning: ${what} stands in the process list and the shell's history; give - (standard input), @file or env:NAME instead`,
  );
  return new TextEncoder().encode(argument);
}

/** Refuses a verb that destroys something unless `--yes` was given. */
export function requireYes(options: Options, what: string): void {
  if (options.yes !== true) throw new AppError('invalid', `This ${what}. Add --yes to do it.`);
}

/* --- Printing ------------------------------------------------------------------------------------------------- */

export type Cell = string | number | boolean | null | undefined;

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  return typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : String(cell);
}

/** In a table: a relay's reply of several lines, say, would get between the rows. */
function lineText(cell: Cell): string {
  return cellText(cell).replace(/\s*\n\s*/g, ' ');
}

/** Rows in aligned columns under their titles; `empty` is said when there are none. */
export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const lines = [titles.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(lineText))];
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ''))),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values of one thing, aligned. */
export function formatFields(fields: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`)
    .join('\n');
}
