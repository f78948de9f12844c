/** SQL of sending domains. */
import { asc, desc, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { type DomainRow, sendingDomains } from './tables.ts';

export function insertDomain(tx: Tx, domain: Omit<DomainRow, 'id'>): DomainRow {
  return tx.insert(sendingDomains).values(domain).returning().get();
}

export function findDomain(tx: Tx, name: string): DomainRow | undefined {
  return tx.select().from(sendingDomains).where(eq(sendingDomains.name, name)).get();
}

export function findDomainById(tx: Tx, id: number): DomainRow | undefined {
  return tx.select().from(sendingDomains).where(eq(sendingDomains.id, id)).get();
}

/** The default first, then by name. */
export function listDomains(tx: Tx): DomainRow[] {
  return tx
    .select()
    .from(sendingDomains)
    .orderBy(desc(sendingDomains.is_default), asc(sendingDomains.name))
    .all();
}

export function updateDomain(tx: Tx, id: number, changes: Partial<Omit<DomainRow, 'id'>>): void {
  tx.update(sendingDomains).set(changes).where(eq(sendingDomains.id, id)).run();
}

/** Makes one domain the default; whichever was it before is it no longer. */
export function setDefaultDomain(tx: Tx, id: number): void {
  tx.update(sendingDomains).set({ is_default: false }).where(eq(sendingDomains.is_default, true)).run();
  tx.update(sendingDomains).set({ is_default: true }).where(eq(sendingDomains.id, id)).run();
}

export function deleteDomain(tx: Tx, id: number): void {
  tx.delete(sendingDomains).where(eq(sendingDomains.id, id)).run();
}
