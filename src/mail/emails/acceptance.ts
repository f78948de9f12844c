/** Accepting an email: everything is checked, counted against the quotas and stored in one transaction. */
import { AppError, conflict, invalid } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { secondsToUtcMidnight, utcDay } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { AT_ONCE, insertJob, moveJob, type NewJob } from '../../platform/jobs/store.ts';
import {
  type Candidate,
  type ChoiceRequest,
  type ChosenMailbox,
  chooseMailbox,
  listCandidates,
  releaseUsage,
  takeUsage,
} from '../mailboxes/service.ts';
import {
  type AttachmentSource,
  checkEmail,
  findAttachments,
  findSender,
  MUST_BE_LATER,
  purposeOf,
  readOnce,
} from './checking.ts';
import * as emailJobs from './jobs.ts';
import * as emailLife from './life-store.ts';
import type { NewEmail } from './new-email.ts';
import { type Bodies, insertEmail, releaseKeyUsage, takeKeyUsage } from './store.ts';
import type { EmailRow } from './tables.ts';

/** An email as it was accepted. */
export interface Accepted {
  id: string;
  job_id: string;
  status: 'queued' | 'scheduled';
  from_email: string;
  domain: string;
  scheduled_at: number | null;
  /** Where its client looks it up. The data plane unless given. */
  api_url?: string | undefined;
}

export interface AcceptanceDeps {
  objects: Pick<AttachmentSource, 'findMany'>;
  /** Null for a key that is gone. */
  keys: { emailLimitOf(tx: Tx, id: number): { email_daily_limit: number | null } | null };
  max_body_bytes: number;
  enqueue(tx: Tx, job: NewJob): string;
}

/** The wishes of an email for its mailbox, alike at acceptance and at each attempt. */
export function wishesOf(
  email: Pick<EmailRow, 'project_id' | 'source' | 'is_test' | 'requested_domain' | 'allowed_mailboxes'>,
) {
  return {
    project_id: email.project_id,
    domain: email.requested_domain,
    purpose: purposeOf(email.source),
    is_test: email.is_test,
    only: email.allowed_mailboxes,
  };
}

interface AcceptanceOptions {
  deps: AcceptanceDeps;
  now_ms: number;
  /** Has a single attempt, and a job that its sender runs instead of the engine. */
  is_waited_for: boolean;
}

/**
 * Accepts an email within the transaction: chooses its mailbox, counts it, pins its attachments, stores it
 * and queues its job. Throws AppError with nothing changed: `invalid` by field, `rate_limited` when the
 * quotas of all mailboxes or of the key are used up, `unavailable` when no mailbox can take it.
 */
export function acceptEmail(tx: Tx, email: NewEmail, options: AcceptanceOptions): Accepted {
  const placed = placeEmail(tx, email, new Places(tx, email.project_id), options);
  countPlaced(tx, [placed], options);
  return storePlaced(tx, placed, options);
}

/**
 * Accepts emails of one project, as `acceptEmail` does. What they share is read once and counted once. `of`
 * adds to a refusal which email it is about. The transaction takes back what was changed before it.
 */
export function acceptAll(
  tx: Tx,
  emails: readonly NewEmail[],
  options: AcceptanceOptions,
  of: <T>(index: number, work: () => T) => T,
): Accepted[] {
  const [first] = emails;
  if (!first) return [];
  const places = new Places(tx, first.project_id);
  const objects = readOnce(tx, emails, options.deps.objects);
  const deps = { ...options.deps, objects };
  const placed = emails.map((email, index) =>
    of(index, () => placeEmail(tx, email, places, { ...options, deps })),
  );
  countPlaced(tx, placed, options);
  return placed.map((each) => storePlaced(tx, each, options));
}

/** An email that may go out, with what it goes out from. */
interface Placed {
  id: string;
  email: NewEmail & Pick<EmailRow, 'requested_domain' | 'allowed_mailboxes'>;
  mailbox: ChosenMailbox;
  day: string;
  attachments: EmailRow['attachments'];
}

/** A project's mailboxes and their room on each day. It is read once, and places given count. */
class Places {
  readonly #of_day = new Map<string, Candidate[]>();

  constructor(
    private readonly tx: Tx,
    private readonly project_id: number,
  ) {}

  on(day: string): Candidate[] {
    const known = this.#of_day.get(day) ?? listCandidates(this.tx, { project_id: this.project_id, day });
    this.#of_day.set(day, known);
    return known;
  }

  /** Throws the choice's error where no mailbox can take it. */
  take(request: ChoiceRequest): ChosenMailbox {
    const candidates = this.on(request.day);
    const choice = chooseMailbox(candidates, request);
    if (!choice.ok) throw choice.error;
    const chosen = candidates.find(({ mailbox_id }) => mailbox_id === choice.mailbox_id);
    if (chosen && !request.is_test) chosen.used += 1;
    return choice;
  }
}

/** Checks an email and finds its mailbox and attachments; changes nothing. */
function placeEmail(tx: Tx, email: NewEmail, places: Places, options: AcceptanceOptions): Placed {
  const { deps, now_ms } = options;
  checkEmail(email, { max_body_bytes: deps.max_body_bytes, now_ms });
  const day = utcDay(email.scheduled_at ?? now_ms);
  const asked = { ...email, ...findSender(places.on(day), email) };
  const attachments = findAttachments(tx, email, deps.objects);
  const mailbox = places.take({ ...wishesOf(asked), day, now_ms });
  return { id: email.id ?? newId(now_ms), email: asked, mailbox, day, attachments };
}

/**
 * Counts emails towards the day's limits of their keys and mailboxes. Throws AppError `rate_limited` for a
 * key's.
 */
function countPlaced(
  tx: Tx,
  placed: readonly (Pick<Placed, 'mailbox' | 'day'> & { email: Pick<EmailRow, 'api_key_id' | 'is_test'> })[],
  options: Omit<AcceptanceOptions, 'is_waited_for'>,
): void {
  const of_keys = new Map<string, { api_key_id: number; day: string; count: number }>();
  const of_mailboxes = new Map<string, { mailbox_id: number; day: string; count: number }>();
  for (const { email, mailbox, day } of placed) {
    const { api_key_id, is_test } = email;
    const { mailbox_id } = mailbox;
    if (api_key_id !== null) addOne(of_keys, `${api_key_id} ${day}`, { api_key_id, day, count: 0 });
    // A test's is captured whatever the mailbox.
    if (!is_test) addOne(of_mailboxes, `${mailbox_id} ${day}`, { mailbox_id, day, count: 0 });
  }
  for (const use of of_keys.values()) countForKey(tx, use, options);
  for (const { mailbox_id, day, count } of of_mailboxes.values()) takeUsage(tx, mailbox_id, day, count);
}

function addOne<T extends { count: number }>(uses: Map<string, T>, name: string, first: T): void {
  const use = uses.get(name) ?? first;
  use.count += 1;
  uses.set(name, use);
}

function storePlaced(tx: Tx, placed: Placed, options: AcceptanceOptions): Accepted {
  const { deps, now_ms } = options;
  const { id, email, mailbox } = placed;
  const { scheduled_at } = email;
  const job = emailJobs.of({ ...email, id }, mailbox.mailbox_id);
  const job_id = options.is_waited_for
    ? insertJob(tx, { ...job, max_attempts: 1 }, now_ms)
    : deps.enqueue(tx, { ...job, ...(scheduled_at === null ? {} : { run_at: scheduled_at }) });
  const row = rowOf(email, { ...placed, job_id, now_ms });
  insertEmail(tx, row, bodiesOf(email.content));
  email.manager?.note(tx, { event: 'email.accepted', target: `email:${id}`, metadata: { job_id } });
  const { from_email, domain } = row;
  return {
    id,
    job_id,
    status: scheduled_at === null ? 'queued' : 'scheduled',
    from_email,
    domain,
    scheduled_at,
    api_url: email.manager?.api_url,
  };
}

/**
 * Has scheduled emails of one project come at another moment, with their places in the quotas. Throws as accepting them
 * does; the transaction takes back what was changed before it.
 */
export function rescheduleAll(
  tx: Tx,
  emails: readonly EmailRow[],
  scheduled_at: number,
  options: Omit<AcceptanceOptions, 'is_waited_for'>,
): void {
  const { now_ms } = options;
  if (scheduled_at <= now_ms) throw invalid({ scheduled_at: [MUST_BE_LATER] });
  for (const email of emails) leavePlace(tx, email);
  const [first] = emails;
  const places = new Places(tx, first?.project_id ?? 0);
  const day = utcDay(scheduled_at);
  const placed = emails.map((email) => ({
    email,
    day,
    mailbox: places.take({ ...wishesOf(email), day, now_ms }),
  }));
  countPlaced(tx, placed, options);
  for (const { email, mailbox } of placed) {
    const { mailbox_id, address: from_email, domain } = mailbox;
    emailLife.move(tx, email.id, { mailbox_id, quota_day: day, from_email, domain, scheduled_at });
    const lane = emailJobs.laneOf({ ...email, scheduled_at }, mailbox_id);
    if (moveJob(tx, email.job_id ?? '', scheduled_at, lane) === 0) throw notScheduled(email);
  }
}

/** The refusal of what can only be done to an email that is scheduled. */
export function notScheduled({ status }: Pick<EmailRow, 'status'>): AppError {
  const how = status === 'scheduled' ? 'it is on its way' : `it is ${status}`;
  return conflict(`The email is no longer scheduled: ${how}.`, { code: 'not_scheduled' });
}

/** Gives an email's place in the quotas back. */
export function leavePlace(tx: Tx, { quota_day, mailbox_id, api_key_id, is_test }: EmailRow): void {
  if (quota_day === null) return;
  if (mailbox_id !== null && !is_test) releaseUsage(tx, mailbox_id, quota_day);
  if (api_key_id !== null) releaseKeyUsage(tx, api_key_id, quota_day, 1);
}

/** The row of an email as it is accepted: to be sent by its job, or as bulk mail in its queue. */
export function rowOf(
  email: NewEmail & Pick<EmailRow, 'requested_domain' | 'allowed_mailboxes'>,
  as: {
    id: string;
    job_id: string | null;
    mailbox: Pick<ChosenMailbox, 'mailbox_id' | 'address' | 'domain'>;
    day: string;
    now_ms: number;
    attachments: EmailRow['attachments'];
  },
): EmailRow {
  const { id, job_id, mailbox, day, now_ms, attachments } = as;
  const { scheduled_at } = email;
  return {
    ...UNTRIED,
    id,
    project_id: email.project_id,
    job_id,
    api_key_id: email.api_key_id,
    source: email.source,
    is_test: email.is_test,
    status: scheduled_at === null ? 'queued' : 'scheduled',
    requested_domain: email.requested_domain,
    allowed_mailboxes: email.allowed_mailboxes,
    mailbox_id: mailbox.mailbox_id,
    quota_day: day,
    from_email: mailbox.address,
    from_name: email.from_name || null,
    domain: mailbox.domain,
    to_email: email.to,
    to_name: email.to_name || null,
    cc: [...email.cc],
    bcc: [...email.bcc],
    reply_to: email.reply_to,
    subject: email.subject,
    template: email.template,
    attachments,
    headers: { ...email.headers },
    merge: 'merge' in email.content ? JSON.stringify(email.content.merge) : null,
    // It stays with the mail through every attempt, so that a receiver can tell a second copy from a second
    // mail.
    message_id:
      'whole' in email.content
        ? email.content.whole.message_id
        : (email.message_id ?? `<${id.toLowerCase()}@${mailbox.domain}>`),
    app_id: email.client?.app_id ?? null,
    ip: email.client?.ip ?? null,
    user_agent: email.client?.user_agent ?? null,
    created_at: now_ms,
    scheduled_at,
    queued_at: scheduled_at === null ? now_ms : null,
    due_at: job_id === null ? (scheduled_at ?? AT_ONCE) : null,
    call_id: email.call_id ?? null,
  };
}

/** Columns that attempts and reports fill in later. */
const UNTRIED = {
  taken: [],
  refused: [],
  attempts: 0,
  smtp_code: null,
  smtp_response: null,
  bounce_type: null,
  error: null,
  sent_at: null,
  delivered_at: null,
  opened_at: null,
  clicked_at: null,
  bounced_at: null,
  complained_at: null,
  failed_at: null,
  replied_at: null,
  began_at: null,
  choice: null,
  tls: null,
  is_captured: false,
} satisfies Partial<EmailRow>;

/** The bodies that are kept; none of a mail that is rendered as it is sent. An empty body counts as none. */
function bodiesOf(content: NewEmail['content']): (Bodies & { message?: string }) | null {
  if ('merge' in content) return null;
  if ('whole' in content) return { body_html: null, body_text: null, message: content.whole.object_id };
  return { body_html: content.body_html || null, body_text: content.body_text || null };
}

/** Counts emails towards the limit of their key. Throws AppError `rate_limited` beyond it. */
export function countForKey(
  tx: Tx,
  { api_key_id, day, count }: { api_key_id: number; day: string; count: number },
  { deps: { keys }, now_ms }: Omit<AcceptanceOptions, 'is_waited_for'>,
): void {
  const known = keys.emailLimitOf(tx, api_key_id);
  // The key is gone. Old schedules have such keys.
  if (!known) return;
  const limit = known.email_daily_limit ?? Number.POSITIVE_INFINITY;
  const used = takeKeyUsage(tx, api_key_id, day, count);
  if (used <= limit) return;
  releaseKeyUsage(tx, api_key_id, day, count);
  const advice = day === utcDay(now_ms) ? 'Try again after midnight UTC.' : 'Choose another day.';
  const left = Math.max(0, limit - used + count);
  const all = limit === 1 ? 'message' : `${limit} messages`;
  const state = left === 0 ? `has used up its ${all}` : `has ${left} left of its ${all}`;
  const asked = left === 0 ? '' : ` and was asked for ${count}`;
  throw new AppError('rate_limited', `This API key ${state} of ${day} (UTC)${asked}. ${advice}`, {
    retry_after_s: secondsToUtcMidnight(now_ms),
  });
}
