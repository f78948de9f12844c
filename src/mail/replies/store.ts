/** SQL of replies. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawRun, rawValues } from '../../platform/database/raw-sql.ts';
import { emailReplies, type ReplyRow } from './tables.ts';

/** Keeps a reply; 0 where it came before. */
export const insertReply = rawRun<[Omit<ReplyRow, 'id'>]>(
  `INSERT INTO email_replies (project_id, email_id, digest, is_automatic, from_email, subject, text, received_at)
   VALUES (:project_id, :email_id, :digest, :is_automatic, :from_email, :subject, :text, :received_at)
   ON CONFLICT DO NOTHING`,
);

/** Of people, or of machines. */
export const countReplies = rawCount<[email_id: string, is_automatic: boolean]>(
  'SELECT count(*) FROM email_replies WHERE email_id = ? AND is_automatic = ?',
);

/** Of people, newest first. */
export const listPersonal = rawAll<ReplyRow, [{ email_id: string; limit: number; offset: number }]>(
  `SELECT * FROM email_replies WHERE email_id = +:email_id AND is_automatic = 0
   ORDER BY id DESC LIMIT +:limit OFFSET +:offset`,
  emailReplies,
);

type Noted = Pick<ReplyRow, 'is_automatic' | 'from_email' | 'subject' | 'received_at'>;

/** In the order in which they came, without their texts. */
export const listNoted = rawAll<Noted, [email_id: string]>(
  `SELECT is_automatic, from_email, subject, received_at FROM email_replies WHERE email_id = +? ORDER BY id`,
  emailReplies,
);

/** Ids of the replies that an address wrote, behind one, in order; none once there are no more. */
export const listIdsFrom = rawValues<number, [{ project_id: number; email: string; behind: number }]>(
  `SELECT id FROM email_replies INDEXED BY email_replies_of_address
   WHERE project_id = +:project_id AND from_email = +:email AND id > +:behind ORDER BY id LIMIT 500`,
);

const idsOfOthers = rawValues<number, [string, string]>(
  `SELECT id FROM email_replies WHERE email_id IN (SELECT value FROM json_each(?1)) AND from_email <> +?2`,
);

/** Ids of the replies to these mails that others than an address wrote. */
export function listIdsOfOthers(read: Tx, of: { email_ids: readonly string[]; email: string }): number[] {
  return idsOfOthers(read, JSON.stringify(of.email_ids), of.email);
}

export const findReply = rawGet<ReplyRow, [id: number]>(
  'SELECT * FROM email_replies WHERE id = ?',
  emailReplies,
);

export const deleteReply = rawRun<[id: number]>('DELETE FROM email_replies WHERE id = ?');

/** Of people, newest first. */
export const listLastFrom = rawAll<ReplyRow, [{ project_id: number; email: string; limit: number }]>(
  `SELECT * FROM email_replies WHERE project_id = +:project_id AND from_email = +:email AND is_automatic = 0
   ORDER BY id DESC LIMIT +:limit`,
  emailReplies,
);

/** Deletes up to `limit` that came before a moment; returns how many. */
export const deleteBefore = rawRun<[before_ms: number, limit: number]>(
  'DELETE FROM email_replies WHERE id IN (SELECT id FROM email_replies WHERE received_at < +? LIMIT +?)',
);
