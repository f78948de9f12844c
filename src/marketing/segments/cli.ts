/** `satchel segment`: filters of a list, kept under a name. */
import type { Cli } from '../../platform/cli/cli.ts';
import { requireChanges, textOption } from '../../platform/cli/options.ts';
import { ownerOf, projectOf, resolveNamed } from '../../platform/cli/project-option.ts';
import { formatFields } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { parse } from '../../platform/http/schema.ts';
import { secondOfName } from '../../platform/http/second-names.ts';
import { isSecond } from '../../platform/words/naming.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { MarketingServices } from '../cli-services.ts';
import { FILTER_HELP, readFilter } from '../contacts/service.ts';
import { CHANGEABLE, changes, creation, FIELDS } from './schemas.ts';

const ID = '01J00000000000000000000000';
const named = ({ projects, segment_names }: MarketingServices) => ({ projects, ...segment_names });
const ofList = ({ projects, list_names }: MarketingServices, project: { id: number }, ref: string): string =>
  resolveNamed({ projects, ...list_names }, ref, { project: String(project.id) });

/** Registers `satchel segment create | list | show | change | remove`. */
export function registerSegmentCommands(cli: Cli<MarketingServices>): void {
  const noun = cli.noun('segment');
  registerMaking(noun);
  registerLooking(noun);
  noun
    .verb('change <segment>', 'change its name or its filter')
    .named(named)
    .changes(CHANGEABLE, { filter: '--filter' })
    .option('--filter <filter>', FILTER_HELP)
    .example(`satchel segment change ${ID} --filter "tags_any=customer&clicked_within_days=90"`)
    .does(async ({ services, fields, onTrail }, options, id) => {
      const project = ownerOf(services, services.segments.requireAny(id));
      const filter = textOption(options, 'filter');
      const given = requireChanges({
        ...fields,
        filter: filter === undefined ? undefined : readFilter(filter),
      });
      const changed = await services.segments.update(project.id, id, parse(changes, given), onTrail(project));
      return { json: changed, text: `The segment ${changed.name} is changed.` };
    });
  noun
    .verb('remove <segment>', 'delete a segment; drafts that name it keep a copy of its filter')
    .named(named)
    .example(`satchel segment remove ${ID} --yes`)
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const { segments } = services;
      const row = segments.requireAny(id);
      const project = ownerOf(services, row);
      consent(`deletes the segment ${row.name}; no contact changes`);
      await segments.remove(project.id, id, onTrail(project));
      return { json: { deleted: true }, text: `The segment ${row.name} is deleted.` };
    });
}

function registerMaking(noun: Noun<MarketingServices>): void {
  noun
    .verb('create', 'keep a filter of a list under a name')
    .ofProject()
    .creates(FIELDS, { filter: '--filter' })
    .requiredOption('--filter <filter>', FILTER_HELP)
    .example(
      'satchel segment create --project shop --list Newsletter --name Quiet --filter "tags_any=customer&not_clicked_within_days=90"',
    )
    .does(async ({ services, fields, onTrail, note }, options) => {
      const { segments, segment_names } = services;
      const project = projectOf(services, options);
      const list = ofList(services, project, textOption(options, 'list') ?? '');
      const filter = readFilter(textOption(options, 'filter') ?? '');
      const made = await segments.create(
        project.id,
        parse(creation, { ...fields, list, filter }),
        onTrail(project),
      );
      if (isSecond(segment_names, project.id, made.name)) note(secondOfName('segment', made.name));
      return {
        json: made,
        text: `${made.id}\nThe segment ${made.name} is made. Whom it means: satchel segment show ${made.id}`,
      };
    });
}

function registerLooking(noun: Noun<MarketingServices>): void {
  noun
    .verb('list', 'segments of a project, newest first')
    .ofProject()
    .option('--list <list>', 'only those of a list: its id or name')
    .example('satchel segment list --project shop')
    .lists(
      ({ services, page }, options) => {
        const project = projectOf(services, options);
        const ref = textOption(options, 'list');
        const list = ref === undefined ? undefined : ofList(services, project, ref);
        return services.segments.list(project.id, { ...page, list });
      },
      ({ id, name, list, filter }) => ({ id, name, list, filter: JSON.stringify(filter) }),
      'There are no segments. Make one with: satchel segment create --project REF --list LIST --name NAME --filter FILTER',
    );
  noun
    .verb('show <segment>', 'one segment, with how many contacts it means')
    .named(named)
    .example('satchel segment show Quiet --project shop')
    .does(async ({ services }, _options, id) => {
      const { segments, lists } = services;
      const row = segments.requireAny(id);
      const record = await segments.getCounted(ownerOf(services, row), id);
      const { contacts_count = 0, filter, ...fields } = record;
      const shown = { ...fields, list: lists.findById(row.list_id)?.name, filter: JSON.stringify(filter) };
      const people = counted(contacts_count, 'contact');
      return {
        json: record,
        text: `${formatFields(shown)}\n\nA broadcast to it would reach ${people} now.`,
      };
    });
}
