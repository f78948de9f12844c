/**
 * `satchel schedule`: making, changing and looking at recurring emails, running one now, and deleting them.
 */
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { shellCaller } from '../../platform/cli/shell-actor.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import { namedVerbs, type OnProject, type VerbSession } from '../../platform/cli/verb.ts';
import { counted, keyOrAsGiven, type Naming } from '../../platform/words/phrases.ts';
import { CONTENT_FIELDS, FIELDS, newSchedule, type ScheduleRecord, scheduleChanges } from './schemas.ts';
import type { Schedules } from './service.ts';

interface Services {
  projects: Projects;
  schedules: Schedules;
  schedule_names: Naming;
  template_names: Naming;
}
type Session = VerbSession<Services> & OnProject<{ id: number }>;

/** Fields that the shell calls otherwise than the API. */
const reads = {
  recipients: (email: string) => ({ email }),
  template: (ref: string, { services, project }: Session) =>
    keyOrAsGiven(services.template_names, project, ref),
};

const verbsOf = (cli: Cli<Services>) =>
  namedVerbs(cli.noun('schedule'), ({ schedule_names }) => schedule_names);

/** Registers `satchel schedule create | change | list | show | pause | resume | run | delete`. */
export function registerScheduleCommands(cli: Cli<Services>): void {
  const { all, one } = verbsOf(cli);
  all('list', 'the schedules of a project, newest first')
    .example('satchel schedule list --project shop')
    .lists(
      ({ services, project, page }) => services.schedules.list(project.id, page),
      (one) =>
        rowOf(
          one,
          'schedule=id name active=is_active next_run=next_run_at last=last_status cron=cron_expression zone=timezone template',
        ),
      'There are no schedules.',
    );
  one('show', 'a schedule')
    .example('satchel schedule show "Weekly digest" --project shop')
    .shows(({ services, project, id }) => services.schedules.get(project.id, id), present);
  for (const [name, is_active, what] of [
    ['pause', false, 'run it no more until it is resumed; a run that waits ends too'],
    ['resume', true, 'run it again, from its next time on'],
  ] as const)
    one(name, what)
      .example(`satchel schedule ${name} 01J00000000000000000000000`)
      .shows(
        ({ services, project, trail, id }) => services.schedules.update(project.id, id, { is_active }, trail),
        ({ name, next_run_at }) =>
          `The schedule ${name} ${next_run_at === null ? 'is paused' : `runs next at ${next_run_at}`}.`,
      );
  one('run', 'run it now, off its cadence')
    .example('satchel schedule run 01J00000000000000000000000')
    .shows(
      async ({ services, project, trail, id }) => ({
        job_id: await services.schedules.runNow({ project, key: null, note: trail }, id),
      }),
      ({ job_id }) => `The run is queued. How it ends: satchel job show ${job_id}`,
    );
  registerWriting({ all, one });
  one('delete', 'delete a schedule; a run that waits fails')
    .example('satchel schedule delete 01J00000000000000000000000 --yes')
    .removes(async ({ services, project, trail, id, consent }) => {
      const { name, recipients, next_run_at } = services.schedules.get(project.id, id);
      const next = next_run_at === null ? 'is paused' : `would run next at ${next_run_at}`;
      const holds = `it has ${counted(recipients.length, 'recipient')} and ${next}`;
      consent(`deletes the schedule ${name} for good; ${holds}`);
      await services.schedules.remove(project.id, id, trail);
      return { json: { deleted: true, id }, text: `Schedule ${name} is deleted.` };
    });
}

function registerWriting({ all, one }: ReturnType<typeof verbsOf>): void {
  all('create', 'make a schedule')
    .takes(FIELDS, newSchedule, {
      reads,
      together: CONTENT_FIELDS,
      errorsIn: (sound, { services, project }) => services.schedules.errorsIn(project.id, null, sound),
    })
    .example(
      'satchel schedule create --project shop --name Weekly --to ann@example.org --cron "0 9 * * 1" --template digest',
    )
    .shows(
      (session) => session.services.schedules.create(shellCaller(session, session.project), session.sent),
      (made) => written(made, 'is made'),
    );
  one('change', 'change what is given; an empty text clears what may be empty')
    .changes(FIELDS, scheduleChanges, {
      reads,
      together: CONTENT_FIELDS,
      errorsIn: (sound, { services: { schedules }, project, id }) =>
        schedules.errorsIn(project.id, schedules.get(project.id, id), sound),
    })
    .example(
      'satchel schedule change 01J00000000000000000000000 --cron "30 8 * * 1-5" --timezone Europe/Berlin',
    )
    .shows(
      ({ services, project, trail, id, sent }) => services.schedules.update(project.id, id, sent, trail),
      (changed, { fields }) => written(changed, `is changed (${Object.keys(fields).join(', ')})`),
    );
}

function present(schedule: ScheduleRecord) {
  const { recipients, variables, body_html, body_text, cc, bcc, public_id, ...fields } = schedule;
  const to = recipients.map(({ email }) => email).join(', ');
  return { ...fields, recipients: to, cc, bcc, variables: JSON.stringify(variables) };
}

function written(
  { id, name, recipients, next_run_at, cron_expression, timezone }: ScheduleRecord,
  what: string,
) {
  const next = next_run_at === null ? 'It is paused' : `It runs next at ${next_run_at}`;
  const who = `${counted(recipients.length, 'recipient')}, ${cron_expression} (${timezone})`;
  return `${id}\nThe schedule ${name} ${what}: ${who}.\n${next}.`;
}
