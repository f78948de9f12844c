/** The checks that an email passes to be accepted, and the mailboxes that it may go out from. */
import { type FieldErrors, invalid, refuseAll } from '../../errors.ts';
import { MAX_ATTACHMENTS, MAX_COPIES, MAX_DISPLAY_NAME_CHARS, MAX_SUBJECT_CHARS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { countCodePoints } from '../../platform/http/schema.ts';
import { canonicalDomain, hasControls, parseAddress } from '../../platform/mail/address.ts';
import type { MailPurpose } from '../../platform/mail/types.ts';
import { type Candidate, refuseDomain, senderAt } from '../mailboxes/service.ts';
import type { NewEmail } from './new-email.ts';
import { isBulk, type StoredAttachment } from './schemas.ts';
import type { Bodies } from './store.ts';
import type { EmailRow, EmailSource } from './tables.ts';

export const MUST_BE_LATER = 'must be in the future; without a zone it is UTC';
/** Decision: attachments of one mail, before base64. */
const MAX_ATTACHMENTS_BYTES = 25 * 1024 * 1024;

/** The purpose that a mailbox must have, by where the mail comes from. */
export function purposeOf(source: EmailSource): MailPurpose {
  return isBulk(source) || source === 'test' ? 'marketing' : 'transactional';
}

/** Checks all that needs no look at the database. Throws AppError `invalid`. */
export function checkEmail(email: NewEmail, rules: { max_body_bytes: number; now_ms: number }): void {
  const errors: FieldErrors = {};
  const refuse = (field: string, message: string): void => {
    errors[field] = [...(errors[field] ?? []), message];
  };
  checkHeaderFields(email, refuse);
  if ('body_html' in email.content) checkBodies(email.content, rules.max_body_bytes, refuse);
  checkCopies(email, refuse);
  if (email.attachments.length > MAX_ATTACHMENTS)
    refuse('attachments', `must have at most ${MAX_ATTACHMENTS} entries (got ${email.attachments.length})`);
  if (email.scheduled_at !== null && email.scheduled_at <= rules.now_ms)
    refuse('scheduled_at', MUST_BE_LATER);
  refuseAll(errors);
}

/**
 * What the email may go out from. Where a mailbox is asked for it is that one alone, and its domain. Throws
 * AppError `invalid` under `domain` and `from`.
 */
export function findSender(
  candidates: readonly Candidate[],
  email: Pick<NewEmail, 'source' | 'domain' | 'from' | 'allowed_mailboxes'>,
): Pick<EmailRow, 'requested_domain' | 'allowed_mailboxes'> {
  const errors: FieldErrors = {};
  const domain = email.domain === null ? null : (canonicalDomain(email.domain) ?? '');
  const refusal = domain === null ? null : refuseDomain(candidates, domain);
  if (refusal !== null) errors.domain = [refusal];
  const sender = email.from ? senderAt(candidates, email.from, purposeOf(email.source)) : null;
  if (email.from && !sender)
    errors.from = ['must be the address of an active mailbox that this mail may go out from'];
  if (sender && domain !== null && refusal === null && domain !== sender.domain)
    errors.domain = ['is not the domain of the mailbox in from'];
  refuseAll(errors);
  if (sender) return { requested_domain: null, allowed_mailboxes: [sender.address] };
  return { requested_domain: domain, allowed_mailboxes: [...(email.allowed_mailboxes ?? [])] };
}

type Refuse = (field: string, message: string) => void;

/** A line break would let a client's text begin another header. */
function checkHeaderFields(email: NewEmail, refuse: Refuse): void {
  const fields = {
    subject: email.subject,
    to_name: email.to_name ?? '',
    from_name: email.from_name ?? '',
  };
  for (const [field, value] of Object.entries(fields)) {
    if (hasControls(value)) refuse(field, 'must have no line breaks or other control characters');
  }
  for (const field of ['to_name', 'from_name'] as const) {
    const length = countCodePoints(fields[field]);
    if (length > MAX_DISPLAY_NAME_CHARS)
      refuse(field, `must have at most ${MAX_DISPLAY_NAME_CHARS} characters (got ${length})`);
  }
  const length = countCodePoints(email.subject);
  if (email.subject.trim() === '' && !('whole' in email.content))
    refuse('subject', 'is required unless a template is named');
  else if (length > MAX_SUBJECT_CHARS)
    refuse('subject', `must have at most ${MAX_SUBJECT_CHARS} characters (got ${length})`);
}

function checkBodies(bodies: Bodies, max_bytes: number, refuse: Refuse): void {
  if (!bodies.body_html && !bodies.body_text)
    refuse('body_html', 'or body_text is required unless a template is named');
  for (const field of ['body_html', 'body_text'] as const) {
    const body = bodies[field] ?? '';
    // A code unit is at least one byte and at most three, so most bodies need no counting.
    const bytes = body.length * 3 <= max_bytes ? 0 : Buffer.byteLength(body);
    if (bytes > max_bytes) refuse(field, `must have at most ${max_bytes} bytes (got ${bytes})`);
  }
}

function checkCopies(email: NewEmail, refuse: Refuse): void {
  for (const field of ['cc', 'bcc'] as const) {
    if (email[field].length > MAX_COPIES)
      refuse(field, `must have at most ${MAX_COPIES} entries (got ${email[field].length})`);
    if (email[field].some((address) => !parseAddress(address))) refuse(field, 'must hold email addresses');
  }
  for (const field of ['to', 'reply_to'] as const) {
    const address = email[field];
    if (address !== null && !parseAddress(address)) refuse(field, 'must be an email address');
  }
}

/** An object, as far as an attachment needs it. */
interface AttachableObject {
  public_id: string;
  original_filename: string;
  mime_type: string;
  is_utf8: boolean;
  size_bytes: number;
}

/** The part of files/objects that emails need. */
export interface AttachmentSource {
  /** The project's own, unexpired objects among these. */
  findMany(tx: Tx, project_id: number, public_ids: readonly string[]): AttachableObject[];
  /** Called after the pins of these objects were lifted: bytes without an object can go. */
  releaseBytes(public_ids: readonly string[]): Promise<void>;
}

/** Looked up within the transaction that pins them, so that no deletion comes between. */
export function findAttachments(
  tx: Tx,
  email: Pick<NewEmail, 'project_id' | 'attachments'>,
  objects: Pick<AttachmentSource, 'findMany'>,
): StoredAttachment[] {
  const ids = [...new Set(email.attachments)];
  if (ids.length === 0) return [];
  const found = objects.findMany(tx, email.project_id, ids);
  if (found.length < ids.length) {
    throw invalid({ attachments: ['must be ids of stored objects of this project that have not expired'] });
  }
  const bytes = found.reduce((sum, object) => sum + object.size_bytes, 0);
  if (bytes > MAX_ATTACHMENTS_BYTES) {
    throw invalid({
      attachments: [`must have at most ${MAX_ATTACHMENTS_BYTES} bytes in all (got ${bytes})`],
    });
  }
  return found.map((object) => ({
    public_id: object.public_id,
    filename: object.original_filename,
    mime_type: object.mime_type,
    size_bytes: object.size_bytes,
    ...(object.is_utf8 && { is_utf8: true }),
  }));
}

/** The attachments of all these emails of one project, looked up at once. */
export function readOnce(
  read: Tx,
  emails: readonly Pick<NewEmail, 'project_id' | 'attachments'>[],
  objects: Pick<AttachmentSource, 'findMany'>,
): Pick<AttachmentSource, 'findMany'> {
  const ids = new Set(emails.flatMap(({ attachments }) => attachments));
  const project_id = emails[0]?.project_id;
  const found =
    ids.size === 0 || project_id === undefined ? [] : objects.findMany(read, project_id, [...ids]);
  return {
    findMany: (_read, of_project, asked) =>
      of_project === project_id ? found.filter(({ public_id }) => asked.includes(public_id)) : [],
  };
}
