/** SQL of contacts and their tags. */
import { eq, getTableColumns } from 'drizzle-orm';
import { MAX_CONTACT_TAGS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { recordStore } from '../../platform/database/record-store.ts';
import { afterPrefix } from './filter-members-store.ts';
import { addressesToForget, type ContactRow, contacts, type contactTags } from './tables.ts';

export type NewContact = Omit<ContactRow, 'id'>;

export const rows = recordStore<ContactRow>(contacts);

export const findContactByAddress = rawGet<ContactRow, [list_id: number, email: string]>(
  'SELECT * FROM contacts WHERE list_id = ? AND email = ?',
  contacts,
);

export const findContactByToken = rawGet<ContactRow, [project_id: number, contact_token: string]>(
  'SELECT * FROM contacts WHERE project_id = ? AND contact_token = ?',
  contacts,
);

/** Every contact of an address in a project, on whatever list. */
export const listContactsOfAddress = rawAll<ContactRow, [project_id: number, email: string]>(
  'SELECT * FROM contacts WHERE project_id = ? AND email = ? ORDER BY id',
  contacts,
);

const pauseOf = rawGet<Pick<ContactRow, 'paused_until'>, [number, string]>(
  'SELECT max(paused_until) AS paused_until FROM contacts WHERE project_id = +? AND email = +?',
);

/** Until when an address takes no marketing mail; null where it never paused. */
export function findPause(read: Tx, project_id: number, email: string): number | null {
  return pauseOf(read, project_id, email)?.paused_until ?? null;
}

const beginning = rawAll<ContactRow, [number, string, string, number, number]>(
  `SELECT * FROM contacts WHERE project_id = +? AND email >= +? AND email < +?
   ORDER BY email, id LIMIT ? OFFSET ?`,
  contacts,
);

/** Contacts of a project whose address begins so, on whatever list: in the order of their addresses, by the index. */
export function listByAddress(
  read: Tx,
  of: { project_id: number; prefix: string; limit: number; offset: number },
): ContactRow[] {
  return beginning(read, of.project_id, of.prefix, afterPrefix(of.prefix), of.limit, of.offset);
}

const countBeginning = rawGet<{ n: number }, [number, string, string, number]>(
  `SELECT count(*) AS n FROM
   (SELECT 1 FROM contacts WHERE project_id = +? AND email >= +? AND email < +? LIMIT ?)`,
);

/** How many there are, counted up to `most`. */
export function countByAddress(read: Tx, of: { project_id: number; prefix: string; most: number }): number {
  return countBeginning(read, of.project_id, of.prefix, afterPrefix(of.prefix), of.most)?.n ?? 0;
}

const unasked = rawGet<{ n: number }, [number, string]>(
  'SELECT 1 AS n FROM contacts WHERE project_id = ? AND email = ? AND is_mx_unasked = 1 LIMIT 1',
);

/** True where an address came without a look-up of its domain. Few did: a partial index holds them. */
export function isAddressUnasked(read: Tx, project_id: number, email: string): boolean {
  return unasked(read, project_id, email) !== null;
}

export const markAddressAsked = rawRun<[project_id: number, email: string]>(
  'UPDATE contacts SET is_mx_unasked = 0 WHERE project_id = ? AND email = ? AND is_mx_unasked = 1',
);

const { id: _id, ...inserted } = getTableColumns(contacts);
const COLUMNS = Object.keys(inserted) as (keyof NewContact)[]; // It has no others.
const insert = rawGet<{ id: number }, (string | number | null)[]>(
  `INSERT INTO contacts (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')}) RETURNING id`,
);
const insertTag = rawRun<[contact_id: number, tag: string, list_id: number, status: string]>(
  'INSERT INTO contact_tags (contact_id, tag, list_id, status) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
);

/** Inserts a contact with its tags and returns its numeric id. */
export function insertContact(tx: Tx, row: NewContact, tags: readonly string[]): number {
  const stored = { ...row, custom: JSON.stringify(row.custom), is_mx_unasked: Number(row.is_mx_unasked) };
  const inserted = insert(tx, ...COLUMNS.map((name) => stored[name]));
  if (!inserted) throw new Error('a contact was inserted without an id');
  for (const tag of tags) insertTag(tx, inserted.id, tag, row.list_id, row.status);
  return inserted.id;
}

export function updateContact(
  tx: Tx,
  id: number,
  changes: Partial<Omit<ContactRow, 'id' | 'public_id'>>,
): ContactRow {
  return tx.update(contacts).set(changes).where(eq(contacts.id, id)).returning().get();
}

/** Notes that somebody clicked in a mail to a contact. */
export const noteClick = rawRun<[at: number, id: number]>(
  'UPDATE contacts SET clicked_at = max(coalesce(clicked_at, 0), ?) WHERE id = ?',
);

const deleteTag = rawRun<[contact_id: number, tag: string]>(
  'DELETE FROM contact_tags WHERE contact_id = ? AND tag = ?',
);
/** For a contact that may have tags already: no more than a contact may have. */
const addTag = rawRun<[contact_id: number, tag: string, list_id: number, status: string]>(
  `INSERT INTO contact_tags (contact_id, tag, list_id, status) SELECT ?1, ?2, ?3, ?4
     WHERE (SELECT count(*) FROM contact_tags WHERE contact_id = ?1) < ${MAX_CONTACT_TAGS} ON CONFLICT DO NOTHING`,
);

/** Removes and adds tags of one contact, no more than one may have; tells whether that changed anything. */
export function changeTags(
  tx: Tx,
  contact: Pick<ContactRow, 'id' | 'list_id' | 'status'>,
  change: { add: readonly string[]; remove: readonly string[] },
): boolean {
  const { id: contact_id, list_id, status } = contact;
  let changed = 0;
  for (const tag of change.remove) changed += deleteTag(tx, contact_id, tag);
  for (const tag of change.add) changed += addTag(tx, contact_id, tag, list_id, status);
  return changed > 0;
}

const tagsOf = rawAll<Pick<typeof contactTags.$inferSelect, 'contact_id' | 'tag'>, [string]>(
  `SELECT contact_id, tag FROM contact_tags WHERE contact_id IN (SELECT value FROM json_each(?))
   ORDER BY contact_id, tag`,
);

/** The tags of these contacts, in alphabetical order. */
export function listTags(read: Tx, contact_ids: readonly number[]): Map<number, string[]> {
  const tags = new Map<number, string[]>(contact_ids.map((id) => [id, []]));
  for (const row of tagsOf(read, JSON.stringify(contact_ids))) tags.get(row.contact_id)?.push(row.tag);
  return tags;
}

/* --- Lists ------------------------------------------------------------------------------------------------------- */

const contactsById = rawAll<ContactRow, [string]>(
  'SELECT * FROM contacts WHERE id IN (SELECT value FROM json_each(?))',
  contacts,
);

export function findContactsById(read: Tx, ids: readonly number[]): ContactRow[] {
  return contactsById(read, JSON.stringify(ids));
}

/** What of a contact decides whether it is enrolled. */
export type ContactStanding = Pick<ContactRow, 'id' | 'public_id' | 'email' | 'status' | 'paused_until'>;
const STANDING = 'id, public_id, email, status, paused_until';

const standingsOf = rawAll<ContactStanding, [string]>(
  `SELECT ${STANDING} FROM contacts WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
);

/** Of these contacts, in the order of ids. */
export function listStandings(read: Tx, ids: readonly number[]): ContactStanding[] {
  return standingsOf(read, JSON.stringify(ids));
}

/** Up to `limit` contacts of a list whose id is above `after_id`, of any status, in the order of ids. */
export const listStandingsAfter = rawAll<ContactStanding, [list_id: number, after_id: number, limit: number]>(
  `SELECT ${STANDING} FROM contacts WHERE list_id = +? AND id > +? ORDER BY id LIMIT +?`,
);

const lastId = rawGet<{ id: number | null }, [number]>(
  'SELECT max(id) AS id FROM contacts WHERE list_id = +?',
);

export function findLastId(read: Tx, list_id: number): number {
  return lastId(read, list_id)?.id ?? 0;
}

/** Up to `limit` contacts of a list that bounced, with a higher id than `after_id`, in the order of ids. */
export const listBouncedAfter = rawAll<
  Pick<ContactRow, 'id' | 'email'>,
  [list_id: number, after_id: number, limit: number]
>(
  "SELECT id, email FROM contacts WHERE list_id = +? AND status = 'bounced' AND id > +? ORDER BY id LIMIT +?",
);

/** The custom fields of up to `limit` contacts of a list whose id is below `before_id`, newest first. */
export const listCustomBefore = rawAll<
  Pick<ContactRow, 'id' | 'custom'>,
  [list_id: number, before_id: number, limit: number]
>('SELECT id, custom FROM contacts WHERE list_id = +? AND id < +? ORDER BY id DESC LIMIT +?', contacts);

const customNames = rawAll<{ name: string }, [string]>(
  `SELECT DISTINCT j.key AS name FROM contacts, json_each(contacts.custom) j
   WHERE contacts.id IN (SELECT value FROM json_each(?))`,
);

/** The names of the custom fields that these contacts have. */
export function listCustomNames(read: Tx, ids: readonly number[]): string[] {
  return customNames(read, JSON.stringify(ids)).map(({ name }) => name);
}

const contactsByPublicId = rawAll<ContactRow, [number, string]>(
  'SELECT * FROM contacts WHERE +project_id = ? AND public_id IN (SELECT value FROM json_each(?))',
  contacts,
);

/** Contacts of a project by their public ids. */
export function findContacts(read: Tx, project_id: number, public_ids: readonly string[]): ContactRow[] {
  return contactsByPublicId(read, project_id, JSON.stringify(public_ids));
}

/** Deletes one contact with its tags. */
export const deleteContact = rawRun<[id: number]>('DELETE FROM contacts WHERE id = ?');

const nextList = rawGet<{ list_id: number | null }, [number]>(
  'SELECT min(list_id) AS list_id FROM contacts WHERE list_id > ?',
);

/** The lowest numeric id above `after` of a list that has contacts, even where the list itself is gone. */
export function nextListWithContacts(read: Tx, after: number): number | null {
  return nextList(read, after)?.list_id ?? null;
}

/** Deletes up to `limit` contacts of a list; returns whose they were. */
export const deleteContactsOfList = rawAll<
  Pick<ContactRow, 'project_id' | 'email'>,
  [list_id: number, limit: number]
>(
  'DELETE FROM contacts WHERE id IN (SELECT id FROM contacts WHERE list_id = +? LIMIT +?) RETURNING project_id, email',
);

const activeWithAnyTag = rawGet<{ n: number }, [number, string]>(
  `SELECT count(DISTINCT contact_id) AS n FROM contact_tags
   WHERE list_id = +? AND tag IN (SELECT value FROM json_each(?)) AND status = 'active'`,
);

/** Active contacts of a list that have at least one of these tags: a walk of each tag's own rows. */
export function countActiveWithAnyTag(read: Tx, list_id: number, tags: readonly string[]): number {
  return activeWithAnyTag(read, list_id, JSON.stringify(tags))?.n ?? 0;
}

/* --- Addresses that are being forgotten ---------------------------------------------------------------------------- */

type AddressToForget = typeof addressesToForget.$inferSelect;

export function insertAddressToForget(tx: Tx, address: AddressToForget): void {
  tx.insert(addressesToForget).values(address).onConflictDoNothing().run();
}

export const listAddressesToForget = rawAll<AddressToForget>('SELECT * FROM addresses_to_forget');

export const deleteAddressToForget = rawRun<[project_id: number, email: string]>(
  'DELETE FROM addresses_to_forget WHERE project_id = ? AND email = ?',
);
