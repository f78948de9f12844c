/** `satchel sequence push | pull`: sequences as files. */
import { AppError, type FieldErrors, refuseAll } from '../../errors.ts';
import type { Cli, CliResult, CliSession } from '../../platform/cli/cli.ts';
import type { Options } from '../../platform/cli/options.ts';
import { projectOf, resolveNamed } from '../../platform/cli/project-option.ts';
import { readFileText } from '../../platform/cli/secret-input.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { secondOfName } from '../../platform/http/second-names.ts';
import { parse } from '../../platform/http/validation.ts';
import { findNamed, isSecond } from '../../platform/words/naming.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { MarketingServices } from '../cli-services.ts';
import { changes, creation } from './schemas.ts';
import { differencesOf, readSequenceFile, type SequenceFile, writeSequenceFile } from './sequence-file.ts';
import type { SequenceRecord } from './service.ts';

/** Registers `satchel sequence push | pull`. */
export function registerSequenceFiles<S extends MarketingServices>(cli: Cli<S>, noun: Noun<S>): void {
  noun
    .verb(
      'push <file>',
      'make a sequence of a file, or change the one of its id or name; - is standard input',
    )
    .ofProject()
    .remark(`A JSON file of the fields that the API takes; list and templates by their names or ids:

  {"name": "Welcome", "list": "Newsletter", "max_recipients": 1000,
   "steps": [{"key": "hello", "template": "hello"},
             {"key": "offer", "template": "offer", "delay_hours": 48, "is_final": true}]}

What it leaves out stays as it is; steps are replaced whole.`)
    .example('satchel sequence push welcome.json --project shop')
    .does(async (session, options, path) => {
      const sent = readSequenceFile(await readFileText(cli, path));
      const current = findCurrent(session.services, options, sent);
      const file = withSlugs(session.services, options, { current, file: sent });
      return current === null
        ? await make(session, options, file)
        : await change(session, options, { current, file });
    });
  noun
    .verb('pull <sequence>', 'print a sequence as the file that push takes')
    .named(({ projects, sequence_names }) => ({ projects, ...sequence_names }))
    .example('satchel sequence pull Welcome --project shop > welcome.json')
    .does(({ services }, _options, id) => {
      const { project_id } = services.sequences.requireAny(id);
      const record = services.sequences.get(project_id, id);
      const file = writeSequenceFile(record, nameOfList(services, project_id, record.list));
      return { json: JSON.parse(file), text: file };
    });
}

/** The list's name where that names no other list, so that the file fits another Satchel too. */
function nameOfList({ lists, list_names }: MarketingServices, project_id: number, id: string): string {
  const { name } = lists.get(project_id, id);
  const alike = list_names.called(project_id, name).filter(({ is_over }) => !is_over);
  return alike.length === 1 && alike[0]?.id === id ? name : id;
}

/**
 * The sequence that a file is about; null for a new one. Throws AppError `conflict` where several have its
 * name.
 */
function findCurrent(
  services: MarketingServices,
  options: Options,
  { id, name }: SequenceFile,
): SequenceRecord | null {
  const { projects, sequences, sequence_names } = services;
  const project = projectOf(services, options);
  if (id !== undefined) {
    if (sequence_names.byId(id)?.project_id !== project.id)
      throw new AppError(
        'not_found',
        'No sequence of the project has the id of the file: leave the id out to make one.',
      );
    return sequences.get(project.id, id);
  }
  if (!sequence_names.called(project.id, name).some(({ is_over }) => !is_over)) return null;
  return sequences.get(project.id, resolveNamed({ projects, ...sequence_names }, name, options));
}

/**
 * The file with the templates of its steps by their slugs, which may stand there as names or ids. Throws
 * AppError `invalid` for those that name none, unless that is how the step is already: a draft may wait for
 * its template.
 */
function withSlugs(
  { projects, template_names }: MarketingServices,
  options: Options,
  { current, file }: { current: SequenceRecord | null; file: SequenceFile },
): SequenceFile {
  const project = projectOf({ projects }, options);
  const errors: FieldErrors = {};
  const steps = file.steps?.map((step, index) => {
    const before = current?.steps.find(({ key }) => key === step.key);
    if (before?.template === step.template) return step;
    const found = findNamed(template_names, project.id, step.template);
    if (!found)
      errors[`steps.${index}.template`] = [
        'names no template of this project. Those there are: satchel template list --project REF',
      ];
    return { ...step, template: found?.key ?? step.template };
  });
  refuseAll(errors);
  return { ...file, ...(steps && { steps }) };
}

function listOf(
  { projects, list_names }: MarketingServices,
  options: Options,
  { list }: SequenceFile,
): string | undefined {
  if (list === undefined) return undefined;
  return resolveNamed({ projects, ...list_names }, list, options);
}

async function make(
  { services, onTrail, note }: CliSession<MarketingServices>,
  options: Options,
  file: SequenceFile,
): Promise<CliResult> {
  const project = projectOf(services, options);
  const list = listOf(services, options, file);
  const made = await services.sequences.create(
    project.id,
    parse(creation, { ...file, list }),
    onTrail(project),
  );
  if (isSecond(services.sequence_names, project.id, made.name)) note(secondOfName('sequence', made.name));
  const what = `The draft ${made.name} is made, with ${counted(made.steps.length, 'step')}.`;
  return { json: made, text: `${made.id}\n${what} Next: satchel sequence check ${made.id}` };
}

async function change(
  { services, onTrail }: CliSession<MarketingServices>,
  options: Options,
  { current, file }: { current: SequenceRecord; file: SequenceFile },
): Promise<CliResult> {
  const project = projectOf(services, options);
  const { changes: different, told } = differencesOf(current, file, listOf(services, options, file));
  if (told.length === 0)
    return {
      json: current,
      text: `${current.id}\nThe sequence ${current.name} is as the file has it: nothing was changed.`,
    };
  const changed = await services.sequences.update(
    project.id,
    current.id,
    parse(changes, different),
    onTrail(project),
  );
  return {
    json: changed,
    text: `${changed.id}\nThe sequence ${changed.name} is changed: ${told.join(', ')}.`,
  };
}
