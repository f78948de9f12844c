/** SQL of sending domains. */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun, rawValues } from '../../platform/database/raw-sql.ts';
import { type DomainRow, sendingDomains } from './tables.ts';

export function insertDomain(tx: Tx, domain: Omit<DomainRow, 'id'>): DomainRow {
  return tx.insert(sendingDomains).values(domain).returning().get();
}

export const findDomain = rawGet<DomainRow, [name: string]>(
  'SELECT * FROM sending_domains WHERE name = ?',
  sendingDomains,
);

export const findDomainById = rawGet<DomainRow, [id: number]>(
  'SELECT * FROM sending_domains WHERE id = ?',
  sendingDomains,
);

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
export const listDomains = rawAll<DomainRow>(
  'SELECT * FROM sending_domains ORDER BY is_default DESC, name',
  sendingDomains,
);

export function updateDomain(tx: Tx, id: number, changes: Partial<Omit<DomainRow, 'id'>>): void {
  tx.update(sendingDomains).set(changes).where(eq(sendingDomains.id, id)).run();
}

/** Makes one domain the default; whichever was it before is it no longer. */
export function setDefaultDomain(tx: Tx, id: number): void {
  tx.update(sendingDomains).set({ is_default: false }).where(eq(sendingDomains.is_default, true)).run();
  tx.update(sendingDomains).set({ is_default: true }).where(eq(sendingDomains.id, id)).run();
}

export const deleteDomain = rawRun<[id: number]>('DELETE FROM sending_domains WHERE id = ?');
