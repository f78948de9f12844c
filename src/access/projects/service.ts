/** Projects: finding, creating, changing and deleting them, and scoping callers to them. */
import type { Config } from '../../config.ts';
import { collectErrors, conflict, type FieldErrors, invalid, notFound, toDo } from '../../errors.ts';
import { type AuditEntry, changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { readRowCount } from '../../platform/database/store.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { isUlid, newId } from '../../platform/host/ids.ts';
import {
  type Actor,
  type ManagementCaller,
  mayAccessProject,
  requireCapabilities,
} from '../../platform/http/callers.ts';
import { merge, present, setBy } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import { mergeLinkDomain } from './link-domains.ts';
import {
  type AbbreviatedKey,
  type AbbreviatedProject,
  type CascadeCounts,
  CHANGED_FIELDS,
  FIELDS,
  type MailFate,
  type NewProjectInput,
  type ProjectChanges,
  type ProjectRecord,
  type ProjectWithKeys,
} from './schemas.ts';
import { mergeSending } from './sending-domains.ts';
import { checkSlug, generateSlug } from './slugs.ts';
import type { ScopeHolder, Sending } from './store.ts';
import * as store from './store.ts';
import type { ProjectRow } from './tables.ts';

export {
  deleteArriving,
  findArrived,
  insertArriving,
  listArriving,
  lostLinkDomains,
  showArriving,
} from './arriving.ts';
export { LinkDomains } from './link-domains.ts';
export {
  type AbbreviatedKey,
  abbreviatedProject,
  type MailFate,
  type ProjectRecord,
  projectRecord,
} from './schemas.ts';
export {
  findProjectState,
  insertScope,
  listInactiveIds,
  listScopeIds,
  type ProjectState,
  replaceScope,
} from './store.ts';
export type { ProjectRow } from './tables.ts';

/** How another noun takes part in the deletion of a project. */
export interface ProjectCascade {
  /** How many of its things go with the project; counts of one name are added up. */
  count(tx: Tx, project: ProjectRow): Partial<CascadeCounts>;
  /** Deletes what no foreign key does. What it returns is handed to `afterCommit`. */
  remove?(tx: Tx, project: ProjectRow): unknown;
  /**
   * Removes files, and what is too much for one transaction, once the deletion is on disk. It must report its
   * own failures, as the project is gone.
   */
  afterCommit?(project: ProjectRow, state: unknown): void | Promise<void>;
}

/** How a project is tied to a database project; secrets/ implements it. */
export interface DatabaseLinks {
  /** Numeric id of the database project that `ref` names, if the caller (null: the shell) may see it. */
  visibleIdFor(caller: ManagementCaller | null, ref: string): number | null;
  link(tx: Tx, project_id: number, database_project_id: number | null): void;
  linkedId(read: Tx, project_id: number): number | null;
}

/** A project was moved away (it is inactive, and exported to go on elsewhere), or became active. */
export interface ProjectEvent {
  kind: 'moved' | 'started';
  project_id: number;
}
type ProjectListener = (tx: Tx, event: ProjectEvent) => void;

interface ProjectsDeps {
  config: Pick<Config, 'public_url'>;
  database: Database;
  clock: Clock;
  /** Those of these names that no sending domain has; mail/sending-domains implements it. */
  unknownDomains(read: Tx, names: readonly string[]): string[];
  /** Tells what becomes of the mail of an active project; mail/mailboxes implements it. */
  fateOfMail(read: Tx, project_id: number, now_ms: number): MailFate;
  cascades?: readonly ProjectCascade[];
  databaseLinks: DatabaseLinks;
  /** The keys of a project, newest first; access/keys implements it. */
  keysOf(project_id: number): AbbreviatedKey[];
}

interface ProjectQuery extends PageQuery {
  q?: string;
  status?: 'active' | 'inactive';
}

export class Projects {
  readonly #cascades: readonly ProjectCascade[];
  readonly #listeners: ProjectListener[] = [];

  constructor(private readonly deps: ProjectsDeps) {
    this.#cascades = deps.cascades ?? [];
  }

  /** The project with this numeric id, ULID or slug, or null. */
  find(ref: string): ProjectRow | null {
    return findProject(this.deps.database.read, ref);
  }

  /** As `find`, by the numeric id that other rows know it by. */
  findById(id: number): ProjectRow | null {
    return store.findProjectById(this.deps.database.read, id);
  }

  /**
   * Whether anything of it may be sent or run: not while it is inactive or on its way here. Runs with each
   * claim of jobs and each look at bulk mail.
   */
  isActive(id: number, read: Tx = this.deps.database.read): boolean {
    return store.isActive(read, id);
  }

  /** Throws AppError `conflict` project_inactive where nothing of it may be sent or run. */
  requireActive(id: number, read: Tx = this.deps.database.read): void {
    if (store.isActive(read, id)) return;
    const { slug = String(id) } = store.findProjectById(read, id) ?? {};
    throw conflict(
      `The project ${slug} is inactive: nothing of it is sent. Set its status to active first:`,
      {
        code: 'project_inactive',
        remedy: toDo('project', `satchel project change ${slug} --status active`, slug),
      },
    );
  }

  /** As `find`, for the shell. Throws AppError `not_found` that says how to find the right name. */
  require(ref: string): ProjectRow {
    return this.find(ref) ?? refuseUnknown();
  }

  /** As `findById`. Throws AppError `not_found`, as `require` does. */
  requireById(id: number): ProjectRow {
    return this.findById(id) ?? refuseUnknown();
  }

  /** As `find`, for a caller. Throws AppError `not_found`, for a project out of their scope too. */
  requireFor(caller: ManagementCaller, ref: string): ProjectRow {
    const project = this.find(ref);
    if (!project || !mayAccessProject(caller, project.id)) throw notFound('Project');
    return project;
  }

  /** One page of the projects the caller may see, newest first. */
  list(caller: ManagementCaller, query: ProjectQuery): Page<ProjectRow> {
    const { q, status } = query;
    const filter = {
      ...(q === undefined ? {} : { q }),
      ...(status === undefined ? {} : { status }),
      ...(caller.all_projects ? {} : { project_ids: caller.project_ids }),
    };
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countProjects(read, filter),
      fetch: (limit, offset) => store.listProjects(read, filter, { limit, offset }),
    });
  }

  /** Every project that matches, newest first: for the command line. */
  listAll(filter: { q?: string; status?: 'active' | 'inactive' }): ProjectRow[] {
    return store.listProjects(this.deps.database.read, filter, { limit: -1, offset: 0 });
  }

  /** A project as clients see it. */
  present(project: ProjectRow): ProjectRecord {
    const database_project_id = this.deps.databaseLinks.linkedId(this.deps.database.read, project.id);
    return present(FIELDS, { ...project, database_project_id });
  }

  /** A project's own record: with its keys. */
  presentWithKeys(project: ProjectRow): ProjectWithKeys {
    const api_keys = this.deps.keysOf(project.id);
    return { ...this.present(project), api_keys, mail: this.fateOfMail(project) };
  }

  /** What becomes now of its transactional mail that names no domain. */
  fateOfMail({ id, status }: { id: number; status: string }): MailFate {
    const { database, clock, fateOfMail } = this.deps;
    return status === 'active' ? fateOfMail(database.read, id, clock.now()) : 'refused';
  }

  countApiKeys(project: ProjectRow): number {
    return readRowCount(this.deps.database.read, { list: 'api_keys', project_id: project.id });
  }

  /**
   * What is wrong with a new or changed project beyond its schema. `current` is null for a new one; `caller`
   * as in `update`.
   */
  errorsIn(
    sent: ProjectChanges,
    current: ProjectRow | null,
    caller: ManagementCaller | null = null,
  ): FieldErrors {
    const { slug, database_project_id } = sent;
    return collectErrors(
      () => slug !== undefined && checkSlug(slug),
      () => database_project_id !== undefined && this.#resolveLink(caller, database_project_id),
      () => this.#sendingOf(this.deps.database.read, current, sent),
      () => current && mergeLinkDomain(this.deps.database.read, current, sent, this.deps.config.public_url),
    );
  }

  /** The domains that the project sends from, after a change. Throws AppError `invalid`. */
  #sendingOf(read: Tx, current: Sending | null, sent: ProjectChanges): Sending {
    return mergeSending(current, sent, (names) => this.deps.unknownDomains(read, names));
  }

  /**
   * Creates a project; without a slug it makes one from the name. A caller who is scoped to projects gets
   * this one, too. Throws AppError `invalid` for a slug that could be an id or an unknown sending domain,
   * `conflict` SLUG_ALREADY_EXISTS.
   */
  create(actor: Actor, input: NewProjectInput, caller: ManagementCaller | null = null): Promise<ProjectRow> {
    const wanted = input.slug === undefined ? null : checkSlug(input.slug);
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      if (wanted !== null) store.refuseTakenSlug(tx, wanted, null);
      const slug = wanted ?? generateSlug(input.name, (each) => store.findProjectBySlug(tx, each) !== null);
      const project = store.insertProject(tx, {
        ...merge(FIELDS, null, input),
        public_id: newId(now),
        slug,
        ...this.#sendingOf(tx, null, input),
        is_moved: false,
        created_at: now,
        updated_at: now,
      });
      if (caller && !caller.all_projects) store.insertScope(tx, caller, project.id);
      const metadata = { name: project.name, slug };
      this.#audit(tx, actor, { event: 'project.created', project, metadata }, now);
      return project;
    });
  }

  /**
   * Changes the given fields; null clears an optional one. `caller` is null for the shell. Throws AppError
   * `invalid`, `conflict` SLUG_ALREADY_EXISTS, `forbidden` for linking a database project without
   * can_manage_database, `not_found` when the project is gone.
   */
  async update(
    actor: Actor,
    project: ProjectRow,
    changes: ProjectChanges,
    caller: ManagementCaller | null = null,
  ): Promise<ProjectRow> {
    const { database_project_id, link_domain: _, ...values } = setBy(CHANGED_FIELDS, changes);
    if (values.slug !== undefined) values.slug = checkSlug(values.slug);
    if (Object.keys(changes).length === 0) return project;
    const now = this.deps.clock.now();
    return await this.deps.database.write((tx) => {
      const link =
        database_project_id === undefined ? undefined : this.#resolveLink(caller, database_project_id);
      if (values.slug !== undefined) store.refuseTakenSlug(tx, values.slug, project.id);
      const before = this.#told(tx, project.id);
      const current = store.findProjectById(tx, project.id);
      if (!current) throw notFound('Project');
      const starts = current.status !== 'active' && values.status === 'active';
      const sending = this.#sendingOf(tx, current, changes);
      const link_domain = mergeLinkDomain(tx, current, changes, this.deps.config.public_url);
      const moved = starts ? { is_moved: false } : {};
      const changed = store.updateProject(tx, project.id, {
        ...values,
        ...sending,
        ...link_domain,
        ...moved,
        updated_at: now,
      });
      if (!changed) throw notFound('Project');
      if (starts) this.#tell(tx, { kind: 'started', project_id: project.id });
      if (link !== undefined) this.deps.databaseLinks.link(tx, project.id, link);
      const told = changesOf(before, this.#told(tx, project.id));
      this.#audit(tx, actor, { event: 'project.updated', project: changed, changes: told }, now);
      return changed;
    });
  }

  /** A project as the trail tells of it. */
  #told(tx: Tx, id: number): object {
    const { is_moved: _, ...project } = store.findProjectById(tx, id) ?? {};
    return { ...project, database_project_id: this.deps.databaseLinks.linkedId(tx, id) };
  }

  /** Has something told of what becomes of projects, in the transaction that does it. */
  listen(listener: ProjectListener): void {
    this.#listeners.push(listener);
  }

  #tell(tx: Tx, event: ProjectEvent): void {
    for (const listener of this.#listeners) listener(tx, event);
  }

  /** Sets a project inactive that goes on elsewhere, and has its sequences and broadcasts pause. */
  moveAway(tx: Tx, id: number): void {
    if (store.isActive(tx, id))
      store.updateProject(tx, id, { status: 'inactive', is_moved: true, updated_at: this.deps.clock.now() });
    this.#tell(tx, { kind: 'moved', project_id: id });
  }

  /** Has a project go on that was active until it moved away. */
  moveBack(tx: Tx, id: number): void {
    if (!store.findProjectById(tx, id)?.is_moved) return;
    store.updateProject(tx, id, { status: 'active', is_moved: false, updated_at: this.deps.clock.now() });
    this.#tell(tx, { kind: 'started', project_id: id });
  }

  #resolveLink(caller: ManagementCaller | null, ref: number | string | null): number | null {
    if (caller) requireCapabilities(caller, ['can_manage_database']);
    if (ref === null) return null;
    const id = this.deps.databaseLinks.visibleIdFor(caller, String(ref));
    if (id === null) {
      throw invalid({ database_project_id: ['must name a database project that you can see'] });
    }
    return id;
  }

  /**
   * Deletes a project and everything in it in one transaction. Contacts and files follow after the commit,
   * before it resolves. The audit event is written first, with how much went with it. Throws AppError
   * `not_found`.
   */
  async remove(actor: Actor, ref: string): Promise<{ deleted: true; cascade: CascadeCounts }> {
    const now = this.deps.clock.now();
    const { project, cascade, states } = await this.deps.database.write((tx) => {
      const project = findProject(tx, ref);
      if (!project) throw notFound('Project');
      const cascade = this.#countCascade(tx, project);
      const metadata = { name: project.name, slug: project.slug, cascade };
      this.#audit(tx, actor, { event: 'public_api.project.deleted', project, metadata }, now);
      const states = this.#cascades.map((each) => each.remove?.(tx, project));
      store.deleteProject(tx, project.id);
      return { project, cascade, states };
    });
    // The deletion stands even if this fails or a crash cuts it off: sweeps at the next start remove the
    // rest.
    await Promise.allSettled(
      this.#cascades.map(async (each, index) => each.afterCommit?.(project, states[index])),
    );
    return { deleted: true, cascade };
  }

  /** How much would go with a project, by kind. */
  countContents(project: ProjectRow): CascadeCounts & { emails: number; email_schedules: number } {
    const { read } = this.deps.database;
    const countOf = (list: string): number => readRowCount(read, { list, project_id: project.id });
    return {
      ...this.#countCascade(read, project),
      emails: countOf('emails'),
      email_schedules: countOf('email_schedules'),
    };
  }

  #countCascade(tx: Tx, project: ProjectRow): CascadeCounts {
    const countOf = (list: string): number => readRowCount(tx, { list, project_id: project.id });
    const counts: CascadeCounts = {
      api_keys: countOf('api_keys'),
      stored_objects: 0,
      vault_credentials: 0,
      vault_files: 0,
      links: 0,
      vault_reveals: 0,
      email_lists: countOf('contact_lists'),
      email_contacts: 0,
      email_suppressions: countOf('suppressions'),
      email_sequences: countOf('sequences'),
      email_broadcasts: countOf('broadcasts'),
      email_imports: 0,
    };
    for (const cascade of this.#cascades) {
      const own = cascade.count(tx, project);
      counts.api_keys += own.api_keys ?? 0;
      counts.stored_objects += own.stored_objects ?? 0;
      counts.vault_credentials += own.vault_credentials ?? 0;
      counts.vault_files += own.vault_files ?? 0;
      counts.links += own.links ?? 0;
      counts.vault_reveals += own.vault_reveals ?? 0;
      counts.email_contacts += own.email_contacts ?? 0;
      counts.email_imports += own.email_imports ?? 0;
    }
    return counts;
  }

  /** The projects that somebody is scoped to, by name, as their record names them. */
  scopeOf(holder: ScopeHolder, read: Tx = this.deps.database.read): AbbreviatedProject[] {
    return store
      .listScope(read, holder)
      .map(({ id, public_id, name, slug }) => ({ id, public_id, name, slug }));
  }

  /**
   * Ids of the projects to scope somebody to. Throws AppError `invalid` for one that the giver does not see;
   * in the shell (null) `not_found`.
   */
  resolveScope(giver: ManagementCaller | null, refs: readonly string[]): number[] {
    return refs.map((ref) => {
      if (!giver) return this.require(ref).id;
      const project = this.find(ref);
      if (project && mayAccessProject(giver, project.id)) return project.id;
      throw invalid({ projects: ['must name projects that you can see'] });
    });
  }

  #audit(
    tx: Tx,
    actor: Actor,
    entry: Omit<AuditEntry, 'target' | 'project'> & { project: ProjectRow },
    now_ms: number,
  ): void {
    const { id, name } = entry.project;
    const told = { ...entry, metadata: { name, ...entry.metadata }, target: `project:${id}` };
    recordAudit(tx, actor, told, now_ms);
  }
}

/** Drops the data key of a deleted project, so that no copy of its secrets can be opened any more. */
export function forgetDataKey(key_ring: KeyRing): ProjectCascade {
  return {
    count: () => ({}),
    remove: (tx, project) => key_ring.forgetScope(tx, projectScope(project.public_id)),
  };
}

/** Which sending domains a project's mail goes by; all where it is gone. */
export function sendingOf(read: Tx, project_id: number): Sending {
  return store.findSending(read, project_id) ?? { sending_domain: null, sending_domains: null };
}

/** The slugs of these projects. */
export function slugsOf(sqlite: Parameters<typeof store.listSlugs>[0], ids: ReadonlySet<number>): string[] {
  return store.listSlugs(sqlite, [...ids]);
}

/** Slugs of the projects that name a sending domain. */
export function listProjectsNaming(read: Tx, domain: string): string[] {
  return store.listNaming(read, domain);
}

function refuseUnknown(): never {
  throw notFound('Project', 'satchel project list');
}

/** By numeric id, ULID or slug. */
export function findProject(read: Tx, ref: string): ProjectRow | null {
  if (/^\d+$/.test(ref)) return ref.length <= 15 ? store.findProjectById(read, Number(ref)) : null;
  if (isUlid(ref)) return store.findProjectByPublicId(read, ref.toUpperCase());
  return store.findProjectBySlug(read, ref);
}
