/**
 * The vault: a project's credentials and configuration files. All is sealed and bound to its place. Secrets
 * leave by a reveal only, which is on record before it answers.
 */

import type { ProjectCascade, Projects } from '../../access/projects/service.ts';
import { AppError, collectErrors, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import { type AuditEntry, recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import { type Clock, MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import { about, type HealthCheck, sealedCheck, warning } from '../../platform/host/health-check.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { readChanges, settleKinds, type VaultFile } from './changes.ts';
import { buildEnvBlock, type EnvBlock, type EnvTarget, isPublicName, pickVariables } from './env-blocks.ts';
import { ENV, explainImport, readEnvFile } from './env-file.ts';
import {
  captchaTestSecret,
  requireVaultService,
  VAULT_SERVICES,
  type VaultField,
  type VaultService,
} from './registry.ts';
import type { EnvImport, RemovedService, RevealedVault, ServiceMetadata, VaultSummary } from './schemas.ts';
import * as store from './store.ts';
import {
  describeService,
  envEntriesOf,
  type OpenedField,
  openFields,
  presentReveal,
  sealField,
  textOf,
  undecryptableOf,
  type VaultOwner,
} from './stored-fields.ts';
import type { RevealHow, VaultValueRow } from './tables.ts';

export type { VaultOwner } from './stored-fields.ts';

/** The stored fields of one service: those that decrypt, and the names of those that do not. */
export interface OpenedService {
  values: Record<string, string>;
  undecryptable: string[];
}

/** Code of a value that its key does not open. */
export const UNDECRYPTABLE = 'PLAINTEXT_UNAVAILABLE';

/** The environment of all values. */
const PRODUCTION = 'production';

interface RevealScope {
  how: RevealHow;
  service?: VaultService;
  field?: VaultField;
}

/** A .env file; `field` is what its errors are told under. */
export interface EnvSubmission {
  text: string;
  field: string;
  plain?: readonly string[] | undefined;
}

export class Vault {
  constructor(private readonly deps: { database: Database; clock: Clock; key_ring: KeyRing }) {}

  /** Every service of the registry with what is stored of it; secrets by their presence alone. */
  describe(owner: VaultOwner): ServiceMetadata[] {
    const { read } = this.deps.database;
    const stored = this.#open(owner, store.listValues(read, owner.id), (field) => !field.secret);
    const changes = store.listChanges(read, owner.id);
    return VAULT_SERVICES.map((service) => describeService(service, stored, changes));
  }

  /** As `describe`, for one service. */
  describeService(owner: VaultOwner, service: VaultService): ServiceMetadata {
    const { read } = this.deps.database;
    const rows = store.listValues(read, owner.id, service.service);
    const stored = this.#open(owner, rows, (field) => !field.secret);
    return describeService(service, stored, store.listChanges(read, owner.id));
  }

  /** A project's vault in numbers. */
  summarize(owner: VaultOwner): VaultSummary {
    const rows = store.summarizeValues(this.deps.database.read, owner.id);
    const updated = rows.map((row) => row.updated_at ?? 0);
    return {
      present: Object.fromEntries(
        VAULT_SERVICES.map(({ service }) => [service, rows.some((row) => row.service === service)]),
      ),
      credentials_count: rows.reduce((sum, row) => sum + row.values, 0),
      files_count: rows.reduce((sum, row) => sum + row.files, 0),
      updated_at: updated.length > 0 ? toIso(Math.max(...updated)) : null,
    };
  }

  /** What is wrong with a submission to a service, by field. */
  errorsIn(
    owner: VaultOwner,
    service: VaultService,
    { values, plain }: { values?: unknown; plain?: readonly string[] },
  ): FieldErrors {
    const { changes, errors } = readChanges(service, { values, plain });
    const stored = store.listNames(this.deps.database.read, owner.id, service.service);
    // A name with a wrong value still counts as sent; where `values` is no object, any name may have been.
    const others = plain?.filter((name) => isPlainObject(values) && !Object.hasOwn(values, name));
    return { ...collectErrors(() => settleKinds(stored, changes, others)), ...errors };
  }

  /**
   * Stores given fields, removes those that are null, and leaves the others; all or nothing. A name of a
   * free-form service is secret unless `plain` names it; without `plain` it stays as it is, and a new one is as
   * `isPlainIfNew` says. Making one plain
   * takes its value, else whoever may not reveal it would see it. Throws AppError `invalid` for an unknown
   * field, a value that does not fit, or names past `MAX_ENV_NAMES`, `not_found` when the project is gone.
   */
  async set(
    actor: Actor,
    owner: VaultOwner,
    service: VaultService,
    values: unknown,
    plain?: readonly string[],
    isPlainIfNew?: (name: string) => boolean,
  ): Promise<ServiceMetadata> {
    const { changes, errors } = readChanges(service, { values, plain });
    refuseAll(errors);
    if (changes.length > 0 || plain) {
      const now = this.deps.clock.now();
      await this.deps.database
        .write((tx) => {
          // Read within the write, as kinds and number of names may have changed since the request came.
          const stored = store.listNames(tx, owner.id, service.service);
          const kinds = settleKinds(stored, changes, plain, isPlainIfNew);
          if (changes.length === 0) return;
          store.touchService(tx, { project_id: owner.id, service: service.service, updated_at: now });
          const changed = changes.filter(({ field, content }) =>
            this.#putField(
              tx,
              { owner, service, field, is_plain: kinds.get(field.field) ?? false },
              content,
              now,
            ),
          );
          if (changed.length > 0) store.noteChange(tx, owner.id, PRODUCTION, now);
          const set = changes.filter((each) => each.content !== null).map((each) => each.field.field);
          const removed = changes.filter((each) => each.content === null).map((each) => each.field.field);
          const metadata = { service: service.service, set, removed };
          const told = Object.fromEntries(
            [...set, ...removed].map((name) => [name, { secret: true as const }]),
          );
          this.#audit(tx, actor, { event: 'vault.updated', owner, metadata, changes: told }, now);
        })
        .catch(explainMissing('Project'));
    }
    return this.describeService(owner, service);
  }

  /**
   * Stores a .env file's variables in the service `env`, and tells what each replaces; a dry run only tells.
   * Throws AppError `invalid` as `readEnvFile` and `set` do.
   */
  async importEnv(
    actor: Actor,
    owner: VaultOwner,
    { text, field, plain, is_dry }: EnvSubmission & { is_dry: boolean },
  ): Promise<EnvImport> {
    const values = Object.fromEntries(readEnvFile(text, field));
    refuseAll(this.errorsIn(owner, ENV, { values, ...(plain ? { plain } : {}) }));
    const kinds = store.listNames(this.deps.database.read, owner.id, ENV.service);
    const names = explainImport(this.describe(owner), Object.keys(values), (name) =>
      plain ? plain.includes(name) : (kinds.get(name) ?? isPublicName(name)),
    );
    if (!is_dry) await this.set(actor, owner, ENV, values, plain, isPublicName);
    return { stored: !is_dry, names };
  }

  /** Whether that changed anything. */
  #putField(
    tx: Tx,
    at: { owner: VaultOwner; service: VaultService; field: VaultField; is_plain: boolean },
    content: string | VaultFile | null,
    now_ms: number,
  ): boolean {
    const { is_plain } = at;
    const place = { project_id: at.owner.id, service: at.service.service, field: at.field.field };
    if (content === null) return store.deleteValue(tx, place) > 0;
    const is_text = typeof content === 'string';
    store.putValue(tx, {
      ...place,
      sealed: sealField(
        { tx, key_ring: this.deps.key_ring },
        at.owner,
        { ...place, is_plain },
        is_text ? content : content.bytes,
      ),
      filename: is_text ? null : content.filename,
      is_plain,
      created_at: now_ms,
      updated_at: now_ms,
    });
    return true;
  }

  /** How much is stored of a service. */
  count(owner: VaultOwner, service: VaultService): RemovedService['cascade'] {
    return countStored(this.deps.database.read, owner, service);
  }

  /** Removes everything that is stored of a service, and tells how much that was. */
  remove(actor: Actor, owner: VaultOwner, service: VaultService): Promise<RemovedService> {
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const cascade = countStored(tx, owner, service);
      if (store.deleteService(tx, owner.id, service.service)) store.noteChange(tx, owner.id, PRODUCTION, now);
      const metadata = { service: service.service, cascade };
      this.#audit(tx, actor, { event: 'vault.deleted', owner, metadata }, now);
      return { deleted: true, cascade };
    });
  }

  /**
   * Everything that a project, one of its services or a field has stored, in clear text, with env blocks. The
   * reveal is on record, on disk, before anything is decrypted. What does not decrypt is listed and left out.
   */
  async reveal(actor: Actor, owner: VaultOwner, scope: RevealScope): Promise<RevealedVault> {
    return presentReveal(await this.#reveal(actor, owner, scope), scope.service ?? null);
  }

  /** As `reveal`, as the one env block of this target. */
  async revealBlock(
    actor: Actor,
    owner: VaultOwner,
    target: EnvTarget,
  ): Promise<EnvBlock & Pick<RevealedVault, 'undecryptable'>> {
    const opened = await this.#reveal(actor, owner, { how: 'env' });
    return { ...buildEnvBlock(envEntriesOf(opened), target), undecryptable: undecryptableOf(opened) };
  }

  /** As `reveal`, as the variables that a server's process gets. */
  async revealVariables(
    actor: Actor,
    owner: VaultOwner,
  ): Promise<{ variables: Record<string, string> } & Pick<RevealedVault, 'undecryptable' | 'shadowed'>> {
    const opened = await this.#reveal(actor, owner, { how: 'run' });
    const { variables, shadowed } = pickVariables(envEntriesOf(opened), 'server');
    return { variables: Object.fromEntries(variables), shadowed, undecryptable: undecryptableOf(opened) };
  }

  /**
   * The variables that a server's process gets, for a tool that speaks KV, and how often the values have
   * changed. On record once a minute and caller. Throws AppError `unavailable` where that can't be recorded,
   * `internal` (UNDECRYPTABLE) where a value does not decrypt: a tool would deploy without it.
   */
  async readForKv(
    actor: Actor,
    owner: VaultOwner,
  ): Promise<{ values: Record<string, string>; version: number; changed_at: number | null }> {
    const opened = await this.#reveal(actor, owner, { how: 'kv' }).catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      throw new AppError('unavailable', 'The read could not be recorded, so nothing was revealed.', {
        cause: error,
      });
    });
    const [damaged] = undecryptableOf(opened.filter(({ field }) => !field.file));
    if (damaged) {
      const name = `${damaged.service}.${damaged.field}`;
      throw new AppError('internal', `The stored ${name} does not decrypt: store it again.`, {
        code: UNDECRYPTABLE,
      });
    }
    const { variables } = pickVariables(envEntriesOf(opened), 'server');
    const changed = store.findChangesOf(this.deps.database.read, owner.id, PRODUCTION);
    return {
      values: Object.fromEntries(variables),
      version: changed?.changes ?? 0,
      changed_at: changed?.changed_at ?? null,
    };
  }

  /**
   * A stored file, on record before it leaves. Throws AppError `not_found` where none is stored, `conflict`
   * PLAINTEXT_UNAVAILABLE when it does not decrypt.
   */
  async revealFile(
    actor: Actor,
    owner: VaultOwner,
    file: { service: VaultService; field: VaultField },
  ): Promise<VaultFile> {
    const opened = await this.#reveal(actor, owner, { how: 'file', ...file });
    const stored = opened.find((each) => each.field === file.field);
    if (!stored) throw notFound('Vault file');
    if (!stored.bytes) {
      throw new AppError(
        'conflict',
        'The stored file does not decrypt: it, or its key, is damaged. Store it again.',
        { code: UNDECRYPTABLE, details: { reason: 'undecryptable' } },
      );
    }
    return { filename: stored.filename ?? file.field.field, bytes: stored.bytes };
  }

  /** Throws AppError `not_found` where this file is not stored. */
  requireStoredFile(owner: VaultOwner, file: { service: VaultService; field: VaultField }): void {
    const place = { project_id: owner.id, service: file.service.service, field: file.field.field };
    if (!store.findValue(this.deps.database.read, place)) throw notFound('Vault file');
  }

  /**
   * A secret that Satchel itself needs to act for the project, such as the captcha's. It leaves no trail: the
   * value must never leave the server.
   */
  readSecretFor(owner: VaultOwner, service: string): OpenedService {
    const { read } = this.deps.database;
    const known = requireVaultService(service);
    const opened = this.#open(owner, store.listValues(read, owner.id, known.service), ({ file }) => !file);
    const values: Record<string, string> = {};
    for (const { field, bytes } of opened) if (bytes) values[field.field] = textOf(bytes);
    return { values, undecryptable: undecryptableOf(opened).map((each) => each.field) };
  }

  /** The stored fields that do not decrypt, files too; nothing leaves, so nothing is put on record. */
  listUndecryptable(owner: VaultOwner): { service: string; field: string }[] {
    const rows = store.listValues(this.deps.database.read, owner.id);
    return undecryptableOf(this.#open(owner, rows, () => true));
  }

  /** What operators should know of these vaults: captcha secrets that providers publish for tests. */
  warnings(owners: readonly (VaultOwner & { readonly slug: string })[]): { slug: string; message: string }[] {
    const by_id = new Map(owners.map((owner) => [owner.id, owner]));
    const rows = store.listValuesOf(this.deps.database.read, 'captcha', 'secret_key');
    return rows.flatMap((row) => {
      const owner = by_id.get(row.project_id);
      const [opened] = owner ? this.#open(owner, [row], () => true) : [];
      // One that does not decrypt is among those that `listUndecryptable` tells of.
      if (!owner || !opened?.bytes) return [];
      const test_secret = captchaTestSecret(textOf(opened.bytes));
      if (test_secret === null) return [];
      const message = `The captcha secret of project ${owner.slug} is ${test_secret}: it protects nothing.`;
      return [{ slug: owner.slug, message }];
    });
  }

  async #reveal(actor: Actor, owner: VaultOwner, scope: RevealScope): Promise<OpenedField[]> {
    const now = this.deps.clock.now();
    const service = scope.service?.service ?? null;
    const field = scope.field?.field ?? null;
    await this.deps.database
      .write((tx) => {
        const is_told =
          scope.how === 'kv' &&
          store.wasReadSince(tx, owner.id, now - MINUTE_MS, actor.kind, actor.id) !== null;
        if (is_told) return;
        store.insertReveal(tx, {
          project_id: owner.id,
          at: now,
          actor_kind: actor.kind,
          actor_id: actor.id,
          actor_name: actor.name,
          ip: actor.ip,
          how: scope.how,
          service,
          field,
        });
        const metadata = { how: scope.how, service, field };
        this.#audit(tx, actor, { event: 'vault.revealed', owner, metadata }, now);
      })
      .catch(explainMissing('Project'));
    const rows = store.listValues(this.deps.database.read, owner.id, scope.service?.service);
    const wanted = scope.field;
    return this.#open(owner, wanted ? rows.filter((row) => row.field === wanted.field) : rows, () => true);
  }

  #open(
    owner: VaultOwner,
    rows: readonly VaultValueRow[],
    is_needed: (field: VaultField) => boolean,
  ): OpenedField[] {
    return openFields({ tx: this.deps.database.read, key_ring: this.deps.key_ring }, owner, rows, is_needed);
  }

  #audit(
    tx: Tx,
    actor: Actor,
    { owner, ...entry }: Omit<AuditEntry, 'target' | 'project'> & { owner: VaultOwner },
    now_ms: number,
  ): void {
    recordAudit(tx, actor, { ...entry, target: `project:${owner.id}`, project: owner }, now_ms);
  }
}

function countStored(read: Tx, owner: VaultOwner, { service }: VaultService): RemovedService['cascade'] {
  const found = store.summarizeValues(read, owner.id).find((row) => row.service === service);
  return { vault_credentials: found?.values ?? 0, vault_files: found?.files ?? 0 };
}

/** The vault's part in the deletion of a project; its rows go by foreign key. */
export const vaultCascade: ProjectCascade = {
  count: (tx, project) => store.countForCascade(tx, project.id),
};

export function vaultChecks({ vault, projects }: { vault: Vault; projects: Projects }): HealthCheck[] {
  return [
    sealedCheck(() =>
      projects.listAll({}).flatMap((project) =>
        vault.listUndecryptable(project).map(({ service, field }) => ({
          message: `The vault value ${service}.${field} of project ${project.slug} does not decrypt.`,
          remedy: `satchel vault set --project ${project.slug} ${service} ${field}=-`,
          about: { code: 'vault', ref: project.slug },
        })),
      ),
    ),
    {
      check: 'captcha',
      run: () =>
        vault
          .warnings(projects.listAll({}))
          .map(({ slug, message }) =>
            about(
              'vault',
              slug,
              warning('captcha', message, `satchel vault set --project ${slug} captcha secret_key=-`),
            ),
          ),
    },
  ];
}
