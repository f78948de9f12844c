/** `satchel backup schedule`: the backups that the server makes by itself. */
import { type Cli, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import { numberOption, type Options, textOption } from '../../platform/cli/options.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { Actor } from '../../platform/http/callers.ts';
import type { BackupSchedule } from './schedule.ts';
import type { ScheduleRecord } from './schemas.ts';

export interface ScheduleServices {
  backup_schedule: BackupSchedule;
}

/** The word in place of a backup's file. */
export const SCHEDULE = 'schedule';

/** What `satchel backup schedule` does. */
export function scheduleAction<S extends ScheduleServices>(
  cli: Cli<S>,
): (...raw: unknown[]) => Promise<void> {
  return cli.action(({ services, actor }, options) => runSchedule(services, actor, options));
}

/** Throws UsageError where a backup is to be made with an option of the schedule. */
export function refuseScheduleOptions(options: Options): void {
  const given = ['at', 'timezone', 'off'].find((name) => options[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} goes with satchel backup schedule`);
}

async function runSchedule(
  { backup_schedule }: ScheduleServices,
  actor: Actor,
  options: Options,
): Promise<CliResult> {
  if (options.withStore === true)
    throw new UsageError('--with-store does not go with satchel backup schedule');
  const at = textOption(options, 'at');
  const timezone = textOption(options, 'timezone');
  const keep = numberOption(options, 'keep');
  const is_off = options.off === true;
  const is_given = at !== undefined || timezone !== undefined || keep !== undefined;
  if (is_off && is_given) throw new UsageError('--off goes alone');
  const now = backup_schedule.show();
  const choice = {
    at: is_off ? null : (at ?? now.at),
    timezone: timezone ?? now.timezone,
    keep: keep ?? now.keep,
  };
  if (is_given && choice.at === null) throw new UsageError('--at says when the server is to make backups');
  const record =
    is_off || is_given
      ? await inOptions({ at: '--at', timezone: '--timezone', keep: '--keep' }, () =>
          backup_schedule.set(actor, choice),
        )
      : now;
  return { json: record, text: presentSchedule(record) };
}

function presentSchedule({ at, timezone, keep, next_at, directory, ...of }: ScheduleRecord): string {
  const fields = formatFields({
    each_day: at === null ? 'none is made' : `${at} (${timezone})`,
    ...(at === null ? {} : { next: next_at, keeps: keep }),
    folder: directory,
    last_backup: of.last_backup_at,
    ...(of.last_failure ? { failed: `${of.last_failure.at}: ${of.last_failure.message}` } : {}),
    master_key: `${of.master_key.id} (${of.master_key.from})`,
  });
  return at === null
    ? `${fields}\n\nTo have the server make one each day: satchel backup schedule --at 03:30`
    : fields;
}
