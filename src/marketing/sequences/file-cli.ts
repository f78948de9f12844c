/** `satchel sequence push | pull`: sequences as files. */
import { AppError, type FieldErrors, refuseAll } from '../../errors.ts';
import type { Cli, CliResult } from '../../platform/cli/cli.ts';
import { readFileText } from '../../platform/cli/input.ts';
import type { OnProject, VerbSession } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/validation.ts';
import { counted, findNamed } from '../../platform/words/phrases.ts';
import { keyIn, type MarketingServices, noteSecond } from '../cli-services.ts';
import type { Verbs } from './cli.ts';
import { changes, creation } from './schemas.ts';
import { differencesOf, readSequenceFile, type SequenceFile, writeSequenceFile } from './sequence-file.ts';
import type { SequenceRecord } from './service.ts';

type Session = VerbSession<MarketingServices> & OnProject<{ id: number; public_id: string }>;

/** Registers `satchel sequence push | pull`. */
export function registerSequenceFiles<S extends MarketingServices>(cli: Cli<S>, { all, one }: Verbs): void {
  all('push <file>', 'make a sequence of a file, or change the one of its id or name; - is standard input')
    .remark(`A JSON file of the fields that the API takes; list and templates by their names or ids:

  {"name": "Welcome", "list": "Newsletter", "max_recipients": 1000,
   "steps": [{"key": "hello", "template": "hello"},
             {"key": "offer", "template": "offer", "delay_hours": 48, "is_final": true}]}

What it leaves out stays as it is; steps are replaced whole.`)
    .example('satchel sequence push welcome.json --project shop')
    .does(async (session, _options, path) => {
      const sent = readSequenceFile(await readFileText(cli, path));
      const current = findCurrent(session, sent);
      const file = withSlugs(session, { current, file: sent });
      const list = file.list === undefined ? undefined : keyIn('list_names')(file.list, session);
      return current === null ? make(session, { ...file, list }) : change(session, { current, file, list });
    });
  one('pull', 'print a sequence as the file that push takes')
    .example('satchel sequence pull Welcome --project shop > welcome.json')
    .does(({ services, project, id }) => {
      const record = services.sequences.get(project.id, id);
      const file = writeSequenceFile(record, nameOfList(services, project.id, record.list));
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
function findCurrent(session: Session, { id, name }: SequenceFile): SequenceRecord | null {
  const { services, project } = session;
  const { sequences, sequence_names } = services;
  if (id !== undefined) {
    if (sequence_names.byId(id)?.project_id !== project.id)
      throw new AppError(
        'not_found',
        'No sequence of the project has the id of the file: leave the id out to make one.',
      );
    return sequences.get(project.id, id);
  }
  if (!sequence_names.called(project.id, name).some(({ is_over }) => !is_over)) return null;
  return sequences.get(project.id, keyIn('sequence_names')(name, session));
}

/**
 * The file with the templates of its steps by their slugs, which may stand there as names or ids. Throws
 * AppError `invalid` for those that name none, unless that is how the step is already: a draft may wait for
 * its template.
 */
function withSlugs(
  { services: { template_names }, project }: Session,
  { current, file }: { current: SequenceRecord | null; file: SequenceFile },
): SequenceFile {
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

async function make(session: Session, file: object): Promise<CliResult> {
  const { services, project, trail } = session;
  const made = await services.sequences.create(project.id, parse(creation, file), trail);
  noteSecond(session, 'sequence', made.name);
  const what = `The draft ${made.name} is made, with ${counted(made.steps.length, 'step')}.`;
  return { json: made, text: `${made.id}\n${what} Next: satchel sequence check ${made.id}` };
}

async function change(
  { services, project, trail }: Session,
  { current, file, list }: { current: SequenceRecord; file: SequenceFile; list: string | undefined },
): Promise<CliResult> {
  const { id, name } = current;
  const { changes: different, told } = differencesOf(current, file, list);
  if (told.length === 0)
    return { json: current, text: `${id}\nThe sequence ${name} is as the file has it: nothing was changed.` };
  const changed = await services.sequences.update(project.id, id, parse(changes, different), trail);
  return { json: changed, text: `${id}\nThe sequence ${changed.name} is changed: ${told.join(', ')}.` };
}
