/**
 * The audit trail: an append-only table, written in the transaction of each change. Only failed sign-ins
 * and refused tokens of issuers share a row, whose count grows.
 */
import { and, count, desc, eq, gte, isNull, lt, type SQL } from 'drizzle-orm';
import { toIso } from '../host/clock.ts';
import { firstIdOf, newId } from '../host/ids.ts';
import type { Actor } from '../http/callers.ts';
import type { Tx } from './database.ts';
import type { Changes } from './schemas.ts';
import { auditEvents } from './tables.ts';

export interface AuditEntry {
  /** Dotted noun and verb, such as `api_key.rotated`. */
  event: string;
  /** What it was done to, such as `api_key:12`. */
  target: string | null;
  project: { id: number; public_id: string } | null;
  /** Facts for the reader: names, counts; never a secret. */
  metadata?: Record<string, unknown>;
  /** Of a change: see `changesOf`. */
  changes?: Changes;
  /** Where the same actor did the same to the same within so long, it is on the trail already: it is not told again. */
  sitting_ms?: number;
}

/** Decision: what a field was and became is cut to this. */
const MAX_CHANGE_CHARS = 200;
/** Columns of the row itself. What follows from other columns says nothing of its own. */
const OF_ROW =
  /^(?:id|public_id|project_id|list_id|job_id|revision|created_at|updated_at|next_run_at)$|_prefix$/;
const SECRET = /^sealed_|_hash$|_token$|_secret$/;

/**
 * Which fields differ between `before` and `after`. Sealed columns, hashes and tokens are secrets by name;
 * `secret` names others.
 */
export function changesOf(
  before: object,
  after: object,
  options: { secret?: readonly string[]; is_personal?: boolean } = {},
): Changes {
  const changes: Changes = {};
  for (const [name, given] of Object.entries(after)) {
    const [from, to]: unknown[] = [Reflect.get(before, name) ?? null, given];
    if (to === undefined || OF_ROW.test(name) || JSON.stringify(from) === JSON.stringify(to)) continue;
    const shown = name.replace(/^sealed_/, '');
    if (SECRET.test(name) || options.secret?.includes(name)) changes[shown] = { secret: true };
    else if (options.is_personal) changes[shown] = { personal: true };
    else changes[shown] = { from: shownAs(name, from), to: shownAs(name, to) };
  }
  return changes;
}

/** Moments as the API has them. */
function shownAs(name: string, value: unknown): unknown {
  if (typeof value === 'number') return name.endsWith('_at') ? toIso(value) : value;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > MAX_CHANGE_CHARS ? text.slice(0, MAX_CHANGE_CHARS) : value;
}

/** Puts a change on the audit trail, in the change's own transaction, with who made it and where. */
export type Note = (tx: Tx, entry: Omit<AuditEntry, 'project'>) => void;

/** For changes that are not put on the trail. */
export const noNote: Note = () => {};

/** Appends one event within the transaction of the change. */
export function recordAudit(tx: Tx, actor: Actor, entry: AuditEntry, now_ms: number): void {
  if (entry.sitting_ms !== undefined && wasTold(tx, actor, entry, now_ms - entry.sitting_ms)) return;
  tx.insert(auditEvents)
    .values({
      id: newId(now_ms),
      at: now_ms,
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name: actor.name,
      ip: actor.ip,
      event: entry.event,
      target: entry.target,
      project_id: entry.project?.id ?? null,
      project_public_id: entry.project?.public_id ?? null,
      metadata: entry.metadata ?? {},
      changes: entry.changes ?? {},
    })
    .run();
}

function wasTold(tx: Tx, actor: Actor, { event, target, project }: AuditEntry, since_ms: number): boolean {
  const same = {
    event,
    target,
    actor_name: actor.name,
    since_ms,
    ...(project && { project_id: project.id }),
  };
  return listAudit(tx, same, 1, 0).length > 0;
}

/** Gives a row that stands for many events its new count. */
export function countInAudit(tx: Tx, id: string, metadata: { count: number }): void {
  tx.update(auditEvents).set({ metadata }).where(eq(auditEvents.id, id)).run();
}

export type AuditRow = typeof auditEvents.$inferSelect;

export interface AuditFilter {
  project_id?: number;
  event?: string;
  /** No index has it, so ask for an event as well. Null finds rows without a target. */
  target?: string | null;
  actor_name?: string;
  since_ms?: number;
  until_ms?: number;
}

function conditionOf(filter: AuditFilter): SQL | undefined {
  return and(
    filter.project_id === undefined ? undefined : eq(auditEvents.project_id, filter.project_id),
    filter.event === undefined ? undefined : eq(auditEvents.event, filter.event),
    filter.target === undefined
      ? undefined
      : filter.target === null
        ? isNull(auditEvents.target)
        : eq(auditEvents.target, filter.target),
    filter.actor_name === undefined ? undefined : eq(auditEvents.actor_name, filter.actor_name),
    // Ids never go back, so the index ends the walk here; a clock may have been set back.
    filter.since_ms === undefined ? undefined : gte(auditEvents.id, firstIdOf(filter.since_ms)),
    filter.since_ms === undefined ? undefined : gte(auditEvents.at, filter.since_ms),
    filter.until_ms === undefined ? undefined : lt(auditEvents.at, filter.until_ms),
  );
}

/** Events that match, newest first. */
export function listAudit(read: Tx, filter: AuditFilter, limit: number, offset: number): AuditRow[] {
  return read
    .select()
    .from(auditEvents)
    .where(conditionOf(filter))
    .orderBy(desc(auditEvents.id))
    .limit(limit)
    .offset(offset)
    .all();
}

export function countAudit(read: Tx, filter: AuditFilter): number {
  return read.select({ n: count() }).from(auditEvents).where(conditionOf(filter)).get()?.n ?? 0;
}
