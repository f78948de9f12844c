/** Stored fields into their seal and out of it: it binds each to its place and, in `env`, to its kind. */
import type { Tx } from '../../platform/database/database.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import { freeFormField, VAULT_SERVICES, type VaultField, type VaultService } from './registry.ts';
import type { VaultValueRow } from './tables.ts';

/** The project whose vault it is. */
export interface VaultOwner {
  readonly id: number;
  readonly public_id: string;
}

export interface OpenedField {
  service: VaultService;
  field: VaultField;
  /** Null when it does not decrypt, or was not to be. */
  bytes: Uint8Array | null;
  /** Null for what is no file. */
  filename: string | null;
}

interface Keys {
  tx: Tx;
  key_ring: KeyRing;
}

type Place = Pick<VaultValueRow, 'service' | 'field' | 'is_plain'>;

export function sealField(
  { tx, key_ring }: Keys,
  owner: VaultOwner,
  place: Place,
  content: string | Uint8Array,
): string {
  return key_ring.seal(tx, projectScope(owner.public_id), contextOf(owner, place), content);
}

/** Rows in the registry's order, names sorted, decrypted where `is_needed`. Unknown rows are skipped. */
export function openFields(
  { tx, key_ring }: Keys,
  owner: VaultOwner,
  rows: readonly VaultValueRow[],
  is_needed: (field: VaultField) => boolean,
): OpenedField[] {
  return VAULT_SERVICES.flatMap((service) =>
    fieldsIn(service, rows).flatMap((field) => {
      const row = rows.find((each) => each.service === service.service && each.field === field.field);
      if (!row) return [];
      const bytes = is_needed(field) ? key_ring.open(tx, row.sealed, contextOf(owner, row)) : null;
      return [{ service, field, bytes, filename: row.filename }];
    }),
  );
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

export function undecryptableOf(opened: readonly OpenedField[]): { service: string; field: string }[] {
  return opened
    .filter(({ bytes }) => !bytes)
    .map(({ service, field }) => ({ service: service.service, field: field.field }));
}

/** What binds a sealed value to its place, and to its being shown without a reveal. */
function contextOf(owner: VaultOwner, at: Place): string[] {
  return ['vault', owner.public_id, at.service, at.field, ...(at.is_plain ? ['plain'] : [])];
}

function fieldsIn(service: VaultService, rows: readonly VaultValueRow[]): readonly VaultField[] {
  if (!service.free_form) return service.fields;
  return rows
    .filter((row) => row.service === service.service)
    .map((row) => freeFormField(row.field, row.is_plain))
    .sort((a, b) => (a.field < b.field ? -1 : 1));
}
