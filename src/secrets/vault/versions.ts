/** What the vault has held: each change of a value keeps the one before, sealed, for a while. */
import { AppError, notFound } from '../../errors.ts';
import { SWEEP_BATCH } from '../../limits.ts';
import { type Database, explainMissing } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { settleKinds } from './changes.ts';
import { requirePresent } from './environments.ts';
import { requireVaultField, type VaultService } from './registry.ts';
import type { RevealedVersion, ServiceMetadata, VaultVersion } from './schemas.ts';
import { UNDECRYPTABLE, type Vault } from './service.ts';
import * as store from './store.ts';
import { ofOwner, openSealed, presentValue, textOf, type VaultOwner } from './stored-fields.ts';
import * as versions from './version-store.ts';
import { auditVault, putFields, recordReveal } from './writing.ts';

/** Decision: how long a value is kept once it was replaced or removed. */
const RETENTION_MS = 180 * DAY_MS;

/** Of which service, and which of its fields; of all, where none is named. */
interface Past {
  service?: VaultService | undefined;
  field?: string | undefined;
}

export class VaultVersions {
  constructor(private readonly deps: { database: Database; clock: Clock; key_ring: KeyRing; vault: Vault }) {}

  /** A page, newest first. Throws AppError `invalid` for what can be no field. */
  list(owner: VaultOwner, past: Past, query: PageQuery): Page<VaultVersion> {
    const { read } = this.deps.database;
    const of = pastOf(owner, past);
    return paginate(query, {
      total: versions.countVersions(read, of),
      fetch: (limit, offset) => versions.listVersions(read, { ...of, limit, offset }),
    }).map(present);
  }

  /** Throws AppError `not_found`. */
  require(owner: VaultOwner, { service }: VaultService, id: string): versions.VersionRow {
    const at = { ...ofOwner(owner), service, id: id.toUpperCase() };
    const found = versions.findVersion(this.deps.database.read, at);
    if (!found) throw notFound('Version');
    return found;
  }

  /**
   * What a field held, on record before it leaves. Throws AppError `not_found` for a version that is gone or
   * was a removal, `conflict` PLAINTEXT_UNAVAILABLE where it does not decrypt.
   */
  async reveal(
    actor: Actor,
    owner: VaultOwner,
    service: VaultService,
    version: string,
  ): Promise<RevealedVersion> {
    const { database, clock } = this.deps;
    const { id, field } = this.#sealedOf(owner, service, version);
    await database
      .write((tx) => {
        const revealed = { how: 'version' as const, service: service.service, field, version: id };
        recordReveal({ tx, actor, now_ms: clock.now() }, owner, revealed);
      })
      .catch(explainMissing('Project'));
    // It may have been purged, or be past, by now.
    const row = this.#sealedOf(owner, service, version);
    return { version: id, field, value: presentValue(this.#open(owner, row), row.filename) };
  }

  /**
   * Stores what a field held. A name of `env` is secret afterwards if it is now, or was then. Throws as
   * `reveal`, and AppError `invalid` where there would be too many names.
   */
  async restore(
    actor: Actor,
    owner: VaultOwner,
    service: VaultService,
    version: string,
  ): Promise<ServiceMetadata> {
    const { database, clock, key_ring, vault } = this.deps;
    const now_ms = clock.now();
    await database
      .write((tx) => {
        requirePresent(tx, owner);
        const row = this.#sealedOf(owner, service, version, tx);
        const bytes = this.#open(owner, row);
        const field = requireVaultField(service, row.field);
        const content = row.filename === null ? textOf(bytes) : { filename: row.filename, bytes };
        const names = store.listNames(tx, ofOwner(owner), service.service);
        const is_plain = row.is_plain && names.get(row.field) !== false;
        settleKinds(names, [{ field, content }], undefined);
        const writing = { tx, key_ring, actor, now_ms };
        putFields(writing, owner, { service, changes: [{ field, content, is_plain }], kind: 'restored' });
        auditVault(writing, owner, {
          event: 'vault.restored',
          metadata: { service: service.service, field: row.field, version: row.id },
          changes: { [row.field]: { secret: true } },
        });
      })
      .catch(explainMissing('Project'));
    return vault.describeService(owner, service);
  }

  /** How many versions a purge would forget. */
  count(owner: VaultOwner, past: Past): number {
    return versions.countPast(this.deps.database.read, pastOf(owner, past));
  }

  /** Forgets all but what is stored now, of all services, of one, or of one field of it. */
  purge(actor: Actor, owner: VaultOwner, past: Past): Promise<{ deleted: number }> {
    const of = pastOf(owner, past);
    return this.deps.database.write((tx) => {
      requirePresent(tx, owner);
      const deleted = versions.purgeVersions(tx, of);
      const metadata = { service: of.service, field: of.field, deleted };
      auditVault({ tx, actor, now_ms: this.deps.clock.now() }, owner, { event: 'vault.purged', metadata });
      return { deleted };
    });
  }

  /** Forgets what was replaced or removed long ago. */
  async sweep(): Promise<void> {
    const { database, clock } = this.deps;
    const before_ms = clock.now() - RETENTION_MS;
    while (
      (await database.writePiece((tx) => versions.deleteVersionsEndedBefore(tx, before_ms, SWEEP_BATCH))) > 0
    ) {}
  }

  /** A version with its value: of the present one that is where it is stored. */
  #sealedOf(
    owner: VaultOwner,
    service: VaultService,
    id: string,
    read = this.deps.database.read,
  ): versions.VersionRow & { sealed: string } {
    const row = this.require(owner, service, id);
    const stored = row.kind !== 'removed' && row.ended_at === null ? store.findValue(read, row) : row;
    if (!stored || stored.sealed === null) throw notFound('Version with a value');
    return { ...row, sealed: stored.sealed, is_plain: stored.is_plain };
  }

  #open(owner: VaultOwner, row: versions.VersionRow & { sealed: string }): Uint8Array {
    const { database, key_ring } = this.deps;
    const bytes = openSealed({ tx: database.read, key_ring }, owner, row);
    if (bytes) return bytes;
    throw new AppError('conflict', 'What was stored does not decrypt: it, or its key, is damaged.', {
      code: UNDECRYPTABLE,
      details: { reason: 'undecryptable' },
    });
  }
}

function pastOf(owner: VaultOwner, { service, field }: Past): versions.Past {
  const known = service && field !== undefined ? requireVaultField(service, field).field : null;
  return { ...ofOwner(owner), service: service?.service ?? null, field: known };
}

function present(row: versions.VersionRow): VaultVersion {
  return {
    version: row.id,
    service: row.service,
    field: row.field,
    kind: row.kind,
    is_current: Boolean(row.is_current),
    filename: row.filename,
    changed_at: toIso(row.changed_at),
    by: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  };
}
