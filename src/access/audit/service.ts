/** Reading the audit trail: who did what, when and from where. platform/database/audit-trail.ts writes it. */
import {
  type AuditFilter,
  type AuditRow,
  countAudit,
  listAudit,
} from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Changes } from '../../platform/database/schemas.ts';
import { readRowCount } from '../../platform/database/store.ts';
import type { ActorKind } from '../../platform/database/tables.ts';
import { toIso } from '../../platform/host/clock.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import type { ProjectRow } from '../projects/service.ts';
import { sentenceOf } from './sentences.ts';

export interface AuditQuery {
  event?: string;
  /** Name of the token, person or shell user. */
  actor?: string;
  since_ms?: number;
  until_ms?: number;
}

export interface AuditRecord {
  id: string;
  at: string;
  event: string;
  target: string | null;
  actor_kind: ActorKind;
  actor_id: string | null;
  actor_name: string;
  ip: string | null;
  /** ULID of the project; it may be deleted by now. */
  project_id: string | null;
  metadata: Record<string, unknown>;
  /** It in one line, such as `Ann made the key web`. */
  sentence: string;
  /** Changed fields with their values before and after. Secrets and contacts' data are told by name only. */
  changes: Changes;
}

export class Audit {
  constructor(private readonly deps: { database: Database }) {}

  /** One page of a project's events, newest first; `project` null is every project's, and those of none. */
  list(project: ProjectRow | null, query: AuditQuery & PageQuery): Page<AuditRecord> {
    const { read } = this.deps.database;
    const filter = { ...filterOf(query), ...(project ? { project_id: project.id } : {}) };
    return paginate(query, {
      total: this.#count(filter),
      fetch: (limit, offset) => listAudit(read, filter, limit, offset),
    }).map(present);
  }

  /** The newest events that match, of one project or of all: for the shell. */
  listNewest(query: AuditQuery & { project?: ProjectRow }, limit: number): AuditRecord[] {
    const project = query.project === undefined ? {} : { project_id: query.project.id };
    return listAudit(this.deps.database.read, { ...filterOf(query), ...project }, limit, 0).map(present);
  }

  #count(filter: AuditFilter): number {
    const { project_id, event } = filter;
    if (filter.actor_name === undefined && filter.since_ms === undefined && filter.until_ms === undefined) {
      const facet = event === undefined ? {} : { facet: event };
      const counter =
        project_id === undefined ? { list: 'audit_all', project_id: 0 } : { list: 'audit', project_id };
      return readRowCount(this.deps.database.read, { ...counter, ...facet });
    }
    return countAudit(this.deps.database.read, filter);
  }
}

function filterOf(query: AuditQuery): AuditFilter {
  const { event, actor, since_ms, until_ms } = query;
  return {
    ...(event === undefined ? {} : { event }),
    ...(actor === undefined ? {} : { actor_name: actor }),
    ...(since_ms === undefined ? {} : { since_ms }),
    ...(until_ms === undefined ? {} : { until_ms }),
  };
}

function present(row: AuditRow): AuditRecord {
  const {
    id,
    at,
    event,
    target,
    actor_kind,
    actor_id,
    actor_name,
    ip,
    project_public_id,
    metadata,
    changes,
  } = row;
  return {
    id,
    at: toIso(at),
    event,
    target,
    actor_kind,
    actor_id,
    actor_name,
    ip,
    project_id: project_public_id,
    metadata,
    sentence: sentenceOf(row),
    changes,
  };
}
