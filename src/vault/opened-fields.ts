/** Fields that were taken out of their seal, and how they are shown: metadata, reveals, env entries. */
import { toIso } from '../platform/host/clock.ts';
import { buildEnvBlocks, type EnvEntry } from './env-blocks.ts';
import type { VaultField, VaultService } from './registry.ts';
import type { RevealedVault, ServiceMetadata } from './schemas.ts';

export interface OpenedField {
  service: VaultService;
  field: VaultField;
  /** Null when it does not decrypt, or was not to be. */
  bytes: Uint8Array | null;
  /** Null for what is no file. */
  filename: string | null;
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

/** Values of plain fields and the presence of all of them; secrets may be left sealed. */
export function describeService(
  service: VaultService,
  stored: readonly OpenedField[],
  changes: ReadonlyMap<string, number>,
): ServiceMetadata {
  const own = stored.filter((each) => each.service === service);
  const plain = own.filter(({ field }) => !field.secret);
  return {
    service: service.service,
    label: service.label,
    values: Object.fromEntries(plain.map(({ field, bytes }) => [field.field, bytes ? textOf(bytes) : null])),
    present: Object.fromEntries(
      service.fields.map((field) => [field.field, own.some((each) => each.field === field)]),
    ),
    updated_at: toIso(changes.get(service.service) ?? null),
  };
}

/** Everything in clear text; the service that was asked for is there even when nothing of it is stored. */
export function presentReveal(opened: readonly OpenedField[], asked: VaultService | null): RevealedVault {
  const services: RevealedVault['services'] = {};
  if (asked) services[asked.service] = {};
  for (const { service, field, bytes, filename } of opened) {
    const values = services[service.service] ?? {};
    services[service.service] = values;
    if (!bytes) continue;
    values[field.field] =
      filename === null ? textOf(bytes) : { filename, content_base64: Buffer.from(bytes).toString('base64') };
  }
  return { services, env: buildEnvBlocks(envEntriesOf(opened)), undecryptable: undecryptableOf(opened) };
}

/** What env blocks are made of: files stand in none. */
export function envEntriesOf(opened: readonly OpenedField[]): EnvEntry[] {
  return opened.flatMap(({ field, bytes }) =>
    bytes && !field.file
      ? [{ env_key: field.env_key, client_safe: field.client_safe, value: textOf(bytes) }]
      : [],
  );
}

export function undecryptableOf(opened: readonly OpenedField[]): { service: string; field: string }[] {
  return opened
    .filter(({ bytes }) => !bytes)
    .map(({ service, field }) => ({ service: service.service, field: field.field }));
}
