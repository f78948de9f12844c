/** SQL of calls to Mailgun's API: what their bulk mail is made of, and the events of their mails. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun, rawValue } from '../../platform/database/raw-sql.ts';
import { type BulkContentRow, bulkContents, type MailgunEventRow, mailgunEvents } from './tables.ts';

/* --- What bulk mail is made of ---------------------------------------------------------------------------------- */

const insertContentRow = rawRun<[string, number, string | null, string | null, number, string]>(
  'INSERT INTO bulk_contents (call_id, project_id, body_html, body_text, has_picture, attachments) VALUES (?, ?, ?, ?, ?, ?)',
);

export function insertContent(tx: Tx, row: BulkContentRow): void {
  const { call_id, project_id, body_html, body_text, has_picture, attachments } = row;
  insertContentRow(
    tx,
    call_id,
    project_id,
    body_html,
    body_text,
    Number(has_picture),
    JSON.stringify(attachments),
  );
}

export const findContent = rawGet<BulkContentRow, [call_id: string]>(
  'SELECT * FROM bulk_contents WHERE call_id = ?',
  bulkContents,
);

/** Calls whose content is kept, and which were made before an id. */
export const listOldContents = rawAll<Pick<BulkContentRow, 'call_id' | 'attachments'>, [before: string]>(
  'SELECT call_id, attachments FROM bulk_contents WHERE call_id < ?',
  bulkContents,
);

export const deleteContent = rawRun<[call_id: string]>('DELETE FROM bulk_contents WHERE call_id = ?');

/* --- Events ----------------------------------------------------------------------------------------------------- */

const lastAt = rawValue<number, [project_id: number, domain: string]>(
  'SELECT max(at) FROM mailgun_events WHERE project_id = ? AND domain = ?',
);

/** When the last event of a domain was written; 0 where there is none. */
export function findLastAt(read: Tx, project_id: number, domain: string): number {
  return lastAt(read, project_id, domain) ?? 0;
}

const insertRow = rawRun<(string | number | null)[]>(
  `INSERT INTO mailgun_events (project_id, domain, at, email_id, event, is_permanent, reason, code, words)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

export function insertEvent(tx: Tx, row: MailgunEventRow): void {
  const { project_id, domain, at, email_id, event, reason, code, words } = row;
  const is_permanent = row.is_permanent === null ? null : Number(row.is_permanent);
  insertRow(tx, project_id, domain, at, email_id, event, is_permanent, reason, code, words);
}

export const deleteEventsOf = rawRun<[email_id: string]>('DELETE FROM mailgun_events WHERE email_id = ?');

/** The events of a mail, as its recipient is shown them. */
export const listEventsOf = rawAll<Omit<MailgunEventRow, 'project_id'>, [email_id: string]>(
  'SELECT domain, at, email_id, event, is_permanent, reason, code, words FROM mailgun_events WHERE email_id = ? ORDER BY at',
  mailgunEvents,
);

/** The domain in whose path the call was that a mail came with; null for other mail. */
export const findDomain = rawValue<string, [email_id: string]>(
  'SELECT domain FROM mailgun_events WHERE email_id = ? LIMIT 1',
);

type Span = [project_id: number, domain: string, after: number, until: number, limit: number];
const listIn = (order: 'ASC' | 'DESC') =>
  rawAll<MailgunEventRow, Span>(
    `SELECT * FROM mailgun_events WHERE project_id = ? AND domain = ? AND at > ? AND at <= ?
     ORDER BY at ${order} LIMIT ?`,
    mailgunEvents,
  );
const ascending = listIn('ASC');
const descending = listIn('DESC');

/** Events of a domain that are later than one moment and no later than another, from the first or from the last on. */
export function listEvents(
  read: Tx,
  of: { project_id: number; domain: string; after: number; until: number; is_ascending: boolean },
  limit: number,
): MailgunEventRow[] {
  const list = of.is_ascending ? ascending : descending;
  return list(read, of.project_id, of.domain, of.after, of.until, limit);
}
