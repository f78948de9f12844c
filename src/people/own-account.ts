/** What people change of their own account: the password and the second step. Each asks for the password once more. */
import { conflict, invalid } from '../errors.ts';
import { SIGN_IN_FAILURES_OF_ACCOUNT } from '../limits.ts';
import { actorOf, type SessionCaller } from '../platform/http/callers.ts';
import type { Rate } from '../platform/http/rate-limit.ts';
import { createRecoveryCodes, createTotp, openTotp, sealTotp, stepOfCode, takeCode } from './second-step.ts';
import { audit, type People } from './service.ts';
import * as sessions from './session-store.ts';
import type { SignInDeps } from './sign-in.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';

/** Counted apart from signing in: whoever sits at an open session can't keep its person out. */
const PROOFS: Rate = { limit: SIGN_IN_FAILURES_OF_ACCOUNT, per: 'quarter', what: 'Wrong passwords or codes' };

const IS_ON = 'The second step is on already. Turn it off first.';
const IS_OFF = 'The second step is not on.';

export class OwnAccount {
  readonly #deps: SignInDeps & { people: People };

  constructor(deps: SignInDeps & { people: People }) {
    this.#deps = deps;
  }

  /** The caller's own record, with what a page needs besides. */
  show(caller: SessionCaller) {
    const { people, database } = this.#deps;
    const recovery_codes_left = sessions.countRecoveryCodes(database.read, caller.person.id);
    const { session_id } = caller;
    return { ...people.present(this.#find(caller)), session_id, recovery_codes_left };
  }

  /** Sets another password and ends the other sessions. Throws AppError `invalid`, `rate_limited`, `unavailable`. */
  async changePassword(
    caller: SessionCaller,
    input: { current_password: string; password: string },
    ip: string | null,
  ): Promise<void> {
    const { database, clock, passwords } = this.#deps;
    const person = await this.#prove(caller, input.current_password, 'current_password');
    await passwords.requireStrong(input.password, person);
    const password_hash = await passwords.hash(input.password);
    const now = clock.now();
    await database.write((tx) => {
      const current = this.#find(caller, tx);
      if (current.password_hash !== person.password_hash) throw changedMeanwhile();
      store.updatePerson(tx, person.id, { password_hash, updated_at: now });
      const ended = sessions.deleteSessionsOf(tx, person.id, caller.session_id);
      audit(tx, actorOf(caller.person, ip), 'person.password_changed', person, { sessions: ended }, now);
    });
  }

  /** A secret for an authenticator app; it counts once a code of it was given. Throws AppError `conflict`, `invalid`. */
  async offerTotp(caller: SessionCaller, password: string): Promise<{ secret: string; uri: string }> {
    const { database, key_ring } = this.#deps;
    const person = await this.#prove(caller, password, 'password');
    const totp = createTotp(person.email);
    await database.write((tx) => {
      if (this.#find(caller, tx).sealed_totp !== null) throw conflict(IS_ON);
      store.updatePerson(tx, person.id, { sealed_next_totp: sealTotp(key_ring, tx, person.id, totp.secret) });
    });
    return totp;
  }

  /** Turns the second step on, and returns the recovery codes, which are not kept. Throws AppError `conflict`, `invalid`. */
  async startTotp(caller: SessionCaller, code: string, ip: string | null): Promise<string[]> {
    const { database, clock, key_ring } = this.#deps;
    const { codes, hashes } = createRecoveryCodes();
    const now = clock.now();
    await database.write((tx) => {
      const person = this.#find(caller, tx);
      if (person.sealed_totp !== null) throw conflict(IS_ON);
      const { sealed_next_totp } = person;
      if (sealed_next_totp === null) throw conflict('Ask for a secret first: POST /console/totp.');
      const secret = openTotp(key_ring, tx, person.id, sealed_next_totp);
      const totp_step = secret === null ? null : stepOfCode(person, secret, code.replace(/[\s-]/g, ''), now);
      if (totp_step === null) throw invalid({ code: ['is not the one that your app shows now'] });
      store.updatePerson(tx, person.id, {
        ...{ sealed_totp: sealed_next_totp, sealed_next_totp: null, totp_step, updated_at: now },
      });
      sessions.replaceRecoveryCodes(tx, person.id, hashes);
      audit(tx, actorOf(caller.person, ip), 'person.totp_started', person, {}, now);
    });
    return codes;
  }

  /** Turns the second step off. Throws AppError `conflict`, `invalid`, `rate_limited`. */
  async endTotp(
    caller: SessionCaller,
    input: { password: string; code: string },
    ip: string | null,
  ): Promise<void> {
    const { database, clock, key_ring, rates } = this.#deps;
    if (this.#find(caller).sealed_totp === null) throw conflict(IS_OFF);
    await this.#prove(caller, input.password, 'password');
    const now = clock.now();
    const is_right = await database.write((tx) => {
      rates.take(tx, proofsOf(caller), PROOFS);
      const person = this.#find(caller, tx);
      if (person.sealed_totp === null) throw conflict(IS_OFF);
      if (!takeCode({ tx, key_ring, now_ms: now }, person, input.code)) return false;
      rates.giveBack(tx, proofsOf(caller), PROOFS);
      store.updatePerson(tx, person.id, { sealed_totp: null, updated_at: now });
      sessions.replaceRecoveryCodes(tx, person.id, []);
      audit(tx, actorOf(caller.person, ip), 'person.totp_ended', person, {}, now);
      return true;
    });
    if (!is_right) throw invalid({ code: ['is not right, or was used before'] });
  }

  /** The caller's row, once their password was checked; counted ahead as a sign-in is. Throws AppError `invalid`. */
  async #prove(caller: SessionCaller, password: string, field: string): Promise<PersonRow> {
    const { database, rates, passwords } = this.#deps;
    const person = await database.write((tx) => {
      rates.take(tx, proofsOf(caller), PROOFS);
      return this.#find(caller, tx);
    });
    const giveBack = () => database.write((tx) => rates.giveBack(tx, proofsOf(caller), PROOFS));
    let is_right: boolean;
    try {
      is_right = await passwords.verify(person.password_hash, password);
    } catch (error) {
      await giveBack();
      throw error;
    }
    if (!is_right) throw invalid({ [field]: ['is not your password'] });
    await giveBack();
    return person;
  }

  /** Throws AppError `conflict` where the session was ended while the password was looked at. */
  #find(caller: SessionCaller, read = this.#deps.database.read): PersonRow {
    const person = store.findPerson(read, caller.person.id);
    if (!person || !sessions.hasSession(read, person.id, caller.session_id)) throw changedMeanwhile();
    return person;
  }
}

const proofsOf = (caller: SessionCaller): string => `proofs of person ${caller.person.id}`;

function changedMeanwhile() {
  return conflict('Your account was changed meanwhile. Sign in again.');
}
