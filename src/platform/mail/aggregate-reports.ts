/**
 * Reads receivers' reports of a domain's mail: DMARC (RFC 7489) as XML, TLS (RFC 8460) as JSON, each plain,
 * by gzip or in a zip of one file. For a thread of its own (report-reader.ts): strangers write them, and
 * choose what they cost.
 */
import { isIP } from 'node:net';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import type { Attachment } from 'postal-mime';
import { SaxesParser } from 'saxes';
import { MAX_REPORT_DEPTH, MAX_REPORT_HEADER_BYTES } from '../../limits.ts';
import { isPlainObject } from '../http/schema.ts';
import { fieldOf } from './mail-replies.ts';
import { hasTooManyParts, headerSectionOf } from './raw-report.ts';

/** Contract: of a message that holds one, packed, and of that, unpacked. */
export const MAX_AGGREGATE_MESSAGE_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 10 * 1024 * 1024;
/** Contract. */
const MAX_ROWS = 10_000;
/** Decision: sources that are told apart for a report and domain, by most mails; others count in its sums. */
export const MAX_SOURCES_PER_REPORT = 1_000;
/** RFC 7489's form is six deep; a name or an address is far shorter. */
const MAX_XML_DEPTH = 10;
const MAX_XML_TEXT_CHARS = 1_000;
/** More mails than one row tells of. */
const MAX_COUNT = 1_000_000_000;
const MAX_NAME_CHARS = 255;
/** Signatures that are looked at: of one row, and of one source. */
const MAX_SIGNERS = 20;

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

/** Whether a message's fields are nearly those of RFC 7489 7.2.1.1 and RFC 8460 5.3. */
export function mayBeAggregate(head: string): boolean {
  const type = fieldOf(head, 'content-type');
  return (
    /^tls-report-domain[ \t]*:/im.test(head) ||
    /^(?:application\/(?:x-)?(?:zip|gzip|zip-compressed|gzip-compressed|tlsrpt\+(?:json|gzip))|text\/xml|application\/xml)\b|report-type="?tlsrpt/i.test(
      type,
    ) ||
    /report[ -]?(?:domain|id)\b|\bdmarc\b|\btls-?rpt\b/i.test(fieldOf(head, 'subject'))
  );
}

/** The report in a message; null where there is none, or one that is past a bound. */
export async function readAggregateReport(message: Uint8Array): Promise<AggregateReport | null> {
  const bytes = message.subarray(0, MAX_AGGREGATE_MESSAGE_BYTES);
  if (headerSectionOf(bytes) === null || hasTooManyParts(bytes)) return null;
  const { default: PostalMime } = await import('postal-mime');
  const email = await PostalMime.parse(bytes, {
    forceRfc822Attachments: true,
    maxHeadersSize: MAX_REPORT_HEADER_BYTES,
    maxNestingDepth: MAX_REPORT_DEPTH,
  }).catch(() => null);
  for (const attachment of email?.attachments ?? []) {
    const text = textIn(bytesOf(attachment));
    const report = text === null ? null : /^\s*\{/.test(text) ? readTls(text) : readDmarc(text);
    if (report) return report;
  }
  return null;
}

function bytesOf({ content }: Attachment): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}

/** The packed text; null where it is past a bound, no UTF-8, or a zip of several files. */
function textIn(bytes: Buffer): string | null {
  try {
    const plain = unpack(bytes);
    if (plain === null || plain.length > MAX_UNPACKED_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch {
    return null;
  }
}

function unpack(bytes: Buffer): Buffer | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  return bytes.toString('latin1', 0, 4) === 'PK\x03\x04' ? unzip(bytes) : bytes;
}

/** The only file of a zip (APPNOTE 4.3), by its directory: a file's own header may lack its length. */
function unzip(bytes: Buffer): Buffer | null {
  const end = bytes.lastIndexOf('PK\x05\x06', bytes.length, 'latin1');
  if (end === -1 || bytes.readUInt16LE(end + 10) !== 1) return null;
  const entry = bytes.readUInt32LE(end + 16);
  if (bytes.toString('latin1', entry, entry + 4) !== 'PK\x01\x02') return null;
  const is_encrypted = (bytes.readUInt16LE(entry + 8) & 1) === 1;
  const method = bytes.readUInt16LE(entry + 10);
  const packed_bytes = bytes.readUInt32LE(entry + 20);
  const file = bytes.readUInt32LE(entry + 42);
  if (is_encrypted || bytes.toString('latin1', file, file + 4) !== 'PK\x03\x04') return null;
  const start = file + 30 + bytes.readUInt16LE(file + 26) + bytes.readUInt16LE(file + 28);
  const packed = bytes.subarray(start, start + packed_bytes);
  if (packed.length !== packed_bytes) return null;
  if (method === 0) return packed;
  return method === 8 ? inflateRawSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }) : null;
}

/* --- DMARC ---------------------------------------------------------------------------------------------------------- */

class NoReport extends Error {}

interface Row {
  texts: Map<string, string>;
  signers: Map<string, string>[];
}

/** RFC 7489, appendix C. Null for XML that is not of this form, has a DOCTYPE, or more rows than MAX_ROWS. */
function readDmarc(text: string): AggregateReport | null {
  const [head, rows] = [new Map<string, string>(), new Sources()];
  try {
    parseFeedback(text, head, (row) => rows.add(row));
  } catch (error) {
    if (error instanceof NoReport) return null;
    throw error;
  }
  const organization = nameOf(head.get('report_metadata/org_name'));
  const report_id = nameOf(head.get('report_metadata/report_id'));
  const ends_at = Number(head.get('report_metadata/date_range/end')) * 1_000;
  if (organization === '' || report_id === '' || !Number.isSafeInteger(ends_at)) return null;
  const p = head.get('policy_published/p') ?? '';
  const is_policy = ['none', 'quarantine', 'reject'].includes(p);
  const policy = is_policy ? { domain: (head.get('policy_published/domain') ?? '').toLowerCase(), p } : null;
  return { kind: 'dmarc', organization, report_id, ends_at, sources: rows.mostFirst(), policy, tls: [] };
}

function parseFeedback(text: string, head: Map<string, string>, onRow: (row: Row) => void): void {
  const parser = new SaxesParser();
  const path: string[] = [];
  let [row, said, count]: [Row | null, string, number] = [null, '', 0];
  const refuse = (): never => {
    throw new NoReport();
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(encoding)) refuse();
  });
  parser.on('opentag', ({ name }) => {
    said = '';
    if (path.push(name) > MAX_XML_DEPTH || path[0] !== 'feedback') refuse();
    const at = path.slice(1).join('/');
    if (at === 'record') {
      count += 1;
      if (count > MAX_ROWS) refuse();
      row = { texts: new Map(), signers: [] };
    }
    if (at === 'record/auth_results/dkim' && row && row.signers.length < MAX_SIGNERS)
      row.signers.push(new Map());
  });
  const take = (more: string): void => {
    said += more;
    if (said.length > MAX_XML_TEXT_CHARS) refuse();
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', () => {
    const at = path.slice(1).join('/');
    const name = path.pop() ?? '';
    const value = said.trim();
    said = '';
    if (at === 'record' && row) onRow(row);
    if (at === 'record') row = null;
    const of_signer = at === `record/auth_results/dkim/${name}` ? row?.signers.at(-1) : undefined;
    const texts = of_signer ?? row?.texts ?? head;
    if (!texts.has(at) && value !== '') texts.set(of_signer ? name : at, value);
  });
  parser.write(text).close();
}

/** Rows, by whose name they were sent in and from where. */
class Sources {
  readonly #sources = new Map<string, ReportedSource>();

  add({ texts, signers }: Row): void {
    const at = (path: string): string => (texts.get(`record/${path}`) ?? '').toLowerCase();
    const [ip, header_from] = [at('row/source_ip'), at('identifiers/header_from').replace(/\.$/, '')];
    const count = Number(at('row/count'));
    if (
      isIP(ip) === 0 ||
      header_from === '' ||
      !Number.isSafeInteger(count) ||
      count < 1 ||
      count > MAX_COUNT
    )
      return;
    const key = `${header_from} ${ip}`;
    const source = this.#sources.get(key) ?? { ...NONE, header_from, ip, signers: [], sender: '' };
    this.#sources.set(key, source);
    const [dkim, spf] = ['dkim', 'spf'].map((how) => at(`row/policy_evaluated/${how}`) === 'pass');
    source.count += count;
    if (dkim) source.dkim_aligned += count;
    if (spf) source.spf_aligned += count;
    if (dkim || spf) source.aligned += count;
    const disposition = at('row/policy_evaluated/disposition');
    source[disposition === 'quarantine' || disposition === 'reject' ? disposition : 'none'] += count;
    const passed = signers.filter((signer) => signer.get('result')?.toLowerCase() === 'pass');
    const named = new Set(
      passed.map((of) => `${of.get('domain')?.toLowerCase() ?? ''} ${of.get('selector') ?? ''}`),
    );
    for (const name of named) addSigner(source, name, count);
    const spf_domain = at('auth_results/spf/result') === 'pass' ? at('auth_results/spf/domain') : '';
    source.sender ||= foreignOf([...passed.map((of) => of.get('domain') ?? ''), spf_domain], header_from);
  }

  /** Of each domain those with the most mails; the others as one. */
  mostFirst(): ReportedSource[] {
    const told = new Map<string, number>();
    const others = new Map<string, ReportedSource>();
    const kept = [...this.#sources.values()]
      .sort((a, b) => b.count - a.count)
      .filter((source) => {
        const n = (told.get(source.header_from) ?? 0) + 1;
        told.set(source.header_from, n);
        if (n <= MAX_SOURCES_PER_REPORT) return true;
        const { header_from } = source;
        const sum = others.get(header_from) ?? { ...NONE, header_from, ip: '', signers: [], sender: '' };
        for (const number of NUMBERS) sum[number] += source[number];
        others.set(header_from, sum);
        return false;
      });
    return [...kept, ...others.values()];
  }
}

/** The first domain that is neither `own`, nor within it, nor around it; empty without one. */
function foreignOf(domains: readonly string[], own: string): string {
  const isWithin = (inner: string, outer: string): boolean => `.${inner}`.endsWith(`.${outer}`);
  const names = domains.map((domain) => domain.toLowerCase().replace(/\.$/, ''));
  return names.find((name) => DOMAIN.test(name) && !isWithin(name, own) && !isWithin(own, name)) ?? '';
}
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}$/;

export const NUMBERS = [
  'count',
  'dkim_aligned',
  'spf_aligned',
  'aligned',
  'none',
  'quarantine',
  'reject',
] as const;
const NONE = { count: 0, dkim_aligned: 0, spf_aligned: 0, aligned: 0, none: 0, quarantine: 0, reject: 0 };

function addSigner({ signers }: ReportedSource, name: string, count: number): void {
  const [domain = '', selector = ''] = name.split(' ');
  const known = signers.find((of) => of.domain === domain && of.selector === selector);
  if (known) known.count += count;
  else if (signers.length < MAX_SIGNERS) signers.push({ domain, selector, count });
}

/** One line, as long as a name may be. */
function nameOf(value: unknown): string {
  return typeof value === 'string'
    ? value
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, MAX_NAME_CHARS)
    : '';
}

/* --- TLS ------------------------------------------------------------------------------------------------------------ */

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

/** RFC 8460 4.4. Null for JSON that is not of this form, or has more policies and failures than MAX_ROWS. */
function readTls(text: string): AggregateReport | null {
  const report = parseJson(text);
  const range = isPlainObject(report) ? report['date-range'] : null;
  if (!isPlainObject(report) || !isPlainObject(range) || !Array.isArray(report.policies)) return null;
  const organization = nameOf(report['organization-name']);
  const report_id = nameOf(report['report-id']);
  const ends_at = Date.parse(String(range['end-datetime']));
  if (organization === '' || report_id === '' || Number.isNaN(ends_at)) return null;
  const policies = report.policies.filter(isPlainObject);
  const tls = policies.flatMap(sessionsOf);
  if (tls.length > MAX_ROWS) return null;
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
