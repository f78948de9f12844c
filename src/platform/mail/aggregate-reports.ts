/**
 * Reads receivers' reports of a domain's mail out of a message: DMARC (RFC 7489) as XML, TLS (RFC 8460) as JSON, however they are packed.
 * For a thread of its own (report-reader.ts): strangers write them, and choose what they cost.
 */
import type { Attachment, Email } from 'postal-mime';
import { MAX_REPORT_DEPTH, MAX_REPORT_HEADER_BYTES } from '../../limits.ts';
import { oneLine } from './address.ts';
import { readDmarc } from './dmarc-report.ts';
import type { AggregateReport } from './domain-report.ts';
import { fieldOf } from './mail-replies.ts';
import { hasTooManyParts, headerSectionOf } from './raw-report.ts';
import {
  decode,
  eachFile,
  Refused,
  ReportBudget,
  UNREAD_REASONS,
  type UnreadReason,
} from './report-files.ts';
import { readTls } from './tls-report.ts';

export type { AggregateReport, ReportedSource } from './domain-report.ts';
export { UNREAD_REASONS, type UnreadReason } from './report-files.ts';

/** Contract: of a message that is looked into. */
export const MAX_AGGREGATE_MESSAGE_BYTES = 1024 * 1024;
/** So much is asked for, to see that a message is longer. */
export const AGGREGATE_FETCH_BYTES = MAX_AGGREGATE_MESSAGE_BYTES + 1;
/** Contract. */
const MAX_SUBJECT_CHARS = 200;
/** Encoded, and with what a list or a filter puts before. */
const MAX_SUBJECT_LOOKED_AT = 1_000;
const MAX_NAMES_LOOKED_AT = 1_000;
/** A report within a message within a message. */
const MAX_NESTED_MESSAGES = 3;

/** What a message reports; where it is such a report and nothing could be read, why. */
export interface AggregateReading {
  reports: AggregateReport[];
  unread: { subject: string; reason: UnreadReason } | null;
}

const TYPES =
  /^content-?type[ \t]*:[ \t]*(?:\r?\n[ \t]+)?(?:application\/(?:x-)?(?:zip|gzip|zip-compressed|gzip-compressed|xml|json|octet-stream|tlsrpt\+(?:json|gzip))|text\/xml|message\/rfc822|message\/global)\b/im;
const NAME = /\.(?:xml|json|gz|gzip|zip)$/i;
/** RFC 7489 7.2.1.1 and RFC 8460 5.1: who reports, on which domain, from when to when. */
const NAME_OF_REPORT = /^[^!\s]+![^!\s]+!\d+!\d+(?:![^!\s]+)?\.(?:xml|json|xml\.gz|json\.gz|gz|zip)$/i;
/** As both say, with whatever a list or a filter puts before; not what somebody answers or passes on. */
const SUBJECT_OF_REPORT =
  /^(?!.*\b(?:re|fwd?|aw|wg|tr|rv)\s*:.*report)(?=.*\breport[ -]?domain\s*:).*\b(?:submitter|report-id)\s*:/i;

/**
 * Whether a message may be a report: by its fields, by `parts`, a text in which its parts' own stand, and by its size. What is longer than
 * is read is none, unless it says that it is.
 */
export function mayBeAggregate(head: string, parts: string, size: number): boolean {
  const names = namesIn(parts);
  if (isNamedReport(head, names)) return true;
  if (size > AGGREGATE_FETCH_BYTES) return false;
  return (
    TYPES.test(parts) ||
    /report-type="?tlsrpt/i.test(parts) ||
    names.some((name) => NAME.test(name)) ||
    /report[ -]?(?:domain|id)\b|\bdmarc\b|\btls-?rpt\b/i.test(subjectOf(head))
  );
}

/** Whether a message says that it is a report, as the RFCs have it. */
function isNamedReport(head: string, names: readonly string[]): boolean {
  return (
    /^tls-report-domain[ \t]*:/im.test(head) ||
    SUBJECT_OF_REPORT.test(subjectOf(head)) ||
    names.some((name) => NAME_OF_REPORT.test(name))
  );
}

/** Names of files that a text's lines tell of. */
function namesIn(parts: string): string[] {
  const names = parts.matchAll(/name\*?(?:\d\*?)?[ \t]*=[ \t]*"?([^"\r\n;]{1,300})/gi);
  return [...names.take(MAX_NAMES_LOOKED_AT)].map(([, name = '']) => name.trim());
}

/** With its encoded words (RFC 2047) in place; letters beyond ASCII are no matter here. */
function subjectOf(head: string): string {
  const subject = fieldOf(head, 'subject').slice(0, MAX_SUBJECT_LOOKED_AT);
  return subject.replace(/=\?[\w-]{1,40}\?([bq])\?([^?]*)\?=[ \t]*/gi, (_, how: string, text: string) =>
    how.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64').toString('latin1')
      : text
          .replaceAll('_', ' ')
          .replace(/=([0-9A-F]{2})/gi, (_hex, code: string) =>
            String.fromCharCode(Number.parseInt(code, 16)),
          ),
  );
}

/** A message as text, one character a byte: as much of it as is looked into. */
export function textOf(message: Uint8Array): string {
  return Buffer.from(message.subarray(0, AGGREGATE_FETCH_BYTES)).toString('latin1');
}

/** What a message reports. Past a bound nothing of it counts. */
export async function readAggregateReports(message: Uint8Array): Promise<AggregateReading> {
  const head = headerSectionOf(message);
  if (head === null) return { reports: [], unread: null };
  const found = new Found();
  let subject: string | null = null;
  try {
    if (message.length > MAX_AGGREGATE_MESSAGE_BYTES || hasTooManyParts(message))
      throw new Refused('too_large');
    const email = await parse(message);
    subject = email.subject ?? '';
    await found.lookInto(email, senderOf(email));
  } catch (error) {
    found.reports.length = 0;
    found.reasons.push(error instanceof Refused ? error.reason : 'broken');
  }
  const is_unread = found.reports.length === 0 && isNamedReport(head, namesIn(textOf(message)));
  subject ??= (await parse(Buffer.from(`${head}\r\n\r\n`, 'latin1')).catch(() => null))?.subject ?? '';
  const reason = UNREAD_REASONS.find((one) => found.reasons.includes(one)) ?? 'broken';
  return {
    reports: found.reports,
    unread: is_unread ? { subject: oneLine(subject).slice(0, MAX_SUBJECT_CHARS), reason } : null,
  };
}

async function parse(message: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import('postal-mime');
  return PostalMime.parse(message, {
    forceRfc822Attachments: true,
    maxHeadersSize: MAX_REPORT_HEADER_BYTES,
    maxNestingDepth: MAX_REPORT_DEPTH,
  });
}

/** What was found in a message and in those within it. */
class Found {
  readonly reports: AggregateReport[] = [];
  readonly reasons: UnreadReason[] = [];
  readonly #budget = new ReportBudget();

  /** Throws Refused past a bound. */
  async lookInto(email: Email, sender: string, depth = 0): Promise<void> {
    for (const text of [email.text, email.html])
      if (/^\s*(?:<\?xml|<(?:[\w-]+:)?feedback|\{)/.test(text ?? ''))
        this.#read(Buffer.from(text ?? ''), sender);
    for (const attachment of email.attachments) {
      const bytes = bytesOf(attachment);
      if (!/^message\/(?:rfc822|global)$/i.test(attachment.mimeType))
        eachFile(bytes, this.#budget, {
          file: (file) => this.#read(file, sender),
          refused: (reason) => this.reasons.push(reason),
        });
      else if (depth < MAX_NESTED_MESSAGES) {
        const within = await parse(bytes).catch(() => null);
        if (within) await this.lookInto(within, senderOf(within) || sender, depth + 1);
      }
    }
  }

  #read(file: Buffer, sender: string): void {
    const text = decode(file).trimStart();
    const on = { sender, budget: this.#budget };
    try {
      const report = text.startsWith('{')
        ? readTls(text, on)
        : text.startsWith('<')
          ? readDmarc(text, on)
          : null;
      if (report) this.reports.push(report);
    } catch (error) {
      if (!(error instanceof Refused) || error.reason === 'too_large') throw error;
      this.reasons.push(error.reason);
    }
  }
}

function bytesOf({ content }: Attachment): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}

const senderOf = ({ from }: Email): string => from?.address?.split('@').at(-1)?.toLowerCase() ?? '';
