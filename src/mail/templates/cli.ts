/** `satchel template`: looking at the templates of a project, and deleting them. */

import type { ProjectRow, Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { requireYes, textOption } from '../../platform/cli/options.ts';
import { counted, formatFields, formatTable } from '../../platform/cli/tables.ts';
import type { Templates } from './service.ts';

interface Services {
  projects: Projects;
  templates: Templates;
  /** How many schedules of a project use a template. */
  schedules: { countUsing(project_id: number, template: string): number };
}

/** Registers `satchel template list | show | delete`. */
export function registerTemplateCommands(cli: Cli<Services>): void {
  const noun = cli.noun('template', 'saved emails with placeholders');
  const verb = (signature: string, description: string) =>
    cli
      .verb(noun, signature, description)
      .requiredOption('--project <ref>', 'its project: numeric id, ULID or slug');
  verb('list', 'the templates of a project, newest first')
    .example('satchel template list --project shop')
    .does(async ({ services }, options) => {
      const templates = services.templates.list(projectOf(services, options).id);
      const rows = templates.map((one) => [
        ...[one.slug, one.name, one.category, one.is_active, one.is_marketing],
        ...[one.subject, one.updated_at],
      ]);
      const titles = ['slug', 'name', 'category', 'active', 'marketing', 'subject', 'updated'];
      return { json: templates, text: formatTable(titles, rows, 'There are no templates.') };
    });
  verb('show <slug>', 'a template, with its text')
    .example('satchel template show welcome --project shop')
    .does(async ({ services }, options, slug = '') => {
      const template = services.templates.get(projectOf(services, options).id, slug);
      const { variables, body_html, body_text, ...fields } = template;
      const names = variables.map(({ name }) => name).join(', ');
      const parts = [formatFields({ ...fields, variables: names }), body_text, body_html];
      return { json: template, text: parts.filter((part) => part !== null).join('\n\n') };
    });
  verb('delete <slug>', 'delete a template')
    .option('--yes', 'really do it')
    .example('satchel template delete welcome --project shop --yes')
    .does(async ({ services, onTrail }, options, slug = '') => {
      const project = projectOf(services, options);
      const { name } = services.templates.get(project.id, slug);
      const using = services.schedules.countUsing(project.id, slug);
      requireYes(
        options,
        `deletes the template ${name} (${slug}) for good; ${counted(using, 'schedule')} of the project would send nothing without it`,
      );
      await services.templates.remove(project.id, slug, onTrail(project));
      return { json: { deleted: true, slug }, text: `Template ${name} (${slug}) is deleted.` };
    });
}

function projectOf({ projects }: Services, options: Record<string, unknown>): ProjectRow {
  return projects.require(textOption(options, 'project') ?? '');
}
