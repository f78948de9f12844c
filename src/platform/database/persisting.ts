/** Writes what came of outside work, such as a mail that a relay took: else it is done again. */
import { mayPass } from './database.ts';

/** While the disk is full or the database busy, what can't be written is tried again after this. */
export const DATABASE_RETRY_MS = 1_000;

/** Retries a write while the disk is full or the database busy, unless the server stops. Else throws. */
export async function persist<T>(write: () => Promise<T>, isStopping: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!mayPass(error) || isStopping()) throw error;
      await Bun.sleep(DATABASE_RETRY_MS);
    }
  }
}
