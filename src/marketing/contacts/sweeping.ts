/** Deleting contacts whose list went with its project, and what their addresses said of being counted. */
import { BULK_CONTACTS_BATCH } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import type { Lists } from '../lists/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import * as store from './store.ts';

/** In small steps; as much time between them is others', other processes' too. */
export async function sweepContacts({
  database,
  lists,
  tracking,
}: {
  database: Database;
  lists: Pick<Lists, 'findById'>;
  tracking: Pick<TrackingChoices, 'forget'>;
}): Promise<void> {
  for (let list_id = store.nextListWithContacts(database.read, 0); list_id !== null; ) {
    const current = list_id;
    let has_more = lists.findById(current) === null;
    while (has_more) {
      const began_ms = monotonicMs();
      const deleted = await database.writePiece((tx) => {
        const piece = store.deleteContactsOfList(tx, current, BULK_CONTACTS_BATCH);
        for (const of of piece) tracking.forget(tx, of);
        return piece.length;
      });
      has_more = deleted === BULK_CONTACTS_BATCH;
      await Bun.sleep(monotonicMs() - began_ms);
    }
    list_id = store.nextListWithContacts(database.read, current);
  }
}
