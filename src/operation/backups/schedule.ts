/** Backups that the server makes by itself, one each day at a time of a zone. */
import type { Config } from '../../config.ts';
import { type FieldErrors, invalid } from '../../errors.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { readMeta, writeMeta } from '../../platform/database/store.ts';
import { type Clock, HOUR_MS, toIso } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { nullable, parse, type Static, t } from '../../platform/http/schema.ts';
import { isTimeZone, parseCron } from '../../platform/jobs/cron.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { masterKeySourceOf } from '../../platform/secrets/master-key-source.ts';
import { readHistory } from './history.ts';
import { at, KEEP, keep, type ScheduleChoice, type ScheduleRecord, timezone } from './schemas.ts';
import type { Backups } from './service.ts';

/** The row of the table `meta`, and what it holds. */
const SCHEDULE = 'backup_schedule';
const kept = t.Object({ at, timezone, keep, next_ms: nullable(t.Integer()) });

type Kept = Static<typeof kept>;

/** A day and what daylight saving adds: a next time further off is of a clock that was wrong. */
const FURTHEST_MS = 26 * HOUR_MS;

interface ScheduleDeps {
  database: Database;
  clock: Clock;
  config: Config;
  key_ring: KeyRing;
  backups: Backups;
}

export class BackupSchedule {
  constructor(private readonly deps: ScheduleDeps) {}

  show(): ScheduleRecord {
    const { database, backups, config, key_ring } = this.deps;
    const { next_ms, ...choice } = readSchedule(database.read);
    const { made_ms, failure } = readHistory(config.data_dir);
    return {
      ...choice,
      next_at: toIso(next_ms),
      last_backup_at: toIso(made_ms),
      last_failure: failure && { at: toIso(failure.at_ms), message: failure.message },
      directory: backups.folder,
      master_key: { id: key_ring.master_key_id, from: originOf(config) },
    };
  }

  /** Has one made each day at that time from now on, or none. Throws AppError `invalid`. */
  async set(actor: Actor, choice: ScheduleChoice): Promise<ScheduleRecord> {
    const { database, clock } = this.deps;
    const errors = errorsOf(choice);
    if (Object.keys(errors).length > 0) throw invalid(errors);
    await database.write((tx) => {
      const { next_ms, ...before } = readSchedule(tx);
      const changes = changesOf(before, choice);
      if (Object.keys(changes).length === 0) return;
      // One that is due stays so where only the number that is kept is another.
      const is_same_time = !changes.at && !changes.timezone;
      writeSchedule(tx, { ...choice, next_ms: is_same_time ? next_ms : nextAfter(choice, clock.now()) });
      const entry = { event: 'backup.scheduled', target: null, project: null, changes };
      recordAudit(tx, actor, entry, clock.now());
    });
    return this.show();
  }

  /** Begins the one that is due, once none is under way; of several that were missed it makes up for one. */
  async tick(): Promise<void> {
    const { database, clock, backups } = this.deps;
    const now_ms = clock.now();
    const isFine = ({ next_ms }: Kept): boolean =>
      next_ms === null || (now_ms < next_ms && next_ms - now_ms < FURTHEST_MS);
    if (isFine(readSchedule(database.read))) return;
    await database.write((tx) => {
      const schedule = readSchedule(tx);
      if (isFine(schedule)) return;
      const is_due = schedule.next_ms !== null && schedule.next_ms <= now_ms;
      if (is_due && !backups.beginNightly(tx, schedule.keep)) return;
      writeSchedule(tx, { ...schedule, next_ms: nextAfter(schedule, now_ms) });
    });
  }
}

function readSchedule(read: Tx): Kept {
  const text = readMeta(read, SCHEDULE);
  return text === null
    ? { at: null, timezone: 'UTC', keep: KEEP.fallback, next_ms: null }
    : parse(kept, JSON.parse(text));
}

function writeSchedule(tx: Tx, schedule: Kept): void {
  writeMeta(tx, SCHEDULE, JSON.stringify(schedule));
}

/** Finds what is wrong with a choice, by its fields. */
export function errorsOf({ at, timezone, keep }: Partial<ScheduleChoice>): FieldErrors {
  const errors: FieldErrors = {};
  if (typeof at === 'string' && !/^([01]\d|2[0-3]):[0-5]\d$/.test(at))
    errors.at = ['must be a time of day, such as 03:30'];
  if (timezone !== undefined && !isTimeZone(timezone))
    errors.timezone = ['must be an IANA time zone, such as Europe/Berlin or UTC'];
  if (keep !== undefined && !(Number.isInteger(keep) && keep >= KEEP.min && keep <= KEEP.max))
    errors.keep = [`must be a whole number from ${KEEP.min} to ${KEEP.max}`];
  return errors;
}

/** A time that daylight saving skips is when the clock jumps past it. */
function nextAfter({ at, timezone }: ScheduleChoice, now_ms: number): number | null {
  if (at === null) return null;
  const [hour = '', minute = ''] = at.split(':');
  const cron = parseCron(`${Number(minute)} ${Number(hour)} * * *`, timezone);
  return cron.ok ? cron.next(now_ms) : null;
}

/** `file`, or the name of the setting that says where the master key comes from. */
function originOf(config: Config): string {
  const source = masterKeySourceOf(config);
  if (source.kind === 'file') return source.is_default ? 'file' : 'SATCHEL_MASTER_KEY_FILE';
  return source.kind === 'key' ? 'SATCHEL_MASTER_KEY' : 'SATCHEL_PASSPHRASE';
}
