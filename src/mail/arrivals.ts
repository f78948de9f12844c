/**
 * What arrives in inboxes, by what is done with it: reports about single mails and about domains, and
 * replies.
 */

import { MAX_REPORT_BYTES } from '../limits.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import {
  AGGREGATE_FETCH_BYTES,
  type AggregateReading,
  textOf as aggregateTextOf,
  mayBeAggregate,
} from '../platform/mail/aggregate-reports.ts';
import { answeredIds, type MailReply } from '../platform/mail/mail-replies.ts';
import type { MailReport } from '../platform/mail/mail-reports.ts';
import { HEADERS_OF_ADDRESSES, headerSectionOf } from '../platform/mail/raw-report.ts';
import type { ReportReader } from '../platform/mail/report-reader.ts';
import type { Deliveries } from './deliveries/service.ts';
import type { DomainReports } from './domain-reports/service.ts';
import type { Taken } from './inboxes/service.ts';
import type { Mailboxes } from './mailboxes/service.ts';
import type { Replies } from './replies/service.ts';

/** A message that was read. */
export type Arrival = { report: MailReport } | { aggregates: AggregateReading } | { reply: MailReply };

interface ArrivalsDeps {
  database: Database;
  report_reader: Pick<ReportReader, 'readReply' | 'readAggregates'>;
  mailboxes: Pick<Mailboxes, 'domainOf'>;
  deliveries: Pick<Deliveries, 'readReport' | 'takeReport' | 'cameToReturnPath'>;
  replies: Replies;
  domain_reports: DomainReports;
}

export class Arrivals {
  /** Fields by which `wanted` judges. */
  readonly fields = [
    'content-type',
    'content-disposition',
    'subject',
    'tls-report-domain',
    'in-reply-to',
    'references',
    ...HEADERS_OF_ADDRESSES,
  ];

  constructor(private readonly deps: ArrivalsDeps) {}

  /**
   * How many bytes of a message in a mailbox's inbox are to be read, by its fields, those of its parts, and its size; 0 where it is left
   * alone.
   */
  wanted(mailbox_id: number, fields: string, { parts, size }: { parts: string; size: number }): number {
    if (mayBeAggregate(fields, `${fields}\n${parts}`, size)) return AGGREGATE_FETCH_BYTES;
    // RFC 3462's multipart/report, and OpenSMTPD's multipart/mixed.
    if (/^content-type:\s*multipart\/(?:report|mixed)\b/im.test(fields)) return MAX_REPORT_BYTES;
    // qmail's is plain text.
    if (this.deps.deliveries.cameToReturnPath(fields)) return MAX_REPORT_BYTES;
    return this.#mayAnswer(mailbox_id, fields) ? MAX_REPORT_BYTES : 0;
  }

  #mayAnswer(mailbox_id: number, fields: string): boolean {
    const { database, mailboxes, replies } = this.deps;
    const domain = mailboxes.domainOf(database.read, mailbox_id);
    const ids = answeredIds(fields);
    return domain !== null && replies.findAnswered(database.read, ids, { domain, from: null }) !== null;
  }

  /**
   * What is in a message; null where there is nothing for us. Rejects where it can't be read, or not at
   * present.
   */
  async read(mailbox_id: number, message: Uint8Array): Promise<Arrival | null> {
    const { deliveries, report_reader } = this.deps;
    const report = await deliveries.readReport(message);
    if (report) return { report };
    const head = headerSectionOf(message);
    if (head !== null && mayBeAggregate(head, aggregateTextOf(message), message.length)) {
      const aggregates = await report_reader.readAggregates(message);
      if (aggregates.reports.length > 0 || aggregates.unread) return { aggregates };
    }
    if (head === null || !this.#mayAnswer(mailbox_id, head)) return null;
    const reply = await report_reader.readReply(message);
    return reply && { reply };
  }

  /**
   * Has it take effect, within its transaction. `told`: what it says of mails; `unread`: that it is a report, and why it could not be
   * read; null where it is not believed, or speaks of nothing of ours. `arrived_at` is when the server got it.
   */
  take(
    tx: Tx,
    arrival: Arrival,
    { mailbox_id, arrived_at }: { mailbox_id: number; arrived_at: number | null },
  ): Taken | null {
    const { deliveries, mailboxes, replies, domain_reports } = this.deps;
    if ('aggregates' in arrival) {
      const { reports, unread } = arrival.aggregates;
      if (unread) return { unread };
      const told = reports.flatMap((report) => domain_reports.take(tx, report)?.told ?? []);
      return told.length > 0 ? { told } : null;
    }
    if ('report' in arrival) return deliveries.takeReport(tx, arrival.report);
    const domain = mailboxes.domainOf(tx, mailbox_id);
    const taken = domain === null ? null : replies.take(tx, arrival.reply, { domain, arrived_at });
    return taken && { told: [] };
  }
}
