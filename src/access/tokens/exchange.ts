/** The exchange of an OIDC token, by which a machine proves who it is, for an access token of some minutes. */
import type { JWTPayload } from 'jose';
import { AppError } from '../../errors.ts';
import { countInAudit, listAudit, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import { SYSTEM } from '../../platform/http/callers.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import type { Outside } from '../../platform/http/outside.ts';
import { type DurableRates, type Rate, RateLimitError } from '../../platform/http/rate-limit.ts';
import { IssuerKeys, KeysAway } from './issuer-keys.ts';
import { fits, misfitOf } from './patterns.ts';
import type { Tokens } from './service.ts';
import type { TrustRow } from './tables.ts';
import type { TokenExchangeInput } from './trust-schemas.ts';
import * as store from './trust-store.ts';

const MAX_TOKEN_BYTES = 16 * 1024;
/** With a name and what JSON needs besides. */
export const MAX_EXCHANGE_BYTES = 2 * MAX_TOKEN_BYTES;
const MAX_SUBJECT_CHARS = 1_000;
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const TOLERANCE_S = 60;
const FAILURES: Rate = { limit: 30, per: 'quarter', what: 'Refused tokens from your network' };
const EVENT = 'token_trust.refused';
const WINDOW_MS = 15 * MINUTE_MS;
const RETRY_AFTER_S = 10;

/** Why there is no access token, for the audit trail. */
class Refusal extends Error {
  constructor(
    readonly reason: string,
    /** The one that refuses it; null where it may be any or none. */
    readonly trust: TrustRow | null,
    /** Known where the signature was right. */
    readonly subject: string | null = null,
    readonly is_away = false,
  ) {
    super(reason);
  }
}

interface TokenExchangeDeps extends Outside {
  config: { public_url: string };
  database: Database;
  clock: Clock;
  rates: DurableRates;
  tokens: Pick<Tokens, 'issue'>;
}

export class TokenExchange {
  readonly #keys: IssuerKeys;

  constructor(private readonly deps: TokenExchangeDeps) {
    this.#keys = new IssuerKeys(deps);
  }

  /**
   * An access token for an OIDC token that fits a trust. Throws AppError `unauthenticated` in the same words whatever is wrong,
   * `unavailable` where the issuer's keys can't be had, and `rate_limited`.
   */
  async exchange(
    input: TokenExchangeInput,
    ip: string | null,
  ): Promise<{ access_token: string; expires_at: string }> {
    const { database, rates, clock } = this.deps;
    const network = networkOf(ip);
    const state = rates.peek(database.read, counterOf(network), FAILURES);
    if (state.remaining === 0) throw new RateLimitError(FAILURES, state);
    try {
      const { trust, subject } = await this.#verify(input);
      return await database.write((tx) => {
        // It may have been removed while the issuer was asked.
        const current = store.findTrust(tx, trust.id);
        if (!current) throw new Refusal('the trust was removed', null, subject);
        const issued = this.deps.tokens.issue(tx, current, { subject, ip });
        if (!issued) throw new Refusal('none of its projects is left', current, subject);
        store.noteUse(tx, { id: trust.id, now_ms: clock.now() });
        return { access_token: issued.access_token, expires_at: toIso(issued.expires_at) };
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await database.write((tx) => this.#note(tx, error, network));
      throw error.is_away
        ? new AppError('unavailable', 'The keys of the issuer of this token can not be had at present.', {
            retry_after_s: RETRY_AFTER_S,
          })
        : new AppError('unauthenticated', 'This token is not accepted; the audit trail says why.');
    }
  }

  /** Which trust a token fits, and whose it is. Throws Refusal. */
  async #verify({ token, trust: name }: TokenExchangeInput): Promise<{ trust: TrustRow; subject: string }> {
    if (Buffer.byteLength(token) > MAX_TOKEN_BYTES) throw new Refusal('it is larger than 16 KiB', null);
    const issuer = await issuerOf(token);
    const trusts = store
      .listTrustsIn(this.deps.database.read, issuer)
      .filter((trust) => name === undefined || trust.name === name);
    if (trusts.length === 0)
      throw new Refusal(`no trust ${name === undefined ? '' : 'of this name '}has its issuer`, null);
    const only = trusts.length === 1 ? (trusts[0] ?? null) : null;
    const claims = await this.#claimsOf(token, issuer, only);
    const { sub } = claims;
    if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_CHARS)
      throw new Refusal(`its subject is no text of 1 to ${MAX_SUBJECT_CHARS} characters`, only);
    const tried = trusts.map((trust) => ({
      trust,
      misfit: misfitOf(trust, trust.audience ?? this.deps.config.public_url, claims),
    }));
    const fitting = tried.find(({ misfit }) => misfit === null);
    if (fitting) return { trust: fitting.trust, subject: sub };
    // Where several were meant, the one that is for this subject.
    const nearest = only ? tried[0] : tried.find(({ trust }) => fits(trust.subject, sub));
    throw new Refusal(nearest?.misfit ?? 'its subject fits no trust', nearest?.trust ?? null, sub);
  }

  /** What a token says, once it is known to be of its issuer and good now. Throws Refusal. */
  async #claimsOf(token: string, issuer: string, only: TrustRow | null): Promise<JWTPayload> {
    const { jwtVerify, errors } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, this.#keys.of(issuer), {
        algorithms: ALGORITHMS,
        issuer,
        clockTolerance: TOLERANCE_S,
        requiredClaims: ['exp'],
        currentDate: new Date(this.deps.clock.now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof KeysAway)
        throw new Refusal(`the keys of ${issuer}: ${error.message}`, only, null, true);
      const is_of_claims =
        error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
      const { sub } = is_of_claims ? error.payload : {};
      const subject = typeof sub === 'string' ? sub.slice(0, MAX_SUBJECT_CHARS) : null;
      const code = error instanceof errors.JOSEError ? error.code : '';
      const claim = is_of_claims ? error.claim : '';
      throw new Refusal(
        WORDS_OF_CLAIMS[claim] ?? WORDS[code] ?? "its signature can't be checked",
        only,
        subject,
      );
    }
  }

  /** Counts a refusal, and puts it on the audit trail: a row for a trust, else a network, and a quarter of an hour. */
  #note(tx: Tx, { reason, trust, subject, is_away }: Refusal, network: string): void {
    const now_ms = this.deps.clock.now();
    // That an issuer is away is nobody's fault.
    if (!is_away) this.deps.rates.take(tx, counterOf(network), FAILURES);
    const target = trust ? `token_trust:${trust.id}` : `network:${network}`;
    const window = { since_ms: now_ms - WINDOW_MS + 1, until_ms: now_ms + 1 };
    const [row] = listAudit(tx, { event: EVENT, target, ...window }, 1, 0);
    const metadata = {
      ...(trust && { name: trust.name }),
      network,
      reason,
      ...(subject === null ? {} : { subject }),
      count: Number(row?.metadata.count ?? 0) + 1,
    };
    if (row) countInAudit(tx, row.id, metadata);
    else recordAudit(tx, SYSTEM, { event: EVENT, target, project: null, metadata }, now_ms);
    if (trust) store.noteRefusal(tx, { id: trust.id, now_ms, reason, subject });
  }
}

const counterOf = (network: string): string => `tokens exchanged from ${network}`;

/** By the code of jose's error. */
const WORDS: Readonly<Record<string, string>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  ERR_JWKS_NO_MATCHING_KEY: 'no key of its issuer signed it',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'it does not say which key of its issuer signed it',
  ERR_JOSE_ALG_NOT_ALLOWED: `its alg is none of ${ALGORITHMS.join(', ')}`,
};
const WORDS_OF_CLAIMS: Readonly<Record<string, string>> = {
  exp: 'it has expired, or says not when',
  nbf: 'it is not good yet',
  iat: 'its iat is no number',
};

/** The issuer that a token names, whoever made it. Throws Refusal. */
async function issuerOf(token: string): Promise<string> {
  const { decodeJwt } = await import('jose');
  try {
    const { iss } = decodeJwt(token);
    if (typeof iss === 'string') return iss;
  } catch {}
  throw new Refusal('it is no token that names its issuer', null);
}
