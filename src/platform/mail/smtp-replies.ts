/** Reads what became of a delivery out of replies and errors of the SMTP connection. */
import type { NodemailerError } from 'nodemailer/lib/errors.js';
import { MAX_SMTP_RESPONSE_CHARS } from '../../limits.ts';
import { isShortageCode } from '../host/shortages.ts';
import { isUntrusted, TRUST_REMEDY } from '../http/hosts.ts';
import { postponedOutcome, unmadeOutcome, unsentOutcome } from './outcomes.ts';
import { subjectOf } from './refusals.ts';
import type { DeliveryStage, RefusedRecipient, SentOutcome, UnsentOutcome } from './types.ts';

/** In place of the words of what answers without 220: it may be no mail server. */
export const STRANGER = 'What answers there does not greet as a mail server that takes mail.';

/** No recipient was taken at RCPT. It is final where each was refused for good, and about what most were. */
export function rejectedOutcome(
  rejected: RefusedRecipient[],
  reply: { smtp_code: number | null; response: string },
): UnsentOutcome {
  const subjects = rejected.map((recipient) => recipient.about);
  const is_final = rejected.length > 0 && !subjects.includes(null);
  const widest = (['mailbox', 'message', 'full', 'recipient'] as const).find((subject) =>
    subjects.includes(subject),
  );
  const about = is_final ? (widest ?? null) : null;
  return unsentOutcome({
    outcome: about === null ? 'deferred' : 'refused',
    about,
    stage: 'rcpt',
    ...reply,
    rejected,
  });
}

/** The relay took the mail for at least one recipient. */
export function sentOutcome(
  result: { response: string; accepted: string[]; rejectedErrors?: NodemailerError[] | undefined },
  original: ReadonlyMap<string, string>,
): SentOutcome {
  return {
    outcome: 'sent',
    tls: null,
    smtp_code: codeOf(result.response) ?? 250,
    response: readable(result.response),
    accepted: result.accepted.map((address) => original.get(address) ?? address),
    rejected: toRefusedRecipients(result.rejectedErrors ?? [], original),
  };
}

/** What an error of opening a connection means: everything up to and including the log-in. */
export function outcomeOfOpening(error: NodemailerError, stage: DeliveryStage): UnsentOutcome {
  const refusal = { response: replyOf(error), smtp_code: refusalCodeOf(error) };
  if (!isTlsFailure(error)) return unsentOutcome({ ...refusal, stage });
  const remedy = remedyOfTlsFailure(error, stage);
  const response = remedy === null ? refusal.response : `${refusal.response.replace(/\.?$/, '.')} ${remedy}`;
  return unsentOutcome({ ...refusal, response, stage: 'tls' });
}

/** What an error of sending means. `rejected` were refused until then; `stage` is how far the session got. */
export function outcomeOfSending(
  error: NodemailerError,
  seen: {
    stage: DeliveryStage;
    rejected: readonly NodemailerError[];
    original: ReadonlyMap<string, string>;
    is_all_written: boolean;
  },
): UnsentOutcome {
  // With pipelined commands, a refused sender has its recipients refused as well; those refusals don't count.
  const is_sender_refused = error.command === 'MAIL FROM';
  const rejected = is_sender_refused ? [] : toRefusedRecipients(seen.rejected, seen.original);
  const smtp_code = refusalCodeOf(error);
  const response = replyOf(error);
  if (error.rejectedErrors && rejected.length > 0 && smtp_code !== null && smtp_code !== 421) {
    return rejectedOutcome(rejected, { smtp_code, response });
  }
  // Nodemailer compares with the announced SIZE before the sender is sent: there is no reply to quote.
  if (error.code === 'EMESSAGE' && is_sender_refused) {
    return unsentOutcome({ stage: 'mail', response, smtp_code: 552, rejected });
  }
  if (error.code === 'ESTREAM')
    return codesOf(error).some(isShortageCode)
      ? postponedOutcome(response)
      : unmadeOutcome(response, { is_permanent: false });
  const may_be_sent = smtp_code === null && seen.is_all_written;
  const stage = stageOfCommand(error.command) ?? seen.stage;
  const is_of_one = seen.original.size === 1;
  return unsentOutcome({ stage, response, smtp_code, rejected, may_be_sent }, { is_of_one });
}

function stageOfCommand(command: string | undefined): DeliveryStage | null {
  if (command === 'MAIL FROM') return 'mail';
  if (command === 'RCPT TO') return 'rcpt';
  return command === 'DATA' ? 'data' : null;
}

/** What the answer to a RCPT means for its recipient. */
export function refusalAtRcpt(reply: {
  smtp_code: number | null;
  response: string;
}): Omit<RefusedRecipient, 'address'> {
  const { smtp_code, response } = reply;
  return {
    ...reply,
    about: subjectOf({ smtp_code, reply: response, is_of_recipient: true, is_after_data: false }),
  };
}

function toRefusedRecipients(
  errors: readonly NodemailerError[],
  original: ReadonlyMap<string, string>,
): RefusedRecipient[] {
  return errors.map((error) => {
    const address = error.recipient ?? '';
    const smtp_code = refusalCodeOf(error);
    const response = replyOf(error);
    return { address: original.get(address) ?? address, ...refusalAtRcpt({ smtp_code, response }) };
  });
}

function replyOf(error: NodemailerError): string {
  return readable(error.response ?? error.message);
}

/** A relay's words reach logs and terminals: control characters are replaced, long replies cut. */
function readable(words: string): string {
  const cut =
    words.length <= MAX_SMTP_RESPONSE_CHARS ? words : `${words.slice(0, MAX_SMTP_RESPONSE_CHARS)}...`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
  return cut.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\u{fffd}');
}

/** The code of a refusal. Null without a reply, or with one that refuses nothing: no mail server's. */
function refusalCodeOf({ responseCode: code }: NodemailerError): number | null {
  return code !== undefined && code >= 400 && code <= 599 ? code : null;
}

/** A reply as it was read; '' where there was none. */
export function readReply(reply: string): { smtp_code: number | null; words: string } {
  if (reply === '') return { smtp_code: null, words: 'The relay gave no answer about the sender.' };
  return { smtp_code: codeOf(reply), words: readable(reply.trim()) };
}

function codeOf(response: string): number | null {
  const code = Number.parseInt(response, 10);
  return code >= 200 && code <= 599 ? code : null;
}

/** Nodemailer reports some TLS failures as plain socket errors; OpenSSL's own codes tell. */
function isTlsFailure(error: NodemailerError): boolean {
  return codesOf(error).some(
    (code) => code === 'ETLS' || /CERT|SSL|TLS|EPROTO$|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code),
  );
}

/** What the operator can do about it; null where only the relay's owner can do something. */
function remedyOfTlsFailure(error: NodemailerError, stage: DeliveryStage): string | null {
  const codes = codesOf(error).join(' ');
  if (isUntrusted(codes))
    return `No authority that this machine trusts signed the relay's certificate: ${TRUST_REMEDY}.`;
  if (codes.includes('ALTNAME_INVALID'))
    return "The relay's certificate is for another host: add the mailbox with a name that stands in it.";
  if (error.responseCode !== undefined)
    return 'That was its answer to STARTTLS, and nothing goes to it without TLS.';
  // Past the greeting it is STARTTLS that went wrong.
  if (codes.includes('WRONG_VERSION_NUMBER') && stage === 'connect')
    return 'The relay does not begin with TLS on this port, which therefore wants smtp:// (STARTTLS).';
  return null;
}

function codesOf(error: NodemailerError): string[] {
  return [error.code ?? '', error.originalCode ?? ''];
}
