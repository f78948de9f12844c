/** SQL of what receivers reported of domains. */
import { and, count, desc, eq, gte, lt, max } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawRun } from '../../platform/database/raw-sql.ts';
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

type SourceRow = typeof domainSources.$inferSelect;
export type SourceNumbers = Omit<SourceRow, 'domain_id' | 'day' | 'ip'>;

export const addSource = rawRun<[SourceRow]>(`
    INSERT INTO domain_sources (domain_id, day, ip, count, dkim_aligned, spf_aligned, aligned, none, quarantine, reject, ours, sender)
    VALUES (:domain_id, :day, :ip, :count, :dkim_aligned, :spf_aligned, :aligned, :none, :quarantine, :reject, :ours, :sender)
    ON CONFLICT DO UPDATE SET count = count + excluded.count,
      dkim_aligned = dkim_aligned + excluded.dkim_aligned, spf_aligned = spf_aligned + excluded.spf_aligned,
      aligned = aligned + excluded.aligned, none = none + excluded.none, quarantine = quarantine + excluded.quarantine,
      reject = reject + excluded.reject, ours = ours + excluded.ours, sender = iif(sender = '', excluded.sender, sender)`);

export const addTls = rawRun<[typeof domainTls.$inferSelect]>(
  `INSERT INTO domain_tls (domain_id, day, reason, sessions) VALUES (:domain_id, :day, :reason, :sessions)
   ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions`,
);

/* --- Reading -------------------------------------------------------------------------------------------------------- */

type Since = {
  domain_id: number;
  /** The first day. */
  day: number;
};

const SUMS = `ip, sum(count) AS count, sum(dkim_aligned) AS dkim_aligned, sum(spf_aligned) AS spf_aligned, sum(aligned) AS aligned,
  sum(none) AS none, sum(quarantine) AS quarantine, sum(reject) AS reject, sum(ours) AS ours, max(sender) AS sender`;
/** All sources, and '' for those that are not told apart; most mails first. */
export const listSources = rawAll<SourceNumbers & { ip: string }, [Since]>(
  `SELECT ${SUMS} FROM domain_sources WHERE domain_id = :domain_id AND day >= :day GROUP BY ip ORDER BY sum(count) DESC, ip`,
);

export const listTls = rawAll<{ reason: string; sessions: number }, [Since]>(
  `SELECT reason, sum(sessions) AS sessions FROM domain_tls WHERE domain_id = :domain_id AND day >= :day
   GROUP BY reason ORDER BY reason`,
);

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
