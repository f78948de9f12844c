/** Access tokens of the management plane: who a bearer is, making tokens, listing and revoking them. */
import { AppError, invalid, toDo } from '../../errors.ts';
import { DEFAULT_TOKEN_DAYS, MAX_GIVEN_TOKEN_DAYS, MAX_TOKEN_DAYS, SWEEP_BATCH } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import { type Actor, ADMINISTER, type ManagementCaller } from '../../platform/http/callers.ts';
import {
  capabilitiesNamed,
  capabilitiesOf,
  flagsOf,
  type Powers,
  requireHolding,
  requireSensible,
} from '../../platform/http/capabilities.ts';
import { type Page, type PageQuery, paginate, WHOLE_LIST } from '../../platform/http/pagination.ts';
import { createToken, hashToken, parseToken, sameHash } from '../../platform/secrets/token-format.ts';
import { listScopeIds, type Projects, replaceScope } from '../projects/service.ts';
import type { NewTokenInput, TokenIntrospection, TokenRecord } from './schemas.ts';
import * as store from './store.ts';
import type { TokenRow, TrustRow } from './tables.ts';
import * as trust_store from './trust-store.ts';

/** How often the last use of a token is written down. */
const LAST_USED_GRANULARITY_MS = 60_000;

/** A token that exists, whether or not it is still good, with its caller. */
interface Bearer {
  token: TokenRow;
  caller: ManagementCaller;
}

export class Tokens {
  /** When the last use of each token was last written down. */
  readonly #touched_at = new Map<number, number>();

  constructor(private readonly deps: { database: Database; clock: Clock; projects: Projects }) {}

  /**
   * Who bears the token of an Authorization header. The use is noted at most once a minute, and the answer
   * does not wait for that. Throws AppError `unauthenticated` with one of the contract's five codes.
   */
  authenticate(authorization: string | null, ip: string | null): ManagementCaller {
    const bearer = /^bearer(?:\s+(.*))?$/i.exec(authorization?.trim() ?? '')?.[1];
    if (!bearer) {
      throw refuse(
        'MISSING_ACCESS_TOKEN',
        'Send your access token in the header: Authorization: Bearer <token>.',
      );
    }
    if (parseToken(bearer)?.kind !== 'management') {
      throw refuse(
        'INVALID_ACCESS_TOKEN_FORMAT',
        'This is no access token: one starts with satm_ and ends with a checksum, which may show that it was cut or mistyped.',
      );
    }
    const hash = hashToken(bearer);
    const found = this.#find(hash);
    if (!found || !sameHash(found.token.token_hash, hash)) {
      throw refuse('INVALID_ACCESS_TOKEN', 'The access token is not known here.');
    }
    const { token, caller } = found;
    if (token.revoked_at !== null) throw refuse('TOKEN_REVOKED', 'The access token was revoked.');
    const now = this.deps.clock.now();
    if (token.expires_at !== null && token.expires_at <= now) {
      throw new AppError('unauthenticated', 'The access token has expired. Make a new one with:', {
        code: 'TOKEN_EXPIRED',
        remedy: toDo('token', 'satchel token create'),
      });
    }
    this.#touch(token, ip, now);
    return caller;
  }

  #find(hash: string): Bearer | null {
    const token = store.findTokenByHash(this.deps.database.read, hash);
    if (!token) return null;
    const caller = {
      kind: 'token' as const,
      id: token.id,
      name: token.name,
      all_projects: token.all_projects,
      project_ids: token.all_projects
        ? []
        : listScopeIds(this.deps.database.read, { kind: 'token', id: token.id }),
      capabilities: new Set(capabilitiesOf(token)),
      read_only: isReadOnly(token),
      ...(token.environments ? { environments: token.environments } : {}),
    };
    return { token, caller };
  }

  #touch(token: TokenRow, ip: string | null, now: number): void {
    const last = Math.max(token.last_used_at ?? 0, this.#touched_at.get(token.id) ?? 0);
    if (last <= now && now - last < LAST_USED_GRANULARITY_MS) return;
    this.#touched_at.set(token.id, now);
    const before_ms = now - LAST_USED_GRANULARITY_MS;
    // Not awaited: on a full disk the note is lost, but requests that only read must still be answered.
    this.deps.database
      .write((tx) => store.touchToken(tx, { id: token.id, ip, now_ms: now, before_ms }))
      .catch(() => {});
  }

  /**
   * Makes a token and returns it with its secret, which is not kept. Throws AppError `invalid` unless it is
   * for all projects or for at least one, and where it may administer but not everywhere; `not_found` for an
   * unknown project; `forbidden` where the giver (null: the shell) lacks what they give.
   */
  async create(
    actor: Actor,
    input: NewTokenInput,
    giver: ManagementCaller | null = null,
  ): Promise<{ token: string; record: TokenRecord }> {
    this.requireExpiry(input, giver);
    const now = this.deps.clock.now();
    const secret = createToken('management');
    const row = await this.deps.database.write((tx) => {
      const powers = this.powersOfNew(input, giver);
      requireHolding(giver, powers);
      const row = store.insertToken(tx, {
        name: input.name,
        token_prefix: secret.prefix_shown,
        token_hash: secret.hash,
        all_projects: powers.all_projects,
        read_only: powers.read_only,
        is_persons_read_only: false,
        ...flagsOf([...powers.capabilities]),
        environments: input.environments ? [...new Set(input.environments)] : null,
        expires_at: this.#expiryOf(input, now),
        created_at: now,
        created_by_kind: actor.kind,
        created_by_id: actor.id,
        created_by_name: actor.name,
        person_id: ownerOf(tx, giver),
      });
      replaceScope(tx, { kind: 'token', id: row.id }, powers.project_ids);
      const metadata = {
        name: row.name,
        token_prefix: row.token_prefix,
        all_projects: row.all_projects,
        projects: this.deps.projects
          .scopeOf({ kind: 'token', id: row.id }, tx)
          .map(({ public_id }) => public_id),
        capabilities: capabilitiesOf(row),
        ...(row.read_only ? { read_only: true } : {}),
        ...(row.environments ? { environments: row.environments } : {}),
        expires_at: toIso(row.expires_at),
      };
      recordAudit(tx, actor, { event: 'token.created', target: targetOf(row), project: null, metadata }, now);
      return row;
    });
    return { token: secret.plaintext, record: this.#record(row) };
  }

  #expiryOf({ expires_at, expires_in_days }: NewTokenInput, now_ms: number): number {
    if (expires_at === undefined) return now_ms + (expires_in_days ?? DEFAULT_TOKEN_DAYS) * DAY_MS;
    return Date.parse(expires_at);
  }

  /**
   * Throws AppError `invalid` for an expiry in the past or beyond a token's longest life; the shell (null)
   * may give more.
   */
  requireExpiry(
    { expires_at, expires_in_days }: Partial<NewTokenInput>,
    giver: ManagementCaller | null,
  ): void {
    const max_days = giver ? MAX_GIVEN_TOKEN_DAYS : MAX_TOKEN_DAYS;
    if (expires_at === undefined) return;
    const left_ms = Date.parse(expires_at) - this.deps.clock.now();
    if (left_ms <= 0) throw invalid({ expires_at: ['must be in the future'] });
    if (left_ms > max_days * DAY_MS) {
      throw invalid({ expires_at: [`must be at most ${max_days} days away`] });
    }
    if (expires_in_days !== undefined) throw invalid({ expires_at: ['excludes expires_in_days'] });
  }

  /** The powers of a new token. Throws AppError `invalid` for unknown projects; in the shell `not_found`. */
  powersOfNew(
    input: Pick<NewTokenInput, 'all_projects' | 'projects' | 'capabilities' | 'read_only' | 'environments'>,
    giver: ManagementCaller | null,
  ): Powers {
    const { all_projects, projects, capabilities, read_only = false, environments } = input;
    if (environments && capabilities.includes(ADMINISTER))
      throw invalid({ environments: [`does not go with ${ADMINISTER}`] });
    const project_ids = this.deps.projects.resolveScope(giver, projects);
    const powers = { capabilities: new Set(capabilities), read_only, all_projects, project_ids };
    requireSensible(powers);
    return powers;
  }

  exists(id: number): boolean {
    return store.findToken(this.deps.database.read, id) !== null;
  }

  /** One page, newest first: of those that were had by a trust, or of all others. */
  listPage({ trust = null, ...query }: PageQuery & { trust?: number | null }): Page<TokenRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countTokens(read, trust),
      fetch: (limit, offset) => store.listTokens(read, { trust, limit, offset }),
    }).map((row) => this.#record(row));
  }

  /** Every token but those of trusts, newest first: for the command line. */
  list(): TokenRecord[] {
    const { read } = this.deps.database;
    return store.listTokens(read, { trust: null, ...WHOLE_LIST }).map((row) => this.#record(row));
  }

  find(id: number): TokenRecord | null {
    const row = store.findToken(this.deps.database.read, id);
    return row && this.#record(row);
  }

  /**
   * Makes a token for who has shown that they are `subject` to a trust. Returns it with its secret, which is not kept; null where
   * none of the trust's projects is left.
   */
  issue(
    tx: Tx,
    trust: TrustRow,
    { subject, ip }: { subject: string; ip: string | null },
  ): { access_token: string; expires_at: number } | null {
    const project_ids = listScopeIds(tx, { kind: 'trust', id: trust.id });
    if (project_ids.length === 0) return null;
    const now = this.deps.clock.now();
    const expires_at = now + trust.minutes * MINUTE_MS;
    const secret = createToken('management');
    const row = store.insertToken(tx, {
      name: trust.name,
      token_prefix: secret.prefix_shown,
      token_hash: secret.hash,
      all_projects: false,
      read_only: trust.read_only,
      is_persons_read_only: trust.is_persons_read_only,
      ...flagsOf(capabilitiesNamed(trust.capabilities)),
      environments: trust.environments,
      expires_at,
      created_at: now,
      created_by_kind: 'trust',
      created_by_id: String(trust.id),
      created_by_name: subject,
      person_id: trust.person_id,
      trust_id: trust.id,
    });
    replaceScope(tx, { kind: 'token', id: row.id }, project_ids);
    const metadata = {
      name: row.name,
      token_prefix: row.token_prefix,
      subject,
      expires_at: toIso(expires_at),
    };
    const actor = {
      kind: 'system',
      id: `token_trust:${trust.id}`,
      name: `The trust ${trust.name}`,
      ip,
    } as const;
    recordAudit(tx, actor, { event: 'token.created', target: targetOf(row), project: null, metadata }, now);
    return { access_token: secret.plaintext, expires_at };
  }

  /** Deletes tokens of trusts a day after their end. */
  async sweep(): Promise<void> {
    const before_ms = this.deps.clock.now() - DAY_MS;
    const { database } = this.deps;
    while (
      (await database.writePiece((tx) =>
        store.deleteEndedOfTrusts(tx, { before_ms, limit: SWEEP_BATCH }),
      )) === SWEEP_BATCH
    ) {}
  }

  /** Ends a token at once; one that was revoked before stays as it is. Throws AppError `not_found`. */
  async revoke(actor: Actor, id: number): Promise<TokenRecord> {
    const now = this.deps.clock.now();
    const row = await this.deps.database.write((tx) => {
      const revoked = revoke(tx, actor, id, now);
      if (revoked) return revoked;
      const token = store.findToken(tx, id);
      if (!token)
        throw new AppError('not_found', 'Access token not found. Numeric ids are in:', {
          remedy: toDo('token', 'satchel token list'),
        });
      return token;
    });
    return this.#record(row);
  }

  /** How many tokens and trusts of a person are good: those that they made, and those that these made. */
  countOf(read: Tx, person_id: number): number {
    const tokens = store.listGoodTokensOf(read, person_id, this.deps.clock.now());
    return tokens.length + trust_store.listTrustsOf(read, person_id).length;
  }

  /** Ends a person's tokens and trusts at once, within the transaction of what they go along with. */
  revokeOf(tx: Tx, actor: Actor, person_id: number): void {
    const now = this.deps.clock.now();
    for (const { id } of store.listGoodTokensOf(tx, person_id, now)) revoke(tx, actor, id, now);
    for (const trust of trust_store.listTrustsOf(tx, person_id)) removeTrust(tx, actor, trust, now);
  }

  /** Has a person's tokens be read-only as that person is; they stay so when that person is gone. */
  followPerson(tx: Tx, person_id: number, read_only: boolean): void {
    store.followPerson(tx, { person_id, read_only });
    trust_store.followPerson(tx, { person_id, read_only });
  }

  /** What a token may know of itself. Throws AppError `unauthenticated` when it is gone by now. */
  introspect(caller: ManagementCaller): TokenIntrospection {
    return this.#introspection(this.#rowOf(caller));
  }

  /** All that is known of a token. Throws AppError `unauthenticated` when it is gone by now. */
  describe(caller: ManagementCaller): TokenRecord & { token_prefix: string } {
    return this.#record(this.#rowOf(caller));
  }

  #rowOf(caller: ManagementCaller): TokenRow {
    const row = store.findToken(this.deps.database.read, caller.id);
    if (!row) throw refuse('INVALID_ACCESS_TOKEN', 'The access token is not known here.');
    return row;
  }

  #introspection(row: TokenRow): TokenIntrospection & { token_prefix: string } {
    const { can_administer, ...flags } = flagsOf(capabilitiesOf(row));
    return {
      name: row.name,
      token_prefix: row.token_prefix,
      all_projects: row.all_projects,
      expires_at: toIso(row.expires_at),
      last_used_at: toIso(row.last_used_at),
      ...flags,
      ...(can_administer ? { can_administer } : {}),
      ...(isReadOnly(row) ? { read_only: true } : {}),
      ...(row.environments ? { environments: row.environments } : {}),
      ...(row.all_projects ? {} : { projects: this.deps.projects.scopeOf({ kind: 'token', id: row.id }) }),
    };
  }

  #record(row: TokenRow): TokenRecord & { token_prefix: string } {
    return {
      id: row.id,
      ...this.#introspection(row),
      last_used_ip: row.last_used_ip,
      revoked_at: toIso(row.revoked_at),
      created_by: makerOf(row),
      created_at: toIso(row.created_at),
    };
  }
}

/** Of itself, or as the person whose it is. */
function isReadOnly({ read_only, is_persons_read_only }: TokenRow): boolean {
  return read_only || is_persons_read_only;
}

/** Ends a token, records that and returns its row; null where there is none or it had ended. */
function revoke(tx: Tx, actor: Actor, id: number, now_ms: number): TokenRow | null {
  const revoked = store.revokeToken(tx, { id, now_ms });
  if (!revoked) return null;
  const metadata = { name: revoked.name, token_prefix: revoked.token_prefix };
  const entry = { event: 'token.revoked', target: targetOf(revoked), project: null, metadata };
  recordAudit(tx, actor, entry, now_ms);
  return revoked;
}

/** Removes a trust, ends its tokens, and records that. */
export function removeTrust(tx: Tx, actor: Actor, { id, name }: TrustRow, now_ms: number): void {
  const tokens = store.endTokensOf(tx, { trust: id, now_ms });
  trust_store.deleteTrust(tx, id);
  const entry = { event: 'token_trust.removed', target: `token_trust:${id}`, project: null };
  recordAudit(tx, actor, { ...entry, metadata: { name, tokens } }, now_ms);
}

/** Whose a new token, or trust, is. What a person's token makes is that person's too, so that ending theirs ends it. */
export function ownerOf(tx: Tx, giver: ManagementCaller | null): number | null {
  if (!giver) return null;
  return giver.kind === 'person' ? giver.id : (store.findToken(tx, giver.id)?.person_id ?? null);
}

function makerOf({ created_by_kind, created_by_id, created_by_name }: TokenRow): TokenRecord['created_by'] {
  if (created_by_kind === null || created_by_name === null) return null;
  return { kind: created_by_kind, id: created_by_id, name: created_by_name };
}

function refuse(code: string, message: string): AppError {
  return new AppError('unauthenticated', message, { code });
}

function targetOf(token: TokenRow): string {
  return `token:${token.id}`;
}
