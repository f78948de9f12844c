/** `satchel schedule`: looking at recurring emails, pausing and resuming them, running one now, and deleting them. */
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import type { Naming } from '../../platform/cli/naming.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { counted } from '../../platform/cli/tables.ts';
import type { ScheduleRecord, Schedules } from './service.ts';
import { registerScheduleWriting } from './writing-cli.ts';

interface Services {
  projects: Projects;
  schedules: Schedules;
  schedule_names: Naming;
  template_names: Naming;
}

const named_schedule = ({ projects, schedule_names }: Services) => ({ projects, ...schedule_names });

/** Registers `satchel schedule list | show | create | change | pause | resume | run | delete`. */
export function registerScheduleCommands(cli: Cli<Services>): void {
  const noun = cli.noun('schedule', 'recurring emails');
  noun
    .verb('list', 'the schedules of a project, newest first')
    .ofProject()
    .example('satchel schedule list --project shop')
    .lists(
      ({ services, page }, options) => services.schedules.list(projectOf(services, options).id, page),
      (one) => ({
        schedule: one.id,
        name: one.name,
        active: one.is_active,
        'next run': one.next_run_at,
        last: one.last_status,
        cron: one.cron_expression,
        zone: one.timezone,
        template: one.template,
      }),
      'There are no schedules.',
    );
  noun
    .verb('show <schedule>', 'a schedule')
    .named(named_schedule)
    .example('satchel schedule show "Weekly digest" --project shop')
    .shows(({ services }, _options, id) => services.schedules.get(ownerOf(services, id).id, id), present);
  for (const [name, is_active, what] of [
    ['pause', false, 'run it no more until it is resumed; a run that waits ends too'],
    ['resume', true, 'run it again, from its next time on'],
  ] as const)
    noun
      .verb(`${name} <schedule>`, what)
      .named(named_schedule)
      .example(`satchel schedule ${name} 01J00000000000000000000000`)
      .does(async ({ services, onTrail }, _options, id) => {
        const project = ownerOf(services, id);
        const changed = await services.schedules.update(project.id, id, { is_active }, onTrail(project));
        const { next_run_at } = changed;
        const how = next_run_at === null ? 'is paused' : `runs next at ${next_run_at}`;
        return { json: changed, text: `The schedule ${changed.name} ${how}.` };
      });
  noun
    .verb('run <schedule>', 'run it now, off its cadence')
    .named(named_schedule)
    .example('satchel schedule run 01J00000000000000000000000')
    .does(async ({ services, onTrail }, _options, id) => {
      const project = ownerOf(services, id);
      const job_id = await services.schedules.runNow({ project, key: null, note: onTrail(project) }, id);
      return { json: { job_id }, text: `The run is queued. How it ends: satchel job show ${job_id}` };
    });
  registerScheduleWriting(cli, noun);
  noun
    .verb('delete <schedule>', 'delete a schedule; a run that waits fails')
    .named(named_schedule)
    .example('satchel schedule delete 01J00000000000000000000000 --yes')
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const project = ownerOf(services, id);
      const { name, recipients, next_run_at } = services.schedules.get(project.id, id);
      const next = next_run_at === null ? 'is paused' : `would run next at ${next_run_at}`;
      const holds = `it has ${counted(recipients.length, 'recipient')} and ${next}`;
      consent(`deletes the schedule ${name} for good; ${holds}`);
      await services.schedules.remove(project.id, id, onTrail(project));
      return { json: { deleted: true, id }, text: `Schedule ${name} is deleted.` };
    });
}

function ownerOf({ projects, schedules }: Services, id: string): ProjectRow {
  return projects.requireById(schedules.projectOf(id));
}

function present(schedule: ScheduleRecord) {
  const { recipients, variables, body_html, body_text, cc, bcc, public_id, ...fields } = schedule;
  const to = recipients.map(({ email }) => email).join(', ');
  return { ...fields, recipients: to, cc, bcc, variables: JSON.stringify(variables) };
}
