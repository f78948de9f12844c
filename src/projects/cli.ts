/** `satchel project`: making, listing, showing and deleting projects. */
import type { Cli } from '../platform/cli/cli.ts';
import { requireYes, textOption } from '../platform/cli/options.ts';
import { formatFields, formatTable } from '../platform/cli/tables.ts';
import { parse, t } from '../platform/http/schema.ts';
import { createProjectBody, projectStatus } from './schemas.ts';
import type { CascadeCounts, Projects } from './service.ts';

type Services = { projects: Projects };

/** Registers `satchel project create | list | show | delete`. */
export function registerProjectCommands(cli: Cli<Services>): void {
  const project = cli.noun('project', 'what keys, files, mail and secrets belong to');
  cli
    .verb(project, 'create', 'make a project')
    .requiredOption('--name <name>', 'its name')
    .option('--slug <slug>', 'its name in addresses; made from the name unless given')
    .option('--description <text>', 'what it is')
    .addHelpText('after', '\nExample:\n  satchel project create --name "Corner shop" --slug shop')
    .action(
      cli.action(async ({ services, actor }, options) => {
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
      }),
    );
  registerReading(cli, project);
  cli
    .verb(project, 'delete <ref>', 'delete a project with everything in it: keys, files, mail, secrets')
    .option('--yes', 'really do it')
    .addHelpText('after', '\nExample:\n  satchel project delete shop --yes')
    .action(
      cli.action(async ({ services, actor }, options, ref = '') => {
        const { name } = services.projects.require(ref);
        requireYes(
          options,
          `deletes the project ${name} with all its keys, files, mail and secrets, for good`,
        );
        const deleted = await services.projects.remove(actor, ref);
        return {
          json: deleted,
          text: `Project ${name} is deleted, and with it ${summarize(deleted.cascade)}.`,
        };
      }),
    );
}

function registerReading(cli: Cli<Services>, project: ReturnType<Cli<Services>['noun']>): void {
  cli
    .verb(project, 'list', 'all projects, newest first')
    .addHelpText('after', '\nExample:\n  satchel project list')
    .option('--search <text>', 'only those with this in the name or slug')
    .option('--status <status>', 'only those that are active, or inactive')
    .action(
      cli.action(async ({ services }, options) => {
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
      }),
    );
  cli
    .verb(project, 'show <ref>', 'one project; it is named by numeric id, ULID or slug')
    .addHelpText('after', '\nExample:\n  satchel project show shop')
    .action(
      cli.action(async ({ services }, _options, ref = '') => {
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
      }),
    );
}

function summarize(cascade: CascadeCounts): string {
  return Object.entries(cascade)
    .map(([name, n]) => `${n} ${name.replaceAll('_', ' ')}`)
    .join(', ');
}
