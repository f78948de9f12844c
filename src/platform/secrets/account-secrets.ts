/**
 * Secrets of accounts at other companies, which belong to no project: how they are bound to their record and sealed, how
 * their owner recognises them, what is put on record, and what is said of one that does not decrypt.
 */
import { AppError } from '../../errors.ts';
import { SECRET_PREFIX_CHARS } from '../../limits.ts';
import { recordAudit } from '../database/audit-trail.ts';
import type { Database, Tx } from '../database/database.ts';
import type { Clock } from '../host/clock.ts';
import type { Actor } from '../http/callers.ts';
import { type KeyRing, PLATFORM_SCOPE } from './key-ring.ts';

/** What a capability with such accounts stands on. */
export interface AccountDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
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
