/**
 * What a mail's row keeps of its contact: values of merge fields, names of missing ones, the subject, the headers by which people
 * leave; and which mails went to a contact.
 */
import type { AppError, FieldErrors } from '../../errors.ts';
import { MAX_SUBJECT_CHARS } from '../../limits.ts';
import { BULK_SOURCES, sentMails } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { oneLine } from '../../platform/mail/address.ts';
import {
  fieldValue,
  fillParts,
  LEADS_SOMEWHERE,
  type MergeContact,
  OF_THE_ROW,
  type Values,
} from './merge-fields.ts';
import type { Source } from './source.ts';

/** What a mail's row keeps: the source, the values merged into it, and whom it is for. */
export interface Merge {
  s: number;
  v: Values;
  c: number | null;
}

/** A mail that is not tracked tells nobody who its reader is, where its template would have it do so, neither. */
export const UNTRACKED_VALUES = { contact_token: '' } as const;

/** Variables as they are sent, as text; what can be none is named in `errors`, below `at`. */
export function readVariables(
  variables: Record<string, unknown>,
  at: string,
  errors: FieldErrors,
): Record<string, string> {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value === null) continue;
    if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value))
      read[name] = String(value);
    else errors[`${at}.${name}`] = ['must be a string, a number or a boolean'];
  }
  return read;
}

/** Fields in which the contact's own value wins over a variable of the same name. */
export function withoutContactFields(variables: Readonly<Record<string, string>>): Record<string, string> {
  const own = ['first_name', 'last_name', 'contact_token', ...OF_THE_ROW] as readonly string[];
  return Object.fromEntries(
    Object.entries(variables).filter(([name]) => !own.includes(name) && !name.startsWith('custom.')),
  );
}

/** The values that a mail's row keeps, and the names of those that there are none of. */
export function valuesOf(
  source: Source,
  default_first_name: string,
  contact: MergeContact | null,
): { values: Record<string, string>; missing: string[] } {
  const values: Record<string, string> = {};
  const missing: string[] = [];
  const optional = new Set(source.optional);
  const begins = new Set(source.begins);
  for (const name of source.names) {
    if (OF_THE_ROW.some((own) => own === name)) continue;
    const begins_address = begins.has(name);
    const value = contact
      ? fieldValue(name, contact, default_first_name)
      : begins_address
        ? SAMPLE_ADDRESS
        : sampleOf(name, default_first_name);
    if (value !== undefined && (!begins_address || LEADS_SOMEWHERE.test(value))) values[name] = value;
    else if (!optional.has(name)) missing.push(name);
  }
  return { values, missing };
}

const NOBODY: MergeContact = { first_name: null, last_name: null, custom: {}, contact_token: null };

/** As `valuesOf`, of what anybody may read, whoever they are. */
export function valuesOfNobody(source: Source, default_first_name: string): ReturnType<typeof valuesOf> {
  const { values, missing } = valuesOf(source, default_first_name, NOBODY);
  const asks = source.names.includes('email') && !source.optional.includes('email');
  return { values, missing: asks ? ['email', ...missing] : missing };
}

const SAMPLE_ADDRESS = 'https://example.com/';

function sampleOf(name: string, default_first_name: string): string | undefined {
  const nobody = { first_name: null, last_name: 'Sample', custom: {}, contact_token: 'sample-token' };
  if (name.startsWith('custom.')) return sampleText(name.slice('custom.'.length));
  return fieldValue(name, nobody, default_first_name);
}

/** What stands for a value of which only the name is known; where that says so, it can be followed. */
export function sampleText(name: string): string {
  return /(url|uri|link|href)$/i.test(name) ? SAMPLE_ADDRESS : `Sample ${name}`;
}

export function subjectOf(source: Source, values: Values): string {
  return oneLine(fillParts(source.subject, values));
}

/** Why a template can't be composed, as a sentence. */
export function makesNoMail(slug: string, { message }: AppError): string {
  return `The template ${slug} makes no mail: ${message}.`;
}

export function refusalOfMissing(missing: readonly string[]): string {
  return `No value for ${missing.map((name) => `{{${name}}}`).join(', ')}.`;
}

export function refusalOfSize(max_bytes: number): string {
  return `has more than ${max_bytes} bytes once its values are merged in`;
}

export function refusalOfSubject(subject: string): string | null {
  if (subject === '') return 'The subject is empty once its values are merged in.';
  const length = [...subject].length;
  return length > MAX_SUBJECT_CHARS
    ? `The subject has more than ${MAX_SUBJECT_CHARS} characters once its values are merged in (${length}).`
    : null;
}

export function readMerge(merge: Readonly<Record<string, unknown>>): Merge {
  const { s, v, c } = merge;
  return {
    s: Number(s),
    v: isPlainObject(v) ? (v as Values) : {}, // Written as a mail is planned, and nowhere else.
    c: typeof c === 'number' ? c : null,
  };
}

export function mergedOf(merge: string | null): { v: Values; is_kept: boolean } {
  return merge === null ? { v: {}, is_kept: false } : { v: readMerge(JSON.parse(merge)).v, is_kept: true };
}

/** Added behind what there is, which stays as it was written. */
export function addContactToken(url: URL, token: string): void {
  if (url.searchParams.has('contact_token')) return;
  url.search += `${url.search === '' ? '?' : '&'}contact_token=${encodeURIComponent(token)}`;
}

/**
 * RFC 8058 asks for the first two, RFC 2919 for the id of the list within a domain of ours. Precedence is
 * left out.
 */
export function mailHeaders(of: {
  public_url: string;
  unsubscribe_url: string;
  list_id: string;
  /** Public id of the project. */
  project_id: string;
  kind: 'sequence' | 'broadcast';
  tag: string;
}): Record<string, string> {
  const host = new URL(of.public_url).hostname;
  const list = of.list_id.toLowerCase();
  return {
    'List-Unsubscribe': `<${of.unsubscribe_url}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'List-Id': `<${list}.${/^[a-z0-9.-]+$/i.test(host) ? host : 'localhost'}>`,
    // What Gmail's postmaster tools count by; the last one names the sender, in 5 to 15 characters.
    'Feedback-ID': `${identifier(of.tag)}:${list}:${of.kind}:${of.project_id.slice(-12).toLowerCase()}`,
  };
}

function identifier(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, '-') || '-';
}

/** The unsubscribe link of a mail, whose row has it in this header only. */
export function unsubscribeUrlOf(headers: Readonly<Record<string, string>>): string {
  return /<([^>]+)>/.exec(headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
}

/** Mails to an address that are looked through: those to its contacts on other lists are among them. */
const MAX_LOOKED_THROUGH = 100;

/** Ids of the last two mails that sequences and broadcasts sent to a contact, tests apart; the last one first. */
export function lastMailsTo(
  read: Tx,
  { id, project_id, email }: { id: number; project_id: number; email: string },
): string[] {
  const sent = sentMails.listSentTo(read, { project_id, email, sources: BULK_SOURCES }, MAX_LOOKED_THROUGH);
  const of_contact = sent.filter(({ merge }) => contactIn(merge) === id);
  return of_contact.slice(0, 2).map((mail) => mail.id);
}

/** The id of the contact that a mail is for; null where it is for nobody on a list. */
export function contactOfMail(read: Tx, email_id: string): number | null {
  return contactIn(sentMails.find(read, email_id)?.merge ?? null);
}

const contactIn = (merge: string | null): number | null =>
  merge === null ? null : readMerge(JSON.parse(merge)).c;
