/**
 * The pipeline that every contact passes through, whether it comes by API, paste, CSV or form: syntax,
 * consent, suppression, MX, duplicate. `screen` asks the DNS and changes nothing; `admit` decides the rest
 * within a transaction.
 */
import { AppError } from '../../errors.ts';
import { MAX_CUSTOM_FIELDS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { CONSENT_BASES, type ConsentBasis, type ListRow } from '../lists/service.ts';
import type { SuppressionCheck, SuppressionKind } from '../suppressions/service.ts';
import type { Tracking, TrackingChoices } from '../tracking/service.ts';
import { contactAddress, createContactToken } from './fields.ts';
import type { CustomFields, CustomValue } from './schemas.ts';
import * as store from './store.ts';
import type { ContactRow, ContactStatus } from './tables.ts';

/** Somebody who is to be on a list. Fields are validated; the address is not. */
export interface Candidate {
  email: string;
  first_name: string | null;
  last_name: string | null;
  tags: readonly string[];
  custom: CustomFields;
  source: string | null;
  reason: string | null;
  source_platform: string;
  /**
   * Null means the list's default. An unknown word counts as no consent, and the default does not replace it.
   */
  consent_basis: string | null;
  consent_at: number;
  consent_ip: string | null;
  consent_origin: string | null;
  /** Whether what it opens and clicks may be counted, where that is said, and by whom. */
  tracking?: { tracking: Tracking; by: 'api' | 'import' } | null;
  /** What a row of a file says against mailing it: that it left elsewhere, or a status that nobody knows. */
  objection?: SuppressionKind | 'unclear' | null;
  /** Came by a test key: a sequence that takes them up by itself does so as a test. */
  is_test: boolean;
}

/** Why a candidate is not taken; the contract's codes. */
export type Rejection = 'invalid_syntax' | 'missing_consent' | 'suppressed' | 'no_mx';

export type Screened =
  | {
      verdict: 'passed';
      candidate: Candidate;
      email: string;
      consent_basis: ConsentBasis;
      /** Mail is captured at present, so the domain was not looked up. */
      is_mx_unasked?: boolean;
    }
  | {
      verdict: 'rejected';
      candidate: Candidate;
      rejection: Rejection;
      /** The address leaves, for what its row says. */
      leaves?: { email: string; kind: SuppressionKind };
    }
  /** The DNS gave no answer in time: to be tried again. */
  | { verdict: 'waiting'; candidate: Candidate };

export type Admission =
  | { outcome: 'accepted' | 'updated_existing' | 'duplicate'; contact: ContactRow }
  | { outcome: Rejection };

export interface ScreenDeps {
  /** Null: mail is captured at present, and no domain is looked up. */
  resolver: Pick<Resolver, 'takesMail'> | null;
  suppressed: SuppressionCheck;
}

/** Checks everything but the list's own contacts; each domain is looked up once. */
export async function screen(
  candidates: readonly Candidate[],
  list: Pick<ListRow, 'default_consent_basis'>,
  deps: ScreenDeps,
): Promise<Screened[]> {
  const judged = candidates.map((candidate) => judge(candidate, list, deps.suppressed));
  const { resolver } = deps;
  if (!resolver)
    return judged.map((each) => (each.verdict === 'passed' ? { ...each, is_mx_unasked: true } : each));
  const domains = new Set(judged.flatMap((each) => (each.verdict === 'passed' ? domainOf(each.email) : [])));
  const look_ups = [...domains].map(async (domain) => [domain, await resolver.takesMail(domain)] as const);
  const answers = new Map(await Promise.all(look_ups));
  return judged.map((each): Screened => {
    if (each.verdict !== 'passed') return each;
    const answer = answers.get(domainOf(each.email));
    const { candidate } = each;
    if (answer === 'no') return { verdict: 'rejected', candidate, rejection: 'no_mx' };
    return answer === 'yes' ? each : { verdict: 'waiting', candidate };
  });
}

function judge(
  candidate: Candidate,
  list: Pick<ListRow, 'default_consent_basis'>,
  suppressed: SuppressionCheck,
): Screened {
  const address = contactAddress(candidate.email);
  if (!address) return { verdict: 'rejected', candidate, rejection: 'invalid_syntax' };
  const { objection = null } = candidate;
  if (objection === 'unclear') return { verdict: 'rejected', candidate, rejection: 'missing_consent' };
  if (objection !== null) {
    const leaves = { email: address.email, kind: objection };
    return { verdict: 'rejected', candidate, rejection: 'suppressed', leaves };
  }
  const named = candidate.consent_basis ?? list.default_consent_basis;
  const consent_basis = CONSENT_BASES.find((basis) => basis === named);
  if (consent_basis === undefined) return { verdict: 'rejected', candidate, rejection: 'missing_consent' };
  if (suppressed(address.email) !== null) return { verdict: 'rejected', candidate, rejection: 'suppressed' };
  return { verdict: 'passed', candidate, email: address.email, consent_basis };
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}

export interface AdmitOptions {
  /** Within the transaction: somebody may have left since the screening. */
  suppressed: SuppressionCheck;
  status: Extract<ContactStatus, 'active' | 'pending'>;
  update_existing: boolean;
  tracking: TrackingChoices;
  now_ms: number;
}

/**
 * Puts a candidate that passed on the list, unless its address is suppressed by now or on the list already, and notes whether it may
 * be tracked. Throws AppError `conflict` (tracking_chosen) where the API says so over the person's own word.
 */
export function admit(
  tx: Tx,
  list: Pick<ListRow, 'id' | 'project_id'>,
  passed: Extract<Screened, { verdict: 'passed' }>,
  options: AdmitOptions,
): Admission {
  const admission = put(tx, list, passed, options);
  const said = passed.candidate.tracking ?? null;
  if (said === null || !('contact' in admission) || admission.outcome === 'duplicate') return admission;
  const { tracking, now_ms: at } = options;
  if (said.by === 'api') tracking.setByApi(tx, admission.contact, { ...said, at });
  else tracking.set(tx, admission.contact, { ...said, at });
  return admission;
}

function put(
  tx: Tx,
  list: Pick<ListRow, 'id' | 'project_id'>,
  passed: Extract<Screened, { verdict: 'passed' }>,
  options: AdmitOptions,
): Admission {
  const { candidate, email, consent_basis } = passed;
  if (options.suppressed(email) !== null) return { outcome: 'suppressed' };
  const known = store.findContactByAddress(tx, list.id, email);
  if (known)
    return options.update_existing
      ? update(tx, known, candidate, options)
      : { outcome: 'duplicate', contact: known };
  const { now_ms } = options;
  const { tags, tracking: _tracking, objection: _objection, is_test: _test, ...given } = candidate;
  const row: store.NewContact = {
    ...given,
    public_id: newId(now_ms),
    project_id: list.project_id,
    list_id: list.id,
    email,
    status: options.status,
    contact_token: createContactToken(),
    consent_basis,
    confirmed_at: null,
    status_changed_at: now_ms,
    created_at: now_ms,
    updated_at: now_ms,
    is_mx_unasked: passed.is_mx_unasked ?? false,
    paused_until: store.findPause(tx, list.project_id, email),
    status_before_bounce: null,
    status_before_leaving: null,
    clicked_at: null,
  };
  return { outcome: 'accepted', contact: { ...row, id: store.insertContact(tx, row, tags) } };
}

/** Given fields replace the stored ones; tags and custom fields are added. Status and evidence stay, and all where nothing differs. */
function update(tx: Tx, known: ContactRow, candidate: Candidate, options: AdmitOptions): Admission {
  const changes: Partial<ContactRow> = {};
  const custom = mergeCustom(known.custom, candidate.custom);
  if (custom) changes.custom = custom;
  for (const field of ['first_name', 'last_name', 'source', 'reason'] as const) {
    const value = candidate[field];
    if (value !== null && value !== known[field]?.trim()) changes[field] = value;
  }
  const has_new_tags = store.changeTags(tx, known, { add: candidate.tags, remove: [] });
  const contact =
    has_new_tags || Object.keys(changes).length > 0
      ? store.updateContact(tx, known.id, { ...changes, updated_at: options.now_ms })
      : known;
  return { outcome: 'updated_existing', contact };
}

/** Null where nothing differs. No more fields than a contact may have. */
function mergeCustom(custom: CustomFields, given: CustomFields): CustomFields | null {
  const merged = new Map(Object.entries(custom));
  let is_changed = false;
  for (const [given_name, value] of Object.entries(given)) {
    // A header, too, is read without blanks around it.
    const name = [...merged.keys()].find((key) => key.trim() === given_name.trim()) ?? given_name;
    const stored = merged.get(name);
    const next = stored === undefined ? value : asStored(stored, value);
    if (next === stored || (stored === undefined && merged.size >= MAX_CUSTOM_FIELDS)) continue;
    merged.set(name, next);
    is_changed = true;
  }
  return is_changed ? Object.fromEntries(merged) : null;
}

/** A cell is a text without blanks around it: a number stays a number, a boolean a boolean, and what shows the same as it was. */
function asStored(stored: CustomValue, value: CustomValue): CustomValue {
  if (typeof value !== 'string') return value;
  if (typeof stored === 'number' && IS_NUMBER.test(value)) {
    const number = Number(value);
    return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : value;
  }
  if (typeof stored === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return typeof stored === 'string' && stored.trim() === value ? stored : value;
}
const IS_NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** What changes of somebody who had left and is taken back on new evidence: pending, until they are confirmed. */
export function renewal(contact: ContactRow, candidate: Candidate, now_ms: number): Partial<ContactRow> {
  return {
    status: 'pending',
    first_name: candidate.first_name ?? contact.first_name,
    last_name: candidate.last_name ?? contact.last_name,
    consent_basis: candidate.consent_basis ?? contact.consent_basis,
    consent_at: candidate.consent_at,
    consent_ip: candidate.consent_ip,
    consent_origin: candidate.consent_origin,
    source_platform: candidate.source_platform,
    confirmed_at: null,
    status_changed_at: now_ms,
    updated_at: now_ms,
  };
}

const REJECTED: Readonly<Record<Rejection, string>> = {
  invalid_syntax: 'The address is not an email address.',
  missing_consent:
    'There is no consent_basis: give one, or set default_consent_basis on the list, if there is one to give.',
  suppressed: 'The address is suppressed in this project: it left, bounced or complained.',
  no_mx: "The address's domain takes no mail.",
};

/** The refusal of an address, with its code. */
export function rejected(rejection: Admission['outcome']): AppError {
  const code = rejection in REJECTED ? (rejection as Rejection) : 'suppressed';
  return new AppError('invalid', REJECTED[code], { code, errors: { email: [REJECTED[code]] } });
}

/** What keeps a contact from being mailed: its own status, a suppression of its address, or both. */
export interface Bar {
  /** Null where it is active. */
  status: Exclude<ContactStatus, 'active'> | null;
  is_suppressed: boolean;
}

/** Null where it may be mailed. */
export function barOf(
  contact: Pick<ContactRow, 'status' | 'email'>,
  suppressed: SuppressionCheck,
): Bar | null {
  const is_suppressed = suppressed(contact.email) !== null;
  if (contact.status !== 'active') return { status: contact.status, is_suppressed };
  return is_suppressed ? { status: null, is_suppressed } : null;
}

/** True while they get no marketing mail, as they chose. */
export function isPaused({ paused_until }: Pick<ContactRow, 'paused_until'>, now_ms: number): boolean {
  return paused_until !== null && paused_until > now_ms;
}

/** Anybody can type in any address: whoever left by choice comes back only by a click in a mail. */
export function hasLeftByChoice({ status }: Pick<ContactRow, 'status'>): boolean {
  return status === 'unsubscribed' || status === 'complained';
}
