/**
 * Suppressions: addresses that get no marketing mail from a project, whatever list they are on. Only keyed hashes are
 * kept, so a suppression outlives the person's data without being any.
 */
import { invalid, notFound } from '../errors.ts';
import type { KeyedHash, KeyOwner, Marketing } from '../marketing/service.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type Clock, toIso } from '../platform/host/clock.ts';
import { newId } from '../platform/host/ids.ts';
import type { Actor } from '../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../platform/http/pagination.ts';
import { parseAddress } from '../platform/mail/address.ts';
import * as store from './store.ts';
import { SUPPRESSION_KINDS, type SuppressionKind, type SuppressionRow } from './tables.ts';

export { SUPPRESSION_KINDS, type SuppressionKind } from './tables.ts';

export interface SuppressionRecord {
  id: string;
  /** HMAC-SHA-256 of the address under the project's key, hex. */
  hash: string;
  kind: SuppressionKind;
  created_at: string;
}

/** Why an address, in its canonical form, is suppressed, or null; for as many addresses as the caller has. */
export type SuppressionCheck = (address: string) => SuppressionKind | null;

export interface SuppressionsDeps {
  database: Database;
  clock: Clock;
  marketing: Pick<Marketing, 'keys'>;
}

export class Suppressions {
  readonly #deps: SuppressionsDeps;

  constructor(deps: SuppressionsDeps) {
    this.#deps = deps;
  }

  /** Newest first; hashes only. */
  list(owner: KeyOwner, query: PageQuery): Page<SuppressionRecord> {
    const { read } = this.#deps.database;
    return paginate(query, {
      total: store.countSuppressions(read, owner.id),
      fetch: (limit, offset) => store.listSuppressions(read, owner.id, { limit, offset }).map(toRecord),
    });
  }

  /** The page that holds the suppression of one address, or none. Throws AppError `invalid` for what is no address. */
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
    const found = this.#findWritten(this.#deps.database.read, owner, address);
    return found ? toRecord(found) : null;
  }

  /** Looks addresses up within a read or a transaction. Throws AppError `unavailable` where no look-up is possible. */
  checker(read: Tx, owner: KeyOwner): SuppressionCheck {
    const hash = this.#hash(read, owner);
    return (address) => this.#find(read, owner, hash, address)?.kind ?? null;
  }

  /**
   * Suppresses an address, in its canonical form, within the transaction that learns of the reason. A weaker reason never takes the place of a
   * stronger one. Tells whether it was new.
   */
  add(
    tx: Tx,
    owner: KeyOwner,
    address: string,
    kind: SuppressionKind,
  ): { record: SuppressionRecord; is_new: boolean } {
    const now = this.#deps.clock.now();
    const hash = this.#deps.marketing.keys.obtain(tx, owner, 'suppression', now);
    const known = this.#find(tx, owner, hash, address);
    if (known) {
      const is_stronger = SUPPRESSION_KINDS.indexOf(kind) > SUPPRESSION_KINDS.indexOf(known.kind);
      if (is_stronger) store.setSuppressionKind(tx, known.id, kind);
      return { record: toRecord(is_stronger ? { ...known, kind } : known), is_new: false };
    }
    const row = {
      id: newId(now),
      project_id: owner.id,
      hash: hash(address),
      kind,
      created_at: now,
      mailbox: null,
    };
    store.insertSuppression(tx, row);
    return { record: toRecord(row), is_new: true };
  }

  /** Lifts a suppression, of whatever kind, and records who did. Throws AppError `not_found`. */
  lift(actor: Actor, owner: KeyOwner, of: { address: string } | { id: string }): Promise<SuppressionRecord> {
    return this.#deps.database.write((tx) => {
      const found =
        'id' in of
          ? store.findSuppressionById(tx, owner.id, of.id.toUpperCase())
          : this.#findWritten(tx, owner, of.address);
      if (!found) throw notFound('Suppression');
      store.deleteSuppression(tx, found.id);
      const { hash, kind } = found;
      recordAudit(
        tx,
        actor,
        {
          event: 'suppression.lifted',
          target: `suppression:${found.id}`,
          project: owner,
          metadata: { hash, kind },
        },
        this.#deps.clock.now(),
      );
      return toRecord(found);
    });
  }

  #hash(read: Tx, owner: KeyOwner): KeyedHash | null {
    return this.#deps.marketing.keys.find(read, owner, 'suppression');
  }

  #find(read: Tx, owner: KeyOwner, hash: KeyedHash | null, address: string): SuppressionRow | undefined {
    return hash === null ? undefined : store.findSuppression(read, owner.id, hash(address));
  }

  #findWritten(read: Tx, owner: KeyOwner, address: string): SuppressionRow | undefined {
    const email = canonical(address);
    return email === null ? undefined : this.#find(read, owner, this.#hash(read, owner), email);
  }
}

/** The one form in which an address is hashed and compared; null for what is no address. */
function canonical(address: string): string | null {
  return parseAddress(address.trim())?.address.toLowerCase() ?? null;
}

function toRecord(row: SuppressionRow): SuppressionRecord {
  return { id: row.id, hash: row.hash, kind: row.kind, created_at: toIso(row.created_at) };
}
