/** `satchel list`: the lists that contacts are on. */

import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { listOption, numberOption, requireYes, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import { CONSENT_BASES, type ListRecord, type Lists } from './service.ts';

interface Needs {
  projects: Projects;
  lists: Lists;
}

/** Registers `satchel list create | list | show | archive`. */
export function registerListCommands<S extends Needs>(cli: Cli<S>): void {
  const list = cli.noun('list', 'the lists that contacts are on');
  cli
    .verb(list, 'create', 'make a list')
    .requiredOption('--project <ref>', 'the project')
    .requiredOption('--name <name>', 'its name')
    .option('--description <text>', 'what it is for')
    .option('--basis <basis>', `consent of contacts that come without: ${CONSENT_BASES.join(', ')}`)
    .option('--double-opt-in', 'sign-ups by form are confirmed by a mail')
    .option('--confirmation-template <slug>', 'template of that mail; it holds {{confirm_url}}')
    .option('--token-hosts <hosts>', 'hosts whose links carry the contact_token')
    .example('satchel list create --project shop --name Newsletter --basis consent')
    .does(async ({ services, onTrail }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const basis = parse(t.Object({ basis: t.Optional(oneOf(CONSENT_BASES)) }), {
        basis: textOption(options, 'basis'),
      }).basis;
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
  registerReading(cli, list);
  cli
    .verb(list, 'archive <id>', 'have a list take nobody any more; its contacts stay')
    .option('--yes', 'really do it')
    .example('satchel list archive 01J00000000000000000000000 --yes')
    .does(async ({ services, onTrail }, options, id = '') => {
      const row = services.lists.require(id);
      const project = services.projects.require(String(row.project_id));
      const { name, contacts_count } = services.lists.get(row.project_id, id);
      requireYes(
        options,
        `archives the list ${name}: nobody can be added to it; its ${contacts_count} contacts stay`,
      );
      const archived = await services.lists.update(project.id, id, { archived: true }, onTrail(project));
      return { json: archived, text: `The list ${name} is archived.` };
    });
}

function registerReading<S extends Needs>(cli: Cli<S>, list: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(list, 'list', 'lists of a project, newest first')
    .requiredOption('--project <ref>', 'the project')
    .option('--archived', 'archived ones too')
    .option('--page <n>', 'a page of 50', wholeNumber(1))
    .example('satchel list list --project shop')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const page = services.lists.list(project.id, {
        per_page: 50,
        page: numberOption(options, 'page') ?? 1,
        include_archived: options.archived === true,
      });
      return { json: page.data, text: tableOf(page.data) };
    });
  cli
    .verb(list, 'show <id>', 'one list with its counters')
    .example('satchel list show 01J00000000000000000000000')
    .does(async ({ services }, _options, id = '') => {
      const record = services.lists.get(services.lists.require(id).project_id, id);
      const { token_hosts, status_counts, ...fields } = record;
      const counts = Object.entries(status_counts).map(([status, n]) => `${n} ${status}`);
      const shown = { ...fields, token_hosts: token_hosts.join(', '), status_counts: counts.join(', ') };
      return { json: record, text: formatFields(shown) };
    });
}

function tableOf(lists: readonly ListRecord[]) {
  return formatTable(
    ['id', 'name', 'contacts', 'active', 'opt-in', 'archived'],
    lists.map((one) => [
      one.id,
      one.name,
      one.contacts_count,
      one.active_count,
      one.double_opt_in ? 'double' : 'single',
      one.archived,
    ]),
    'There are no lists. Make one with: satchel list create --project REF --name NAME',
  );
}
