/**
 * Limits on guessing passwords and codes. A try counts once it has failed, so a crash counts none. Until then
 * it holds a place: many tries at once get no further than one after another. Failed sign-ins stand on the audit
 * trail, a row for each account and window, with a count.
 */

import { countInAudit, listAudit, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import { SYSTEM } from '../../platform/http/callers.ts';
import { type DurableRates, type Rate, RateLimitError } from '../../platform/http/rate-limit.ts';
import type { PersonRow } from './tables.ts';

/** Decision: failed sign-ins in 15 minutes, by account, and by address for all accounts together. */
const SIGN_IN_FAILURES_OF_ACCOUNT = 10;
const SIGN_IN_FAILURES_OF_ADDRESS = 30;

const OF_ACCOUNT: Rate = {
  limit: SIGN_IN_FAILURES_OF_ACCOUNT,
  per: 'quarter',
  what: 'Failed sign-ins of this account',
};
const OF_ADDRESS: Rate = {
  limit: SIGN_IN_FAILURES_OF_ADDRESS,
  per: 'quarter',
  what: 'Failed sign-ins from your address',
};
/** Counted apart from signing in: whoever sits at somebody's open session can't lock that person out. */
const PROOFS: Rate = { limit: SIGN_IN_FAILURES_OF_ACCOUNT, per: 'quarter', what: 'Wrong passwords or codes' };

/** A limit: who is counted, and how many may fail in which time. */
export type Limit = readonly [caller: string, rate: Rate];

const ofPerson = (person_id: number): string => `sign-in of person ${person_id}`;

const ofNetwork = (network: string): Limit => [`sign-in from ${network}`, OF_ADDRESS];

/** Where who it is comes out last: it counts with the network's other failures, and locks no account. */
export const limitsOfNetwork = (network: string): Limit[] => [ofNetwork(network)];

/** Strangers have limits of their own, so that a person still gets in from where they signed in before. */
export const limitsWhereKnown = (person_id: number, network: string): Limit[] => [
  [`${ofPerson(person_id)} from ${network}`, OF_ACCOUNT],
];

export const limitsOfStranger = (person_id: number, network: string): Limit[] => [
  [ofPerson(person_id), OF_ACCOUNT],
  ofNetwork(network),
];

/** What was typed stands last, so that no made-up text can pass for the name of another counter. */
export const limitsOfNobody = (typed: string, network: string): Limit[] => [
  [`sign-in of nobody ${typed}`, OF_ACCOUNT],
  ofNetwork(network),
];

export const limitsOfProof = (person_id: number): Limit[] => [[`proofs of person ${person_id}`, PROOFS]];

/** Every counter of a person's failures. */
export function forgiveFailures(
  tx: Tx,
  rates: DurableRates,
  person: { id: number; networks: readonly string[] },
): void {
  const { id, networks } = person;
  const everywhere: Limit[] = networks.flatMap((network) => limitsWhereKnown(id, network));
  for (const [caller, rate] of [[ofPerson(id), OF_ACCOUNT] as const, ...everywhere, ...limitsOfProof(id)])
    rates.forget(tx, caller, rate);
}

export interface Try {
  /** Counts it as failed, within the transaction that refuses it. True where this used the first limit up. */
  fail(tx: Tx): boolean;
  /** Gives its place back; called however the try ended. */
  end(): void;
}

export class Tries {
  readonly #under_way = new Map<string, number>();

  constructor(private readonly deps: { database: Database; rates: DurableRates }) {}

  /** Takes a place. Throws RateLimitError where failures and open tries together have reached a limit. */
  begin(limits: readonly Limit[]): Try {
    const { database, rates } = this.deps;
    for (const [caller, rate] of limits) {
      const state = rates.peek(database.read, caller, rate);
      if (state.remaining > (this.#under_way.get(caller) ?? 0)) continue;
      throw new RateLimitError(rate, { ...state, remaining: 0 });
    }
    for (const [caller] of limits) this.#hold(caller, 1);
    return {
      fail: (tx) => limits.map(([caller, rate]) => rates.take(tx, caller, rate).remaining)[0] === 0,
      end: () => {
        for (const [caller] of limits) this.#hold(caller, -1);
      },
    };
  }

  #hold(caller: string, places: 1 | -1): void {
    const held = (this.#under_way.get(caller) ?? 0) + places;
    if (held > 0) this.#under_way.set(caller, held);
    else this.#under_way.delete(caller);
  }
}

/** Lock-outs of the last day are told by doctor. */
const LOCK_OUTS_TOLD_MS = 86_400_000;
/** Networks that the audit row of failed sign-ins names, the first ones. */
const MAX_NAMED_NETWORKS = 20;
/** Reasons that it tells, the first ones. */
const MAX_REASONS = 20;

const EVENT = 'person.sign_in_failed';
/** Equal to the windows of the limits. */
const WINDOW_MS = 15 * MINUTE_MS;

interface FailureMetadata extends Record<string, unknown> {
  /** The account's address. What was typed for an unknown one is kept nowhere: it may be a password. */
  email?: string;
  count: number;
  /** How many of them had the right password, and a wrong code. */
  wrong_codes: number;
  /** True where anybody had to wait: strangers, or somebody from where the person signed in before. */
  locked_out: boolean;
  /** The first networks it came from. */
  networks: string[];
  /** Of those by single sign-on or a passkey: what was wrong. Whoever tried is not told. */
  reasons?: string[];
}

export interface Failure {
  /** Null for an unknown name: all of these share one row. */
  person: PersonRow | null;
  network: string;
  is_wrong_code?: boolean;
  locks_out?: boolean;
  reason?: string;
}

/** Counts a failure, within the transaction that counts it against the limits. */
export function recordFailure(tx: Tx, failure: Failure, now_ms: number): void {
  const { person, network, is_wrong_code = false, locks_out = false, reason } = failure;
  const target = person ? `person:${person.id}` : null;
  const window = { since_ms: now_ms - WINDOW_MS + 1, until_ms: now_ms + 1 };
  const [row] = listAudit(tx, { event: EVENT, target, ...window }, 1, 0);
  const before = row ? readMetadata(row.metadata) : null;
  const reasons = withOne(before?.reasons ?? [], reason, MAX_REASONS);
  const metadata: FailureMetadata = {
    ...(person ? { email: person.email } : {}),
    count: (before?.count ?? 0) + 1,
    wrong_codes: (before?.wrong_codes ?? 0) + (is_wrong_code ? 1 : 0),
    locked_out: (before?.locked_out ?? false) || (locks_out && person !== null),
    networks: withOne(before?.networks ?? [], network, MAX_NAMED_NETWORKS),
    ...(reasons.length > 0 ? { reasons } : {}),
  };
  if (row) countInAudit(tx, row.id, metadata);
  else recordAudit(tx, SYSTEM, { event: EVENT, target, project: null, metadata }, now_ms);
}

function withOne(all: string[], one: string | undefined, max: number): string[] {
  return one === undefined || all.includes(one) || all.length >= max ? all : [...all, one];
}

/** The accounts that were locked out in the last day, the newest first, with what was tried. */
export function listLockOuts(
  read: Tx,
  now_ms: number,
): { email: string; count: number; networks: string[] }[] {
  const window = { since_ms: now_ms - LOCK_OUTS_TOLD_MS, until_ms: now_ms + 1 };
  const by_email = new Map<string, { email: string; count: number; networks: string[] }>();
  for (const { metadata } of listAudit(read, { event: EVENT, ...window }, -1, 0)) {
    const { email, count, locked_out, networks } = readMetadata(metadata);
    if (email === undefined || !locked_out) continue;
    const told = by_email.get(email) ?? { email, count: 0, networks: [] };
    const all = new Set([...told.networks, ...networks]);
    by_email.set(email, { email, count: told.count + count, networks: [...all] });
  }
  return [...by_email.values()];
}

/** The metadata of a row that only `recordFailure` writes. */
function readMetadata({
  email,
  count,
  wrong_codes,
  locked_out,
  networks,
  reasons,
}: Record<string, unknown>): FailureMetadata {
  return {
    ...(typeof email === 'string' ? { email } : {}),
    count: Number(count),
    wrong_codes: Number(wrong_codes),
    locked_out: locked_out === true,
    networks: Array.isArray(networks) ? networks.map(String) : [],
    ...(Array.isArray(reasons) ? { reasons: reasons.map(String) } : {}),
  };
}
