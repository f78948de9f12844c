/** Tags of many contacts at once. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { BULK_CONTACTS_BATCH } from '../../limits.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { ListRow } from '../lists/service.ts';
import { readTags } from './fields.ts';
import type { ContactFilter } from './filter.ts';
import { criteriaOf } from './filter-members-store.ts';
import { errorsInFilter } from './filter-rules.ts';
import { matching } from './filter-store.ts';
import { type FindingDeps, piecesOf, requireOfList } from './finding.ts';
import * as store from './store.ts';

/** Which contacts a bulk change is for: these, or all of the list that a filter fits. */
export type ContactSelection = { contact_ids: readonly string[] } | { filter: ContactFilter };

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
  on: FindingDeps & { clock: Clock },
  { list, note }: { list: ListRow; note: Note },
  selection: ContactSelection,
  wanted: TagChange,
): Promise<number> {
  const errors: FieldErrors = {};
  const add = readTags(wanted.add, 'add', errors);
  const remove = readTags(wanted.remove, 'remove', errors);
  const { database, clock } = on;
  if ('filter' in selection)
    Object.assign(errors, errorsInFilter(database.read, list.id, selection.filter, 'filter.'));
  refuseAll(errors);
  const change = { add, remove };
  const entry = {
    event: 'contacts.tagged',
    target: `list:${list.public_id}`,
    metadata: { name: list.name, ...change },
  };
  if ('contact_ids' in selection)
    return database.write((tx) => {
      const rows = requireOfList(tx, list, selection.contact_ids);
      note(tx, entry);
      return rows.filter((row) => store.changeTags(tx, row, change)).length;
    });
  const criteria = criteriaOf(selection.filter, clock.now());
  await database.write((tx) => note(tx, entry));
  let changed = 0;
  for (const ids of piecesOf(on, list.id, criteria, { order: 'oldest', size: BULK_CONTACTS_BATCH }))
    changed += await database.writePiece((tx) => {
      // Within the transaction: whoever was changed or deleted since they were found may not fit any more.
      const rows = store.listStandings(tx, matching(tx, list.id, criteria, ids));
      return rows.filter((row) => store.changeTags(tx, { ...row, list_id: list.id }, change)).length;
    });
  return changed;
}
