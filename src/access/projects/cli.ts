/** `satchel project`: making, listing, showing and deleting projects. */
import { Option } from 'commander';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { requireYes, textOption } from '../../platform/cli/options.ts';
import { counted, formatFields, formatTable } from '../../platform/cli/tables.ts';
import { parse, t } from '../../platform/http/schema.ts';
import { createProjectBody, projectStatus, updateProjectBody } from './schemas.ts';
import type { Projects } from './service.ts';

interface Services {
  projects: Projects;
  templates: { list(project_id: number): readonly unknown[] };
}

/** Registers `satchel project create | list | show | delete`. */
export function registerProjectCommands(cli: Cli<Services>): void {
  const project = cli.noun('project', 'what keys, files, mail and secrets belong to');
  cli
    .verb(project, 'create', 'make a project')
    .requiredOption('--name <name>', 'its name')
    .option('--slug <slug>', 'its name in addresses; made from the name unless given')
    .option('--description <text>', 'what it is')
    .example('satchel project create --name "Corner shop" --slug shop')
    .does(async ({ services, actor }, options) => {
      const input = parse(createProjectBody, {
        name: textOption(options, 'name'),
        slug: textOption(options, 'slug'),
        description: textOption(options, 'description'),
      });
      const created = await services.projects.create(actor, input);
      const { slug } = created;
      return {
        json: { ...services.projects.present(created), api_keys: [] },
        text: `Project ${created.id} (${slug}) is made. Next: satchel key create --project ${slug} --name NAME --can read,write`,
      };
    });
  registerReading(cli, project);
  registerChange(cli, project);
  cli
    .verb(project, 'delete <ref>', 'delete a project with everything in it: keys, files, mail, secrets')
    .option('--yes', 'really do it')
    .example('satchel project delete shop --yes')
    .does(async ({ services, actor }, options, ref = '') => {
      const project = services.projects.require(ref);
      const { name } = project;
      const email_templates = services.templates.list(project.id).length;
      const contents = summarize({ ...services.projects.countContents(project), email_templates });
      requireYes(options, `deletes the project ${name} for good, and with it ${contents}`);
      const deleted = await services.projects.remove(actor, ref);
      return {
        json: deleted,
        text: `Project ${name} is deleted, and with it ${summarize(deleted.cascade)}.`,
      };
    });
}

/** The option of each text field; an empty text clears the field. */
const TEXT_OPTIONS = {
  description: 'what it is',
  notes: 'for people',
  'primary-url': 'where its app is',
  'repo-url': 'where its code is',
  'app-identifier': 'such as com.example.app',
} as const;

function registerChange(cli: Cli<Services>, noun: ReturnType<Cli<Services>['noun']>): void {
  const change = cli
    .verb(noun, 'change <ref>', 'change what is given of a project')
    .option('--name <name>', 'its name')
    .option('--slug <slug>', 'its name in addresses; what uses the old one finds it no more')
    .addOption(
      new Option('--status <status>', 'inactive: its keys answer 401').choices(['active', 'inactive']),
    );
  for (const [name, what] of Object.entries(TEXT_OPTIONS))
    change.option(`--${name} <text>`, `${what}; empty to clear it`);
  change
    .example(
      'satchel project change shop --name "Corner shop" --description "Orders and receipts"',
      'satchel project change shop --status inactive',
    )
    .does(async ({ services, actor }, options, ref = '') => {
      const texts = Object.keys(TEXT_OPTIONS).flatMap((name) => {
        const field = name.replaceAll('-', '_');
        const value = textOption(
          options,
          name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
        );
        return value === undefined ? [] : [[field, value === '' ? null : value]];
      });
      const given = ['name', 'slug', 'status'].flatMap((name) => {
        const value = textOption(options, name);
        return value === undefined ? [] : [[name, value]];
      });
      if (texts.length + given.length === 0) throw new UsageError('Name what to change.');
      const changes = parse(updateProjectBody, Object.fromEntries([...given, ...texts]));
      const project = services.projects.require(ref);
      const changed = services.projects.present(await services.projects.update(actor, project, changes));
      return { json: changed, text: describe(changed) };
    });
}

function describe(project: ReturnType<Projects['present']>): string {
  const { platforms, tech_stack, ...fields } = project;
  return formatFields({ ...fields, platforms: platforms.join(', '), tech_stack: tech_stack.join(', ') });
}

function registerReading(cli: Cli<Services>, project: ReturnType<Cli<Services>['noun']>): void {
  cli
    .verb(project, 'list', 'all projects, newest first')
    .example('satchel project list')
    .option('--search <text>', 'only those with this in the name or slug')
    .option('--status <status>', 'only those that are active, or inactive')
    .does(async ({ services }, options) => {
      const filter = parse(t.Object({ q: t.Optional(t.String()), status: t.Optional(projectStatus) }), {
        q: textOption(options, 'search'),
        status: textOption(options, 'status'),
      });
      const projects = services.projects.listAll(filter).map((row) => ({
        ...services.projects.present(row),
        api_keys_count: services.projects.countApiKeys(row),
      }));
      const rows = projects.map((one) => [
        one.id,
        one.slug,
        one.name,
        one.status,
        one.api_keys_count,
        one.public_id,
        one.created_at,
      ]);
      const titles = ['id', 'slug', 'name', 'status', 'keys', 'ulid', 'created'];
      const is_filtered = Object.values(filter).some((value) => value !== undefined);
      const empty = is_filtered
        ? 'No project matches.'
        : 'There are no projects. Make one with: satchel project create --name NAME';
      return { json: projects, text: formatTable(titles, rows, empty) };
    });
  cli
    .verb(project, 'show <ref>', 'one project; it is named by numeric id, ULID or slug')
    .example('satchel project show shop')
    .does(async ({ services }, _options, ref = '') => {
      const row = services.projects.require(ref);
      const { platforms, tech_stack, api_keys, ...fields } = services.projects.presentWithKeys(row);
      const keys = api_keys.map((key) => `${key.id} ${key.name} ${key.key_prefix}...`).join(', ');
      return {
        json: { ...fields, platforms, tech_stack, api_keys },
        text: formatFields({
          ...fields,
          platforms: platforms.join(', '),
          tech_stack: tech_stack.join(', '),
          api_keys: keys,
        }),
      };
    });
}

function summarize(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  if (some.length === 0) return 'nothing else';
  return some.map(([name, count]) => counted(count, name.replaceAll('_', ' ').replace(/s$/, ''))).join(', ');
}
