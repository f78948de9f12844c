/**
 * Suppressions: addresses that get no marketing mail from a project, whatever list they are on. Only keyed
 * hashes are kept, so a suppression outlives the person's data without being any.
 */
import { invalid, notFound } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import type { KeyedHash, KeyOwner, MarketingSettings } from '../settings/service.ts';
import type { Departed } from './schemas.ts';
import * as store from './store.ts';
import { SUPPRESSION_KINDS, type SuppressionKind, type SuppressionRow } from './tables.ts';

export type { Departed } from './schemas.ts';
export { SUPPRESSION_KINDS, type SuppressionKind } from './tables.ts';

/**
 * Suppressions that are lifted in one transaction. A command lifts them beside the server, which waits
 * meanwhile.
 */
const LIFT_BATCH = 50;
const LIFT_PAUSE_MS = 25;
/** As many of an import, whose contacts get their status back one by one. */
const LIFT_IMPORTED_BATCH = 10;

export interface SuppressionRecord {
  id: string;
  /** HMAC-SHA-256 of the address under the project's key, hex. */
  hash: string;
  kind: SuppressionKind;
  created_at: string;
}

/** Why an address, in its canonical form, is suppressed, or null; for as many addresses as the caller has. */
export type SuppressionCheck = (address: string) => SuppressionKind | null;

/** How a suppression came. */
export interface AddedBy {
  /** The address of the mailbox whose mail came back. */
  mailbox?: string | null;
  /** By the reader's own link: a repeat of that adds no reason. */
  is_readers_own?: boolean;
}

/** What lifting needs of contacts, which stand on suppressions. */
export interface Bounced {
  /** Of these hashes, those of contacts that bounced, with the address; looked for in pieces. */
  findAddresses(
    owner: KeyOwner,
    hashes: ReadonlySet<string>,
    hash: KeyedHash,
  ): Promise<ReadonlyMap<string, string>>;
  /** Gives contacts of an address that bounced the status that they had, within a transaction; their ids. */
  restore(tx: Tx, owner: KeyOwner, address: string): string[];
  /**
   * Gives contacts that left by an import the status that they had, unless it changed since, or what that of `remaining` is, for which
   * the address is suppressed still. Within a transaction; `standing` are those that have not got back what they had.
   */
  giveBack(
    tx: Tx,
    owner: KeyOwner,
    of: { departures: readonly Departed[]; remaining: SuppressionKind | null },
  ): { restored: string[]; standing: Departed[] };
}

/** The outcome of lifting in bulk. */
interface Lifted {
  lifted: number;
  /** How many contacts have their status back. */
  restored: number;
}

export interface SuppressionsDeps {
  database: Database;
  clock: Clock;
  marketing: Pick<MarketingSettings, 'keys'>;
}

export class Suppressions {
  #bounced: Bounced | null = null;

  constructor(private readonly deps: SuppressionsDeps) {}

  /** Sets who gives bounced people their status back. */
  setBounced(bounced: Bounced): void {
    this.#bounced = bounced;
  }

  /** Newest first; hashes only. */
  list(owner: KeyOwner, query: PageQuery): Page<SuppressionRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countSuppressions(read, owner.id),
      fetch: (limit, offset) => store.listSuppressions(read, owner.id, { limit, offset }).map(present),
    });
  }

  /**
   * A page with the suppression of one address, or an empty one. Throws AppError `invalid` for what is no
   * address.
   */
  lookUp(owner: KeyOwner, address: string, query: PageQuery): Page<SuppressionRecord> {
    if (canonical(address) === null)
      throw invalid({ email: ['must be an email address, such as ann@example.com'] });
    const found = this.find(owner, address);
    return paginate(query, {
      total: found ? 1 : 0,
      fetch: (limit, offset) => (found ? [found].slice(offset, offset + limit) : []),
    });
  }

  /** The suppression of an address, however it is written; null where there is none. */
  find(owner: KeyOwner, address: string): SuppressionRecord | null {
    const found = this.#findWritten(this.deps.database.read, owner, address);
    return found ? present(found) : null;
  }

  /**
   * Looks addresses up within a read or a transaction; with `may_come_back` those who just left (`hasJustLeft`) pass, as they ask to
   * come back. Throws AppError `unavailable` where the project's key does not open.
   */
  checker(read: Tx, owner: KeyOwner, { may_come_back = false } = {}): SuppressionCheck {
    const hash = this.#hash(read, owner);
    return (address) => {
      const row = this.#find(read, owner, hash, address);
      return row === null || (may_come_back && hasJustLeft(row)) ? null : row.kind;
    };
  }

  /** Since when an address is suppressed as `unsubscribed` and for nothing else; null where it is not. */
  hasJustLeft(read: Tx, owner: KeyOwner, address: string): number | null {
    const row = this.#find(read, owner, this.#hash(read, owner), address);
    return row && hasJustLeft(row) ? row.created_at : null;
  }

  /** The hash under which an address is, or was, suppressed; null in a project that never suppressed any. */
  hashOf(read: Tx, owner: KeyOwner, address: string): string | null {
    return this.#hash(read, owner)?.(address) ?? null;
  }

  /**
   * Lifts the suppression of an address that just left before a moment, within a transaction. False, and nothing is changed, where it
   * is suppressed otherwise, or since.
   */
  comeBack(tx: Tx, owner: KeyOwner, address: string, before_ms: number): boolean {
    const row = this.#find(tx, owner, this.#hash(tx, owner), address);
    if (!row) return true;
    if (!hasJustLeft(row) || row.created_at >= before_ms) return false;
    store.deleteSuppression(tx, row.id);
    return true;
  }

  /**
   * Suppresses an address, in its canonical form, within the transaction that learns of the reason. A weaker
   * reason never takes the place of a stronger one; the strongest beside it is kept, unless it is the reader's own repeat.
   */
  add(
    tx: Tx,
    owner: KeyOwner,
    address: string,
    kind: SuppressionKind,
    { mailbox = null, is_readers_own = false }: AddedBy = {},
  ): { record: SuppressionRecord; is_new: boolean; is_stronger: boolean } {
    const { row, is_new } = this.#obtain(tx, owner, address, { kind, mailbox });
    if (is_new) return { record: present(row), is_new, is_stronger: false };
    const { own, imported } = reasonsOf(tx, row);
    const next = withReason(own, kind, is_readers_own);
    const changed = { ...row, mailbox: mailbox ?? row.mailbox };
    const saved = next === own ? row : this.#save(tx, changed, next, imported);
    return { record: present(saved ?? row), is_new, is_stronger: isStronger(kind, row.kind) };
  }

  /**
   * Suppresses an address as a row of an import says, within a transaction: `liftImport` takes it back. False, and nothing is changed,
   * where it is suppressed for that already.
   */
  addImported(
    tx: Tx,
    owner: KeyOwner,
    address: string,
    { import_id, kind, departures }: { import_id: string; kind: SuppressionKind; departures: Departed[] },
  ): boolean {
    const { row, is_new } = this.#obtain(tx, owner, address, { kind, mailbox: null });
    const own = is_new ? NO_REASONS : reasonsOf(tx, row).own;
    const known = store.findImported(tx, import_id, row.id);
    if ([own.kind, own.also_kind].includes(kind) || (known && !isStronger(kind, known.kind))) return false;
    const before = new Map(known?.departures.map((one) => [one.contact, one.status]));
    store.saveImported(tx, {
      import_id,
      suppression_id: row.id,
      kind,
      departures: departures.map((one) => ({ ...one, status: before.get(one.contact) ?? one.status })),
    });
    this.#save(tx, row, own, store.listImportedKinds(tx, row.id));
    return true;
  }

  /**
   * Takes the unsubscription of a moment back, within a transaction: its suppression goes, or says what else it was added for.
   * False, and nothing is changed, where the address unsubscribed or complained otherwise as well. `has_contacts`: whether the
   * address has contacts that left by it, and stand so.
   */
  withdraw(
    tx: Tx,
    owner: KeyOwner,
    { address, left_at, has_contacts }: { address: string; left_at: number; has_contacts: boolean },
  ): boolean {
    const row = this.#find(tx, owner, this.#hash(tx, owner), address);
    if (!row) return true;
    if (row.kind !== 'unsubscribed') return row.kind !== 'complaint';
    const { own, imported } = reasonsOf(tx, row);
    if (row.created_at > left_at || own.kind !== 'unsubscribed') return false;
    if (own.also_kind === 'unsubscribed' || imported.includes('unsubscribed')) return false;
    if (row.also_kind === null || has_contacts)
      this.#save(tx, row, { kind: own.also_kind, also_kind: null }, imported);
    return true;
  }

  /**
   * Lifts a suppression, of whatever kind, and records who did. Of a hard bounce, and of one by hand that
   * outlasted it, contacts of the address that bounced get the status that they had; whoever left or
   * complained keeps that status. Throws AppError `not_found`, also where it is of another kind than asked for.
   */
  async lift(
    actor: Actor,
    owner: KeyOwner,
    of: { address: string; kind?: SuppressionKind } | { id: string },
  ): Promise<SuppressionRecord> {
    const { read } = this.deps.database;
    const found =
      'id' in of
        ? store.findSuppressionById(read, owner.id, of.id.toUpperCase())
        : this.#findWritten(read, owner, of.address);
    const kind = 'kind' in of ? of.kind : found?.kind;
    if (!found || found.kind !== kind) throw notFound('Suppression');
    // With one of a kind alone, a person's own no stays.
    if ('kind' in of && found.also_kind === 'unsubscribed') throw notFound('Suppression');
    const addresses = await this.#addressesOf(owner, [found]);
    return this.deps.database.write((tx) => {
      const lifted = this.#lift(tx, actor, owner, { id: found.id, addresses });
      if (!lifted) throw notFound('Suppression');
      return present(lifted.row);
    });
  }

  /** How many hard bounces `liftBounces` would lift. */
  countBounces(owner: KeyOwner, of: { since_ms: number; mailbox: string | null }): number {
    return this.#bouncesSince(owner, of).length;
  }

  /**
   * Lifts the hard bounces since a moment, of one mailbox's mail where that is given, as `lift` does: a few
   * in a transaction, so that after a crash the same call does the rest.
   */
  async liftBounces(
    actor: Actor,
    owner: KeyOwner,
    of: { since_ms: number; mailbox: string | null },
  ): Promise<Lifted> {
    const found = this.#bouncesSince(owner, of);
    const addresses = await this.#addressesOf(owner, found);
    const total: Lifted = { lifted: 0, restored: 0 };
    for (let from = 0; from < found.length; from += LIFT_BATCH) {
      if (from > 0) await Bun.sleep(LIFT_PAUSE_MS);
      await this.deps.database.writePiece((tx) => {
        for (const { id } of found.slice(from, from + LIFT_BATCH)) {
          // Lifted meanwhile, or the person has complained.
          if (store.findSuppressionById(tx, owner.id, id)?.kind !== 'hard_bounce') continue;
          const lifted = this.#lift(tx, actor, owner, { id, addresses });
          total.lifted += 1;
          total.restored += lifted?.restored.length ?? 0;
        }
      });
    }
    return total;
  }

  /** How many addresses an import suppressed. */
  countImported(import_id: string): number {
    return store.countImported(this.deps.database.read, import_id);
  }

  /**
   * Takes back what an import suppressed, a few addresses in a transaction, so that after a crash the same call does the rest. What an
   * address is suppressed for besides stays: `lifted` are those that get marketing again.
   */
  async liftImport(actor: Actor, owner: KeyOwner, import_id: string): Promise<Lifted & { kept: number }> {
    const total = { lifted: 0, kept: 0, restored: 0 };
    for (;;) {
      const done = await this.deps.database.writePiece((tx) =>
        store
          .listImported(tx, import_id, LIFT_IMPORTED_BATCH)
          .map((of) => this.#liftImported(tx, actor, owner, of)),
      );
      for (const { is_lifted, restored } of done) {
        total[is_lifted ? 'lifted' : 'kept'] += 1;
        total.restored += restored;
      }
      if (done.length < LIFT_IMPORTED_BATCH) return total;
      await Bun.sleep(LIFT_PAUSE_MS);
    }
  }

  #liftImported(
    tx: Tx,
    actor: Actor,
    owner: KeyOwner,
    { import_id, suppression_id, kind, departures }: store.Imported,
  ): { is_lifted: boolean; restored: number } {
    const row = store.findSuppressionById(tx, owner.id, suppression_id);
    const own = row ? reasonsOf(tx, row).own : NO_REASONS;
    store.deleteImported(tx, import_id, suppression_id);
    const saved = row ? this.#save(tx, row, own, store.listImportedKinds(tx, row.id)) : null;
    const remaining = saved?.kind ?? null;
    const given = this.#bounced?.giveBack(tx, owner, { departures, remaining });
    const contacts = given?.restored ?? [];
    store.handOn(tx, suppression_id, given?.standing ?? []);
    if (row && !saved) {
      const { id, hash } = row;
      this.#noteLift(tx, actor, owner, { id, metadata: { hash, kind, import: import_id, contacts } });
    }
    return { is_lifted: remaining === null, restored: contacts.length };
  }

  /** The suppression of an address, which is made where there is none. */
  #obtain(
    tx: Tx,
    owner: KeyOwner,
    address: string,
    made: Pick<SuppressionRow, 'kind' | 'mailbox'>,
  ): { row: SuppressionRow; is_new: boolean } {
    const now = this.deps.clock.now();
    const hash = this.deps.marketing.keys.obtain(tx, owner, 'suppression', now);
    const known = this.#find(tx, owner, hash, address);
    if (known) return { row: known, is_new: false };
    const of = { id: newId(now), project_id: owner.id, hash: hash(address), created_at: now };
    const row = { ...of, ...made, also_kind: null, own_kind: null, own_also_kind: null };
    store.insertSuppression(tx, row);
    return { row, is_new: true };
  }

  /** Saves for what an address is suppressed; null where nothing is left. */
  #save(
    tx: Tx,
    row: SuppressionRow,
    own: Reasons,
    imported: readonly SuppressionKind[],
  ): SuppressionRow | null {
    const { kind, also_kind } = withImported(own, imported);
    if (kind === null) {
      store.deleteSuppression(tx, row.id);
      return null;
    }
    const { kind: own_kind, also_kind: own_also_kind } = imported.length > 0 ? own : NO_REASONS;
    const changes = { kind, also_kind, own_kind, own_also_kind, mailbox: row.mailbox };
    store.updateSuppression(tx, row.id, changes);
    return { ...row, ...changes };
  }

  #bouncesSince(owner: KeyOwner, of: { since_ms: number; mailbox: string | null }): SuppressionRow[] {
    return store.listSuppressionsSince(this.deps.database.read, owner.id, { kind: 'hard_bounce', ...of });
  }

  /** The addresses of hard bounces, by hash, as far as contacts have them. */
  async #addressesOf(owner: KeyOwner, of: readonly SuppressionRow[]): Promise<ReadonlyMap<string, string>> {
    const hashes = new Set(of.flatMap(({ kind, hash }) => (givesBack(kind) ? [hash] : [])));
    const hash = hashes.size === 0 ? null : this.#hash(this.deps.database.read, owner);
    return hash && this.#bounced ? this.#bounced.findAddresses(owner, hashes, hash) : new Map();
  }

  #lift(
    tx: Tx,
    actor: Actor,
    owner: KeyOwner,
    of: { id: string; addresses: ReadonlyMap<string, string> },
  ): { row: SuppressionRow; restored: string[] } | null {
    const row = store.findSuppressionById(tx, owner.id, of.id);
    if (!row) return null;
    store.deleteSuppression(tx, row.id);
    const { hash, kind } = row;
    const address = givesBack(kind) ? of.addresses.get(hash) : undefined;
    const restored = address === undefined ? [] : (this.#bounced?.restore(tx, owner, address) ?? []);
    const metadata = { hash, kind, ...(restored.length > 0 ? { contacts: restored } : {}) };
    this.#noteLift(tx, actor, owner, { id: row.id, metadata });
    return { row, restored };
  }

  #noteLift(
    tx: Tx,
    actor: Actor,
    owner: KeyOwner,
    { id, metadata }: { id: string; metadata: Record<string, unknown> },
  ): void {
    const entry = { event: 'suppression.lifted', target: `suppression:${id}`, project: owner, metadata };
    recordAudit(tx, actor, entry, this.deps.clock.now());
  }

  #hash(read: Tx, owner: KeyOwner): KeyedHash | null {
    return this.deps.marketing.keys.find(read, owner, 'suppression');
  }

  #find(read: Tx, owner: KeyOwner, hash: KeyedHash | null, address: string): SuppressionRow | null {
    return hash === null ? null : store.findSuppression(read, owner.id, hash(address));
  }

  #findWritten(read: Tx, owner: KeyOwner, address: string): SuppressionRow | null {
    const email = canonical(address);
    return email === null ? null : this.#find(read, owner, this.#hash(read, owner), email);
  }
}

const NO_REASONS: Reasons = { kind: null, also_kind: null };

/** What an address is suppressed for besides imports, and what these gave as reasons. */
function reasonsOf(read: Tx, row: SuppressionRow): { own: Reasons; imported: SuppressionKind[] } {
  const imported = store.listImportedKinds(read, row.id);
  const { kind, also_kind, own_kind, own_also_kind } = row;
  return {
    own: imported.length > 0 ? { kind: own_kind, also_kind: own_also_kind } : { kind, also_kind },
    imported,
  };
}

/** True where it unsubscribed, however often, and nothing else. */
function hasJustLeft({ kind, also_kind }: SuppressionRow): boolean {
  return kind === 'unsubscribed' && (also_kind === null || also_kind === 'unsubscribed');
}

/** True where lifting it gives contacts that bounced their status back. */
function givesBack(kind: SuppressionKind): boolean {
  return kind === 'hard_bounce' || kind === 'manual';
}

/** The one form in which an address is hashed and compared; null for what is no address. */
function canonical(address: string): string | null {
  return parseAddress(address.trim())?.address.toLowerCase() ?? null;
}

function present(row: SuppressionRow): SuppressionRecord {
  return { id: row.id, hash: row.hash, kind: row.kind, created_at: toIso(row.created_at) };
}

/** Why an address is suppressed: the strongest reason, and the strongest beside it. */
export interface Reasons {
  kind: SuppressionKind | null;
  also_kind: SuppressionKind | null;
}

/** Kinds stand weakest first. */
export function isStronger(kind: SuppressionKind, than: SuppressionKind | null): boolean {
  return than === null || SUPPRESSION_KINDS.indexOf(kind) > SUPPRESSION_KINDS.indexOf(than);
}

/** With one more; the reader's own repeat is none. */
export function withReason(reasons: Reasons, kind: SuppressionKind, is_readers_own: boolean): Reasons {
  if (reasons.kind === null) return { kind, also_kind: null };
  const is_stronger = isStronger(kind, reasons.kind);
  if (is_readers_own && !is_stronger) return reasons;
  const other = is_stronger ? reasons.kind : kind;
  return {
    kind: is_stronger ? kind : reasons.kind,
    also_kind: isStronger(other, reasons.also_kind) ? other : reasons.also_kind,
  };
}

/** With those that imports gave, of which none repeats another. */
export function withImported(own: Reasons, imported: readonly SuppressionKind[]): Reasons {
  const others = SUPPRESSION_KINDS.filter(
    (kind) => imported.includes(kind) && kind !== own.kind && kind !== own.also_kind,
  );
  return others.reduce((reasons, kind) => withReason(reasons, kind, false), own);
}
