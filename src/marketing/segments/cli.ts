/** `satchel segment`: filters of a list, kept under a name. */
import type { Cli } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { formatFields, rowOf } from '../../platform/cli/tables.ts';
import { namedVerbs } from '../../platform/cli/verb.ts';
import { counted } from '../../platform/words/phrases.ts';
import { keyIn, type MarketingServices, noteSecond } from '../cli-services.ts';
import { FILTER_HELP, readFilter } from '../contacts/service.ts';
import { CHANGEABLE, changes, creation, FIELDS, of_list } from './schemas.ts';

const ID = '01J00000000000000000000000';
const FILTER = fieldsOf(creation, { filter: ['--filter <filter>', FILTER_HELP] });
const reads = { list: keyIn('list_names'), filter: readFilter };

/** Registers `satchel segment create | list | show | change | remove`. */
export function registerSegmentCommands(cli: Cli<MarketingServices>): void {
  const { all, one } = namedVerbs(cli.noun('segment'), ({ segment_names }) => segment_names);
  all('create', 'keep a filter of a list under a name')
    .takes({ ...FIELDS, ...FILTER }, creation, { reads })
    .example(
      'satchel segment create --project shop --list Newsletter --name Quiet --filter "tags_any=customer&not_clicked_within_days=90"',
    )
    .shows(
      ({ services, project, trail, sent }) => services.segments.create(project.id, sent, trail),
      (made, session) => {
        noteSecond(session, 'segment', made.name);
        return `${made.id}\nThe segment ${made.name} is made. Whom it means: satchel segment show ${made.id}`;
      },
    );
  all('list', 'segments of a project, newest first')
    .takes(fieldsOf(of_list, { list: ['--list <list>', 'only those of a list: its id or name'] }), of_list, {
      reads,
    })
    .example('satchel segment list --project shop')
    .lists(
      ({ services, project, page, sent }) => services.segments.list(project.id, { ...page, list: sent.list }),
      (one) => rowOf(one, 'id name list filter'),
      'There are no segments. Make one with: satchel segment create --project REF --list LIST --name NAME --filter FILTER',
    );
  one('show', 'one segment, with how many contacts it means')
    .example('satchel segment show Quiet --project shop')
    .shows(
      ({ services, project, id }) => services.segments.getCounted(project, id),
      ({ contacts_count = 0, ...fields }, { services }) => {
        const list = services.lists.requireAny(fields.list).name;
        const people = counted(contacts_count, 'contact');
        return `${formatFields({ ...fields, list })}\n\nA broadcast to it would reach ${people} now.`;
      },
    );
  one('change', 'change its name or its filter')
    .changes({ ...CHANGEABLE, ...FILTER }, changes, { reads })
    .example(`satchel segment change ${ID} --filter "tags_any=customer&clicked_within_days=90"`)
    .shows(
      ({ services, project, trail, id, sent }) => services.segments.update(project.id, id, sent, trail),
      ({ name }) => `The segment ${name} is changed.`,
    );
  one('remove', 'delete a segment; drafts that name it keep a copy of its filter')
    .example(`satchel segment remove ${ID} --yes`)
    .removes(async ({ services, project, trail, id, consent }) => {
      const { name } = services.segments.requireAny(id);
      consent(`deletes the segment ${name}; no contact changes`);
      await services.segments.remove(project.id, id, trail);
      return { json: { deleted: true }, text: `The segment ${name} is deleted.` };
    });
}
