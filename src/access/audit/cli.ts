/** `satchel audit list`: who did what, when and from where. */
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { type Options, textOption, textOptions } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import { parseDateTime } from '../../platform/http/schema.ts';
import type { Projects } from '../projects/service.ts';
import type { Audit } from './service.ts';

/** Registers `satchel audit list`. */
export function registerAuditCommands(cli: Cli<{ audit: Audit; projects: Projects }>): void {
  cli
    .noun('audit')
    .verb('list', 'the newest events')
    .option('--event <event>', 'only this event, such as api_key.revealed')
    .option('--actor <name>', 'only what this token, person or shell user did')
    .option('--project <project>', 'only this project: numeric id, ULID or slug')
    .option('--since <time>', 'only from this moment on, such as 2030-01-31 or 2030-01-31T09:00:00Z')
    .option('--until <time>', 'only before this moment')
    .example(
      'satchel audit list --project shop --since 2030-01-31',
      'satchel audit list --event api_key.revealed --limit 10',
    )
    .lists(
      ({ services, page }, options) =>
        services.audit.list(options.project === undefined ? null : projectOf(services, options), {
          ...page,
          ...textOptions(options, 'event', 'actor'),
          ...momentOption(options, 'since'),
          ...momentOption(options, 'until'),
        }),
      (one) =>
        rowOf(
          {
            ...one,
            actor: `${one.actor_kind} ${one.actor_name}`,
            changes: Object.keys(one.changes).length === 0 ? null : one.changes,
          },
          'at event target actor ip details=metadata changes',
        ),
      'No event matches.',
    );
}

/** `since_ms` or `until_ms`, where it was given. */
function momentOption(options: Options, name: 'since' | 'until'): { since_ms?: number; until_ms?: number } {
  const value = textOption(options, name);
  if (value === undefined) return {};
  const at = parseDateTime(value);
  if (at === null) throw new UsageError(`--${name} takes an ISO 8601 moment, such as 2030-01-31T09:00:00Z.`);
  return { [`${name}_ms`]: at };
}
