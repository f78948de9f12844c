/**
 * Shell completion. The shells' scripts are glue: the hidden verb `__complete` completes a word, from the
 * tree of commands and for some values from what there is.
 */
import { Argument, type Command, Option } from 'commander';
import { type Cli, COMPLETE_VERB } from './cli.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export interface Word {
  word: string;
  description: string;
}

/** What a word is completed with: `words` are the candidates; of files and folders the shell knows itself. */
export interface Completion {
  kind: 'words' | 'files' | 'folders';
  words: readonly Word[];
}

/** The word that is being typed, and the values that options have before it, by their long names. */
export interface Line {
  readonly typed: string;
  readonly options: ReadonlyMap<string, string>;
}

/** What completes values, by their placeholder in the commands: `project` for `<project>`. */
export type Values = Readonly<Record<string, (line: Line) => readonly Word[]>>;

/** Completes the last of some words with commas between, by those that are not there yet. */
export function completeWords(words: readonly string[]): (line: Line) => Word[] {
  return ({ typed }) => {
    const before = typed.split(',').slice(0, -1);
    const left = words.filter((word) => !before.includes(word));
    return left.map((word) => ({ word: [...before, word].join(','), description: '' }));
  };
}

/** Completes the last of the words that follow the name of the program. */
export function complete(program: Command, words: readonly string[], values: Values = {}): Completion {
  const typed = words.at(-1) ?? '';
  const { command, option, operands, options } = walk(program, words.slice(0, -1));
  const { kind, words: found } = option
    ? completeValue(option, { typed, options }, values)
    : typed.startsWith('-')
      ? optionWords(command)
      : operandWords(command, operands, { typed, options }, values);
  return { kind, words: found.filter(({ word }) => word.startsWith(typed)) };
}

/** The command that words lead to, the option whose value is due, its number of operands, and its options. */
function walk(
  program: Command,
  words: readonly string[],
): { command: Command; option: Option | null; operands: number; options: Map<string, string> } {
  let command = program;
  let option: Option | null = null;
  let operands = 0;
  const options = new Map<string, string>();
  for (const word of words) {
    if (option) {
      if (option.long) options.set(option.long, word);
      option = null;
    } else if (word.startsWith('-')) option = optionsOf(command).find((one) => takes(one, word)) ?? null;
    else {
      const child = command.commands.find((one) => one.name() === word);
      operands = child ? 0 : operands + 1;
      command = child ?? command;
    }
  }
  return { command, option, operands, options };
}

function takes(option: Option, word: string): boolean {
  return (option.required || option.optional) && (option.short === word || option.long === word);
}

/** Those of the command and of those above it, each name once. */
function optionsOf(command: Command): Option[] {
  const own = [...command.createHelp().visibleOptions(command)];
  const names = own.map(({ long }) => long);
  const above = command.parent ? optionsOf(command.parent) : [];
  return [...own, ...above.filter(({ long }) => !names.includes(long))];
}

function optionWords(command: Command): Completion {
  const words = optionsOf(command).flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word ? [{ word, description }] : [])),
  );
  return { kind: 'words', words };
}

function operandWords(command: Command, operands: number, line: Line, values: Values): Completion {
  const children = command.createHelp().visibleCommands(command);
  if (children.length === 0) return completeValue(command.registeredArguments[operands], line, values);
  const words = children.map((child) => ({ word: child.name(), description: child.description() }));
  return { kind: 'words', words };
}

function completeValue(of: Option | Argument | undefined, line: Line, values: Values): Completion {
  if (of?.argChoices)
    return { kind: 'words', words: of.argChoices.map((word) => ({ word, description: '' })) };
  const [, name = of?.name() ?? ''] = of instanceof Option ? (/[<[]([\w-]+)/.exec(of.flags) ?? []) : [];
  if (name === 'dir' || name === 'file') return { kind: name === 'dir' ? 'folders' : 'files', words: [] };
  return { kind: 'words', words: Object.hasOwn(values, name) ? (values[name]?.(line) ?? []) : [] };
}

/** What would break the lines that a shell reads. */
const CONTROL = /\p{Cc}/u;

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `# bash completion of satchel. Load it with: source <(satchel completion bash)
_satchel() {
  local cur=\${COMP_WORDS[COMP_CWORD]} kind='' line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$(printf %q "\${line%%$'\\t'*}")"); fi
  done < <(satchel __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local IFS=$'\\n'
  case $kind in
    files) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
    folders) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
  esac
}
complete -o bashdefault -F _satchel satchel
`,
  zsh: `#compdef satchel
# zsh completion of satchel. Load it with: source <(satchel completion zsh), after compinit
_satchel() {
  local -a lines found
  lines=("\${(@f)$(satchel __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    files) _files ;;
    folders) _files -/ ;;
    *)
      found=("\${(@)lines[2,-1]//:/\\\\:}")
      found=("\${(@)found/$'\\t'/:}")
      _describe -t values value found
      ;;
  esac
}
if [[ \${funcstack[1]-} == _satchel ]]; then _satchel "$@"; else compdef _satchel satchel; fi
`,
  fish: `# fish completion of satchel. Load it with: satchel completion fish | source
function __satchel_complete
  set -l lines (satchel __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path (commandline -ct)
    case folders
      __fish_complete_directories (commandline -ct)
    case '*'
      printf '%s\\n' $lines[2..-1]
  end
end
complete -c satchel -f -a '(__satchel_complete)'
`,
};

export function registerCompletionCommand<S>(cli: Cli<S>): void {
  cli
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  satchel completion bash > /etc/bash_completion.d/satchel
  satchel completion zsh > "\${fpath[1]}/_satchel"
  satchel completion fish > ~/.config/fish/completions/satchel.fish`,
    )
    .action((name: (typeof SHELLS)[number], _: unknown, command: Command) => {
      const script = SCRIPTS[name];
      const options: Record<string, unknown> = command.optsWithGlobals();
      cli.print(options.json === true ? JSON.stringify({ shell: name, script }) : script);
    });
}

export function registerCompleteCommand<S>(cli: Cli<S>, values: Values): void {
  cli
    .command(COMPLETE_VERB)
    .argument('[words...]')
    .action((words: string[]) => {
      const { kind, words: found } = complete(cli.program, words, values);
      const lines = found.flatMap(({ word, description }) =>
        CONTROL.test(word) ? [] : [`${word}\t${description.split(CONTROL).join(' ')}`],
      );
      cli.print([kind, ...lines].join('\n'));
    });
}
