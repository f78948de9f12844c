/** SQL of the overview and a project's activity. Triggers keep its counters: the cost does not grow. */
import { MAX_PER_PAGE } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/store.ts';

/** `?1` is a JSON array of project ids, or null for all. Counters of no project have 0. */
const IN_SCOPE = '(?1 IS NULL AND project_id > 0 OR project_id IN (SELECT value FROM json_each(?1)))';

/** Counts the rows of the lists of projects by facet. */
export const readCounters = rawAll<{ list: string; facet: string; n: number }, [scope: string | null]>(
  `SELECT list, facet, sum(n) AS n FROM row_counts
   WHERE list IN ('api_keys', 'objects', 'object_bytes', 'emails', 'jobs', 'email_schedules', 'contact_lists', 'suppressions',
     'sequences') AND ${IN_SCOPE}
   GROUP BY list, facet`,
);

/** Of those who come in by single sign-on, whom nobody has given a project. */
export const countNewPeople = rawCount(
  `SELECT count(*) FROM people WHERE sso_subject IS NOT NULL AND is_active AND NOT all_projects
     AND NOT EXISTS (SELECT 1 FROM person_projects WHERE person_id = people.id)`,
);

const contacts = rawGet<{ n: number }, [scope: string | null]>(
  `SELECT coalesce(sum(n), 0) AS n FROM contact_lists JOIN contact_counts ON list_id = contact_lists.id AND tag = ''
   WHERE ${IN_SCOPE}`,
);

export function countContacts(read: Tx, scope: string | null): number {
  return contacts(read, scope)?.n ?? 0;
}

/** Every project there is, from the counters. */
export function countProjects(read: Tx): number {
  return readRowCount(read, { list: 'projects', project_id: 0 });
}

interface HourCounter {
  hour: number;
  what: 'sent' | 'bounced' | 'complained' | 'failed';
  n: number;
}

/** Counts by hour what became of mails. Hours are counted from 1970. */
export const readHours = rawAll<HourCounter, [scope: string | null, since_hour: number]>(
  `SELECT hour, what, sum(n) AS n FROM email_hours WHERE ${IN_SCOPE} AND hour >= +?2 AND what <> 'clicked' GROUP BY hour, what`,
);

interface MailDay {
  /** Counted from 1970, as everywhere here. */
  day: number;
  what: HourCounter['what'] | 'clicked';
  n: number;
}

const BY_DAY = 'SELECT hour / 24 AS day, what, sum(n) AS n FROM email_hours WHERE hour BETWEEN +? AND +?';
const days = rawAll<MailDay, [since_hour: number, last_hour: number]>(`${BY_DAY} GROUP BY 1, what`);
// By the primary key: what others mail costs nothing.
const daysOf = rawAll<MailDay, [since_hour: number, last_hour: number, scope: string]>(
  `${BY_DAY} AND project_id IN (SELECT value FROM json_each(?)) GROUP BY 1, what`,
);

/** The same by day, with clicks, of hours up to a last one. */
export function readDays(read: Tx, scope: string | null, since_hour: number, last_hour: number): MailDay[] {
  return scope === null ? days(read, since_hour, last_hour) : daysOf(read, since_hour, last_hour, scope);
}

/** Uploads by day: there are no more rows than those of a month. */
export const readUploads = rawAll<
  { day: number; uploads: number },
  [scope: string | null, since_day: number]
>(`SELECT day, sum(uploads) AS uploads FROM upload_days WHERE ${IN_SCOPE} AND day >= +?2 GROUP BY day`);

/** Counting of a project's waiting mails ends here, and so does the list of what waits. */
const TODO_COUNT_MAX = 1000;
export const TODO_MAX = 50;

/** How much waits for somebody in a project, by what it is. */
export interface WaitingCounts {
  failed_mail: number;
  unknown_mail: number;
  paused_sequence: number;
  paused_broadcast: number;
  failed_import: number;
  disabled_webhook: number;
  expiring_secret: number;
  captured_mail: number;
}

interface Waiting extends WaitingCounts {
  id: number;
  slug: string;
  status: string;
}

const mailsThat = (status: string): string =>
  `(SELECT count(*) FROM (SELECT 1 FROM emails INDEXED BY emails_failed_of_project
     WHERE project_id = projects.id AND status = '${status}' AND status IN ('failed', 'unknown') AND is_test = 0 AND failed_at >= +?2
     LIMIT ${TODO_COUNT_MAX}))`;
const pausedIn = (table: 'sequences' | 'broadcasts'): string =>
  `(SELECT count(*) FROM ${table} INDEXED BY ${table}_braked
     WHERE project_id = projects.id AND status = 'paused' AND pause_reason <> 'manual')`;
/** The projects in which anything waits, with how much: some seeks of an index each, whatever is stored. */
export const listWaiting = rawAll<
  Waiting,
  [
    scope: string | null,
    failed_since: number,
    import_since: string,
    captured_since: number,
    secrets_before: number | null,
    environments: string | null,
  ]
>(
  `SELECT * FROM (SELECT id, slug, status, ${mailsThat('failed')} AS failed_mail, ${mailsThat('unknown')} AS unknown_mail,
     ${pausedIn('sequences')} AS paused_sequence, ${pausedIn('broadcasts')} AS paused_broadcast,
     (SELECT count(*) FROM contact_imports INDEXED BY contact_imports_by_project
       WHERE project_id = projects.id AND id >= ?3 AND status = 'failed') AS failed_import,
     (SELECT count(*) FROM webhooks INDEXED BY webhooks_disabled
       WHERE project_id = projects.id AND disabled_reason IS NOT NULL) AS disabled_webhook,
     (SELECT count(*) FROM vault_values INDEXED BY vault_values_expiring WHERE project_id = projects.id AND expires_at < ?5
       AND (?6 IS NULL OR environment IN (SELECT value FROM json_each(?6)))) AS expiring_secret,
     (SELECT count(*) FROM (SELECT 1 FROM emails INDEXED BY emails_captured_of_project
       WHERE project_id = projects.id AND is_captured = 1 AND is_test = 0 AND sent_at >= +?4
       LIMIT ${TODO_COUNT_MAX})) AS captured_mail
   FROM projects WHERE status <> 'arriving' AND (?1 IS NULL OR id IN (SELECT value FROM json_each(?1))) ORDER BY slug)
   WHERE failed_mail + unknown_mail + paused_sequence + paused_broadcast + failed_import + disabled_webhook + expiring_secret
     + captured_mail > 0
   LIMIT ${TODO_MAX}`,
);

/* --- One project -------------------------------------------------------------------------------------------------- */

/** Counts by day what became of a project's mails. */
export const readMailDays = rawAll<MailDay, [project_id: number, since_hour: number]>(
  'SELECT hour / 24 AS day, what, sum(n) AS n FROM email_hours WHERE project_id = +? AND hour >= +? GROUP BY 1, what',
);

export const readUploadDays = rawAll<
  { day: number; uploads: number; bytes: number },
  [project_id: number, since_day: number]
>('SELECT day, uploads, bytes FROM upload_days WHERE project_id = ? AND day >= ?');

export function readStorage(read: Tx, project_id: number): { objects: number; bytes: number } {
  return {
    objects: readRowCount(read, { list: 'objects', project_id }),
    bytes: readRowCount(read, { list: 'object_bytes', project_id }),
  };
}

interface MailError {
  email_id: string;
  status: 'failed' | 'unknown' | 'bounced';
  to: string;
  error: string | null;
  at: number;
}

const newestOf = (status: MailError['status'], at: string): string =>
  `SELECT * FROM (SELECT id AS email_id, status, to_email AS "to", coalesce(error, smtp_response) AS error, ${at} AS at
     FROM emails WHERE project_id = +?1 AND status = '${status}' ORDER BY id DESC LIMIT ?2)`;
/** Why the newest mails of those that were not delivered were not, the latest first. */
export const listErrors = rawAll<MailError, [project_id: number, limit: number]>(
  `${newestOf('failed', 'failed_at')} UNION ALL ${newestOf('unknown', 'failed_at')} UNION ALL
   ${newestOf('bounced', 'bounced_at')} ORDER BY at DESC LIMIT ?2`,
);

interface SignUp {
  contact: string;
  email: string;
  list: string;
  status: string;
  at: number;
}

/**
 * Who came to a list of a project last, the latest first. The newest of each list are the first of its index,
 * so that a million contacts cost as little as five.
 */
export const listSignUps = rawAll<SignUp, [project_id: number, limit: number]>(
  `SELECT c.public_id AS contact, c.email, l.name AS list, c.status, c.created_at AS at
   FROM contact_lists l CROSS JOIN contacts c
     ON c.id IN (SELECT id FROM contacts WHERE list_id = l.id ORDER BY id DESC LIMIT ?2)
   WHERE l.project_id = +?1 ORDER BY c.id DESC LIMIT ?2`,
);

/** The keys of a project, those used last first. */
export const listKeyUse = rawAll<
  { id: number; name: string; last_used_at: number | null },
  [project_id: number]
>(
  `SELECT id, name, last_used_at FROM api_keys WHERE project_id = +?
   ORDER BY last_used_at DESC, id DESC LIMIT ${MAX_PER_PAGE}`,
);
