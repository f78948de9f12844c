/** `satchel project activity`: what happened in a project lately. */
import { Option } from 'commander';
import { ACTIVITY_DAYS } from '../../limits.ts';
import { formatTable, type Table } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { counted, formatBytes } from '../../platform/words/phrases.ts';
import type { Activity } from './schemas.ts';
import type { Overviews } from './service.ts';

interface Services {
  overviews: Overviews;
  projects: { require(ref: string): { id: number } };
}

export function registerActivityCommand(project: Noun<Services>): void {
  project
    .verb('activity <project>', 'what happened in a project lately, by day (UTC), and what went wrong last')
    .addOption(new Option('--days <n>', 'of how many days').choices(ACTIVITY_DAYS).default(ACTIVITY_DAYS[0]))
    .example('satchel project activity shop --days 30')
    .does(({ services }, options, ref) => {
      const { id } = services.projects.require(ref);
      const activity = services.overviews.activity(null, id, Number(options.days));
      return { json: activity, text: activityTable(activity) };
    });
}

function activityTable({ days, last_errors, storage, keys }: Activity): Table {
  const by_day = formatTable(
    days.map(({ bytes, ...day }) => ({ ...day, size: formatBytes(bytes) })),
    '',
  );
  const errors = last_errors.map(
    ({ at, status, email_id, to, error }) => `${at} ${status} ${email_id} to ${to}: ${error ?? '-'}`,
  );
  const used = keys.filter(({ last_used_at }) => last_used_at !== null);
  const [last] = used;
  return (columns) =>
    [
      by_day(columns),
      '',
      `Stored: ${counted(storage.objects, 'file')}, ${formatBytes(storage.bytes)}. Keys: ${keys.length}${last ? `, last used ${last.name} at ${last.last_used_at}` : ''}.`,
      ...(errors.length > 0 ? ['', 'What failed last (satchel email why ID says more):', ...errors] : []),
    ].join('\n');
}
