/** Changing one contact by what was sent. */
import type { FieldErrors } from '../../errors.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { setBy } from '../../platform/http/fields.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import type { ContactChoices } from './choices.ts';
import { readCustom, readTags } from './fields.ts';
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
