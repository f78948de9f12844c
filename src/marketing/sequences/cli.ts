/** `satchel sequence`: looking at sequences, having them run, and why somebody gets what. */
import { AppError, messageOf } from '../../errors.ts';
import { type Cli, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import { readNamedFile } from '../../platform/cli/named-files.ts';
import { listOption, type Options, textOption } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { campaignVerbs, checkResult } from '../campaign-cli.ts';
import type { MarketingServices } from '../cli-services.ts';
import { FILTER_HELP } from '../contacts/service.ts';
import { filterOption, SEGMENT_HELP } from '../segments/service.ts';
import { registerSequenceFiles } from './file-cli.ts';
import type { Selection, SequenceLife } from './lifecycle.ts';
import type { SequenceRecord } from './service.ts';

type Services = MarketingServices & { sequence_life: SequenceLife };

const { recordOf, named, copy, transition } = campaignVerbs<Services, SequenceRecord>(
  'sequence',
  (services) => ({
    campaigns: services.sequences,
    names: services.sequence_names,
  }),
);

/** Registers `satchel sequence` and its verbs. */
export function registerSequenceCommands(cli: Cli<Services>): void {
  const noun = cli.noun('sequence');
  registerLooking(noun);
  registerForesight(noun);
  registerTransitions(noun);
  registerSequenceFiles(cli, noun);
  copy(noun, 'make a draft that is as a sequence is, with nobody in it');
  noun
    .verb('enroll <sequence>', 'enroll contacts of its list')
    .named(named)
    .option('--all', 'every active one')
    .option('--tags <tags>', 'those with at least one of these tags')
    .option('--contacts <file>', 'those whose ids stand in a file, a line each')
    .option('--filter <filter>', FILTER_HELP)
    .option('--segment <segment>', SEGMENT_HELP)
    .example('satchel sequence enroll 01J00000000000000000000000 --tags customer')
    .does(async ({ services, onTrail }, options, id) => {
      const sequence = services.sequences.requireAny(id);
      const project = ownerOf(services, sequence);
      const how = { note: onTrail(project) };
      const done = await services.sequence_life.enroll(
        project,
        id,
        selectionOf(services, sequence, options),
        how,
      );
      const refused = `${done.refused_suppressed} are suppressed, ${done.refused_status} are not active.`;
      return { json: done, text: `${done.enrolled} enrolled, ${done.already} were before, ${refused}` };
    });
}

function registerLooking(noun: Noun<Services>): void {
  noun
    .verb('list', 'sequences of a project, newest first')
    .ofProject()
    .example('satchel sequence list --project shop')
    .lists(
      ({ services, page }, options) => services.sequences.list(projectOf(services, options).id, page),
      ({ id, name, status, stats, pause_reason }) => ({
        id,
        name,
        status,
        active: stats.active,
        sent: stats.sent,
        lost: stats.lost,
        'paused by': pause_reason,
      }),
      'There are no sequences.',
    );
  noun
    .verb('show <sequence>', 'one sequence with its steps and numbers')
    .named(named)
    .example('satchel sequence show Welcome --project shop')
    .does(({ services }, _options, id) => present(recordOf(services, id)));
  noun
    .verb('why <sequence>', 'why a sequence sends or does not; with an address, what that gets')
    .named(named)
    .option('--contact <address>', 'an address on its list')
    .example('satchel sequence why 01J00000000000000000000000 --contact ann@example.com')
    .does(async ({ services: { sequences } }, options, id) => {
      const { project_id } = sequences.requireAny(id);
      const address = textOption(options, 'contact');
      const why =
        address === undefined
          ? await sequences.explain(project_id, id)
          : sequences.explainContact(project_id, id, address);
      return { json: { id, why }, text: why.join('\n') };
    });
}

function present(record: SequenceRecord): CliResult {
  const { steps, stats, ...fields } = record;
  const rows = steps.map((step) => ({
    step: step.key,
    track: step.track,
    template: step.template,
    'after h': step.delay_hours,
    'under way': step.stats.active,
    waiting: step.stats.waiting,
    sent: step.stats.sent,
    lost: step.stats.lost,
    clicked: step.stats.clicked,
  }));
  const head = formatFields({ ...fields, ...stats });
  const table = formatTable(rows, 'It has no steps.');
  const conditions = explainConditions(steps.map(({ key, condition_text }) => [key, condition_text]));
  const preheaders = steps.flatMap(({ key, preheader }) =>
    preheader === null ? [] : `${key}: ${preheader}`,
  );
  const shown = preheaders.length === 0 ? '' : `\n\nPreheaders:\n${preheaders.join('\n')}`;
  return { json: record, text: (columns) => `${head}\n\n${table(columns)}${conditions}${shown}` };
}

/** Conditions are too long for a column. */
function explainConditions(steps: readonly (readonly [key: string, condition: string])[]): string {
  const asked = steps.filter(([, condition]) => condition !== 'always');
  return asked.length === 0
    ? ''
    : `\n\n${asked.map(([key, words]) => `${key}: sent if ${words}`).join('\n')}`;
}

function registerForesight(noun: Noun<Services>): void {
  noun
    .verb('check <sequence>', 'what keeps a sequence from being activated; ends with 1 if anything does')
    .named(named)
    .example('satchel sequence check 01J00000000000000000000000')
    .does(async ({ services: { sequences } }, _options, id) =>
      checkResult(await sequences.check(sequences.requireAny(id).project_id, id)),
    );
  noun
    .verb('preview <sequence>', 'what a contact would see, and when; sends nothing')
    .named(named)
    .option('--contact <address>', 'an address on its list; a sample unless given')
    .option('--clicks <steps>', 'steps whose mail is clicked')
    .example('satchel sequence preview 01J00000000000000000000000 --clicks hello,offer')
    .does(async ({ services: { sequences } }, options, id) => {
      const row = sequences.requireAny(id);
      const address = textOption(options, 'contact');
      const contact = address === undefined ? null : sequences.contactOf(row, address);
      const clicks = listOption(options, 'clicks');
      const seen = await sequences.preview(row.project_id, id, {
        contact: contact?.public_id ?? null,
        clicks,
      });
      const rows = seen.timeline.map(({ at, key, ...one }) => {
        const { track, result, subject } = one;
        return { at, step: key, track, result, subject };
      });
      const table = formatTable(rows, 'It has no steps.');
      const conditions = explainConditions(seen.timeline.map(({ key, condition }) => [key, condition]));
      const rule = 'A delay counts from when a relay took the mail before: here each takes it at once.';
      const end = `Ends ${seen.end.at}: ${seen.end.reason}. ${seen.end.error ?? ''}`.trimEnd();
      return { json: seen, text: (columns) => `${table(columns)}${conditions}\n\n${rule}\n${end}` };
    });
}

function registerTransitions(noun: Noun<Services>): void {
  const tell = ({ status }: SequenceRecord): string => `${status}.`;
  for (const [name, says] of [
    ['activate', 'have a draft run; it enrolls nobody'],
    ['pause', 'send nothing until it is resumed'],
    ['resume', 'go on after a pause; what fell due is sent now'],
  ] as const)
    transition(noun, {
      name,
      says,
      tell,
      run: ({ sequence_life }, actor, owner, id) => sequence_life[name](actor, owner, id),
    });
  transition(noun, {
    name: 'finish',
    says: 'end a sequence for good',
    consent: ({ name, stats }) => `ends the sequence ${name} for good: ${stats.active} enrollments exit`,
    tell,
    run: ({ sequence_life }, actor, owner, id) => sequence_life.finish(actor, owner, id),
  });
}

function selectionOf(
  services: Services,
  { list_id, project_id }: { list_id: number; project_id: number },
  options: Options,
): Selection {
  const tags = listOption(options, 'tags');
  const file = textOption(options, 'contacts');
  const whom = [options.all, tags[0], file, options.filter, options.segment];
  if (whom.filter((form) => form !== undefined).length !== 1)
    throw new UsageError('Give exactly one of --all, --tags, --contacts, --filter and --segment.');
  const filter = filterOption(services, { id: list_id, project_id }, options);
  if (filter !== undefined) return { filter };
  if (file !== undefined) return { contact_ids: readIds(file) };
  return tags.length > 0 ? { tags } : { all: true };
}

function readIds(file: string): string[] {
  try {
    return readNamedFile(file)
      .toString('utf8')
      .split(/\s+/)
      .filter((id) => id !== '');
  } catch (error) {
    throw new AppError('invalid', `The file cannot be read: ${messageOf(error)}`);
  }
}
