/**
 * What a schedule may be: merging what was sent with what there is, and judging the whole. Pure functions.
 */
import { type FieldErrors, invalid } from '../../errors.ts';
import { merge } from '../../platform/http/fields.ts';
import { type Cron, type CronRefusal, parseCron } from '../../platform/jobs/cron.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import { FIELDS, type ScheduleChanges, type ScheduleValues } from './schemas.ts';

/** Control characters, which would begin another header or be invisible in this one. */
const CONTROL = /[^\P{Cc}\t]/u;

/**
 * The schedule that results from the changes, `current` being null for a new one, with its parsed cron
 * expression. Throws AppError `invalid` with messages by field for what no schedule may be.
 */
export function checkSchedule(
  current: ScheduleValues | null,
  sent: ScheduleChanges,
  rules: { max_body_bytes: number },
): { fields: ScheduleValues; cron: Cron } {
  const fields = mergeSchedule(current, sent);
  const errors: FieldErrors = {};
  Object.assign(errors, recipientErrors(fields.recipients), contentErrors(fields, rules.max_body_bytes));
  for (const field of ['subject', 'from_name'] as const) {
    if (CONTROL.test(fields[field] ?? ''))
      errors[field] ??= ['must have no line breaks or other control characters'];
  }
  const cron = parseCron(fields.cron_expression, fields.timezone);
  if (!cron.ok) Object.assign(errors, errorsInCron(cron, fields.cron_expression));
  if (!cron.ok || Object.keys(errors).length > 0) throw invalid(errors);
  return { fields, cron };
}

/** Reads when a schedule runs. Throws AppError `invalid` by field. */
export function readCron(expression: string, timezone: string): Cron {
  const cron = parseCron(expression, timezone);
  if (!cron.ok) throw invalid(errorsInCron(cron, expression));
  return cron;
}

function errorsInCron(refusal: CronRefusal, expression: string): FieldErrors {
  // In a zone that does not exist the expression has not been looked at.
  const elsewhere = parseCron(expression, 'UTC');
  return {
    [refusal.field]: [refusal.message],
    ...(elsewhere.ok ? {} : { [elsewhere.field]: [elsewhere.message] }),
  };
}

/** The schedule that results from the changes, whatever is wrong with it; `current` as in `checkSchedule`. */
export function mergeSchedule(current: ScheduleValues | null, sent: ScheduleChanges): ScheduleValues {
  const values = merge(FIELDS, current, sent);
  return {
    ...values,
    recipients: values.recipients.map(({ email, name }) => ({ email, name: name || null })),
    cron_expression: values.cron_expression.trim(),
    // An empty part counts as none: mail programs would show it instead of the other one.
    body_html: values.body_html || null,
    body_text: values.body_text || null,
    domain: values.domain === null ? null : canonical(values.domain),
  };
}

/** Domains are stored in their canonical form; what is none is left for the look-up to refuse. */
function canonical(domain: string): string {
  return canonicalDomain(domain) ?? domain;
}

/** A run sends one mail to each, so an address may stand there only once, however its case. */
function recipientErrors(recipients: ScheduleValues['recipients']): FieldErrors {
  const errors: FieldErrors = {};
  const seen = new Set<string>();
  for (const [index, { email, name }] of recipients.entries()) {
    const address = email.toLowerCase();
    if (seen.has(address)) errors[`recipients.${index}.email`] = ['is listed twice'];
    seen.add(address);
    if (CONTROL.test(name ?? ''))
      errors[`recipients.${index}.name`] = ['must have no line breaks or other control characters'];
  }
  return errors;
}

function contentErrors(fields: ScheduleValues, max_bytes: number): FieldErrors {
  const errors: FieldErrors = {};
  if (fields.template === null) {
    if (fields.subject === null) errors.subject = ['is required without a template'];
    if (fields.body_html === null && fields.body_text === null) {
      errors.body_html = ['body_html or body_text, or both, are required without a template'];
    }
  }
  for (const field of ['body_html', 'body_text'] as const) {
    const bytes = Buffer.byteLength(fields[field] ?? '');
    if (bytes > max_bytes) errors[field] = [`must have at most ${max_bytes} bytes (got ${bytes})`];
  }
  return errors;
}
