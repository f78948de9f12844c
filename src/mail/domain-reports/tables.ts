/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const domainReports = sqliteTable('domain_reports', {
  domain_id: integer().notNull(),
  organization: text().notNull(),
  report_id: text().notNull(),
  ends_day: integer().notNull(),
  arrived_day: integer().notNull(),
  policy: text().$type<'none' | 'quarantine' | 'reject'>(),
  ends_at: integer().notNull(),
});
export type DomainReportRow = typeof domainReports.$inferSelect;

export const domainSources = sqliteTable('domain_sources', {
  domain_id: integer().notNull(),
  day: integer().notNull(),
  ip: text().notNull(),
  count: integer().notNull(),
  dkim_aligned: integer().notNull(),
  spf_aligned: integer().notNull(),
  aligned: integer().notNull(),
  none: integer().notNull(),
  quarantine: integer().notNull(),
  reject: integer().notNull(),
  ours: integer().notNull(),
  sender: text().notNull(),
});

export const domainTls = sqliteTable('domain_tls', {
  domain_id: integer().notNull(),
  day: integer().notNull(),
  reason: text().notNull(),
  sessions: integer().notNull(),
});
