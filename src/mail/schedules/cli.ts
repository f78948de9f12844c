/** `satchel schedule`: looking at recurring emails, pausing and resuming them, running one now, and deleting them. */

import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { requireYes, textOption } from '../../platform/cli/options.ts';
import { pagedTable, pageOf, withPaging } from '../../platform/cli/paging.ts';
import { counted, formatFields, formatTable } from '../../platform/cli/tables.ts';
import type { ScheduleRecord, Schedules } from './service.ts';

interface Services {
  projects: Projects;
  schedules: Schedules;
}

/** Registers `satchel schedule list | show | pause | resume | run | delete`. */
export function registerScheduleCommands(cli: Cli<Services>): void {
  const noun = cli.noun('schedule', 'recurring emails');
  withPaging(cli.verb(noun, 'list', 'the schedules of a project, newest first'))
    .requiredOption('--project <ref>', 'the project: numeric id, ULID or slug')
    .example('satchel schedule list --project shop')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const { data, meta } = services.schedules.list(project.id, pageOf(options));
      const rows = data.map((one) => [
        ...[one.id, one.name, one.is_active, one.next_run_at],
        ...[one.last_status, one.cron_expression, one.timezone, one.template],
      ]);
      const titles = ['schedule', 'name', 'active', 'next run', 'last', 'cron', 'zone', 'template'];
      return {
        json: data,
        text: pagedTable(formatTable(titles, rows, 'There are no schedules.'), meta),
      };
    });
  registerOfOne(cli, noun);
}

type Noun = ReturnType<Cli<Services>['noun']>;

function registerOfOne(cli: Cli<Services>, noun: Noun): void {
  cli
    .verb(noun, 'show <id>', 'a schedule')
    .example('satchel schedule show 01J00000000000000000000000')
    .does(async ({ services: { schedules } }, _options, id = '') => {
      const schedule = schedules.get(schedules.projectOf(id), id);
      return { json: schedule, text: describe(schedule) };
    });
  const turn = (is_active: boolean) =>
    cli.action(async ({ services, onTrail }, _options, id = '') => {
      const project = projectOf(services, id);
      const changed = await services.schedules.update(project.id, id, { is_active }, onTrail(project));
      return { json: changed, text: describe(changed) };
    });
  cli
    .verb(noun, 'pause <id>', 'run it no more until it is resumed; a run that waits ends too')
    .example('satchel schedule pause 01J00000000000000000000000')
    .action(turn(false));
  cli
    .verb(noun, 'resume <id>', 'run it again, from its next time on')
    .example('satchel schedule resume 01J00000000000000000000000')
    .action(turn(true));
  cli
    .verb(noun, 'run <id>', 'run it now, off its cadence')
    .example('satchel schedule run 01J00000000000000000000000')
    .does(async ({ services, onTrail }, _options, id = '') => {
      const project = projectOf(services, id);
      const job_id = await services.schedules.runNow({ project, key: null, note: onTrail(project) }, id);
      return { json: { job_id }, text: `The run is queued. How it ends: satchel job show ${job_id}` };
    });
  cli
    .verb(noun, 'delete <id>', 'delete a schedule; a run that waits fails')
    .option('--yes', 'really do it')
    .example('satchel schedule delete 01J00000000000000000000000 --yes')
    .does(async ({ services, onTrail }, options, id = '') => {
      const project = projectOf(services, id);
      const { name, recipients, next_run_at } = services.schedules.get(project.id, id);
      const next = next_run_at === null ? 'is paused' : `would run next at ${next_run_at}`;
      requireYes(
        options,
        `deletes the schedule ${name} for good; it has ${counted(recipients.length, 'recipient')} and ${next}`,
      );
      await services.schedules.remove(project.id, id, onTrail(project));
      return { json: { deleted: true, id }, text: `Schedule ${name} is deleted.` };
    });
}

function projectOf({ projects, schedules }: Services, id: string): ProjectRow {
  return projects.require(String(schedules.projectOf(id)));
}

function describe(schedule: ScheduleRecord): string {
  const { recipients, variables, body_html, body_text, cc, bcc, public_id, ...fields } = schedule;
  return formatFields({
    ...fields,
    recipients: recipients.map(({ email }) => email).join(', '),
    cc: cc.join(', '),
    bcc: bcc.join(', '),
    variables: JSON.stringify(variables),
  });
}
