/** `satchel list`: the lists that contacts are on. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { listOption, textOption, textOptions } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import { CONSENT_BASES, type Lists } from './service.ts';

interface Needs {
  projects: Projects;
  lists: Lists;
}

/** Registers `satchel list create | list | show | archive`. */
export function registerListCommands(cli: Cli<Needs>): void {
  const list = cli.noun('list', 'the lists that contacts are on');
  list
    .verb('create', 'make a list')
    .ofProject()
    .requiredOption('--name <name>', 'its name')
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--basis <basis>', 'consent of contacts that come without').choices(CONSENT_BASES))
    .option('--double-opt-in', 'sign-ups by form are confirmed by a mail')
    .option('--confirmation-template <slug>', 'template of that mail; it holds {{confirm_url}}')
    .option('--token-hosts <hosts>', 'hosts whose links carry the contact_token')
    .example('satchel list create --project shop --name Newsletter --basis consent')
    .does(async ({ services, onTrail }, options) => {
      const project = projectOf(services, options);
      const { basis } = parse(
        t.Object({ basis: t.Optional(oneOf(CONSENT_BASES)) }),
        textOptions(options, 'basis'),
      );
      const fields = {
        name: textOption(options, 'name') ?? '',
        description: textOption(options, 'description'),
        default_consent_basis: basis,
        double_opt_in: options.doubleOptIn === true,
        confirmation_template: textOption(options, 'confirmationTemplate'),
        token_hosts: listOption(options, 'tokenHosts'),
      };
      const made = await services.lists.create(project.id, fields, onTrail(project));
      return {
        json: made,
        text: `${made.id}\nThe list ${made.name} is made. Next: satchel import start ${made.id} people.csv`,
      };
    });
  list
    .verb('list', 'lists of a project, newest first')
    .ofProject()
    .option('--archived', 'archived ones too')
    .example('satchel list list --project shop')
    .lists(
      ({ services, page }, options) =>
        services.lists.list(projectOf(services, options).id, {
          ...page,
          include_archived: options.archived === true,
        }),
      (one) => ({
        id: one.id,
        name: one.name,
        contacts: one.contacts_count,
        active: one.active_count,
        'opt-in': one.double_opt_in ? 'double' : 'single',
        archived: one.archived,
      }),
      'There are no lists. Make one with: satchel list create --project REF --name NAME',
    );
  list
    .verb('show <id>', 'one list with its counters')
    .example('satchel list show 01J00000000000000000000000')
    .shows(
      ({ services }, _options, id) => services.lists.get(services.lists.require(id).project_id, id),
      ({ token_hosts, status_counts, ...fields }) => ({
        ...fields,
        token_hosts,
        status_counts: Object.entries(status_counts).map(([status, n]) => `${n} ${status}`),
      }),
    );
  list
    .verb('archive <id>', 'have a list take nobody any more; its contacts stay')
    .example('satchel list archive 01J00000000000000000000000 --yes')
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const project = ownerOf(services, services.lists.require(id));
      const { name, contacts_count } = services.lists.get(project.id, id);
      consent(`archives the list ${name}: nobody can be added to it; its ${contacts_count} contacts stay`);
      const archived = await services.lists.update(project.id, id, { archived: true }, onTrail(project));
      return { json: archived, text: `The list ${name} is archived.` };
    });
}
