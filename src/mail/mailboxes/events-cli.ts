/** `satchel mailbox events`: where the provider of a relay tells what became of mail. */
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { readHiddenSecret } from '../../platform/cli/input.ts';
import { textOption } from '../../platform/cli/options.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { EVENT_PROVIDERS, type EventProvider, PROVIDERS } from '../relay-events/service.ts';
import { providerAt } from './relay-providers.ts';
import type { MailboxRecord } from './schemas.ts';
import type { Mailboxes } from './service.ts';

const FORM = EVENT_PROVIDERS.join(' | ');

export function registerEvents(cli: Cli<{ mailboxes: Mailboxes }>, mailbox: Noun<{ mailboxes: Mailboxes }>) {
  mailbox
    .verb('events <mailbox>', "have its relay's provider tell of bounces and complaints by a webhook")
    .option('--provider <name>', `${FORM}; whose host its relay has unless given`)
    .option('--key <key>', '-, @file or env:NAME that hold what it signs with: of sendgrid, mailgun, resend')
    .option('--no-key', 'take what is not signed, too')
    .option('--configuration-set <name>', 'of ses: the one whose events are told')
    .option('--no-configuration-set', 'whichever ses has')
    .option('--rotate', 'make another URL; that of before is unknown at once')
    .option('--off', 'hear of nothing any more')
    .remark(`It prints the URL, where it goes in the provider's settings, and which events to tick there. One URL serves
all mailboxes of an account; run it for each of them, as its mail then bears a code by which events name it. Resend
gives none back and must have a key; ses confirms itself. What is told is taken as a report that comes to an inbox:
satchel email why shows it.`)
    .example(
      'satchel mailbox events shop@mail.example.com --provider postmark',
      'satchel mailbox events shop@mail.example.com --provider mailgun --key @signing-key.txt',
      'satchel mailbox events shop@mail.example.com --provider ses --configuration-set satchel',
    )
    .does(async ({ services: { mailboxes }, actor }, options, named) => {
      const row = mailboxes.require(named);
      const before = mailboxes.show(row);
      const { rotate, off, key, configurationSet } = options;
      const name = textOption(options, 'provider');
      const is_set = [name, key, configurationSet].some((one) => one !== undefined);
      if ([is_set, rotate === true, off === true].filter(Boolean).length > 1)
        throw new UsageError('Give --rotate, --off, or what events are to be: one of them.');
      if (off === true) return tell(await mailboxes.change(actor, row.address, { events: null }));
      if (rotate === true) return tell(await mailboxes.rotateEvents(actor, row.address));
      // To look at the URL again changes nothing.
      if (!is_set && before.events) return tell(before);
      const given_key = textOption(options, 'key');
      const given_set = textOption(options, 'configurationSet');
      const events = {
        provider: providerOf(name ?? before.events?.provider ?? providerAt(row.smtp_host ?? '')),
        ...(given_key !== undefined && { key: await readHiddenSecret(cli, given_key, '--key') }),
        ...(key === false && { key: null }),
        ...(given_set !== undefined && { configuration_set: given_set }),
        ...(configurationSet === false && { configuration_set: null }),
      };
      return tell(await mailboxes.change(actor, row.address, { events }));
    });
}

function providerOf(name: string | null): EventProvider {
  const provider = EVENT_PROVIDERS.find((each) => each === name);
  if (provider === undefined) throw new UsageError(`Say whose events: --provider takes ${FORM}.`);
  return provider;
}

function tell({ address, events }: MailboxRecord) {
  const json = { address, events };
  if (!events) return { json, text: `${address} hears of no events.` };
  const { place, ticks } = PROVIDERS[events.provider];
  const url = events.url ?? `Its URL does not decrypt: satchel mailbox events ${shellWord(address)} --rotate`;
  return { json, text: `${url}\nWhere it goes: ${place}.\nTick there: ${ticks}.` };
}
