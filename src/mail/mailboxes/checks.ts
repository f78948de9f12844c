/**
 * What `satchel doctor` asks of mailboxes: relays that could not be used, limits reached, passwords that do
 * not decrypt.
 */

import {
  about,
  act,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { MAILBOX_REST_AFTER_FAILURES } from './health.ts';
import type { MailboxRecord } from './schemas.ts';
import type { Mailboxes } from './service.ts';

export function mailboxChecks({ mailboxes }: { mailboxes: Mailboxes }): HealthCheck[] {
  return [
    mailboxHealth({ mailboxes }),
    sealedCheck(() =>
      mailboxes.outlets.listUndecryptable().map((address) => ({
        message: `The relay's password of the mailbox ${address} does not decrypt.`,
        remedy: `satchel mailbox change ${shellWord(address)} --smtp -`,
        about: { code: 'mailbox', ref: address },
      })),
    ),
  ];
}

/** Whether each can be used. */
export function mailboxHealth({ mailboxes }: { mailboxes: Mailboxes }): HealthCheck {
  return {
    check: 'mailboxes',
    run: () => mailboxes.list().map((each) => about('mailbox', each.address, checkMailbox(each))),
  };
}

/** RFC 4954, 6: the password is wrong, or is not the kind that this relay wants. */
const REFUSED_LOG_IN = /^53[45]\b/;

function checkMailbox(mailbox: MailboxRecord): Finding {
  const { address, state, failures, last_error, daily_limit, used_today } = mailbox;
  const check = 'mailboxes';
  if (state === 'paused')
    return ok(check, `${address} is paused.`, `satchel mailbox resume ${shellWord(address)}`);
  if (state === 'resting' || failures > 0) {
    const times = failures === 1 ? 'the last time' : `${failures} times in a row`;
    const rest = mailbox.resting_until === null ? '' : ` It rests until ${mailbox.resting_until}.`;
    const waits_until = mailbox.pace?.waits_until ?? null;
    const wait = waits_until === null ? '' : ` Its mail waits until ${waits_until}.`;
    const reason = last_error === null ? '' : ` Last error: ${last_error}`;
    const remedy = REFUSED_LOG_IN.test(last_error ?? '')
      ? `satchel mailbox change ${shellWord(address)} --smtp -`
      : `satchel mailbox test ${shellWord(address)} --to YOUR-ADDRESS`;
    // When its rest is over, nothing is mended yet.
    const tell = failures >= MAILBOX_REST_AFTER_FAILURES ? problem : warning;
    return tell(check, `${address} could not be used ${times}.${rest}${wait}${reason}`, remedy);
  }
  if (mailbox.refusal !== null) {
    const message = `${address} was refused by its relay at ${mailbox.refused_at}, whoever the mail is to: ${mailbox.refusal}`;
    return problem(check, message, `satchel mailbox test ${shellWord(address)} --to YOUR-ADDRESS`);
  }
  const { pace } = mailbox;
  // A few refusals slow nothing.
  if (pace !== null && (pace.allowed !== null || pace.waits_until !== null)) {
    const slowed = pace.allowed === null ? [] : [`is slowed to ${pace.allowed}`];
    const waits = pace.waits_until === null ? [] : [`waits until ${pace.waits_until}`];
    const how = [...slowed, ...waits].join(' and ');
    const message = `${address} ${how}, as its relay refuses mail since ${pace.since} (${pace.words}). It grows by itself; a --rate that the relay allows keeps it from being refused, and resuming forgets what it learned.`;
    return warning(check, message, `satchel mailbox resume ${shellWord(address)}`, [
      act('resume_mailbox', address),
    ]);
  }
  if (mailbox.verp_problem !== null) {
    const message = `${address} gives its mails no return path of their own: ${mailbox.verp_problem}`;
    return warning(check, message, `satchel mailbox change ${shellWord(address)} --no-verp`);
  }
  if (daily_limit !== null && used_today >= daily_limit) {
    const message = `${address} has reached its daily limit of ${daily_limit}; it goes on at midnight UTC.`;
    return warning(check, message, 'satchel mailbox add ANOTHER-ADDRESS --smtp URL');
  }
  return ok(check, `${address} works; messages today: ${used_today}.`);
}
