/** `satchel sequence`: looking at sequences, having them run, and why somebody gets what. */
import { AppError, messageOf } from '../../errors.ts';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { readNamedFile } from '../../platform/cli/input.ts';
import { listOption, type Options, textOption } from '../../platform/cli/options.ts';
import { formatFields, formatTable, rowOf, type Table } from '../../platform/cli/tables.ts';
import { campaignVerbs, checkResult } from '../campaign-cli.ts';
import type { MarketingServices } from '../cli-services.ts';
import { FILTER_HELP } from '../contacts/service.ts';
import { filterOption, SEGMENT_HELP } from '../segments/service.ts';
import { registerSequenceFiles } from './file-cli.ts';
import type { Selection, SequenceLife } from './lifecycle.ts';
import type { SequenceRecord } from './service.ts';

type Services = MarketingServices & { sequence_life: SequenceLife };

const verbsOf = (cli: Cli<Services>) =>
  campaignVerbs<'sequence', Services, SequenceRecord>(cli, 'sequence', ({ sequences }) => sequences);
export type Verbs = ReturnType<typeof verbsOf>;

/** Registers `satchel sequence` and its verbs. */
export function registerSequenceCommands(cli: Cli<Services>): void {
  const verbs = verbsOf(cli);
  registerLooking(verbs);
  registerForesight(verbs);
  registerTransitions(verbs);
  registerSequenceFiles(cli, verbs);
  verbs.copy('make a draft that is as a sequence is, with nobody in it');
  verbs
    .one('enroll', 'enroll contacts of its list')
    .option('--all', 'every active one')
    .option('--tags <tags>', 'those with at least one of these tags')
    .option('--contacts <file>', 'those whose ids stand in a file, a line each')
    .option('--filter <filter>', FILTER_HELP)
    .option('--segment <segment>', SEGMENT_HELP)
    .example('satchel sequence enroll 01J00000000000000000000000 --tags customer')
    .shows(
      ({ services, project, id, trail }, options) => {
        const selection = selectionOf(services, services.sequences.requireAny(id), options);
        return services.sequence_life.enroll(project, id, selection, { note: trail });
      },
      ({ enrolled, already, refused_suppressed, refused_status }) =>
        `${enrolled} enrolled, ${already} were before, ${refused_suppressed} are suppressed, ${refused_status} are not active.`,
    );
}

function registerLooking({ all, one, recordOf }: Verbs): void {
  all('list', 'sequences of a project, newest first')
    .example('satchel sequence list --project shop')
    .lists(
      ({ services, project, page }) => services.sequences.list(project.id, page),
      (one) => rowOf({ ...one, ...one.stats }, 'id name status active sent lost paused_by=pause_reason'),
      'There are no sequences.',
    );
  one('show', 'one sequence with its steps and numbers')
    .example('satchel sequence show Welcome --project shop')
    .shows(recordOf, present);
  one('why', 'why a sequence sends or does not; with an address, what that gets')
    .option('--contact <address>', 'an address on its list')
    .example('satchel sequence why 01J00000000000000000000000 --contact ann@example.com')
    .does(async ({ services: { sequences }, project, id }, options) => {
      const address = textOption(options, 'contact');
      const why =
        address === undefined
          ? await sequences.explain(project.id, id)
          : sequences.explainContact(project.id, id, address);
      return { json: { id, why }, text: why.join('\n') };
    });
}

function present({ steps, stats, ...fields }: SequenceRecord): Table {
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
  return (columns) => `${head}\n\n${table(columns)}${conditions}${shown}`;
}

/** Conditions are too long for a column. */
function explainConditions(steps: readonly (readonly [key: string, condition: string])[]): string {
  const asked = steps.filter(([, condition]) => condition !== 'always');
  return asked.length === 0
    ? ''
    : `\n\n${asked.map(([key, words]) => `${key}: sent if ${words}`).join('\n')}`;
}

function registerForesight({ one }: Verbs): void {
  one('check', 'what keeps a sequence from being activated; ends with 1 if anything does')
    .example('satchel sequence check 01J00000000000000000000000')
    .does(async ({ services, project, id }) => checkResult(await services.sequences.check(project.id, id)));
  one('preview', 'what a contact would see, and when; sends nothing')
    .option('--contact <address>', 'an address on its list; a sample unless given')
    .option('--clicks <steps>', 'steps whose mail is clicked')
    .example('satchel sequence preview 01J00000000000000000000000 --clicks hello,offer')
    .does(async ({ services: { sequences }, id }, options) => {
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

function registerTransitions({ transition }: Verbs): void {
  const tell = ({ status }: SequenceRecord): string => `${status}.`;
  for (const [name, says] of [
    ['activate', 'have a draft run; it enrolls nobody'],
    ['pause', 'send nothing until it is resumed'],
    ['resume', 'go on after a pause; what fell due is sent now'],
  ] as const)
    transition(name, says, {
      tell,
      run: ({ sequence_life }, actor, owner, id) => sequence_life[name](actor, owner, id),
    });
  transition('finish', 'end a sequence for good', {
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
