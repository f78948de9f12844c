/** Passkeys (WebAuthn): adding and removing one's own, and signing in by them, for both steps. */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { AppError, conflict, forbidden, invalid, messageOf, notFound } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { actorOf, type SessionCaller } from '../../platform/http/callers.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import { unbracket } from '../../platform/http/hosts.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { CHALLENGE_MS, Challenges } from './challenges.ts';
import type { OwnAccount } from './own-account.ts';
import * as passkeys from './passkey-store.ts';
import type { PasskeyRecord } from './schemas.ts';
import { audit, nameOf } from './service.ts';
import { sessionBeganAt } from './session-store.ts';
import { beginSession, type SignInDeps } from './sign-in.ts';
import type { SingleSignOn } from './sso.ts';
import * as store from './store.ts';
import type { PasskeyRow, PersonRow } from './tables.ts';
import { limitsOfNetwork, recordFailure } from './tries.ts';

const MAX_PASSKEYS = 20;
/** How long a session stands for the password. */
const CONFIRMED_MS = 10 * MINUTE_MS;
const HANDLE_BYTES = 32;
/** Of what the library says of a wrong answer: it repeats what was sent. */
const MAX_REASON_CHARS = 200;
/** COSE's numbers of ES256, EdDSA and RS256. */
const ALGORITHMS = [-7, -8, -257];

const SIGNING_IN = 'sign-in';
const addingBy = ({ session_id }: SessionCaller): string => `adding by ${session_id}`;

/** Heavy to load, and few ask for it. */
const loadLibrary = () => import('./webauthn.ts');

/** What an authenticator answered, once it has been verified. */
interface Shown {
  passkey: PasskeyRow;
  challenge: string;
  counter: number;
  backed_up: boolean;
}

/** What the audit trail is told in place of whoever tried. */
interface Refused {
  person: PersonRow | null;
  reason: string;
}

/** Where a browser is. */
interface From {
  ip: string | null;
  user_agent: string | null;
}

export type PasskeysDeps = SignInDeps & {
  own_account: OwnAccount;
  sso: Pick<SingleSignOn, 'isOnly' | 'refuseOthers'>;
};

export class Passkeys {
  readonly #challenges: Challenges;
  readonly #origin: string;
  readonly #host: string;
  readonly #has_name: boolean;

  constructor(private readonly deps: PasskeysDeps) {
    const { origin, hostname } = new URL(deps.public_url);
    this.#challenges = new Challenges(deps);
    this.#origin = origin;
    this.#host = hostname;
    this.#has_name = isIP(unbracket(hostname)) === 0;
  }

  /** Whether people may sign in so here. */
  isOpen(): boolean {
    return this.#has_name && !this.deps.sso.isOnly();
  }

  /** Throws AppError `forbidden` (oidc_only), and `conflict` (passkeys_need_name) at an IP address. */
  requireOpen(): void {
    this.deps.sso.refuseOthers();
    if (this.#has_name) return;
    throw conflict(
      `No browser gives passkeys to an IP address, and SATCHEL_PUBLIC_URL is ${this.#origin}. They work where it has a name.`,
      { code: 'passkeys_need_name' },
    );
  }

  /**
   * What a browser needs to make a passkey. Throws AppError `forbidden` (confirm_first) for an older session without the password,
   * `conflict` where there are many, and as `OwnAccount.prove`.
   */
  async offer(caller: SessionCaller, password: string | undefined) {
    const { database, own_account } = this.deps;
    if (password !== undefined) await own_account.prove(caller, password, 'password');
    else this.#requireRecent(caller);
    const challenge = await this.#challenges.make(addingBy(caller));
    const { person, handle, known } = await database.write((tx) => {
      const person = own_account.find(caller, tx);
      requireRoom(tx, person);
      const handle = person.user_handle ?? randomBytes(HANDLE_BYTES).toString('base64url');
      if (person.user_handle === null) store.updatePerson(tx, person.id, { user_handle: handle });
      return { person, handle, known: passkeys.listPasskeys(tx, { person_id: person.id, ...WHOLE_LIST }) };
    });
    const { generateRegistrationOptions, isoBase64URL } = await loadLibrary();
    return generateRegistrationOptions({
      rpName: 'Satchel',
      rpID: this.#host,
      userName: person.email,
      userDisplayName: nameOf(person),
      userID: isoBase64URL.toBuffer(handle),
      challenge,
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
      supportedAlgorithmIDs: ALGORITHMS,
    });
  }

  /** Throws AppError `invalid` under `response`, and `conflict` where there are many. */
  async add(
    caller: SessionCaller,
    { name, response }: { name: string; response: unknown },
    ip: string | null,
  ): Promise<PasskeyRecord> {
    const { database, clock, own_account } = this.deps;
    const host = this.#host;
    const { challenge, ...credential } = await this.#verifyNew(caller, response);
    const now = clock.now();
    const row: PasskeyRow = {
      ...credential,
      id: newId(now),
      person_id: caller.person.id,
      name,
      host,
      created_at: now,
      last_used_at: null,
      suspected_at: null,
    };
    await database.write((tx) => {
      const person = own_account.find(caller, tx);
      requireRoom(tx, person);
      if (!this.#challenges.take(tx, challenge, addingBy(caller)))
        throw invalid({ response: ['was used before, or came too late: ask for options again'] });
      if (passkeys.findPasskey(tx, row.credential_id))
        throw invalid({ response: ['is of a passkey that is here already'] });
      passkeys.insertPasskey(tx, row);
      audit(tx, actorOf(caller.person, ip), 'person.passkey_added', person, { name, host }, now);
    });
    return present(row);
  }

  /** One page of a person's own, newest first. */
  list(caller: SessionCaller, query: PageQuery): Page<PasskeyRecord> {
    const { read } = this.deps.database;
    const { id } = caller.person;
    return paginate(query, {
      total: passkeys.countPasskeys(read, id),
      fetch: (limit, offset) => passkeys.listPasskeys(read, { person_id: id, limit, offset }),
    }).map(present);
  }

  /** Throws AppError `not_found`, for another's too. */
  async remove(caller: SessionCaller, id: string, ip: string | null): Promise<void> {
    const { database, clock, own_account } = this.deps;
    await database.write((tx) => {
      const person = own_account.find(caller, tx);
      const removed = passkeys.deletePasskey(tx, person.id, id);
      if (!removed) throw notFound('Passkey');
      audit(tx, actorOf(caller.person, ip), 'person.passkey_removed', person, removed, clock.now());
    });
  }

  /** What a browser needs to ask for any passkey of this host. */
  async ask() {
    const { generateAuthenticationOptions } = await loadLibrary();
    return generateAuthenticationOptions({
      rpID: this.#host,
      challenge: await this.#challenges.make(SIGNING_IN),
      timeout: CHALLENGE_MS,
      userVerification: 'required',
    });
  }

  /** The secret of a new session. Throws AppError `unauthenticated`, which tells nothing more, and `rate_limited`. */
  async signIn(response: unknown, from: From): Promise<string> {
    const { database, clock, tries } = this.deps;
    const network = networkOf(from.ip);
    const attempt = tries.begin(limitsOfNetwork(network));
    try {
      const shown = await this.#verify(response);
      const secret = await database.write((tx) => {
        const outcome = 'reason' in shown ? shown : this.#admit(tx, shown, { ...from, network });
        if ('secret' in outcome) return outcome.secret;
        // Nothing is thrown here: that would undo the count of this failure.
        attempt.fail(tx);
        recordFailure(tx, { ...outcome, network }, clock.now());
        return null;
      });
      if (secret === null)
        throw new AppError(
          'unauthenticated',
          'The passkey was not accepted. Try again, or sign in otherwise.',
        );
      return secret;
    } finally {
      attempt.end();
    }
  }

  /** Forgets used challenges that have ended. */
  sweep(): Promise<number> {
    const { database, clock } = this.deps;
    return database.write((tx) => passkeys.deleteEndedChallenges(tx, clock.now()));
  }

  /** Passkeys that doctor tells of: those of another host, and those that there may be a copy of. */
  listTroubles() {
    const { read } = this.deps.database;
    return {
      host: this.#host,
      elsewhere: passkeys.listPasskeysElsewhere(read, this.#host),
      suspected: passkeys.listSuspectedPasskeys(read),
    };
  }

  #requireRecent({ person, session_id }: SessionCaller): void {
    const { database, clock } = this.deps;
    const began_at = sessionBeganAt(database.read, person.id, session_id) ?? 0;
    if (clock.now() - began_at < CONFIRMED_MS) return;
    throw forbidden('Give your password, or sign in again: this session began more than ten minutes ago.', {
      code: 'confirm_first',
    });
  }

  async #verifyNew(caller: SessionCaller, value: unknown) {
    const { decodeAttestationObject, isoBase64URL, verifyRegistrationResponse } = await loadLibrary();
    const told = readCredential(value);
    const { clientDataJSON, attestationObject } = told.response;
    let challenge = '';
    try {
      const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
      const fmt = attestation.get('fmt');
      // Certificates of makers, which nobody asked for, would have the library fetch what they name.
      if (fmt !== 'none' && (fmt !== 'packed' || attestation.get('attStmt').get('x5c')))
        throw new Error('it has an attestation');
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { ...told, response: { clientDataJSON, attestationObject } },
        expectedChallenge: (given) => {
          challenge = given;
          return this.#challenges.isGood(given, addingBy(caller));
        },
        expectedOrigin: this.#origin,
        expectedRPID: this.#host,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified) throw new Error('its signature is wrong');
      const { credential, credentialBackedUp: backed_up } = registrationInfo;
      const { id: credential_id, publicKey, counter } = credential;
      return { challenge, credential_id, public_key: isoBase64URL.fromBuffer(publicKey), counter, backed_up };
    } catch {
      const wrong = `is not what a browser answers at ${this.#origin} to options of the last five minutes`;
      throw invalid({ response: [wrong] });
    }
  }

  async #verify(value: unknown): Promise<Shown | Refused> {
    const { isoBase64URL, verifyAuthenticationResponse } = await loadLibrary();
    const { read } = this.deps.database;
    const told = readCredential(value);
    const passkey = passkeys.findPasskey(read, told.id);
    const person = passkey && store.findPerson(read, passkey.person_id);
    if (!passkey || !person) return { person: null, reason: 'nobody here has the passkey' };
    const { clientDataJSON, authenticatorData, signature, userHandle } = told.response;
    // The library does not look at it.
    if (userHandle !== person.user_handle)
      return { person, reason: 'the user handle is not that of its person' };
    let challenge = '';
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...told, response: { clientDataJSON, authenticatorData, signature, userHandle } },
        expectedChallenge: (given) => {
          challenge = given;
          return this.#challenges.isGood(given, SIGNING_IN);
        },
        expectedOrigin: this.#origin,
        expectedRPID: this.#host,
        // The counter is looked at in the transaction that notes it.
        credential: {
          id: passkey.credential_id,
          publicKey: isoBase64URL.toBuffer(passkey.public_key),
          counter: 0,
        },
        requireUserVerification: true,
      });
      if (!verified) return { person, reason: 'the signature is wrong' };
      const { newCounter: counter, credentialBackedUp: backed_up } = authenticationInfo;
      return { passkey, challenge, counter, backed_up };
    } catch (error) {
      return { person, reason: messageOf(error).slice(0, MAX_REASON_CHARS) };
    }
  }

  #admit(
    tx: Tx,
    { passkey: { credential_id }, challenge, counter, backed_up }: Shown,
    from: From & { network: string },
  ): { secret: string } | Refused {
    const now_ms = this.deps.clock.now();
    const passkey = passkeys.findPasskey(tx, credential_id);
    const person = passkey && store.findPerson(tx, passkey.person_id);
    if (!passkey || !person) return { person: null, reason: 'the passkey was removed meanwhile' };
    if (!person.is_active) return { person, reason: 'the person is inactive' };
    if (!this.#challenges.take(tx, challenge, SIGNING_IN))
      return { person, reason: 'the challenge was used before, or has ended' };
    const { id, name } = passkey;
    if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) {
      passkeys.suspectPasskey(tx, { id, now_ms });
      const reason = `the counter of the passkey ${name} did not go forward: there may be a copy of it`;
      return { person, reason };
    }
    passkeys.notePasskeyUse(tx, { id, counter, backed_up: backed_up ? 1 : 0, now_ms });
    return { secret: beginSession(tx, person, { by: 'passkey', ...from }, now_ms) };
  }
}

/** Throws AppError `conflict`. */
function requireRoom(tx: Tx, person: PersonRow): void {
  if (passkeys.countPasskeys(tx, person.id) < MAX_PASSKEYS) return;
  throw conflict(
    `You have ${MAX_PASSKEYS} passkeys, and more there can't be. Remove one that you do not use.`,
  );
}

/** What a browser sent of a credential, each part as a text; what is none is empty, which nothing accepts. */
function readCredential(value: unknown) {
  const told = isPlainObject(value) ? value : {};
  const response = isPlainObject(told.response) ? told.response : {};
  const textOf = (part: unknown): string => (typeof part === 'string' ? part : '');
  return {
    id: textOf(told.id),
    rawId: textOf(told.rawId),
    type: 'public-key' as const,
    clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      userHandle: textOf(response.userHandle),
    },
  };
}

function present({ id, name, host, backed_up, created_at, last_used_at }: PasskeyRow): PasskeyRecord {
  return { id, name, host, backed_up, created_at: toIso(created_at), last_used_at: toIso(last_used_at) };
}
