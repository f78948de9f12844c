/** `satchel suppression`: the addresses that get no marketing mail of a project. */
import type { Contacts } from '../contacts/service.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { numberOption, requireYes, textOption, wholeNumber } from '../platform/cli/options.ts';
import { formatTable } from '../platform/cli/tables.ts';
import type { Projects } from '../projects/service.ts';
import type { Suppressions } from './service.ts';

interface Needs {
  projects: Projects;
  contacts: Contacts;
  suppressions: Suppressions;
}

/** Registers `satchel suppression list | add | remove`. */
export function registerSuppressionCommands<S extends Needs>(cli: Cli<S>): void {
  const suppression = cli.noun('suppression', 'addresses that get no marketing mail of a project');
  cli
    .verb(suppression, 'list', 'suppressions of a project as hashes, newest first')
    .requiredOption('--project <ref>', 'the project')
    .option('--address <address>', 'only that of this address')
    .option('--page <n>', 'a page of 50', wholeNumber(1))
    .example('satchel suppression list --project shop --address ann@example.com')
    .does(async ({ services }, options) => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const page = { per_page: 50, page: numberOption(options, 'page') ?? 1 };
      const address = textOption(options, 'address');
      const { data } =
        address === undefined
          ? services.suppressions.list(project, page)
          : services.suppressions.lookUp(project, address, page);
      const rows = data.map((one) => [one.kind, one.created_at, one.hash]);
      return {
        json: data,
        text: formatTable(['kind', 'since', 'hash'], rows, 'No address is suppressed.'),
      };
    });
  cli
    .verb(suppression, 'add <address>', 'suppress an address in a project')
    .requiredOption('--project <ref>', 'the project')
    .example('satchel suppression add ann@example.com --project shop')
    .does(async ({ services }, options, address = '') => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const { record, is_new } = await services.contacts.suppress(project, address);
      const what = is_new ? 'is suppressed' : `was suppressed already (${record.kind})`;
      return { json: record, text: `${address} ${what} in ${project.name}.` };
    });
  cli
    .verb(suppression, 'remove <address>', 'lift the suppression of an address, whatever its reason')
    .requiredOption('--project <ref>', 'the project')
    .option('--yes', 'really do it')
    .example('satchel suppression remove ann@example.com --project shop --yes')
    .does(async ({ services, actor }, options, address = '') => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const found = services.suppressions.find(project, address);
      const reason = found ? `lifts a suppression (${found.kind}, since ${found.created_at})` : 'finds none';
      if (found) requireYes(options, `${reason}: the address may be added to lists again`);
      const lifted = await services.suppressions.lift(actor, project, { address });
      return { json: lifted, text: `${address} may be added to lists of ${project.name} again.` };
    });
}
