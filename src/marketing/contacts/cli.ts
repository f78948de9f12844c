/** `satchel contact`: who is on a list, why an address is mailed or not, and what is held about it. */
import { Option } from 'commander';
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { type Options, textOption, textOptions } from '../../platform/cli/options.ts';
import { addProjectOfName, ownerOf, projectOf, resolveNamed } from '../../platform/cli/project-option.ts';
import { rowOf, writeTable } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/schema.ts';
import type { MarketingServices } from '../cli-services.ts';
import type { ListRow } from '../lists/service.ts';
import { filterOption, SEGMENT_HELP } from '../segments/service.ts';
import { contact_filter, FILTER_HELP } from './filter.ts';
import type { Privacy } from './privacy.ts';
import { candidateOf, errorsInContact } from './records.ts';
import { creation, FIELDS, NEW_FIELDS } from './schemas.ts';

type Services = MarketingServices & { privacy: Privacy };

/** Registers `satchel contact list | show | add | unsubscribe | why | export | forget`. */
export function registerContactCommands(cli: Cli<Services>): void {
  const contact = cli.noun('contact');
  addProjectOfName(contact.verb('list', 'contacts of a list, newest first'))
    .requiredOption('--list <list>', 'the list: its id or name')
    .addOption(new Option('--status <status>', 'only these').choices(FIELDS.status.stored.enum))
    .option('--tag <tag>', 'only those with this tag')
    .option('--search <text>', 'only those whose address or name begins so')
    .option('--filter <filter>', FILTER_HELP)
    .option('--segment <segment>', SEGMENT_HELP)
    .example('satchel contact list --list Newsletter --project shop --status active --tag vip')
    .example(
      'satchel contact list --list 01J00000000000000000000000 --filter "tags_none=vip&custom.plan=pro"',
    )
    .lists(
      ({ services, page }, options) => {
        const { search, ...given } = textOptions(options, 'status', 'tag', 'search');
        const more = parse(contact_filter, { ...given, q: search });
        const list = listOf(services, options);
        if (
          options.segment !== undefined &&
          Object.values({ ...given, search }).some((one) => one !== undefined)
        )
          throw new UsageError('Give either --segment or a filter.');
        return services.contacts.list(list, { ...filterOption(services, list, options), ...more }, page);
      },
      (one) => rowOf(one, 'id email status tags created=created_at'),
      'No contact matches.',
    );
  contact
    .verb('show <id>', 'one contact, with the evidence of its consent')
    .example('satchel contact show 01J00000000000000000000000')
    .shows(
      ({ services }, _options, id) => services.contacts.show(id),
      ({ tags, custom, ...fields }) => ({ ...fields, tags, custom: JSON.stringify(custom) }),
    );
  contact
    .verb('unsubscribe <id>', 'take the address of a contact out of everything in its project')
    .example('satchel contact unsubscribe 01J00000000000000000000000')
    .finds(({ contacts }, id) => contacts.requireAny(id))
    .shows(
      ({ services, project, trail }, _options, id) => services.contacts.unsubscribe(project, id, trail),
      ({ email }, { project }) => `${email} gets no more marketing mail of ${project.name}.`,
    );
  contact
    .verb('why <address>', 'why an address is mailed or not: suppression, lists, consent')
    .ofProject()
    .example('satchel contact why ann@example.com --project shop')
    .does(async ({ services, project }, _options, address) => {
      const why = await services.privacy.explain(project, address);
      return { json: { address, why }, text: why.join('\n') };
    });
  registerAdd(contact);
  registerExport(contact);
  contact
    .verb('forget <address>', 'delete everything held about an address but its suppression')
    .ofProject()
    .example('satchel contact forget ann@example.com --project shop --yes')
    .removes(async ({ services, project, consent, actor }, _options, address) => {
      const held = summarize(await services.privacy.count(project, address));
      const stays = 'a suppression stays, as a hash, and so do uploaded files and backups';
      consent(`deletes, for good, ${held}; ${stays}`);
      const forgotten = await services.privacy.forget(actor, project, address);
      return { json: forgotten, text: `Forgotten: ${summarize(forgotten)}.` };
    });
}

/** The row of the list that an option names. */
function listOf(
  { projects, lists, list_names }: Pick<MarketingServices, 'projects' | 'lists' | 'list_names'>,
  options: Options,
): ListRow {
  const ref = textOption(options, 'list') ?? '';
  return lists.requireAny(resolveNamed({ projects, ...list_names }, ref, options));
}

function registerAdd(contact: Noun<Services>): void {
  addProjectOfName(contact.verb('add <address>', 'put somebody on a list'))
    .requiredOption('--list <list>', 'the list: its id or name')
    .takes(NEW_FIELDS, creation, {
      more: (_options, _session, email) => ({ email, source_platform: 'manual' }),
      errorsIn: errorsInContact,
    })
    .example(
      'satchel contact add ann@example.com --project shop --list Newsletter --first-name Ann --tags vip',
    )
    .does(async ({ services, sent, onTrail }, options) => {
      const { contacts, clock } = services;
      const list = listOf(services, options);
      const project = ownerOf(services, list);
      const candidate = candidateOf(sent, { now_ms: clock.now(), is_test: false });
      const { contact: added, is_duplicate } = await contacts.add(project, list, candidate, onTrail(project));
      const what = is_duplicate
        ? 'was on the list already: nothing changed'
        : `is ${added.status} on ${list.name}`;
      return {
        json: is_duplicate ? { ...added, duplicate: true } : added,
        text: `${added.id}\n${added.email} ${what}.`,
      };
    });
}

function registerExport(contact: Noun<Services>): void {
  contact
    .verb('export [address]', 'everything held about an address, as JSON; or a list, as CSV')
    .option('--project <project>', 'of an address, or of a list that is given by its name: the project')
    .option('--list <list>', 'the list whose contacts are written out, newest first: its id or name')
    .option('--filter <filter>', FILTER_HELP)
    .option('--segment <segment>', SEGMENT_HELP)
    .example(
      'satchel contact export ann@example.com --project shop > ann.json',
      'satchel contact export --list 01J00000000000000000000000 --filter "status=active" > contacts.csv',
    )
    .does(async (session, options, address?: string) => {
      const { services, onTrail } = session;
      const { project, list: named } = textOptions(options, 'project', 'list');
      if (named !== undefined && address === undefined) {
        const list = listOf(services, options);
        const note = onTrail(ownerOf(services, list));
        const table = await services.contacts.export(list, filterOption(services, list, options) ?? {}, note);
        return writeTable(session, options, table);
      }
      const { filter, segment } = options;
      if (address === undefined || project === undefined || (named ?? filter ?? segment) !== undefined)
        throw new UsageError(
          'Give either an address and --project, or --list and, where wanted, --filter or --segment.',
        );
      const held = services.privacy.export(projectOf(services, options), address);
      if (options.json === true)
        return { json: JSON.parse((await Array.fromAsync(held)).join('')), text: '' };
      for await (const text of held) session.out(text);
      return { json: null, text: '' };
    });
}

function summarize(counts: Readonly<Record<string, number>>): string {
  const told = Object.entries(counts).filter(([, n]) => n > 0);
  return told.map(([name, n]) => `${n} ${name.replaceAll('_', ' ')}`).join(', ') || 'nothing';
}
