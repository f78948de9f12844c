/** Origins of keys and global ones: adding, changing, removing, and which key accepts what. */
import { conflict, type FieldErrors, invalid, notFound } from '../../errors.ts';
import { changesOf, recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, explainMissing, type Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { merge } from '../../platform/http/fields.ts';
import { findProjectState } from '../projects/service.ts';
import {
  canonicalizeFingerprint,
  canonicalizeOrigin,
  checkCandidate,
  matchRequest,
  type OriginCandidate,
  type OriginDecision,
  type OriginType,
  type OriginVerdict,
  type RequestOrigin,
} from './matcher.ts';
import {
  FIELDS,
  type GlobalOriginRecord,
  type NewGlobalOriginInput,
  type NewOriginInput,
  type OriginChanges,
  type OriginRecord,
} from './schemas.ts';
import * as store from './store.ts';
import type { GlobalOriginRow, OriginRow } from './tables.ts';

export { describeRefusal, type OriginDecision, type RequestOrigin, remarkOnValue } from './matcher.ts';
export { type OriginRecord, originRecord } from './schemas.ts';
export type { OriginRow } from './tables.ts';

/** The key whose origins are meant. */
interface OfKey {
  id: number;
  project_id: number;
  name: string;
}

export class Origins {
  constructor(private readonly deps: { database: Database; clock: Clock }) {}

  /** Whether a key accepts a request from there, and by which rule. */
  decide(
    key: { id: number; restricted: boolean; allow_no_origin: boolean },
    request: RequestOrigin,
  ): OriginDecision {
    const { restricted, allow_no_origin } = key;
    const rules = store.listRulesOfKey(this.deps.database.read, key.id);
    return matchRequest(request, { restricted, allow_no_origin, ...rules });
  }

  present(origin: OriginRow): OriginRecord {
    return presentOrigin(origin);
  }

  /** The rules of a key, newest first. */
  list(key: OfKey): OriginRecord[] {
    return store.listOrigins(this.deps.database.read, key.id).map(presentOrigin);
  }

  count(key: OfKey, read: Tx = this.deps.database.read): number {
    return store.countOrigins(read, key.id);
  }

  /** Values of the oldest rules of a key, at most so many. */
  nameFirst(key: OfKey, limit: number): string[] {
    return store.listFirstValues(this.deps.database.read, key.id, limit);
  }

  /** A key's rule. Throws AppError `not_found`, for another key's rule too. */
  require(key: OfKey, ref: string): OriginRow {
    const id = /^\d{1,15}$/.test(ref) ? Number(ref) : 0;
    const origin = store.findOrigin(this.deps.database.read, { api_key_id: key.id, id });
    if (!origin) throw notFound('Origin');
    return origin;
  }

  /** Adds a rule to a key. Throws AppError `invalid`, `conflict` ORIGIN_ALREADY_EXISTS, `not_found`. */
  add(actor: Actor, key: OfKey, input: NewOriginInput): Promise<OriginRecord> {
    const values = canonicalValues(input);
    const now = this.deps.clock.now();
    return this.deps.database
      .write((tx) => {
        if (store.findOriginByValue(tx, { api_key_id: key.id, ...values })) throw alreadyExists('This key');
        const origin = store.insertOrigin(tx, { ...values, api_key_id: key.id, created_at: now });
        this.#audit(tx, actor, { event: 'api_key.origin_added', key, origin }, now);
        return presentOrigin(origin);
      })
      .catch(explainMissing('API key'));
  }

  /** What is wrong with a new or changed rule of a key beyond what its schema checks, by field. */
  errorsIn(sent: OriginChanges, current: OriginRow | null = null): FieldErrors {
    const rule = current ? { ...sent, type: current.type } : sent;
    return { ...(current ? refusalOfType(sent, current) : {}), ...readRule(rule).errors };
  }

  /** Changes value and fingerprints of a rule; its type stays. Throws as `add` does. */
  async update(actor: Actor, key: OfKey, origin: OriginRow, changes: OriginChanges): Promise<OriginRecord> {
    const refusal = refusalOfType(changes, origin);
    if (refusal.type) throw invalid(refusal);
    if (Object.keys(changes).length === 0) return presentOrigin(origin);
    const now = this.deps.clock.now();
    return await this.deps.database.write((tx) => {
      // A field that is left out keeps its present value: another request may have changed it meanwhile.
      const current = store.findOrigin(tx, { api_key_id: key.id, id: origin.id });
      if (!current) throw notFound('Origin');
      const values = canonicalValues(merge(FIELDS, current, changes));
      const holder = store.findOriginByValue(tx, { api_key_id: key.id, ...values });
      if (holder && holder.id !== origin.id) throw alreadyExists('This key');
      const { type, ...columns } = values;
      const changed = store.updateOrigin(tx, origin.id, columns);
      if (!changed) throw notFound('Origin');
      this.#audit(tx, actor, { event: 'api_key.origin_updated', key, origin: changed, before: current }, now);
      return presentOrigin(changed);
    });
  }

  /** Takes a rule from a key. */
  remove(actor: Actor, key: OfKey, origin: OriginRow): Promise<{ deleted: true }> {
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const removed = store.deleteOrigin(tx, origin.id);
      if (!removed) throw notFound('Origin');
      this.#audit(tx, actor, { event: 'api_key.origin_removed', key, origin: removed }, now);
      return { deleted: true as const };
    });
  }

  #audit(
    tx: Tx,
    actor: Actor,
    of: { event: string; key: OfKey; origin: OriginRow; before?: OriginRow },
    now: number,
  ): void {
    const { event, key, origin, before } = of;
    const project = findProjectState(tx, key.project_id);
    const metadata = { name: key.name, origin: presentOrigin(origin) };
    const changes = before ? changesOf(presentOrigin(before), presentOrigin(origin)) : {};
    recordAudit(tx, actor, { event, target: `api_key:${key.id}`, project, metadata, changes }, now);
  }

  /** The active global rules, newest first. */
  listGlobal(): GlobalOriginRecord[] {
    return store.listGlobalOrigins(this.deps.database.read).map(presentGlobalOrigin);
  }

  /** A global rule. Throws AppError `not_found`. */
  requireGlobal(ref: string): GlobalOriginRecord {
    const origin = this.listGlobal().find(({ id }) => String(id) === ref);
    if (!origin) throw notFound('Global origin', 'satchel origin list');
    return origin;
  }

  /** Adds a rule for every restricted key. Throws AppError `invalid`, or `conflict` ORIGIN_ALREADY_EXISTS. */
  addGlobal(actor: Actor, input: NewGlobalOriginInput): Promise<GlobalOriginRecord> {
    const values = canonicalValues(input);
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      if (store.findGlobalOriginByValue(tx, values.type, values.value))
        throw alreadyExists('The global list');
      const row = store.insertGlobalOrigin(tx, { ...values, note: input.note ?? null, created_at: now });
      return noteGlobal(tx, actor, 'global_origin.added', row, now);
    });
  }

  /** Removes a global rule. Throws AppError `not_found`. */
  removeGlobal(actor: Actor, id: number): Promise<GlobalOriginRecord> {
    const now = this.deps.clock.now();
    return this.deps.database.write((tx) => {
      const row = store.deleteGlobalOrigin(tx, id);
      if (!row) throw notFound('Global origin', 'satchel origin list');
      return noteGlobal(tx, actor, 'global_origin.removed', row, now);
    });
  }

  /** Which of these the global rules cover, in the same order. */
  check(candidates: readonly OriginCandidate[]): OriginVerdict[] {
    const rules = store.listGlobalOrigins(this.deps.database.read);
    return candidates.map((candidate) => checkCandidate(candidate, rules));
  }
}

function noteGlobal(
  tx: Tx,
  actor: Actor,
  event: string,
  row: GlobalOriginRow,
  now_ms: number,
): GlobalOriginRecord {
  const origin = presentGlobalOrigin(row);
  const target = `global_origin:${row.id}`;
  recordAudit(tx, actor, { event, target, project: null, metadata: { origin } }, now_ms);
  return origin;
}

interface OriginInput {
  type: OriginType;
  value: string;
  sha256_fingerprints?: string[] | null;
  sha1_fingerprints?: string[] | null;
}

/** Throws AppError `invalid` with what is wrong by field. */
function canonicalValues(input: OriginInput): store.OriginValues {
  const { value, errors, ...lists } = readRule(input);
  if (value === null || Object.keys(errors).length > 0) throw invalid(errors);
  return { type: input.type, value, ...lists };
}

/** The given fields of a rule in canonical form, and what is wrong with them. */
function readRule({ type, value, ...given }: Partial<OriginInput>) {
  const errors: FieldErrors = {};
  const origin = type === undefined || value === undefined ? null : canonicalizeOrigin(type, value);
  if (origin && !origin.ok) errors.value = [origin.message];
  const lists = {
    sha256_fingerprints: canonicalFingerprints('sha256', given.sha256_fingerprints ?? [], errors),
    sha1_fingerprints: canonicalFingerprints('sha1', given.sha1_fingerprints ?? [], errors),
  };
  if (type !== undefined && type !== 'android') {
    for (const [field, list] of Object.entries(lists)) {
      if (list.length > 0) errors[field] = ['only an android origin pins certificates'];
    }
  }
  return { value: origin?.ok ? origin.value : null, ...lists, errors };
}

function refusalOfType(changes: OriginChanges, { type }: OriginRow): FieldErrors {
  if (changes.type === undefined || changes.type === type) return {};
  return { type: ['cannot be changed; remove this origin and add another'] };
}

function canonicalFingerprints(
  kind: 'sha256' | 'sha1',
  given: readonly string[],
  errors: FieldErrors,
): string[] {
  const found = new Set<string>();
  given.forEach((text, index) => {
    const fingerprint = canonicalizeFingerprint(kind, text);
    if (fingerprint.ok) found.add(fingerprint.value);
    else errors[`${kind}_fingerprints.${index}`] = [fingerprint.message];
  });
  return [...found];
}

function alreadyExists(what: string): Error {
  return conflict(`${what} already has this origin; change that one instead.`, {
    code: 'ORIGIN_ALREADY_EXISTS',
  });
}

function presentOrigin(origin: OriginRow): OriginRecord {
  const { id, type, value, sha256_fingerprints, sha1_fingerprints } = origin;
  return { id, type, value, ...(type === 'android' ? { sha256_fingerprints, sha1_fingerprints } : {}) };
}

function presentGlobalOrigin(origin: GlobalOriginRow): GlobalOriginRecord {
  const { id, type, value, sha256_fingerprints, sha1_fingerprints, note, created_at } = origin;
  return { id, type, value, sha256_fingerprints, sha1_fingerprints, note, created_at: toIso(created_at) };
}
