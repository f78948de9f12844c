/** SQL of sending domains. */
import { asc, desc, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawValues } from '../../platform/database/raw-sql.ts';
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

/** What the choice of a mailbox must know of a domain. */
export interface DomainStanding {
  domain_id: number;
  domain: string;
  is_default: number;
  is_active: number;
  is_verified: number;
}

/** Asked for with every email and every attempt. */
export const listStandings = rawAll<DomainStanding>(`
    SELECT id AS domain_id, name AS domain, is_default, is_active, is_trusted OR verified_at IS NOT NULL AS is_verified
    FROM sending_domains`);

const unknown = rawValues<string, [string]>(
  'SELECT DISTINCT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM sending_domains)',
);

/** Those of these names that no domain has. */
export function listUnknown(tx: Tx, names: readonly string[]): string[] {
  return unknown(tx, JSON.stringify(names));
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
