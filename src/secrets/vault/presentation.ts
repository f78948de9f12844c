/** How stored fields are shown: metadata, reveals, env entries. */
import { toIso } from '../../platform/host/clock.ts';
import { buildEnvBlock, ENV_TARGETS, type EnvEntry } from './env-blocks.ts';
import type { VaultService } from './registry.ts';
import type { RevealedValue, RevealedVault, ServiceMetadata } from './schemas.ts';
import { type OpenedField, textOf, undecryptableOf } from './sealed-fields.ts';

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
