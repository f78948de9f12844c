/** The SQL of people and of their one-time links. What they sign in with is in session-store.ts. */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawHas, rawRun } from '../../platform/database/raw-sql.ts';
import { type LinkRow, type PersonRow, people, personLinks } from './tables.ts';

export const findPerson = rawGet<PersonRow, [id: number]>('SELECT * FROM people WHERE id = ?', people);

/** By address, whatever its case; the column's collation sees to that. */
export const findPersonByEmail = rawGet<PersonRow, [email: string]>(
  'SELECT * FROM people WHERE email = ?',
  people,
);

/** Whose account at an issuer it is. */
export const findPersonBySubject = rawGet<PersonRow, [issuer: string, subject: string]>(
  'SELECT * FROM people WHERE sso_issuer = ? AND sso_subject = ?',
  people,
);

/** Whether somebody who may administer gets in by this issuer. */
export const hasAdministratorOf = rawHas<[issuer: string]>(
  'SELECT 1 FROM people WHERE sso_issuer = ? AND is_active AND can_administer',
);

/** People, newest first; all of them for a limit of -1. */
export const listPeople = rawAll<PersonRow, [page: { limit: number; offset: number }]>(
  'SELECT * FROM people ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
  people,
);

export const countPeople = rawCount('SELECT count(*) FROM people');

/** Of the newest person that there ever was, be they there or not; null before the first. */
export const findLastPersonId = rawGet<{ seq: number }>(
  "SELECT seq FROM sqlite_sequence WHERE name = 'people'",
);

export type NewPerson = typeof people.$inferInsert;

export function insertPerson(tx: Tx, person: NewPerson): PersonRow {
  return tx.insert(people).values(person).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updatePerson(tx: Tx, id: number, changes: Partial<NewPerson>): PersonRow | null {
  return tx.update(people).set(changes).where(eq(people.id, id)).returning().get() ?? null;
}

/** Deletes a person and, by foreign keys, all that lets them in. */
export const deletePerson = rawRun<[id: number]>('DELETE FROM people WHERE id = ?');

/** Stores a link in place of the person's others; null is the first person. */
export function replaceLink(tx: Tx, link: LinkRow): void {
  deleteLinksOf(tx, link.person_id);
  tx.insert(personLinks).values(link).run();
}

export const deleteLinksOf = rawRun<[person_id: number | null]>(
  'DELETE FROM person_links WHERE person_id IS ?',
);

export const findLink = rawGet<LinkRow, [token_hash: string]>(
  'SELECT * FROM person_links WHERE token_hash = ?',
);

export const deleteExpiredLinks = rawRun<[now_ms: number]>('DELETE FROM person_links WHERE expires_at <= ?');
