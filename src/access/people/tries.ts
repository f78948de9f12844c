/**
 * Limits on guessing passwords and codes. A try counts once it has failed, so a crash counts none. Until then
 * it holds a place: many tries at once get no further than one after another.
 */
import type { Database, Tx } from '../../platform/database/database.ts';
import { type DurableRates, type Rate, RateLimitError } from '../../platform/http/rate-limit.ts';

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

/** Strangers have limits of their own, so that a person still gets in from where they signed in before. */
export const limitsWhereKnown = (person_id: number, network: string): Limit[] => [
  [`${ofPerson(person_id)} from ${network}`, OF_ACCOUNT],
];

export const limitsOfStranger = (person_id: number, network: string): Limit[] => [
  [ofPerson(person_id), OF_ACCOUNT],
  [`sign-in from ${network}`, OF_ADDRESS],
];

/** What was typed stands last, so that no made-up text can pass for the name of another counter. */
export const limitsOfNobody = (typed: string, network: string): Limit[] => [
  [`sign-in of nobody ${typed}`, OF_ACCOUNT],
  [`sign-in from ${network}`, OF_ADDRESS],
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
