/**
 * Tries of what can be guessed: only so many may have failed. One counts when it has failed, so a crash counts none; until then
 * it holds a place, so that many at once are no more than many one after the other.
 */
import { SIGN_IN_FAILURES_OF_ACCOUNT, SIGN_IN_FAILURES_OF_ADDRESS } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type DurableRates, type Rate, RateLimitError } from '../../platform/http/rate-limit.ts';

const OF_ACCOUNT: Rate = {
  ...{ limit: SIGN_IN_FAILURES_OF_ACCOUNT, per: 'quarter', what: 'Failed sign-ins of this account' },
};
const OF_ADDRESS: Rate = {
  ...{ limit: SIGN_IN_FAILURES_OF_ADDRESS, per: 'quarter', what: 'Failed sign-ins from your address' },
};
/** Counted apart from signing in: whoever sits at an open session can't keep its person out. */
const PROOFS: Rate = { limit: SIGN_IN_FAILURES_OF_ACCOUNT, per: 'quarter', what: 'Wrong passwords or codes' };

/** Whose failures count, and by which rate. */
export type Limit = readonly [caller: string, rate: Rate];

const ofPerson = (person_id: number): string => `sign-in of person ${person_id}`;

/** Strangers use up what strangers have, their address's too: where a person signed in before, they still can. */
export const limitsWhereKnown = (person_id: number, network: string): Limit[] => [
  [`${ofPerson(person_id)} from ${network}`, OF_ACCOUNT],
];

export const limitsOfStranger = (person_id: number, network: string): Limit[] => [
  [ofPerson(person_id), OF_ACCOUNT],
  [`sign-in from ${network}`, OF_ADDRESS],
];

/** What was typed stands last: no text that a stranger makes up can be another's name. */
export const limitsOfNobody = (typed: string, network: string): Limit[] => [
  [`sign-in of nobody ${typed}`, OF_ACCOUNT],
  [`sign-in from ${network}`, OF_ADDRESS],
];

export const limitsOfProof = (person_id: number): Limit[] => [[`proofs of person ${person_id}`, PROOFS]];

/** Everything that has failed for a person, wherever it was tried. */
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
  /** Counts it as failed, within the transaction of what is refused; true where it was the last that the first limit has. */
  fail(tx: Tx): boolean;
  /** Gives its place back, however it ended. */
  end(): void;
}

export class Tries {
  readonly #deps: { database: Database; rates: DurableRates };
  readonly #under_way = new Map<string, number>();

  constructor(deps: { database: Database; rates: DurableRates }) {
    this.#deps = deps;
  }

  /** Throws RateLimitError where as many have failed, or may yet, as a limit allows. */
  begin(limits: readonly Limit[]): Try {
    const { database, rates } = this.#deps;
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
