/** Single sign-on: who comes in by an account at the issuer, who is invited by their domain, and whether it is the only way. */
import { domainToASCII } from 'node:url';
import type { Config } from '../../config.ts';
import { forbidden } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import type { Outside } from '../../platform/http/outside.ts';
import { RateLimitError } from '../../platform/http/rate-limit.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { validate } from '../../platform/http/validation.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import { PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { type Description, type Identity, Issuer, type Remembered, SsoFailure } from './issuer.ts';
import { newPerson, type Ways } from './schemas.ts';
import { audit, nameOf, type People, type PeopleDeps } from './service.ts';
import { beginSession } from './sign-in.ts';
import * as store from './store.ts';
import type { PersonRow } from './tables.ts';
import { limitsOfNetwork, recordFailure, type Tries, type Try } from './tries.ts';

/** How long somebody may take at the issuer. */
export const SSO_WAIT_MS = 10 * MINUTE_MS;

const SEAL_CONTEXT = ['sso', 'sign-in'];

/** Read-only, without projects and capabilities: whoever administers gives them what they need. */
const POWERS_OF_INVITED = {
  capabilities: new Set<never>(),
  read_only: true,
  all_projects: false,
  project_ids: [],
};

/** Where a browser is. */
interface From {
  ip: string | null;
  user_agent: string | null;
}

/** What a browser is told that could not be let in. */
interface Refusal {
  refusal: SsoFailure['kind'];
}

interface Described {
  email: string;
  name: string | null;
}

export class SingleSignOn {
  readonly issuer: Issuer | null;

  constructor(
    private readonly deps: PeopleDeps &
      Outside & {
        config: Pick<Config, 'oidc' | 'public_url'>;
        people: People;
        tries: Tries;
        ownership: { refuseChanges(): void };
      },
  ) {
    const { oidc: settings, public_url } = deps.config;
    const callback_url = `${public_url}/console/oidc/callback`;
    this.issuer = settings && new Issuer({ ...deps, settings, callback_url });
  }

  /** True where nothing else lets anybody in: by the setting, and once it can't lock everybody out. */
  isOnly(read: Tx = this.deps.database.read): boolean {
    const { oidc } = this.deps.config;
    return oidc?.only === true && this.issuer !== null && store.hasAdministratorOf(read, this.issuer.id);
  }

  /** Throws AppError `forbidden` (oidc_only) where single sign-on is the only way in. */
  refuseOthers(): void {
    if (!this.isOnly()) return;
    throw forbidden(`Here people sign in by ${this.deps.config.oidc?.label} only.`, { code: 'oidc_only' });
  }

  /** What the sign-in page may offer, but for passkeys. */
  ways(): Omit<Ways, 'passkey'> {
    const { oidc } = this.deps.config;
    return { password: !this.isOnly(), sso: oidc && { label: oidc.label } };
  }

  /** Where a browser is to go, and what it has to keep meanwhile; or why not. */
  async start(issuer: Issuer, from: From): Promise<{ url: string; kept: string } | Refusal> {
    const { database, clock, key_ring } = this.deps;
    return this.#try(from, async () => {
      const { url, remembered } = await issuer.lead();
      const text = JSON.stringify({ ...remembered, until: clock.now() + SSO_WAIT_MS });
      const kept = await database.write((tx) => key_ring.seal(tx, PLATFORM_SCOPE, SEAL_CONTEXT, text));
      return { url: url.href, kept };
    });
  }

  /** The secret of a new session of whoever came back with this query and what they kept; or why not. */
  async finish(
    issuer: Issuer,
    { search, kept }: { search: string; kept: string | null },
    from: From,
  ): Promise<{ secret: string } | Refusal> {
    // A GET that changes something: nothing else asks whether this server still may.
    this.deps.ownership.refuseChanges();
    return this.#try(from, async () => {
      const identity = await issuer.identify(search, this.#open(kept));
      return this.#admit(issuer, identity, from);
    });
  }

  /**
   * Counts what fails by network, and writes the reason down. An issuer that is away counts for nobody; past the limit it is
   * not asked.
   */
  async #try<T>({ ip }: From, work: () => Promise<T>): Promise<T | Refusal> {
    const { database, clock, tries } = this.deps;
    const network = networkOf(ip);
    let attempt: Try;
    try {
      attempt = tries.begin(limitsOfNetwork(network));
    } catch (error) {
      if (error instanceof RateLimitError) return { refusal: 'failed' };
      throw error;
    }
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SsoFailure)) throw error;
      const { kind, person, message: reason } = error;
      await database.write((tx) => {
        if (kind !== 'away') attempt.fail(tx);
        recordFailure(tx, { person, network, reason }, clock.now());
      });
      return { refusal: kind };
    } finally {
      attempt.end();
    }
  }

  #open(kept: string | null): Remembered {
    const { database, clock, key_ring } = this.deps;
    const text = kept === null ? null : key_ring.openText(database.read, kept, SEAL_CONTEXT);
    const value: unknown = text === null ? null : JSON.parse(text);
    if (!isPlainObject(value))
      throw new SsoFailure('failed', 'the browser has no cookie of a sign-in that it began');
    const { state, nonce, verifier, until } = value;
    if (!(Number(until) > clock.now())) throw new SsoFailure('failed', 'it took more than ten minutes');
    return { state: String(state), nonce: String(nonce), verifier: String(verifier) };
  }

  /** Whoever has the account; else, once, who has its address. */
  async #admit(issuer: Issuer, { subject, describe }: Identity, from: From): Promise<{ secret: string }> {
    const { database, clock } = this.deps;
    const account = { sso_issuer: issuer.id, sso_subject: subject };
    const find = (read: Tx): PersonRow | null => store.findPersonBySubject(read, issuer.id, subject);
    const described = find(database.read) ? null : readDescription(await describe());
    return database.write((tx) => {
      const known = find(tx);
      // Null where they were reset while the issuer was asked.
      if (!known && !described)
        throw new SsoFailure('failed', 'the account was taken from its person meanwhile');
      const person = known ?? (described && this.#meant(tx, described, from.ip));
      if (!person?.is_active) throw new SsoFailure('refused', 'the person is inactive', person);
      if (!known) this.#link(tx, person, account, from.ip);
      const network = networkOf(from.ip);
      return { secret: beginSession(tx, person, { by: 'sso', network, ...from }, clock.now()) };
    });
  }

  /** Who has the address that the issuer tells, or is invited by it. Throws SsoFailure. */
  #meant(tx: Tx, described: Described, ip: string | null): PersonRow {
    const found = store.findPersonByEmail(tx, described.email);
    if (!found) return this.#invite(tx, described, ip);
    if (found.sso_issuer !== this.issuer?.id) return found;
    throw new SsoFailure(
      'refused',
      'the person has another account of this issuer: a reset forgets it',
      found,
    );
  }

  #link(
    tx: Tx,
    person: PersonRow,
    account: Pick<PersonRow, 'sso_issuer' | 'sso_subject'>,
    ip: string | null,
  ): void {
    const now = this.deps.clock.now();
    store.updatePerson(tx, person.id, { ...account, updated_at: now });
    const { email } = person;
    audit(tx, actorOf(person, ip), 'person.sso_linked', person, { email, ...account }, now);
  }

  #invite(tx: Tx, { email, name }: Described, ip: string | null): PersonRow {
    const { config, clock, people } = this.deps;
    const domain = domainToASCII(email.slice(email.lastIndexOf('@') + 1));
    if (config.oidc?.invites.includes(domain) !== true)
      throw new SsoFailure('refused', `nobody here has the address ${email}`);
    if (store.countPeople(tx) === 0)
      throw new SsoFailure(
        'refused',
        'there is nobody yet, and whom their domain invites may administer nothing',
      );
    const now = clock.now();
    const row = people.insert(tx, { email, name, password_hash: null }, POWERS_OF_INVITED, now);
    audit(tx, actorOf(row, ip), 'person.created', row, { email, by: 'sso', read_only: true }, now);
    return row;
  }
}

/** Throws SsoFailure where it gives no address that counts. */
function readDescription({ email: told, is_verified, name }: Description): Described {
  const email = told === null ? null : parseAddress(told.trim())?.address;
  if (!email)
    throw new SsoFailure('refused', 'nobody has the account yet, and the issuer tells no address of it');
  if (!is_verified) throw new SsoFailure('refused', `the issuer does not say that ${email} is verified`);
  const found = validate(newPerson, { email, name });
  return { email, name: found.errors.name ? null : name };
}

function actorOf(person: PersonRow, ip: string | null) {
  return { kind: 'person', id: String(person.id), name: nameOf(person), ip } as const;
}
