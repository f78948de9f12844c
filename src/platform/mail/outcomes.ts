/** Outcomes of mails that were not taken. smtp-replies.ts makes them of a relay's words. */
import { subjectOf } from './refusals.ts';
import type { DeliveryStage, UnsentOutcome } from './types.ts';

/** Stages at which the relay has not yet judged the mail itself. */
const TROUBLE_STAGES: readonly DeliveryStage[] = ['connect', 'greeting', 'tls', 'auth'];

/** A mail that was not taken; what is not given follows from the stage and the code. */
export function unsentOutcome(
  facts: Pick<UnsentOutcome, 'stage' | 'response'> & Partial<UnsentOutcome>,
  options = { is_of_one: false },
): UnsentOutcome {
  const { stage, response } = facts;
  const smtp_code = facts.smtp_code ?? null;
  // After the content one reply is for all: only where there is one recipient, it may be about that.
  const is_of_recipient = stage === 'rcpt' || (stage === 'data' && options.is_of_one);
  // A relay that answers STARTTLS with 5xx has not refused the mail, and may offer TLS again tomorrow.
  const refusal = { smtp_code, reply: response, is_of_recipient, is_after_data: stage === 'data' };
  const about = stage === 'tls' ? null : subjectOf(refusal);
  const is_trouble = smtp_code === null || smtp_code === 421 || TROUBLE_STAGES.includes(stage);
  return {
    outcome: is_trouble ? 'unreachable' : about === null ? 'deferred' : 'refused',
    about,
    tls: null,
    may_be_sent: false,
    rejected: [],
    ...facts,
    smtp_code,
  };
}

/** A delivery that the mailer itself cut off. `may_be_sent` when nobody can tell how far it got. */
export function interruptedOutcome(response: string, options: { may_be_sent: boolean }): UnsentOutcome {
  const { may_be_sent } = options;
  return unsentOutcome({ outcome: 'interrupted', stage: 'interrupted', response, may_be_sent });
}

/** A mail that can't be made, for good or at present. */
export function unmadeOutcome(response: string, options: { is_permanent: boolean }): UnsentOutcome {
  return options.is_permanent
    ? unsentOutcome({ outcome: 'refused', about: 'message', stage: 'compose', response })
    : unsentOutcome({ outcome: 'deferred', stage: 'compose', response });
}

/** A mail that waits for something of the server's own, such as room on its disk: it was no attempt. */
export function postponedOutcome(response: string): UnsentOutcome {
  return { ...unmadeOutcome(response, { is_permanent: false }), is_free: true };
}

/** The domain of the one recipient takes no mail, so that no relay was asked. */
export function noMxOutcome(address: string): UnsentOutcome {
  const response = 'The domain of the address takes no mail: it has no MX.';
  const refusal = { address, smtp_code: null, response, about: 'recipient' } as const;
  return unsentOutcome({
    outcome: 'refused',
    about: 'recipient',
    stage: 'compose',
    response,
    rejected: [refusal],
  });
}
