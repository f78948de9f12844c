/** Segments: filters of a list that are kept under a name, and stand wherever a filter may. */
import { type FieldErrors, invalid, refuseAll } from '../../errors.ts';
import { type Options, textOption, UsageError } from '../../platform/cli/options.ts';
import { resolveNamed } from '../../platform/cli/project-option.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { present, setBy } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { Records } from '../../platform/http/records.ts';
import { parse } from '../../platform/http/schema.ts';
import type { Naming } from '../../platform/words/phrases.ts';
import { countAudience } from '../audience.ts';
import { type ContactFilter, type Contacts, contact_filter, readFilter } from '../contacts/service.ts';
import type { Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import {
  CHANGEABLE,
  FIELDS,
  type Match,
  type NewSegment,
  type SegmentChanges,
  type SegmentRecord,
} from './schemas.ts';
import * as store from './store.ts';
import type { SegmentRow } from './tables.ts';

export type { SegmentRecord } from './schemas.ts';
export type { SegmentRow } from './tables.ts';

/** What is about to happen to a segment's filter, told within the transaction; whoever needs it as it is throws AppError `conflict`. */
export interface SegmentEvent {
  kind: 'changing' | 'deleting';
  segment: SegmentRow;
}

interface SegmentsDeps {
  database: Database;
  clock: Clock;
  lists: Lists;
  contacts: Contacts;
  suppressions: Suppressions;
}

export class Segments extends Records<SegmentRow, SegmentRecord> {
  readonly #listeners: ((tx: Tx, event: SegmentEvent) => void)[] = [];

  constructor(private readonly deps: SegmentsDeps) {
    super({
      ...deps,
      rows: store.segments,
      noun: 'Segment',
      lister: 'satchel segment list --project REF',
    });
  }

  /** Has something told before a filter changes or goes. */
  listen(listener: (tx: Tx, event: SegmentEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Newest first, of all lists or of one. Throws AppError `invalid` for a list that is none of the project's. */
  list(
    project_id: number,
    { list, ...query }: PageQuery & { list?: string | undefined },
  ): Page<SegmentRecord> {
    const { database, lists } = this.deps;
    const errors: FieldErrors = {};
    const of_list = list === undefined ? null : lists.findNamed(project_id, list, errors);
    refuseAll(errors);
    const of = { project_id, list_id: of_list?.id ?? null };
    return paginate(query, {
      total: store.countSegments(database.read, of),
      fetch: (limit, offset) =>
        store.listSegments(database.read, of, { limit, offset }).map((row) => this.present(row)),
    });
  }

  /** As `get`, with how many a broadcast to it would reach now. Others have their turn meanwhile. */
  async getCounted(owner: KeyOwner, public_id: string): Promise<SegmentRecord> {
    const { database, clock } = this.deps;
    const row = this.require(owner.id, public_id);
    const audience = { owner, list_id: row.list_id, filter: filterOf(row), now_ms: clock.now() };
    const { recipients } = await countAudience(this.deps, database.read, audience);
    return { ...this.present(row), contacts_count: recipients };
  }

  /** How many of a list a filter that is being written would reach now, and the first few of them. Throws AppError `invalid` by member. */
  async match(owner: KeyOwner, list: { id: number }, filter: ContactFilter): Promise<Match> {
    const { database, clock, contacts } = this.deps;
    refuseAll(contacts.errorsInFilter(list, filter));
    const audience = { owner, list_id: list.id, filter, now_ms: clock.now() };
    const { recipients, samples } = await countAudience(this.deps, database.read, audience);
    return { contacts_count: recipients, sentence: contacts.tellFilter(list, filter), samples };
  }

  /** Public ids by ids. */
  publicIdsOf(ids: readonly number[], read: Tx): Map<number, string> {
    return new Map(store.listSegmentsById(read, ids).map((row) => [row.id, row.public_id]));
  }

  /** The filter of a segment as it is now; null where it is gone. */
  filterOf(id: number, read: Tx): ContactFilter | null {
    const [row] = store.listSegmentsById(read, [id]);
    return row ? filterOf(row) : null;
  }

  /* --- In place of a filter --------------------------------------------------------------------------------------- */

  /** The segment of a list that a request names in its field `segment`; where there is none, `errors` says so. */
  findNamed(
    list: { id: number; project_id: number },
    public_id: string,
    errors: FieldErrors,
    read: Tx = this.deps.database.read,
  ): SegmentRow | null {
    const row = this.find(list.project_id, public_id, read);
    if (row?.list_id === list.id) return row;
    errors.segment = ['must be the id of a segment of this list'];
    return null;
  }

  /**
   * The filter of the segment that a request names in its field `segment`. Throws AppError `invalid` where it is none of the list's,
   * or where its filter names what is gone.
   */
  filterNamed(list: { id: number; project_id: number }, public_id: string): ContactFilter {
    const errors: FieldErrors = {};
    const row = this.findNamed(list, public_id, errors);
    if (!row) throw invalid(errors);
    const chosen = filterOf(row);
    const gone = Object.keys(this.deps.contacts.errorsInFilter(list, chosen));
    if (gone.length > 0)
      throw invalid({ segment: [`its filter names what is gone: ${gone.join(', ')}. Change it first`] });
    return chosen;
  }

  /* --- Writing ---------------------------------------------------------------------------------------------------- */

  /** What is wrong with the fields of a segment beyond their schema; `current` is null for a new one. */
  errorsIn(
    project_id: number,
    current: Pick<SegmentRecord, 'list'> | null,
    fields: SegmentChanges & { list?: string },
  ): FieldErrors {
    const { lists, contacts } = this.deps;
    const errors: FieldErrors = {};
    if (/\p{Cc}/u.test(fields.name ?? ''))
      errors.name = ['must have no line breaks or other control characters'];
    const list_id = current?.list ?? fields.list;
    const list = list_id === undefined ? null : lists.findNamed(project_id, list_id, errors);
    if (list && fields.filter) Object.assign(errors, contacts.errorsInFilter(list, fields.filter));
    return errors;
  }

  /** Throws AppError `invalid` by field. */
  async create(project_id: number, { list, name, filter }: NewSegment, note: Note): Promise<SegmentRecord> {
    const { database, clock, lists } = this.deps;
    const row = await database.write((tx) => {
      refuseAll(this.errorsIn(project_id, null, { list, name, filter }));
      const list_id = lists.require(project_id, list, tx).id;
      const now = clock.now();
      const public_id = newId(now);
      note(tx, { event: 'segment.created', target: `segment:${public_id}`, metadata: { name } });
      const fresh = { public_id, created_at: now, updated_at: now };
      return store.segments.insert(tx, { project_id, list_id, name, filter, ...fresh });
    });
    return this.present(row);
  }

  /**
   * Changes what is given. Throws AppError `not_found`, `invalid` by field, and `conflict` for another filter while a broadcast
   * waits for its time to go to whom this one means.
   */
  async update(
    project_id: number,
    public_id: string,
    changes: SegmentChanges,
    note: Note,
  ): Promise<SegmentRecord> {
    const row = await this.deps.database.write((tx) => {
      const segment = this.require(project_id, public_id, tx);
      refuseAll(this.errorsIn(project_id, this.present(segment), changes));
      const set = { ...setBy(CHANGEABLE, changes), updated_at: this.deps.clock.now() };
      const is_filter_new = set.filter !== undefined && !Bun.deepEquals(set.filter, segment.filter);
      if (is_filter_new) this.#tell(tx, { kind: 'changing', segment });
      const changed = store.segments.update(tx, segment.id, set);
      const told = { event: 'segment.changed', target: `segment:${segment.public_id}` };
      note(tx, { ...told, metadata: { name: changed.name }, changes: changesOf(segment, changed) });
      return changed;
    });
    return this.present(row);
  }

  /** Throws AppError `not_found`, and `conflict` while a broadcast waits for its time to go to whom it means. */
  async remove(project_id: number, public_id: string, note: Note): Promise<void> {
    await this.deps.database.write((tx) => {
      const segment = this.require(project_id, public_id, tx);
      this.#tell(tx, { kind: 'deleting', segment });
      const target = `segment:${segment.public_id}`;
      note(tx, { event: 'segment.deleted', target, metadata: { name: segment.name } });
      store.segments.remove(tx, segment.id);
    });
  }

  #tell(tx: Tx, event: SegmentEvent): void {
    for (const listener of this.#listeners) listener(tx, event);
  }

  present(row: SegmentRow): SegmentRecord {
    const { lists, contacts } = this.deps;
    return present(FIELDS, {
      ...row,
      id: row.public_id,
      list: lists.findById(row.list_id)?.public_id ?? '',
      filter_sentence: contacts.tellFilter({ id: row.list_id }, filterOf(row)),
    });
  }
}

/** The filter of a segment as it was stored. */
function filterOf({ filter }: Pick<SegmentRow, 'filter'>): ContactFilter {
  return parse(contact_filter, filter);
}

/** What `--segment` takes in the shell. */
export const SEGMENT_HELP = 'those of a segment of the list, in place of a filter: its id or name';

interface Needs {
  projects: { require(ref: string): { id: number } };
  segments: { filterNamed(list: { id: number; project_id: number }, public_id: string): ContactFilter };
  segment_names: Naming;
}

/** The filter that was given; undefined for none. Throws wrong usage for both, and AppError as `readFilter` and `filterNamed` do. */
export function filterOption(
  { projects, segments, segment_names }: Needs,
  list: { id: number; project_id: number },
  options: Options,
): ContactFilter | undefined {
  const filter = textOption(options, 'filter');
  const segment = textOption(options, 'segment');
  if (segment === undefined) return filter === undefined ? undefined : readFilter(filter);
  if (filter !== undefined) throw new UsageError('Give either --segment or a filter.');
  const of_project = { project: String(list.project_id) };
  return segments.filterNamed(list, resolveNamed({ projects, ...segment_names }, segment, of_project));
}
