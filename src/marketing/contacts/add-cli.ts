/** `satchel contact add`: one address through the whole pipeline. */
import { Option } from 'commander';
import type { Projects } from '../../access/projects/service.ts';
import { given, inOptions, pairsOption } from '../../platform/cli/fields.ts';
import { addProjectOfName, type Naming, resolveNamed } from '../../platform/cli/naming.ts';
import { collect, listOption, type Options, textOption } from '../../platform/cli/options.ts';
import { ownerOf } from '../../platform/cli/project-option.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { requireAll, validate } from '../../platform/http/validation.ts';
import { CONSENT_BASES, type ListRow, type Lists } from '../lists/service.ts';
import { creation } from './schemas.ts';
import { candidateOf, errorsInContact } from './sent-contact.ts';
import type { Contacts } from './service.ts';

interface Needs {
  projects: Projects;
  lists: Lists;
  list_names: Naming;
  contacts: Contacts;
  clock: Clock;
}

/** The row of the list that an option names. */
export function listOf(
  { projects, lists, list_names }: Pick<Needs, 'projects' | 'lists' | 'list_names'>,
  options: Options,
): ListRow {
  const ref = textOption(options, 'list') ?? '';
  return lists.requireAny(resolveNamed({ projects, ...list_names }, ref, options));
}

const OPTION_OF_FIELD = {
  first_name: '--first-name',
  last_name: '--last-name',
  tags: '--tags',
  custom: '--custom',
  source: '--source',
  reason: '--reason',
  consent_basis: '--basis',
  default_consent_basis: '--basis',
  consent_at: '--consent-at',
};

/** Registers `satchel contact add`. */
export function registerContactAddCommand<S extends Needs>(contact: Noun<S>): void {
  addProjectOfName(contact.verb('add <address>', 'put somebody on a list'))
    .requiredOption('--list <list>', 'the list: its id or name')
    .option('--first-name <name>', 'their first name')
    .option('--last-name <name>', 'their last name')
    .option('--tags <tags>', 'their tags', collect)
    .option('--custom <name=value>', 'a custom field; may be repeated', collect)
    .option('--source <text>', 'where the contact came from')
    .option('--reason <text>', 'why it may be mailed')
    .addOption(
      new Option('--basis <basis>', 'its consent; that of the list unless given').choices(CONSENT_BASES),
    )
    .option('--consent-at <time>', 'when that was given; now unless given')
    .example(
      'satchel contact add ann@example.com --project shop --list Newsletter --first-name Ann --tags vip',
    )
    .does(async ({ services, onTrail }, options, address) => {
      const { contacts, clock } = services;
      const list = listOf(services, options);
      const project = ownerOf(services, list);
      const { contact: added, is_duplicate } = await inOptions(OPTION_OF_FIELD, () => {
        const sent = validate(creation, fieldsOf(address, options));
        const candidate = candidateOf(requireAll(sent, errorsInContact), {
          now_ms: clock.now(),
          is_test: false,
        });
        return contacts.add(project, list, candidate, onTrail(project));
      });
      const what = is_duplicate
        ? 'was on the list already: nothing changed'
        : `is ${added.status} on ${list.name}`;
      return {
        json: is_duplicate ? { ...added, duplicate: true } : added,
        text: `${added.id}\n${added.email} ${what}.`,
      };
    });
}

function fieldsOf(email: string, options: Options): Record<string, unknown> {
  return given({
    email,
    first_name: textOption(options, 'firstName'),
    last_name: textOption(options, 'lastName'),
    tags: options.tags === undefined ? undefined : listOption(options, 'tags'),
    custom: pairsOption(options, 'custom'),
    source: textOption(options, 'source'),
    reason: textOption(options, 'reason'),
    consent_basis: textOption(options, 'basis'),
    consent_at: textOption(options, 'consentAt'),
    source_platform: 'manual',
  });
}
