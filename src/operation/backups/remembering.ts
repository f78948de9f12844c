/** A backup that a verb makes, beside whoever has the database open: what becomes of it is remembered there. */
import { AppError } from '../../errors.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { type Ended, noteBackupBeside } from './history-store.ts';
import type { BackupResult } from './making.ts';

/**
 * Makes one and notes that it was made, or why it failed; but not that it was asked for in a wrong way. Where
 * that can't be noted `onUnnoted` is told why: a backup is one all the same.
 */
export async function makeRemembered<T extends BackupResult>(
  data_dir: string,
  { clock, onUnnoted }: { clock: Clock; onUnnoted(why: string): void },
  make: () => Promise<T>,
): Promise<T> {
  const note = (ended: Ended): void => {
    const why = noteBackupBeside(databasePathOf(data_dir), ended);
    if (why !== null) onUnnoted(why);
  };
  try {
    const result = await make();
    note({ made_ms: Date.parse(result.created_at) });
    return result;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'unavailable')
      note({ failure: { at_ms: clock.now(), message: error.message } });
    throw error;
  }
}
