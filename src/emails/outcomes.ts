/** What an attempt's outcome means for its email: one pure function from the relay's words to the log's. */
import { MAX_SMTP_RESPONSE_CHARS } from '../limits.ts';
import type { DeliveryOutcome, UnsentOutcome } from '../platform/mail/types.ts';
import type { AttemptOutcome, RefusedRecord } from './tables.ts';

export interface Delivery {
  to_email: string;
  /** Who this attempt was addressed to. */
  recipients: readonly string[];
  /** Recipients that earlier attempts delivered to, or were refused for good. */
  taken: readonly string[];
  refused: readonly RefusedRecord[];
  /** Whether another attempt may follow. */
  may_retry: boolean;
  /** Attempts so far that count towards the limit, this one included. */
  tries: number;
}

export interface Verdict {
  /** `retry`: another attempt addresses those whom no relay has taken. */
  end: 'sent' | 'bounced' | 'failed' | 'retry';
  taken: string[];
  refused: RefusedRecord[];
  /** For the attempt's own row: what the relay said last. */
  attempt: { outcome: AttemptOutcome; smtp_code: number | null; response: string };
  /** For the log: the same, but of a bounce what was said of its recipient. */
  smtp_code: number | null;
  response: string;
  bounce_type: 'permanent' | 'transient' | null;
  /** For the log and the job: why not everybody has the mail. */
  error: string | null;
  /** A 5xx reply: trying again later is no use. */
  is_permanent: boolean;
  /** Contact was lost after the content: the relay may have taken it all the same. */
  may_be_sent: boolean;
}

/**
 * Retries follow 4xx and connection trouble; a 5xx ends it at once. With anybody taken the mail is sent; a refusal for
 * good that is about its recipient is a bounce, any other end a failure.
 */
export function judgeOutcome(outcome: DeliveryOutcome, delivery: Delivery): Verdict {
  const accepted = outcome.outcome === 'sent' ? outcome.accepted : [];
  const taken = [...delivery.taken, ...accepted];
  const for_good = refusedForGood(outcome, delivery);
  const open = delivery.recipients.filter(
    (address) => !accepted.includes(address) && !for_good.some((refusal) => refusal.address === address),
  );
  const is_permanent = outcome.outcome !== 'sent' && outcome.about !== null;
  const reply = { smtp_code: outcome.smtp_code, response: responseOf(outcome) };
  const facts = {
    taken,
    attempt: { outcome: outcome.outcome, ...reply },
    ...reply,
    is_permanent,
    may_be_sent: outcome.outcome !== 'sent' && outcome.may_be_sent,
  };
  if (open.length > 0 && delivery.may_retry && !is_permanent) {
    const refused = [...delivery.refused, ...for_good];
    return { ...facts, end: 'retry', refused, bounce_type: null, error: explain(outcome, for_good) };
  }
  const refused = [...delivery.refused, ...for_good, ...open.map((address) => refusalOf(outcome, address))];
  const error = explainEnd(outcome, refused, {
    is_permanent,
    tries: delivery.tries,
    gave_up: open.length > 0,
  });
  if (taken.length > 0) return { ...facts, end: 'sent', refused, bounce_type: null, error };
  const bounce = [...delivery.refused, ...for_good].find(
    (refusal) => refusal.address === delivery.to_email && refusal.about === 'recipient',
  );
  if (bounce) {
    const { smtp_code, response } = bounce;
    const said = { smtp_code, response, error: `The relay refused the recipient: ${response}` };
    return { ...facts, ...said, end: 'bounced', refused, bounce_type: 'permanent' };
  }
  const is_deferred = outcome.outcome === 'deferred' && outcome.stage === 'rcpt';
  return { ...facts, end: 'failed', refused, bounce_type: is_deferred ? 'transient' : null, error };
}

/** Recipients refused with 5xx at RCPT: those only are not addressed again. */
function refusedForGood(outcome: DeliveryOutcome, delivery: Delivery): RefusedRecord[] {
  const refused = outcome.rejected
    .filter((recipient) => recipient.about !== null)
    .map((recipient) => ({ ...recipient, response: cut(recipient.response) }));
  const is_all = outcome.outcome === 'refused' && outcome.stage === 'rcpt';
  if (!is_all || refused.length > 0) return refused;
  return delivery.recipients.map((address) => refusalOf(outcome, address));
}

function refusalOf(outcome: DeliveryOutcome, address: string): RefusedRecord {
  const own = outcome.rejected.find((recipient) => recipient.address === address);
  const about = own?.about ?? (outcome.outcome === 'sent' ? null : outcome.about);
  return {
    address,
    about,
    smtp_code: own?.smtp_code ?? outcome.smtp_code,
    response: cut(own?.response ?? outcome.response),
  };
}

/** For the attempt's row: an attempt that may have delivered the mail says so for good, as a later one may deliver it twice. */
function responseOf(outcome: DeliveryOutcome): string {
  const may_be_sent = outcome.outcome !== 'sent' && outcome.may_be_sent;
  return `${cut(outcome.response)}${may_be_sent ? ' (after the message, which the relay may have taken)' : ''}`;
}

/** What the relay, or the way to it, had to say. */
function explain(outcome: DeliveryOutcome, for_good: readonly RefusedRecord[]): string {
  if (outcome.outcome === 'sent') {
    const some =
      for_good.length > 0 ? 'refused some recipients and deferred others' : 'deferred some recipients';
    return `The relay ${some}: ${cut(outcome.rejected.map((recipient) => recipient.response).join('; '))}`;
  }
  return `${subjectOf(outcome)}: ${cut(outcome.response)}`;
}

function subjectOf(outcome: UnsentOutcome): string {
  if (outcome.outcome === 'interrupted') return 'The attempt was cut off';
  if (outcome.stage === 'choose') return 'There was no mailbox to go out from';
  if (outcome.stage === 'compose') return 'The message could not be made';
  if (outcome.may_be_sent) return 'Contact to the relay was lost after the message, which it may have taken';
  if (outcome.stage === 'auth' && outcome.smtp_code !== null) return 'The relay refused the log-in';
  if (outcome.outcome === 'unreachable') return 'The relay could not be used';
  if (outcome.about === 'mailbox') return 'The relay refused what comes from this mailbox';
  const is_recipient = outcome.stage === 'rcpt' && outcome.about !== 'message';
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

function cut(words: string): string {
  return words.length <= MAX_SMTP_RESPONSE_CHARS ? words : `${words.slice(0, MAX_SMTP_RESPONSE_CHARS)}...`;
}
