/**
 * `satchel schedule`: making, changing and looking at recurring emails, running one now, and deleting them.
 */
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import type { Cli, CliResult } from '../../platform/cli/cli.ts';
import { given } from '../../platform/cli/fields.ts';
import { listOption, type Options, requireChanges, textOption } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { shellCaller } from '../../platform/cli/shell-actor.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import { keyOrAsGiven, type Naming } from '../../platform/words/naming.ts';
import { counted } from '../../platform/words/phrases.ts';
import { CONTENT_FIELDS, FIELDS, newSchedule, type ScheduleRecord, scheduleChanges } from './schemas.ts';
import type { Schedules } from './service.ts';

interface Services {
  projects: Projects;
  schedules: Schedules;
  schedule_names: Naming;
  template_names: Naming;
}

const named_schedule = ({ projects, schedule_names }: Services) => ({ projects, ...schedule_names });

/** Registers `satchel schedule create | change | list | show | pause | resume | run | delete`. */
export function registerScheduleCommands(cli: Cli<Services>): void {
  const noun = cli.noun('schedule');
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
  registerWriting(noun);
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

function registerWriting(noun: Noun<Services>): void {
  noun
    .verb('create', 'make a schedule')
    .ofProject()
    .creates(FIELDS)
    .example(
      'satchel schedule create --project shop --name Weekly --to ann@example.org --cron "0 9 * * 1" --template digest',
    )
    .does(async (session, options) => {
      const { schedules } = session.services;
      const project = projectOf(session.services, options);
      const sent = validate(newSchedule, {
        ...session.fields,
        ...namedIn(session.services, project, options),
      });
      const errorsIn = (sound: typeof sent.value) => schedules.errorsIn(project.id, null, sound);
      const made = await schedules.create(
        shellCaller(session, project),
        requireAll(sent, errorsIn, CONTENT_FIELDS),
      );
      return written(made, 'is made');
    });
  noun
    .verb('change <schedule>', 'change what is given; an empty text clears what may be empty')
    .named(named_schedule)
    .changes(FIELDS)
    .example(
      'satchel schedule change 01J00000000000000000000000 --cron "30 8 * * 1-5" --timezone Europe/Berlin',
    )
    .does(async ({ services, fields, onTrail }, options, id) => {
      const { schedules } = services;
      const project = ownerOf(services, id);
      const given = requireChanges({ ...fields, ...namedIn(services, project, options) });
      const sent = validate(scheduleChanges, given);
      const current = schedules.get(project.id, id);
      const errorsIn = (sound: typeof sent.value) => schedules.errorsIn(project.id, current, sound);
      const changes = requireAll(sent, errorsIn, CONTENT_FIELDS);
      const changed = await schedules.update(project.id, id, changes, onTrail(project));
      return written(changed, `is changed (${Object.keys(given).join(', ')})`);
    });
}

/** Fields that the shell calls otherwise than the API. */
function namedIn({ template_names }: Services, project: ProjectRow, options: Options) {
  return given({
    recipients: options.to && listOption(options, 'to').map((email) => ({ email })),
    template: keyOrAsGiven(template_names, project, textOption(options, 'template') || undefined),
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

function written(schedule: ScheduleRecord, what: string): CliResult {
  const { id, name, recipients, next_run_at, cron_expression, timezone } = schedule;
  const next = next_run_at === null ? 'It is paused' : `It runs next at ${next_run_at}`;
  const who = `${counted(recipients.length, 'recipient')}, ${cron_expression} (${timezone})`;
  return { json: schedule, text: `${id}\nThe schedule ${name} ${what}: ${who}.\n${next}.` };
}
