/** What a receiver reports about a domain. */

const MAX_NAME_CHARS = 255;
/** More mails, or sessions, than one row tells of. */
export const MAX_COUNT = 1_000_000_000;

/** What one address sent in the name of a domain. */
export interface ReportedSource {
  header_from: string;
  /** Empty for those that are not told apart. */
  ip: string;
  count: number;
  dkim_aligned: number;
  spf_aligned: number;
  aligned: number;
  none: number;
  quarantine: number;
  reject: number;
  /** Signatures that passed, and on how many of its mails. */
  signers: { domain: string; selector: string; count: number }[];
  /** Another domain whose DKIM or SPF its mails passed: whose server it is. Empty without one. */
  sender: string;
}

export interface AggregateReport {
  kind: 'dmarc' | 'tls';
  organization: string;
  report_id: string;
  ends_at: number;
  sources: ReportedSource[];
  /** Of DMARC: what the domain asks for. */
  policy: { domain: string; p: string } | null;
  /** Of TLS: sessions by what became of them; `success`, or why they failed. */
  tls: { domain: string; reason: string; sessions: number }[];
}

export const NUMBERS = [
  'count',
  'dkim_aligned',
  'spf_aligned',
  'aligned',
  'none',
  'quarantine',
  'reject',
] as const;

/** One line, as long as a name may be. */
export function nameOf(value: unknown): string {
  return typeof value === 'string'
    ? value
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, MAX_NAME_CHARS)
    : '';
}
