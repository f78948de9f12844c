/** What completes a project at the shell. */
import { COMPLETED_WORDS } from '../../limits.ts';
import type { Word } from '../../platform/cli/completion.ts';
import type { Tx } from '../../platform/database/database.ts';
import { listProjectsFrom } from './store.ts';

/** Slugs that begin so. */
export function completeProject(read: Tx, typed: string): Word[] {
  return listProjectsFrom(read, typed, COMPLETED_WORDS).map(({ slug, name }) => ({
    word: slug,
    description: name,
  }));
}
