/**
 * SQL of what was asked for of a mail's addresses: links, the picture of openings, and what tells scanners from people. What
 * it says of a mail stands in the mail's own row, where its log shows it.
 */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import type { ClickFlag } from './tables.ts';

/** What else than a link a mail has, in the place of a link's position, which is from 1 on. */
export const PLACE = { picture: 0, hidden_link: -1, unsubscribe_page: -2 } as const;

export interface NewClick {
  email_id: string;
  /** Of the link, or one of `PLACE`. */
  position: number;
  at: number;
  flag: ClickFlag | null;
  user_agent: string | null;
}

export interface Kept {
  n: number;
  clicked_at: number | null;
  opened_at: number | null;
}

const keptOf = rawSql<Kept, [string]>(`
    SELECT (SELECT count(*) FROM email_clicks WHERE email_id = emails.id) AS n, clicked_at, opened_at
    FROM emails WHERE id = ?`);

/** How many rows a mail has here, and when a person first clicked and opened it; null for a mail whose row is gone. */
export function findKept(read: Tx, email_id: string): Kept | null {
  return keptOf.get(read, email_id);
}

const insertRow = rawSql<never, (string | number | null)[]>(
  'INSERT INTO email_clicks (email_id, position, at, flag, is_settled, user_agent) VALUES (?, ?, ?, ?, ?, ?)',
);

/** What is flagged is settled at once, as it never counts; so is what stands for neither a link nor the picture. */
export function insertClick(tx: Tx, { email_id, position, at, flag, user_agent }: NewClick): void {
  const may_count = flag === null && position >= PLACE.picture;
  insertRow.run(tx, email_id, position, at, flag, may_count ? 0 : 1, user_agent);
}

/**
 * What makes a scanner of two different addresses of one mail (?1), of which one is known (?2: its position, ?3: when it was
 * asked for): two links, or anything with the hidden link, within ?4 ms; any other two within ?5 ms.
 */
const PARTNERS = `email_id = +?1 AND position <> +?2 AND at BETWEEN ?3 - ?4 AND ?3 + ?4
      AND (abs(at - ?3) <= ?5 OR (position > 0 AND ?2 > 0) OR ${PLACE.hidden_link} IN (position, ?2))`;
const partnerOf = rawSql<{ id: number }, [string, number, number, number, number]>(
  `SELECT id FROM email_clicks WHERE ${PARTNERS} LIMIT 1`,
);
const flagPartners = rawSql<never, [string, number, number, number, number]>(
  `UPDATE email_clicks SET flag = 'burst', is_settled = 1 WHERE ${PARTNERS} AND is_settled = 0`,
);

/** Whether others of the mail's addresses were asked for at about the same time; those that did not count yet never will. */
export function flagBurst(
  tx: Tx,
  { email_id, position, at }: NewClick,
  windows: { links_ms: number; others_ms: number },
): boolean {
  const pair = [email_id, position, at, windows.links_ms, windows.others_ms] as const;
  if (!partnerOf.get(tx, ...pair)) return false;
  flagPartners.run(tx, ...pair);
  return true;
}

export interface DueClick {
  id: number;
  email_id: string;
  position: number;
  at: number;
}

const dueOf = rawSql<DueClick, [number, number]>(`
    SELECT id, email_id, position, at FROM email_clicks WHERE is_settled = 0 AND at <= +? ORDER BY at LIMIT +?`);

export function listDue(read: Tx, until_ms: number, limit: number): DueClick[] {
  return dueOf.all(read, until_ms, limit);
}

const anyUnsettled = rawSql<{ id: number }, []>('SELECT id FROM email_clicks WHERE is_settled = 0 LIMIT 1');

export function hasUnsettled(read: Tx): boolean {
  return anyUnsettled.get(read) !== null;
}

const unsettledOf = rawSql<{ at: number | null }, [string]>(
  'SELECT min(at) AS at FROM email_clicks WHERE email_id = ? AND is_settled = 0 AND position > 0',
);

/** When the first click came of those of a mail that do not count yet. */
export function findUnsettled(read: Tx, email_id: string): number | null {
  return unsettledOf.get(read, email_id)?.at ?? null;
}

const settleRow = rawSql<never, [number]>('UPDATE email_clicks SET is_settled = 1 WHERE id = ?');
const setClicked = rawSql<never, [number, string]>(
  'UPDATE emails SET clicked_at = ? WHERE id = ? AND clicked_at IS NULL',
);
const setOpened = rawSql<never, [number, string]>(
  'UPDATE emails SET opened_at = ? WHERE id = ? AND opened_at IS NULL',
);

/** A click or an opening counts from now on; returns whether it is the mail's first that does. */
export function settleClick(tx: Tx, click: DueClick): boolean {
  settleRow.run(tx, click.id);
  const set = click.position === PLACE.picture ? setOpened : setClicked;
  return set.run(tx, click.at, click.email_id) > 0;
}

const newestOf = rawSql<{ id: string }, [number, string, number]>(`
    SELECT id FROM emails WHERE project_id = +? AND to_email = +? COLLATE NOCASE AND source = 'sequence'
    ORDER BY id DESC LIMIT +?`);

/** The newest mails whose unsubscribe page is that of an address. */
export function listNewestOfAddress(read: Tx, project_id: number, email: string, limit: number): string[] {
  return newestOf.all(read, project_id, email, limit).map(({ id }) => id);
}

/** A click as an export of what is held about an address shows it. */
export interface ShownClick {
  email_id: string;
  position: number;
  at: number;
  flag: ClickFlag | null;
  user_agent: string | null;
}

const ofAddress = rawSql<ShownClick, [number, string]>(`
    SELECT c.email_id, c.position, c.at, c.flag, c.user_agent FROM email_clicks c JOIN emails e ON e.id = c.email_id
    WHERE e.project_id = +? AND e.to_email = +? ORDER BY c.id`);

export function listClicksOfAddress(read: Tx, project_id: number, email: string): ShownClick[] {
  return ofAddress.all(read, project_id, email);
}

const deleteOfAddress = rawSql<never, [number, string]>(`
    DELETE FROM email_clicks WHERE email_id IN (SELECT id FROM emails WHERE project_id = ? AND to_email = ?)`);

export function deleteClicksOfAddress(tx: Tx, project_id: number, email: string): number {
  return deleteOfAddress.run(tx, project_id, email);
}
