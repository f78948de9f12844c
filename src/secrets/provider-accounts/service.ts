/**
 * Records at other companies, with secrets sealed under the platform's key. AI accounts, database accounts
 * and database projects share this way to list, find, make, change, reveal and delete. What a kind has of its
 * own is in the file of its name.
 */

import { AppError, type FieldErrors, notFound } from '../../errors.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { type HealthCheck, sealedCheck } from '../../platform/host/health-check.ts';
import { newId, readRef } from '../../platform/host/ids.ts';
import {
  type Actor,
  type ManagementCaller,
  projectsOfNewRecord,
  refuseBeyondScope,
  type Scope,
  scopeOf,
} from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import { PLANE_PREFIX } from '../../platform/http/routes.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';
import type { AiAccounts } from './ai-accounts.ts';
import type { DatabaseAccounts, DatabaseProjects } from './databases.ts';
import type { DeletedRecord, Reference } from './schemas.ts';
import type { AccountStore } from './store.ts';

/** How much of a key or token its safe form shows: enough to recognise it, too little to guess the rest. */
const SECRET_PREFIX_CHARS = 8;

export interface RecordDeps {
  database: Database;
  clock: Clock;
  key_ring: KeyRing;
}

/** The types of one kind of record. */
export interface Shapes {
  row: { id: number; public_id: string; name: string; all_projects?: boolean };
  /** A row that is inserted. */
  insert: { public_id: string; created_at: number; updated_at: number };
  input: object;
  changes: object;
  /** The safe form: no secret. */
  shown: object;
  revealed: object;
  /** The fields that are sealed. */
  secret: string;
}

/** The facts that tell one kind of record from another. */
export interface Kind<S extends Shapes> {
  /** As the audit trail, and what binds its secrets to their place, name it. */
  kind: 'ai_account' | 'database_account' | 'database_project';
  /** As a 404 names it. */
  noun: string;
  store: AccountStore<S['row'], S['insert']>;
  /** Whom it serves; absent where it belongs to no project. */
  links?: { list(read: Tx, id: number): number[]; insert(tx: Tx, id: number, project_id: number): void };
}

/** What a row is made of besides what was sent. */
export interface Change<S extends Shapes> {
  caller: ManagementCaller;
  seal(field: S['secret'], secret: string): string;
}

type NewRow<S extends Shapes> = Omit<S['insert'], keyof Shapes['insert']>;

/** A stored secret that does not decrypt, and whose it is. */
export interface LostSecret {
  kind: Kind<Shapes>['kind'];
  id: number;
  name: string;
  field: string;
}

export abstract class ProviderRecords<S extends Shapes> {
  constructor(
    protected readonly deps: RecordDeps,
    private readonly is: Kind<S>,
  ) {}

  abstract present(row: S['row']): S['shown'];
  protected abstract newRow(input: S['input'], on: Change<S>): NewRow<S>;
  protected abstract changedRow(changes: S['changes'], on: Change<S>): Partial<S['insert']>;
  /** Its sealed secrets; null is none. */
  protected abstract sealedOf(row: S['row']): Record<S['secret'], string | null>;
  protected abstract revealed(
    open: (field: S['secret']) => string | null,
    undecryptable: string[],
  ): S['revealed'];
  /** Facts for the audit trail, besides the names of changed fields and of projects. */
  protected abstract factsOf(row: S['row'], sent: S['input'] | S['changes'], is_new: boolean): object;
  /** Throws AppError where a row may not stand as it is now. */
  protected requireSound(_row: S['row']): void {}
  /** Throws AppError `conflict` while the row is in use. */
  protected refuseInUse(_tx: Tx, _row: S['row']): void {}

  /** Throws AppError `forbidden` for what only callers of all projects may ask for. */
  authorize(_caller: ManagementCaller, _sent: { readonly all_projects?: unknown }): void {}

  /** What is wrong with a new record (`current` null) or a changed one by rules past its shape. */
  errorsIn(_of: {
    caller: ManagementCaller;
    current: S['row'] | null;
    sent: Partial<S['input']> | S['changes'];
  }): FieldErrors {
    return {};
  }

  /** The projects that get what a caller creates. Throws AppError `forbidden`. */
  projectsOfNew(caller: ManagementCaller): readonly number[] {
    return projectsOfNewRecord(caller);
  }

  /** One page of those the caller may see, newest first. */
  list(caller: ManagementCaller, query: PageQuery): Page<S['shown']> {
    return this.listServing(scopeOf(caller), query);
  }

  /** One page of those that serve one of these projects (null: of all), newest first. */
  listServing(scope: Scope, query: PageQuery): Page<S['shown']> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: this.is.store.count(read, scope),
      fetch: (limit, offset) => this.is.store.list(read, scope, { limit, offset }),
    }).map((row) => this.present(row));
  }

  /** The one that a numeric id or ULID names, if the caller (null: the shell) may see it, or null. */
  findFor(caller: ManagementCaller | null, ref: Reference): S['row'] | null {
    const named = readRef(ref);
    return named && this.is.store.find(this.deps.database.read, named, caller && scopeOf(caller));
  }

  /** As `findFor`. Throws AppError `not_found`. */
  requireFor(caller: ManagementCaller, ref: Reference): S['row'] {
    const row = this.findFor(caller, ref);
    if (!row) throw notFound(this.is.noun);
    return row;
  }

  /** As `requireFor`. Throws AppError `forbidden` when it serves projects beyond the caller's scope, too. */
  requireForChange(caller: ManagementCaller, ref: Reference): S['row'] {
    const row = this.requireFor(caller, ref);
    const project_ids = this.is.links?.list(this.deps.database.read, row.id) ?? [];
    refuseBeyondScope(caller, { all_projects: row.all_projects ?? false, project_ids });
    return row;
  }

  /** Creates one for these projects (see `projectsOfNew`). Throws AppError `forbidden`, `invalid`. */
  async create(
    actor: Actor,
    caller: ManagementCaller,
    project_ids: readonly number[],
    input: S['input'],
  ): Promise<S['shown']> {
    const { store, links } = this.is;
    this.authorize(caller, input);
    const now = this.deps.clock.now();
    const made = await this.deps.database
      .write((tx) => {
        const public_id = newId(now);
        const row = store.insert(tx, {
          ...this.newRow(input, this.#changeIn(tx, caller, public_id)),
          public_id,
          created_at: now,
          updated_at: now,
        });
        this.requireSound(row);
        for (const project_id of project_ids) links?.insert(tx, row.id, project_id);
        const facts = { ...this.factsOf(row, input, true), ...(links && { project_ids }) };
        this.#audit(tx, actor, { done: 'created', row, facts }, now);
        return { row };
      })
      .catch(explainMissing('Project or account'));
    return this.present(made.row);
  }

  /** Changes given fields; null clears one. Throws AppError `forbidden`, `invalid`, `not_found`. */
  async update(
    actor: Actor,
    caller: ManagementCaller,
    row: S['row'],
    changes: S['changes'],
  ): Promise<S['shown']> {
    this.authorize(caller, changes);
    if (Object.keys(changes).length === 0) return this.present(row);
    const now = this.deps.clock.now();
    const after = await this.deps.database
      .write((tx) => {
        const before = this.#reload(tx, row.id);
        const changed = this.is.store.update(tx, row.id, {
          ...this.changedRow(changes, this.#changeIn(tx, caller, row.public_id)),
          updated_at: now,
        });
        if (!changed) throw notFound(this.is.noun);
        this.requireSound(changed);
        const facts = this.factsOf(changed, changes, false);
        this.#audit(tx, actor, { done: 'updated', row: changed, facts, before }, now);
        return { row: changed };
      })
      .catch(explainMissing('Project or account'));
    return this.present(after.row);
  }

  /** Deletes it with its ties to projects. Throws AppError `conflict`, and `not_found` when it is gone. */
  remove(actor: Actor, { id }: S['row']): Promise<DeletedRecord> {
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const row = this.#reload(tx, id);
      this.refuseInUse(tx, row);
      const links = this.is.links?.list(tx, id).length;
      this.#audit(tx, actor, { done: 'deleted', row, facts: links === undefined ? {} : { links } }, now);
      this.is.store.remove(tx, id);
      return { deleted: true, cascade: { links: links ?? 0 } };
    });
  }

  /**
   * Its secrets, null for each that it lacks; on record before they leave. Throws AppError `conflict`
   * PLAINTEXT_UNAVAILABLE when none of them decrypts, `not_found` when it is gone.
   */
  async reveal(actor: Actor, { id }: S['row']): Promise<S['revealed']> {
    const now = this.deps.clock.now();
    const { row } = await this.deps.database.write((tx) => {
      const current = this.#reload(tx, id);
      this.#audit(tx, actor, { done: 'revealed', row: current, facts: {} }, now);
      return { row: current };
    });
    const opened = this.#open(row);
    const lost = opened.filter(({ plain }) => plain === null).map(({ field }) => field);
    if (lost.length > 0 && lost.length === opened.length) throw undecryptable();
    return this.revealed((field) => opened.find((each) => each.field === field)?.plain ?? null, lost);
  }

  /** The stored secrets that do not decrypt. Nothing leaves, so nothing is put on record. */
  listUndecryptable(): LostSecret[] {
    const { kind, store } = this.is;
    return store.list(this.deps.database.read, null, WHOLE_LIST).flatMap((row) =>
      this.#open(row)
        .filter(({ plain }) => plain === null)
        .map(({ field }) => ({ kind, id: row.id, name: row.name, field })),
    );
  }

  #reload(tx: Tx, id: number): S['row'] {
    const row = this.is.store.find(tx, { id }, null);
    if (!row) throw notFound(this.is.noun);
    return row;
  }

  /** The stored secrets, null where one does not decrypt. */
  #open(row: S['row']): { field: string; plain: string | null }[] {
    return Object.entries<string | null>(this.sealedOf(row)).flatMap(([field, sealed]) => {
      if (sealed === null) return [];
      const plain = this.deps.key_ring.openText(
        this.deps.database.read,
        sealed,
        this.#contextOf(row.public_id, field),
      );
      return [{ field, plain }];
    });
  }

  #changeIn(tx: Tx, caller: ManagementCaller, public_id: string): Change<S> {
    return {
      caller,
      seal: (field, secret) =>
        this.deps.key_ring.seal(tx, PLATFORM_SCOPE, this.#contextOf(public_id, field), secret),
    };
  }

  /** The context that binds a secret to its place: copied to another one it does not decrypt. */
  #contextOf(public_id: string, field: string): string[] {
    return [this.is.kind, public_id, field];
  }

  #audit(
    tx: Tx,
    actor: Actor,
    of: { done: string; row: S['row']; facts: object; before?: S['row'] },
    now_ms: number,
  ): void {
    const { kind } = this.is;
    const { done, row, facts, before } = of;
    const entry = { event: `${kind}.${done}`, target: `${kind}:${row.id}`, project: null };
    const changes = before ? changesOf(before, row) : {};
    recordAudit(tx, actor, { ...entry, metadata: { name: row.name, ...facts }, changes }, now_ms);
  }
}

/** The start of a secret, by which its owner recognises it: at most a quarter of it. */
export function prefixOf(secret: string): string {
  return secret.slice(0, Math.min(SECRET_PREFIX_CHARS, Math.floor(secret.length / 4)));
}

/** A stored secret that cannot be shown. */
export function undecryptable(): AppError {
  return new AppError(
    'conflict',
    'The stored secret does not decrypt: it, or its key, is damaged. Store it again.',
    { code: 'PLAINTEXT_UNAVAILABLE', details: { reason: 'undecryptable' } },
  );
}

export function providerAccountChecks(services: {
  database_accounts: DatabaseAccounts;
  database_projects: DatabaseProjects;
  ai_accounts: AiAccounts;
}): HealthCheck[] {
  const { database_accounts, database_projects, ai_accounts } = services;
  return [
    sealedCheck(() =>
      [...database_accounts.listUndecryptable(), ...database_projects.listUndecryptable()].map(tell),
    ),
    sealedCheck(() => ai_accounts.listUndecryptable().map(tell)),
  ];
}

function tell({ kind, id, name, field }: LostSecret): { message: string; remedy: string } {
  return {
    message: `The ${field} of the ${kind.replaceAll('_', ' ')} ${id} (${name}) does not decrypt.`,
    remedy: `store it again: PATCH ${PLANE_PREFIX.management}/${kind.replaceAll('_', '-')}s/${id} with ${field}`,
  };
}
