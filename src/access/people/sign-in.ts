/** Signing in: limits before the password, unknown names take as long, no stranger locks anybody out. */
import { AppError, toDo } from '../../errors.ts';
import { MAX_USER_AGENT_CHARS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { createSecret, hashToken } from '../../platform/secrets/token-format.ts';
import type { Passwords } from './passwords.ts';
import { NO_WRONG_CODES, takeCode, waitOfCodes } from './second-step.ts';
import { audit, nameOf, type PeopleDeps } from './service.ts';
import * as sessions from './session-store.ts';
import * as store from './store.ts';
import type { PersonRow, SessionRow } from './tables.ts';
import {
  type Limit,
  limitsOfNobody,
  limitsOfStranger,
  limitsWhereKnown,
  recordFailure,
  type Tries,
  type Try,
} from './tries.ts';

/** Networks that a person has signed in from, the newest ones: home, work, phone, travels. */
const MAX_KNOWN_NETWORKS = 50;

interface SignInInput {
  email: string;
  password: string;
  code?: string | undefined;
  ip: string | null;
  user_agent: string | null;
}

export type SignInDeps = PeopleDeps & { passwords: Passwords; tries: Tries };

/** Who is meant by what was typed, and where from. */
interface Meant {
  /** Null where nobody has the address. */
  person: PersonRow | null;
  network: string;
  limits: Limit[];
}

export class SignIn {
  constructor(private readonly deps: SignInDeps) {}

  /**
   * The secret of a new session. Throws AppError `unauthenticated`, which tells nothing more; but with
   * `second_step` where the password is right and a code is missing (no failure) or wrong. Throws
   * `rate_limited` and `unavailable`, too.
   */
  async signIn(input: SignInInput): Promise<string> {
    const { database, passwords, tries } = this.deps;
    const meant = this.#readMeant(input);
    const { person } = meant;
    const attempt = tries.begin(meant.limits);
    try {
      const is_right = await passwords.verify(person?.password_hash ?? null, input.password);
      if (!is_right || !person?.is_active) {
        await database.write((tx) => this.#fail(tx, meant, attempt, false));
        throw refused();
      }
      const outcome = await database.write((tx) => this.#admit(tx, person, meant, input, attempt));
      if ('secret' in outcome) return outcome.secret;
      throw outcome.refusal;
    } finally {
      attempt.end();
    }
  }

  #readMeant({ email: typed, ip }: SignInInput): Meant {
    const { read } = this.deps.database;
    const network = networkOf(ip);
    const address = parseAddress(typed.trim())?.address ?? null;
    const person = address === null ? null : store.findPersonByEmail(read, address);
    if (!person)
      return { person, network, limits: limitsOfNobody(foldAscii(address ?? typed.trim()), network) };
    const is_known = sessions.isKnownNetwork(read, person.id, network);
    return { person, network, limits: (is_known ? limitsWhereKnown : limitsOfStranger)(person.id, network) };
  }

  #fail(tx: Tx, { person, network }: Meant, attempt: Try, is_wrong_code: boolean): void {
    const locks_out = attempt.fail(tx);
    recordFailure(tx, { person, network, is_wrong_code, locks_out }, this.deps.clock.now());
  }

  /** Returns a refusal instead of throwing it: a throw would undo the count of this failure. */
  #admit(
    tx: Tx,
    checked: PersonRow,
    meant: Meant,
    { code, ip, user_agent }: SignInInput,
    attempt: Try,
  ): { secret: string } | { refusal: AppError } {
    const { clock, key_ring } = this.deps;
    const { network } = meant;
    const now = clock.now();
    const person = store.findPerson(tx, checked.id);
    // Reset, changed or made inactive while the password was being checked.
    if (!person?.is_active || person.password_hash !== checked.password_hash) {
      this.#fail(tx, meant, attempt, false);
      return { refusal: refused() };
    }
    if (person.sealed_totp !== null) {
      if (code === undefined || code.trim() === '')
        return { refusal: secondStep('Give the code of your authenticator app too, or a recovery code.') };
      // No code was given, so this is no failure.
      const wait_ms = sessions.isKnownNetwork(tx, person.id, network) ? 0 : waitOfCodes(person, now);
      if (wait_ms > 0) return { refusal: tooManyCodes(wait_ms) };
      if (!takeCode({ tx, key_ring, now_ms: now }, person, code)) {
        this.#fail(tx, meant, attempt, true);
        store.updatePerson(tx, person.id, { wrong_codes: person.wrong_codes + 1, wrong_code_at: now });
        return { refusal: secondStep('The code is not right, or was used before.') };
      }
    }
    store.updatePerson(tx, person.id, NO_WRONG_CODES);
    const secret = beginSession(tx, person, { by: 'password', network, ip, user_agent }, now);
    return { secret };
  }
}

/** How somebody has shown who they are. */
export type SignedInBy = SessionRow['signed_in_by'];

/** Signs a person in, within the transaction that has found that they may, and returns the secret of the session. */
export function beginSession(
  tx: Tx,
  person: PersonRow,
  from: { by: SignedInBy; network: string; ip: string | null; user_agent: string | null },
  now_ms: number,
): string {
  const { by, network, ip, user_agent } = from;
  sessions.rememberNetwork(tx, { person_id: person.id, network, now_ms, max: MAX_KNOWN_NETWORKS });
  store.updatePerson(tx, person.id, { last_sign_in_at: now_ms });
  const secret = createSecret();
  sessions.insertSession(tx, {
    id: newId(now_ms),
    token_hash: hashToken(secret),
    person_id: person.id,
    ip,
    user_agent: user_agent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
    signed_in_by: by,
    created_at: now_ms,
    last_seen_at: now_ms,
  });
  const actor = { kind: 'person', id: String(person.id), name: nameOf(person), ip } as const;
  audit(tx, actor, 'person.signed_in', person, { by }, now_ms);
  return secret;
}

/** Lower case as SQLite compares addresses, ASCII letters only: the Kelvin sign is no k. */
function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function refused(): AppError {
  return new AppError('unauthenticated', 'The address or the password is not right.');
}

function secondStep(message: string): AppError {
  return new AppError('unauthenticated', message, { details: { second_step: true } });
}

function tooManyCodes(wait_ms: number): AppError {
  const retry_after_s = Math.ceil(wait_ms / SECOND_MS);
  const minutes = Math.ceil(wait_ms / MINUTE_MS);
  return new AppError(
    'rate_limited',
    `Too many wrong codes were given: the second step waits for ${minutes} minutes more. You can sign in now from where you did ` +
      'before, or have yourself reset:',
    { retry_after_s, remedy: toDo('person', 'satchel person reset EMAIL') },
  );
}
