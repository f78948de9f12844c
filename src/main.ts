/** The executable: the command line in a process of its own. */
import { createCli } from './app/command-line.ts';
import { ownProcess } from './platform/cli/own-process.ts';

// What this process makes is its user's alone: the database, its journals, objects, keys and backups.
const umask = process.umask(0o077);

void createCli(ownProcess(umask))
  .main(process.argv.slice(2))
  .then((code) => process.exit(code));
