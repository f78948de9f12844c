/** People's changes of their own account, password and second step; each asks for the password again. */
import { conflict, invalid, toDo } from '../../errors.ts';
import { actorOf, type SessionCaller } from '../../platform/http/callers.ts';
import {
  createRecoveryCodes,
  createTotp,
  NO_WRONG_CODES,
  openTotp,
  sealTotp,
  stepOfCode,
  takeCode,
} from './second-step.ts';
import { audit, type People } from './service.ts';
import * as sessions from './session-store.ts';
import type { SignInDeps } from './sign-in.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';
import { limitsOfProof } from './tries.ts';

const IS_ON = 'The second step is on already. Turn it off first.';
const IS_OFF = 'The second step is not on.';

export class OwnAccount {
  constructor(private readonly deps: SignInDeps & { people: People }) {}

  /** The caller's own record, with what a page needs besides. */
  show(caller: SessionCaller) {
    const { people, database } = this.deps;
    const recovery_codes_left = sessions.countRecoveryCodes(database.read, caller.person.id);
    const { session_id } = caller;
    return { ...people.present(this.find(caller)), session_id, recovery_codes_left };
  }

  /** Sets a password, ends the other sessions. Throws AppError `invalid`, `rate_limited`, `unavailable`. */
  async changePassword(
    caller: SessionCaller,
    input: { current_password: string; password: string },
    ip: string | null,
  ): Promise<void> {
    const { database, clock, passwords } = this.deps;
    const person = await this.prove(caller, input.current_password, 'current_password');
    await passwords.requireStrong(input.password, person);
    const password_hash = await passwords.hash(input.password);
    const now = clock.now();
    await database.write((tx) => {
      const current = this.find(caller, tx);
      if (current.password_hash !== person.password_hash) throw changedMeanwhile();
      store.updatePerson(tx, person.id, { password_hash, updated_at: now });
      const ended = sessions.deleteSessionsOf(tx, person.id, caller.session_id);
      audit(tx, actorOf(caller.person, ip), 'person.password_changed', person, { sessions: ended }, now);
    });
  }

  /**
   * A secret for an authenticator app, in force after its first code. Throws AppError `conflict`, `invalid`.
   */
  async offerTotp(caller: SessionCaller, password: string): Promise<{ secret: string; uri: string }> {
    const { database, key_ring } = this.deps;
    const person = await this.prove(caller, password, 'password');
    const totp = createTotp(person.email);
    await database.write((tx) => {
      if (this.find(caller, tx).sealed_totp !== null) throw conflict(IS_ON);
      store.updatePerson(tx, person.id, { sealed_next_totp: sealTotp(key_ring, tx, person.id, totp.secret) });
    });
    return totp;
  }

  /**
   * Turns the second step on; returns recovery codes, kept nowhere. Throws AppError `conflict`, `invalid`.
   */
  async startTotp(caller: SessionCaller, code: string, ip: string | null): Promise<string[]> {
    const { database, clock, key_ring } = this.deps;
    const { codes, hashes } = createRecoveryCodes();
    const now = clock.now();
    await database.write((tx) => {
      const person = this.find(caller, tx);
      if (person.sealed_totp !== null) throw conflict(IS_ON);
      const { sealed_next_totp } = person;
      if (sealed_next_totp === null)
        throw conflict('Ask for a secret first: POST /console/totp.', {
          remedy: toDo('account', 'POST /console/totp'),
        });
      const secret = openTotp(key_ring, tx, person.id, sealed_next_totp);
      const totp_step = secret === null ? null : stepOfCode(person, secret, code.replace(/[\s-]/g, ''), now);
      if (totp_step === null) throw invalid({ code: ['is not the one that your app shows now'] });
      store.updatePerson(tx, person.id, {
        sealed_totp: sealed_next_totp,
        sealed_next_totp: null,
        totp_step,
        ...NO_WRONG_CODES,
        updated_at: now,
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
    const { database, clock, key_ring, tries } = this.deps;
    if (this.find(caller).sealed_totp === null) throw conflict(IS_OFF);
    await this.prove(caller, input.password, 'password');
    const now = clock.now();
    const attempt = tries.begin(limitsOfProof(caller.person.id));
    try {
      const is_right = await database.write((tx) => {
        const person = this.find(caller, tx);
        if (person.sealed_totp === null) throw conflict(IS_OFF);
        if (!takeCode({ tx, key_ring, now_ms: now }, person, input.code)) {
          attempt.fail(tx);
          return false;
        }
        store.updatePerson(tx, person.id, { sealed_totp: null, ...NO_WRONG_CODES, updated_at: now });
        sessions.replaceRecoveryCodes(tx, person.id, []);
        audit(tx, actorOf(caller.person, ip), 'person.totp_ended', person, {}, now);
        return true;
      });
      if (!is_right) throw invalid({ code: ['is not right, or was used before'] });
    } finally {
      attempt.end();
    }
  }

  /** Checks the password and returns the row. Throws AppError `invalid`, `rate_limited`, `unavailable`. */
  async prove(caller: SessionCaller, password: string, field: string): Promise<PersonRow> {
    const { database, passwords, tries } = this.deps;
    const person = this.find(caller);
    const attempt = tries.begin(limitsOfProof(person.id));
    try {
      if (await passwords.verify(person.password_hash, password)) return person;
      await database.write((tx) => attempt.fail(tx));
      throw invalid({ [field]: ['is not your password'] });
    } finally {
      attempt.end();
    }
  }

  /** Throws AppError `conflict` where the session was ended while the password was being checked. */
  find(caller: SessionCaller, read = this.deps.database.read): PersonRow {
    const person = store.findPerson(read, caller.person.id);
    if (!person || !sessions.hasSession(read, person.id, caller.session_id)) throw changedMeanwhile();
    return person;
  }
}

function changedMeanwhile() {
  return conflict('Your account was changed meanwhile. Sign in again.');
}
