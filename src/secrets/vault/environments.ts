/**
 * The environments of a vault: production, and others beside it. Each has values of its own; one that inherits
 * reads production's where it lacks a field.
 */
import { conflict, forbidden, invalid, notFound } from '../../errors.ts';
import { MAX_ENVIRONMENTS } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { Actor, ManagementCaller } from '../../platform/http/callers.ts';
import type { EnvironmentRecord, RemovedService } from './schemas.ts';
import * as store from './store.ts';
import { ofOwner, PRODUCTION, type VaultOwner } from './stored-fields.ts';
import type { VaultValueRow } from './tables.ts';

/** Whether a caller knows of an environment; one who is bound to some knows no others. */
export function knowsEnvironment(caller: ManagementCaller | null, name: string): boolean {
  return caller?.environments?.includes(name) ?? true;
}

/** Whoever knows some alone changes none: one could be made to inherit. Throws AppError `forbidden`. */
export function refuseBound({ environments }: ManagementCaller): void {
  if (environments)
    throw forbidden('This access token is for some environments alone, so it changes none of them.');
}

/** Throws AppError `not_found` where an owner's environment is gone. */
export function requirePresent(tx: Tx, owner: VaultOwner): void {
  const { project_id, environment } = ofOwner(owner);
  if (environment !== PRODUCTION && !store.findEnvironment(tx, project_id, environment)) throw missing();
}

const missing = () => notFound('Environment', 'satchel environment list --project REF');

/** What an environment has: its own, and production's where it inherits and has none. */
export function listStored(read: Tx, owner: VaultOwner, service?: string): VaultValueRow[] {
  const of = ofOwner(owner);
  const own = store.listValues(read, of, service);
  if (of.environment === PRODUCTION || !store.findEnvironment(read, owner.id, of.environment)?.inherits)
    return own;
  const nameOf = (row: VaultValueRow): string => `${row.service}.${row.field}`;
  const names = new Set(own.map(nameOf));
  const production = store.listValues(read, { ...of, environment: PRODUCTION }, service);
  return [...own, ...production.filter((row) => !names.has(nameOf(row)))];
}

/** Counts a change of these fields, there and where they are inherited. */
export function noteChanges(
  tx: Tx,
  owner: VaultOwner,
  { service, fields, at }: { service: string; fields: readonly string[]; at: number },
): void {
  const of = ofOwner(owner);
  if (fields.length === 0) return;
  store.noteChange(tx, { ...of, at });
  if (of.environment !== PRODUCTION) return;
  for (const { name, inherits } of store.listEnvironments(tx, owner.id)) {
    const heir = { ...of, environment: name };
    const own = inherits ? store.listNames(tx, heir, service) : null;
    if (own === null || fields.every((field) => own.has(field))) continue;
    store.noteChange(tx, { ...heir, at });
    store.touchService(tx, { ...heir, service, updated_at: at });
  }
}

export class Environments {
  constructor(private readonly deps: { database: Database; clock: Clock }) {}

  /**
   * A project's vault in one environment; production unless one is named. Throws AppError `not_found` for one
   * that is not there, or that the caller does not know; the shell (null) knows all.
   */
  at<P extends VaultOwner>(
    owner: P,
    name: string | undefined,
    caller: ManagementCaller | null,
  ): P & { environment: string } {
    const at = { ...owner, environment: name ?? PRODUCTION };
    if (!knowsEnvironment(caller, at.environment)) throw missing();
    requirePresent(this.deps.database.read, at);
    return at;
  }

  /** Those that a caller knows: production first, the others by their names. */
  list(owner: VaultOwner, caller: ManagementCaller | null): EnvironmentRecord[] {
    const rows = store.listEnvironments(this.deps.database.read, owner.id);
    const production = rows.find(({ name }) => name === PRODUCTION);
    const others = rows.filter((row) => row !== production);
    const first = production ?? { name: PRODUCTION, inherits: false, changed_at: null };
    return [first, ...others]
      .filter(({ name }) => knowsEnvironment(caller, name))
      .map(({ name, inherits, changed_at }) => ({ name, inherits, updated_at: toIso(changed_at) }));
  }

  /** Throws AppError `conflict` for a name that is taken, `invalid` for production and past `MAX_ENVIRONMENTS`. */
  async add(
    actor: Actor,
    owner: VaultOwner,
    { name, inherits = false }: { name: string; inherits?: boolean },
  ): Promise<EnvironmentRecord> {
    if (name === PRODUCTION) throw invalid({ name: ['production is there already: every vault has it'] });
    await this.deps.database
      .write((tx) => {
        const others = store.listEnvironments(tx, owner.id).filter((row) => row.name !== PRODUCTION);
        if (others.some((row) => row.name === name))
          throw conflict('There is an environment of this name already.');
        if (others.length >= MAX_ENVIRONMENTS)
          throw invalid({ name: [`there may be at most ${MAX_ENVIRONMENTS} beside production`] });
        this.#put(tx, { ...owner, environment: name }, inherits);
        this.#audit(tx, actor, owner, 'vault.environment_added', { name, inherits });
      })
      .catch(explainMissing('Project'));
    return this.#record({ ...owner, environment: name });
  }

  /** Throws AppError `invalid` for production, `not_found` for one that is not there. */
  async change(
    actor: Actor,
    at: VaultOwner,
    { inherits }: { inherits?: boolean },
  ): Promise<EnvironmentRecord> {
    const { environment: name } = ofOwner(at);
    if (name === PRODUCTION) throw invalid({ inherits: ['production has nothing to inherit from'] });
    await this.deps.database.write((tx) => {
      requirePresent(tx, at);
      const now = store.findEnvironment(tx, at.id, name)?.inherits;
      if (inherits === undefined || inherits === now) return;
      this.#put(tx, at, inherits);
      this.#audit(tx, actor, at, 'vault.environment_changed', { name, inherits });
    });
    return this.#record(at);
  }

  #put(tx: Tx, at: VaultOwner, inherits: boolean): void {
    const of = ofOwner(at);
    store.putEnvironment(tx, { project_id: at.id, name: of.environment, inherits });
    const services = store.summarizeValues(tx, { ...of, environment: PRODUCTION });
    const updated_at = this.deps.clock.now();
    // It has other values now, unless it has all of its own: whoever polls looks again.
    const is_heir = inherits || store.findEnvironment(tx, at.id, of.environment)?.changed_at !== null;
    if (services.length === 0 || !is_heir) return;
    store.noteChange(tx, { ...of, at: updated_at });
    for (const { service } of services) store.touchService(tx, { ...of, service, updated_at });
  }

  /** How much is stored in it. */
  count(at: VaultOwner): RemovedService['cascade'] {
    return countIn(this.deps.database.read, at);
  }

  /** Removes it with its values and their past. Throws AppError `invalid` for production. */
  remove(actor: Actor, at: VaultOwner): Promise<RemovedService> {
    const of = ofOwner(at);
    if (of.environment === PRODUCTION) throw invalid({ _: ['production can’t be removed'] });
    return this.deps.database.write((tx) => {
      requirePresent(tx, at);
      const cascade = countIn(tx, at);
      store.deleteEnvironment(tx, of);
      this.#audit(tx, actor, at, 'vault.environment_removed', { name: of.environment, cascade });
      return { deleted: true, cascade };
    });
  }

  #record(at: VaultOwner): EnvironmentRecord {
    const found = store.findEnvironment(this.deps.database.read, at.id, ofOwner(at).environment);
    if (!found) throw missing();
    return { name: found.name, inherits: found.inherits, updated_at: toIso(found.changed_at) };
  }

  #audit(tx: Tx, actor: Actor, owner: VaultOwner, event: string, metadata: Record<string, unknown>): void {
    const entry = { event, target: `project:${owner.id}`, project: owner, metadata };
    recordAudit(tx, actor, entry, this.deps.clock.now());
  }
}

function countIn(read: Tx, at: VaultOwner): RemovedService['cascade'] {
  const rows = store.summarizeValues(read, ofOwner(at));
  return {
    vault_credentials: rows.reduce((sum, row) => sum + row.values, 0),
    vault_files: rows.reduce((sum, row) => sum + row.files, 0),
  };
}
