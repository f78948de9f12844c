/** Marketing settings of a project: who its mails come from, how they look, when and how many may go out. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { noNote } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { type KeyOwner, MarketingKeys } from './keys.ts';
import { DEFAULT_SETTINGS, mergeSettings, type Settings, type SettingsChanges } from './settings.ts';
import { findSettings, saveSettings } from './store.ts';

export { type HashPurpose, type KeyedHash, type KeyOwner, type MarketingKeys, sameHash } from './keys.ts';
export type { Settings, SettingsChanges } from './settings.ts';

/** What a receiver finds of one mailbox's domain. */
export interface DnsCheck {
  ok: boolean;
  record: string | null;
  problem: string | null;
}

export interface MailboxDnsCheck {
  address: string;
  spf: DnsCheck;
  dkim: DnsCheck;
  dmarc: DnsCheck;
}

/** What the settings ask of the mailboxes capability. */
export interface MarketingMailboxes {
  /** Addresses of all active mailboxes that may send marketing mail. */
  listMarketingAddresses(): string[];
  /** Looks up the DNS records of a mailbox's domain. */
  checkDns(address: string): Promise<MailboxDnsCheck>;
}

export interface MarketingDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
  mailboxes: MarketingMailboxes;
}

export class Marketing {
  /** The keyed hashes of a project. */
  readonly keys: MarketingKeys;
  readonly #deps: MarketingDeps;

  constructor(deps: MarketingDeps) {
    this.#deps = deps;
    this.keys = new MarketingKeys(deps.key_ring);
  }

  /** The settings of a project; defaults where it never set any. */
  settings(project_id: number, read: Tx = this.#deps.database.read): Settings {
    const row = findSettings(read, project_id);
    if (!row) return DEFAULT_SETTINGS;
    const { project_id: _project, updated_at: _updated, ...settings } = row;
    return settings;
  }

  /** Changes what is given; null clears an optional field. Throws AppError `invalid` by field; then nothing changes. */
  async change(project_id: number, changes: SettingsChanges, note = noNote): Promise<Settings> {
    const { database, clock } = this.#deps;
    return database.write((tx) => {
      const { merged, errors } = this.#merge(tx, project_id, changes);
      if (Object.keys(errors).length > 0) throw invalid(errors);
      saveSettings(tx, { ...merged, project_id, updated_at: clock.now() });
      note(tx, {
        event: 'marketing_settings.changed',
        target: null,
        metadata: { fields: Object.keys(changes) },
      });
      return merged;
    });
  }

  /** Every field of a change that does not fit, by rules past its schema. */
  check(project_id: number, changes: SettingsChanges): FieldErrors {
    return this.#merge(this.#deps.database.read, project_id, changes).errors;
  }

  /** Whether a project's key opens, where it has one. */
  hasUsableKey(owner: KeyOwner): boolean {
    return this.keys.opens(this.#deps.database.read, owner);
  }

  /** The addresses that a project's marketing may go out from: those it names, else every active marketing mailbox. */
  addressesOf(project_id: number): string[] {
    const { accounts } = this.settings(project_id);
    const all = this.#deps.mailboxes.listMarketingAddresses();
    return accounts.length === 0 ? all : all.filter((address) => accounts.includes(address));
  }

  /** What receivers find of each mailbox that the project's marketing may go out from. */
  checkMailboxes(project_id: number): Promise<MailboxDnsCheck[]> {
    return Promise.all(this.addressesOf(project_id).map((address) => this.#deps.mailboxes.checkDns(address)));
  }

  #merge(read: Tx, project_id: number, changes: SettingsChanges) {
    const { merged, errors } = mergeSettings(this.settings(project_id, read), changes);
    const known = this.#deps.mailboxes.listMarketingAddresses();
    changes.accounts?.forEach((address, index) => {
      if (!known.includes(address))
        errors[`accounts.${index}`] = [
          'must be the address of an active mailbox for marketing (satchel mailbox list)',
        ];
    });
    return { merged, errors };
  }
}
