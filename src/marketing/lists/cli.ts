/** `satchel list`: the lists that contacts are on. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import { requireChanges } from '../../platform/cli/changes.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { inOptions } from '../../platform/cli/fields.ts';
import { isSecond, keyOrAsGiven, type Naming } from '../../platform/cli/naming.ts';
import { listOption, type Options, textOption, textOptions } from '../../platform/cli/options.ts';
import { ownerOf, projectOf } from '../../platform/cli/project-option.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { Noun, Verb } from '../../platform/cli/verb.ts';
import { oneOf, parse, t } from '../../platform/http/schema.ts';
import { secondOfName } from '../../platform/http/second-names.ts';
import { changes } from './schemas.ts';
import { CONSENT_BASES, LANGUAGES, type ListRecord, type Lists, ownFormOf } from './service.ts';

interface Needs {
  projects: Projects;
  lists: Lists;
  list_names: Naming;
  template_names: Naming;
}

const named_list = ({ projects, list_names }: Needs) => ({ projects, ...list_names });

const OPTION_OF_FIELD = {
  name: '--name',
  description: '--description',
  default_consent_basis: '--basis',
  double_opt_in: '--double-opt-in',
  language: '--language',
  confirmation_template: '--confirmation-template',
  from: '--from',
  token_hosts: '--token-hosts',
  sign_up_page: '--sign-up-page',
};

/** Registers `satchel list create | list | show | change | archive`. */
export function registerListCommands(cli: Cli<Needs>): void {
  const list = cli.noun('list', 'the lists that contacts are on');
  const create = list.verb('create', 'make a list').ofProject().requiredOption('--name <name>', 'its name');
  addFields(create, { bases: CONSENT_BASES, languages: LANGUAGES })
    .example('satchel list create --project shop --name Newsletter --basis consent')
    .does(async ({ services, onTrail, note }, options) => {
      const project = projectOf(services, options);
      const { basis, language } = parse(
        t.Object({ basis: t.Optional(oneOf(CONSENT_BASES)), language: t.Optional(oneOf(LANGUAGES)) }),
        textOptions(options, 'basis', 'language'),
      );
      const fields = {
        name: textOption(options, 'name') ?? '',
        description: textOption(options, 'description'),
        default_consent_basis: basis,
        double_opt_in: options.doubleOptIn === true,
        language,
        confirmation_template: confirmationOf(services, project, options),
        from: textOption(options, 'from'),
        token_hosts: listOption(options, 'tokenHosts'),
        sign_up_page: options.signUpPage === true,
      };
      const made = await inOptions(OPTION_OF_FIELD, () =>
        services.lists.create(project.id, fields, onTrail(project)),
      );
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
      const one = services.lists.get(services.lists.requireAny(id).project_id, id);
      return { json: one, text: present(one) };
    });
  registerChange(list);
  registerArchive(list);
}

function registerArchive(list: Noun<Needs>): void {
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

function registerChange(list: Noun<Needs>): void {
  const change = list
    .verb('change <list>', 'change what is given; what takes an empty text is cleared by one')
    .named(named_list);
  addFields(change.option('--name <name>', 'its name'), {
    bases: [...CONSENT_BASES, ''],
    languages: [...LANGUAGES, ''],
  })
    .option('--no-double-opt-in', 'sign-ups by form count at once')
    .option('--no-sign-up-page', 'its address works no more')
    .example(
      'satchel list change 01J00000000000000000000000 --sign-up-page',
      "satchel list change 01J00000000000000000000000 --name News --basis ''",
    )
    .does(async ({ services, onTrail }, options, id) => {
      const project = ownerOf(services, services.lists.requireAny(id));
      const given = requireChanges({
        name: textOption(options, 'name'),
        ...clearable({
          ...textOptions(options, 'description', 'basis', 'language', 'from'),
          confirmation_template: confirmationOf(services, project, options),
        }),
        double_opt_in: options.doubleOptIn,
        token_hosts: options.tokenHosts === undefined ? undefined : listOption(options, 'tokenHosts'),
        sign_up_page: options.signUpPage,
      });
      const changed = await inOptions(OPTION_OF_FIELD, () =>
        services.lists.update(project.id, id, parse(changes, given), onTrail(project)),
      );
      return {
        json: changed,
        text: [
          `The list ${changed.name} is changed: ${Object.keys(given).join(', ')}.`,
          ...(given.sign_up_page === true ? [`People sign up at ${changed.sign_up_url}`] : []),
        ].join('\n'),
      };
    });
}

function addFields(
  verb: Verb<Needs>,
  { bases, languages }: { bases: readonly string[]; languages: readonly string[] },
): Verb<Needs> {
  return verb
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--basis <basis>', 'consent of contacts that come without').choices(bases))
    .addOption(new Option('--language <language>', 'what its mail is written in').choices(languages))
    .option('--double-opt-in', 'sign-ups by form are confirmed by a mail')
    .option(
      '--confirmation-template <template>',
      'template of that mail, which holds {{confirm_url}}: its slug, name or id',
    )
    .option('--from <address>', 'the mailbox that this mail goes out from, and no other')
    .option('--token-hosts <hosts>', 'hosts whose links carry the contact_token')
    .option('--sign-up-page', 'a page where anybody may sign up; needs double opt-in');
}

function confirmationOf({ template_names }: Needs, project: { id: number }, options: Options) {
  return keyOrAsGiven(template_names, project, textOption(options, 'confirmationTemplate'));
}

/** Texts that may be empty, which clears them, under their fields' names. */
function clearable(given: {
  description?: string;
  basis?: string;
  language?: string;
  from?: string;
  confirmation_template: string | undefined;
}) {
  const { description, confirmation_template, basis, language, from } = given;
  const orNull = (text: string | undefined) => (text === '' ? null : text);
  return {
    description: orNull(description),
    confirmation_template: orNull(confirmation_template),
    default_consent_basis: orNull(basis),
    language: orNull(language),
    from: orNull(from),
  };
}

function present(list: ListRecord): string {
  const { token_hosts, status_counts, ...fields } = list;
  const counts = Object.entries(status_counts).map(([status, n]) => `${n} ${status}`);
  const shown = formatFields({ ...fields, token_hosts, status_counts: counts });
  if (list.sign_up_url === null || list.archived) return shown;
  return `${shown}

A form of your own, which needs no key and no script (where the vault holds a captcha secret, with the captcha's widget in it):

${ownFormOf(list.sign_up_url)}`;
}
