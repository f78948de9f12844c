/** SQL of the metrics: counters that triggers keep, the indexes of what waits, and tables of a few rows. */
import { PACE_FORGOTTEN_MS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet } from '../../platform/database/raw-sql.ts';

const countedRows = rawGet<{ n: number }, [list: string]>(
  'SELECT coalesce(sum(n), 0) AS n FROM row_counts WHERE list = ?',
);

/** How many rows a list has, of all projects. */
export function countRows(read: Tx, list: string): number {
  return countedRows(read, list)?.n ?? 0;
}

/** The same by facet. */
export const countFacets = rawAll<{ facet: string; n: number }, [list: string]>(
  'SELECT facet, sum(n) AS n FROM row_counts WHERE list = ? GROUP BY facet',
);

const contacts = rawGet<{ n: number }>(
  "SELECT coalesce(sum(n), 0) AS n FROM contact_lists JOIN contact_counts ON list_id = contact_lists.id AND tag = ''",
);

export function countContacts(read: Tx): number {
  return contacts(read)?.n ?? 0;
}

/* --- What waits --------------------------------------------------------------------------------------------------- */

/** Bulk mail of a project that waits for a mailbox. */
interface BulkGroup {
  mailbox_id: number;
  project_id: number;
}

// A seek for each group, however much waits in it. One statement would step over all of a group.
const nextProject = rawGet<BulkGroup, [mailbox_id: number, behind_project: number]>(
  `SELECT mailbox_id, project_id FROM emails INDEXED BY emails_bulk
   WHERE due_at IS NOT NULL AND mailbox_id = ? AND project_id > ? ORDER BY project_id LIMIT 1`,
);
const nextMailbox = rawGet<BulkGroup, [behind_mailbox: number]>(
  `SELECT mailbox_id, project_id FROM emails INDEXED BY emails_bulk
   WHERE due_at IS NOT NULL AND mailbox_id > ? ORDER BY mailbox_id, project_id LIMIT 1`,
);

export function listBulkGroups(read: Tx): BulkGroup[] {
  const groups: BulkGroup[] = [];
  for (let group = nextMailbox(read, -1); group; ) {
    groups.push(group);
    group = nextProject(read, group.mailbox_id, group.project_id) ?? nextMailbox(read, group.mailbox_id);
  }
  return groups;
}

/** Where a count of a group goes on: behind the row that was counted last. */
interface Place {
  at: number;
  id: string;
}
const START: Place = { at: -1, id: '' };

/** Counts a group of waiting work in pieces, with the age of its oldest. `at` is when each of it is due. */
function groupSql<Params extends (string | number | null)[]>(of: { rows: string; at: string }) {
  const behind = `FROM ${of.rows} AND (${of.at}, id) > (?, ?)`;
  return {
    skip: rawGet<Place, [...Params, number, string, number]>(
      `SELECT ${of.at} AS at, id ${behind} ORDER BY ${of.at}, id LIMIT 1 OFFSET ?`,
    ),
    rest: rawGet<{ n: number }, [...Params, number, string]>(`SELECT count(*) AS n ${behind}`),
    // A job that was due at once has waited since it was queued.
    first: rawGet<{ since: number }, Params>(
      `SELECT queued_at AS since FROM ${of.rows} AND ${of.at} = 0 ORDER BY id LIMIT 1`,
    ),
    due: rawGet<{ since: number }, Params>(
      `SELECT ${of.at} AS since FROM ${of.rows} AND ${of.at} > 0 ORDER BY ${of.at} LIMIT 1`,
    ),
  };
}

const jobs = groupSql<[number, string, number | null]>({
  rows: "jobs WHERE status = 'pending' AND priority = +? AND lane = +? AND project_id IS +?",
  at: 'run_at',
});
const bulk = groupSql<[number, number]>({
  rows: 'emails INDEXED BY emails_bulk WHERE due_at IS NOT NULL AND mailbox_id = +? AND project_id = +?',
  at: 'due_at',
});

/** A group of what waits. */
export interface Waiting {
  /** How many so many rows behind a place are, and where to go on; null at the end. */
  count(read: Tx, from: Place | null, limit: number): { n: number; next: Place | null };
  /** Since when its oldest has been due; in the future where nothing is due, null where nothing is left. */
  since(read: Tx): number | null;
}

function waitingIn<Params extends (string | number | null)[]>(
  sql: ReturnType<typeof groupSql<Params>>,
  params: Params,
): Waiting {
  return {
    count(read, from, limit) {
      const { at, id } = from ?? START;
      const next = sql.skip(read, ...params, at, id, limit - 1);
      return next ? { n: limit, next } : { n: sql.rest(read, ...params, at, id)?.n ?? 0, next: null };
    },
    since(read) {
      const found = [sql.first(read, ...params), sql.due(read, ...params)];
      const moments = found.flatMap((row) => (row ? [row.since] : []));
      return moments.length === 0 ? null : Math.min(...moments);
    },
  };
}

export function waitingJobs(group: { priority: number; lane: string; project_id: number | null }): Waiting {
  return waitingIn(jobs, [group.priority, group.lane, group.project_id]);
}

export function waitingBulk({ mailbox_id, project_id }: BulkGroup): Waiting {
  return waitingIn(bulk, [mailbox_id, project_id]);
}

/* --- Mailboxes and inboxes ---------------------------------------------------------------------------------------- */

interface MailboxCounts {
  active: number;
  paused: number;
  resting: number;
  slowed: number;
  /** Mails a second of the one that is slowed most. */
  slowest: number | null;
}

const mailboxes = rawGet<MailboxCounts, [now_ms: number, refused_since: number]>(
  `SELECT count(*) FILTER (WHERE status = 'active') AS active, count(*) FILTER (WHERE status = 'paused') AS paused,
     count(*) FILTER (WHERE resting_until > ?) AS resting, count(allowed) AS slowed, min(allowed) AS slowest
   FROM mailboxes LEFT JOIN mailbox_paces ON mailbox_id = mailboxes.id AND mailbox_paces.refused_at >= ?`,
);

export function countMailboxes(read: Tx, now_ms: number): MailboxCounts {
  const none = { active: 0, paused: 0, resting: 0, slowed: 0, slowest: null };
  return mailboxes(read, now_ms, now_ms - PACE_FORGOTTEN_MS) ?? none;
}

const inboxes = rawGet<{ failing: number; read_at: number | null }>(
  'SELECT count(last_error) AS failing, min(last_look_at) AS read_at FROM inboxes',
);

/** How many inboxes can't be read, and when the one that was not read for longest was. */
export function readInboxes(read: Tx): { failing: number; read_at: number | null } {
  return inboxes(read) ?? { failing: 0, read_at: null };
}
