/** SQL of contacts and their tags. */
import { and, count, desc, eq, gt, gte, inArray, lt, sql } from 'drizzle-orm';
import { MAX_CONTACT_TAGS } from '../../limits.ts';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { afterPrefix } from './filter-store.ts';
import { addressesToForget, type ContactRow, contacts, contactTags } from './tables.ts';

export type NewContact = Omit<
  ContactRow,
  'id' | 'status_before_bounce' | 'status_before_leaving' | 'clicked_at'
>;

const byPublicId = statement((tx) =>
  tx
    .select()
    .from(contacts)
    .where(
      and(
        eq(contacts.public_id, sql.placeholder('public_id')),
        eq(contacts.project_id, sql.placeholder('project_id')),
      ),
    )
    .prepare(),
);
// Written out here and below, where every row of an import or every mail of a sequence passes.
const byAddress = rawSql<ContactRow, [number, string]>(
  'SELECT * FROM contacts WHERE list_id = ? AND email = ?',
  contacts,
);
const byId = rawSql<ContactRow, [number]>('SELECT * FROM contacts WHERE id = ?', contacts);
const byToken = statement((tx) =>
  tx
    .select()
    .from(contacts)
    .where(
      and(
        eq(contacts.contact_token, sql.placeholder('contact_token')),
        eq(contacts.project_id, sql.placeholder('project_id')),
      ),
    )
    .prepare(),
);
const COLUMNS = [
  'public_id',
  'project_id',
  'list_id',
  'email',
  'first_name',
  'last_name',
  'custom',
  'status',
  'source',
  'reason',
  'contact_token',
  'consent_basis',
  'consent_at',
  'consent_ip',
  'consent_origin',
  'source_platform',
  'confirmed_at',
  'status_changed_at',
  'created_at',
  'updated_at',
  'is_mx_unasked',
  'paused_until',
] as const satisfies readonly (keyof NewContact)[];
const insert = rawSql<{ id: number }, (string | number | null)[]>(
  `INSERT INTO contacts (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')}) RETURNING id`,
);
const insertTag = rawSql<never, [number, string, number, string]>(
  'INSERT INTO contact_tags (contact_id, tag, list_id, status) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
);
/** For a contact that may have tags already: no more than a contact may have. */
const addTag = rawSql<never, [number, string, number, string]>(
  `INSERT INTO contact_tags (contact_id, tag, list_id, status) SELECT ?1, ?2, ?3, ?4
     WHERE (SELECT count(*) FROM contact_tags WHERE contact_id = ?1) < ${MAX_CONTACT_TAGS} ON CONFLICT DO NOTHING`,
);
const deleteTag = rawSql<never, [number, string]>(
  'DELETE FROM contact_tags WHERE contact_id = ? AND tag = ?',
);

export function findContact(read: Tx, project_id: number, public_id: string): ContactRow | undefined {
  return byPublicId(read).get({ project_id, public_id });
}

export function findContactByAddress(read: Tx, list_id: number, email: string): ContactRow | undefined {
  return byAddress.get(read, list_id, email) ?? undefined;
}

export function findContactByToken(
  read: Tx,
  project_id: number,
  contact_token: string,
): ContactRow | undefined {
  return byToken(read).get({ project_id, contact_token });
}

export function findContactByPublicId(read: Tx, public_id: string): ContactRow | undefined {
  return read.select().from(contacts).where(eq(contacts.public_id, public_id)).get();
}

export function findContactById(read: Tx, id: number): ContactRow | undefined {
  return byId.get(read, id) ?? undefined;
}

const ofAddress = rawSql<ContactRow, [number, string]>(
  'SELECT * FROM contacts WHERE project_id = ? AND email = ? ORDER BY id',
  contacts,
);

/** Every contact of an address in a project, on whatever list. */
export function listContactsOfAddress(read: Tx, project_id: number, email: string): ContactRow[] {
  return ofAddress.all(read, project_id, email);
}

const pauseOf = rawSql<{ paused_until: number | null }, [number, string]>(
  'SELECT max(paused_until) AS paused_until FROM contacts WHERE project_id = +? AND email = +?',
);

/** Until when an address takes no marketing mail; null where it never paused. */
export function findPause(read: Tx, project_id: number, email: string): number | null {
  return pauseOf.get(read, project_id, email)?.paused_until ?? null;
}

/** Contacts of a project whose address begins so, on whatever list. */
const beginningWith = (project_id: number, prefix: string) =>
  and(
    eq(contacts.project_id, project_id),
    gte(contacts.email, prefix),
    lt(contacts.email, afterPrefix(prefix)),
  );

/** In the order of their addresses, by the index. */
export function listByAddress(
  read: Tx,
  of: { project_id: number; prefix: string; limit: number; offset: number },
): ContactRow[] {
  return read
    .select()
    .from(contacts)
    .where(beginningWith(of.project_id, of.prefix))
    .orderBy(contacts.email, contacts.id)
    .limit(of.limit)
    .offset(of.offset)
    .all();
}

/** How many there are, counted up to `most`. */
export function countByAddress(read: Tx, of: { project_id: number; prefix: string; most: number }): number {
  const some = read
    .select({ id: contacts.id })
    .from(contacts)
    .where(beginningWith(of.project_id, of.prefix))
    .limit(of.most)
    .as('some');
  return read.select({ n: count() }).from(some).get()?.n ?? 0;
}

// Written out, where every mail of a sequence passes.
const isMxUnasked = rawSql<{ n: number }, [number, string]>(
  'SELECT 1 AS n FROM contacts WHERE project_id = ? AND email = ? AND is_mx_unasked = 1 LIMIT 1',
);
/** Whether an address came without a look-up of its domain. Few did: a partial index holds them. */
export function isAddressUnasked(read: Tx, project_id: number, email: string): boolean {
  return isMxUnasked.get(read, project_id, email) !== null;
}

export function markAddressAsked(tx: Tx, project_id: number, email: string): void {
  const is_unasked = and(
    eq(contacts.project_id, project_id),
    eq(contacts.email, email),
    sql`${contacts.is_mx_unasked} = 1`,
  );
  tx.update(contacts).set({ is_mx_unasked: false }).where(is_unasked).run();
}

/** Inserts a contact with its tags and returns its numeric id. */
export function insertContact(tx: Tx, row: NewContact, tags: readonly string[]): number {
  const { custom, is_mx_unasked, ...plain } = row;
  const stored = { ...plain, custom: JSON.stringify(custom), is_mx_unasked: Number(is_mx_unasked) };
  const values = COLUMNS.map((name) => stored[name]);
  const inserted = insert.get(tx, ...values);
  if (!inserted) throw new Error('a contact was inserted without an id');
  for (const tag of tags) insertTag.run(tx, inserted.id, tag, row.list_id, row.status);
  return inserted.id;
}

export function updateContact(
  tx: Tx,
  id: number,
  changes: Partial<Omit<ContactRow, 'id' | 'public_id'>>,
): ContactRow {
  return tx.update(contacts).set(changes).where(eq(contacts.id, id)).returning().get();
}

const noteClickOf = rawSql<never, [number, number]>(
  'UPDATE contacts SET clicked_at = max(coalesce(clicked_at, 0), ?) WHERE id = ?',
);

/** Notes that somebody clicked in a mail to a contact. */
export function noteClick(tx: Tx, id: number, at: number): void {
  noteClickOf.run(tx, at, id);
}

/** Removes and adds tags of one contact, no more than one may have; tells whether that changed anything. */
export function changeTags(
  tx: Tx,
  contact: Pick<ContactRow, 'id' | 'list_id' | 'status'>,
  change: { add: readonly string[]; remove: readonly string[] },
): boolean {
  const { id: contact_id, list_id, status } = contact;
  let changed = 0;
  for (const tag of change.remove) changed += deleteTag.run(tx, contact_id, tag);
  for (const tag of change.add) changed += addTag.run(tx, contact_id, tag, list_id, status);
  return changed > 0;
}

/** The tags of these contacts, in alphabetical order. */
export function listTags(read: Tx, contact_ids: readonly number[]): Map<number, string[]> {
  const tags = new Map<number, string[]>(contact_ids.map((id) => [id, []]));
  if (contact_ids.length === 0) return tags;
  const rows = read
    .select({ contact_id: contactTags.contact_id, tag: contactTags.tag })
    .from(contactTags)
    .where(inArray(contactTags.contact_id, [...contact_ids]))
    .orderBy(contactTags.contact_id, contactTags.tag)
    .all();
  for (const row of rows) tags.get(row.contact_id)?.push(row.tag);
  return tags;
}

/* --- Lists ------------------------------------------------------------------------------------------------------- */

// Raw here and for `listStandingsAfter`: each piece of a mailing asks for both.
const contactsById = rawSql<ContactRow, [string]>(
  'SELECT * FROM contacts WHERE id IN (SELECT value FROM json_each(?))',
  contacts,
);

export function findContactsById(read: Tx, ids: readonly number[]): ContactRow[] {
  return contactsById.all(read, JSON.stringify(ids));
}

/** What of a contact decides whether it is enrolled. */
export type ContactStanding = Pick<ContactRow, 'id' | 'public_id' | 'email' | 'status' | 'paused_until'>;

/** Of these contacts, in the order of ids. */
export function listStandings(read: Tx, ids: readonly number[]): ContactStanding[] {
  const { id, public_id, email, status, paused_until } = contacts;
  return read
    .select({ id, public_id, email, status, paused_until })
    .from(contacts)
    .where(inArray(id, [...ids]))
    .orderBy(id)
    .all();
}

export function findLastId(read: Tx, list_id: number): number {
  const found = read
    .select({ id: contacts.id })
    .from(contacts)
    .where(eq(contacts.list_id, list_id))
    .orderBy(desc(contacts.id))
    .limit(1)
    .get();
  return found?.id ?? 0;
}

const standingsAfter = rawSql<ContactStanding, [number, number, number]>(
  'SELECT id, public_id, email, status, paused_until FROM contacts WHERE list_id = +? AND id > +? ORDER BY id LIMIT +?',
);

/** Up to `limit` contacts of a list whose id is above `after_id`, of any status, in the order of ids. */
export function listStandingsAfter(
  read: Tx,
  list_id: number,
  piece: { after_id: number; limit: number },
): ContactStanding[] {
  return standingsAfter.all(read, list_id, piece.after_id, piece.limit);
}

/** Up to `limit` contacts of a list that bounced, with a higher id than `after_id`, in the order of ids. */
export function listBouncedAfter(
  read: Tx,
  list_id: number,
  piece: { after_id: number; limit: number },
): Pick<ContactRow, 'id' | 'email'>[] {
  const { id, email, status } = contacts;
  return read
    .select({ id, email })
    .from(contacts)
    .where(and(eq(contacts.list_id, list_id), eq(status, 'bounced'), gt(id, piece.after_id)))
    .orderBy(id)
    .limit(piece.limit)
    .all();
}

/** The custom fields of up to `limit` contacts of a list whose id is below `before_id`, newest first. */
export function listCustomBefore(
  read: Tx,
  list_id: number,
  piece: { before_id: number; limit: number },
): Pick<ContactRow, 'id' | 'custom'>[] {
  const { id, custom } = contacts;
  return read
    .select({ id, custom })
    .from(contacts)
    .where(and(eq(contacts.list_id, list_id), lt(id, piece.before_id)))
    .orderBy(desc(id))
    .limit(piece.limit)
    .all();
}

const customNames = rawSql<{ name: string }, [string]>(
  `SELECT DISTINCT j.key AS name FROM contacts, json_each(contacts.custom) j
   WHERE contacts.id IN (SELECT value FROM json_each(?))`,
);

/** The names of the custom fields that these contacts have. */
export function listCustomNames(read: Tx, ids: readonly number[]): string[] {
  return customNames.all(read, JSON.stringify(ids)).map(({ name }) => name);
}

/** Contacts of a project by their public ids. */
export function findContacts(read: Tx, project_id: number, public_ids: readonly string[]): ContactRow[] {
  if (public_ids.length === 0) return [];
  return read
    .select()
    .from(contacts)
    .where(and(eq(contacts.project_id, project_id), inArray(contacts.public_id, [...public_ids])))
    .all();
}

/** Deletes one contact with its tags. */
export function deleteContact(tx: Tx, id: number): void {
  tx.delete(contacts).where(eq(contacts.id, id)).run();
}

/** The lowest numeric id above `after` of a list that has contacts, even where the list itself is gone. */
export function nextListWithContacts(read: Tx, after: number): number | null {
  const found = read
    .select({ list_id: contacts.list_id })
    .from(contacts)
    .where(gt(contacts.list_id, after))
    .orderBy(contacts.list_id)
    .limit(1)
    .get();
  return found?.list_id ?? null;
}

/** Deletes up to `limit` contacts of a list; returns whose they were. */
export function deleteContactsOfList(
  tx: Tx,
  list_id: number,
  limit: number,
): Pick<ContactRow, 'project_id' | 'email'>[] {
  const some = tx
    .select({ id: contacts.id })
    .from(contacts)
    .where(eq(contacts.list_id, list_id))
    .limit(limit);
  const { project_id, email } = contacts;
  return tx.delete(contacts).where(inArray(contacts.id, some)).returning({ project_id, email }).all();
}

/** Active contacts of a list that have at least one of these tags: a walk of each tag's own rows. */
export function countActiveWithAnyTag(read: Tx, list_id: number, tags: readonly string[]): number {
  const counted = read
    .select({ n: sql<number>`count(DISTINCT ${contactTags.contact_id})` })
    .from(contactTags)
    .where(
      and(
        eq(contactTags.list_id, list_id),
        inArray(contactTags.tag, [...tags]),
        eq(contactTags.status, 'active'),
      ),
    )
    .get();
  return counted?.n ?? 0;
}

/* --- Addresses that are being forgotten ---------------------------------------------------------------------------- */

interface AddressToForget {
  project_id: number;
  email: string;
}

export function insertAddressToForget(tx: Tx, address: AddressToForget): void {
  tx.insert(addressesToForget).values(address).onConflictDoNothing().run();
}

export function listAddressesToForget(read: Tx): AddressToForget[] {
  return read.select().from(addressesToForget).all();
}

export function deleteAddressToForget(tx: Tx, { project_id, email }: AddressToForget): void {
  tx.delete(addressesToForget)
    .where(and(eq(addressesToForget.project_id, project_id), eq(addressesToForget.email, email)))
    .run();
}
