/** The second step of signing in: an authenticator app's codes (RFC 6238), and recovery codes. */
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Tx } from '../../platform/database/database.ts';
import { SECOND_MS } from '../../platform/host/clock.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { hashToken } from '../../platform/secrets/token-format.ts';
import * as sessions from './session-store.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';

/**
 * Decision: after so many wrong codes since the last right one, the second step waits an hour, doubling to a
 * day. Three of a million codes are good, so guessing one takes hundreds of years.
 */
const WRONG_CODES_BEFORE_WAIT = 30;
const WRONG_CODES_WAIT_MS = 3_600_000;
const MAX_WRONG_CODES_WAIT_MS = 86_400_000;
/** Decision: ten recovery codes. 80 bits each: too many to try, even against the hash. */
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;

/** RFC 4226, 4 (R6): 160 bits. */
const TOTP_SECRET_BYTES = 20;
/** RFC 6238, 5.2: codes change each 30 s, and one step before and after is taken, for clocks that differ. */
const TOTP_PERIOD_S = 30;
const TOTP_WINDOW_STEPS = 1;

const contextOf = (person_id: number): string[] => ['person', String(person_id), 'totp'];

function totpOf(secret: string, email: string): TOTP {
  return new TOTP({
    issuer: 'Satchel',
    label: email,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: TOTP_PERIOD_S,
  });
}

/** A new secret in base32, as authenticator apps take it, and the URI for a QR code. */
export function createTotp(email: string): { secret: string; uri: string } {
  const secret = new Secret({ size: TOTP_SECRET_BYTES }).base32;
  return { secret, uri: totpOf(secret, email).toString() };
}

export function sealTotp(key_ring: KeyRing, tx: Tx, person_id: number, secret: string): string {
  return key_ring.seal(tx, PLATFORM_SCOPE, contextOf(person_id), secret);
}

/** The secret, or null where it does not decrypt: recovery codes still do. */
export function openTotp(key_ring: KeyRing, read: Tx, person_id: number, sealed: string): string | null {
  return key_ring.openText(read, sealed, contextOf(person_id));
}

/**
 * The time step of a code that is good now and unused, or null. A last step that lies ahead is ignored: the
 * clock was set back.
 */
export function stepOfCode(
  person: Pick<PersonRow, 'email' | 'totp_step'>,
  secret: string,
  code: string,
  now_ms: number,
): number | null {
  const drift = totpOf(secret, person.email).validate({
    token: code,
    timestamp: now_ms,
    window: TOTP_WINDOW_STEPS,
  });
  if (drift === null) return null;
  const current = Math.floor(now_ms / SECOND_MS / TOTP_PERIOD_S);
  const is_credible = person.totp_step <= current + TOTP_WINDOW_STEPS;
  return is_credible && current + drift <= person.totp_step ? null : current + drift;
}

/** Recovery codes to show once, such as `k7p2-m4xd-...`, and the hashes to keep. */
export function createRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const bytes = randomBytes(RECOVERY_CODE_BYTES);
    const text = new Secret({ buffer: new Uint8Array(bytes).buffer }).base32.toLowerCase();
    return text.match(/.{4}/g)?.join('-') ?? text;
  });
  return { codes, hashes: codes.map(hashOfRecoveryCode) };
}

function hashOfRecoveryCode(code: string): string {
  return hashToken(code.toLowerCase().replaceAll('-', ''));
}

/** The stored value while no wrong code came since the last right one. */
export const NO_WRONG_CODES = { wrong_codes: 0, wrong_code_at: null };

/** Milliseconds until another code of a person is looked at. 0 where the clock was set back. */
export function waitOfCodes(
  person: Pick<PersonRow, 'wrong_codes' | 'wrong_code_at'>,
  now_ms: number,
): number {
  const { wrong_codes, wrong_code_at } = person;
  if (wrong_codes < WRONG_CODES_BEFORE_WAIT || wrong_code_at === null) return 0;
  const doubled_ms = WRONG_CODES_WAIT_MS * 2 ** (wrong_codes - WRONG_CODES_BEFORE_WAIT);
  const wait_ms = Math.min(MAX_WRONG_CODES_WAIT_MS, doubled_ms);
  const left_ms = wrong_code_at + wait_ms - now_ms;
  return left_ms > wait_ms ? 0 : Math.max(0, left_ms);
}

/** Uses up a code of either kind, within the transaction of what it allows. False where it is not good. */
export function takeCode(
  deps: { tx: Tx; key_ring: KeyRing; now_ms: number },
  person: PersonRow,
  typed: string,
): boolean {
  const { tx, key_ring, now_ms } = deps;
  const code = typed.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(code)) return sessions.takeRecoveryCode(tx, person.id, hashOfRecoveryCode(code)) > 0;
  const secret = person.sealed_totp === null ? null : openTotp(key_ring, tx, person.id, person.sealed_totp);
  const totp_step = secret === null ? null : stepOfCode(person, secret, code, now_ms);
  if (totp_step === null) return false;
  store.updatePerson(tx, person.id, { totp_step });
  return true;
}
