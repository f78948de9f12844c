/** SQL of what receivers reported of domains. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawHas, rawRun, rawValue, rawValues } from '../../platform/database/raw-sql.ts';
import type { DomainReportRow, domainSources, domainTls } from './tables.ts';

/** Notes a report; 0 where it came before. */
export const insertReport = rawRun<[DomainReportRow]>(
  `INSERT INTO domain_reports (domain_id, organization, report_id, ends_day, arrived_day, policy, ends_at)
   VALUES (:domain_id, :organization, :report_id, :ends_day, :arrived_day, :policy, :ends_at)
   ON CONFLICT DO NOTHING`,
);

export const countArrived = rawCount<[domain_id: number, arrived_day: number]>(
  'SELECT count(*) FROM domain_reports WHERE domain_id = ? AND arrived_day = ?',
);

export const countSources = rawCount<[domain_id: number, day: number]>(
  'SELECT count(*) FROM domain_sources WHERE domain_id = ? AND day = ?',
);

export const hasSource = rawHas<[{ domain_id: number; day: number; ip: string }]>(
  'SELECT 1 FROM domain_sources WHERE domain_id = :domain_id AND day = :day AND ip = :ip',
);

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

export const listOrganizations = rawValues<string, [Since]>(
  `SELECT DISTINCT organization FROM domain_reports WHERE domain_id = +:domain_id AND ends_day >= +:day
   ORDER BY organization LIMIT 100`,
);

/** The policy of the report that ends last. */
export const findPolicy = rawValue<NonNullable<DomainReportRow['policy']>, [Since]>(
  `SELECT policy FROM domain_reports WHERE domain_id = +:domain_id AND ends_day >= +:day AND policy IS NOT NULL
   ORDER BY ends_at DESC LIMIT 1`,
);

const FORGETTING = [
  rawRun<[Since]>('DELETE FROM domain_reports WHERE domain_id = :domain_id AND ends_day < :day'),
  rawRun<[Since]>('DELETE FROM domain_sources WHERE domain_id = :domain_id AND day < :day'),
  rawRun<[Since]>('DELETE FROM domain_tls WHERE domain_id = :domain_id AND day < :day'),
];

/** Forgets what ended before a day. */
export function deleteBefore(tx: Tx, domain_id: number, day: number): void {
  for (const forget of FORGETTING) forget(tx, { domain_id, day });
}
