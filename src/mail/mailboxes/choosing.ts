/** Which mailbox a message goes out from, and why: one function over what is known of all of them. */
import { AppError, invalid } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { secondsToUtcMidnight, toIso, utcDay } from '../../platform/host/clock.ts';
import type { MailPurpose } from '../../platform/mail/types.ts';
import { type DomainStanding, listStandingsFor } from '../sending-domains/service.ts';
import { listSenders, listUsage, releaseUsage, type SenderRow, takeUsage } from './store.ts';

/** Retry-After where a domain has no mailbox to send with: as long as an admin needs to resume one. */
const NO_MAILBOX_RETRY_AFTER_S = 60;

/** Mailboxes of which an attempt says why not they: more than most teams have, and some 1 KB of text. */
const MAX_EXPLAINED_MAILBOXES = 20;

export interface ChoiceRequest {
  /** Whose mail it is: it goes by the sending domains of its project. */
  project_id: number;
  /** The domain asked for; null leaves it open. */
  domain: string | null;
  purpose: MailPurpose;
  /** UTC day whose quota the message uses. */
  day: string;
  now_ms: number;
  /** Made by a test key: it is captured whatever the mailbox, so it uses up no quota. */
  is_test: boolean;
  /** The mailbox that this message was counted for already; it stays with it unless another one is better. */
  held_mailbox_id?: number | null;
  /** Mailboxes, by address, that have just failed to connect. They are left out, as are all that rest. */
  tried?: readonly string[];
  /** Mailboxes, by address, whose next turn comes too late: they are left out. */
  late?: readonly string[];
  /** Only these mailboxes, by address; absent or empty means any. */
  only?: readonly string[];
}

/** A mailbox with its domain and what it has taken on one day; of a domain without any the domain alone. */
export interface Candidate
  extends DomainStanding,
    Omit<{ [Name in keyof SenderRow]: SenderRow[Name] | null }, 'domain_id'> {
  used: number;
}

const NONE: Omit<Candidate, keyof DomainStanding> = {
  mailbox_id: null,
  address: null,
  kind: null,
  revision: null,
  status: null,
  for_transactional: null,
  for_marketing: null,
  daily_limit: null,
  failures: null,
  resting_until: null,
  used: 0,
};

/**
 * Every mailbox that a project may send from and every such domain without one, those of the project's
 * default domain first, with what they have taken on a day. To its mail there are no others.
 */
export function listCandidates(
  tx: Tx,
  { project_id, day }: Pick<ChoiceRequest, 'project_id' | 'day'>,
): Candidate[] {
  const used = listUsage(tx, day);
  const senders = listSenders(tx);
  const candidates = listStandingsFor(tx, project_id).flatMap((domain): Candidate[] => {
    const own = senders.filter(({ domain_id }) => domain_id === domain.domain_id);
    if (own.length === 0) return [{ ...NONE, ...domain }];
    return own.map((sender) => ({ ...sender, ...domain, used: used.get(sender.mailbox_id) ?? 0 }));
  });
  // Joined and sorted here: for a handful of rows SQLite's sorter and outer join cost ten times all the rest.
  return candidates.sort(
    (a, b) =>
      b.is_default - a.is_default || a.domain_id - b.domain_id || (a.mailbox_id ?? 0) - (b.mailbox_id ?? 0),
  );
}

export interface ChosenMailbox {
  mailbox_id: number;
  /** Increases with every change of the mailbox's settings. */
  revision: number;
  address: string;
  domain: string;
  /** Why this one and not the others, for the operator. */
  explanation: string;
  /** How many such messages its quota of the day has room for. */
  left: number;
  /** Its next turn comes too late, and there is no other one. */
  is_late: boolean;
}

export type Choice = ({ ok: true } & ChosenMailbox) | { ok: false; error: AppError; explanation: string };

type Mailbox = Candidate & { mailbox_id: number; address: string; revision: number };

/** Those of which it is true are counted, and not named. */
const NOT_AMONG = 'the mail may not go out from it';

/**
 * `full`: its quota is the only obstacle. `other`: it could not serve such a message anyway, or has just
 * failed.
 */
type Hindrance = 'full' | 'paused' | 'captures' | 'unverified' | 'other';

interface Obstacle {
  hindrance: Hindrance;
  /** In plain words, for the operator. */
  words: string;
}

interface Weighed {
  candidate: Mailbox;
  is_resting: boolean;
  /** Null: it can take this message. */
  obstacle: Obstacle | null;
}

/**
 * Gives a message its mailbox: chosen as things stand in this transaction, with the message counted in its
 * quota of the day and no longer in that of the mailbox that held it. Nothing changes where none will do.
 * Bulk mail is accepted a piece at a time, for which `mail/emails/bulk.ts` chooses and counts; all other mail
 * comes here twice. As it is accepted, its client is told what it goes out from or that nothing can take it,
 * and its place in the day's quota is its own from then on; as an attempt begins, that mailbox may rest, be
 * paused or be gone. One that is late is taken only where there is no other.
 */
export function takeMailbox(
  tx: Tx,
  request: ChoiceRequest,
  candidates: readonly Candidate[] = listCandidates(tx, request),
  isLate: (mailbox_id: number) => boolean = () => false,
): Choice {
  const choice = chooseInTime(candidates, request, isLate);
  const held = request.held_mailbox_id ?? null;
  if (!choice.ok || request.is_test || choice.mailbox_id === held) return choice;
  if (held !== null) releaseUsage(tx, held, request.day);
  takeUsage(tx, choice.mailbox_id, request.day, 1);
  return choice;
}

function chooseInTime(
  candidates: readonly Candidate[],
  request: ChoiceRequest,
  isLate: (mailbox_id: number) => boolean,
): Choice {
  const first = chooseMailbox(candidates, request);
  let choice = first;
  for (const late: string[] = []; choice.ok && isLate(choice.mailbox_id); ) {
    late.push(choice.address);
    choice = chooseMailbox(candidates, { ...request, late });
  }
  return choice.ok || !first.ok ? choice : { ...first, is_late: true };
}

/**
 * The mailbox that `takeMailbox` would give a message now. No domain asked for: the default first, then every
 * other active verified one with a mailbox that has capacity. A mailbox that rests after failures is taken
 * only where none does not. Within a domain the mailbox with most capacity left is taken. One that captures
 * stands in for no relay, as what it takes counts as sent: it is taken only where its own domain was asked
 * for or is the default, and no mailbox of that domain has a relay.
 */
export function chooseMailbox(candidates: readonly Candidate[], request: ChoiceRequest): Choice {
  if (request.domain !== null) {
    const refusal = refuseDomain(candidates, request.domain);
    if (refusal !== null) return refuse(invalid({ domain: [refusal] }));
  }
  const weighed = candidates.flatMap((candidate) => weigh(candidate, candidates, request) ?? []);
  const fit = weighed.filter((one) => one.obstacle === null);
  const awake = fit.filter((one) => !one.is_resting);
  const pool = awake.length > 0 ? awake : fit;
  const domain = pool[0]?.candidate.domain;
  const [best] = pool
    .filter((one) => one.candidate.domain === domain)
    .sort((a, b) => compare(a, b, request.held_mailbox_id ?? null));
  if (!best) {
    const asked = candidates.filter((one) => request.domain === null || one.domain === request.domain);
    return refuse(explainNone(weighed, request), explainOthers(weighed, asked, null));
  }
  const { mailbox_id, revision, address, domain: name } = best.candidate;
  return {
    ok: true,
    mailbox_id,
    revision,
    address,
    domain: name,
    left: request.is_test ? Number.POSITIVE_INFINITY : leftOf(best),
    is_late: false,
    explanation: `${explainBest(best, request)} ${explainOthers(weighed, candidates, best)}`.trim(),
  };
}

/** What becomes now of a project's transactional mail that names no domain, quotas apart. */
export function fateOfMail(tx: Tx, project_id: number, now_ms: number): 'relayed' | 'captured' | 'refused' {
  // Of a test: no quota is asked.
  const request = { project_id, domain: null, purpose: 'transactional', is_test: true } as const;
  const day = utcDay(now_ms);
  const candidates = listCandidates(tx, { project_id, day });
  const choice = chooseMailbox(candidates, { ...request, day, now_ms });
  if (!choice.ok) return 'refused';
  const chosen = candidates.find(({ mailbox_id }) => mailbox_id === choice.mailbox_id);
  return chosen?.kind === 'capture' ? 'captured' : 'relayed';
}

function refuse(error: AppError, others = ''): Choice {
  return { ok: false, error, explanation: `${error.message} ${others}`.trim() };
}

/** Why nothing can be sent from a domain, or null when something can, capacity apart. */
export function refuseDomain(candidates: readonly Candidate[], domain: string): string | null {
  const known = candidates.find((candidate) => candidate.domain === domain);
  if (!known) return 'is not a sending domain of this project';
  if (!known.is_active) return 'is not active at present';
  return known.is_verified ? null : 'is not verified yet';
}

/** The active mailbox of an address, whatever its case, that is for such mail and whose domain is in use. */
export function senderAt(
  candidates: readonly Candidate[],
  address: string,
  purpose: MailPurpose,
): { address: string; domain: string } | null {
  const asked = address.toLowerCase();
  const found = candidates.find((candidate) => candidate.address?.toLowerCase() === asked);
  return found?.address && isSender(found, purpose) ? { address: found.address, domain: found.domain } : null;
}

function isSender(candidate: Candidate, purpose: MailPurpose): boolean {
  const { status, is_active, is_verified } = candidate;
  return status === 'active' && Boolean(is_active && is_verified) && isFor(candidate, purpose);
}

/** The addresses that `senderAt` finds. */
export function sendersOf(candidates: readonly Candidate[], purpose: MailPurpose): string[] {
  return candidates.flatMap((one) => (one.address !== null && isSender(one, purpose) ? one.address : []));
}

/** What speaks against a mailbox; null where another domain is asked for, or this one has none. */
function weigh(
  candidate: Candidate,
  candidates: readonly Candidate[],
  request: ChoiceRequest,
): Weighed | null {
  const { mailbox_id, address, revision } = candidate;
  if (mailbox_id === null || address === null || revision === null) return null;
  if (request.domain !== null && candidate.domain !== request.domain) return null;
  const known = { ...candidate, mailbox_id, address, revision };
  return {
    candidate: known,
    is_resting: isResting(candidate, request.now_ms),
    obstacle: findObstacle(known, candidates, request),
  };
}

function findObstacle(
  mailbox: Mailbox,
  candidates: readonly Candidate[],
  request: ChoiceRequest,
): Obstacle | null {
  const unsuited = explainUnsuited(mailbox, request);
  if (unsuited !== null) return { hindrance: 'other', words: unsuited };
  if (!mailbox.is_verified) return { hindrance: 'unverified', words: 'its domain is not verified' };
  const capture = explainCapture(mailbox, candidates, request);
  if (capture !== null) return { hindrance: 'captures', words: capture };
  if (mailbox.status !== 'active') return { hindrance: 'paused', words: 'paused' };
  if (request.tried?.includes(mailbox.address))
    return { hindrance: 'other', words: 'it has just failed to connect' };
  if (request.late?.includes(mailbox.address))
    return { hindrance: 'other', words: 'it waits, and its next turn comes too late' };
  if (request.tried && isResting(mailbox, request.now_ms))
    return { hindrance: 'other', words: restOf(mailbox) };
  if (!isUsedUp(mailbox, request)) return null;
  return { hindrance: 'full', words: `its ${mailbox.daily_limit} messages of ${request.day} are used up` };
}

/** Why a mailbox could not serve such a message on any day. */
function explainUnsuited(mailbox: Mailbox, request: ChoiceRequest): string | null {
  if (!mailbox.is_active) return 'its domain is not active';
  if (!isFor(mailbox, request.purpose)) return `not for ${request.purpose} mail`;
  return isAmong(mailbox, request.only) ? null : NOT_AMONG;
}

function isUsedUp({ mailbox_id, daily_limit, used }: Mailbox, request: ChoiceRequest): boolean {
  if (request.is_test || daily_limit === null) return false;
  const has_place = mailbox_id === (request.held_mailbox_id ?? null);
  return used - (has_place ? 1 : 0) >= daily_limit;
}

function isFor(candidate: Candidate, purpose: MailPurpose): boolean {
  return (purpose === 'marketing' ? candidate.for_marketing : candidate.for_transactional) === 1;
}

/** Whether it was said which mailboxes it may be. */
function isBound(request: ChoiceRequest): boolean {
  return (request.only ?? []).length > 0;
}

function isAmong(candidate: Candidate, only: readonly string[] = []): boolean {
  return only.length === 0 || (candidate.address !== null && only.includes(candidate.address));
}

/**
 * Why a mailbox that captures must not take this: a relay's mail would seem to be sent, and nobody would get
 * it.
 */
function explainCapture(
  mailbox: Mailbox,
  candidates: readonly Candidate[],
  request: ChoiceRequest,
): string | null {
  if (mailbox.kind !== 'capture') return null;
  if (request.domain === null && !isBound(request) && !mailbox.is_default)
    return 'it captures mail, and its domain was not asked for and is not the default';
  // A paused one counts too: whoever pauses a relay wants its mail to wait, not to be captured.
  const relay = candidates.find(
    (other) =>
      other.domain === mailbox.domain &&
      other.kind === 'smtp' &&
      isFor(other, request.purpose) &&
      isAmong(other, request.only),
  );
  return relay ? `it captures mail, and ${relay.address} of its domain has a relay` : null;
}

function isResting(candidate: Candidate, now_ms: number): boolean {
  return (candidate.resting_until ?? 0) > now_ms;
}

function restOf(candidate: Candidate): string {
  return `resting until ${toIso(candidate.resting_until)} after ${candidate.failures} failures to connect`;
}

/**
 * The one that holds it first; then by what is left of the day's quota, and by what was used where there is
 * no quota.
 */
function compare(a: Weighed, b: Weighed, held: number | null): number {
  const is_held = (one: Weighed): number => Number(one.candidate.mailbox_id === held);
  const rest = (one: Weighed): number => (one.is_resting ? (one.candidate.resting_until ?? 0) : 0);
  return (
    rest(a) - rest(b) ||
    is_held(b) - is_held(a) ||
    leftOf(b) - leftOf(a) ||
    a.candidate.used - b.candidate.used ||
    a.candidate.mailbox_id - b.candidate.mailbox_id
  );
}

function leftOf({ candidate: { daily_limit, used } }: Weighed): number {
  return daily_limit === null ? Number.MAX_SAFE_INTEGER : daily_limit - used;
}

function explainBest(best: Weighed, request: ChoiceRequest): string {
  const { address, domain, is_default, daily_limit, used } = best.candidate;
  const asked = request.domain !== null ? 'was asked for' : is_default ? 'is the default' : null;
  const reason = isBound(request)
    ? 'it is among the mailboxes that the mail may go out from'
    : asked
      ? `its domain ${domain} ${asked}`
      : `no domain was asked for and ${domain} is the first that can take it`;
  const quota = daily_limit === null ? '' : `; ${used} of ${daily_limit} messages of ${request.day} counted`;
  const rest = best.is_resting ? `; it is ${restOf(best.candidate)}, but no other one is awake` : '';
  return `${address}: ${reason}${quota}${rest}.`;
}

/** Bounded, as it is kept with every attempt and a large server has many mailboxes. */
function explainOthers(
  weighed: readonly Weighed[],
  candidates: readonly Candidate[],
  best: Weighed | null,
): string {
  const unasked = weighed.filter(({ obstacle }) => obstacle?.words === NOT_AMONG).length;
  const others = weighed.filter((one) => one !== best && one.obstacle?.words !== NOT_AMONG);
  const empty = best ? [] : candidates.filter((candidate) => candidate.mailbox_id === null);
  const words = [
    ...others
      .slice(0, MAX_EXPLAINED_MAILBOXES)
      .map((one) => `${one.candidate.address} (${one.obstacle?.words ?? explainSecond(one, best)})`),
    ...empty.map((candidate) => `${candidate.domain} (no mailbox)`),
  ].slice(0, MAX_EXPLAINED_MAILBOXES);
  const left = others.length + empty.length - words.length;
  const more = [
    ...(left > 0 ? [`${left} more`] : []),
    ...(unasked > 0 ? [`${unasked} that it may not go out from`] : []),
  ];
  if (words.length === 0) return more.length === 0 ? '' : `Not ${more.join(', nor ')}.`;
  return `Not ${[words.join(', '), ...more].join(', nor ')}.`;
}

function explainSecond(one: Weighed, best: Weighed | null): string {
  if (one.is_resting) return restOf(one.candidate);
  if (one.candidate.domain !== best?.candidate.domain) return 'its domain comes later';
  return leftOf(one) < leftOf(best) ? 'less capacity left' : 'as good, but its turn comes later';
}

/**
 * What a client is told. It counts and does not name: other projects' addresses are none of a client's
 * business. Those for other purposes, and of domains that are switched off, could never have served it and go
 * unmentioned.
 */
function explainNone(weighed: readonly Weighed[], request: ChoiceRequest): AppError {
  const count = (hindrance: Hindrance): number =>
    weighed.filter((one) => one.obstacle?.hindrance === hindrance).length;
  const [full, paused, capturing] = [count('full'), count('paused'), count('captures')];
  const unverified = count('unverified');
  const counted = [
    ...(full > 0
      ? [`${full} ${full === 1 ? 'has used up its' : 'have used up their'} messages of ${request.day} (UTC)`]
      : []),
    ...(paused > 0 ? [`${paused} ${paused === 1 ? 'is' : 'are'} paused`] : []),
    ...(capturing > 0 ? [`${capturing} only ${capturing === 1 ? 'captures' : 'capture'} mail`] : []),
    ...(unverified > 0
      ? [`${unverified} ${unverified === 1 ? 'is' : 'are'} of a domain that is not verified`]
      : []),
  ].join(', ');
  const is_today = request.day === utcDay(request.now_ms);
  const advice = full === 0 ? '' : is_today ? ' Try again after midnight UTC.' : ' Choose another day.';
  const retry_after_s = full > 0 ? secondsToUtcMidnight(request.now_ms) : NO_MAILBOX_RETRY_AFTER_S;
  if (request.domain !== null) {
    const why = counted === '' ? 'it has no usable mailbox' : `of its mailboxes ${counted}`;
    const message = `The requested domain is without capacity: ${why}.${advice}`;
    return new AppError('unavailable', message, { retry_after_s });
  }
  const of_which = `that this ${isBound(request) ? 'mail may go out' : 'project may send'} from`;
  if (full > 0) {
    const message = `No mailbox ${of_which} has capacity left: ${counted}.${advice}`;
    return new AppError('rate_limited', message, { retry_after_s });
  }
  const why = counted === '' ? '' : `: ${counted}`;
  const message = isBound(request)
    ? `No mailbox ${of_which} can be used${why}.`
    : `This project has no usable mailbox to send from${why}.`;
  return new AppError('unavailable', message, { retry_after_s });
}
