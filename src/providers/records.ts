/** What all records of providers share: how they are named, who may see and change them, how their secrets are sealed. */

import type { RecordRef, Scope } from '../database-accounts/store.ts';
import { AppError, type FieldErrors, forbidden, invalid, notFound } from '../errors.ts';
import { SECRET_PREFIX_CHARS } from '../limits.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import { type Database, sqliteErrorOf, type Tx } from '../platform/database/database.ts';
import type { Clock } from '../platform/host/clock.ts';
import { isUlid } from '../platform/host/ids.ts';
import type { Actor, TokenCaller } from '../platform/http/callers.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../platform/secrets/key-ring.ts';

export interface ProviderDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
}

/** A numeric id or a ULID, or null for what is neither. */
export function readRef(ref: string | number): RecordRef | null {
  const text = String(ref);
  if (/^\d{1,15}$/.test(text)) return { id: Number(text) };
  return isUlid(text) ? { public_id: text.toUpperCase() } : null;
}

/** Ids of the projects whose records a token sees; null for those of all. */
export function scopeOf(caller: TokenCaller): Scope {
  return caller.all_projects ? null : caller.project_ids;
}

/**
 * The projects that get what a token creates: its own, none for a token of all projects. Throws AppError `forbidden` for
 * a scoped token without a project left, which could not see what it made.
 */
export function projectsOfNewRecord(caller: TokenCaller): readonly number[] {
  if (caller.all_projects) return [];
  if (caller.project_ids.length === 0) {
    throw forbidden('This access token is scoped to projects that are gone, so it can create nothing.');
  }
  return caller.project_ids;
}

/** A scoped token changes only what concerns its own projects. Throws AppError `forbidden`. */
export function refuseBeyondScope(
  caller: TokenCaller,
  record: { all_projects?: boolean; project_ids: readonly number[] },
): void {
  const scope = scopeOf(caller);
  if (scope === null) return;
  if (record.all_projects || record.project_ids.some((id) => !scope.includes(id))) {
    throw forbidden(
      'This record serves projects outside the scope of this access token, so only a token of all projects may change it.',
    );
  }
}

/** Throws AppError `invalid` for fields that are null though a record must have them. */
export function refuseNull(changes: Readonly<Record<string, unknown>>): void {
  const errors: FieldErrors = {};
  for (const [field, value] of Object.entries(changes))
    if (value === null) errors[field] = ['must not be null'];
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

/** The start of a secret, by which its owner recognises it: at most a quarter of it. */
export function prefixOf(secret: string): string {
  return secret.slice(0, Math.min(SECRET_PREFIX_CHARS, Math.floor(secret.length / 4)));
}

/** Which secret of which record: what binds it to its place. */
export interface SecretPlace {
  kind: 'database_account' | 'database_project' | 'ai_account';
  public_id: string;
  field: string;
}

const contextOf = (place: SecretPlace): string[] => [place.kind, place.public_id, place.field];

export function sealSecret(key_ring: KeyRing, tx: Tx, place: SecretPlace, secret: string): string {
  return key_ring.seal(tx, PLATFORM_SCOPE, contextOf(place), secret);
}

/** The secret, or null when it does not decrypt. */
export function openSecret(key_ring: KeyRing, read: Tx, place: SecretPlace, sealed: string): string | null {
  return key_ring.openText(read, sealed, contextOf(place));
}

/** A stored secret that does not decrypt, and whose it is. */
export interface LostSecret {
  kind: SecretPlace['kind'];
  id: number;
  name: string;
  field: string;
}

/** Those of a record's secrets that do not decrypt; null is none. Nothing leaves, so nothing is put on record. */
export function listLost(
  key_ring: KeyRing,
  read: Tx,
  record: { id: number; name: string },
  secrets: readonly { place: SecretPlace; sealed: string | null }[],
): LostSecret[] {
  const { id, name } = record;
  return secrets
    .filter(({ place, sealed }) => sealed !== null && openSecret(key_ring, read, place, sealed) === null)
    .map(({ place: { kind, field } }) => ({ kind, id, name, field }));
}

/** The page that holds a whole list: to SQLite a negative limit is none. */
export const WHOLE_LIST = { limit: -1, offset: 0 };

/** A stored secret that cannot be shown. */
export function undecryptable(): AppError {
  return new AppError(
    'conflict',
    'The stored secret does not decrypt: it, or its key, is damaged. Store it again.',
    {
      code: 'PLAINTEXT_UNAVAILABLE',
      details: { reason: 'undecryptable' },
    },
  );
}

/** One line of the audit trail about a record. */
export function auditRecord(
  tx: Tx,
  actor: Actor,
  event: `${SecretPlace['kind']}.${string}`,
  record: { id: number; name: string },
  metadata: Record<string, unknown>,
  now_ms: number,
): void {
  const target = `${event.slice(0, event.indexOf('.'))}:${record.id}`;
  recordAudit(
    tx,
    actor,
    { event, target, project: null, metadata: { name: record.name, ...metadata } },
    now_ms,
  );
}

/** The project, or the account that a record names, may have been deleted since it was looked up. */
export function explainMissing(error: unknown): never {
  const code = sqliteErrorOf(error)?.code;
  throw code === 'SQLITE_CONSTRAINT_FOREIGNKEY' ? notFound('Project or account') : error;
}
