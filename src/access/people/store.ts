/** The SQL of people and of their one-time links. What they sign in with is in session-store.ts. */
import { count, desc, eq, isNull, lte } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { type LinkRow, type PersonRow, people, personLinks } from './tables.ts';

export function findPerson(read: Tx, id: number): PersonRow | null {
  return read.select().from(people).where(eq(people.id, id)).get() ?? null;
}

/** By address, whatever its case; the column's collation sees to that. */
export function findPersonByEmail(read: Tx, email: string): PersonRow | null {
  return read.select().from(people).where(eq(people.email, email)).get() ?? null;
}

/** People, newest first; all of them for a limit of -1. */
export function listPeople(read: Tx, page: { limit: number; offset: number }): PersonRow[] {
  return read.select().from(people).orderBy(desc(people.id)).limit(page.limit).offset(page.offset).all();
}

export function countPeople(read: Tx): number {
  return read.select({ n: count() }).from(people).get()?.n ?? 0;
}

export type NewPerson = typeof people.$inferInsert;

export function insertPerson(tx: Tx, person: NewPerson): PersonRow {
  return tx.insert(people).values(person).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updatePerson(tx: Tx, id: number, changes: Partial<NewPerson>): PersonRow | null {
  return tx.update(people).set(changes).where(eq(people.id, id)).returning().get() ?? null;
}

/** Deletes a person and, by foreign keys, all that lets them in. */
export function deletePerson(tx: Tx, id: number): void {
  tx.delete(people).where(eq(people.id, id)).run();
}

/** Stores a link in place of the person's others; null is the first person. */
export function replaceLink(tx: Tx, link: LinkRow): void {
  deleteLinksOf(tx, link.person_id);
  tx.insert(personLinks).values(link).run();
}

export function deleteLinksOf(tx: Tx, person_id: number | null): void {
  const { person_id: column } = personLinks;
  tx.delete(personLinks)
    .where(person_id === null ? isNull(column) : eq(column, person_id))
    .run();
}

export function findLink(read: Tx, token_hash: string): LinkRow | null {
  return read.select().from(personLinks).where(eq(personLinks.token_hash, token_hash)).get() ?? null;
}

export function deleteExpiredLinks(tx: Tx, now_ms: number): void {
  tx.delete(personLinks).where(lte(personLinks.expires_at, now_ms)).run();
}
