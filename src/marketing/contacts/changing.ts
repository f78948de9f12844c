/** Changing one contact by what was sent, and the tags of many at once. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { BULK_CONTACTS_BATCH } from '../../limits.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { setBy } from '../../platform/http/fields.ts';
import type { ListRow } from '../lists/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import type { ContactChoices } from './choices.ts';
import { readCustom, readTags } from './fields.ts';
import type { ContactFilter } from './filter.ts';
import { criteriaOf } from './filter-members-store.ts';
import { errorsInFilter } from './filter-rules.ts';
import { matching } from './filter-store.ts';
import { type FindingDeps, piecesOf, requireOfList } from './finding.ts';
import { type ContactChanges, type CustomFields, FIELDS } from './schemas.ts';
import * as store from './store.ts';
import type { ContactRow } from './tables.ts';

/** What is to change; null where tags and custom fields stay. */
interface ReadChanges {
  changes: ContactChanges;
  tags: string[] | null;
  custom: CustomFields | null;
}

/** Changes as they are stored; what does not fit is named in `errors`. */
export function readChanges(changes: ContactChanges, errors: FieldErrors): ReadChanges {
  const tags = changes.tags === undefined ? null : readTags(changes.tags ?? [], 'tags', errors);
  const custom = changes.custom === undefined ? null : readCustom(changes.custom ?? {}, errors);
  return { changes, tags, custom };
}

/**
 * Changes what is given of a contact, within a transaction; tags and custom replace. Throws AppError `conflict` (tracking_chosen)
 * where it would go over the person's own word.
 */
export function changeContact(
  tx: Tx,
  on: { clock: Clock; tracking: TrackingChoices; choices: ContactChoices; note: Note },
  current: ContactRow,
  { changes, tags, custom }: ReadChanges,
): ContactRow {
  const updated_at = on.clock.now();
  const trackingNow = () => on.tracking.find(tx, current)?.tracking ?? null;
  const present_tags = store.listTags(tx, [current.id]).get(current.id) ?? [];
  const before = { ...current, tags: present_tags, tracking: trackingNow() };
  if (tags) {
    const remove = present_tags.filter((tag) => !tags.includes(tag));
    store.changeTags(tx, current, { add: tags, remove });
  }
  const { tags: _tags, custom: _custom, tracking, ...set } = setBy(FIELDS, changes);
  if (tracking !== undefined) on.tracking.setByApi(tx, current, { tracking, at: updated_at });
  const changed = store.updateContact(tx, current.id, { ...set, ...(custom && { custom }), updated_at });
  const after = { ...changed, ...(tags && { tags }), tracking: trackingNow() };
  const told = changesOf(before, after, { is_personal: true });
  on.choices.tell(tx, { contact: changed, changes: changesOf(before, after) });
  on.note(tx, { event: 'contact.changed', target: `contact:${current.public_id}`, changes: told });
  return changed;
}

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
