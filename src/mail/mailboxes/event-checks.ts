/**
 * What `satchel doctor` asks of relay events: bounces that nobody would see, requests that are refused, and a
 * silence.
 */
import { type Clock, DAY_MS, utcDay } from '../../platform/host/clock.ts';
import {
  about,
  type Finding,
  type HealthCheck,
  ok,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { EVENT_PROVIDERS, PROVIDERS, type RelayEvents } from '../relay-events/service.ts';
import { providerAt } from './relay-providers.ts';
import type { MailboxRecord } from './schemas.ts';
import type { Mailboxes } from './service.ts';

const CHECK = 'relay events';

/** Contract: so many refused in a row are told. */
const REFUSALS = 10;
/** Contract: of so many mails in a week one event at least is to be expected. */
const SILENCE_MS = 7 * DAY_MS;
const MAILS_OF_A_WEEK = 100;

interface Needs {
  mailboxes: Mailboxes;
  relay_events: RelayEvents;
  clock: Clock;
}

export function eventChecks(on: Needs): HealthCheck[] {
  const { mailboxes, relay_events } = on;
  return [
    {
      check: CHECK,
      run: () =>
        mailboxes
          .list()
          .flatMap((mailbox) =>
            (mailbox.events ? checkEvents(mailbox, on) : checkUnseen(mailbox, on)).map((finding) =>
              about('mailbox', mailbox.address, finding),
            ),
          ),
    },
    sealedCheck(() => {
      const lost = relay_events.listUndecryptable();
      return mailboxes
        .list()
        .filter(({ id }) => lost.includes(id))
        .map(({ address }) => ({
          message: `The relay events of ${address} do not decrypt.`,
          remedy: `satchel mailbox events ${shellWord(address)} --off`,
          about: { code: 'mailbox', ref: address },
        }));
    }),
  ];
}

/** A provider that takes every mail and tells of bounces later, to nobody. */
function checkUnseen({ address, inbox }: MailboxRecord, { mailboxes }: Needs): Finding[] {
  const name = providerAt(mailboxes.require(address).smtp_host ?? '');
  const provider = EVENT_PROVIDERS.find((each) => each === name);
  if (provider === undefined || inbox !== null) return [];
  const message = `${PROVIDERS[provider].label} takes the mail of ${address} and tells of bounces and complaints later, by a webhook: those after acceptance are not seen.`;
  return [warning(CHECK, message, `satchel mailbox events ${shellWord(address)}`)];
}

function checkEvents({ id, address }: MailboxRecord, on: Needs): Finding[] {
  const row = on.relay_events.findRow(id);
  if (!row) return [];
  const { label } = PROVIDERS[row.provider];
  const remedy = `satchel mailbox events ${shellWord(address)}`;
  if (row.refusals >= REFUSALS)
    return [
      warning(
        CHECK,
        `The last ${row.refusals} events of ${label} for ${address} were refused: ${row.problem}`,
        remedy,
      ),
    ];
  const since = on.clock.now() - SILENCE_MS;
  const sent = on.mailboxes.countSentSince(id, utcDay(since));
  if (Math.max(row.last_event_at ?? 0, row.set_at) < since && sent >= MAILS_OF_A_WEEK) {
    const message = `${label} has told nothing of ${address} for a week, which sent ${sent} mails: is its webhook there, with this URL?`;
    return [warning(CHECK, message, remedy)];
  }
  return [ok(CHECK, `${label} tells what becomes of the mail of ${address}.`)];
}
