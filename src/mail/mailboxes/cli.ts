/** `satchel mailbox`: the addresses that mail goes out from, each with its relay. */

import { type Cli, type CliResult, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { listOption, numberOption, requireYes, textOption, wholeNumber } from '../../platform/cli/options.ts';
import { readSecret } from '../../platform/cli/secret-input.ts';
import { counted, formatFields, formatTable, type Table } from '../../platform/cli/tables.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { type InboxAddress, type InboxRecord, parseInbox } from '../inboxes/service.ts';
import { hasPassword, parseRelay, type Relay } from './relay.ts';
import type { MailboxChanges, Mailboxes, MailboxRecord } from './service.ts';

interface Needs {
  mailboxes: Mailboxes;
  /** For what goes along when a mailbox is removed. */
  emails: { countWaitingFor(mailbox_ids: readonly number[]): number };
}

type Noun = ReturnType<Cli<unknown>['noun']>;

const INBOX = 'where its bounces arrive: imap[s]://user:password@host[:port][/folder], or -, @file, env:NAME';

const RATE = 'at most so many mails in any second, minute or hour: N/s, N/m, N/h, or none';

const VERP = 'a return path of its own for each mail, also without an inbox';
const NO_VERP = 'the same return path for all mails';

export function registerMailboxCommands<S extends Needs>(cli: Cli<S>): void {
  const mailbox = cli.noun('mailbox', 'addresses that mail goes out from, each with its relay');
  registerAdd(cli, mailbox);
  cli
    .verb(mailbox, 'list', 'every mailbox, with what it sent today and how its relay is')
    .example('satchel mailbox list')
    .does(async ({ services }) => {
      const mailboxes = services.mailboxes.list();
      return { json: mailboxes, text: formatMailboxes(mailboxes) };
    });
  registerChange(cli, mailbox);
  registerTest(cli, mailbox);
  cli
    .verb(mailbox, 'pause <mailbox>', 'send nothing through it until it is resumed')
    .example('satchel mailbox pause shop@mail.example.com')
    .does(async ({ services, actor }, _options, address = '') =>
      shown(await services.mailboxes.setStatus(actor, address, 'paused')),
    );
  cli
    .verb(mailbox, 'resume <mailbox>', 'use it again; this also ends the rest after failures')
    .example('satchel mailbox resume shop@mail.example.com')
    .does(async ({ services, actor }, _options, address = '') =>
      shown(await services.mailboxes.setStatus(actor, address, 'active')),
    );
  cli
    .verb(mailbox, 'remove <mailbox>', 'remove it; mails that wait for it go out from another one')
    .option('--yes', 'really do it')
    .example('satchel mailbox remove shop@mail.example.com --yes')
    .does(async ({ services, actor }, options, named = '') => {
      const { id, address } = services.mailboxes.require(named);
      const waiting = services.emails.countWaitingFor([id]);
      requireYes(
        options,
        `removes ${address} with its relay and its password; ${counted(waiting, 'mail that waits for it', 'mails that wait for it')} must find another mailbox or fail`,
      );
      await services.mailboxes.remove(actor, address);
      return { json: { address, removed: true }, text: `${address} is removed.` };
    });
}

function registerAdd<S extends Needs>(cli: Cli<S>, mailbox: Noun): void {
  cli
    .verb(mailbox, 'add <address>', 'add a mailbox of a sending domain')
    .option(
      '--smtp <relay>',
      'smtp[s]://user:password@host:port[?tls=required&dkim=off], or -, @file, env:NAME that hold it',
    )
    .option('--capture', 'keep what is sent instead of delivering it (satchel email captured)')
    .option('--daily-limit <n>', 'messages a UTC day (no limit unless given)', wholeNumber(1))
    .option('--rate <rate>', RATE)
    .option('--for <purposes>', 'transactional, marketing or both (transactional)')
    .option('--return-path <address>', 'envelope sender, where bounces go (the address itself)')
    .option('--inbox <inbox>', INBOX)
    .option('--verp', VERP)
    .option('--no-verp', NO_VERP)
    .addHelpText(
      'after',
      `
A mailbox that captures stands in for no relay: it is used only where its domain is asked for or is the default,
and no mailbox of that domain has a relay for such mail, not even a paused one.

Examples:
  satchel mailbox add shop@mail.example.com --capture
  satchel mailbox add shop@mail.example.com --smtp @relay-url.txt --daily-limit 2000
  satchel mailbox add shop@mail.example.com --smtp env:RELAY_URL`,
    )
    .does(async ({ services, actor }, options, address = '') => {
      const purposes = readPurposes(listOption(options, 'for'));
      const relay = await readRelay(cli, textOption(options, 'smtp'), options.capture === true);
      const added = await services.mailboxes.add(actor, {
        address,
        relay,
        daily_limit: numberOption(options, 'dailyLimit') ?? null,
        rate: readRate(textOption(options, 'rate')),
        return_path: readReturnPath(textOption(options, 'returnPath')),
        inbox: await readInbox(cli, options.inbox),
        verp: verpOption(options),
        ...purposes,
      });
      return shown(added);
    });
}

function registerChange<S extends Needs>(cli: Cli<S>, mailbox: Noun): void {
  cli
    .verb(
      mailbox,
      'change <mailbox>',
      'change what is given and leave the rest: a new password, another limit',
    )
    .option(
      '--smtp <relay>',
      'smtp[s]://user:password@host:port[?tls=required&dkim=off], or -, @file, env:NAME that hold it',
    )
    .option('--capture', 'keep what is sent instead of delivering it (satchel email captured)')
    .option('--daily-limit <n>', 'messages a UTC day', wholeNumber(1))
    .option('--no-daily-limit', 'no limit any more')
    .option('--rate <rate>', RATE)
    .option('--for <purposes>', 'transactional, marketing or both')
    .option('--return-path <address>', 'envelope sender, where bounces go')
    .option('--no-return-path', 'bounces go to the address itself again')
    .option('--inbox <inbox>', INBOX)
    .option('--no-inbox', 'read none any more')
    .option('--verp', VERP)
    .option('--no-verp', NO_VERP)
    .addHelpText(
      'after',
      `
The running server takes it up with the next mail. In an inbox it reads bounces and complaints (DSN, ARF) as they
arrive, flags what took effect with $Satchel, and leaves every message in place. imap:// is STARTTLS, except to this
very machine. The same account and folder, such as with a new password, is read on from where it was left.
A mailbox with an inbox gives each mail a return path of its own (bounces+ID.CODE@example.com), by which
the least report tells its mail; --no-verp where the server of the inbox drops what stands behind the plus sign. A
relay that refuses such a sender gets the plain one from then on, as \`satchel doctor\` tells; any change tries it again.
A relay that asks for less mail is sent half as much and by and by more again, whatever the rate; another relay, and
\`satchel mailbox resume\`, begin anew.

Examples:
  satchel mailbox change shop@mail.example.com --smtp @relay-url.txt
  satchel mailbox change shop@mail.example.com --inbox @inbox-url.txt
  satchel mailbox change shop@mail.example.com --rate 14/s
  satchel mailbox change shop@mail.example.com --no-daily-limit --for transactional,marketing`,
    )
    .does(async ({ services, actor }, options, address = '') => {
      const purposes = listOption(options, 'for');
      const smtp = textOption(options, 'smtp');
      const is_capturing = options.capture === true;
      const changes: MailboxChanges = {
        ...(smtp === undefined && !is_capturing ? {} : { relay: await readRelay(cli, smtp, is_capturing) }),
        ...whereGiven(options, 'dailyLimit', { daily_limit: numberOption(options, 'dailyLimit') ?? null }),
        ...whereGiven(options, 'rate', { rate: readRate(textOption(options, 'rate')) }),
        ...whereGiven(options, 'returnPath', {
          return_path: readReturnPath(textOption(options, 'returnPath')),
        }),
        ...whereGiven(options, 'verp', { verp: verpOption(options) }),
        ...(options.inbox === undefined ? {} : { inbox: await readInbox(cli, options.inbox) }),
        ...(purposes.length === 0 ? {} : readPurposes(purposes)),
      };
      if (Object.keys(changes).length === 0) throw new UsageError('Say what to change; add --help.');
      return shown(await services.mailboxes.change(actor, address, changes));
    });
}

/** The change, where the option or its --no- form was given. */
function whereGiven<T>(options: Record<string, unknown>, name: string, change: T): T | Record<string, never> {
  return options[name] === undefined ? {} : change;
}

function registerTest<S extends Needs>(cli: Cli<S>, mailbox: Noun): void {
  cli
    .verb(mailbox, 'test <mailbox>', 'send one message through it and print what its relay says')
    .example('satchel mailbox test shop@mail.example.com --to me@example.org')
    .requiredOption('--to <address>', 'who gets the message')
    .does(async ({ services }, options, address = '') => {
      const test = await services.mailboxes.test(address, textOption(options, 'to') ?? '');
      return {
        json: test,
        text: `${test.outcome}: ${test.response}`,
        exit: test.outcome === 'sent' || test.outcome === 'captured' ? EXIT.done : EXIT.refused,
      };
    });
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

async function readRelay<S>(
  cli: Cli<S>,
  smtp: string | undefined,
  is_capturing: boolean,
): Promise<Relay | null> {
  if ((smtp === undefined) !== is_capturing)
    throw new UsageError('Give either --smtp with a relay or --capture.');
  if (smtp === undefined) return null;
  // An address of a relay without a password is no secret.
  const is_plain = /^smtps?:/i.test(smtp) && !hasPassword(smtp);
  return parseRelay(is_plain ? smtp : await readSecret(cli, smtp, "the relay's password"));
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

function shown(mailbox: MailboxRecord): CliResult {
  return {
    json: mailbox,
    text: formatFields({
      ...mailbox,
      for: mailbox.for.join(', '),
      relay: mailbox.relay ?? 'captures mail',
      pace: mailbox.pace && tellPace(mailbox.pace),
      inbox: mailbox.inbox && `${mailbox.inbox.address}, ${tellInbox(mailbox.inbox)}`,
    }),
  };
}

function tellState({ state, resting_until, pace }: MailboxRecord): string {
  if (resting_until !== null) return `resting until ${resting_until}`;
  return pace === null ? state : `${state}, slowed to ${pace.allowed}`;
}

function tellPace({ allowed, since, words }: NonNullable<MailboxRecord['pace']>): string {
  return `slowed to ${allowed} since ${since}: ${words}`;
}

function tellInbox({ last_error, last_look_at, skipped }: InboxRecord): string {
  const is_read = last_look_at === null ? 'not read yet' : `read ${last_look_at}`;
  const state = last_error === null ? is_read : `not readable: ${last_error}`;
  return skipped === 0 ? state : `${state}, ${skipped} skipped`;
}

function formatMailboxes(mailboxes: readonly MailboxRecord[]): Table {
  return formatTable(
    ['mailbox', 'state', 'relay', 'today', 'limit', 'rate', 'for', 'no', 'last error', 'inbox'],
    mailboxes.map((mailbox) => [
      mailbox.address,
      tellState(mailbox),
      mailbox.relay ?? 'captures mail',
      mailbox.used_today,
      mailbox.daily_limit,
      mailbox.rate,
      mailbox.for.join(', '),
      mailbox.id,
      mailbox.refusal ?? mailbox.pace?.words ?? mailbox.last_error,
      mailbox.inbox && tellInbox(mailbox.inbox),
    ]),
    'No mailbox yet. Add one: satchel mailbox add hello@example.com --smtp -',
  );
}
