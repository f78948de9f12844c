/** Sending domains: adding and verifying them, and choosing the mailbox that a message goes out from. */
import { randomBytes } from 'node:crypto';
import { conflict, invalid, notFound } from '../errors.ts';
import { type Choice, type ChoiceRequest, choose, refuseDomain } from '../mailboxes/choosing.ts';
import { dkimContext, Mailboxes, type MailboxesDeps } from '../mailboxes/service.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import type { Tx } from '../platform/database/database.ts';
import { DAY_MS, toIso, utcDay } from '../platform/host/clock.ts';
import type { Actor } from '../platform/http/callers.ts';
import { canonicalDomain, parseAddress } from '../platform/mail/address.ts';
import { generateDkimKey } from '../platform/mail/dkim.ts';
import type { Resolver } from '../platform/mail/dns.ts';
import { PLATFORM_SCOPE } from '../platform/secrets/key-ring.ts';
import {
  checkDmarc,
  checkRecords,
  type DnsRecord,
  judgeDkim,
  judgeSpf,
  type RecordCheck,
  recordsToPublish,
  type Verdict,
} from './dns-records.ts';
import * as store from './store.ts';
import type { DomainRow } from './tables.ts';

export type { Choice, ChoiceRequest, ChosenMailbox, Purpose } from '../mailboxes/choosing.ts';
export type { MailboxRecord, Outlet } from '../mailboxes/service.ts';

export interface DomainRecord {
  name: string;
  is_default: boolean;
  is_active: boolean;
  /** The operator vouches for it: it is used like a verified one, without any look-up. */
  is_trusted: boolean;
  /** Its records were looked up and fit. */
  is_verified: boolean;
  verified_at: string | null;
  dkim_selector: string;
  mailboxes: number;
  created_at: string;
}

export interface DomainCheck extends DomainRecord {
  records: RecordCheck[];
}

/** One record in a mailbox's DNS check. */
export interface DnsVerdict {
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

export interface SendingDomainsDeps extends MailboxesDeps {
  resolver: Resolver;
}

/** Without DMARC mail is still delivered, so only marketing asks for it. */
const NEEDED_TO_VERIFY: readonly string[] = ['ownership', 'spf', 'dkim'];

export class SendingDomains {
  readonly mailboxes: Mailboxes;
  readonly #deps: SendingDomainsDeps;

  constructor(deps: SendingDomainsDeps) {
    this.#deps = deps;
    this.mailboxes = new Mailboxes(deps);
  }

  /**
   * Adds a domain with a new DKIM key and returns the records to publish. The first one becomes the default.
   * Throws AppError `invalid` for a name that is none, `conflict` for one that is known.
   */
  async add(
    actor: Actor,
    input: { name: string; is_default?: boolean; is_trusted?: boolean },
  ): Promise<DomainRecord & { records: DnsRecord[] }> {
    const name = canonicalDomain(input.name);
    if (name === null) throw invalid({ name: ['must be a domain, such as example.com'] });
    const { database, clock, key_ring } = this.#deps;
    const key = await generateDkimKey();
    const now = clock.now();
    return database.write((tx) => {
      if (store.findDomain(tx, name))
        throw conflict('This domain was added already. See: satchel domain list');
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
        created_at: now,
      });
      if (input.is_default || !has_default) store.setDefaultDomain(tx, domain.id);
      this.#audit(tx, actor, 'sending_domain.added', name);
      const added = this.#reload(tx, domain.id);
      return { ...this.#recordOf(tx, added), records: recordsToPublish(added, []) };
    });
  }

  list(): DomainRecord[] {
    const { read } = this.#deps.database;
    return store.listDomains(read).map((domain) => this.#recordOf(read, domain));
  }

  /** Mailboxes whose password, and domains whose DKIM key, does not decrypt. */
  listUndecryptable(): { passwords: string[]; dkim_keys: string[] } {
    const { database, key_ring } = this.#deps;
    const dkim_keys = store
      .listDomains(database.read)
      .filter(
        ({ name, sealed_dkim_private_key }) =>
          key_ring.openText(database.read, sealed_dkim_private_key, dkimContext(name)) === null,
      )
      .map(({ name }) => name);
    return { passwords: this.mailboxes.listUndecryptable(), dkim_keys };
  }

  /**
   * Looks the domain's records up. It is verified when ownership, SPF and DKIM fit, and no longer when one of them is
   * found to be missing or wrong; an unanswered look-up changes nothing. Throws AppError `not_found`.
   */
  async verify(actor: Actor, name: string): Promise<DomainCheck> {
    const { database, resolver, clock } = this.#deps;
    const domain = this.#require(name);
    const relays = store
      .listMailboxesOf(database.read, domain.id)
      .flatMap((mailbox) => mailbox.smtp_host ?? []);
    const records = await checkRecords(resolver, domain, relays);
    const needed = records.filter((record) => NEEDED_TO_VERIFY.includes(record.purpose));
    const fits = needed.every((record) => record.status === 'found');
    const misfits = needed.some((record) => record.status === 'missing' || record.status === 'wrong');
    return database.write((tx) => {
      if (fits && domain.verified_at === null) {
        store.updateDomain(tx, domain.id, { verified_at: clock.now() });
        this.#audit(tx, actor, 'sending_domain.verified', domain.name);
      } else if (misfits && domain.verified_at !== null) {
        store.updateDomain(tx, domain.id, { verified_at: null });
        this.#audit(tx, actor, 'sending_domain.unverified', domain.name);
      }
      return { ...this.#recordOf(tx, this.#reload(tx, domain.id)), records };
    });
  }

  /** Makes a domain the default. Throws AppError `not_found`. */
  makeDefault(actor: Actor, name: string): Promise<DomainRecord> {
    return this.#change(actor, name, 'sending_domain.made_default', (tx, domain) =>
      store.setDefaultDomain(tx, domain.id),
    );
  }

  /** Takes a domain into use or out of it. Throws AppError `not_found`. */
  setActive(actor: Actor, name: string, is_active: boolean): Promise<DomainRecord> {
    const event = is_active ? 'sending_domain.activated' : 'sending_domain.deactivated';
    return this.#change(actor, name, event, (tx, domain) => store.updateDomain(tx, domain.id, { is_active }));
  }

  /** Removes a domain with its mailboxes and its DKIM key; returns how many mailboxes went. Throws AppError `not_found`. */
  async remove(actor: Actor, name: string): Promise<{ name: string; removed_mailboxes: number }> {
    const domain = this.#require(name);
    return this.#deps.database.write((tx) => {
      const removed_mailboxes = store.listMailboxesOf(tx, domain.id).length;
      store.deleteDomain(tx, domain.id);
      this.#audit(tx, actor, 'sending_domain.removed', domain.name);
      return { name: domain.name, removed_mailboxes };
    });
  }

  /** The mailbox for a message, as things stand in this transaction. */
  choose(tx: Tx, request: ChoiceRequest): Choice {
    return choose(store.listCandidates(tx, request.day), request);
  }

  /** Throws AppError `invalid` under `domain` unless it is known, active and verified. */
  checkDomain(name: string): void {
    const { database, clock } = this.#deps;
    const candidates = store.listCandidates(database.read, utcDay(clock.now()));
    const refusal = refuseDomain(candidates, canonicalDomain(name) ?? '');
    if (refusal) throw refusal;
  }

  /** Counts one message for a mailbox on a day. */
  reserve(tx: Tx, mailbox_id: number, day: string): void {
    store.takeUsage(tx, mailbox_id, day);
  }

  /** Gives a counted message's place back. */
  release(tx: Tx, mailbox_id: number, day: string): void {
    store.releaseUsage(tx, mailbox_id, day);
  }

  /**
   * Looks up SPF, DKIM and DMARC of a mailbox's domain, for a trusted one too. Never throws for what the DNS says;
   * AppError `not_found` when no domain of this server has that address.
   */
  async checkMailboxDns(address: string): Promise<MailboxDnsCheck> {
    const name = parseAddress(address)?.domain ?? '';
    const domain = this.#require(name);
    const { resolver } = this.#deps;
    const [spf, dkim, dmarc] = await Promise.all([
      resolver.lookupTxt(domain.name).then(judgeSpf),
      resolver
        .lookupTxt(`${domain.dkim_selector}._domainkey.${domain.name}`)
        .then((lookup) => judgeDkim(lookup, domain.dkim_public_key)),
      checkDmarc(resolver, domain.name),
    ]);
    return { address, spf: verdictOf(spf), dkim: verdictOf(dkim), dmarc: verdictOf(dmarc) };
  }

  /** Forgets the usage of days that no limit asks for any more. */
  async sweepUsage(): Promise<void> {
    const { database, clock } = this.#deps;
    const day = utcDay(clock.now() - 2 * DAY_MS);
    await database.write((tx) => store.deleteUsageBefore(tx, day));
  }

  #require(name: string): DomainRow {
    const domain = store.findDomain(this.#deps.database.read, canonicalDomain(name) ?? name);
    if (!domain) throw notFound('Sending domain', 'satchel domain list');
    return domain;
  }

  #reload(tx: Tx, id: number): DomainRow {
    const domain = store.findDomainById(tx, id);
    if (!domain) throw notFound('Sending domain', 'satchel domain list');
    return domain;
  }

  #change(
    actor: Actor,
    name: string,
    event: string,
    change: (tx: Tx, domain: DomainRow) => void,
  ): Promise<DomainRecord> {
    return this.#deps.database.write((tx) => {
      const domain = store.findDomain(tx, canonicalDomain(name) ?? name);
      if (!domain) throw notFound('Sending domain', 'satchel domain list');
      change(tx, domain);
      this.#audit(tx, actor, event, domain.name);
      return this.#recordOf(tx, this.#reload(tx, domain.id));
    });
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
      mailboxes: store.listMailboxesOf(read, domain.id).length,
      created_at: toIso(domain.created_at),
    };
  }

  #audit(tx: Tx, actor: Actor, event: string, name: string): void {
    recordAudit(
      tx,
      actor,
      { event, target: `sending_domain:${name}`, project: null },
      this.#deps.clock.now(),
    );
  }
}

function verdictOf(verdict: Verdict): DnsVerdict {
  return { ok: verdict.status === 'found', record: verdict.found, problem: verdict.problem };
}
