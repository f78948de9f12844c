/** An attempt's outcome makes a verdict on its email: one pure function from the relay's words to the log's. */

import { MAX_SMTP_RESPONSE_CHARS } from '../../limits.ts';
import type { DeliveryOutcome, UnsentOutcome } from '../../platform/mail/types.ts';
import type { EmailState, RefusedRecord } from '../emails/service.ts';

/** The facts of an email and of its attempt that has ended. */
export interface Tried {
  to_email: string;
  /** Those whom this attempt addressed. */
  recipients: readonly string[];
  /** Recipients whom earlier attempts reached, or who were refused for good. */
  taken: readonly string[];
  refused: readonly RefusedRecord[];
  /** Another attempt may follow. */
  may_retry: boolean;
  /** Attempts so far that count towards the limit, this one included. */
  tries: number;
  /** A relay may have taken it, and none has judged it since. */
  is_unanswered: boolean;
}

/**
 * How the email stands, for its log and its job. A bounce's `smtp_response` is the one to its own recipient.
 */
export interface Verdict extends EmailState {
  status: 'queued' | 'sent' | 'bounced' | 'failed' | 'unknown';
  smtp_response: string;
  /** For the attempt's own row: what the relay said last. */
  said: { smtp_code: number | null; smtp_response: string; tls: string | null };
  /** How the attempt itself ended. */
  ended: DeliveryOutcome['outcome'];
  /** A refusal for good: trying again later is no use. */
  is_permanent: boolean;
  /** The connection was lost after the content: the relay may have taken it all the same. */
  may_be_sent: boolean;
}

/**
 * Retries follow 4xx and connection trouble; a 5xx ends it at once. The status speaks of the `to`: sent once
 * that is taken, bounced where a refusal for good is about it (transient where its mailbox is full), unknown
 * where a relay may have taken it and none has judged it since, failed at any other end.
 */
export function judge(outcome: DeliveryOutcome, tried: Tried): Verdict {
  const accepted = outcome.outcome === 'sent' ? outcome.accepted : [];
  const taken = [...tried.taken, ...accepted];
  const for_good = refusedForGood(outcome, tried);
  const open = tried.recipients.filter(
    (address) => !accepted.includes(address) && !for_good.some((refusal) => refusal.address === address),
  );
  const is_permanent =
    outcome.outcome === 'refused' || (outcome.outcome === 'unreachable' && outcome.about !== null);
  const reply = { smtp_code: outcome.smtp_code, smtp_response: wordsOf(outcome) };
  const may_be_sent = outcome.outcome !== 'sent' && outcome.may_be_sent;
  const facts = {
    taken,
    said: { ...reply, tls: outcome.tls },
    ...reply,
    ended: outcome.outcome,
    is_permanent,
    may_be_sent,
    bounce_type: null,
  };
  const is_taken = taken.includes(tried.to_email);
  if (open.length > 0 && tried.may_retry && !is_permanent) {
    const refused = [...tried.refused, ...for_good];
    const status = is_taken ? 'sent' : 'queued';
    return { ...facts, is_over: false, status, refused, error: explain(outcome, for_good) };
  }
  const refused = [...tried.refused, ...for_good, ...open.map((address) => refusalOf(outcome, address))];
  const error = explainEnd(outcome, refused, {
    is_permanent,
    tries: tried.tries,
    gave_up: open.length > 0,
  });
  if (is_taken) return { ...facts, is_over: true, status: 'sent', refused, error };
  const bounce = refused.find(
    ({ address, about }) => address === tried.to_email && (about === 'recipient' || about === 'full'),
  );
  if (bounce) {
    const { smtp_code, response: smtp_response } = bounce;
    // Without a code no relay was asked.
    const error = smtp_code === null ? smtp_response : `The relay refused the recipient: ${smtp_response}`;
    const own = { smtp_code, smtp_response, error };
    const bounce_type = bounce.about === 'full' ? 'transient' : 'permanent';
    return { ...facts, ...own, is_over: true, status: 'bounced', refused, bounce_type };
  }
  if (tried.is_unanswered || may_be_sent) {
    const unknown = `Whether it was sent is unknown: a relay had all of it and never answered. ${explain(outcome, [])}`;
    return { ...facts, is_over: true, status: 'unknown', refused, error: unknown };
  }
  const is_deferred = outcome.rejected.some(
    ({ address, about }) => address === tried.to_email && about === null,
  );
  return {
    ...facts,
    is_over: true,
    status: 'failed',
    refused,
    bounce_type: is_deferred ? 'transient' : null,
    error,
  };
}

/** True where a relay refused for good because of us, not because of the recipient. */
export function isOfOurs({ about, smtp_code }: RefusedRecord): boolean {
  return smtp_code !== null && (about === 'mailbox' || about === 'message');
}

/** Recipients refused with 5xx at RCPT: those only are not addressed again. */
function refusedForGood(outcome: DeliveryOutcome, tried: Tried): RefusedRecord[] {
  const refused = outcome.rejected.filter((recipient) => recipient.about !== null);
  const is_all = outcome.outcome === 'refused' && outcome.stage === 'rcpt';
  if (!is_all || refused.length > 0) return refused;
  return tried.recipients.map((address) => refusalOf(outcome, address));
}

function refusalOf(outcome: DeliveryOutcome, address: string): RefusedRecord {
  const own = outcome.rejected.find((recipient) => recipient.address === address);
  const about = own ? own.about : outcome.outcome === 'sent' ? null : outcome.about;
  return {
    address,
    about,
    smtp_code: own?.smtp_code ?? outcome.smtp_code,
    response: own?.response ?? outcome.response,
  };
}

/**
 * Says that an attempt may have delivered the mail. It stays in the log, as a later attempt may deliver it
 * twice.
 */
function wordsOf(outcome: DeliveryOutcome): string {
  const may_be_sent = outcome.outcome !== 'sent' && outcome.may_be_sent;
  return `${outcome.response}${may_be_sent ? ' (after the message, which the relay may have taken)' : ''}`;
}

/** The words of the relay, or of the way to it. */
function explain(outcome: DeliveryOutcome, for_good: readonly RefusedRecord[]): string {
  if (outcome.outcome === 'sent') {
    const some =
      for_good.length > 0 ? 'refused some recipients and deferred others' : 'deferred some recipients';
    return `The relay ${some}: ${cut(outcome.rejected.map((recipient) => recipient.response).join('; '))}`;
  }
  return `${subjectOf(outcome)}: ${outcome.response}`;
}

function subjectOf(outcome: UnsentOutcome): string {
  if (outcome.outcome === 'interrupted') return 'The attempt was cut off';
  if (outcome.stage === 'choose') return 'There was no mailbox to go out from';
  if (outcome.stage === 'compose') return 'The message could not be made';
  if (outcome.may_be_sent) return 'Contact to the relay was lost after the message, which it may have taken';
  if (outcome.stage === 'auth' && outcome.smtp_code !== null) return 'The relay refused the log-in';
  if (outcome.outcome === 'unreachable') return 'The relay could not be used';
  if (outcome.about === 'mailbox') return 'The relay refused what comes from this mailbox';
  const is_recipient =
    outcome.about === null ? outcome.stage === 'rcpt' : ['recipient', 'full'].includes(outcome.about);
  return `The relay ${outcome.outcome} the ${is_recipient ? 'recipient' : 'message'}`;
}

function explainEnd(
  outcome: DeliveryOutcome,
  refused: readonly RefusedRecord[],
  end: { is_permanent: boolean; tries: number; gave_up: boolean },
): string | null {
  if (refused.length === 0) return null;
  if (outcome.outcome === 'sent') {
    const words = refused.map((recipient) => `${recipient.address}: ${recipient.response}`);
    return `Not taken for ${refused.length} of the recipients: ${cut(words.join('; '))}`;
  }
  const gave_up =
    end.gave_up && !end.is_permanent && end.tries > 1 ? `Gave up after ${end.tries} attempts. ` : '';
  return `${gave_up}${explain(outcome, [])}`;
}

/** Cut once more, as there may be many recipients. */
function cut(words: string): string {
  return words.length <= MAX_SMTP_RESPONSE_CHARS ? words : `${words.slice(0, MAX_SMTP_RESPONSE_CHARS)}...`;
}
