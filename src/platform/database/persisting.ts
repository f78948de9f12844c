/** Writing what came of work on the outside world, such as a mail that a relay has: it must be written, or it is done again. */
import { mayPass } from './database.ts';

/** While the disk is full or the database busy, what can't be written is tried again after this. */
export const DATABASE_RETRY_MS = 1_000;

/** Does a write, waiting out a full disk or a busy database unless the server stops. Throws what will not pass, or not in time. */
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
