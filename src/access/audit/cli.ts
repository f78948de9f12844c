/** `satchel audit list`: who did what, when and from where. */
import { AppError } from '../../errors.ts';
import { DEFAULT_AUDIT_EVENTS } from '../../limits.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { numberOption, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { formatTable } from '../../platform/cli/tables.ts';
import { parseDateTime } from '../../platform/http/schema.ts';
import type { Projects } from '../projects/service.ts';
import type { Audit } from './service.ts';

type Options = Record<string, unknown>;

/** Registers `satchel audit list`. */
export function registerAuditCommands(cli: Cli<{ audit: Audit; projects: Projects }>): void {
  const audit = cli.noun('audit', 'who did what, when and from where');
  cli
    .verb(audit, 'list', 'the newest events')
    .option('--event <event>', 'only this event, such as api_key.revealed')
    .option('--actor <name>', 'only what this token, person or shell user did')
    .option('--project <ref>', 'only this project: numeric id, ULID or slug')
    .option('--since <time>', 'only from this moment on, such as 2030-01-31 or 2030-01-31T09:00:00Z')
    .option('--until <time>', 'only before this moment')
    .option('--limit <n>', `at most so many (default: ${DEFAULT_AUDIT_EVENTS})`, wholeNumber(1))
    .example(
      'satchel audit list --project shop --since 2030-01-31',
      'satchel audit list --event api_key.revealed --limit 10',
    )
    .does(async ({ services }, options) => {
      const ref = textOption(options, 'project');
      const event = textOption(options, 'event');
      const actor = textOption(options, 'actor');
      const since_ms = momentOption(options, 'since');
      const until_ms = momentOption(options, 'until');
      const events = services.audit.listNewest(
        {
          ...(event === undefined ? {} : { event }),
          ...(actor === undefined ? {} : { actor }),
          ...(since_ms === undefined ? {} : { since_ms }),
          ...(until_ms === undefined ? {} : { until_ms }),
          ...(ref === undefined ? {} : { project: services.projects.require(ref) }),
        },
        numberOption(options, 'limit') ?? DEFAULT_AUDIT_EVENTS,
      );
      const rows = events.map((one) => [
        one.at,
        one.event,
        one.target,
        `${one.actor_kind} ${one.actor_name}`,
        one.ip,
        JSON.stringify(one.metadata),
      ]);
      const titles = ['at', 'event', 'target', 'actor', 'ip', 'details'];
      return { json: events, text: formatTable(titles, rows, 'No event matches.') };
    });
}

function momentOption(options: Options, name: string): number | undefined {
  const value = textOption(options, name);
  if (value === undefined) return undefined;
  const at = parseDateTime(value);
  if (at === null) {
    throw new AppError('invalid', `--${name} takes an ISO 8601 moment, such as 2030-01-31T09:00:00Z.`);
  }
  return at;
}
