/** Shapes of the overview. */
import { dateTime, named, type Static, t } from '../../platform/http/schema.ts';

const count = t.Integer();

export const overview = named(
  'Overview',
  t.Object({
    projects: count,
    api_keys: count,
    objects: t.Object({ count, size_bytes: count }),
    emails: named(
      'EmailCounts',
      t.Object({
        scheduled: count,
        queued: count,
        sending: count,
        sent: count,
        delivered: count,
        bounced: count,
        complained: count,
        suppressed: count,
        failed: count,
        canceled: count,
      }),
    ),
    jobs: named(
      'JobCounts',
      t.Object({ pending: count, processing: count, completed: count, failed: count }),
    ),
    email_schedules: count,
    contact_lists: count,
    contacts: count,
    suppressions: count,
    sequences: count,
    hours: t.Array(
      named(
        'MailHour',
        t.Object({ hour: dateTime(), sent: count, bounced: count, complained: count, failed: count }),
      ),
    ),
    machine: t.Optional(
      named(
        'Machine',
        t.Object({ disk_bytes: count, free_disk_bytes: count, database_bytes: count, version: t.String() }),
      ),
    ),
  }),
);
export type Overview = Static<typeof overview>;
export type MailHour = Overview['hours'][number];
