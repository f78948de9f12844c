/** Marketing settings of a project: who its mails come from, how they look, when and how many may go out; judged as a whole. */
import { type FieldErrors, refuseAll, toDo } from '../../errors.ts';
import type { MailboxDnsCheck } from '../../mail/sending-domains/service.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { merge } from '../../platform/http/fields.ts';
import { isLoopback, isLoopbackUrl } from '../../platform/http/hosts.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { type KeyOwner, MarketingKeys } from './keys.ts';
import { FIELDS, type Settings, type SettingsChanges } from './schemas.ts';
import { findSettings, findTracking, saveSettings } from './store.ts';
import { type Lack, outletLacks, senderLacks } from './window.ts';

const LIST_MAILBOXES = 'satchel mailbox list';

export { type KeyedHash, type KeyOwner, sameHash } from './keys.ts';
export { changes as settingsChanges, type Settings } from './schemas.ts';
export { readUsage, takeUsage } from './store.ts';
export {
  type Lack,
  lackIf,
  lackOf,
  nextOpening,
  type OutletFacts,
  outletLacks,
  type SendWindow,
  senderLacks,
  shutUntil,
} from './window.ts';

/** What goes out from a mailbox, and where to. */
interface MailboxUse {
  address: string;
  is_active: boolean;
  for_marketing: boolean;
  for_transactional: boolean;
  /** Null: it captures. */
  relay_host: string | null;
}

/** What the settings need of mail/mailboxes. */
interface MarketingMailboxes {
  /** Of the mailboxes that a project may send from. */
  listUses(project_id: number): MailboxUse[];
  /**
   * Why none of these mailboxes can take the project's marketing mail, quotas apart; null where one can. None
   * named means all.
   */
  refusalOf(project_id: number, accounts: readonly string[]): string | null;
  /** Looks up the DNS records of a mailbox's domain. */
  checkDns(address: string): Promise<MailboxDnsCheck>;
}

export interface MarketingDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
  mailboxes: MarketingMailboxes;
  public_url: string;
  /** Where the server runs, for a verb beside it; else null. */
  served_at: string | null;
}

export class MarketingSettings {
  /** The keyed hashes of a project. */
  readonly keys: MarketingKeys;

  constructor(private readonly deps: MarketingDeps) {
    this.keys = new MarketingKeys(deps.key_ring);
  }

  /** The settings of a project; defaults where it never set any. */
  settings(project_id: number, read: Tx = this.deps.database.read): Settings {
    const row = findSettings(read, project_id);
    if (!row) return DEFAULT_SETTINGS;
    const { project_id: _project, updated_at: _updated, ...settings } = row;
    return settings;
  }

  /** The people whose mail tells that it was read, where they said nothing of it themselves. */
  tracking(project_id: number, read: Tx): Settings['tracking'] {
    return findTracking(read, project_id)?.tracking ?? DEFAULT_SETTINGS.tracking;
  }

  /**
   * Changes what is given; null clears an optional field. Throws AppError `invalid` by field, and then
   * changes nothing.
   */
  async change(project_id: number, changes: SettingsChanges, note: Note): Promise<Settings> {
    const { database, clock } = this.deps;
    return database.write((tx) => {
      const { merged, errors } = this.#merge(tx, project_id, changes);
      refuseAll(errors, { remedy: toDo('mailbox', LIST_MAILBOXES) });
      const before = this.settings(project_id, tx);
      saveSettings(tx, { ...merged, project_id, updated_at: clock.now() });
      const told = changesOf(before, merged);
      note(tx, { event: 'marketing_settings.changed', target: null, changes: told });
      return merged;
    });
  }

  /** Everything that is wrong with a change beyond what its schema checks. */
  errorsIn(project_id: number, changes: SettingsChanges): FieldErrors {
    return this.settingsAfter(project_id, changes).errors;
  }

  /** The settings as a change would leave them, and what is wrong with it; saves nothing. */
  settingsAfter(project_id: number, changes: SettingsChanges): { merged: Settings; errors: FieldErrors } {
    return this.#merge(this.deps.database.read, project_id, changes);
  }

  /** True where a project's key opens, where it has one. */
  hasUsableKey(owner: KeyOwner): boolean {
    return this.keys.opens(this.deps.database.read, owner);
  }

  /**
   * The mailboxes that a project's marketing may use, paused ones too: those it names, else all that are for
   * marketing.
   */
  #usesOf(project_id: number): MailboxUse[] {
    const { accounts } = this.settings(project_id);
    return this.deps.mailboxes
      .listUses(project_id)
      .filter(
        ({ for_marketing, address }) =>
          for_marketing && (accounts.length === 0 || accounts.includes(address)),
      );
  }

  /**
   * The mailboxes, paused ones too, that mails may go out from which ask to confirm a sign-up: the list's own
   * (`from`), else those of the project's marketing that are for transactional mail, too, else every one for
   * that.
   */
  #confirmingUsesOf(project_id: number, from: string | null): MailboxUse[] {
    const { accounts } = this.settings(project_id);
    const able = this.deps.mailboxes
      .listUses(project_id)
      .filter(({ for_transactional }) => for_transactional);
    if (from !== null) return able.filter(({ address }) => address === from);
    const named = able.filter(({ address }) => accounts.includes(address));
    return named.length > 0 ? named : able;
  }

  /**
   * The only mailboxes that these mails may go out from, by address; empty where all may that take the
   * project's other mail.
   */
  confirmingAccounts(project_id: number, from: string | null): string[] {
    // Bound to it whatever became of it: nobody is asked in another name.
    if (from !== null) return [from];
    const { accounts } = this.settings(project_id);
    return this.#confirmingUsesOf(project_id, null).flatMap(({ address }) =>
      accounts.includes(address) ? [address] : [],
    );
  }

  /** The addresses that a project's marketing goes out from at present. */
  addressesOf(project_id: number): string[] {
    return this.#usesOf(project_id).flatMap(({ is_active, address }) => (is_active ? [address] : []));
  }

  /**
   * True where all mailboxes of a project's marketing capture. Then it is being tried out, nobody gets mail, and
   * nothing is looked up in the DNS.
   */
  isCaptured(project_id: number): boolean {
    const uses = this.#usesOf(project_id);
    return uses.some(({ is_active }) => is_active) && uses.every(({ relay_host }) => relay_host === null);
  }

  /** What receivers find of each mailbox that the project's marketing goes out from. */
  checkMailboxes(project_id: number): Promise<MailboxDnsCheck[]> {
    return Promise.all(this.addressesOf(project_id).map((address) => this.deps.mailboxes.checkDns(address)));
  }

  /** As `checkMailboxes`, before a sequence starts; null where all of them capture, and nothing is asked. */
  async checkBeforeStart(project_id: number): Promise<MailboxDnsCheck[] | null> {
    return this.isCaptured(project_id) ? null : this.checkMailboxes(project_id);
  }

  /** Why no mailbox takes a project's marketing mail, whatever its DNS records; null where one does. */
  problemOfMailboxes(project_id: number): string | null {
    return this.deps.mailboxes.refusalOf(project_id, this.settings(project_id).accounts);
  }

  /** What keeps all of a project's marketing mail from going out, as far as no DNS is asked. */
  lacks(project_id: number): Lack[] {
    const addresses = this.addressesOf(project_id);
    const settings = this.settings(project_id);
    const outlets = outletLacks({
      settings,
      mailboxes: this.isCaptured(project_id) ? null : addresses.length === 0 ? [] : 'not_looked_up',
      problem_of_mailboxes: this.problemOfMailboxes(project_id),
      problem_of_links: this.problemOfLinks(project_id),
    });
    return [...senderLacks(settings), ...outlets];
  }

  /**
   * Why links in a project's marketing mail would lead their readers nowhere; null where they work, or none
   * of it leaves this machine.
   */
  problemOfLinks(project_id: number): string | null {
    return this.#problemOfLinksFrom(() => this.#usesOf(project_id));
  }

  /** As `problemOfLinks`, of the mails that ask to confirm a sign-up to a list, by its `from`. */
  problemOfConfirmations(project_id: number, from: string | null): string | null {
    return this.#problemOfLinksFrom(() => this.#confirmingUsesOf(project_id, from));
  }

  #problemOfLinksFrom(usesOf: () => MailboxUse[]): string | null {
    const { public_url, served_at } = this.deps;
    if (!isLoopbackUrl(public_url)) return null;
    const relaying = usesOf().find(({ relay_host }) => relay_host !== null && !isLoopback(relay_host));
    if (!relaying) return null;
    return (
      `Links in mails would begin with ${public_url}, which nobody else can reach, and ${relaying.address} mails the world: ` +
      'set SATCHEL_PUBLIC_URL to the address by which readers reach this server, and start it again.' +
      (served_at === null ? '' : ` It runs at ${served_at}.`)
    );
  }

  #merge(read: Tx, project_id: number, changes: SettingsChanges) {
    const { merged, errors } = mergeSettings(this.settings(project_id, read), changes);
    const known = this.deps.mailboxes
      .listUses(project_id)
      .flatMap(({ for_marketing, is_active, address }) => (for_marketing && is_active ? [address] : []));
    changes.accounts?.forEach((address, index) => {
      if (!known.includes(address))
        errors[`accounts.${index}`] = [
          `must be the address of an active mailbox for marketing that the project may send from (${LIST_MAILBOXES})`,
        ];
    });
    return { merged, errors };
  }
}

/** What a project has that never set anything. */
export const DEFAULT_SETTINGS: Settings = merge(FIELDS, null, {});

const WINDOW_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const COLOR = /^#[0-9a-f]{6}$/i;

/** The settings after a change, and every field of them that does not fit. */
export function mergeSettings(
  current: Settings,
  changes: SettingsChanges,
): { merged: Settings; errors: FieldErrors } {
  const errors: FieldErrors = {};
  const merged = merge(FIELDS, current, changes);
  for (const field of ['from_name', 'brand_name'] as const)
    if (/\p{Cc}/u.test(merged[field] ?? ''))
      errors[field] = ['must have no line breaks or other control characters'];
  checkWindow(merged, errors);
  if (!isTimeZone(merged.timezone)) errors.timezone = ['must be an IANA time zone, such as Europe/Berlin'];
  if (merged.brand_color !== null && !COLOR.test(merged.brand_color))
    errors.brand_color = ['must be a colour such as #1a73e8'];
  if (merged.brand_logo_url !== null && !merged.brand_logo_url.startsWith('https://'))
    errors.brand_logo_url = ['must begin with https://, or mail programs will not show it'];
  return { merged, errors };
}

function checkWindow(settings: Settings, errors: FieldErrors): void {
  const { send_window_start: start, send_window_end: end } = settings;
  for (const field of ['send_window_start', 'send_window_end'] as const) {
    const time = settings[field];
    if (time !== null && !WINDOW_TIME.test(time))
      errors[field] = ['must be a time HH:MM, from 00:00 to 23:59'];
  }
  if ((start === null) !== (end === null)) {
    const missing = start === null ? 'send_window_start' : 'send_window_end';
    errors[missing] ??= [
      'must be given together with the other end of the window; null for both means always',
    ];
  } else if (start !== null && start === end) {
    errors.send_window_end ??= ['must differ from send_window_start; null for both means always'];
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
