/** Tags of many contacts at once. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { BULK_CONTACTS_BATCH } from '../../limits.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { ListRow } from '../lists/service.ts';
import { readTags } from './fields.ts';
import * as store from './store.ts';

/** Which contacts a bulk change is for: these, or all of the list that a filter fits. */
export type ContactSelection =
  | { contact_ids: readonly string[] }
  | { filter: Omit<store.ContactFilter, 'list_id'> };

export interface TagChange {
  add: readonly string[];
  remove: readonly string[];
}

/**
 * Adds and removes tags of many contacts, in pieces, each a transaction of its own: a list of any size keeps
 * nobody waiting, and after a crash the same call does the rest. Returns how many contacts it changed. Throws AppError
 * `invalid` by field, also for ids that are of no contact of this list.
 */
export async function tagContacts(
  database: Database,
  { list, note }: { list: ListRow; note: Note },
  selection: ContactSelection,
  wanted: TagChange,
): Promise<number> {
  const errors: FieldErrors = {};
  const add = readTags(wanted.add, 'add', errors);
  const remove = readTags(wanted.remove, 'remove', errors);
  refuseAll(errors);
  const change = { add, remove };
  const entry = { event: 'contacts.tagged', target: `list:${list.public_id}`, metadata: change };
  if ('contact_ids' in selection)
    return tagThese(database, list, selection.contact_ids, { change, told: (tx) => note(tx, entry) });
  const filter = { ...selection.filter, list_id: list.id };
  let changed = 0;
  for (let after_id = 0; ; ) {
    const piece = { after_id, limit: BULK_CONTACTS_BATCH };
    const done = await database.write((tx) => {
      const rows = store.listMatchesAfter(tx, filter, piece);
      const touched = rows.filter((row) => store.changeTags(tx, row, change)).length;
      if (after_id === 0) note(tx, entry);
      return { touched, last_id: rows.at(-1)?.id ?? null, is_last: rows.length < piece.limit };
    });
    changed += done.touched;
    if (done.is_last || done.last_id === null) return changed;
    after_id = done.last_id;
  }
}

function tagThese(
  database: Database,
  list: ListRow,
  contact_ids: readonly string[],
  { change, told }: { change: TagChange; told(tx: Tx): void },
): Promise<number> {
  return database.write((tx) => {
    const rows = store.findContacts(tx, list.project_id, contact_ids);
    const of_list = new Map(rows.filter((row) => row.list_id === list.id).map((row) => [row.public_id, row]));
    const errors: FieldErrors = {};
    contact_ids.forEach((id, index) => {
      if (!of_list.has(id)) errors[`contact_ids.${index}`] = ['must be the id of a contact of this list'];
    });
    refuseAll(errors);
    told(tx);
    return [...of_list.values()].filter((row) => store.changeTags(tx, row, change)).length;
  });
}
