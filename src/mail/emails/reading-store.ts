/** SQL of sent mails as their readers know them: asked for with every click, opening and reply. */
import { and, eq, max, sql } from 'drizzle-orm';
import type { Database, Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { type EmailRow, type EmailSource, emails } from './tables.ts';

/** The columns of a mail that its links and pictures need. */
export type ReadMail = Pick<
  EmailRow,
  'project_id' | 'source' | 'is_test' | 'to_email' | 'merge' | 'clicked_at' | 'opened_at'
>;

/** Null once its row is gone. */
export const find = rawGet<ReadMail, [id: string]>(
  'SELECT project_id, source, is_test, to_email, merge, clicked_at, opened_at FROM emails WHERE id = +?',
  emails,
);

const noteFirst = (column: 'clicked_at' | 'opened_at' | 'replied_at') =>
  rawRun<[id: string, at: number]>(`UPDATE emails SET ${column} = ?2 WHERE id = ?1 AND ${column} IS NULL`);
const firstOf = { clicked: noteFirst('clicked_at'), opened: noteFirst('opened_at') };

/** Notes that a person clicked or opened a mail; false unless it was the first time. */
export function noteReading(
  tx: Tx,
  id: string,
  { kind, at }: { kind: 'clicked' | 'opened'; at: number },
): boolean {
  return firstOf[kind](tx, id, at) > 0;
}

/** Notes that a person answered a mail, where nobody did before. */
export const noteReply = noteFirst('replied_at');

/** A message that came whole went to so many at most, each a mail of its own. */
const MAX_OF_ONE_MESSAGE = 50;

const cameWhole = rawAll<EmailRow, [message_id: string, limit: number]>(
  `SELECT * FROM emails INDEXED BY emails_by_message_id 
   WHERE source IN ('smtp', 'resend', 'mailgun') AND message_id = +? ORDER BY id LIMIT +?`,
  emails,
);

/**
 * Mails that have a Message-ID: several where one message came whole for several recipients, the first of
 * them first.
 */
export function listByMessageId(read: Tx, message_id: string): EmailRow[] {
  const id = /^<([0-9a-z]{26})@/i.exec(message_id)?.[1]?.toUpperCase();
  const own = id === undefined ? undefined : read.select().from(emails).where(eq(emails.id, id)).get();
  if (own?.message_id.toLowerCase() === message_id.toLowerCase()) return [own];
  return cameWhole(read, message_id, MAX_OF_ONE_MESSAGE);
}

/** Mails to one recipient alone that are looked at: nobody gets more from a project in a month. */
const MAX_SENT_TO = 500;

const sentToOne = rawAll<EmailRow, [string, string, string, number]>(
  `WITH RECURSIVE owner (id) AS (
      SELECT min(project_id) FROM emails
      UNION ALL SELECT (SELECT min(project_id) FROM emails WHERE project_id > owner.id) FROM owner WHERE id IS NOT NULL)
    SELECT emails.* FROM owner CROSS JOIN emails INDEXED BY emails_by_recipient
      ON project_id = owner.id AND to_email = ?1 COLLATE NOCASE AND emails.id >= ?2
    WHERE mailbox_id IN (SELECT value FROM json_each(?3)) AND cc = '[]' AND bcc = '[]' AND attempts > 0
    ORDER BY emails.id DESC LIMIT ?4`,
  emails,
);

/** Mails of any project to one recipient alone that some mailboxes sent, or are sending, the newest first. */
export function listToOne(
  read: Tx,
  to: string,
  { since_ms, mailboxes }: { since_ms: number; mailboxes: readonly number[] },
): EmailRow[] {
  return sentToOne(read, to, firstIdOf(since_ms), JSON.stringify(mailboxes), MAX_SENT_TO);
}

const newestTo = rawAll<{ id: string }, [number, string, string | null, number]>(`
    SELECT id FROM emails WHERE project_id = +?1 AND to_email = +?2 COLLATE NOCASE
      AND (?3 IS NULL OR source IN (SELECT value FROM json_each(?3)))
    ORDER BY id DESC LIMIT +?4`);
const sentTo = rawAll<{ id: string; merge: string | null }, [number, string, string, number]>(`
    SELECT id, merge FROM emails WHERE project_id = +?1 AND to_email = +?2 COLLATE NOCASE
      AND source IN (SELECT value FROM json_each(?3)) AND sent_at IS NOT NULL AND is_test = 0
    ORDER BY id DESC LIMIT +?4`);

/** Ids of the newest mails to an address. */
export function listIdsTo(
  read: Tx,
  to: { project_id: number; email: string; sources?: readonly EmailSource[] },
  limit: number,
): string[] {
  const sources = to.sources ? JSON.stringify(to.sources) : null;
  return newestTo(read, to.project_id, to.email, sources, limit).map(({ id }) => id);
}

/**
 * Mails of these sources that an address was sent, tests apart, with what they are rendered from; newest
 * first.
 */
export function listSentTo(
  read: Tx,
  to: { project_id: number; email: string; sources: readonly EmailSource[] },
  limit: number,
): { id: string; merge: string | null }[] {
  return sentTo(read, to.project_id, to.email, JSON.stringify(to.sources), limit);
}

/** When a person last opened or clicked a mail of a project to an address; 0 where none did. */
export function lastReadAt(read: Tx, project_id: number, email: string): number {
  const found = read
    .select({ opened_at: max(emails.opened_at), clicked_at: max(emails.clicked_at) })
    .from(emails)
    .where(and(eq(emails.project_id, project_id), sql`${emails.to_email} = ${email} COLLATE NOCASE`))
    .get();
  return Math.max(found?.opened_at ?? 0, found?.clicked_at ?? 0);
}

/** Mails of an address whose ids are read at once, and mails with copies that are looked at for it: a millisecond or two. */
const ADDRESS_PIECE = 50;
const COPIES_PIECE = 500;

const toBehind = rawAll<{ id: string }, [number, string, string, number]>(`
    SELECT id FROM emails INDEXED BY emails_by_recipient
    WHERE project_id = +?1 AND to_email = +?2 COLLATE NOCASE AND id > +?3 ORDER BY id LIMIT +?4`);
const copiesBehind = rawAll<{ id: string; is_ones: number }, [number, string, string, string, number]>(`
    SELECT id, instr(lower(cc || bcc), +?3) > 0 AND to_email <> +?2 COLLATE NOCASE AS is_ones
    FROM emails INDEXED BY emails_copied
    WHERE project_id = +?1 AND (cc <> '[]' OR bcc <> '[]') AND id > +?4 ORDER BY id LIMIT +?5`);

/**
 * Ids of the mails to an address, which is in lower case, then of those of which it got a copy: some at a time, or none, for
 * whoever lets others have their turn in between.
 */
export function* idsOfAddress(
  database: Pick<Database, 'read'>,
  { project_id, email }: { project_id: number; email: string },
): Generator<string[]> {
  for (let behind = ''; ; ) {
    const found = toBehind(database.read, project_id, email, behind, ADDRESS_PIECE);
    const last = found.at(-1);
    if (!last) break;
    behind = last.id;
    yield found.map(({ id }) => id);
  }
  // As an item of a list in JSON.
  const item = JSON.stringify(email);
  for (let behind = ''; ; ) {
    const found = copiesBehind(database.read, project_id, email, item, behind, COPIES_PIECE);
    const last = found.at(-1);
    if (!last) return;
    behind = last.id;
    yield found.filter(({ is_ones }) => is_ones === 1).map(({ id }) => id);
  }
}
