/** `satchel broadcast`: one mail to a list, from its draft to who got it. */
import { AppError, invalid } from '../../errors.ts';
import type { Cli, CliResult } from '../../platform/cli/cli.ts';
import { fieldsOf } from '../../platform/cli/fields.ts';
import { textOption } from '../../platform/cli/options.ts';
import { formatFields, formatTable, rowOf } from '../../platform/cli/tables.ts';
import { emailAddress, t } from '../../platform/http/schema.ts';
import { counted } from '../../platform/words/phrases.ts';
import { campaignVerbs, checkResult } from '../campaign-cli.ts';
import { explainProblem } from '../campaign-readiness.ts';
import { keyIn, type MarketingServices, noteSecond } from '../cli-services.ts';
import { FILTER_HELP, readFilter } from '../contacts/service.ts';
import type { BroadcastLife } from './lifecycle.ts';
import { changes, creation, FIELDS, sending } from './schemas.ts';
import type { BroadcastRecord } from './service.ts';

type Services = MarketingServices & { broadcast_life: BroadcastLife };

const verbsOf = (cli: Cli<Services>) =>
  campaignVerbs<'broadcast', Services, BroadcastRecord>(cli, 'broadcast', ({ broadcasts }) => broadcasts);
type Verbs = ReturnType<typeof verbsOf>;

const ID = '01J00000000000000000000000';
const AT = { send_at: '--at' };

/** The fields of a draft by their options. */
const DRAFT = {
  ...FIELDS,
  ...fieldsOf(creation, {
    filter: ['--filter <filter>', FILTER_HELP],
    ab: [
      '--ab <json>',
      'an A/B as JSON: {"variants": [{"name": "A", "subject": "…"}, …], "share": 20, "decide_by": "clicks", "decide_after_hours": 4}',
      { is_long: true },
    ],
  }),
};
const reads = {
  list: keyIn('list_names'),
  template: keyIn('template_names'),
  segment: keyIn('segment_names'),
  filter: readFilter,
  ab: readJson,
};

/**
 * Registers `satchel broadcast create | change | show | list | check | test | send | pause | resume | decide | cancel | delete |
 * copy | recipients`.
 */
export function registerBroadcastCommands(cli: Cli<Services>): void {
  const verbs = verbsOf(cli);
  registerWriting(verbs);
  registerLooking(verbs);
  registerSending(verbs);
  registerTransitions(verbs);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ ab: ['must be JSON'] });
  }
}

function registerWriting({ all, one, copy, recordOf }: Verbs): void {
  all('create', 'make a draft')
    .takes(DRAFT, creation, { reads })
    .example(
      `satchel broadcast create --project shop --name "June news" --list ${ID} --template june-news --filter tags_any=customer`,
    )
    .shows(
      ({ services, project, sent, trail }) => services.broadcasts.create(project.id, sent, trail),
      ({ id, name }, session) => {
        noteSecond(session, 'broadcast', name);
        return `${id}\nThe draft ${name} is made. Next: satchel broadcast check ${id}`;
      },
    );
  one('change', 'change a draft, or one that is scheduled; of any other whether it is in the archive')
    .changes(DRAFT, changes, {
      reads,
      options: AT,
      more: ({ at: send_at, everybody, ab }) => ({
        ...(everybody === true ? { filter: null, segment: null } : {}),
        ...(ab === false ? { ab: null } : {}),
        send_at: send_at === 'none' ? null : send_at,
      }),
    })
    .option('--no-ab', 'no A/B any more: the same mail for all')
    .option('--everybody', 'no filter and no segment any more')
    .option('--at <time>', 'another time, of one that is scheduled; "none": a draft again')
    .example(`satchel broadcast change ${ID} --at 2031-06-01T09:00:00Z`)
    .shows(
      async (session) => {
        const { services, project, id, sent, trail } = session;
        await services.broadcast_life.change(project.id, id, sent, trail);
        return recordOf(session);
      },
      (record) => `The broadcast ${record.name} is changed: it is ${stateOf(record)}.`,
    );
  copy('make a draft that is as a broadcast is');
  one('delete', 'delete a draft, or one that was cancelled')
    .example(`satchel broadcast delete ${ID} --yes`)
    .removes(async (session) => {
      const { services, project, id, consent, trail } = session;
      const { name, stats } = recordOf(session);
      consent(
        `deletes the broadcast ${name}; the log keeps the mails that it made, ${stats.sent} of them sent`,
      );
      await services.broadcasts.remove(project.id, id, trail);
      return { json: { deleted: true }, text: `The broadcast ${name} is deleted.` };
    });
}

function stateOf({ status, pause_reason, send_at }: BroadcastRecord): string {
  if (status === 'paused') return `paused (${pause_reason})`;
  if (status === 'draft') return 'a draft';
  return status === 'scheduled' ? `scheduled for ${send_at}` : status;
}

const tested = t.Object({ to: emailAddress() });

function reasonsOf({ by_reason }: BroadcastRecord['left_out']): string[] {
  return Object.entries(by_reason).flatMap(([why, n]) => (n > 0 ? [`${n} ${why}`] : []));
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

function registerLooking({ all, one, recordOf }: Verbs): void {
  all('list', 'broadcasts of a project, newest first')
    .example('satchel broadcast list --project shop')
    .lists(
      ({ services, project, page }) => services.broadcasts.list(project.id, page),
      (one) =>
        rowOf({ ...one, ...one.stats, status: stateOf(one) }, 'id name status recipients sent lost clicked'),
      'There are no broadcasts. Make one with: satchel broadcast create --project REF --name NAME --list ID',
    );
  one('show', 'one broadcast with its numbers')
    .example('satchel broadcast show "June news" --project shop')
    .shows(recordOf, (record, { services }) => {
      const { stats, left_out, links, filter, variables, ab, ...fields } = record;
      const head = formatFields({
        ...fields,
        filter: filter && JSON.stringify(filter),
        variables: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
        ...stats,
        'left out': reasonsOf(left_out),
      });
      const table = formatTable(
        links.map(({ url, people, clicks }) => ({ link: url, people, clicks })),
        'It has no links yet.',
      );
      const test = ab && tableOf(ab);
      const held = services.broadcasts.explainHeld(record);
      return (columns: number) =>
        [head, ...held, ...(test ? [test(columns)] : []), table(columns)].join('\n\n');
    });
  one('recipients', 'who had their turn, and what became of it')
    .example(`satchel broadcast recipients ${ID}`)
    .lists(
      ({ services, project, id, page }) => services.broadcasts.listRecipients(project.id, id, page),
      (one) => rowOf(one, 'email status reason clicked=clicked_at variant its_mail=email_id'),
      'Nobody had their turn yet.',
    );
}

function registerSending({ one, recordOf }: Verbs): void {
  one(
    'check',
    'what keeps a broadcast from being sent, and whom it would reach; ends with 1 if anything does',
  )
    .example(`satchel broadcast check ${ID}`)
    .does(async ({ services, project, id }) => {
      const found = await services.broadcasts.check(project.id, id);
      const { recipients, left_out } = found;
      const out = reasonsOf(left_out);
      const reasons = out.length > 0 ? `: ${out.join(', ')}` : '';
      const warnings = found.warnings.map(({ message }) => message);
      return checkResult(found, [
        `${recipients} would get it, ${left_out.total} would not${reasons}.`,
        ...warnings,
      ]);
    });
  one('test', 'send a copy of it to an address; counts nowhere')
    .takes(fieldsOf(tested, { to: ['--to <address>', 'who gets it'] }), tested)
    .option('--variant <name>', 'this variant of its A/B')
    .example(`satchel broadcast test ${ID} --to you@example.com`)
    .shows(
      ({ services, project, id, sent }, options) => {
        const variant = textOption(options, 'variant') ?? null;
        return services.broadcasts.sendTest(project.id, { public_id: id, is_test: false, variant }, sent.to);
      },
      ({ email_id }, { sent }) => `A test goes to ${sent.to}: satchel email why ${email_id}`,
    );
  one('send', 'send it to its list, now or at a time')
    .takes(
      fieldsOf(sending, { send_at: ['--at <time>', 'when, such as 2031-06-01T09:00:00Z; now unless given'] }),
      sending,
    )
    .example(
      `satchel broadcast send ${ID} --yes`,
      `satchel broadcast send ${ID} --at 2031-06-01T09:00:00Z --yes`,
    )
    .removes(async (session, options) => {
      const { services, project, id, sent, consent, actor } = session;
      const { broadcasts, broadcast_life } = services;
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
        const { name } = recordOf(session);
        consent(
          `sends ${name} to ${counted(recipients, 'person', 'people')}${sent.send_at ? ` at ${sent.send_at}` : ''}`,
        );
      }
      await broadcast_life.send(actor, project, id, { send_at: sent.send_at, is_test: false });
      return told(recordOf(session));
    });
}

function told(record: BroadcastRecord): CliResult {
  const number = record.recipients === null ? '' : ` to ${counted(record.recipients, 'person', 'people')}`;
  const next = `Look at it with: satchel broadcast show ${record.id}`;
  return { json: record, text: `The broadcast ${record.name} is ${stateOf(record)}${number}. ${next}` };
}

function registerTransitions({ one, recordOf, transition }: Verbs): void {
  const tell = (record: BroadcastRecord): string => {
    const why = record.pause_reason === 'not_ready' ? ` Why: satchel broadcast check ${record.id}` : '';
    return `${stateOf(record)}.${why}`;
  };
  for (const [name, says] of [
    ['pause', 'send nothing more until it is resumed'],
    ['resume', 'go on after a pause, or begin what could not begin at its time'],
  ] as const)
    transition(name, says, {
      tell,
      run: ({ broadcast_life }, actor, owner, id) => broadcast_life[name](actor, owner, id),
    });
  transition('cancel', 'end it for good: what no relay took is taken back', {
    consent: ({ name, stats, recipients }) =>
      `ends the broadcast ${name} for good: ${stats.sent} of ${recipients ?? 0} mails are sent, and no others will be`,
    tell,
    run: ({ broadcast_life }, actor, owner, id) => broadcast_life.cancel(actor, owner, id),
  });
  one('decide', 'say which variant of its A/B the rest gets')
    .requiredOption('--variant <name>', 'its name')
    .example(`satchel broadcast decide ${ID} --variant B`)
    .shows(
      async (session, options) => {
        const { services, project, id, actor } = session;
        await services.broadcast_life.decide(actor, project, id, textOption(options, 'variant') ?? '');
        return recordOf(session);
      },
      ({ name, ab }) => `The rest of ${name} gets ${ab?.winner}.`,
    );
}
