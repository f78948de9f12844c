/** The fields of a schedule: merging what was sent with what there is, and judging the whole. Pure functions. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { type Cron, type CronRefusal, parseCron } from '../../platform/jobs/cron.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import type { MissedRuns, Recipient, ScheduleRow } from './tables.ts';

export type ScheduleFields = Pick<
  ScheduleRow,
  | 'name'
  | 'recipients'
  | 'cron_expression'
  | 'timezone'
  | 'template'
  | 'variables'
  | 'subject'
  | 'body_html'
  | 'body_text'
  | 'cc'
  | 'bcc'
  | 'reply_to'
  | 'from_name'
  | 'domain'
  | 'description'
  | 'missed_runs'
  | 'is_active'
>;

/** What a request gives of a schedule: an absent field stays, null clears. */
export interface ScheduleChanges {
  name?: string;
  recipients?: { email: string; name?: string }[];
  cron_expression?: string;
  timezone?: string | null;
  template?: string | null;
  variables?: Record<string, unknown> | null;
  subject?: string | null;
  body_html?: string | null;
  body_text?: string | null;
  cc?: string[] | null;
  bcc?: string[] | null;
  reply_to?: string | null;
  from_name?: string | null;
  domain?: string | null;
  description?: string | null;
  missed_runs?: MissedRuns | null;
  is_active?: boolean | null;
}

/** Control characters, which would begin another header or be invisible in this one. */
const CONTROL = /[^\P{Cc}\t]/u;

const BLANK: ScheduleFields = {
  name: '',
  recipients: [],
  cron_expression: '',
  timezone: 'UTC',
  template: null,
  variables: {},
  subject: null,
  body_html: null,
  body_text: null,
  cc: [],
  bcc: [],
  reply_to: null,
  from_name: null,
  domain: null,
  description: null,
  missed_runs: 'skip',
  is_active: true,
};

/** A field's new value: the one there is unless it was sent, the one of a new schedule where null was sent. */
function pick<T>(sent: T | null | undefined, current: T, cleared: T): T {
  if (sent === undefined) return current;
  return sent ?? cleared;
}

/**
 * The schedule that results from the changes, `current` being null for a new one, with its parsed cron expression.
 * Throws AppError `invalid` with messages by field for what no schedule may be.
 */
export function checkSchedule(
  current: ScheduleFields | null,
  sent: ScheduleChanges,
  rules: { max_body_bytes: number },
): { fields: ScheduleFields; cron: Cron } {
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
export function mergeSchedule(current: ScheduleFields | null, sent: ScheduleChanges): ScheduleFields {
  const old = current ?? BLANK;
  const recipients = sent.recipients?.map(({ email, name }) => ({ email, name: name || null }));
  return {
    name: sent.name ?? old.name,
    recipients: recipients ?? old.recipients,
    cron_expression: sent.cron_expression?.trim() ?? old.cron_expression,
    timezone: pick(sent.timezone, old.timezone, BLANK.timezone),
    template: pick(sent.template, old.template, null),
    variables: pick(sent.variables, old.variables, {}),
    subject: pick(sent.subject, old.subject, null),
    // An empty part counts as none: mail programs would show it instead of the other one.
    body_html: pick(sent.body_html, old.body_html, null) || null,
    body_text: pick(sent.body_text, old.body_text, null) || null,
    cc: pick(sent.cc, old.cc, []),
    bcc: pick(sent.bcc, old.bcc, []),
    reply_to: pick(sent.reply_to, old.reply_to, null),
    from_name: pick(sent.from_name, old.from_name, null),
    domain: pick(canonical(sent.domain), old.domain, null),
    description: pick(sent.description, old.description, null),
    missed_runs: pick(sent.missed_runs, old.missed_runs, BLANK.missed_runs),
    is_active: pick(sent.is_active, old.is_active, true),
  };
}

/** Domains are stored in their canonical form; what is none is left for the look-up to refuse. */
function canonical(domain: string | null | undefined): string | null | undefined {
  return typeof domain === 'string' ? (canonicalDomain(domain) ?? domain) : domain;
}

/** A run sends one mail to each, so an address may stand there only once, however its case. */
function recipientErrors(recipients: readonly Recipient[]): FieldErrors {
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

function contentErrors(fields: ScheduleFields, max_bytes: number): FieldErrors {
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
