/** Sending domains: adding and verifying them, and the key that their mail is signed with. */

import { randomBytes } from 'node:crypto';
import { listProjectsNaming, sendingOf } from '../../access/projects/service.ts';
import { AppError, conflict, invalid, notFound, toDo } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type Actor, SYSTEM } from '../../platform/http/callers.ts';
import { canonicalDomain, parseAddress } from '../../platform/mail/address.ts';
import type { DkimIdentity, DkimKeyPair } from '../../platform/mail/dkim.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import { nextKeyOf, rotationOf, withNextKey, withNextKeyInUse } from './dkim-rotation.ts';
import {
  advisedRecords,
  checkBounces,
  checkDkim,
  checkRecords,
  dkimRecord,
  dnsProviderOf,
  recordsToPublish,
} from './dns-records.ts';
import { checkDmarc, judgeDkim, type RecordVerdict } from './record-judging.ts';
import type {
  AddedDomain,
  DkimRotation,
  DomainChanges,
  DomainCheck,
  DomainDetails,
  DomainRecord,
} from './schemas.ts';
import { checkSpf } from './spf.ts';
import * as store from './store.ts';
import { type DomainStanding, listStandings } from './store.ts';
import type { DomainRow } from './tables.ts';

export { type DomainStanding, listUnknown } from './store.ts';

/** One record in a mailbox's DNS check. */
interface DnsVerdict {
  ok: boolean;
  record: string | null;
  problem: string | null;
}

export interface MailboxDnsCheck {
  address: string;
  spf: DnsVerdict;
  dkim: DnsVerdict;
  dmarc: DnsVerdict;
}

interface SendingDomainsDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
  resolver: Resolver;
  generateDkimKey(): Promise<DkimKeyPair>;
  /** What domains need to know of mailboxes, which are built on them. */
  mailboxes(): {
    countOf(tx: Tx, domain_id: number): number;
    /** Hosts of their relays: SPF is to name them. */
    relaysOf(tx: Tx, domain_id: number): string[];
    /** Whether any of them leaves the signature to us. */
    areSigned(tx: Tx, domain_id: number): boolean;
    /** Domains that their bounces go to. */
    bounceDomainsOf(tx: Tx, domain_id: number): string[];
    /** The address of one that has an inbox, where reports are read; null where none has. */
    reportsTo(tx: Tx, domain_id: number): string | null;
    /** Has them take up what changed of their domain. */
    renew(tx: Tx, domain_id: number): void;
    /** Whether an active one of them hands mail of apps to a relay. */
    canRelay(tx: Tx, domain_id: number): boolean;
    /** Whether none of them has a relay. */
    onlyCapture(tx: Tx, domain_id: number): boolean;
  };
}

const STAYS_DEFAULT = 'is true of one domain: make another one the default instead';

/** Without DMARC mail is still delivered, so only marketing asks for it. */
const NEEDED_TO_VERIFY: readonly string[] = ['ownership', 'spf', 'dkim'];

export class SendingDomains {
  constructor(private readonly deps: SendingDomainsDeps) {}

  /**
   * Adds a domain with a new DKIM key and returns the records to publish. The first one becomes the default.
   * Throws AppError `invalid` for a name that is none, `conflict` for one that is known.
   */
  async add(
    actor: Actor,
    input: { name: string; is_default?: boolean; is_trusted?: boolean },
  ): Promise<AddedDomain> {
    const name = canonicalDomain(input.name);
    if (name === null) throw invalid({ name: ['must be a domain, such as example.com'] });
    const { database, clock, key_ring } = this.deps;
    const key = await this.deps.generateDkimKey();
    const now = clock.now();
    return database.write((tx) => {
      if (store.findDomain(tx, name))
        throw conflict('This domain was added already. See:', {
          remedy: toDo('sending_domain', 'satchel domain list', name),
        });
      const has_default = store.listDomains(tx).some((domain) => domain.is_default);
      const domain = store.insertDomain(tx, {
        name,
        is_default: false,
        is_active: true,
        is_trusted: input.is_trusted ?? false,
        verified_at: null,
        ownership_token: randomBytes(16).toString('hex'),
        dkim_selector: 'satchel',
        dkim_public_key: key.public_key_base64,
        sealed_dkim_private_key: key_ring.seal(tx, PLATFORM_SCOPE, dkimContext(name), key.private_key_pem),
        next_dkim_selector: null,
        next_dkim_public_key: null,
        next_sealed_dkim_private_key: null,
        old_dkim_selector: null,
        old_dkim_public_key: null,
        dkim_rotated_at: null,
        has_been_default: false,
        created_at: now,
      });
      if (input.is_default || !has_default) store.setDefaultDomain(tx, domain.id);
      this.#audit(tx, actor, 'sending_domain.added', name);
      const added = this.#reload(tx, domain.id);
      const reports_to = this.#reportsTo(tx, added);
      return {
        ...this.#recordOf(tx, added),
        records: recordsToPublish(added, { relays: [], reports_to }),
        advised: advisedRecords(added, reports_to),
      };
    });
  }

  /** The default first, then by name; those alone that a project may send from, where one is given. */
  list(of: { project_id: number } | null = null): DomainRecord[] {
    const { read } = this.deps.database;
    return this.listRows(read, of).map((domain) => this.#recordOf(read, domain));
  }

  /** The names that `list` gives, that first which mail goes out from that names none. */
  listNames(of: { project_id: number } | null = null): string[] {
    const { read } = this.deps.database;
    const standings = of ? listStandingsFor(read, of.project_id) : store.listStandings(read);
    return standings.sort((a, b) => b.is_default - a.is_default).map(({ domain }) => domain);
  }

  /** Throws AppError `not_found`. */
  get(name: string): DomainRecord {
    return this.#recordOf(this.deps.database.read, this.#require(name));
  }

  /** As `get`, with what is to be published; nothing is looked up. Throws AppError `not_found`. */
  show(name: string): DomainDetails {
    const { database, mailboxes } = this.deps;
    const domain = this.#require(name);
    const reports_to = this.#reportsTo(database.read, domain);
    return {
      ...this.#recordOf(database.read, domain),
      records: recordsToPublish(domain, {
        relays: mailboxes().relaysOf(database.read, domain.id),
        reports_to,
      }),
      advised: advisedRecords(domain, reports_to),
      dkim_rotation: rotationOf(domain),
    };
  }

  /** Where receivers are to report to. */
  #reportsTo(read: Tx, { id, name }: Pick<DomainRow, 'id' | 'name'>): string {
    return this.deps.mailboxes().reportsTo(read, id) ?? `postmaster@${name}`;
  }

  /** Names of the domains whose DKIM key does not decrypt. */
  listUndecryptable(): string[] {
    const { read } = this.deps.database;
    return store
      .listDomains(read)
      .filter((domain) => this.#openKey(read, domain) === null)
      .map(({ name }) => name);
  }

  /** As `list`, their rows. */
  listRows(tx: Tx, of: { project_id: number } | null = null): DomainRow[] {
    const rows = store.listDomains(tx);
    if (!of) return rows;
    const own = listStandingsFor(tx, of.project_id).map(({ domain_id }) => domain_id);
    return rows.filter(({ id }) => own.includes(id));
  }

  findByName(tx: Tx, name: string): DomainRow | null {
    return store.findDomain(tx, name);
  }

  findById(tx: Tx, id: number): DomainRow | null {
    return store.findDomainById(tx, id);
  }

  /** What a domain's mail is signed with. Throws AppError `internal` where its key does not decrypt. */
  identityOf(tx: Tx, domain: DomainRow): DkimIdentity {
    const private_key_pem = this.#openKey(tx, domain);
    if (private_key_pem === null)
      throw new AppError('internal', 'The DKIM key of the domain does not decrypt. What mends it:', {
        remedy: toDo('finding', 'satchel doctor'),
      });
    return { domain: domain.name, selector: domain.dkim_selector, private_key_pem };
  }

  /** The public key of a signature of ours, by its d= and s=: the present one, or the one before it. */
  findDkimKey(tx: Tx, name: string, selector: string): string | null {
    const domain = store.findDomain(tx, name);
    if (domain?.dkim_selector === selector) return domain.dkim_public_key;
    return domain?.old_dkim_selector === selector ? domain.old_dkim_public_key : null;
  }

  #openKey(tx: Tx, { name, sealed_dkim_private_key }: DomainRow): string | null {
    return this.deps.key_ring.openText(tx, sealed_dkim_private_key, dkimContext(name));
  }

  /**
   * Looks the domain's records up. It is verified when ownership, SPF and (where we sign) DKIM fit, and no
   * longer when one of them is found to be missing or wrong; an unanswered look-up changes nothing. A new
   * DKIM key that is seen is taken into use first. Throws AppError `not_found`.
   */
  async verify(actor: Actor, name: string): Promise<DomainCheck> {
    const { database, resolver, clock, mailboxes } = this.deps;
    const { read } = database;
    const domain = (await this.#takeUpNextKey(actor, this.#require(name))) ?? this.#require(name);
    const relays = mailboxes().relaysOf(read, domain.id);
    const is_signed = mailboxes().areSigned(read, domain.id);
    const reports_to = this.#reportsTo(read, domain);
    const [records, bounces, dns_provider] = await Promise.all([
      checkRecords(resolver, domain, { relays, reports_to, is_signed }),
      checkBounces(resolver, mailboxes().bounceDomainsOf(read, domain.id)),
      dnsProviderOf(resolver, domain.name),
    ]);
    const needed = records.filter((record) => NEEDED_TO_VERIFY.includes(record.purpose));
    const fits = needed.every((record) => record.status === 'found' || record.status === 'unneeded');
    const misfits = needed.some((record) => record.status === 'missing' || record.status === 'wrong');
    return database.write((tx) => {
      // Another look-up may have come first.
      const { verified_at } = this.#reload(tx, domain.id);
      if (fits && verified_at === null) {
        store.updateDomain(tx, domain.id, { verified_at: clock.now() });
        this.#audit(tx, actor, 'sending_domain.verified', domain.name);
        this.takeOver(tx, actor, domain.id);
      } else if (misfits && verified_at !== null) {
        store.updateDomain(tx, domain.id, { verified_at: null });
        this.#audit(tx, actor, 'sending_domain.unverified', domain.name);
      }
      const advised = advisedRecords(domain, reports_to);
      const after = this.#reload(tx, domain.id);
      return {
        ...this.#recordOf(tx, after),
        records,
        advised,
        bounces,
        dns_provider,
        dkim_rotation: rotationOf(after),
      };
    });
  }

  /* --- DKIM keys --------------------------------------------------------------------------------------------------- */

  /**
   * Makes a key under a new selector. Mail is signed with the old one until the new one's record is seen.
   * Where one waits already, that stays. Throws AppError `not_found`.
   */
  async rotateDkim(actor: Actor, name: string): Promise<DkimRotation> {
    const { database, key_ring } = this.deps;
    this.#require(name);
    const key = await this.deps.generateDkimKey();
    const rotation = await database.write((tx) => {
      const domain = this.#reload(tx, this.#require(name).id);
      if (domain.next_dkim_selector === null) {
        const sealed = key_ring.seal(tx, PLATFORM_SCOPE, dkimContext(domain.name), key.private_key_pem);
        store.updateDomain(tx, domain.id, withNextKey(domain, { public_key: key.public_key_base64, sealed }));
        this.#audit(tx, actor, 'sending_domain.dkim_key_made', domain.name);
      }
      return rotationOf(this.#reload(tx, domain.id));
    });
    if (!rotation) throw new AppError('internal', 'The new DKIM key was not kept.');
    return rotation;
  }

  /** Looks whether records of new DKIM keys are there by now; those that are seen are taken into use. */
  async lookForNewKeys(): Promise<void> {
    const waiting = store
      .listDomains(this.deps.database.read)
      .filter(({ next_dkim_selector }) => next_dkim_selector !== null);
    for (const domain of waiting) await this.#takeUpNextKey(SYSTEM, domain);
  }

  /** Signs with the key that waits, if its record is seen; null where nothing changes. */
  async #takeUpNextKey(actor: Actor, domain: DomainRow): Promise<DomainRow | null> {
    const { database, resolver, clock, mailboxes } = this.deps;
    const waiting = nextKeyOf(domain);
    if (!waiting) return null;
    const { name } = dkimRecord(domain.name, waiting.selector, waiting.public_key);
    const verdict = judgeDkim(await resolver.lookupTxt(name), waiting.public_key);
    if (verdict.status !== 'found') return null;
    return database.write((tx) => {
      const now = this.#reload(tx, domain.id);
      const next = nextKeyOf(now);
      // Another process may have done so meanwhile.
      if (next?.selector !== waiting.selector) return now;
      store.updateDomain(tx, domain.id, withNextKeyInUse(now, next, clock.now()));
      mailboxes().renew(tx, domain.id);
      this.#audit(tx, actor, 'sending_domain.dkim_rotated', domain.name);
      return this.#reload(tx, domain.id);
    });
  }

  /* --- Changes ----------------------------------------------------------------------------------------------------- */

  /**
   * Makes the changes that are given: the default, in use or not, trusted without any look-up or not. Throws
   * AppError `not_found`, and `invalid` where the default is to be none: another one becomes it instead.
   */
  async change(actor: Actor, name: string, changes: DomainChanges): Promise<DomainRecord> {
    const { is_default, is_active, is_trusted } = changes;
    return this.deps.database.write((tx) => {
      const domain = store.findDomain(tx, canonicalDomain(name) ?? name);
      if (!domain) throw notFound('Sending domain', 'satchel domain list');
      if (is_default === false && domain.is_default) throw invalid({ is_default: [STAYS_DEFAULT] });
      const note = (event: string): void => this.#audit(tx, actor, `sending_domain.${event}`, domain.name);
      if (is_active !== undefined) {
        store.updateDomain(tx, domain.id, { is_active });
        note(is_active ? 'activated' : 'deactivated');
      }
      if (is_trusted !== undefined) {
        store.updateDomain(tx, domain.id, { is_trusted });
        note(is_trusted ? 'trusted' : 'distrusted');
      }
      if (is_default) this.#makeDefault(tx, actor, this.#reload(tx, domain.id));
      this.takeOver(tx, actor, domain.id);
      return this.#recordOf(tx, this.#reload(tx, domain.id));
    });
  }

  /**
   * Has the domain of a trial, below .test and without a relay, give way as the default to one that can send
   * by now; once for each, so that who chooses the trial's again keeps it. To be called by each change that
   * may complete a domain.
   */
  takeOver(tx: Tx, actor: Actor, id: number): void {
    const domain = this.#reload(tx, id);
    if (domain.has_been_default || domain.name.endsWith('.test') || !this.#canSend(tx, domain)) return;
    const trial = store.listDomains(tx).find(({ is_default }) => is_default);
    if (trial?.name.endsWith('.test') && this.deps.mailboxes().onlyCapture(tx, trial.id))
      this.#makeDefault(tx, actor, domain);
  }

  #makeDefault(tx: Tx, actor: Actor, domain: DomainRow): void {
    store.setDefaultDomain(tx, domain.id);
    if (this.#canSend(tx, domain)) store.updateDomain(tx, domain.id, { has_been_default: true });
    this.#audit(tx, actor, 'sending_domain.made_default', domain.name);
  }

  #canSend(tx: Tx, { id, is_active, is_trusted, verified_at }: DomainRow): boolean {
    return is_active && (is_trusted || verified_at !== null) && this.deps.mailboxes().canRelay(tx, id);
  }

  /**
   * Throws AppError `conflict` where projects name a domain: their mail would go out under another name, or
   * not at all.
   */
  requireUnnamed(name: string, read: Tx = this.deps.database.read): void {
    const slugs = listProjectsNaming(read, name);
    if (slugs.length === 0) return;
    throw conflict(
      `${slugs.join(', ')} ${slugs.length === 1 ? 'sends' : 'send'} from ${name}. First change that:`,
      {
        code: 'domain_in_use',
        remedy: toDo(
          'project',
          `satchel project change ${slugs[0]} --sending-domain NAME --sending-domains NAMES`,
          slugs[0] ?? null,
        ),
      },
    );
  }

  /**
   * Removes a domain with its mailboxes and its DKIM key; returns how many mailboxes went. Throws AppError
   * `not_found`, and `conflict` where projects name it.
   */
  async remove(actor: Actor, name: string): Promise<{ name: string; removed_mailboxes: number }> {
    const domain = this.#require(name);
    return this.deps.database.write((tx) => {
      this.#reload(tx, domain.id);
      this.requireUnnamed(domain.name, tx);
      const removed_mailboxes = this.deps.mailboxes().countOf(tx, domain.id);
      store.deleteDomain(tx, domain.id);
      this.#audit(tx, actor, 'sending_domain.removed', domain.name);
      return { name: domain.name, removed_mailboxes };
    });
  }

  /**
   * Looks up SPF, DKIM and DMARC of a mailbox's domain, for a trusted one too. Never throws for what the DNS
   * says; AppError `not_found` when no domain of this server has that address.
   */
  async checkMailboxDns(address: string): Promise<MailboxDnsCheck> {
    const name = parseAddress(address)?.domain ?? '';
    const domain = this.#require(name);
    const { resolver, database, mailboxes } = this.deps;
    const is_signed = mailboxes().areSigned(database.read, domain.id);
    const [spf, dkim, dmarc] = await Promise.all([
      checkSpf(resolver, domain.name),
      checkDkim(resolver, { domain, is_signed }),
      checkDmarc(resolver, domain.name),
    ]);
    return { address, spf: verdictOf(spf), dkim: verdictOf(dkim), dmarc: verdictOf(dmarc) };
  }

  #require(name: string): DomainRow {
    const domain = store.findDomain(this.deps.database.read, canonicalDomain(name) ?? name);
    if (!domain) throw notFound('Sending domain', 'satchel domain list');
    return domain;
  }

  #reload(tx: Tx, id: number): DomainRow {
    const domain = store.findDomainById(tx, id);
    if (!domain) throw notFound('Sending domain', 'satchel domain list');
    return domain;
  }

  #recordOf(read: Tx, domain: DomainRow): DomainRecord {
    return {
      name: domain.name,
      is_default: domain.is_default,
      is_active: domain.is_active,
      is_trusted: domain.is_trusted,
      is_verified: domain.verified_at !== null,
      verified_at: toIso(domain.verified_at),
      dkim_selector: domain.dkim_selector,
      mailboxes: this.deps.mailboxes().countOf(read, domain.id),
      created_at: toIso(domain.created_at),
    };
  }

  #audit(tx: Tx, actor: Actor, event: string, name: string): void {
    recordAudit(tx, actor, { event, target: `sending_domain:${name}`, project: null }, this.deps.clock.now());
  }
}

function verdictOf(verdict: RecordVerdict): DnsVerdict {
  const ok = verdict.status === 'found' || verdict.status === 'unneeded';
  return { ok, record: verdict.found, problem: verdict.problem };
}

/** The context that binds a sealed key to its domain. */
function dkimContext(domain: string): string[] {
  return ['sending_domain', domain, 'dkim_private_key'];
}

/**
 * The domains that a project may send from; to it there are no others. Its default is the one that it names,
 * else the default of all, else the first of its own.
 */
export function listStandingsFor(tx: Tx, project_id: number): DomainStanding[] {
  const all = listStandings(tx);
  const { sending_domain, sending_domains } = sendingOf(tx, project_id);
  if (sending_domain === null && sending_domains === null) return all;
  const own = sending_domains
    ? sending_domains.flatMap((name) => all.find(({ domain }) => domain === name) ?? [])
    : all;
  const first =
    own.find(({ domain }) => domain === sending_domain) ??
    own.find(({ is_default }) => is_default === 1) ??
    (sending_domains ? own[0] : undefined);
  return own.map((domain) => ({ ...domain, is_default: domain === first ? 1 : 0 }));
}
