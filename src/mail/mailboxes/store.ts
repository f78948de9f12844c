/** SQL of mailboxes, their daily usage, and what the choice among them is made from. */
import { and, asc, eq, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun, rawValue } from '../../platform/database/raw-sql.ts';
import {
  type MailboxKind,
  type MailboxRow,
  mailboxes,
  mailboxPaces,
  mailboxUsage,
  type PaceRow,
} from './tables.ts';

export type Pace = Omit<PaceRow, 'mailbox_id'>;

export function insertMailbox(tx: Tx, mailbox: Omit<MailboxRow, 'id'>): MailboxRow {
  return tx.insert(mailboxes).values(mailbox).returning().get();
}

/** Whatever the case of the address: no mail system in use tells mailboxes apart by it. */
export function findMailbox(tx: Tx, address: string): MailboxRow | undefined {
  return tx.select().from(mailboxes).where(sql`${mailboxes.address} = ${address} COLLATE NOCASE`).get();
}

export const findMailboxById = rawGet<MailboxRow, [id: number]>(
  'SELECT * FROM mailboxes WHERE id = ?',
  mailboxes,
);

export function listMailboxesOf(tx: Tx, domain_id: number): MailboxRow[] {
  return tx
    .select()
    .from(mailboxes)
    .where(eq(mailboxes.domain_id, domain_id))
    .orderBy(asc(mailboxes.address))
    .all();
}

export const listMailboxes = rawAll<MailboxRow>('SELECT * FROM mailboxes ORDER BY address', mailboxes);

export function updateMailbox(tx: Tx, id: number, changes: Partial<Omit<MailboxRow, 'id'>>): void {
  tx.update(mailboxes).set(changes).where(eq(mailboxes.id, id)).run();
}

/** Has connections and whatever else is known of a domain's mailboxes made anew. */
export function renewMailboxesOf(tx: Tx, domain_id: number): void {
  tx.update(mailboxes)
    .set({ revision: sql`${mailboxes.revision} + 1` })
    .where(eq(mailboxes.domain_id, domain_id))
    .run();
}

export function deleteMailbox(tx: Tx, id: number): void {
  tx.delete(mailboxes).where(eq(mailboxes.id, id)).run();
}

export function readUsage(tx: Tx, mailbox_id: number, day: string): number {
  return (
    tx
      .select({ n: mailboxUsage.n })
      .from(mailboxUsage)
      .where(and(eq(mailboxUsage.mailbox_id, mailbox_id), eq(mailboxUsage.day, day)))
      .get()?.n ?? 0
  );
}

/** A mailbox as the choice sees it. */
export interface SenderRow {
  domain_id: number;
  mailbox_id: number;
  address: string;
  kind: MailboxKind;
  revision: number;
  status: string;
  for_transactional: number;
  for_marketing: number;
  daily_limit: number | null;
  failures: number;
  resting_until: number | null;
}

/** This runs for every email and every attempt. */
export const listSenders = rawAll<SenderRow>(`
    SELECT domain_id, id AS mailbox_id, address, kind, revision, status, for_transactional, for_marketing, daily_limit,
      failures, resting_until
    FROM mailboxes`);

const usageOfDay = rawAll<{ mailbox_id: number; n: number }, [day: string]>(
  'SELECT mailbox_id, n FROM mailbox_usage WHERE day = ?',
);

/** How many mails each mailbox has taken on a day, by its id. */
export function listUsage(tx: Tx, day: string): Map<number, number> {
  return new Map(usageOfDay(tx, day).map(({ mailbox_id, n }) => [mailbox_id, n]));
}

export const countUsageSince = rawValue<number, [mailbox_id: number, day: string]>(
  'SELECT coalesce(sum(n), 0) FROM mailbox_usage WHERE mailbox_id = ? AND day >= ?',
);

/** Counts so many more messages for a mailbox on a day. */
export const takeUsage = rawRun<[mailbox_id: number, day: string, count: number]>(
  'INSERT INTO mailbox_usage (mailbox_id, day, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
);

/** Gives one message's place back. A mailbox that is gone has no usage either. */
export const releaseUsage = rawRun<[mailbox_id: number, day: string]>(
  'UPDATE mailbox_usage SET n = max(0, n - 1) WHERE mailbox_id = ? AND day = ?',
);

/** Forgets counts of days before `day`; nothing asks for them again. */
export function deleteUsageBefore(tx: Tx, day: string): void {
  tx.delete(mailboxUsage).where(sql`${mailboxUsage.day} < ${day}`).run();
}

const standIn = rawGet<{ id: number }, [mailbox_id: number, now_ms: number]>(`
  SELECT other.id FROM mailboxes AS own JOIN mailboxes AS other ON other.id <> own.id
  WHERE own.id = ? AND own.failures > 0 AND other.status = 'active' AND other.kind = 'smtp' AND other.failures = 0
    AND coalesce(other.resting_until, 0) <= ?
    AND (own.for_transactional * other.for_transactional OR own.for_marketing * other.for_marketing)
  LIMIT 1`);

/** True where a mailbox could not be reached of late, and another one may take its mail. */
export function hasStandIn(tx: Tx, mailbox_id: number, now_ms: number): boolean {
  return standIn(tx, mailbox_id, now_ms) !== null;
}

/* --- Paces: asked for at every claim of mail ------------------------------------------------------------------------ */

type Paced = { rate: string | null } & (PaceRow | { mailbox_id: null });

const pacedOf = rawGet<Paced, [mailbox_id: number]>(
  `SELECT mailboxes.rate, paces.* FROM mailboxes LEFT JOIN mailbox_paces AS paces ON paces.mailbox_id = mailboxes.id
    WHERE mailboxes.id = +?`,
  mailboxPaces,
);

/** Its rate and its pace, that null where nothing was noted yet; null where the mailbox is gone. */
export function findPaced(tx: Tx, mailbox_id: number): { rate: string | null; pace: Pace | null } | null {
  const row = pacedOf(tx, mailbox_id);
  return row && { rate: row.rate, pace: row.mailbox_id === null ? null : row };
}

/** Null where nothing was noted yet. */
export const findPace = rawGet<PaceRow, [mailbox_id: number]>(
  'SELECT * FROM mailbox_paces WHERE mailbox_id = ?',
  mailboxPaces,
);

const replacePace = rawRun<(string | number | null)[]>(`
  INSERT OR REPLACE INTO mailbox_paces (mailbox_id, turn_at, sent, allowed, speed, speed_at, waits, waits_until, is_probing,
    probed_at, ended_at, since, refused_at, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);

export function savePace(tx: Tx, mailbox_id: number, pace: Pace): void {
  const { turn_at, sent, allowed, speed, speed_at, waits, waits_until, probed_at, ended_at } = pace;
  const learned = [
    allowed,
    speed,
    speed_at,
    waits,
    waits_until,
    Number(pace.is_probing),
    probed_at,
    ended_at,
  ];
  const said = [pace.since, pace.refused_at, pace.words];
  replacePace(tx, mailbox_id, turn_at, JSON.stringify(sent), ...learned, ...said);
}
