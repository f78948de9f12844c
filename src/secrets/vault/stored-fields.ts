/**
 * Stored fields into their seal and out of it: it binds each to its place and, in `env`, to its kind. And how they are
 * shown: metadata, reveals, env entries.
 */

import type { Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import { buildEnvBlock, ENV_TARGETS, type EnvEntry } from './env-blocks.ts';
import { freeFormField, VAULT_SERVICES, type VaultField, type VaultService } from './registry.ts';
import type { RevealedValue, RevealedVault, ServiceMetadata } from './schemas.ts';
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

/** The context that binds a sealed value to its place, and to its being shown without a reveal. */
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

/** Values of plain fields and the presence of all of them; secrets may be left sealed. */
export function describeService(
  service: VaultService,
  stored: readonly OpenedField[],
  changes: ReadonlyMap<string, number>,
): ServiceMetadata {
  const own = stored.filter((each) => each.service === service);
  const plain = own.filter(({ field }) => !field.secret);
  const fields = service.free_form ? own.map(({ field }) => field) : service.fields;
  return {
    service: service.service,
    label: service.label,
    values: Object.fromEntries(plain.map(({ field, bytes }) => [field.field, bytes ? textOf(bytes) : null])),
    present: Object.fromEntries(
      fields.map((field) => [field.field, own.some((each) => each.field === field)]),
    ),
    updated_at: toIso(changes.get(service.service) ?? null),
  };
}

/** Everything in clear text; the service that was asked for is there even when nothing of it is stored. */
export function presentReveal(opened: readonly OpenedField[], asked: VaultService | null): RevealedVault {
  const services = new Set(asked ? [asked] : opened.map((each) => each.service));
  const entries = envEntriesOf(opened);
  const blocks = ENV_TARGETS.map((target) => ({ target, ...buildEnvBlock(entries, target) }));
  return {
    services: Object.fromEntries(
      [...services].map((service) => {
        const own = opened.filter((each) => each.service === service);
        return [service.service, Object.fromEntries(own.flatMap(presentField))];
      }),
    ),
    env: Object.fromEntries(blocks.flatMap(({ target, text }) => (text === null ? [] : [[target, text]]))),
    undecryptable: undecryptableOf(opened),
    shadowed: blocks.flatMap(({ shadowed }) => shadowed),
    unquotable: blocks.flatMap(({ unquotable }) => unquotable),
  };
}

function presentField({ field, bytes, filename }: OpenedField): [string, RevealedValue][] {
  if (!bytes) return [];
  if (filename === null) return [[field.field, textOf(bytes)]];
  return [[field.field, { filename, content_base64: Buffer.from(bytes).toString('base64') }]];
}

/** What env blocks are made of: files stand in none. */
export function envEntriesOf(opened: readonly OpenedField[]): EnvEntry[] {
  return opened
    .filter(({ field }) => !field.file)
    .map(({ service, field, bytes }) => ({
      service: service.service,
      field: field.field,
      env_key: field.env_key,
      free_form: service.free_form,
      client_safe: field.client_safe,
      value: bytes && textOf(bytes),
    }));
}
