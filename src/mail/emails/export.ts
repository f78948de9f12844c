/** The log as a table: the fields of its records. */
import type { Database } from '../../platform/database/database.ts';
import type { CsvTable } from '../../platform/http/csv.ts';
import { presentEmail } from './log.ts';
import type { EmailRecord } from './schemas.ts';
import { type EmailFilter, listIdsBehind, listThese } from './store.ts';

/** Mails that are written out before others have their turn. They take a few milliseconds. */
const EXPORT_PIECE = 100;

const FIELDS = [
  'id',
  'project_id',
  'job_id',
  'source',
  'status',
  'from_email',
  'from_name',
  'domain',
  'to',
  'to_name',
  'cc',
  'bcc',
  'reply_to',
  'subject',
  'template',
  'attachments',
  'message_id',
  'attempts',
  'smtp_code',
  'smtp_response',
  'bounce_type',
  'refused',
  'error',
  'captured',
  'app_id',
  'ip',
  'user_agent',
  'created_at',
  'scheduled_at',
  'queued_at',
  'sent_at',
  'delivered_at',
  'opened_at',
  'clicked_at',
  'bounced_at',
  'complained_at',
  'failed_at',
  'replied_at',
] as const satisfies readonly (keyof EmailRecord)[];

/** The mails that a filter fits, newest first. */
export function exportLog(database: Database, filter: EmailFilter, project_public_id: string): CsvTable {
  return {
    columns: FIELDS,
    pieces: (function* () {
      for (let behind: string | null = null; ; ) {
        const { read } = database;
        const ids: string[] = listIdsBehind(read, filter, { behind, limit: EXPORT_PIECE });
        const last = ids.at(-1);
        if (last === undefined) return;
        behind = last;
        yield listThese(read, filter, ids).map((row) => {
          const record = presentEmail(row, project_public_id);
          return FIELDS.map((field) => record[field]);
        });
      }
    })(),
  };
}
