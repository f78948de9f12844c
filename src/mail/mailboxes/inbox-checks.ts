/**
 * What `satchel doctor` asks of inboxes: those that can't be read, and passwords that do not decrypt. It
 * stands with mailboxes, whose addresses it names: inboxes know of none.
 */

import { type Clock, toIso } from '../../platform/host/clock.ts';
import {
  about,
  aside,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import { counted, shellWord } from '../../platform/words/phrases.ts';
import type { Inboxes, InboxRecord } from '../inboxes/service.ts';
import type { MailboxRecord } from './schemas.ts';
import type { Mailboxes } from './service.ts';

/** `doctor` names messages that were passed over for this long. */
export const INBOX_SKIPPED_SHOWN_MS = 7 * 86_400_000;

/** `doctor` wonders about an inbox that nobody read for this long while a server runs. */
const INBOX_UNREAD_SHOWN_MS = 10 * 60_000;

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
        mailboxes
          .list()
          .flatMap((mailbox) =>
            [
              ...checkInbox(mailbox, clock.now(), remedyOf(mailbox.address)),
              ...checkSkipped(mailbox, inboxes, clock.now()),
              ...checkUnread(mailbox, clock.now()),
            ].map((finding) => about('mailbox', mailbox.address, finding)),
          ),
    },
    sealedCheck(() => {
      const lost = inboxes.listUndecryptable();
      return mailboxes
        .list()
        .filter(({ id }) => lost.includes(id))
        .map(({ address }) => ({
          message: `The password of the inbox of ${address} does not decrypt.`,
          remedy: remedyOf(address),
          about: { code: 'mailbox', ref: address },
        }));
    }),
  ];
}

/** Messages that were passed over lately: a bounce may be among them. */
function checkSkipped({ id, address }: MailboxRecord, inboxes: Inboxes, now_ms: number): Finding[] {
  const row = inboxes.listRows().find(({ mailbox_id }) => mailbox_id === id);
  const last = row?.last_skipped.at(-1);
  if (!row || !last || now_ms - last.at > INBOX_SKIPPED_SHOWN_MS) return [];
  const uids = row.last_skipped.map(({ uid }) => uid).join(', ');
  const many = counted(row.skipped, 'message', 'messages');
  const message = `${many} in ${row.folder} of the inbox of ${address} could not be fetched or read, the last at ${toIso(last.at)}, and what came after was read on. By UID: ${uids}. A bounce that was saved from there as a file is told by hand.`;
  return [aside('skipped', warning('inboxes', message, 'satchel email bounce --report FILE'))];
}

/** Reports of lately of which nothing could be read: what a receiver says of a domain is not counted. */
function checkUnread({ address, inbox }: MailboxRecord, now_ms: number): Finding[] {
  const [last] = inbox?.last_unread ?? [];
  if (!inbox || !last || now_ms - Date.parse(last.at) > INBOX_SKIPPED_SHOWN_MS) return [];
  const many = counted(inbox.unread, 'report', 'reports');
  const message = `${many} of DMARC or TLS in the inbox of ${address} could not be read, the last at ${last.at} (${UNREAD_WORDS[last.reason]}): ${last.subject}. What it says is not counted.`;
  return [aside('unread', warning('inboxes', message, 'satchel mailbox list'))];
}

const UNREAD_WORDS: Readonly<Record<InboxRecord['last_unread'][number]['reason'], string>> = {
  too_large: 'too large',
  doctype: 'it has a DOCTYPE',
  encrypted: 'encrypted',
  broken: 'broken',
};

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
