/** `satchel contact`: who is on a list, why an address is mailed or not, and what is held about it. */

import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { numberOption, requireYes, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import type { Lists } from '../lists/service.ts';
import type { Privacy } from './privacy.ts';
import { CONTACT_STATUSES, type Contacts } from './service.ts';

interface Needs {
  projects: Projects;
  lists: Lists;
  contacts: Contacts;
  privacy: Privacy;
}

/** Registers `satchel contact list | show | unsubscribe | why | export | forget`. */
export function registerContactCommands<S extends Needs>(cli: Cli<S>): void {
  const contact = cli.noun('contact', 'who is on a list, and what is held about an address');
  registerList(cli, contact);
  cli
    .verb(contact, 'show <id>', 'one contact, with the evidence of its consent')
    .example('satchel contact show 01J00000000000000000000000')
    .does(async ({ services }, _options, id = '') => {
      const record = services.contacts.show(id);
      const { tags, custom, ...fields } = record;
      const shown = { ...fields, tags: tags.join(', '), custom: JSON.stringify(custom) };
      return { json: record, text: formatFields(shown) };
    });
  cli
    .verb(contact, 'unsubscribe <id>', 'take the address of a contact out of everything in its project')
    .example('satchel contact unsubscribe 01J00000000000000000000000')
    .does(async ({ services, onTrail }, _options, id = '') => {
      const row = services.contacts.require(id);
      const project = services.projects.require(String(row.project_id));
      const record = await services.contacts.unsubscribe(project, id, onTrail(project));
      return { json: record, text: `${record.email} gets no more marketing mail of ${project.name}.` };
    });
  registerPrivacy(cli, contact);
}

function registerList<S extends Needs>(cli: Cli<S>, contact: ReturnType<Cli<S>['noun']>): void {
  cli
    .verb(contact, 'list', 'contacts of a list, newest first')
    .requiredOption('--list <id>', 'the list')
    .option('--status <status>', `only those that are ${CONTACT_STATUSES.join(', ')}`)
    .option('--tag <tag>', 'only those with this tag')
    .option('--search <text>', 'only those whose address or name begins so')
    .option('--page <n>', 'a page of 50', wholeNumber(1))
    .example('satchel contact list --list 01J00000000000000000000000 --status active --tag vip')
    .does(async ({ services }, options) => {
      const filter = parse(t.Object({ status: t.Optional(oneOf(CONTACT_STATUSES)) }), {
        status: textOption(options, 'status'),
      });
      const page = services.contacts.list(services.lists.require(textOption(options, 'list') ?? ''), {
        ...filter,
        tag: textOption(options, 'tag'),
        q: textOption(options, 'search'),
        per_page: 50,
        page: numberOption(options, 'page') ?? 1,
      });
      const rows = page.data.map((one) => [
        one.id,
        one.email,
        one.status,
        one.tags.join(', '),
        one.created_at,
      ]);
      return {
        json: page.data,
        text: formatTable(['id', 'email', 'status', 'tags', 'created'], rows, 'No contact matches.'),
      };
    });
}

function registerPrivacy<S extends Needs>(cli: Cli<S>, contact: ReturnType<Cli<S>['noun']>): void {
  const verb = (name: string, description: string, example: string) =>
    cli
      .verb(contact, `${name} <address>`, description)
      .requiredOption('--project <ref>', 'the project')
      .addHelpText('after', `\nExample:\n  satchel contact ${name} ann@example.com --project shop${example}`);
  verb('why', 'why an address is mailed or not: suppression, lists, consent', '').does(
    async ({ services }, options, address = '') => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const why = services.privacy.why(project, address);
      return { json: { address, why }, text: why.join('\n') };
    },
  );
  verb('export', 'everything held about an address, as JSON', ' > ann.json').does(
    async ({ services }, options, address = '') => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const held = services.privacy.export(project, address);
      return { json: held, text: JSON.stringify(held, null, 2) };
    },
  );
  verb('forget', 'delete everything held about an address but its suppression', ' --yes')
    .option('--yes', 'really do it')
    .does(async ({ services, actor }, options, address = '') => {
      const project = services.projects.require(textOption(options, 'project') ?? '');
      const held = services.privacy.count(project, address);
      requireYes(
        options,
        `deletes, for good, ${summarize(held)}; a suppression stays, as a hash, and so do uploaded files and backups`,
      );
      const forgotten = await services.privacy.forget(actor, project, address);
      return { json: forgotten, text: `Forgotten: ${summarize(forgotten)}.` };
    });
}

function summarize(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, n]) => `${n} ${name.replaceAll('_', ' ')}`)
    .join(', ');
}
