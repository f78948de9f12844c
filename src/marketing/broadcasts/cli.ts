/** `satchel broadcast`: one mail to a list, from its draft to who got it. */
import { AppError, invalid } from '../../errors.ts';
import type { Cli, CliResult } from '../../platform/cli/cli.ts';
import { given, inOptions, readLongText } from '../../platform/cli/fields.ts';
import { type Options, requireChanges, textOption } from '../../platform/cli/options.ts';
import { ownerOf, projectOf, resolveNamed } from '../../platform/cli/project-option.ts';
import { formatFields, formatTable } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { emailAddress, parse, t } from '../../platform/http/schema.ts';
import { secondOfName } from '../../platform/http/second-names.ts';
import { isSecond, type Naming } from '../../platform/words/naming.ts';
import { counted } from '../../platform/words/phrases.ts';
import { campaignVerbs, checkResult } from '../campaign-cli.ts';
import { explainProblem } from '../campaign-readiness.ts';
import type { MarketingServices } from '../cli-services.ts';
import { FILTER_HELP, readFilter } from '../contacts/service.ts';
import type { BroadcastLife } from './lifecycle.ts';
import { changes, creation, FIELDS, sending } from './schemas.ts';
import type { BroadcastRecord } from './service.ts';

type Services = MarketingServices & { broadcast_life: BroadcastLife };

const { recordOf, named, copy, transition } = campaignVerbs<Services, BroadcastRecord>(
  'broadcast',
  (services) => ({
    campaigns: services.broadcasts,
    names: services.broadcast_names,
  }),
);

const ID = '01J00000000000000000000000';
const OTHER_OPTIONS = { filter: '--filter', ab: '--ab', send_at: '--at' };
const AB_HELP =
  'an A/B as JSON: {"variants": [{"name": "A", "subject": "…"}, …], "share": 20, "decide_by": "clicks", "decide_after_hours": 4}; @file and - are read';

/**
 * Registers `satchel broadcast create | change | show | list | check | test | send | pause | resume | decide | cancel | delete |
 * copy | recipients`.
 */
export function registerBroadcastCommands(cli: Cli<Services>): void {
  const noun = cli.noun('broadcast');
  registerWriting(cli, noun);
  registerLooking(noun);
  registerSending(noun);
  registerTransitions(noun);
  registerDecide(noun);
}

/** What is given of fields that the shell calls otherwise than the API, such as a list by its name. */
async function readNamed(
  cli: Cli<Services>,
  { projects, list_names, template_names, segment_names }: Services,
  project: { id: number },
  options: Options,
) {
  // What is not of this project is refused by its field.
  const of_project = { project: String(project.id) };
  const keyOf = (names: Naming, option: string) => {
    const ref = textOption(options, option) || undefined;
    return ref === undefined ? undefined : resolveNamed({ projects, ...names }, ref, of_project);
  };
  const filter = textOption(options, 'filter');
  const ab = await readLongText(cli, textOption(options, 'ab'));
  return given({
    list: keyOf(list_names, 'list'),
    template: keyOf(template_names, 'template'),
    segment: keyOf(segment_names, 'segment'),
    filter: filter === undefined ? undefined : readFilter(filter),
    ab: ab === undefined ? undefined : readJson(ab),
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ ab: ['must be JSON'] });
  }
}

function registerWriting(cli: Cli<Services>, noun: Noun<Services>): void {
  noun
    .verb('create', 'make a draft')
    .ofProject()
    .creates(FIELDS, OTHER_OPTIONS)
    .option('--filter <filter>', FILTER_HELP)
    .option('--ab <json>', AB_HELP)
    .example(
      `satchel broadcast create --project shop --name "June news" --list ${ID} --template june-news --filter tags_any=customer`,
    )
    .does(async ({ services, fields, onTrail, note }, options) => {
      const project = projectOf(services, options);
      const given = { ...fields, ...(await readNamed(cli, services, project, options)) };
      const made = await services.broadcasts.create(project.id, parse(creation, given), onTrail(project));
      if (isSecond(services.broadcast_names, project.id, made.name))
        note(secondOfName('broadcast', made.name));
      const next = `Next: satchel broadcast check ${made.id}`;
      return { json: made, text: `${made.id}\nThe draft ${made.name} is made. ${next}` };
    });
  noun
    .verb('change <broadcast>', 'change a draft, or one that is scheduled')
    .named(named)
    .changes(FIELDS, OTHER_OPTIONS)
    .option('--filter <filter>', FILTER_HELP)
    .option('--ab <json>', AB_HELP)
    .option('--no-ab', 'no A/B any more: the same mail for all')
    .option('--everybody', 'no filter and no segment any more')
    .option('--at <time>', 'another time, of one that is scheduled; "none": a draft again')
    .example(`satchel broadcast change ${ID} --at 2031-06-01T09:00:00Z`)
    .does(async ({ services, fields, onTrail }, options, id) => {
      const project = ownerOf(services, services.broadcasts.requireAny(id));
      const at = textOption(options, 'at');
      const given = requireChanges({
        ...fields,
        ...(await readNamed(cli, services, project, options)),
        ...(options.everybody === true ? { filter: null, segment: null } : {}),
        ...(options.ab === false ? { ab: null } : {}),
        send_at: at === 'none' ? null : at,
      });
      await services.broadcast_life.change(project.id, id, parse(changes, given), onTrail(project));
      const record = recordOf(services, id);
      return { json: record, text: `The broadcast ${record.name} is changed: it is ${stateOf(record)}.` };
    });
  copy(noun, 'make a draft that is as a broadcast is');
  noun
    .verb('delete <broadcast>', 'delete a draft, or one that was cancelled')
    .named(named)
    .example(`satchel broadcast delete ${ID} --yes`)
    .removes(async ({ services, consent, onTrail }, _options, id) => {
      const project = ownerOf(services, services.broadcasts.requireAny(id));
      const { name, stats } = recordOf(services, id);
      consent(
        `deletes the broadcast ${name}; the log keeps the mails that it made, ${stats.sent} of them sent`,
      );
      await services.broadcasts.remove(project.id, id, onTrail(project));
      return { json: { deleted: true }, text: `The broadcast ${name} is deleted.` };
    });
}

function stateOf({ status, pause_reason, send_at }: BroadcastRecord): string {
  if (status === 'paused') return `paused (${pause_reason})`;
  if (status === 'draft') return 'a draft';
  return status === 'scheduled' ? `scheduled for ${send_at}` : status;
}

/** An A/B: its plan before sending begins, then what came of it. */
function tableOf({
  variants,
  share,
  decide_by,
  decides_at,
  winner,
  results,
}: NonNullable<BroadcastRecord['ab']>) {
  const told = new Map(results.map(({ name, ...numbers }) => [name, numbers]));
  return formatTable(
    variants.map(({ name, subject }) => ({
      variant: name === winner ? `${name} (for the rest)` : name,
      subject,
      ...told.get(name),
    })),
    `${share} % for all variants; ${decide_by === 'manual' ? 'somebody decides' : `clicks decide ${decides_at ?? ''}`}`,
  );
}

function registerLooking(noun: Noun<Services>): void {
  noun
    .verb('list', 'broadcasts of a project, newest first')
    .ofProject()
    .example('satchel broadcast list --project shop')
    .lists(
      ({ services, page }, options) => services.broadcasts.list(projectOf(services, options).id, page),
      (one) => ({
        id: one.id,
        name: one.name,
        status: stateOf(one),
        recipients: one.recipients,
        sent: one.stats.sent,
        lost: one.stats.lost,
        clicked: one.stats.clicked,
      }),
      'There are no broadcasts. Make one with: satchel broadcast create --project REF --name NAME --list ID',
    );
  noun
    .verb('show <broadcast>', 'one broadcast with its numbers')
    .named(named)
    .example('satchel broadcast show "June news" --project shop')
    .does(({ services }, _options, id) => {
      const record = recordOf(services, id);
      const { stats, left_out, links, filter, variables, ab, ...fields } = record;
      const head = formatFields({
        ...fields,
        filter: filter && JSON.stringify(filter),
        variables: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
        ...stats,
        'left out': Object.entries(left_out.by_reason).flatMap(([why, n]) => (n > 0 ? [`${n} ${why}`] : [])),
      });
      const table = formatTable(
        links.map(({ url, people, clicks }) => ({ link: url, people, clicks })),
        'It has no links yet.',
      );
      const test = ab && tableOf(ab);
      const held = services.broadcasts.explainHeld(record);
      return {
        json: record,
        text: (columns) => [head, ...held, ...(test ? [test(columns)] : []), table(columns)].join('\n\n'),
      };
    });
  noun
    .verb('recipients <broadcast>', 'who had their turn, and what became of it')
    .named(named)
    .example(`satchel broadcast recipients ${ID}`)
    .lists(
      ({ services: { broadcasts }, page }, _options, id) =>
        broadcasts.listRecipients(broadcasts.requireAny(id).project_id, id, page),
      ({ email, status, reason, clicked_at, variant, email_id }) => ({
        email,
        status,
        reason,
        clicked: clicked_at,
        variant,
        'its mail': email_id,
      }),
      'Nobody had their turn yet.',
    );
}

function registerSending(noun: Noun<Services>): void {
  noun
    .verb(
      'check <broadcast>',
      'what keeps a broadcast from being sent, and whom it would reach; ends with 1 if anything does',
    )
    .named(named)
    .example(`satchel broadcast check ${ID}`)
    .does(async ({ services: { broadcasts } }, _options, id) => {
      const found = await broadcasts.check(broadcasts.requireAny(id).project_id, id);
      const { recipients, left_out } = found;
      const out = Object.entries(left_out.by_reason).flatMap(([why, n]) => (n > 0 ? [`${n} ${why}`] : []));
      const reasons = out.length > 0 ? `: ${out.join(', ')}` : '';
      const warnings = found.warnings.map(({ message }) => message);
      return checkResult(found, [
        `${recipients} would get it, ${left_out.total} would not${reasons}.`,
        ...warnings,
      ]);
    });
  noun
    .verb('test <broadcast>', 'send a copy of it to an address; counts nowhere')
    .named(named)
    .requiredOption('--to <address>', 'who gets it')
    .option('--variant <name>', 'this variant of its A/B')
    .example(`satchel broadcast test ${ID} --to you@example.com`)
    .does(async ({ services: { broadcasts } }, options, id) => {
      const { to } = parse(t.Object({ to: emailAddress() }), { to: textOption(options, 'to') });
      const { project_id } = broadcasts.requireAny(id);
      const variant = textOption(options, 'variant') ?? null;
      const sent = await broadcasts.sendTest(project_id, { public_id: id, is_test: false, variant }, to);
      return { json: sent, text: `A test goes to ${to}: satchel email why ${sent.email_id}` };
    });
  noun
    .verb('send <broadcast>', 'send it to its list, now or at a time')
    .named(named)
    .option('--at <time>', 'when, such as 2031-06-01T09:00:00Z; now unless given')
    .example(
      `satchel broadcast send ${ID} --yes`,
      `satchel broadcast send ${ID} --at 2031-06-01T09:00:00Z --yes`,
    )
    .removes(async ({ services, consent, actor }, options, id) => {
      const { broadcasts, broadcast_life } = services;
      const project = ownerOf(services, broadcasts.requireAny(id));
      const { send_at } = await inOptions(OTHER_OPTIONS, () =>
        parse(sending, given({ send_at: textOption(options, 'at') })),
      );
      if (options.yes !== true) {
        const { ready, recipients, problems } = await broadcasts.check(project.id, id);
        if (!ready)
          throw new AppError(
            'invalid',
            `The broadcast cannot be sent: ${problems.map(explainProblem).join(' ')}`,
            {
              code: 'send_refused',
              details: { problems },
            },
          );
        const { name } = recordOf(services, id);
        consent(
          `sends ${name} to ${counted(recipients, 'person', 'people')}${send_at ? ` at ${send_at}` : ''}`,
        );
      }
      await inOptions(OTHER_OPTIONS, () =>
        broadcast_life.send(actor, project, id, { send_at, is_test: false }),
      );
      return told(services, id);
    });
}

function told(services: Services, id: string): CliResult {
  const record = recordOf(services, id);
  const number = record.recipients === null ? '' : ` to ${counted(record.recipients, 'person', 'people')}`;
  const next = `Look at it with: satchel broadcast show ${record.id}`;
  return { json: record, text: `The broadcast ${record.name} is ${stateOf(record)}${number}. ${next}` };
}

function registerDecide(noun: Noun<Services>): void {
  noun
    .verb('decide <broadcast>', 'say which variant of its A/B the rest gets')
    .named(named)
    .requiredOption('--variant <name>', 'its name')
    .example(`satchel broadcast decide ${ID} --variant B`)
    .does(async ({ services, actor }, options, id) => {
      const { broadcasts, broadcast_life } = services;
      const project = ownerOf(services, broadcasts.requireAny(id));
      await broadcast_life.decide(actor, project, id, textOption(options, 'variant') ?? '');
      const record = recordOf(services, id);
      return { json: record, text: `The rest of ${record.name} gets ${record.ab?.winner}.` };
    });
}

function registerTransitions(noun: Noun<Services>): void {
  const tell = (record: BroadcastRecord): string => {
    const why = record.pause_reason === 'not_ready' ? ` Why: satchel broadcast check ${record.id}` : '';
    return `${stateOf(record)}.${why}`;
  };
  for (const [name, says] of [
    ['pause', 'send nothing more until it is resumed'],
    ['resume', 'go on after a pause, or begin what could not begin at its time'],
  ] as const)
    transition(noun, {
      name,
      says,
      tell,
      run: ({ broadcast_life }, actor, owner, id) => broadcast_life[name](actor, owner, id),
    });
  transition(noun, {
    name: 'cancel',
    says: 'end it for good: what no relay took is taken back',
    consent: ({ name, stats, recipients }) =>
      `ends the broadcast ${name} for good: ${stats.sent} of ${recipients ?? 0} mails are sent, and no others will be`,
    tell,
    run: ({ broadcast_life }, actor, owner, id) => broadcast_life.cancel(actor, owner, id),
  });
}
