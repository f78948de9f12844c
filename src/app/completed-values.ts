/** Completes values at the shell: projects and keys of the data directory, as far as it may be read. */

import { ABILITY_WORDS } from '../access/keys/abilities-cli.ts';
import { completeKey } from '../access/keys/service.ts';
import { findProject } from '../access/projects/service.ts';
import { completeProject } from '../access/projects/slugs.ts';
import { openReadOnly } from '../operation/doctor/database-checks.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { completeWords, type Line, type Values, type Word } from '../platform/cli/completion.ts';
import { CAPABILITY_WORDS } from '../platform/cli/options.ts';
import type { Tx } from '../platform/database/database.ts';
import { requireDatabase } from '../platform/host/database-file.ts';

export function completedValues<S>(cli: Cli<S>): Values {
  /** Whatever is in the way, somebody is about to type a line: there is nothing to tell them. */
  const look = (line: Line, find: (read: Tx) => Word[]): Word[] => {
    try {
      const { data_dir } = cli.loadVerbConfig({ data_dir: line.options.get('--data-dir') });
      cli.host.process.actAsOwner(data_dir);
      const database = openReadOnly(requireDatabase(data_dir));
      try {
        return find(database.read);
      } finally {
        void database.close();
      }
    } catch {
      return [];
    }
  };
  return {
    project: (line) => look(line, (read) => completeProject(read, line.typed)),
    key: (line) =>
      look(line, (read) => {
        const project = line.options.get('--project');
        if (project === undefined) return completeKey(read, line.typed, null);
        const found = findProject(read, project);
        return found ? completeKey(read, line.typed, found.id) : [];
      }),
    capabilities: completeWords(CAPABILITY_WORDS),
    abilities: completeWords(ABILITY_WORDS),
  };
}
