/**
 * The vault: a project's credentials and configuration files. All is sealed and bound to its place. Secrets
 * leave by a reveal only, which is on record before it answers.
 */

import type { ProjectCascade, Projects } from '../../access/projects/service.ts';
import { AppError, collectErrors, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { about, type HealthCheck, sealedCheck, warning } from '../../platform/host/health-check.ts';
import type { Actor, ManagementCaller } from '../../platform/http/callers.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import { readChanges, settleKinds, type VaultFile } from './changes.ts';
import { buildEnvBlock, type EnvBlock, type EnvTarget, isPublicName, pickVariables } from './env-blocks.ts';
import { ENV, explainImport, readEnvFile } from './env-file.ts';
import { Environments, listStored, requirePresent } from './environments.ts';
import {
  captchaTestSecret,
  findVaultField,
  requireVaultService,
  VAULT_SERVICES,
  type VaultField,
  type VaultService,
} from './registry.ts';
import { checkReminders, errorsOfAbout, putAbout, readAbout, setCommand } from './reminders.ts';
import type {
  EnvImport,
  RemovedService,
  RevealedVault,
  ServiceMetadata,
  VaultDiff,
  VaultSummary,
} from './schemas.ts';
import * as store from './store.ts';
import {
  describeService,
  envEntriesOf,
  nameOf,
  type OpenedField,
  ofOwner,
  openFields,
  PRODUCTION,
  presentReveal,
  textOf,
  undecryptableOf,
  type VaultOwner,
} from './stored-fields.ts';
import type { RevealHow, VaultValueRow } from './tables.ts';
import { auditVault, putFields, recordReveal } from './writing.ts';

export type { VaultOwner } from './stored-fields.ts';

/** The stored fields of one service: those that decrypt, and the names of those that do not. */
export interface OpenedService {
  values: Record<string, string>;
  undecryptable: string[];
}

/** Code of a value that its key does not open. */
export const UNDECRYPTABLE = 'PLAINTEXT_UNAVAILABLE';

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

/** What `set` takes beside values. */
export interface SetOptions {
  plain?: readonly string[] | undefined;
  isPlainIfNew?(name: string): boolean;
  about?: unknown;
}

export class Vault {
  readonly environments: Environments;

  constructor(private readonly deps: { database: Database; clock: Clock; key_ring: KeyRing }) {
    this.environments = new Environments(deps);
  }

  /** Every service of the registry with what is stored of it; secrets by their presence alone. */
  describe(owner: VaultOwner): ServiceMetadata[] {
    const { read } = this.deps.database;
    const stored = this.#open(owner, listStored(read, owner), (field) => !field.secret);
    const changes = store.listChanges(read, ofOwner(owner));
    return VAULT_SERVICES.map((service) => describeService(owner, service, stored, changes));
  }

  /** As `describe`, for one service. */
  describeService(owner: VaultOwner, service: VaultService): ServiceMetadata {
    const { read } = this.deps.database;
    const rows = listStored(read, owner, service.service);
    const stored = this.#open(owner, rows, (field) => !field.secret);
    return describeService(owner, service, stored, store.listChanges(read, ofOwner(owner)));
  }

  /** An environment of a project's vault in numbers, of its own values. */
  summarize(owner: VaultOwner): VaultSummary {
    const rows = store.summarizeValues(this.deps.database.read, ofOwner(owner));
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
    { values, plain, about }: { values?: unknown; plain?: readonly string[]; about?: unknown },
  ): FieldErrors {
    const { changes, errors } = readChanges(service, { values, plain });
    const said = readAbout(service, about);
    const stored = store.listNames(this.deps.database.read, ofOwner(owner), service.service);
    // A name with a wrong value still counts as sent; where `values` is no object, any name may have been.
    const others = plain?.filter((name) => isPlainObject(values) && !Object.hasOwn(values, name));
    const names = new Set([...stored.keys(), ...Object.keys(isPlainObject(values) ? values : {})]);
    for (const { field, content } of changes) if (content === null) names.delete(field.field);
    return {
      ...collectErrors(() => settleKinds(stored, changes, others)),
      ...errorsOfAbout(said.about, names),
      ...errors,
      ...said.errors,
    };
  }

  /**
   * Stores given fields, removes those that are null, and leaves the others; all or nothing. A name of a
   * free-form service is secret unless `plain` names it; without `plain` it stays as it is, and a new one is as
   * `isPlainIfNew` says. Making one plain takes its value, else whoever may not reveal it would see it. `about`
   * says when values end, and notes. Throws AppError `invalid` for an unknown field, a value that does not fit, or
   * names past `MAX_ENV_NAMES`, `not_found` when the project or its environment is gone.
   */
  async set(
    actor: Actor,
    owner: VaultOwner,
    service: VaultService,
    values: unknown,
    { plain, isPlainIfNew, about }: SetOptions = {},
  ): Promise<ServiceMetadata> {
    const { changes, errors } = readChanges(service, { values, plain });
    const said = readAbout(service, about);
    refuseAll({ ...errors, ...said.errors });
    if (changes.length > 0 || plain || said.about.size > 0) {
      const writing = { key_ring: this.deps.key_ring, actor, now_ms: this.deps.clock.now() };
      await this.deps.database
        .write((tx) => {
          requirePresent(tx, owner);
          // Read within the write, as kinds and number of names may have changed since the request came.
          const stored = store.listNames(tx, ofOwner(owner), service.service);
          const kinds = settleKinds(stored, changes, plain, isPlainIfNew);
          if (changes.length === 0 && said.about.size === 0) return;
          const settled = changes.map((each) => ({
            ...each,
            is_plain: kinds.get(each.field.field) ?? false,
          }));
          putFields({ tx, ...writing }, owner, { service, changes: settled });
          putAbout(tx, owner, service, said.about);
          const set = changes.filter((each) => each.content !== null).map((each) => each.field.field);
          const removed = changes.filter((each) => each.content === null).map((each) => each.field.field);
          const told = [...said.about.keys()];
          const metadata = {
            service: service.service,
            set,
            removed,
            ...(told.length > 0 ? { about: told } : {}),
          };
          const fields = Object.fromEntries(
            [...set, ...removed, ...told].map((name) => [name, { secret: true as const }]),
          );
          auditVault({ tx, ...writing }, owner, { event: 'vault.updated', metadata, changes: fields });
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
    const kinds = store.listNames(this.deps.database.read, ofOwner(owner), ENV.service);
    const names = explainImport(this.describe(owner), Object.keys(values), (name) =>
      plain ? plain.includes(name) : (kinds.get(name) ?? isPublicName(name)),
    );
    if (!is_dry) await this.set(actor, owner, ENV, values, { plain, isPlainIfNew: isPublicName });
    return { stored: !is_dry, names };
  }

  /** How much is stored of a service. */
  count(owner: VaultOwner, service: VaultService): RemovedService['cascade'] {
    return countStored(this.deps.database.read, owner, service);
  }

  /** Removes everything that is stored of a service, and tells how much that was. Its past stays. */
  remove(actor: Actor, owner: VaultOwner, service: VaultService): Promise<RemovedService> {
    const { database, clock, key_ring } = this.deps;
    const now_ms = clock.now();
    return database.write((tx) => {
      requirePresent(tx, owner);
      const cascade = countStored(tx, owner, service);
      const of = ofOwner(owner);
      const names = [...store.listNames(tx, of, service.service).keys()];
      const changes = names.flatMap((name) => {
        const field = findVaultField(service, name);
        return field ? [{ field, content: null, is_plain: false }] : [];
      });
      putFields({ tx, key_ring, actor, now_ms }, owner, { service, changes });
      store.deleteServiceChange(tx, { ...of, service: service.service });
      const metadata = { service: service.service, cascade };
      auditVault({ tx, actor, now_ms }, owner, { event: 'vault.deleted', metadata });
      return { deleted: true, cascade };
    });
  }

  /**
   * Which fields two environments have alone, and of which their values differ, own and inherited ones; never a
   * value. What does not decrypt differs from everything.
   */
  diff(from: VaultOwner, to: VaultOwner): VaultDiff {
    const [a, b] = [from, to].map((owner) =>
      this.#open(owner, listStored(this.deps.database.read, owner), () => true),
    ) as [OpenedField[], OpenedField[]]; // One of each.
    const findIn = (all: OpenedField[], { service, field }: OpenedField) =>
      all.find((each) => each.service === service && each.field.field === field.field);
    const missingIn = (all: OpenedField[]) => (each: OpenedField) => !findIn(all, each);
    const differs = (each: OpenedField): boolean => {
      const other = findIn(b, each);
      if (!other) return false;
      if (!each.bytes || !other.bytes) return true;
      return each.filename !== other.filename || Buffer.compare(each.bytes, other.bytes) !== 0;
    };
    return {
      only_in_from: a.filter(missingIn(b)).map(nameOf),
      only_in_to: b.filter(missingIn(a)).map(nameOf),
      differ: a.filter(differs).map(nameOf),
    };
  }

  /**
   * Everything that a project, one of its services or a field has stored, in clear text, with env blocks. The
   * reveal is on record, on disk, before anything is decrypted. What does not decrypt is listed and left out.
   */
  async reveal(actor: Actor, owner: VaultOwner, scope: RevealScope): Promise<RevealedVault> {
    return presentReveal(owner, await this.#reveal(actor, owner, scope), scope.service ?? null);
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
    const { project_id, environment } = ofOwner(owner);
    const changed = store.findEnvironment(this.deps.database.read, project_id, environment);
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
    const rows = listStored(this.deps.database.read, owner, file.service.service);
    if (!rows.some(({ field }) => field === file.field.field)) throw notFound('Vault file');
  }

  /**
   * A secret that Satchel itself needs to act for the project, such as the captcha's. It leaves no trail: the
   * value must never leave the server.
   */
  readSecretFor(owner: VaultOwner, service: string): OpenedService {
    const { read } = this.deps.database;
    const known = requireVaultService(service);
    const opened = this.#open(owner, listStored(read, owner, known.service), ({ file }) => !file);
    const values: Record<string, string> = {};
    for (const { field, bytes } of opened) if (bytes) values[field.field] = textOf(bytes);
    return { values, undecryptable: undecryptableOf(opened).map((each) => each.field) };
  }

  /** The stored fields that do not decrypt, files too; nothing leaves, so nothing is put on record. */
  listUndecryptable(owner: VaultOwner): { environment: string; service: string; field: string }[] {
    const rows = Map.groupBy(
      store.listAllValues(this.deps.database.read, owner.id),
      ({ environment }) => environment,
    );
    return [...rows].flatMap(([environment, own]) =>
      undecryptableOf(this.#open(owner, own, () => true)).map((lost) => ({ environment, ...lost })),
    );
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
    const now_ms = this.deps.clock.now();
    await this.deps.database
      .write((tx) => {
        const service = scope.service?.service ?? null;
        const revealed = { how: scope.how, service, field: scope.field?.field ?? null };
        recordReveal({ tx, actor, now_ms }, owner, revealed);
      })
      .catch(explainMissing('Project'));
    const rows = listStored(this.deps.database.read, owner, scope.service?.service);
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
}

/** Whoever may write but not read is not shown what is stored. */
export function serviceShownTo(
  { capabilities }: Pick<ManagementCaller, 'capabilities'>,
  stored: ServiceMetadata,
): ServiceMetadata | Pick<ServiceMetadata, 'present'> {
  return capabilities.has('can_read_vault') ? stored : { present: stored.present };
}

function countStored(read: Tx, owner: VaultOwner, { service }: VaultService): RemovedService['cascade'] {
  const found = store.summarizeValues(read, ofOwner(owner)).find((row) => row.service === service);
  return { vault_credentials: found?.values ?? 0, vault_files: found?.files ?? 0 };
}

/** The vault's part in the deletion of a project; its rows go by foreign key. */
export const vaultCascade: ProjectCascade = {
  count: (tx, project) => store.countForCascade(tx, project.id),
};

export function vaultChecks({
  vault,
  projects,
  ...on
}: {
  vault: Vault;
  projects: Projects;
  database: Database;
  clock: Clock;
}): HealthCheck[] {
  return [
    sealedCheck(() =>
      projects.listAll({}).flatMap((project) =>
        vault.listUndecryptable(project).map((lost) => {
          const of = lost.environment === PRODUCTION ? '' : ` (${lost.environment})`;
          return {
            message: `The vault value ${lost.service}.${lost.field} of project ${project.slug}${of} does not decrypt.`,
            remedy: setCommand(project.slug, lost),
            about: { code: 'vault', ref: project.slug },
          };
        }),
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
    { check: 'expiring secrets', run: () => checkReminders(on, projects.listAll({})) },
  ];
}
