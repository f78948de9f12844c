/**
 * Shell completion, made from the tree of commands itself: a static script for each shell, which never runs satchel.
 */
import type { Argument, Command, Option } from 'commander';
import { quoteWord as quote } from './shell-words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What an option's or an argument's value is completed with. */
type Values =
  | { kind: 'choices'; choices: readonly string[] }
  | { kind: 'folders' }
  | { kind: 'files' }
  | { kind: 'free' };

interface Flag {
  /** `--data-dir`, and its short form if it has one. */
  names: string[];
  description: string;
  /** Null for a flag without a value. */
  values: Values | null;
}

/** One command of the tree. */
interface Node {
  /** `['key', 'create']`; empty for the executable itself. */
  path: string[];
  children: { name: string; description: string }[];
  flags: Flag[];
  /** Of its first argument. */
  values: Values;
}

/** The completion script of a shell for everything below `program`. */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = nodesOf(program, []);
  if (shell === 'bash') return bashScript(nodes);
  return shell === 'zsh' ? zshScript(nodes) : fishScript(nodes);
}

function nodesOf(command: Command, path: string[], inherited: Flag[] = []): Node[] {
  const own = command.options.filter((option) => !option.hidden).map(flagOf);
  const names = own.flatMap((flag) => flag.names);
  const flags = [...own, ...inherited.filter((flag) => !flag.names.some((name) => names.includes(name)))];
  const help = { names: ['-h', '--help'], description: 'what this command takes', values: null };
  const node: Node = {
    path,
    children: command.commands.map((child) => ({ name: child.name(), description: child.description() })),
    flags: [...flags, help],
    values: valuesOf(command.registeredArguments[0]),
  };
  return [node, ...command.commands.flatMap((child) => nodesOf(child, [...path, child.name()], flags))];
}

function flagOf(option: Option): Flag {
  const takes_value = option.required || option.optional;
  return {
    names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
    description: option.description,
    values: takes_value ? valuesOf(option) : null,
  };
}

function valuesOf(of: Option | Argument | undefined): Values {
  if (!of) return { kind: 'free' };
  if (of.argChoices) return { kind: 'choices', choices: of.argChoices };
  const name = of.name();
  if (/(^|-)dir$/.test(name)) return { kind: 'folders' };
  return /(^|-)file$/.test(name) ? { kind: 'files' } : { kind: 'free' };
}

function keyOf(path: readonly string[]): string {
  return path.join(' ');
}

/* --- bash ----------------------------------------------------------------------------------------------------- */

const BASH_REPLY = {
  folders: 'COMPREPLY=($(compgen -d -- "$cur"))',
  files: 'COMPREPLY=($(compgen -f -- "$cur"))',
  free: 'COMPREPLY=()',
} as const;

function bashReply(values: Values): string {
  if (values.kind !== 'choices') return BASH_REPLY[values.kind];
  return `COMPREPLY=($(compgen -W ${quote(values.choices.join(' '))} -- "$cur"))`;
}

function bashScript(nodes: readonly Node[]): string {
  const known = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quote(keyOf(path)));
  const cases = nodes.map((node) => {
    const valued = node.flags.filter(({ values }) => values !== null);
    const previous = valued.map(
      ({ names, values }) =>
        `        ${names.join('|')}) ${bashReply(values ?? { kind: 'free' })}; return ;;`,
    );
    const words = [...node.children.map(({ name }) => name), ...node.flags.flatMap(({ names }) => names)];
    return [
      `    ${quote(keyOf(node.path))})`,
      ...(previous.length > 0 ? ['      case "$prev" in', ...previous, '      esac'] : []),
      // Words of the command itself are offered unless a value of its argument is what is meant.
      node.values.kind === 'free'
        ? `      COMPREPLY=($(compgen -W ${quote(words.join(' '))} -- "$cur")) ;;`
        : `      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W ${quote(words.join(' '))} -- "$cur")); else ${bashReply(node.values)}; fi ;;`,
    ].join('\n');
  });
  return `# bash completion of satchel. Load it with: source <(satchel completion bash)
_satchel() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${path:+$path }$word" in
      ${known.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  local IFS=$' \\t\\n'
  case "$path" in
${cases.join('\n')}
  esac
}
complete -o filenames -o bashdefault -F _satchel satchel
`;
}

/* --- zsh ------------------------------------------------------------------------------------------------------ */

/** As one \`name:description\` pair of _describe. */
function zshPair(name: string, description: string): string {
  return quote(`${name.replaceAll(':', '\\:')}:${description}`);
}

function zshValues(values: Values): string {
  if (values.kind === 'folders') return '_files -/';
  if (values.kind === 'files') return '_files';
  return values.kind === 'choices' ? `compadd -- ${values.choices.map(quote).join(' ')}` : ':';
}

function zshScript(nodes: readonly Node[]): string {
  const known = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quote(keyOf(path)));
  const cases = nodes.map((node) => {
    const previous = node.flags.flatMap(({ names, values }) =>
      values === null ? [] : [`        ${names.join('|')}) ${zshValues(values)}; return ;;`],
    );
    const flags = node.flags.flatMap(({ names, description }) =>
      names.map((name) => zshPair(name, description)),
    );
    const children = node.children.map(({ name, description }) => zshPair(name, description));
    return [
      `    ${quote(keyOf(node.path))})`,
      ...(previous.length > 0 ? ['      case $prev in', ...previous, '      esac'] : []),
      `      flags=(${flags.join(' ')})`,
      ...(children.length > 0 ? [`      verbs=(${children.join(' ')})`] : []),
      `      [[ $cur == -* ]] || ${zshValues(node.values)} ;;`,
    ].join('\n');
  });
  return `#compdef satchel
# zsh completion of satchel. Load it with: source <(satchel completion zsh), after compinit
_satchel() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} path_so_far='' word
  local -a flags verbs
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_so_far:+$path_so_far }$word" in
      ${known.join('|')}) path_so_far="\${path_so_far:+$path_so_far }$word" ;;
    esac
  done
  case "$path_so_far" in
${cases.join('\n')}
  esac
  (( \${#verbs} )) && _describe -t commands command verbs
  [[ $cur == -* ]] && _describe -t options option flags
  return 0
}
if [[ \${funcstack[1]-} == _satchel ]]; then _satchel "$@"; else compdef _satchel satchel; fi
`;
}

/* --- fish ----------------------------------------------------------------------------------------------------- */

/** As one word of fish, where only a backslash and a quote are special between quotes. */
function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function fishValues(values: Values): string {
  if (values.kind === 'folders') return " -x -a '(__fish_complete_directories)'";
  if (values.kind === 'files') return ' -r -F';
  return values.kind === 'choices' ? ` -x -a ${fishQuote(values.choices.join(' '))}` : ' -x';
}

function fishScript(nodes: readonly Node[]): string {
  const known = nodes.filter(({ path }) => path.length > 0).map(({ path }) => fishQuote(keyOf(path)));
  const lines = nodes.flatMap((node) => {
    const start = `complete -c satchel -n ${fishQuote(`__satchel_at ${fishQuote(keyOf(node.path))}`)}`;
    return [
      ...node.children.map(({ name, description }) => `${start} -a ${name} -d ${fishQuote(description)}`),
      ...node.flags.map(({ names, description, values }) => {
        const named = names.map((name) =>
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        );
        return `${start} ${named.join(' ')}${values === null ? '' : fishValues(values)} -d ${fishQuote(description)}`;
      }),
      ...(node.values.kind === 'free' ? [] : [`${start}${fishValues(node.values)}`]),
    ];
  });
  return `# fish completion of satchel. Load it with: satchel completion fish | source
function __satchel_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- "$next" ${known.join(' ')}; and set at $next
  end
  test "$at" = "$argv[1]"
end
complete -c satchel -f
${lines.join('\n')}
`;
}
