/** The public keys of issuers, as their discovery names them. They are asked for as webhooks go out. */
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { messageOf } from '../../errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import { askOutside, type Outside } from '../../platform/http/outside.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

const KEPT_MS = 10 * MINUTE_MS;
/** An unknown key may be a new one, or a stranger's: so often it is looked for. */
const LOOK_AGAIN_MS = 30 * SECOND_MS;
const FAILURE_KEPT_MS = 5 * SECOND_MS;

/** Why the keys of an issuer can't be had. */
export class KeysAway extends Error {}

interface Asked {
  keys: Promise<JWTVerifyGetKey>;
  at_ms: number;
  has_failed: boolean;
}

export class IssuerKeys {
  readonly #newest = new Map<string, Asked>();
  /** The newest that came. They go on while newer ones are looked for: whoever has a stranger's key sets that off. */
  readonly #came = new Map<string, Asked>();

  constructor(private readonly deps: Outside & { clock: Clock }) {}

  /** Finds the key that signed a token of this issuer. It throws KeysAway, and as jose's own. */
  of(issuer: string): JWTVerifyGetKey {
    return async (header, token) => {
      const { errors } = await import('jose');
      const came = this.#came.get(issuer);
      const known =
        came && this.#isWithin(came, KEPT_MS) ? came : this.#ask(issuer, KEPT_MS, FAILURE_KEPT_MS);
      try {
        return await (await known.keys)(header, token);
      } catch (error) {
        const newer = error instanceof errors.JWKSNoMatchingKey ? this.#ask(issuer, LOOK_AGAIN_MS) : known;
        if (newer === known) throw error;
        return await (await newer.keys)(header, token);
      }
    };
  }

  /** Keys that were asked for within this time, else anew: once, whoever asks meanwhile. */
  #ask(issuer: string, within_ms: number, failed_within_ms = within_ms): Asked {
    const newest = this.#newest.get(issuer);
    if (newest && this.#isWithin(newest, newest.has_failed ? failed_within_ms : within_ms)) return newest;
    const asked: Asked = {
      keys: this.#fetchKeys(issuer),
      at_ms: this.deps.clock.now(),
      has_failed: false,
    };
    this.#newest.set(issuer, asked);
    asked.keys.then(
      () => this.#came.set(issuer, asked),
      () => {
        asked.has_failed = true;
      },
    );
    return asked;
  }

  #isWithin({ at_ms }: Asked, within_ms: number): boolean {
    const age_ms = this.deps.clock.now() - at_ms;
    return age_ms >= 0 && age_ms < within_ms;
  }

  async #fetchKeys(issuer: string): Promise<JWTVerifyGetKey> {
    const discovered = await this.#get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (discovered.issuer !== issuer) throw new KeysAway('its discovery names another issuer');
    if (typeof discovered.jwks_uri !== 'string') throw new KeysAway('its discovery names no keys');
    const told = await this.#get(discovered.jwks_uri);
    const { createLocalJWKSet } = await import('jose');
    try {
      return createLocalJWKSet(keySetOf(told));
    } catch (error) {
      throw new KeysAway(`its keys can't be read: ${messageOf(error)}`);
    }
  }

  /** The object that an address answers with. Throws KeysAway. */
  async #get(address: string): Promise<Record<string, unknown>> {
    if (!URL.canParse(address)) throw new KeysAway('its discovery names no address of keys');
    const url = new URL(address);
    const answer = await askOutside(this.deps, url, { headers: { Accept: 'application/json' } }).catch(
      (error: unknown) => {
        throw new KeysAway(messageOf(error));
      },
    );
    if (answer.status !== 200) throw new KeysAway(`${url.host} answered ${answer.status}`);
    const said: unknown = await answer.json().catch(() => null);
    if (!isPlainObject(said)) throw new KeysAway(`${url.host} answered with what is no JSON object`);
    return said;
  }
}

function keySetOf({ keys }: Record<string, unknown>): JSONWebKeySet {
  const told: unknown[] = Array.isArray(keys) ? keys : [];
  return {
    keys: told
      .filter(isPlainObject)
      .flatMap((key) => (typeof key.kty === 'string' ? [{ ...key, kty: key.kty }] : [])),
  };
}
