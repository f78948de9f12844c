/**
 * SQL of what was asked for of a mail's addresses: links, the picture of openings, and what tells scanners
 * from people. What it says of a mail stands in the mail's own row, which is the log's.
 */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type ClickFlag, emailClicks } from './tables.ts';

type ClickRow = typeof emailClicks.$inferSelect;

/** Addresses of a mail besides its links; where a link has its position, from 1 on, these have: */
export const PLACE = { picture: 0, hidden_link: -1, unsubscribe_page: -2 } as const;

export interface NewClick {
  email_id: string;
  /** Of the link, or one of `PLACE`. */
  position: number;
  at: number;
  flag: ClickFlag | null;
  user_agent: string | null;
}

const counted = rawGet<{ n: number }, [string]>('SELECT count(*) AS n FROM email_clicks WHERE email_id = ?');
const addClick = rawRun<[string, number, number, ClickFlag | null, number, string | null]>(
  'INSERT INTO email_clicks (email_id, position, at, flag, is_settled, user_agent) VALUES (?, ?, ?, ?, ?, ?)',
);

export function countClicks(read: Tx, email_id: string): number {
  return counted(read, email_id)?.n ?? 0;
}

/** A flagged click is settled at once, as it never counts. So is one on neither a link nor the picture. */
export function insertClick(tx: Tx, { email_id, position, at, flag, user_agent }: NewClick): void {
  const may_count = flag === null && position >= PLACE.picture;
  addClick(tx, email_id, position, at, flag, Number(!may_count), user_agent);
}

const same = rawGet<{ n: number }, [string, number, number, ClickFlag | null]>(
  `SELECT 1 AS n FROM email_clicks
    WHERE email_id = ?1 AND position = ?2 AND at = ?3 AND (flag IS ?4 OR flag = 'burst') LIMIT 1`,
);

/** True where this very click is kept already; it may have turned out to be of a burst. */
export function hasClick(read: Tx, { email_id, position, at, flag }: NewClick): boolean {
  return same(read, email_id, position, at, flag) !== null;
}

/**
 * What makes a scanner of two different addresses of one mail (?1), of which one is known (?2: its position,
 * ?3: when it was asked for): two links, or anything with the hidden link, within ?4 ms; any other two within
 * ?5 ms.
 */
const PARTNERS = `email_id = +?1 AND position <> +?2 AND at BETWEEN ?3 - ?4 AND ?3 + ?4
      AND (abs(at - ?3) <= ?5 OR (position > 0 AND ?2 > 0) OR ${PLACE.hidden_link} IN (position, ?2))`;
const partnerOf = rawGet<{ id: number }, [string, number, number, number, number]>(
  `SELECT id FROM email_clicks WHERE ${PARTNERS} LIMIT 1`,
);
const flagPartners = rawRun<[string, number, number, number, number]>(
  `UPDATE email_clicks SET flag = 'burst', is_settled = 1 WHERE ${PARTNERS} AND is_settled = 0`,
);

/**
 * True where other addresses of the mail were visited at about the same time. If so, those that did not count
 * yet never will.
 */
export function flagBurst(
  tx: Tx,
  { email_id, position, at }: NewClick,
  windows: { links_ms: number; others_ms: number },
): boolean {
  const pair = [email_id, position, at, windows.links_ms, windows.others_ms] as const;
  if (!partnerOf(tx, ...pair)) return false;
  flagPartners(tx, ...pair);
  return true;
}

export const listDue = rawAll<
  Pick<ClickRow, 'id' | 'email_id' | 'position' | 'at'>,
  [until_ms: number, limit: number]
>(
  'SELECT id, email_id, position, at FROM email_clicks WHERE is_settled = 0 AND at <= +? ORDER BY at LIMIT +?',
);

const unsettled = rawGet<{ n: number }>('SELECT 1 AS n FROM email_clicks WHERE is_settled = 0 LIMIT 1');

export function hasUnsettled(read: Tx): boolean {
  return unsettled(read) !== null;
}

const firstUnsettled = rawGet<{ at: number | null }, [string]>(
  `SELECT min(at) AS at FROM email_clicks WHERE email_id = ? AND is_settled = 0 AND position > ${PLACE.picture}`,
);

/** When the first click of a mail came that does not count yet. */
export function findUnsettled(read: Tx, email_id: string): number | null {
  return firstUnsettled(read, email_id)?.at ?? null;
}

const countedOf = rawGet<{ n: number }, [string, number]>(
  'SELECT 1 AS n FROM email_clicks WHERE email_id = ? AND position = ? AND flag IS NULL AND is_settled = 1 LIMIT 1',
);

/** True where a click on a link of a mail counts already. */
export function hasCounted(read: Tx, email_id: string, position: number): boolean {
  return countedOf(read, email_id, position) !== null;
}

const machineOf = rawGet<{ n: number }, [string]>(
  "SELECT 1 AS n FROM email_clicks WHERE email_id = ? AND flag = 'machine' LIMIT 1",
);

/** True where a machine fetched the picture of a mail before. */
export function hasMachine(read: Tx, email_id: string): boolean {
  return machineOf(read, email_id) !== null;
}

/** A click or an opening counts from now on. */
export const settleClick = rawRun<[id: number]>('UPDATE email_clicks SET is_settled = 1 WHERE id = ?');

const clicksOf = rawAll<ClickRow, [string]>(
  'SELECT * FROM email_clicks WHERE email_id IN (SELECT value FROM json_each(?)) ORDER BY id',
  emailClicks,
);

/** All that was asked for of these mails, in the order in which it was written down. */
export function listClicks(read: Tx, email_ids: readonly string[]): ClickRow[] {
  return clicksOf(read, JSON.stringify(email_ids));
}
