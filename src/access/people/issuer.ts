/** The issuer of single sign-on (OpenID Connect): where people are led to, and whom it says that they are. */
import type * as Library from 'openid-client';
import type { OidcSettings } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import { type Clock, MINUTE_MS } from '../../platform/host/clock.ts';
import { askOutside, type Outside, OutsideError } from '../../platform/http/outside.ts';
import type { PersonRow } from './tables.ts';

/** Decision: how long what discovery said is kept. Keys are kept for one sign-in. */
const DISCOVERY_KEPT_MS = MINUTE_MS;
/** Longer than what `askOutside` allows itself: that one says better what was wrong. */
const LIBRARY_TIMEOUT_S = 30;
const MAX_SUBJECT_CHARS = 255;
const MAX_REASON_CHARS = 200;

/** What has to be remembered between leading somebody to the issuer and their return. */
export interface Remembered {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the issuer tells of somebody; `is_verified`: that the address is theirs. */
export interface Description {
  email: string | null;
  is_verified: boolean;
  name: string | null;
}

/** Whom the issuer says that somebody is. */
export interface Identity {
  subject: string;
  /** Asked for where it is needed: it may take another request. Throws SsoFailure. */
  describe(): Promise<Description>;
}

/** Why nobody came in: for the audit trail, strangers are told one word. */
export class SsoFailure extends Error {
  constructor(
    readonly kind: 'refused' | 'failed' | 'away',
    message: string,
    /** Whose row of the audit trail tells it. */
    readonly person: PersonRow | null = null,
  ) {
    super(message);
  }
}

export class Issuer {
  /** As people's rows have it: a slash at its end does not matter. */
  readonly id: string;
  #discovered: { metadata: Promise<Library.ServerMetadata>; at_ms: number } | null = null;

  constructor(
    private readonly deps: Outside & { clock: Clock; settings: OidcSettings; callback_url: string },
  ) {
    this.id = deps.settings.issuer.replace(/\/+$/, '');
  }

  /** Where somebody is led to. Throws SsoFailure. */
  lead(): Promise<{ url: URL; remembered: Remembered }> {
    return explaining(async () => {
      const client = await import('openid-client');
      const config = await this.#configure(client);
      const remembered = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: this.deps.callback_url,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(remembered.verifier),
        code_challenge_method: 'S256',
        state: remembered.state,
        nonce: remembered.nonce,
      });
      return { url, remembered };
    });
  }

  /** Whom the issuer says that came back with this query. Throws SsoFailure. */
  identify(search: string, { state, nonce, verifier }: Remembered): Promise<Identity> {
    return explaining(async () => {
      const client = await import('openid-client');
      const config = await this.#configure(client);
      const tokens = await client.authorizationCodeGrant(config, new URL(this.deps.callback_url + search), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      const subject = claims?.sub ?? '';
      if (!claims || subject === '' || subject.length > MAX_SUBJECT_CHARS)
        throw new SsoFailure('failed', `its sub is not of 1 to ${MAX_SUBJECT_CHARS} characters`);
      const describe = async (): Promise<Description> => {
        if (claims.email !== undefined || !config.serverMetadata().userinfo_endpoint)
          return describedBy(claims);
        return describedBy(await client.fetchUserInfo(config, tokens.access_token, subject));
      };
      return { subject, describe: () => explaining(describe) };
    });
  }

  /** Asks the issuer anew what it says of itself. Throws SsoFailure. */
  async discover(): Promise<void> {
    await explaining(async () => this.#askMetadata(await import('openid-client')));
  }

  /** A client of its own for each sign-in, so that a new key of the issuer counts at once. */
  async #configure(client: typeof Library): Promise<Library.Configuration> {
    const { client_id, client_secret } = this.deps.settings;
    const metadata = await this.#metadata(client);
    const methods = metadata.token_endpoint_auth_methods_supported;
    const is_by_post = Array.isArray(methods) && !methods.includes('client_secret_basic');
    const proof = is_by_post ? client.ClientSecretPost : client.ClientSecretBasic;
    const config = new client.Configuration(metadata, client_id, client_secret, proof(client_secret));
    for (const each of this.#options(client).execute) each(config);
    config[client.customFetch] = this.#fetch;
    config.timeout = LIBRARY_TIMEOUT_S;
    return config;
  }

  /** Asked once at a time, however many want it. */
  #metadata(client: typeof Library): Promise<Library.ServerMetadata> {
    const now = this.deps.clock.now();
    const kept = this.#discovered;
    if (kept && Math.abs(now - kept.at_ms) < DISCOVERY_KEPT_MS) return kept.metadata;
    const discovered = { metadata: this.#askMetadata(client), at_ms: now };
    this.#discovered = discovered;
    discovered.metadata.catch(() => {
      if (this.#discovered === discovered) this.#discovered = null;
    });
    return discovered.metadata;
  }

  async #askMetadata(client: typeof Library): Promise<Library.ServerMetadata> {
    const { settings } = this.deps;
    const ask = async (issuer: string): Promise<Library.ServerMetadata> => {
      const options = this.#options(client);
      const found = await client.discovery(
        new URL(issuer),
        settings.client_id,
        undefined,
        undefined,
        options,
      );
      return found.serverMetadata();
    };
    try {
      return await ask(settings.issuer);
    } catch (error) {
      // The library compares the whole of both; which of the two forms is meant, operators rarely know.
      if (!(error instanceof client.ClientError) || error.code !== IS_ANOTHER) throw error;
      return await ask(settings.issuer.endsWith('/') ? this.id : `${this.id}/`);
    }
  }

  /** Plain http is judged by whom it goes out to; the library leaves the signature unchecked unless told. */
  #options(client: typeof Library) {
    return {
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
      timeout: LIBRARY_TIMEOUT_S,
      [client.customFetch]: this.#fetch,
    };
  }

  readonly #fetch = async (
    url: string,
    { method, headers: { 'user-agent': _, ...headers }, body }: Library.CustomFetchOptions,
  ): Promise<Response> => {
    const text = body instanceof URLSearchParams ? body.toString() : '';
    const answer = await askOutside(this.deps, new URL(url), { method, headers, body: text });
    if (answer.status >= 500) throw new OutsideError(`${new URL(url).host} answered ${answer.status}`, true);
    return answer;
  };
}

/** The library's code for what discovery says of another issuer. */
const IS_ANOTHER = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';

/** Entra ID has `xms_edov` in place of `email_verified`, as a boolean, a number or a text. */
function describedBy(claims: Readonly<Record<string, unknown>>): Description {
  const { email, email_verified, xms_edov, name } = claims;
  const is_verified =
    email_verified === undefined
      ? [true, 'true', 1, '1'].some((yes) => xms_edov === yes)
      : email_verified === true || email_verified === 'true';
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return { email: textOf(email), is_verified, name: textOf(name) };
}

/** Makes of what `ask` throws an SsoFailure, with the words of everything that caused it. */
async function explaining<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SsoFailure) throw error;
    const words: string[] = [];
    for (
      let cause: unknown = error, depth = 0;
      cause instanceof Error && depth < 5;
      cause = cause.cause, depth++
    ) {
      if (cause instanceof OutsideError)
        throw new SsoFailure(cause.is_away ? 'away' : 'failed', cause.message);
      words.push(
        cause.message,
        ...('error' in cause && typeof cause.error === 'string' ? [cause.error] : []),
      );
    }
    const reason = (words.length > 0 ? words.join(': ') : messageOf(error)).replaceAll(/\p{Cc}+/gu, ' ');
    throw new SsoFailure('failed', reason.slice(0, MAX_REASON_CHARS));
  }
}
