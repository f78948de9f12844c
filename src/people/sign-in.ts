/** Signing in: slowed before the password is looked at, as long for unknown names as for known ones, and never in a stranger's hands. */
import { AppError } from '../errors.ts';
import {
  MAX_KNOWN_NETWORKS,
  MAX_USER_AGENT_CHARS,
  SIGN_IN_FAILURES_OF_ACCOUNT,
  SIGN_IN_FAILURES_OF_ADDRESS,
} from '../limits.ts';
import type { Tx } from '../platform/database/database.ts';
import { newId } from '../platform/host/ids.ts';
import { networkOf } from '../platform/http/client-ip.ts';
import type { DurableRates, Rate } from '../platform/http/rate-limit.ts';
import { parseAddress } from '../platform/mail/address.ts';
import { createSecret, hashToken } from '../platform/secrets/token-format.ts';
import type { Passwords } from './passwords.ts';
import { takeCode } from './second-step.ts';
import { audit, nameOf, type PeopleDeps } from './service.ts';
import * as sessions from './session-store.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';

export interface SignInInput {
  email: string;
  password: string;
  code?: string | undefined;
  ip: string | null;
  user_agent: string | null;
}

export type SignInDeps = PeopleDeps & { passwords: Passwords; rates: DurableRates };

const OF_ACCOUNT: Rate = {
  ...{ limit: SIGN_IN_FAILURES_OF_ACCOUNT, per: 'quarter', what: 'Failed sign-ins of this account' },
};
const OF_ADDRESS: Rate = {
  ...{ limit: SIGN_IN_FAILURES_OF_ADDRESS, per: 'quarter', what: 'Failed sign-ins from your address' },
};

/** Failures that were counted ahead of the attempt: which caller, and by which rate. */
type Counted = readonly (readonly [caller: string, rate: Rate])[];

export class SignIn {
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /**
   * The secret of a new session. Throws AppError `unauthenticated`, the same whatever is wrong, but with `second_step` where
   * the password is right and a code is missing (which is no failure) or wrong; `rate_limited`; `unavailable`.
   */
  async signIn(input: SignInInput): Promise<string> {
    const { database, passwords } = this.#deps;
    const { person, counted } = await database.write((tx) => this.#countAhead(tx, input));
    let is_right: boolean;
    try {
      is_right = await passwords.verify(person?.password_hash ?? null, input.password);
    } catch (error) {
      await database.write((tx) => this.#giveBack(tx, counted));
      throw error;
    }
    if (!is_right || !person?.is_active) throw refused();
    const outcome = await database.write((tx) => this.#admit(tx, person, input, counted));
    if ('secret' in outcome) return outcome.secret;
    throw outcome.refusal;
  }

  /** A failure is counted before anything is looked at, and given back where it was none: so many at once are no more. */
  #countAhead(tx: Tx, { email: typed, ip }: SignInInput): { person: PersonRow | null; counted: Counted } {
    const email = parseAddress(typed.trim())?.address ?? typed;
    const person = store.findPersonByEmail(tx, email);
    const network = networkOf(ip);
    const is_known = person !== null && sessions.isKnownNetwork(tx, person.id, network);
    // What was typed stands last: no text that a stranger makes up can be another's name.
    const account = person ? `sign-in of person ${person.id}` : `sign-in of nobody ${email.toLowerCase()}`;
    const counted: Counted = [
      [`sign-in from ${network}`, OF_ADDRESS],
      // Strangers use up what strangers have: where a person signed in before, they still can.
      [is_known ? `${account} from ${network}` : account, OF_ACCOUNT],
    ];
    for (const [caller, rate] of counted) this.#deps.rates.take(tx, caller, rate);
    return { person, counted };
  }

  #giveBack(tx: Tx, counted: Counted): void {
    for (const [caller, rate] of counted) this.#deps.rates.giveBack(tx, caller, rate);
  }

  /** Returns a refusal rather than throws it: what was counted or given back must be kept. */
  #admit(
    tx: Tx,
    checked: PersonRow,
    { code, ip, user_agent }: SignInInput,
    counted: Counted,
  ): { secret: string } | { refusal: AppError } {
    const { clock, key_ring } = this.#deps;
    const now = clock.now();
    const person = store.findPerson(tx, checked.id);
    // Reset, changed or made inactive while the password was being checked.
    if (!person?.is_active || person.password_hash !== checked.password_hash) return { refusal: refused() };
    if (person.sealed_totp !== null) {
      if (code === undefined || code.trim() === '') {
        this.#giveBack(tx, counted);
        return { refusal: secondStep('Give the code of your authenticator app too, or a recovery code.') };
      }
      if (!takeCode({ tx, key_ring, now_ms: now }, person, code)) {
        return { refusal: secondStep('The code is not right, or was used before.') };
      }
    }
    this.#giveBack(tx, counted);
    sessions.rememberNetwork(tx, {
      ...{ person_id: person.id, network: networkOf(ip), now_ms: now, max: MAX_KNOWN_NETWORKS },
    });
    store.updatePerson(tx, person.id, { last_sign_in_at: now });
    const secret = createSecret();
    sessions.insertSession(tx, {
      ...{ id: newId(now), token_hash: hashToken(secret), person_id: person.id, ip },
      user_agent: user_agent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
      ...{ created_at: now, last_seen_at: now },
    });
    const actor = { kind: 'person', id: String(person.id), name: nameOf(person), ip } as const;
    audit(tx, actor, 'person.signed_in', person, {}, now);
    return { secret };
  }
}

function refused(): AppError {
  return new AppError('unauthenticated', 'The address or the password is not right.');
}

function secondStep(message: string): AppError {
  return new AppError('unauthenticated', message, { details: { second_step: true } });
}
