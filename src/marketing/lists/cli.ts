/** `satchel list`: the lists that contacts are on. */
import type { Cli } from '../../platform/cli/cli.ts';
import { given } from '../../platform/cli/fields.ts';
import { type Options, requireChanges, textOption } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/schema.ts';
import { secondOfName } from '../../platform/http/second-names.ts';
import { isSecond, keyOrAsGiven } from '../../platform/words/naming.ts';
import type { MarketingServices } from '../cli-services.ts';
import { changes, creation, FIELDS } from './schemas.ts';
import { type ListRecord, ownFormOf } from './service.ts';

const named_list = ({ projects, list_names }: MarketingServices) => ({ projects, ...list_names });

/** Registers `satchel list create | list | show | change | archive`. */
export function registerListCommands(cli: Cli<MarketingServices>): void {
  const list = cli.noun('list');
  list
    .verb('create', 'make a list')
    .ofProject()
    .creates(FIELDS)
    .example('satchel list create --project shop --name Newsletter --basis consent')
    .does(async ({ services, fields, onTrail, note }, options) => {
      const project = projectOf(services, options);
      const given = { ...fields, ...templateIn(services, project, options) };
      const made = await services.lists.create(project.id, parse(creation, given), onTrail(project));
      if (isSecond(services.list_names, project.id, made.name)) note(secondOfName('list', made.name));
      return {
        json: made,
        text: [
          made.id,
          `The list ${made.name} is made. Next: satchel import start ${made.id} people.csv`,
          ...(made.sign_up_url === null ? [] : [`People sign up at ${made.sign_up_url}`]),
        ].join('\n'),
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
    .verb('show <list>', 'one list with its counters, and the form that people sign up by')
    .named(named_list)
    .example('satchel list show Newsletter --project shop')
    .does(({ services }, _options, id) => {
      const { project_id } = services.lists.requireAny(id);
      const one = services.lists.get(project_id, id);
      const asks_for_tracking = services.marketing.settings(project_id).tracking === 'consented';
      return { json: one, text: present(one, { asks_for_tracking }) };
    });
  registerChange(list);
  registerArchive(list);
}

function registerArchive(list: Noun<MarketingServices>): void {
  list
    .verb('archive <list>', 'have a list take nobody any more; its contacts stay')
    .named(named_list)
    .example('satchel list archive 01J00000000000000000000000 --yes')
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const project = ownerOf(services, services.lists.requireAny(id));
      const { name, contacts_count } = services.lists.get(project.id, id);
      consent(`archives the list ${name}: nobody can be added to it; its ${contacts_count} contacts stay`);
      const archived = await services.lists.update(project.id, id, { archived: true }, onTrail(project));
      return { json: archived, text: `The list ${name} is archived.` };
    });
}

function registerChange(list: Noun<MarketingServices>): void {
  list
    .verb('change <list>', 'change what is given; what takes an empty text is cleared by one')
    .named(named_list)
    .changes(FIELDS)
    .example(
      'satchel list change 01J00000000000000000000000 --sign-up-page',
      "satchel list change 01J00000000000000000000000 --name News --basis ''",
    )
    .does(async ({ services, fields, onTrail }, options, id) => {
      const project = ownerOf(services, services.lists.requireAny(id));
      const given = requireChanges({ ...fields, ...templateIn(services, project, options) });
      const changed = await services.lists.update(project.id, id, parse(changes, given), onTrail(project));
      return {
        json: changed,
        text: [
          `The list ${changed.name} is changed: ${Object.keys(given).join(', ')}.`,
          ...(given.sign_up_page === true ? [`People sign up at ${changed.sign_up_url}`] : []),
        ].join('\n'),
      };
    });
}

/** The shell may name the template of the confirmation, too. */
function templateIn({ template_names }: MarketingServices, project: { id: number }, options: Options) {
  const template = textOption(options, 'confirmationTemplate') || undefined;
  return given({ confirmation_template: keyOrAsGiven(template_names, project, template) });
}

function present(list: ListRecord, asking: { asks_for_tracking: boolean }): string {
  const { token_hosts, status_counts, ...fields } = list;
  const counts = Object.entries(status_counts).map(([status, n]) => `${n} ${status}`);
  const shown = formatFields({ ...fields, token_hosts, status_counts: counts });
  if (list.sign_up_url === null || list.archived) return shown;
  return `${shown}

A form of your own, which needs no key and no script (where the vault holds a captcha secret, with the captcha's widget in it):

${ownFormOf(list.sign_up_url, asking)}`;
}
