/** A backup that a verb makes: what becomes of it is remembered. */
import { AppError, messageOf } from '../../errors.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { type Ended, noteBackup } from './history.ts';
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
    try {
      noteBackup(data_dir, ended);
    } catch (error) {
      onUnnoted(messageOf(error));
    }
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
