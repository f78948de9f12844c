/** Which refusals ask for less mail, and are not about the recipient: 4xx, and words of a quota. */
import { MINUTE_MS, SECOND_MS } from '../host/clock.ts';
import { enhancedCodeOf, isOfQuota } from './refusals.ts';
import type { DeliveryOutcome, DeliveryStage, Slowdown } from './types.ts';

/** Up to MAIL nothing has been said of the recipients. */
const STAGES_OF_MAILBOX: readonly DeliveryStage[] = ['connect', 'greeting', 'tls', 'auth', 'mail'];
/** RFC 3463: the mail system, the network, and security or policy. */
const CODES_OF_MAILBOX = /^4\.[347]\./;
/** Disabled, full, too long a message, an unexpandable list: the recipient, even by its rate. */
const CODES_OF_RECIPIENT = /^4\.2\.[1-4]$/;
const GREYLISTING = /gr[ae]y[\s_-]?list/i;
/**
 * Wordings of relays that ask for less without an enhanced code, or with another one: Postfix ("too much mail
 * from", "too many connections", "sending rate"), Exim ("ratelimit", "too many messages"), SES ("Maximum
 * sending rate exceeded", "Throttling failure"), Exchange ("Message submission rate", "concurrent
 * connections"), Gmail ("unusual rate", "slow down").
 */
const RATE =
  /throttl|rate[\s_-]?limit|\brates?\b|too much mail|too many (?:messages|mails|e-?mails|connections|concurrent|sessions|requests)|concurrent connections|too (?:fast|quickly|frequently|often)|slow(?:ing)? down/i;
const ASKED =
  /\b(?:in|after|for|wait|least|about|another)\s+(\d{1,5})\s*(s|secs?|seconds?|m|mins?|minutes?)\b/i;

/** The slowdown that the outcome of an attempt asks for, or null. */
export function slowdownOf(outcome: DeliveryOutcome): Slowdown | null {
  const replies = outcome.rejected.map(({ smtp_code, response }) => ({
    smtp_code,
    response,
    stage: 'rcpt' as const,
  }));
  const all = outcome.outcome === 'sent' ? replies : [outcome, ...replies];
  const found = all.find(asksForLess);
  if (!found) return null;
  const words = found.response;
  return { words, asked_ms: askedWait(words), is_quota: isOfQuota(words) };
}

function asksForLess(reply: { smtp_code: number | null; response: string; stage: DeliveryStage }): boolean {
  const { smtp_code, response, stage } = reply;
  if (smtp_code === null || smtp_code < 400) return false;
  if (smtp_code > 499) return isOfQuota(response);
  const code = enhancedCodeOf(response) ?? '';
  if (GREYLISTING.test(response) || CODES_OF_RECIPIENT.test(code)) return false;
  return (
    smtp_code === 421 ||
    STAGES_OF_MAILBOX.includes(stage) ||
    CODES_OF_MAILBOX.test(code) ||
    RATE.test(response) ||
    isOfQuota(response)
  );
}

function askedWait(words: string): number | null {
  const [, digits, unit = ''] = ASKED.exec(words) ?? [];
  if (digits === undefined) return null;
  return Number(digits) * (/^m/i.test(unit) ? MINUTE_MS : SECOND_MS);
}
