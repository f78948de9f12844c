/** What `satchel doctor` asks of inboxes: those that can't be read, and passwords that do not decrypt. */
import type { Inboxes } from '../inboxes/service.ts';
import { INBOX_UNREAD_SHOWN_MS } from '../limits.ts';
import { shellWord } from '../platform/cli/shell-words.ts';
import type { Clock } from '../platform/host/clock.ts';
import {
  type Finding,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../platform/host/health-check.ts';
import type { Mailboxes, MailboxRecord } from './service.ts';

interface Needs {
  inboxes: Inboxes;
  mailboxes: Mailboxes;
  clock: Clock;
}

export function inboxChecks({ inboxes, mailboxes, clock }: Needs): HealthCheck[] {
  const remedyOf = (address: string): string => `satchel mailbox change ${shellWord(address)} --inbox -`;
  return [
    {
      check: 'inboxes',
      run: () =>
        mailboxes.list().flatMap((mailbox) => checkInbox(mailbox, clock.now(), remedyOf(mailbox.address))),
    },
    sealedCheck("Inboxes' passwords", () => {
      const lost = inboxes.listUndecryptable();
      return mailboxes
        .list()
        .filter(({ id }) => lost.includes(id))
        .map(({ address }) => ({
          message: `The password of the inbox of ${address} does not decrypt.`,
          remedy: remedyOf(address),
        }));
    }),
  ];
}

function checkInbox({ address, inbox }: MailboxRecord, now_ms: number, remedy: string): Finding[] {
  const check = 'inboxes';
  if (!inbox) return [];
  const { last_error, last_error_at, last_look_at } = inbox;
  const unseen = 'Bounces and complaints that arrive there are not seen.';
  if (last_error !== null)
    return [
      problem(
        check,
        `The inbox of ${address} could not be read at ${last_error_at}: ${last_error} ${unseen}`,
        remedy,
      ),
    ];
  if (last_look_at === null)
    return [warning(check, `The inbox of ${address} was not read yet. ${unseen}`, 'satchel serve')];
  if (now_ms - Date.parse(last_look_at) > INBOX_UNREAD_SHOWN_MS)
    return [
      warning(check, `The inbox of ${address} was last read at ${last_look_at}. ${unseen}`, 'satchel serve'),
    ];
  return [
    ok(check, `The inbox of ${address} was read at ${last_look_at}; reports so far: ${inbox.reports}.`),
  ];
}
