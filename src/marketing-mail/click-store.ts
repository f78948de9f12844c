/** SQL of clicks and opens. What they say of a mail stands in the mail's own row, where its log shows it. */
import type { Tx } from '../platform/database/database.ts';
import { rawSql } from '../platform/database/raw-sql.ts';

/** Why a click drives nothing. */
export type ClickFlag = 'head' | 'robot' | 'burst';

export interface NewClick {
  email_id: string;
  position: number;
  at: number;
  flag: ClickFlag | null;
  user_agent: string | null;
}

const keptOf = rawSql<{ n: number; clicked_at: number | null }, [string]>(`
    SELECT (SELECT count(*) FROM email_clicks WHERE email_id = emails.id) AS n, clicked_at FROM emails WHERE id = ?`);

/** How many clicks of a mail are kept, and when a person first clicked; null for a mail whose row is gone. */
export function findKept(read: Tx, email_id: string): { n: number; clicked_at: number | null } | null {
  return keptOf.get(read, email_id);
}

const insertRow = rawSql<never, (string | number | null)[]>(
  'INSERT INTO email_clicks (email_id, position, at, flag, is_settled, user_agent) VALUES (?, ?, ?, ?, ?, ?)',
);

/** A flagged click is settled at once: it never counts. */
export function insertClick(tx: Tx, { email_id, position, at, flag, user_agent }: NewClick): void {
  insertRow.run(tx, email_id, position, at, flag, flag === null ? 0 : 1, user_agent);
}

const sameOf = rawSql<{ id: number }, [string, number, number, number, string | null]>(`
    SELECT id FROM email_clicks
    WHERE email_id = +? AND at BETWEEN +? AND +? AND position = +? AND flag IS +? LIMIT 1`);

/** Whether the same click is kept already, at about the same time. */
export function isRepeated(read: Tx, click: NewClick, window_ms: number): boolean {
  const { email_id, at, position, flag } = click;
  return sameOf.get(read, email_id, at - window_ms, at + window_ms, position, flag) !== null;
}

const othersOf = rawSql<{ id: number }, [string, number, number, number]>(`
    SELECT id FROM email_clicks WHERE email_id = +? AND at BETWEEN +? AND +? AND position <> +? LIMIT 1`);
const flagOthers = rawSql<never, [string, number, number]>(`
    UPDATE email_clicks SET flag = 'burst', is_settled = 1
    WHERE email_id = ? AND at BETWEEN ? AND ? AND is_settled = 0`);

/** Whether other links of the mail were followed at about the same time; those that did not count yet never will. */
export function flagBurst(tx: Tx, click: NewClick, window_ms: number): boolean {
  const { email_id, at, position } = click;
  if (!othersOf.get(tx, email_id, at - window_ms, at + window_ms, position)) return false;
  flagOthers.run(tx, email_id, at - window_ms, at + window_ms);
  return true;
}

export interface DueClick {
  id: number;
  email_id: string;
  at: number;
}

const dueOf = rawSql<DueClick, [number, number]>(`
    SELECT id, email_id, at FROM email_clicks WHERE is_settled = 0 AND at <= +? ORDER BY at LIMIT +?`);

export function listDue(read: Tx, until_ms: number, limit: number): DueClick[] {
  return dueOf.all(read, until_ms, limit);
}

const anyUnsettled = rawSql<{ id: number }, []>('SELECT id FROM email_clicks WHERE is_settled = 0 LIMIT 1');

export function hasUnsettled(read: Tx): boolean {
  return anyUnsettled.get(read) !== null;
}

const unsettledOf = rawSql<{ at: number | null }, [string]>(
  'SELECT min(at) AS at FROM email_clicks WHERE email_id = ? AND is_settled = 0',
);

/** When the first click came of those of a mail that do not count yet. */
export function findUnsettled(read: Tx, email_id: string): number | null {
  return unsettledOf.get(read, email_id)?.at ?? null;
}

const settleRow = rawSql<never, [number]>('UPDATE email_clicks SET is_settled = 1 WHERE id = ?');
const setClicked = rawSql<never, [number, string]>(
  'UPDATE emails SET clicked_at = ? WHERE id = ? AND clicked_at IS NULL',
);

/** A click counts from now on; returns whether it is the mail's first that does. */
export function settleClick(tx: Tx, click: DueClick): boolean {
  settleRow.run(tx, click.id);
  return setClicked.run(tx, click.at, click.email_id) > 0;
}

const setOpened = rawSql<never, [number, string]>(
  'UPDATE emails SET opened_at = ? WHERE id = ? AND opened_at IS NULL',
);

/** Returns whether it is the mail's first opening. */
export function markOpened(tx: Tx, email_id: string, at: number): boolean {
  return setOpened.run(tx, at, email_id) > 0;
}

/** A click as an export of what is held about an address shows it. */
export interface ShownClick {
  email_id: string;
  at: number;
  flag: ClickFlag | null;
  user_agent: string | null;
}

const ofAddress = rawSql<ShownClick, [number, string]>(`
    SELECT c.email_id, c.at, c.flag, c.user_agent FROM email_clicks c JOIN emails e ON e.id = c.email_id
    WHERE e.project_id = +? AND e.to_email = +? ORDER BY c.id`);

export function listClicksOfAddress(read: Tx, project_id: number, email: string): ShownClick[] {
  return ofAddress.all(read, project_id, email);
}

const deleteOfAddress = rawSql<never, [number, string]>(`
    DELETE FROM email_clicks WHERE email_id IN (SELECT id FROM emails WHERE project_id = ? AND to_email = ?)`);

export function deleteClicksOfAddress(tx: Tx, project_id: number, email: string): number {
  return deleteOfAddress.run(tx, project_id, email);
}
