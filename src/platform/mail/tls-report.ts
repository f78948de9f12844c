/** Reads a receiver's report of TLS to a domain (RFC 8460, 4.4). */
import { isPlainObject } from '../http/schema.ts';
import { type AggregateReport, MAX_COUNT, nameOf } from './domain-report.ts';
import type { ReportBudget } from './report-files.ts';

/** RFC 8460 4.3; any other counts as `other`. */
const TLS_REASONS = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
];

/** The report in a text; null where it is none. Throws Refused past a bound. */
export function readTls(
  text: string,
  { sender, budget }: { sender: string; budget: ReportBudget },
): AggregateReport | null {
  const report = parseJson(text);
  const range = isPlainObject(report) ? report['date-range'] : null;
  if (!isPlainObject(report) || !isPlainObject(range) || !Array.isArray(report.policies)) return null;
  const organization = nameOf(report['organization-name']) || sender;
  const report_id = nameOf(report['report-id']);
  const ends_at = Date.parse(String(range['end-datetime']));
  if (organization === '' || report_id === '' || Number.isNaN(ends_at)) return null;
  const policies = report.policies.filter(isPlainObject);
  const tls = policies.flatMap(sessionsOf);
  budget.takeRows(tls.length);
  return { kind: 'tls', organization, report_id, ends_at, sources: [], policy: null, tls };
}

function sessionsOf(of: Record<string, unknown>): AggregateReport['tls'] {
  const { policy, summary } = of;
  const details = of['failure-details'];
  if (!isPlainObject(policy) || !isPlainObject(summary)) return [];
  const domain = nameOf(policy['policy-domain']).toLowerCase().replace(/\.$/, '');
  const failures = (Array.isArray(details) ? details : []).filter(isPlainObject).map((detail) => {
    const reason = String(detail['result-type']).toLowerCase();
    return {
      domain,
      reason: TLS_REASONS.includes(reason) ? reason : 'other',
      sessions: countOf(detail['failed-session-count']),
    };
  });
  // What the details leave out.
  const told = failures.reduce((sum, { sessions }) => sum + sessions, 0);
  const untold = Math.max(0, countOf(summary['total-failure-session-count']) - told);
  const all = [
    { domain, reason: 'success', sessions: countOf(summary['total-successful-session-count']) },
    ...failures,
    { domain, reason: 'other', sessions: untold },
  ];
  return all.filter(({ sessions }) => sessions > 0);
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= MAX_COUNT
    ? value
    : 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
