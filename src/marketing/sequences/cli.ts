/** `satchel sequence`: looking at sequences, having them run, and why somebody gets what. */
import { readFileSync } from 'node:fs';
import type { Projects } from '../../access/projects/service.ts';
import { AppError, messageOf } from '../../errors.ts';
import { type Cli, type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { listOption, requireYes, textOption } from '../../platform/cli/options.ts';
import { pagedTable, pageOf, withPaging } from '../../platform/cli/paging.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import type { Contacts } from '../contacts/service.ts';
import { tellProblem } from './checks.ts';
import type { Lifecycle, Selection } from './lifecycle.ts';
import type { SequenceRecord, Sequences } from './service.ts';

interface Needs {
  projects: Projects;
  contacts: Contacts;
  sequences: Sequences;
  lifecycle: Lifecycle;
}

type Noun<S> = ReturnType<Cli<S>['noun']>;

/** Registers `satchel sequence list | show | check | preview | activate | pause | resume | finish | copy | enroll | why`. */
export function registerSequenceCommands<S extends Needs>(cli: Cli<S>): void {
  const noun = cli.noun('sequence', 'mails that follow one another, for the contacts of a list');
  registerLooking(cli, noun);
  registerForesight(cli, noun);
  registerTransitions(cli, noun);
  registerCopy(cli, noun);
  registerEnroll(cli, noun);
}

function registerLooking<S extends Needs>(cli: Cli<S>, noun: Noun<S>): void {
  withPaging(cli.verb(noun, 'list', 'sequences of a project, newest first'))
    .requiredOption('--project <ref>', 'the project')
    .example('satchel sequence list --project shop')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const { data, meta } = services.sequences.list(project.id, pageOf(options));
      const rows = data.map((one) => [
        one.id,
        one.name,
        one.status,
        one.stats.active,
        one.stats.sent,
        one.stats.lost,
        one.pause_reason,
      ]);
      const titles = ['id', 'name', 'status', 'active', 'sent', 'lost', 'paused by'];
      return { json: data, text: pagedTable(formatTable(titles, rows, 'There are no sequences.'), meta) };
    });
  cli
    .verb(noun, 'show <id>', 'one sequence with its steps and numbers')
    .example('satchel sequence show 01J00000000000000000000000')
    .does(async ({ services }, _options, id = '') => shown(recordOf(services, id)));
  cli
    .verb(noun, 'why <id>', 'why a sequence sends or does not; with an address, what that gets')
    .option('--contact <address>', 'an address on its list')
    .example('satchel sequence why 01J00000000000000000000000 --contact ann@example.com')
    .does(async ({ services }, options, id = '') => {
      const row = services.sequences.require(id);
      const address = textOption(options, 'contact');
      const why =
        address === undefined
          ? await services.sequences.why(row.project_id, id)
          : services.sequences.whyContact(row.project_id, id, address);
      return { json: { id, why }, text: why.join('\n') };
    });
}

function recordOf(services: Needs, id: string): SequenceRecord {
  return services.sequences.get(services.sequences.require(id).project_id, id);
}

function shown(record: SequenceRecord): CliResult {
  const { steps, stats, ...fields } = record;
  const rows = steps.map((step) => [
    step.key,
    step.track,
    step.template,
    step.delay_hours,
    step.stats.active,
    step.stats.waiting,
    step.stats.sent,
    step.stats.lost,
    step.stats.clicked,
  ]);
  const titles = [
    ...['step', 'track', 'template', 'after h', 'under way'],
    ...['waiting', 'sent', 'lost', 'clicked'],
  ];
  const head = {
    ...fields,
    exit_events: fields.exit_events.join(', '),
    enroll_tags: fields.enroll_tags.join(', '),
    ...stats,
  };
  const table = formatTable(titles, rows, 'It has no steps.');
  const conditions = tellConditions(steps.map(({ key, condition_text }) => [key, condition_text]));
  return {
    json: record,
    text: (columns) => `${formatFields(head)}\n\n${table(columns)}${conditions}`,
  };
}

/** Conditions are too long for a column. */
function tellConditions(steps: readonly (readonly [key: string, condition: string])[]): string {
  const asked = steps.filter(([, condition]) => condition !== 'always');
  return asked.length === 0
    ? ''
    : `\n\n${asked.map(([key, words]) => `${key}: sent if ${words}`).join('\n')}`;
}

function registerForesight<S extends Needs>(cli: Cli<S>, noun: Noun<S>): void {
  cli
    .verb(noun, 'check <id>', 'what keeps a sequence from being activated; ends with 1 if anything does')
    .example('satchel sequence check 01J00000000000000000000000')
    .does(async ({ services }, _options, id = '') => {
      const verdict = await services.sequences.check(services.sequences.require(id).project_id, id);
      const words = verdict.problems.map(tellProblem);
      return {
        json: verdict,
        text: [
          ...(verdict.ready ? ['It is ready.'] : words),
          ...(verdict.captured ? ['All mailboxes of its marketing capture: nobody gets its mail.'] : []),
        ].join('\n'),
        exit: verdict.ready ? EXIT.done : EXIT.refused,
      };
    });
  cli
    .verb(noun, 'preview <id>', 'what a contact would see, and when; sends nothing')
    .option('--contact <address>', 'an address on its list; a sample unless given')
    .option('--clicks <steps>', 'steps whose mail is clicked')
    .example('satchel sequence preview 01J00000000000000000000000 --clicks hello,offer')
    .does(async ({ services }, options, id = '') => {
      const row = services.sequences.require(id);
      const address = textOption(options, 'contact');
      const contact = address === undefined ? null : services.sequences.contactOf(row, address);
      const seen = services.sequences.preview(row.project_id, id, {
        contact: contact?.public_id,
        clicks: listOption(options, 'clicks'),
      });
      const rows = seen.timeline.map((one) => [one.at, one.key, one.track, one.result, one.subject]);
      const table = formatTable(['at', 'step', 'track', 'result', 'subject'], rows, 'It has no steps.');
      const conditions = tellConditions(seen.timeline.map(({ key, condition }) => [key, condition]));
      const rule = 'A delay counts from when a relay took the mail before: here each takes it at once.';
      const end = `Ends ${seen.end.at}: ${seen.end.reason}. ${seen.end.error ?? ''}`.trimEnd();
      return { json: seen, text: (columns) => `${table(columns)}${conditions}\n\n${rule}\n${end}` };
    });
}

function registerTransitions<S extends Needs>(cli: Cli<S>, noun: Noun<S>): void {
  const words = {
    activate: 'have a draft run; it enrolls nobody',
    pause: 'send nothing until it is resumed',
    resume: 'go on after a pause; what fell due is sent now',
    finish: 'end a sequence for good',
  } as const;
  for (const name of ['activate', 'pause', 'resume', 'finish'] as const) {
    const yes = name === 'finish' ? ' --yes' : '';
    const verb = cli
      .verb(noun, `${name} <id>`, words[name])
      .addHelpText('after', `\nExample:\n  satchel sequence ${name} 01J00000000000000000000000${yes}`);
    if (name === 'finish') verb.option('--yes', 'really do it');
    verb.does(async ({ services, actor }, options, id = '') => {
      const row = services.sequences.require(id);
      const { stats } = recordOf(services, id);
      if (name === 'finish')
        requireYes(options, `ends the sequence ${row.name} for good: ${stats.active} enrollments exit`);
      const project = services.projects.require(String(row.project_id));
      await services.lifecycle[name](actor, project, id);
      const record = recordOf(services, id);
      return { json: record, text: `The sequence ${record.name} is ${record.status}.` };
    });
  }
}

function registerCopy<S extends Needs>(cli: Cli<S>, noun: Noun<S>): void {
  cli
    .verb(noun, 'copy <id>', 'make a draft that is as a sequence is, with nobody in it')
    .example('satchel sequence copy 01J00000000000000000000000')
    .does(async ({ services, onTrail }, _options, id = '') => {
      const row = services.sequences.require(id);
      const project = services.projects.require(String(row.project_id));
      const record = await services.sequences.copy(project.id, id, onTrail(project));
      return { json: record, text: `The draft ${record.name} is made: ${record.id}` };
    });
}

function registerEnroll<S extends Needs>(cli: Cli<S>, noun: Noun<S>): void {
  cli
    .verb(noun, 'enroll <id>', 'enroll contacts of its list')
    .option('--all', 'every active one')
    .option('--tags <tags>', 'those with at least one of these tags')
    .option('--contacts <file>', 'those whose ids stand in a file, a line each')
    .example('satchel sequence enroll 01J00000000000000000000000 --tags customer')
    .does(async ({ services, onTrail }, options, id = '') => {
      const row = services.sequences.require(id);
      const project = services.projects.require(String(row.project_id));
      const how = { note: onTrail(project) };
      const done = await services.lifecycle.enroll(project, id, selectionOf(options), how);
      return {
        json: done,
        text: `${done.enrolled} enrolled, ${done.already} were before, ${done.refused_suppressed} are suppressed, ${done.refused_status} are not active.`,
      };
    });
}

function selectionOf(options: Record<string, unknown>): Selection {
  const tags = listOption(options, 'tags');
  const file = textOption(options, 'contacts');
  const given = [options.all === true, tags.length > 0, file !== undefined].filter(Boolean).length;
  if (given !== 1) throw new UsageError('Give exactly one of --all, --tags and --contacts.');
  if (file !== undefined) return { contact_ids: readIds(file) };
  return tags.length > 0 ? { tags } : { all: true };
}

function readIds(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split(/\s+/)
      .filter((id) => id !== '');
  } catch (error) {
    throw new AppError('invalid', `The file cannot be read: ${messageOf(error)}`);
  }
}
