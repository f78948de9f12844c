/** How a value is stored, and what stays of the one before; and what the trails say of a vault. */
import { type AuditEntry, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Actor } from '../../platform/http/callers.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import type { VaultFile } from './changes.ts';
import { noteChanges } from './environments.ts';
import type { VaultField, VaultService } from './registry.ts';
import * as store from './store.ts';
import { ofOwner, openSealed, sealField, type VaultOwner } from './stored-fields.ts';
import type { RevealHow, VersionKind } from './tables.ts';
import * as versions from './version-store.ts';

/** Decision: values that a field has held before, and files. */
const MAX_PAST_VALUES = 20;
const MAX_PAST_FILES = 5;

/** Who changes a vault, and when. */
export interface Writing {
  tx: Tx;
  key_ring: KeyRing;
  actor: Actor;
  now_ms: number;
}

export interface FieldChange {
  field: VaultField;
  /** Null removes the field. */
  content: string | VaultFile | null;
  /** Of the service `env`. */
  is_plain: boolean;
}

/** Stores and removes fields of a service; counts that as one change, if anything came of it. */
export function putFields(
  writing: Writing,
  owner: VaultOwner,
  {
    service,
    changes,
    kind = 'set',
  }: { service: VaultService; changes: readonly FieldChange[]; kind?: VersionKind },
): void {
  const { tx, now_ms } = writing;
  store.touchService(tx, { ...ofOwner(owner), service: service.service, updated_at: now_ms });
  const changed = changes.filter((change) => putField(writing, owner, service, change, kind));
  noteChanges(tx, owner, {
    service: service.service,
    fields: changed.map(({ field }) => field.field),
    at: now_ms,
  });
}

/** Whether the value is another one now. Storing what is stored makes no version. */
function putField(
  writing: Writing,
  owner: VaultOwner,
  service: VaultService,
  { field, content, is_plain }: FieldChange,
  kind: VersionKind,
): boolean {
  const { tx, key_ring, now_ms } = writing;
  const place = { ...ofOwner(owner), service: service.service, field: field.field };
  const stored = store.findValue(tx, place);
  if (content === null) {
    if (!stored) return false;
    keepVersion(writing, place, { kind: 'removed', filename: null, is_file: field.file });
    return store.deleteValue(tx, place) > 0;
  }
  const bytes = typeof content === 'string' ? Buffer.from(content) : content.bytes;
  const filename = typeof content === 'string' ? null : content.filename;
  const present = stored && openSealed({ tx, key_ring }, owner, stored);
  const is_same = stored?.filename === filename && present !== null && Buffer.compare(present, bytes) === 0;
  if (is_same && stored.is_plain === is_plain) return false;
  if (!is_same) keepVersion(writing, place, { kind, filename, is_file: field.file });
  const sealed = sealField({ tx, key_ring }, owner, { ...place, is_plain }, bytes);
  store.putValue(tx, { ...place, sealed, filename, is_plain, created_at: now_ms, updated_at: now_ms });
  // When the former one would have ended says nothing of this one.
  if (!is_same && stored) store.setAbout(tx, { ...place, expires_at: null, note: stored.note });
  return !is_same;
}

/** Writes a change down, and keeps what it takes the place of, before that goes. */
function keepVersion(
  { tx, actor, now_ms }: Writing,
  place: store.Place,
  { kind, filename, is_file }: { kind: VersionKind; filename: string | null; is_file: boolean },
): void {
  versions.endVersion(tx, { ...place, ended_at: now_ms });
  versions.insertVersion(tx, {
    ...place,
    id: newId(now_ms),
    kind,
    filename,
    changed_at: now_ms,
    ended_at: kind === 'removed' ? now_ms : null,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
  });
  versions.dropOldest(tx, { ...place, keep: is_file ? MAX_PAST_FILES : MAX_PAST_VALUES });
}

/** Puts what is done to a vault on the audit trail, with the environment. */
export function auditVault(
  { tx, actor, now_ms }: Omit<Writing, 'key_ring'>,
  owner: VaultOwner,
  { metadata, ...entry }: Omit<AuditEntry, 'target' | 'project'>,
): void {
  const { environment } = ofOwner(owner);
  const told = { ...entry, metadata: { environment, ...metadata } };
  recordAudit(tx, actor, { ...told, target: `project:${owner.id}`, project: owner }, now_ms);
}

/** Puts a reveal on record. A minute of a tool that speaks KV is one. */
export function recordReveal(
  { tx, actor, now_ms }: Omit<Writing, 'key_ring'>,
  owner: VaultOwner,
  revealed: { how: RevealHow; service: string | null; field: string | null; version?: string },
): void {
  const of = ofOwner(owner);
  const { version, ...scope } = revealed;
  const asked = { ...of, since_ms: now_ms - MINUTE_MS, kind: actor.kind, id: actor.id };
  if (scope.how === 'kv' && store.wasReadSince(tx, asked)) return;
  store.insertReveal(tx, {
    ...of,
    ...scope,
    at: now_ms,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    ip: actor.ip,
  });
  auditVault({ tx, actor, now_ms }, owner, { event: 'vault.revealed', metadata: revealed });
}
