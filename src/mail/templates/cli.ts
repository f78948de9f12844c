/** `satchel template`: looking at the templates of a project, and deleting them. */
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { projectOf } from '../../platform/cli/project-option.ts';
import { counted, formatFields } from '../../platform/cli/tables.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
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
  noun
    .verb('list', 'the templates of a project, newest first')
    .ofProject()
    .example('satchel template list --project shop')
    .lists(
      ({ services, page }, options) =>
        paginateAll(page, services.templates.list(projectOf(services, options).id)),
      ({ slug, name, category, is_active, is_marketing, subject, updated_at }) => ({
        slug,
        name,
        category,
        active: is_active,
        marketing: is_marketing,
        subject,
        updated: updated_at,
      }),
      'There are no templates.',
    );
  noun
    .verb('show <slug>', 'a template, with its text')
    .ofProject()
    .example('satchel template show welcome --project shop')
    .does(({ services }, options, slug) => {
      const template = services.templates.get(projectOf(services, options).id, slug);
      const { variables, body_html, body_text, ...fields } = template;
      const names = variables.map(({ name }) => name);
      const parts = [formatFields({ ...fields, variables: names }), body_text, body_html];
      return { json: template, text: parts.filter((part) => part !== null).join('\n\n') };
    });
  noun
    .verb('delete <slug>', 'delete a template')
    .ofProject()
    .example('satchel template delete welcome --project shop --yes')
    .removes(async ({ services, consent, onTrail }, options, slug) => {
      const project = projectOf(services, options);
      const { name } = services.templates.get(project.id, slug);
      const using = counted(services.schedules.countUsing(project.id, slug), 'schedule');
      consent(
        `deletes the template ${name} (${slug}) for good; ${using} of the project would send nothing without it`,
      );
      await services.templates.remove(project.id, slug, onTrail(project));
      return { json: { deleted: true, slug }, text: `Template ${name} (${slug}) is deleted.` };
    });
}
