/** The management plane's endpoints of the backups that the server makes by itself. */
import { MAX_TIMEZONE_CHARS } from '../../limits.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { dateTime, named, nullable, t, text } from '../../platform/http/schema.ts';
import { type BackupSchedule, errorsOf, KEEP } from './schedule.ts';

const at = nullable(text({ max: 5, description: 'A time of day, `HH:MM`; null: none are made.' }));
const timezone = text({ min: 1, max: MAX_TIMEZONE_CHARS, description: 'The IANA time zone of `at`.' });
const keep = t.Integer({ minimum: KEEP.min, maximum: KEEP.max, description: 'How many of these stay.' });

const schedule = named(
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

const needs = [ADMINISTER] as const;
const tag = 'Backups';
const path = '/backups/schedule';

export function backupScheduleRoutes(schedules: BackupSchedule): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path,
      needs,
      tag,
      summary: 'When the server backs up by itself',
      description:
        '`last_backup_at` is the last one that was made here, by whatever verb, timer or page; `last_failure` why one failed since. ' +
        '`master_key.from` is `file`, or the name of the setting that says where the key comes from: it is in no backup.',
      response: schedule,
      unversioned: ['next_at', 'last_backup_at', 'last_failure'],
      handle: () => schedules.show(),
    }),
    managementRoute({
      method: 'PUT',
      path,
      needs,
      tag,
      summary: 'Have the server back up each day',
      description:
        'It makes `nightly-TIME.tar` as `POST /backups` does, once none is under way, and makes up at its start for a time that it missed. ' +
        'Once that is whole, of those named so all but the newest `keep` go; what people made stays.',
      body: t.Object({ at, timezone: t.Optional(timezone), keep: t.Optional(keep) }),
      example: { at: '03:30', timezone: 'Europe/Berlin', keep: 14 },
      response: schedule,
      errorsIn: ({ body }) => errorsOf(body),
      handle: ({ caller, ctx, body }) =>
        schedules.set(actorOf(caller, ctx.ip), { timezone: 'UTC', keep: KEEP.fallback, ...body }),
    }),
  ];
}
