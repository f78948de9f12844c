/** `satchel list`: the lists that contacts are on. */
import type { Cli } from '../../platform/cli/cli.ts';
import { formatFields, rowOf } from '../../platform/cli/tables.ts';
import { namedVerbs } from '../../platform/cli/verb.ts';
import { keyOrAsGiven } from '../../platform/words/phrases.ts';
import { type MarketingServices, noteSecond } from '../cli-services.ts';
import { changes, creation, FIELDS } from './schemas.ts';
import { type ListRecord, ownFormOf } from './service.ts';

type InProject = { services: MarketingServices; project: { id: number } };

const reads = {
  confirmation_template: (ref: string, { services, project }: InProject) =>
    keyOrAsGiven(services.template_names, project, ref),
};

/** Registers `satchel list create | list | show | change | archive`. */
export function registerListCommands(cli: Cli<MarketingServices>): void {
  const { all, one } = namedVerbs(cli.noun('list'), ({ list_names }) => list_names);
  all('create', 'make a list')
    .takes(FIELDS, creation, { reads })
    .example('satchel list create --project shop --name Newsletter --basis consent')
    .shows(
      ({ services, project, trail, sent }) => services.lists.create(project.id, sent, trail),
      (made, session) => {
        noteSecond(session, 'list', made.name);
        const next = `The list ${made.name} is made. Next: satchel import start ${made.id} people.csv`;
        return [made.id, next, ...pagesOf(made)].join('\n');
      },
    );
  all('list', 'lists of a project, newest first')
    .option('--archived', 'archived ones too')
    .example('satchel list list --project shop')
    .lists(
      ({ services, project, page }, options) =>
        services.lists.list(project.id, { ...page, include_archived: options.archived === true }),
      ({ double_opt_in, ...one }) =>
        rowOf(
          { ...one, 'opt-in': double_opt_in ? 'double' : 'single' },
          'id name contacts=contacts_count active=active_count opt-in archived',
        ),
      'There are no lists. Make one with: satchel list create --project REF --name NAME',
    );
  one('show', 'one list with its counters, and the form that people sign up by')
    .example('satchel list show Newsletter --project shop')
    .shows(
      ({ services, project, id }) => services.lists.get(project.id, id),
      (list, { services, project }) => {
        const asks_for_tracking = services.marketing.settings(project.id).tracking === 'consented';
        return present(list, { asks_for_tracking });
      },
    );
  one('change', 'change what is given; what takes an empty text is cleared by one')
    .changes(FIELDS, changes, { reads })
    .example(
      'satchel list change 01J00000000000000000000000 --sign-up-page',
      "satchel list change 01J00000000000000000000000 --name News --basis ''",
    )
    .shows(
      ({ services, project, trail, id, sent }) => services.lists.update(project.id, id, sent, trail),
      (changed, { fields }) => {
        const what = `The list ${changed.name} is changed: ${Object.keys(fields).join(', ')}.`;
        const is_told = fields.sign_up_page === true || fields.archive === true;
        return [what, ...(is_told ? pagesOf(changed) : [])].join('\n');
      },
    );
  one('archive', 'have a list take nobody any more; its contacts stay')
    .example('satchel list archive 01J00000000000000000000000 --yes')
    .removes(async ({ services, project, trail, id, consent }) => {
      const { name, contacts_count } = services.lists.get(project.id, id);
      consent(`archives the list ${name}: nobody can be added to it; its ${contacts_count} contacts stay`);
      const archived = await services.lists.update(project.id, id, { archived: true }, trail);
      return { json: archived, text: `The list ${name} is archived.` };
    });
}

/** Where it shows to anybody. */
const pagesOf = ({ sign_up_url, archive_url }: ListRecord): string[] => [
  ...(sign_up_url === null ? [] : [`People sign up at ${sign_up_url}`]),
  ...(archive_url === null ? [] : [`What is sent to all of it can be read at ${archive_url}`]),
];

function present(list: ListRecord, asking: { asks_for_tracking: boolean }): string {
  const { token_hosts, status_counts, ...fields } = list;
  const counts = Object.entries(status_counts).map(([status, n]) => `${n} ${status}`);
  const shown = formatFields({ ...fields, token_hosts, status_counts: counts });
  if (list.sign_up_url === null || list.archived) return shown;
  return `${shown}

A form of your own, which needs no key and no script (where the vault holds a captcha secret, with the captcha's widget in it):

${ownFormOf(list.sign_up_url, asking)}`;
}
