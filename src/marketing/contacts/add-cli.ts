/** `satchel contact add`: one address through the whole pipeline. */
import { type Options, textOption } from '../../platform/cli/options.ts';
import { addProjectOfName, ownerOf, resolveNamed } from '../../platform/cli/project-option.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import type { MarketingServices } from '../cli-services.ts';
import type { ListRow } from '../lists/service.ts';
import { candidateOf, errorsInContact } from './records.ts';
import { creation, NEW_FIELDS } from './schemas.ts';

/** The row of the list that an option names. */
export function listOf(
  { projects, lists, list_names }: Pick<MarketingServices, 'projects' | 'lists' | 'list_names'>,
  options: Options,
): ListRow {
  const ref = textOption(options, 'list') ?? '';
  return lists.requireAny(resolveNamed({ projects, ...list_names }, ref, options));
}

/** Registers `satchel contact add`. */
export function registerContactAddCommand(contact: Noun<MarketingServices>): void {
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
