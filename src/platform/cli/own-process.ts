/** The executable's process, as verbs see it: nothing else of the command line touches `process`. */
import { setPriority } from 'node:os';
import { isatty } from 'node:tty';
import { addToEnvironment, processEnvironment } from '../../config.ts';
import { beginAnew, findInstalledService, processUser, servicePathsOf } from '../host/installed-service.ts';
import { actAsOwner } from '../host/ownership.ts';
import type { CliProcess } from './cli.ts';
import { coloured, uncoloured } from './colour.ts';
import { askOnTerminal, writeAll, writeArchive, writeStatus, writeTo } from './output.ts';
import { runCommand } from './run-command.ts';

/** The lowest priority of a process (setpriority(2)): a backup takes what the server leaves. */
const BACKUP_NICENESS = 19;

/** `umask` is the one Satchel was started with; a command that it runs gets it back. */
export function ownProcess(umask: number): CliProcess {
  return {
    environment: processEnvironment(),
    begin(variables) {
      const added = addToEnvironment(variables);
      // The runtime looks at others than our settings as it begins.
      if (added.every((name) => name.startsWith('SATCHEL_'))) return;
      process.umask(umask);
      beginAnew(process.argv.slice(2), processEnvironment());
    },
    out: (text) => writeTo(1, text),
    show: (text) => writeTo(1, text, showsColour() ? coloured : uncoloured),
    outBytes: (bytes) => writeAll(1, bytes),
    outArchive: (bytes) => writeArchive(1, bytes),
    err: (text) => writeTo(2, text),
    status(line) {
      if (process.stderr.isTTY) writeStatus(2, line);
    },
    input: async () => new Uint8Array(await Bun.stdin.arrayBuffer()),
    inputStream: () => Bun.stdin.stream(),
    is_input_typed: isatty(0),
    ask: (question) => (isatty(0) && isatty(2) ? askOnTerminal(question) : null),
    out_columns: columnsOf(process.stdout),
    err_columns: columnsOf(process.stderr),
    installedService: () => findInstalledService(servicePathsOf(process.execPath), processUser()),
    runCommand: (command, variables) => runCommand(command, variables, umask),
    actAsOwner,
    yieldToOthers() {
      try {
        setPriority(BACKUP_NICENESS);
      } catch {
        // Containers may forbid a lower priority, which does no harm.
      }
    },
  };
}

/** https://no-color.org: set to anything, it switches colour off. */
function showsColour(): boolean {
  const { NO_COLOR, TERM } = processEnvironment();
  return isatty(1) && !NO_COLOR && TERM !== 'dumb';
}

function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY ? stream.columns : null;
}
