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
import type { Of } from './store.ts';
import type { VaultValueRow } from './tables.ts';

/** The environment that every vault has, and that is meant where none is named. */
export const PRODUCTION = 'production';

/** The project whose vault it is, and which environment is meant. */
export interface VaultOwner {
  readonly id: number;
  readonly public_id: string;
  readonly environment?: string;
}

/** Where the values of an owner's environment stand. */
export function ofOwner({ id, environment = PRODUCTION }: VaultOwner): Of {
  return { project_id: id, environment };
}

export interface OpenedField {
  service: VaultService;
  field: VaultField;
  row: VaultValueRow;
  /** Null when it does not decrypt, or was not to be. */
  bytes: Uint8Array | null;
  /** Null for what is no file. */
  filename: string | null;
}

interface Keys {
  tx: Tx;
  key_ring: KeyRing;
}

type Place = Pick<VaultValueRow, 'environment' | 'service' | 'field' | 'is_plain'>;

/** The bytes that are sealed for a place; null where they do not decrypt. */
export function openSealed(
  { tx, key_ring }: Keys,
  owner: VaultOwner,
  place: Place & { sealed: string },
): Uint8Array | null {
  return key_ring.open(tx, place.sealed, contextOf(owner, place));
}

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
  keys: Keys,
  owner: VaultOwner,
  rows: readonly VaultValueRow[],
  is_needed: (field: VaultField) => boolean,
): OpenedField[] {
  return VAULT_SERVICES.flatMap((service) =>
    fieldsIn(service, rows).flatMap((field) => {
      const row = rows.find((each) => each.service === service.service && each.field === field.field);
      if (!row) return [];
      const bytes = is_needed(field) ? openSealed(keys, owner, row) : null;
      return [{ service, field, row, bytes, filename: row.filename }];
    }),
  );
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

export const nameOf = ({ service, field }: OpenedField) => ({ service: service.service, field: field.field });

export function undecryptableOf(opened: readonly OpenedField[]): { service: string; field: string }[] {
  return opened.filter(({ bytes }) => !bytes).map(nameOf);
}

/** Whether it is production's, which the owner's environment inherits. */
const isInherited = (owner: VaultOwner, { row }: OpenedField): boolean =>
  row.environment !== ofOwner(owner).environment;

/**
 * The context that binds a sealed value to its place, and to its being shown without a reveal. Production's
 * names no environment; the others differ by their length as well.
 */
function contextOf(owner: VaultOwner, at: Place): string[] {
  const kind = at.is_plain ? ['plain'] : [];
  const environment = at.environment === PRODUCTION ? [] : ['environment', at.environment];
  return ['vault', owner.public_id, at.service, at.field, ...kind, ...environment];
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
  owner: VaultOwner,
  service: VaultService,
  stored: readonly OpenedField[],
  changes: ReadonlyMap<string, number>,
): ServiceMetadata {
  const own = stored.filter((each) => each.service === service);
  const plain = own.filter(({ field }) => !field.secret);
  const fields = service.free_form ? own.map(({ field }) => field) : service.fields;
  const told = own.filter(({ row }) => row.expires_at !== null || row.note !== null);
  return {
    environment: ofOwner(owner).environment,
    service: service.service,
    label: service.label,
    values: Object.fromEntries(plain.map(({ field, bytes }) => [field.field, bytes ? textOf(bytes) : null])),
    present: Object.fromEntries(
      fields.map((field) => [field.field, own.some((each) => each.field === field)]),
    ),
    inherited: own.filter((each) => isInherited(owner, each)).map(({ field }) => field.field),
    about: Object.fromEntries(
      told.map(({ field, row }) => [field.field, { expires_at: toIso(row.expires_at), note: row.note }]),
    ),
    updated_at: toIso(changes.get(service.service) ?? null),
  };
}

/** Everything in clear text; the service that was asked for is there even when nothing of it is stored. */
export function presentReveal(
  owner: VaultOwner,
  opened: readonly OpenedField[],
  asked: VaultService | null,
): RevealedVault {
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
    inherited: opened.filter((each) => isInherited(owner, each)).map(nameOf),
    undecryptable: undecryptableOf(opened),
    shadowed: blocks.flatMap(({ shadowed }) => shadowed),
    unquotable: blocks.flatMap(({ unquotable }) => unquotable),
  };
}

function presentField({ field, bytes, filename }: OpenedField): [string, RevealedValue][] {
  return bytes ? [[field.field, presentValue(bytes, filename)]] : [];
}

/** A value as reveals have it. */
export function presentValue(bytes: Uint8Array, filename: string | null): RevealedValue {
  return filename === null
    ? textOf(bytes)
    : { filename, content_base64: Buffer.from(bytes).toString('base64') };
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
