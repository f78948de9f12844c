/** What completes a key at the shell. */
import { COMPLETED_WORDS } from '../../limits.ts';
import type { Word } from '../../platform/cli/completion.ts';
import type { Tx } from '../../platform/database/database.ts';
import { listKeysFrom } from './store.ts';

/** Names of the keys of a project, newest first; without a project the numbers of all keys. */
export function completeKey(read: Tx, typed: string, project_id: number | null): Word[] {
  return listKeysFrom(read, { beginning: typed, project_id }, COMPLETED_WORDS).map(
    ({ id, name, key_prefix }) =>
      project_id === null
        ? { word: String(id), description: `${name}, ${key_prefix}...` }
        : { word: name, description: `${id}, ${key_prefix}...` },
  );
}
