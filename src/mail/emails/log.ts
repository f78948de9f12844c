/** The email log as clients see it. */

import type { Tx } from '../../platform/database/database.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { toIso } from '../../platform/host/clock.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { type Page, paginate } from '../../platform/http/pagination.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import type { AttachmentRecord, EmailListQuery, EmailLogQuery, EmailRecord, RetryBody } from './schemas.ts';
import { countEmails, type EmailFilter, listEmails, listFailedIdsAfter, listThese } from './store.ts';
import type { EmailRow } from './tables.ts';

/** The delivery record of one email. */
export function presentEmail(row: EmailRow, project_public_id: string): EmailRecord {
  return {
    id: row.id,
    project_id: project_public_id,
    job_id: row.job_id,
    source: row.source === 'mailgun_bulk' ? 'mailgun' : row.source,
    status: row.status,
    from_email: row.from_email,
    from_name: row.from_name,
    domain: row.domain,
    to: row.to_email,
    to_name: row.to_name,
    cc: row.cc,
    bcc: row.bcc,
    reply_to: row.reply_to,
    subject: row.subject,
    template: row.template,
    attachments: shownAttachments(row),
    message_id: row.message_id,
    attempts: row.attempts,
    smtp_code: row.smtp_code,
    smtp_response: row.smtp_response,
    bounce_type: row.bounce_type,
    refused: row.refused,
    error: row.error,
    captured: row.is_captured,
    app_id: row.app_id,
    ip: row.ip,
    user_agent: row.user_agent,
    created_at: toIso(row.created_at),
    scheduled_at: toIso(row.scheduled_at),
    queued_at: toIso(row.queued_at),
    sent_at: toIso(row.sent_at),
    delivered_at: toIso(row.delivered_at),
    opened_at: toIso(row.opened_at),
    clicked_at: toIso(row.clicked_at),
    bounced_at: toIso(row.bounced_at),
    complained_at: toIso(row.complained_at),
    failed_at: toIso(row.failed_at),
    replied_at: toIso(row.replied_at),
  };
}

export function shownAttachments({ attachments }: Pick<EmailRow, 'attachments'>): AttachmentRecord[] {
  return attachments.map(({ is_utf8: _, ...shown }) => shown);
}

/** The mails of a project that a query asks for. */
export function filterOf(project_id: number, query: EmailLogQuery): EmailFilter {
  return {
    project_id,
    status: query.status,
    // A whole address is looked for as it is kept: its host in ASCII.
    to: query.to === undefined ? undefined : (parseAddress(query.to.trim())?.address ?? query.to.trim()),
    template: query.template,
    from_ms: query.date_from === undefined ? undefined : Date.parse(query.date_from),
    until_ms: query.date_to === undefined ? undefined : Date.parse(query.date_to),
  };
}

/** A page of a project's log, newest first. */
export function pageOfLog(
  read: Tx,
  project: { id: number; public_id: string },
  query: EmailListQuery,
): Page<EmailRecord> {
  const filter = filterOf(project.id, query);
  return paginate(query, {
    total: totalOf(read, filter),
    fetch: (limit, offset) => listEmails(read, filter, limit, offset),
  }).map((row) => presentEmail(row, project.public_id));
}

/** How many emails a filter fits: read from counters where it asks for a status alone, or for all. */
function totalOf(read: Tx, filter: EmailFilter): number {
  const { project_id, status, to, template, from_ms, until_ms } = filter;
  const is_counted = [to, template, from_ms, until_ms].every((value) => value === undefined);
  if (!is_counted) return countEmails(read, filter);
  return readRowCount(read, {
    list: 'emails',
    project_id,
    ...(status === undefined ? {} : { facet: status }),
  });
}

/**
 * Of the next `limit` failed mails of a project behind an id, oldest first, those that the log's filter fits,
 * and the last id that was looked at; null at the end.
 */
export function listFailedAfter(
  read: Tx,
  project_id: number,
  query: Omit<RetryBody, 'dry_run'>,
  { after, limit }: { after: string; limit: number },
): { rows: EmailRow[]; last: string | null } {
  const filter = filterOf(project_id, { ...query, status: 'failed' });
  const oldest = filter.from_ms === undefined ? '' : firstIdOf(filter.from_ms);
  const ids = listFailedIdsAfter(read, project_id, { after: after > oldest ? after : oldest, limit });
  const rows = listThese(read, filter, ids).reverse();
  return { rows, last: ids.length < limit ? null : (ids.at(-1) ?? null) };
}
