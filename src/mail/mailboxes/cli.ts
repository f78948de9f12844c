/** `satchel mailbox`: the addresses that mail goes out from, each with its relay. */
import { type Cli, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { readSecret } from '../../platform/cli/input.ts';
import {
  listOption,
  numberOption,
  type Options,
  textOption,
  wholeNumber,
} from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun, Verb } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { counted } from '../../platform/words/phrases.ts';
import { type InboxAddress, type InboxRecord, parseInbox } from '../inboxes/service.ts';
import { type EventsRecord, PROVIDERS } from '../relay-events/service.ts';
import { registerEvents } from './events-cli.ts';
import { type Relay, relayOf } from './relay.ts';
import { readRelayOptions, withRelayOptions } from './relay-options.ts';
import type { MailboxRecord } from './schemas.ts';
import type { MailboxChanges, Mailboxes } from './service.ts';

interface Needs {
  mailboxes: Mailboxes;
  /** For what goes along when a mailbox is removed. */
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

export function registerMailboxCommands(cli: Cli<Needs>): void {
  const mailbox = cli.noun('mailbox');
  registerAdd(cli, mailbox);
  registerChange(cli, mailbox);
  registerEvents(cli, mailbox);
  mailbox
    .verb('list', 'every mailbox, with what it sent today and how its relay is')
    .example('satchel mailbox list')
    .lists(
      ({ services, page }) => paginateAll(page, services.mailboxes.list()),
      (one) =>
        rowOf(
          {
            ...one,
            state: presentState(one),
            relay: one.relay ?? 'captures mail',
            problem: one.refusal ?? one.pace?.words ?? one.last_error,
            inbox: one.inbox && presentInbox(one.inbox),
          },
          'mailbox=address state relay today=used_today limit=daily_limit rate for no=id last_error=problem inbox',
        ),
      'No mailbox yet. Add one: satchel mailbox add --help',
    );
  mailbox
    .verb('show <mailbox>', 'all of one mailbox')
    .example('satchel mailbox show shop@mail.example.com')
    .shows(
      ({ services }, _options, address) => services.mailboxes.show(services.mailboxes.require(address)),
      presentAll,
    );
  mailbox
    .verb('test <mailbox>', 'send one message through it and print what its relay says')
    .example('satchel mailbox test shop@mail.example.com --to me@example.org')
    .requiredOption('--to <address>', 'who gets the message')
    .does(async ({ services }, options, address) => {
      const test = await services.mailboxes.test(address, textOption(options, 'to') ?? '');
      const is_done = test.outcome === 'sent' || test.outcome === 'captured';
      const exit = is_done ? EXIT.done : EXIT.refused;
      return { json: test, text: `${test.outcome}: ${test.response}`, exit };
    });
  for (const [name, status, what] of [
    ['pause', 'paused', 'send nothing through it until it is resumed'],
    ['resume', 'active', 'use it again; this also ends the rest after failures'],
  ] as const)
    mailbox
      .verb(`${name} <mailbox>`, what)
      .example(`satchel mailbox ${name} shop@mail.example.com`)
      .shows(
        ({ services, actor }, _options, address) => services.mailboxes.setStatus(actor, address, status),
        present,
      );
  mailbox
    .verb('remove <mailbox>', 'remove it; mails that wait for it go out from another one')
    .example('satchel mailbox remove shop@mail.example.com --yes')
    .removes(async ({ services, consent, actor }, _options, named) => {
      const { id, address } = services.mailboxes.require(named);
      const waiting = services.emails.countWaitingFor([id]);
      const mails = counted(waiting, 'mail that waits for it', 'mails that wait for it');
      consent(
        `removes ${address} with its relay and its password; ${mails} must find another mailbox or fail`,
      );
      await services.mailboxes.remove(actor, address);
      return { json: { address, removed: true }, text: `${address} is removed.` };
    });
}

/** The options that a mailbox is both added and changed with. */
function withOptions(verb: Verb<Needs>): Verb<Needs> {
  return withRelayOptions(verb)
    .option('--rate <rate>', 'at most so many mails in any second, minute or hour: N/s, N/m, N/h, or none')
    .option(
      '--inbox <inbox>',
      'where its bounces arrive: imap[s]://user:password@host[:port][/folder], or -, @file, env:NAME',
    )
    .option('--verp', 'a return path of its own for each mail, also without an inbox')
    .option('--no-verp', 'the same return path for all mails');
}

function registerAdd(cli: Cli<Needs>, mailbox: Noun<Needs>): void {
  withOptions(mailbox.verb('add <address>', 'add a mailbox of a sending domain'))
    .option('--daily-limit <n>', 'messages a UTC day (no limit unless given)', wholeNumber(1))
    .option('--for <purposes>', 'transactional, marketing or both (transactional)')
    .option('--return-path <address>', 'envelope sender, where bounces go (the address itself)')
    .remark(`A mailbox that captures stands in for no relay: it is used only where its domain is asked for or is the default,
and no mailbox of that domain has a relay for such mail, not even a paused one. Where the default is a domain below .test
that only captures, as one that Satchel is tried with, the first other one that is verified or trusted and has a relay
for transactional mail becomes the default in its place.`)
    .example(
      'satchel mailbox add shop@mail.example.com --capture',
      'satchel mailbox add shop@mail.example.com --smtp-host smtp.example.net --smtp-user shop --smtp-password @password.txt',
      'satchel mailbox add shop@mail.example.com --provider ses:eu-west-1 --smtp-user AKIA123 --smtp-password env:SES_PASSWORD',
      'satchel mailbox add shop@mail.example.com --smtp @relay-url.txt --daily-limit 2000',
    )
    .shows(
      async ({ services, actor }, options, address) =>
        services.mailboxes.add(actor, {
          ...readPurposes(listOption(options, 'for')),
          address,
          relay: await readNewRelay(cli, options),
          daily_limit: numberOption(options, 'dailyLimit') ?? null,
          rate: readRate(textOption(options, 'rate')),
          return_path: readReturnPath(textOption(options, 'returnPath')),
          inbox: await readInbox(cli, options.inbox),
          verp: verpOption(options),
        }),
      present,
    );
}

function registerChange(cli: Cli<Needs>, mailbox: Noun<Needs>): void {
  withOptions(
    mailbox.verb(
      'change <mailbox>',
      'change what is given and leave the rest: a new password, another limit',
    ),
  )
    .option('--daily-limit <n>', 'messages a UTC day', wholeNumber(1))
    .option('--no-daily-limit', 'no limit any more')
    .option('--for <purposes>', 'transactional, marketing or both')
    .option('--return-path <address>', 'envelope sender, where bounces go')
    .option('--no-return-path', 'bounces go to the address itself again')
    .option('--no-inbox', 'read none any more')
    .option('--no-smtp-user', 'log in at the relay no more')
    .remark(`The running server takes it up with the next mail. Of a relay, too, what is not given stays; but a password
that is stored goes along to no other host. In an inbox it reads bounces and complaints (DSN, ARF) as they
arrive, flags what took effect with $Satchel, and leaves every message in place. imap:// is STARTTLS, except to this
very machine. The same account and folder, such as with a new password, is read on from where it was left.
A mailbox with an inbox gives each mail a return path of its own (bounces+ID.CODE@example.com), by which
the least report tells its mail; --no-verp where the server of the inbox drops what stands behind the plus sign. A
relay that refuses such a sender gets the plain one from then on, as \`satchel doctor\` tells; any change tries it again.
A relay that asks for less mail is sent half as much and by and by more again, whatever the rate; another relay, and
\`satchel mailbox resume\`, begin anew.`)
    .example(
      'satchel mailbox change shop@mail.example.com --smtp-password -',
      'satchel mailbox change shop@mail.example.com --inbox @inbox-url.txt',
      'satchel mailbox change shop@mail.example.com --rate 14/s',
      'satchel mailbox change shop@mail.example.com --no-daily-limit --for transactional,marketing',
    )
    .shows(async ({ services, actor }, options, address) => {
      const purposes = listOption(options, 'for');
      const where = <T>(option: unknown, change: T) => (option === undefined ? {} : change);
      const daily_limit = numberOption(options, 'dailyLimit') ?? null;
      const return_path = readReturnPath(textOption(options, 'returnPath'));
      const changes: MailboxChanges = {
        ...(await readRelayOptions(cli, options)),
        ...where(options.dailyLimit, { daily_limit }),
        ...where(options.rate, { rate: readRate(textOption(options, 'rate')) }),
        ...where(options.returnPath, { return_path }),
        ...where(options.verp, { verp: verpOption(options) }),
        ...where(options.inbox, { inbox: await readInbox(cli, options.inbox) }),
        ...(purposes.length === 0 ? {} : readPurposes(purposes)),
      };
      if (Object.keys(changes).length === 0) throw new UsageError('Say what to change; add --help.');
      return services.mailboxes.change(actor, address, changes);
    }, present);
}

function readPurposes(purposes: readonly string[]): { for_transactional: boolean; for_marketing: boolean } {
  if (purposes.some((purpose) => purpose !== 'transactional' && purpose !== 'marketing'))
    throw new UsageError('--for takes transactional, marketing or both, separated by a comma.');
  const is_default = purposes.length === 0;
  return {
    for_transactional: is_default || purposes.includes('transactional'),
    for_marketing: purposes.includes('marketing'),
  };
}

/** Null where it captures. */
async function readNewRelay<S>(cli: Cli<S>, options: Options): Promise<Relay | null> {
  const { relay, relay_parts } = await readRelayOptions(cli, options);
  if (relay !== undefined) return relay;
  if (!relay_parts?.host)
    throw new UsageError('Give a relay (--smtp-host, --provider or --smtp), or --capture.');
  if ((relay_parts.user === undefined) !== (relay_parts.password === undefined))
    throw new UsageError(
      'Give both --smtp-user and --smtp-password, or neither where the relay asks for none.',
    );
  if (options.provider !== undefined && relay_parts.password === undefined)
    throw new UsageError('Give --smtp-user and --smtp-password: no provider takes mail without.');
  return relayOf(relay_parts);
}

/** Null where there is to be none. */
async function readInbox<S>(cli: Cli<S>, option: unknown): Promise<InboxAddress | null> {
  if (typeof option !== 'string') return null;
  return parseInbox(await readSecret(cli, option, "the inbox's password"));
}

function verpOption({ verp }: Record<string, unknown>): boolean | null {
  return typeof verp === 'boolean' ? verp : null;
}

/** Null where there is to be none. What is no rate is refused by whoever takes it. */
function readRate(text: string | undefined): string | null {
  return text === undefined || text === 'none' ? null : text;
}

function readReturnPath(text: string | undefined): string | null {
  if (text === undefined) return null;
  const parsed = parseAddress(text);
  if (!parsed) throw new UsageError('--return-path takes an email address.');
  return parsed.address;
}

/** In short: what most changes are about. */
function present(mailbox: MailboxRecord) {
  const { daily_limit, rate, return_path, inbox, events } = mailbox;
  return {
    mailbox: mailbox.address,
    state: presentState(mailbox),
    relay: mailbox.relay ?? 'captures mail',
    for: mailbox.for,
    limits: [...(daily_limit === null ? [] : [`${daily_limit} a day`]), ...(rate === null ? [] : [rate])],
    bounces: [
      ...(return_path === null ? [] : [`to ${return_path}`]),
      ...(mailbox.verp ? ['a return path of its own for each mail'] : []),
      ...(events === null ? [] : [`told by ${PROVIDERS[events.provider].label}: ${presentEvents(events)}`]),
      ...(inbox === null ? [] : [`read at ${inbox.address}: ${presentInbox(inbox)}`]),
    ],
  };
}

function presentAll(mailbox: MailboxRecord) {
  const { pace, inbox, events } = mailbox;
  return {
    ...mailbox,
    relay: mailbox.relay ?? 'captures mail',
    pace: pace && `${[...presentPace(pace), `refused since ${pace.since}`].join(', ')}: ${pace.words}`,
    inbox: inbox && `${inbox.address}, ${presentInbox(inbox)}`,
    events: events && `${events.provider}, ${presentEvents(events)}`,
  };
}

function presentState({ state, resting_until, pace }: MailboxRecord): string {
  const how = resting_until === null ? state : `resting until ${resting_until}`;
  return [how, ...(pace ? presentPace(pace) : [])].join(', ');
}

function presentPace({ allowed, waits_until }: NonNullable<MailboxRecord['pace']>): string[] {
  const waits = waits_until === null ? [] : [`waits until ${waits_until}`];
  return [...(allowed === null ? [] : [`slowed to ${allowed}`]), ...waits];
}

function presentEvents({ last_event_at, problem }: EventsRecord): string {
  const last = last_event_at === null ? 'none came yet' : `the last one came ${last_event_at}`;
  return problem === null ? last : `refused: ${problem}`;
}

function presentInbox({ last_error, last_look_at, skipped, unread }: InboxRecord): string {
  const is_read = last_look_at === null ? 'not read yet' : `read ${last_look_at}`;
  const state = last_error === null ? is_read : `not readable: ${last_error}`;
  const told = [...(skipped > 0 ? [`${skipped} skipped`] : []), ...(unread > 0 ? [`${unread} unread`] : [])];
  return [state, ...told].join(', ');
}
