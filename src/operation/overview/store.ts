/** SQL of the overview: counters that triggers keep, so that it costs the same whatever is stored. */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';

/** `?1` is a JSON array of the ids of the projects that count, or null for all. Counters of no project have 0. */
const IN_SCOPE = '(?1 IS NULL AND project_id > 0 OR project_id IN (SELECT value FROM json_each(?1)))';

interface Counter {
  list: string;
  facet: string;
  n: number;
}

const counters = rawSql<Counter, [string | null]>(
  `SELECT list, facet, sum(n) AS n FROM row_counts
   WHERE list IN ('api_keys', 'objects', 'object_bytes', 'emails', 'jobs', 'email_schedules', 'contact_lists', 'suppressions',
     'sequences') AND ${IN_SCOPE}
   GROUP BY list, facet`,
);

/** What the lists of projects hold, by facet. */
export function readCounters(read: Tx, scope: string | null): Counter[] {
  return counters.all(read, scope);
}

const contacts = rawSql<{ n: number }, [string | null]>(
  `SELECT coalesce(sum(n), 0) AS n FROM contact_lists JOIN contact_counts ON list_id = contact_lists.id AND tag = ''
   WHERE ${IN_SCOPE}`,
);

export function countContacts(read: Tx, scope: string | null): number {
  return contacts.get(read, scope)?.n ?? 0;
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

const hours = rawSql<HourCounter, [string | null, number]>(
  `SELECT hour, what, sum(n) AS n FROM email_hours WHERE ${IN_SCOPE} AND hour >= +?2 GROUP BY hour, what`,
);

/** What became of mails since an hour, which is counted from 1970. */
export function readHours(read: Tx, scope: string | null, since_hour: number): HourCounter[] {
  return hours.all(read, scope, since_hour);
}
