/** Trusts: whose OIDC tokens are changed for access tokens of some minutes. They are made, listed and removed here. */
import { conflict, type FieldErrors, invalid, notFound, refuseAll } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { type Actor, ADMINISTER, type ManagementCaller } from '../../platform/http/callers.ts';
import {
  capabilitiesIn,
  capabilitiesNamed,
  flagsOf,
  type Powers,
  requireHolding,
} from '../../platform/http/capabilities.ts';
import type { Destinations } from '../../platform/http/destinations.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { type Projects, replaceScope } from '../projects/service.ts';
import { isOfAnybody } from './patterns.ts';
import { ownerOf, removeTrust, type Tokens } from './service.ts';
import type { TrustRow } from './tables.ts';
import { DEFAULT_MINUTES, type NewTrust, type TrustRecord } from './trust-schemas.ts';
import * as store from './trust-store.ts';

interface TokenTrustsDeps {
  config: { public_url: string };
  database: Database;
  clock: Clock;
  projects: Projects;
  tokens: Pick<Tokens, 'powersOfNew'>;
  destinations: Pick<Destinations, 'refusalOf'>;
}

export class TokenTrusts {
  constructor(private readonly deps: TokenTrustsDeps) {}

  /** Newest first. */
  list(query: PageQuery): Page<TrustRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countTrusts(read),
      fetch: (limit, offset) => store.listTrusts(read, { limit, offset }),
    }).map((row) => this.#present(row));
  }

  /** Throws AppError `not_found`. */
  require(id: string): TrustRow {
    const row = /^\d{1,15}$/.test(id) ? store.findTrust(this.deps.database.read, Number(id)) : null;
    if (!row) throw notFound('Trust', 'satchel token trust list');
    return row;
  }

  /** What is wrong with whom it trusts. */
  errorsIn({ issuer, subject }: Partial<NewTrust>): FieldErrors {
    const refusal = issuer === undefined ? null : refusalOf(issuer, this.deps.destinations);
    const is_of_anybody = subject !== undefined && isOfAnybody(subject);
    return {
      ...(refusal === null ? {} : { issuer: [refusal] }),
      ...(is_of_anybody && {
        subject: ['must have no * in its first two segments: it would fit anybody at that issuer'],
      }),
    };
  }

  /** The powers of its tokens. Throws as those of a token, and AppError `invalid` for `can_administer`. */
  powersOf(input: NewTrust, giver: ManagementCaller | null): Powers {
    const { projects, read_only = true, environments } = input;
    if (input.can_administer === true) throw invalid({ [ADMINISTER]: ['is nothing that a trust gives'] });
    const capabilities = [...capabilitiesIn(input)];
    const scope = { all_projects: false, projects, ...(environments && { environments }) };
    return this.deps.tokens.powersOfNew({ ...scope, capabilities, read_only }, giver);
  }

  /**
   * Makes a trust. Throws AppError `invalid`, `conflict` for a name that is taken, and `forbidden` where the giver (null: the
   * shell) lacks what it gives.
   */
  async add(actor: Actor, input: NewTrust, giver: ManagementCaller | null): Promise<TrustRecord> {
    refuseAll(this.errorsIn(input));
    const now = this.deps.clock.now();
    const { name, issuer, subject, audience = null, claims = {}, minutes = DEFAULT_MINUTES } = input;
    const row = await this.deps.database.write((tx) => {
      const powers = this.powersOf(input, giver);
      requireHolding(giver, powers);
      if (store.findTrustNamed(tx, name)) throw conflict('There is a trust of this name.');
      const row = store.insertTrust(tx, {
        name,
        issuer,
        subject,
        audience,
        claims,
        minutes,
        capabilities: [...powers.capabilities],
        environments: input.environments ? [...new Set(input.environments)] : null,
        read_only: powers.read_only,
        is_persons_read_only: false,
        created_at: now,
        created_by_kind: actor.kind,
        created_by_id: actor.id,
        created_by_name: actor.name,
        person_id: ownerOf(tx, giver),
      });
      replaceScope(tx, { kind: 'trust', id: row.id }, powers.project_ids);
      const metadata = {
        name,
        issuer,
        subject,
        claims,
        minutes,
        audience: this.#audienceOf(row),
        projects: this.deps.projects
          .scopeOf({ kind: 'trust', id: row.id }, tx)
          .map(({ public_id }) => public_id),
        capabilities: row.capabilities,
        read_only: row.read_only,
        ...(row.environments && { environments: row.environments }),
      };
      const entry = { event: 'token_trust.added', target: `token_trust:${row.id}`, project: null, metadata };
      recordAudit(tx, actor, entry, now);
      return row;
    });
    return this.#present(row);
  }

  /** Removes it, and ends its tokens at once. Throws AppError `not_found`. */
  async remove(actor: Actor, { id }: TrustRow): Promise<{ deleted: true }> {
    const now = this.deps.clock.now();
    await this.deps.database.write((tx) => {
      const row = store.findTrust(tx, id);
      if (!row) throw notFound('Trust');
      removeTrust(tx, actor, row, now);
    });
    return { deleted: true };
  }

  #audienceOf({ audience }: TrustRow): string {
    return audience ?? this.deps.config.public_url;
  }

  #present(row: TrustRow): TrustRecord {
    const { id, name, issuer, subject, claims, environments, minutes } = row;
    const { can_administer: _, ...flags } = flagsOf(capabilitiesNamed(row.capabilities));
    return {
      id,
      name,
      issuer,
      subject,
      audience: this.#audienceOf(row),
      claims,
      projects: this.deps.projects.scopeOf({ kind: 'trust', id }),
      ...flags,
      read_only: row.read_only || row.is_persons_read_only,
      ...(environments && { environments }),
      minutes,
      last_used_at: toIso(row.last_used_at),
      last_refused: lastRefusalOf(row),
      created_by: { kind: row.created_by_kind, id: row.created_by_id, name: row.created_by_name },
      created_at: toIso(row.created_at),
    };
  }
}

function refusalOf(issuer: string, destinations: Pick<Destinations, 'refusalOf'>): string | null {
  const url = new URL(issuer);
  if (/[?#]/.test(issuer)) return 'must have no query and no fragment';
  return destinations.refusalOf(url);
}

function lastRefusalOf(row: TrustRow): TrustRecord['last_refused'] {
  const { last_refused_at: at, last_refused_reason: reason, last_refused_subject: subject } = row;
  return at === null || reason === null ? null : { at: toIso(at), reason, subject };
}
