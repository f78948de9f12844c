/** Shapes of backups, and of when the server makes one by itself. */
import { MAX_TIMEZONE_CHARS } from '../../limits.ts';
import { dateTime, named, nullable, oneOf, type Static, t, text, ulid } from '../../platform/http/schema.ts';

/** A backup is a file, or a job that failed or is under way. */
export const backup = named(
  'Backup',
  t.Object({
    name: t.String(),
    size_bytes: nullable(t.Integer()),
    created_at: dateTime(),
    status: oneOf(['processing', 'completed', 'failed']),
    job_id: nullable(ulid()),
  }),
);

export type BackupRecord = Static<typeof backup>;

export const at = nullable(text({ max: 5, description: 'A time of day, `HH:MM`; null: none are made.' }));
export const timezone = text({ min: 1, max: MAX_TIMEZONE_CHARS, description: 'The IANA time zone of `at`.' });
/** Decision: how many nightly backups may be kept, and are where nobody says. */
export const KEEP = { min: 1, max: 365, fallback: 7 };
export const keep = t.Integer({
  minimum: KEEP.min,
  maximum: KEEP.max,
  description: 'How many of these stay.',
});

export const schedule = named(
  'BackupSchedule',
  t.Object({
    at,
    timezone,
    keep,
    next_at: nullable(dateTime()),
    last_backup_at: nullable(dateTime()),
    last_failure: nullable(t.Object({ at: dateTime(), message: t.String() })),
    directory: t.String(),
    master_key: t.Object({ id: t.String(), from: t.String() }),
  }),
);
export type ScheduleRecord = Static<typeof schedule>;
/** Somebody chose this much of it. */
export type ScheduleChoice = Pick<ScheduleRecord, 'at' | 'timezone' | 'keep'>;
