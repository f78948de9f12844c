/** `satchel schedule create | change`. */

import { Option } from 'commander';
import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import { requireChanges } from '../../platform/cli/changes.ts';
import { type Cli, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import { given, inOptions, pairsOption, readLongText } from '../../platform/cli/fields.ts';
import { keyOrAsGiven, type Naming } from '../../platform/cli/naming.ts';
import { collect, listOption, type Options, textOption } from '../../platform/cli/options.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { shellCaller } from '../../platform/cli/shell-actor.ts';
import { counted } from '../../platform/cli/tables.ts';
import type { Noun, Verb } from '../../platform/cli/verb.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import { CONTENT_FIELDS, newSchedule, scheduleChanges } from './schemas.ts';
import type { ScheduleRecord, Schedules } from './service.ts';

interface Services {
  projects: Projects;
  schedules: Schedules;
  schedule_names: Naming;
  template_names: Naming;
}

const OPTION_OF_FIELD = {
  name: '--name',
  recipients: '--to',
  cron_expression: '--cron',
  timezone: '--timezone',
  template: '--template',
  variables: '--set',
  subject: '--subject',
  body_text: '--text',
  body_html: '--html',
  cc: '--cc',
  bcc: '--bcc',
  reply_to: '--reply-to',
  from_name: '--from-name',
  domain: '--domain',
  description: '--description',
  missed_runs: '--missed-runs',
};

/** Registers `satchel schedule create | change`. */
export function registerScheduleWriting<S extends Services>(cli: Cli<S>, noun: Noun<S>): void {
  withFields(
    noun
      .verb('create', 'make a schedule')
      .ofProject()
      .requiredOption('--name <name>', 'its name')
      .requiredOption('--to <addresses>', 'who gets a mail of their own at every run', collect)
      .requiredOption('--cron <expression>', 'when: five fields, or @hourly, @daily, @weekly, @monthly'),
  )
    .example(
      'satchel schedule create --project shop --name Weekly --to ann@example.org --cron "0 9 * * 1" --template digest',
    )
    .does(async (session, options) => {
      const { schedules } = session.services;
      const project = projectOf(session.services, options);
      const fields = given(await fieldsOf(cli, session.services, project, options));
      const made = await inOptions(OPTION_OF_FIELD, () => {
        const sent = validate(newSchedule, fields);
        const errorsIn = (sound: typeof sent.value) => schedules.errorsIn(project.id, null, sound);
        return schedules.create(shellCaller(session, project), requireAll(sent, errorsIn, CONTENT_FIELDS));
      });
      return present(made, 'is made');
    });
  withFields(
    noun
      .verb('change <schedule>', 'change what is given; an empty text clears what may be empty')
      .named(({ projects, schedule_names }) => ({ projects, ...schedule_names }))
      .option('--name <name>', 'its name')
      .option('--to <addresses>', 'who gets a mail of their own at every run', collect)
      .option('--cron <expression>', 'when: five fields, or @hourly, @daily, @weekly, @monthly'),
  )
    .example(
      'satchel schedule change 01J00000000000000000000000 --cron "30 8 * * 1-5" --timezone Europe/Berlin',
    )
    .does(async ({ services, onTrail }, options, id) => {
      const { schedules } = services;
      const project = ownerOf(services, id);
      const fields = requireChanges(await fieldsOf(cli, services, project, options));
      const changed = await inOptions(OPTION_OF_FIELD, () => {
        const sent = validate(scheduleChanges, fields);
        const current = schedules.get(project.id, id);
        const errorsIn = (sound: typeof sent.value) => schedules.errorsIn(project.id, current, sound);
        return schedules.update(project.id, id, requireAll(sent, errorsIn, CONTENT_FIELDS), onTrail(project));
      });
      return present(changed, `is changed (${Object.keys(fields).join(', ')})`);
    });
}

function ownerOf({ projects, schedules }: Services, id: string): ProjectRow {
  return projects.requireById(schedules.projectOf(id));
}

function withFields<S>(verb: Verb<S>): Verb<S> {
  return verb
    .option('--timezone <zone>', 'the IANA zone of that; UTC unless given')
    .option('--template <template>', 'the template that is sent: its slug, name or id')
    .option('--set <name=value>', 'a value of a placeholder; may be repeated', collect)
    .option('--subject <text>', 'without a template: its subject')
    .option('--text <text>', 'without a template: its text; @file and - (standard input) are read')
    .option('--html <html>', 'without a template: its HTML, likewise')
    .option('--cc <addresses>', 'who gets a copy of each', collect)
    .option('--bcc <addresses>', 'who gets one unseen', collect)
    .option('--reply-to <address>', 'where answers go')
    .option('--from-name <name>', 'the name beside the sender')
    .option('--domain <name>', 'the sending domain')
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--missed-runs <what>', 'after a longer downtime').choices(['skip', 'run_once']));
}

/** As the API takes them: empty texts clear. */
async function fieldsOf<S>(
  cli: Cli<S>,
  { template_names }: Pick<Services, 'template_names'>,
  project: { id: number },
  options: Options,
): Promise<Record<string, unknown>> {
  if (options.text === '-' && options.html === '-')
    throw new UsageError('Only one of --text and --html can come from standard input.');
  const list = (name: string) => (options[name] === undefined ? undefined : listOption(options, name));
  const clearable = (text: string | undefined) => (text === '' ? null : text);
  const of = (name: string) => clearable(textOption(options, name));
  return {
    name: textOption(options, 'name'),
    recipients: list('to')?.map((email) => ({ email })),
    cron_expression: textOption(options, 'cron'),
    timezone: of('timezone'),
    template: keyOrAsGiven(template_names, project, of('template')),
    variables: pairsOption(options, 'set'),
    subject: of('subject'),
    body_text: clearable(await readLongText(cli, textOption(options, 'text'))),
    body_html: clearable(await readLongText(cli, textOption(options, 'html'))),
    cc: list('cc'),
    bcc: list('bcc'),
    reply_to: of('replyTo'),
    from_name: of('fromName'),
    domain: of('domain'),
    description: of('description'),
    missed_runs: textOption(options, 'missedRuns'),
  };
}

function present(schedule: ScheduleRecord, what: string): CliResult {
  const { id, name, recipients, next_run_at, cron_expression, timezone } = schedule;
  const next = next_run_at === null ? 'It is paused' : `It runs next at ${next_run_at}`;
  const who = `${counted(recipients.length, 'recipient')}, ${cron_expression} (${timezone})`;
  return { json: schedule, text: `${id}\nThe schedule ${name} ${what}: ${who}.\n${next}.` };
}
