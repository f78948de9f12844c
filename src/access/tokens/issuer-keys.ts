/** The public keys of issuers, as their discovery names them. They are asked for as webhooks go out. */
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { messageOf } from '../../errors.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import { type Destinations, hostOf } from '../../platform/http/destinations.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { Sender } from '../../platform/http/sender.ts';

const KEPT_MS = 10 * MINUTE_MS;
/** An unknown key may be a new one, or a stranger's: so often it is looked for. */
const LOOK_AGAIN_MS = 30 * SECOND_MS;
const FAILURE_KEPT_MS = 5 * SECOND_MS;
const FETCH_MS = 10 * SECOND_MS;

/** Why the keys of an issuer can't be had. */
export class KeysAway extends Error {}

interface Asked {
  keys: Promise<JWTVerifyGetKey>;
  at_ms: number;
  has_failed: boolean;
}

interface IssuerKeysDeps {
  clock: Clock;
  destinations: Pick<Destinations, 'find'>;
  sender: Pick<Sender, 'sendToFirst'>;
}

export class IssuerKeys {
  readonly #asked = new Map<string, Asked>();

  constructor(private readonly deps: IssuerKeysDeps) {}

  /** Finds the key that signed a token of this issuer. It throws KeysAway, and as jose's own. */
  of(issuer: string): JWTVerifyGetKey {
    return async (header, token) => {
      const { errors } = await import('jose');
      const known = this.#ask(issuer, KEPT_MS);
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
  #ask(issuer: string, within_ms: number): Asked {
    const now = this.deps.clock.now();
    const known = this.#asked.get(issuer);
    const age_ms = now - (known?.at_ms ?? 0);
    if (known && age_ms >= 0 && age_ms < (known.has_failed ? FAILURE_KEPT_MS : within_ms)) return known;
    const asked: Asked = { keys: this.#fetchKeys(issuer), at_ms: now, has_failed: false };
    this.#asked.set(issuer, asked);
    asked.keys.catch(() => {
      asked.has_failed = true;
    });
    return asked;
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

  /** The object that is answered to a GET. Follows no redirect. Throws KeysAway. */
  async #get(address: string): Promise<Record<string, unknown>> {
    if (!URL.canParse(address)) throw new KeysAway('its discovery names no address of keys');
    const url = new URL(address);
    const destination = await this.deps.destinations.find(url);
    if ('refusal' in destination) throw new KeysAway(`${url.host} was not asked: ${destination.refusal}`);
    const is_tls = url.protocol === 'https:';
    const head = [`GET ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`, 'Connection: close'];
    const answer = await this.deps.sender.sendToFirst(destination.addresses, {
      port: Number(url.port || (is_tls ? 443 : 80)),
      certified_name: is_tls ? hostOf(url) : null,
      message: `${head.join('\r\n')}\r\nAccept: application/json\r\n\r\n`,
      timeout_ms: FETCH_MS,
    });
    if ('failure' in answer) throw new KeysAway(`${url.host} gave no answer: ${answer.failure}`);
    if (answer.status !== 200) throw new KeysAway(`${url.host} answered ${answer.status}`);
    if (answer.said.is_cut)
      throw new KeysAway(`${url.host} did not end its answer in time, or within 64 KiB`);
    const said = parsed(answer.said.body);
    if (!isPlainObject(said)) throw new KeysAway(`${url.host} answered with what is no JSON object`);
    return said;
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
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
