/** Lifting the suppression of a hard bounce: finds the contacts of a hash, and gives them the status that they had. */
import type { Database, Tx } from '../../platform/database/database.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Lists } from '../lists/service.ts';
import type { KeyedHash } from '../settings/service.ts';
import * as store from './store.ts';

/** Contacts whose addresses are hashed before others have their turn: some 5 ms. */
const HASHED_CONTACTS_PIECE = 1_000;

/** Of these hashes, those of contacts that bounced, with the address. In pieces, with pauses for other requests. */
export async function findBouncedAddresses(
  on: { database: Database; lists: Lists },
  project_id: number,
  hashes: ReadonlySet<string>,
  hash: KeyedHash,
): Promise<Map<string, string>> {
  const { read } = on.database;
  const found = new Map<string, string>();
  for (const list_id of on.lists.listIds(project_id))
    for (let after_id = 0; found.size < hashes.size; ) {
      const piece = store.listBouncedAfter(read, list_id, { after_id, limit: HASHED_CONTACTS_PIECE });
      for (const { id, email } of piece) {
        const hashed = hash(email);
        if (hashes.has(hashed)) found.set(hashed, email);
        after_id = id;
      }
      if (piece.length < HASHED_CONTACTS_PIECE) break;
      await letOthers();
    }
  return found;
}

/** Gives contacts of an address that bounced the status that they had, within a transaction; their ids. It enrolls nobody. */
export function restoreBounced(tx: Tx, of: { project_id: number; email: string; now_ms: number }): string[] {
  const { now_ms } = of;
  return store
    .listContactsOfAddress(tx, of.project_id, of.email)
    .filter(({ status }) => status === 'bounced')
    .map(({ id, public_id, status_before_bounce }) => {
      const status = status_before_bounce ?? 'active';
      const changed = { status_changed_at: now_ms, updated_at: now_ms };
      store.updateContact(tx, id, { status, status_before_bounce: null, ...changed });
      return public_id;
    });
}
