/** `satchel template`: looking at the templates of a project, keeping them as files, and deleting them. */
import type { Projects } from '../../access/projects/service.ts';
import { AppError, messageOf } from '../../errors.ts';
import { type Cli, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import { readNamedFile } from '../../platform/cli/input.ts';
import { formatFields, rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import { setBy } from '../../platform/http/fields.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import { counted, type Naming } from '../../platform/words/phrases.ts';
import { slugOf, toVariable } from './fields.ts';
import { BODY_FIELDS, FIELDS, newTemplate, type TemplateChanges, type TemplateRecord } from './schemas.ts';
import type { Templates } from './service.ts';
import type { FileKind, TemplateFile } from './template-file.ts';

interface Services {
  projects: Projects;
  templates: Templates;
  /** How many schedules of a project use a template. */
  schedules: { countUsing(project_id: number, template: string): number };
  template_names: Naming;
}

const named_template = ({ template_names }: Services) => template_names;

/** Registers `satchel template list | show | push | pull | delete`. */
export function registerTemplateCommands(cli: Cli<Services>): void {
  const noun = cli.noun('template');
  noun
    .verb('list', 'the templates of a project, newest first')
    .ofProject()
    .option('--with-own', 'the words of broadcasts and steps, too')
    .example('satchel template list --project shop')
    .lists(
      ({ services, project, page }, options) =>
        paginateAll(page, services.templates.list(project.id, { with_own: options.withOwn === true })),
      (one) =>
        rowOf(
          one,
          'slug name category active=is_active marketing=is_marketing draft=has_draft subject updated=updated_at',
        ),
      'There are no templates.',
    );
  noun
    .verb('show <template>', 'a template, with its text')
    .ofProject()
    .named(named_template)
    .example('satchel template show welcome --project shop')
    .shows(
      ({ services, project, id }) => services.templates.get(project.id, id),
      ({ variables, body_html, body_text, body_markdown, draft: _, ...fields }) => {
        const names = variables.map(({ name }) => name);
        const bodies = body_markdown === null ? [body_text, body_html] : [body_markdown];
        const parts = [formatFields({ ...fields, variables: names }), ...bodies];
        return parts.filter((part) => part !== null).join('\n\n');
      },
    );
  registerFiles(noun);
  noun
    .verb('delete <template>', 'delete a template')
    .ofProject()
    .named(named_template)
    .example('satchel template delete welcome --project shop --yes')
    .removes(async ({ services, project, id: slug, consent, trail }) => {
      const { name } = services.templates.get(project.id, slug);
      const using = counted(services.schedules.countUsing(project.id, slug), 'schedule');
      consent(
        `deletes the template ${name} (${slug}) for good; ${using} of the project would send nothing without it`,
      );
      await services.templates.remove(project.id, slug, trail);
      return { json: { deleted: true, slug }, text: `Template ${name} (${slug}) is deleted.` };
    });
}

const KINDS: Readonly<Record<FileKind, string>> = { md: 'Markdown', html: 'HTML', txt: 'text' };

function registerFiles(noun: Noun<Services>): void {
  noun
    .verb('push <file>', 'make a template of a file, or change the one of its slug')
    .ofProject()
    .remark(`A file of Markdown (.md), HTML (.html) or text (.txt), below its front matter:

  ---
  name: Order shipped
  slug: order-shipped
  subject: "Order {{ order_id }} is on its way"
  category: transactional
  variables:
    - name: order_id
      required: true
  ---
  Your order is on its way: [follow it]({{ url }}).

Besides: description, is_marketing, layout. What the front matter leaves out stays as it is.`)
    .example('satchel template push order-shipped.md --project shop')
    .does(async ({ services, project, trail }, _options, path) => {
      const file = await readFile(path);
      try {
        return await push(services.templates, project.id, file, trail);
      } catch (error) {
        throw file.explain(error);
      }
    });
  noun
    .verb('pull <template>', 'print a template as the file that push takes')
    .ofProject()
    .named(named_template)
    .example('satchel template pull order-shipped --project shop > order-shipped.md')
    .does(async ({ services, project, id: slug, note }) => {
      const { writeTemplateFile } = await import('./template-file.ts');
      const template = services.templates.get(project.id, slug);
      const { kind, file } = writeTemplateFile(template);
      note(`This is ${KINDS[kind]}: keep it as ${slug}.${kind}, since push goes by the name of a file.`);
      if (kind === 'html' && template.body_text !== null)
        note('Its text stands in the template alone, and push leaves it as it is.');
      return { json: { slug, kind, file }, text: file };
    });
}

async function readFile(path: string): Promise<TemplateFile> {
  // With the reader of YAML, which nothing else needs.
  const { kindOfFile, readTemplateFile } = await import('./template-file.ts');
  const kind = kindOfFile(path);
  if (kind === null) throw new UsageError('The name of the file must end in .md, .html or .txt.');
  let bytes: Uint8Array;
  try {
    bytes = readNamedFile(path);
  } catch (error) {
    throw new AppError('invalid', `The file cannot be read: ${messageOf(error)}`);
  }
  return readTemplateFile(bytes, kind);
}

async function push(
  templates: Templates,
  project_id: number,
  { fields, body_field, body }: TemplateFile,
  note: Note,
): Promise<CliResult> {
  const { slug = slugOf(fields.name ?? ''), ...given } = fields;
  const is_named = (fields.slug ?? fields.name) !== undefined;
  const current = is_named ? templates.find(project_id, slug) : null;
  if (current === null) {
    const sent = validate(newTemplate, { ...fields, [body_field]: body });
    const template = requireAll(sent, (sound) => templates.errorsIn(project_id, null, sound), BODY_FIELDS);
    const made = await templates.create(project_id, template, note);
    return { json: made, text: `Template ${made.name} (${made.slug}) is made.` };
  }
  const changes = changesIn(current, { ...given, ...bodiesIn(current, body_field, body) });
  const what = Object.keys(changes);
  if (what.length === 0)
    return {
      json: current,
      text: `Template ${current.name} (${slug}) is as the file has it: nothing was changed.`,
    };
  const changed = await templates.update(project_id, slug, changes, note);
  return { json: changed, text: `Template ${changed.name} (${slug}) is changed: ${what.join(', ')}.` };
}

/** Pulled, a body that ends within a line ends with it; and what was made from Markdown goes with that. */
function bodiesIn(current: TemplateRecord, field: TemplateFile['body_field'], body: string): TemplateChanges {
  const same = body === `${current[field]}\n` ? current[field] : body;
  if (current.body_markdown === null || field === 'body_markdown') return { [field]: same };
  return { body_html: null, body_text: null, [field]: same };
}

/** The changes without those that change nothing. */
function changesIn(current: TemplateRecord, { variables, ...sent }: TemplateChanges): TemplateChanges {
  const is: Readonly<Record<string, unknown>> = { ...current };
  const changes = Object.entries(setBy(FIELDS, sent)).filter(([field, value]) => value !== is[field]);
  const declared = variables?.map(toVariable) ?? [];
  const redeclares =
    variables !== undefined && JSON.stringify(declared) !== JSON.stringify(current.variables);
  return { ...Object.fromEntries(changes), ...(redeclares ? { variables } : {}) };
}
