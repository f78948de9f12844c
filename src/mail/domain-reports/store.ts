/** SQL of what receivers reported of domains. */
import { and, count, desc, eq, gte, lt, max } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { type DomainReportRow, domainReports, domainSources, domainTls } from './tables.ts';

/** Notes a report; false where it came before. */
export function insertReport(tx: Tx, report: DomainReportRow): boolean {
  const inserted = tx.insert(domainReports).values(report).onConflictDoNothing();
  return inserted.returning({ id: domainReports.domain_id }).get() !== undefined;
}

export function countArrived(read: Tx, domain_id: number, arrived_day: number): number {
  const of_day = and(eq(domainReports.domain_id, domain_id), eq(domainReports.arrived_day, arrived_day));
  return read.select({ n: count() }).from(domainReports).where(of_day).get()?.n ?? 0;
}

export function countSources(read: Tx, domain_id: number, day: number): number {
  const of_day = and(eq(domainSources.domain_id, domain_id), eq(domainSources.day, day));
  return read.select({ n: count() }).from(domainSources).where(of_day).get()?.n ?? 0;
}

export function hasSource(read: Tx, of: { domain_id: number; day: number; ip: string }): boolean {
  const { domain_id, day, ip } = domainSources;
  const is_it = and(eq(domain_id, of.domain_id), eq(day, of.day), eq(ip, of.ip));
  return read.select({ ip }).from(domainSources).where(is_it).get() !== undefined;
}

export type SourceNumbers = Omit<typeof domainSources.$inferSelect, 'domain_id' | 'day' | 'ip'>;

const addRow = rawSql<never, (number | string)[]>(`
    INSERT INTO domain_sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count,
      dkim_aligned = dkim_aligned + excluded.dkim_aligned, spf_aligned = spf_aligned + excluded.spf_aligned,
      aligned = aligned + excluded.aligned, none = none + excluded.none, quarantine = quarantine + excluded.quarantine,
      reject = reject + excluded.reject, ours = ours + excluded.ours, sender = iif(sender = '', excluded.sender, sender)`);

export function addSource(
  tx: Tx,
  { domain_id, day, ip }: { domain_id: number; day: number; ip: string },
  n: SourceNumbers,
): void {
  const numbers = [n.count, n.dkim_aligned, n.spf_aligned, n.aligned, n.none, n.quarantine, n.reject, n.ours];
  addRow.run(tx, domain_id, day, ip, ...numbers, n.sender);
}

const addTlsRow = rawSql<never, (number | string)[]>(
  'INSERT INTO domain_tls VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions',
);

export function addTls(tx: Tx, of: typeof domainTls.$inferSelect): void {
  addTlsRow.run(tx, of.domain_id, of.day, of.reason, of.sessions);
}

/* --- Reading -------------------------------------------------------------------------------------------------------- */

interface Since {
  domain_id: number;
  /** The first day. */
  day: number;
}

const SUMS = `ip, sum(count) AS count, sum(dkim_aligned) AS dkim_aligned, sum(spf_aligned) AS spf_aligned, sum(aligned) AS aligned,
  sum(none) AS none, sum(quarantine) AS quarantine, sum(reject) AS reject, sum(ours) AS ours, max(sender) AS sender`;
const sourcesSince = rawSql<SourceNumbers & { ip: string }, [number, number]>(
  `SELECT ${SUMS} FROM domain_sources WHERE domain_id = ? AND day >= ? GROUP BY ip ORDER BY sum(count) DESC, ip`,
);

/** All sources, and '' for those that are not told apart; most mails first. */
export function listSources(read: Tx, { domain_id, day }: Since): (SourceNumbers & { ip: string })[] {
  return sourcesSince.all(read, domain_id, day);
}

const tlsSince = rawSql<{ reason: string; sessions: number }, [number, number]>(
  'SELECT reason, sum(sessions) AS sessions FROM domain_tls WHERE domain_id = ? AND day >= ? GROUP BY reason ORDER BY reason',
);

export function listTls(read: Tx, { domain_id, day }: Since): { reason: string; sessions: number }[] {
  return tlsSince.all(read, domain_id, day);
}

export function listOrganizations(read: Tx, { domain_id, day }: Since): string[] {
  const { organization } = domainReports;
  return read
    .select({ organization, last_at: max(domainReports.ends_at) })
    .from(domainReports)
    .where(and(eq(domainReports.domain_id, domain_id), gte(domainReports.ends_day, day)))
    .groupBy(organization)
    .orderBy(organization)
    .limit(100)
    .all()
    .map((row) => row.organization);
}

/** The policy of the report that ends last. */
export function findPolicy(read: Tx, { domain_id, day }: Since): DomainReportRow['policy'] {
  const rows = read
    .select({ policy: domainReports.policy })
    .from(domainReports)
    .where(and(eq(domainReports.domain_id, domain_id), gte(domainReports.ends_day, day)))
    .orderBy(desc(domainReports.ends_at))
    .all();
  return rows.find(({ policy }) => policy !== null)?.policy ?? null;
}

/** Forgets what ended before a day. */
export function deleteBefore(tx: Tx, domain_id: number, day: number): void {
  tx.delete(domainReports)
    .where(and(eq(domainReports.domain_id, domain_id), lt(domainReports.ends_day, day)))
    .run();
  tx.delete(domainSources)
    .where(and(eq(domainSources.domain_id, domain_id), lt(domainSources.day, day)))
    .run();
  tx.delete(domainTls)
    .where(and(eq(domainTls.domain_id, domain_id), lt(domainTls.day, day)))
    .run();
}
