/**
 * The statements that every single email passes through, as raw SQL: building and mapping them would cost more than
 * running them. What is asked now and then stands in `store.ts`.
 */
import { statement, type Tx } from '../platform/database/database.ts';
import type { AttachmentRecord, AttemptOutcome, EmailSource, EmailStatus, RefusedRecord } from './tables.ts';

export interface EmailInsert {
  id: string;
  project_id: number;
  job_id: string;
  api_key_id: number | null;
  source: EmailSource;
  is_test: boolean;
  status: 'queued' | 'scheduled';
  requested_domain: string | null;
  mailbox_id: number;
  quota_day: string;
  from_email: string;
  from_name: string | null;
  domain: string;
  to_email: string;
  to_name: string | null;
  cc: readonly string[];
  bcc: readonly string[];
  reply_to: string | null;
  subject: string;
  template: string | null;
  attachments: readonly AttachmentRecord[];
  headers: Readonly<Record<string, string>>;
  message_id: string;
  app_id: string | null;
  ip: string | null;
  user_agent: string | null;
  created_at: number;
  scheduled_at: number | null;
  queued_at: number | null;
  body_html: string | null;
  body_text: string | null;
}

type Value = string | number | null;

const insertRow = statement((tx) =>
  tx.$client.query<unknown, Value[]>(`
    INSERT INTO emails (id, project_id, job_id, api_key_id, source, is_test, status, requested_domain, mailbox_id,
      quota_day, from_email, from_name, domain, to_email, to_name, cc, bcc, reply_to, subject, template, attachments,
      headers, message_id, app_id, ip, user_agent, created_at, scheduled_at, queued_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
);
const insertBody = statement((tx) =>
  tx.$client.query<unknown, Value[]>(
    'INSERT INTO email_bodies (email_id, body_html, body_text) VALUES (?, ?, ?)',
  ),
);
const insertPin = statement((tx) =>
  tx.$client.query<unknown, Value[]>(
    'INSERT INTO attachment_pins (email_id, object_public_id) VALUES (?, ?)',
  ),
);

function json(list: readonly unknown[]): string {
  return list.length === 0 ? '[]' : JSON.stringify(list);
}

/** Writes an accepted email: its row, its body and the pins on its attachments. */
export function insertEmail(tx: Tx, email: EmailInsert): void {
  insertRow(tx).run(
    email.id,
    email.project_id,
    email.job_id,
    email.api_key_id,
    email.source,
    email.is_test ? 1 : 0,
    email.status,
    email.requested_domain,
    email.mailbox_id,
    email.quota_day,
    email.from_email,
    email.from_name,
    email.domain,
    email.to_email,
    email.to_name,
    json(email.cc),
    json(email.bcc),
    email.reply_to,
    email.subject,
    email.template,
    json(email.attachments),
    JSON.stringify(email.headers),
    email.message_id,
    email.app_id,
    email.ip,
    email.user_agent,
    email.created_at,
    email.scheduled_at,
    email.queued_at,
  );
  insertBody(tx).run(email.id, email.body_html, email.body_text);
  for (const attachment of email.attachments) insertPin(tx).run(email.id, attachment.public_id);
}

/** A key's count of a day and the limit it must not pass. */
interface KeyCount {
  n: number;
  email_daily_limit: number | null;
}

const countForKey = statement((tx) =>
  tx.$client.query<KeyCount, [string, number]>(`
    INSERT INTO key_usage (api_key_id, day, n) SELECT id, ?, 1 FROM api_keys WHERE id = ?
    ON CONFLICT DO UPDATE SET n = n + 1
    RETURNING n, (SELECT email_daily_limit FROM api_keys WHERE id = api_key_id) AS email_daily_limit`),
);

/** Counts one more message of a key on a day; null for a key that is gone, such as that of an old schedule. */
export function takeKeyUsage(tx: Tx, api_key_id: number, day: string): KeyCount | null {
  return countForKey(tx).get(day, api_key_id);
}

/** What an attempt needs to know of an email. */
export interface DueEmail {
  id: string;
  project_id: number;
  source: EmailSource;
  is_test: boolean;
  status: EmailStatus;
  requested_domain: string | null;
  mailbox_id: number | null;
  quota_day: string | null;
  from_name: string | null;
  to_email: string;
  to_name: string | null;
  cc: string[];
  bcc: string[];
  reply_to: string | null;
  subject: string;
  attachments: AttachmentRecord[];
  headers: Record<string, string>;
  message_id: string;
  taken: string[];
  refused: RefusedRecord[];
  attempts: number;
  created_at: number;
  scheduled_at: number | null;
  body_html: string | null;
  body_text: string | null;
}

type JsonColumn = 'cc' | 'bcc' | 'attachments' | 'headers' | 'taken' | 'refused';
type RawDueEmail = Omit<DueEmail, JsonColumn | 'is_test'> & Record<JsonColumn, string> & { is_test: number };

const due = statement((tx) =>
  tx.$client.query<RawDueEmail, [string]>(`
    SELECT e.id, e.project_id, e.source, e.is_test, e.status, e.requested_domain, e.mailbox_id, e.quota_day,
      e.from_name, e.to_email, e.to_name, e.cc, e.bcc, e.reply_to, e.subject, e.attachments, e.headers, e.message_id,
      e.taken, e.refused, e.attempts, e.created_at, e.scheduled_at, b.body_html, b.body_text
    FROM emails e LEFT JOIN email_bodies b ON b.email_id = e.id WHERE e.id = +?`),
);

/** What this module's own statements have written as JSON. */
function parsed<T>(text: string): T {
  return JSON.parse(text);
}

export function findDueEmail(tx: Tx, id: string): DueEmail | null {
  const row = due(tx).get(id);
  if (!row) return null;
  return {
    ...row,
    is_test: row.is_test === 1,
    cc: row.cc === '[]' ? [] : parsed(row.cc),
    bcc: row.bcc === '[]' ? [] : parsed(row.bcc),
    attachments: row.attachments === '[]' ? [] : parsed(row.attachments),
    headers: row.headers === '{}' ? {} : parsed(row.headers),
    taken: row.taken === '[]' ? [] : parsed(row.taken),
    refused: row.refused === '[]' ? [] : parsed(row.refused),
  };
}

const beginRow = statement((tx) =>
  tx.$client.query<unknown, Value[]>(`
    UPDATE emails SET attempts = attempts + ?, mailbox_id = ?, quota_day = ?, from_email = ?, domain = ?,
      status = CASE WHEN status IN ('scheduled', 'queued', 'sending') THEN 'sending' ELSE status END,
      queued_at = coalesce(queued_at, ?)
    WHERE id = ?`),
);
const insertAttempt = statement((tx) =>
  tx.$client.query<unknown, Value[]>(
    'INSERT INTO email_attempts (email_id, attempt, mailbox, choice, started_at) VALUES (?, ?, ?, ?, ?)',
  ),
);

export interface AttemptStart {
  email_id: string;
  /** 1 for a new attempt, 0 where the attempt under way goes on with another mailbox. */
  counts: 0 | 1;
  attempt: number;
  mailbox_id: number | null;
  quota_day: string | null;
  from_email: string;
  domain: string;
  choice: string;
  now_ms: number;
}

/** Puts an attempt on record before any SMTP and returns the id of its row. */
export function startAttempt(tx: Tx, start: AttemptStart): number {
  beginRow(tx).run(
    start.counts,
    start.mailbox_id,
    start.quota_day,
    start.from_email,
    start.domain,
    start.now_ms,
    start.email_id,
  );
  return recordAttempt(tx, { ...start, mailbox: start.from_email });
}

/** The row of an attempt by itself. */
export function recordAttempt(
  tx: Tx,
  attempt: { email_id: string; attempt: number; mailbox: string; choice: string; now_ms: number },
): number {
  const { email_id, mailbox, choice, now_ms } = attempt;
  return Number(insertAttempt(tx).run(email_id, attempt.attempt, mailbox, choice, now_ms).lastInsertRowid);
}

const endRow = statement((tx) =>
  tx.$client.query<unknown, Value[]>(
    'UPDATE email_attempts SET finished_at = ?, outcome = ?, smtp_code = ?, smtp_response = ? WHERE id = ?',
  ),
);

export interface AttemptEnd {
  outcome: AttemptOutcome;
  smtp_code: number | null;
  response: string;
}

export function endAttempt(tx: Tx, attempt_id: number, end: AttemptEnd, now_ms: number): void {
  endRow(tx).run(now_ms, end.outcome, end.smtp_code, end.response, attempt_id);
}

const recordRow = statement((tx) =>
  tx.$client.query<unknown, Value[]>(`
    UPDATE emails SET
      status = CASE WHEN ?2 = 'sent' AND status IN ('delivered', 'complained') THEN status ELSE ?2 END,
      smtp_code = ?3, smtp_response = ?4, bounce_type = ?5, error = ?6, taken = ?7, refused = ?8,
      sent_at = coalesce(sent_at, ?9), bounced_at = ?10, complained_at = coalesce(complained_at, ?11), failed_at = ?12
    WHERE id = ?1`),
);

export interface EmailState {
  status: EmailStatus;
  smtp_code: number | null;
  smtp_response: string | null;
  bounce_type: 'permanent' | 'transient' | null;
  error: string | null;
  taken: readonly string[];
  refused: readonly RefusedRecord[];
  sent_at: number | null;
  bounced_at: number | null;
  complained_at: number | null;
  failed_at: number | null;
}

/** Records how an email stands after an attempt. */
export function recordState(tx: Tx, id: string, state: EmailState): void {
  recordRow(tx).run(
    id,
    state.status,
    state.smtp_code,
    state.smtp_response,
    state.bounce_type,
    state.error,
    json(state.taken),
    json(state.refused),
    state.sent_at,
    state.bounced_at,
    state.complained_at,
    state.failed_at,
  );
}
