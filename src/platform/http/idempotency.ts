/**
 * Idempotency-Key: keeps the first 2xx answer to a request and repeats it for the same request. It keeps a
 * failure, too, after which nobody knows whether the request was carried out.
 */
import { and, eq, sql } from 'drizzle-orm';
import { AppError, conflict, invalid } from '../../errors.ts';
import { DISK_RETRY_AFTER_S, MAX_IDEMPOTENCY_KEY_CHARS, SWEEP_BATCH } from '../../limits.ts';
import type { Database, Tx } from '../database/database.ts';
import { rawRun } from '../database/raw-sql.ts';
import { idempotentAnswers } from '../database/tables.ts';
import type { Clock } from '../host/clock.ts';
import { countCodePoints, isPlainObject } from './schema.ts';

/** Decision: an Idempotency-Key is kept 24 h. */
const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000;

/** An answer that may be given once more. */
export interface KeptAnswer {
  status: number;
  value: unknown;
}

/** A failure, as kept, after which the request may not be carried out again: kind `unavailable`. */
export function keptFailure({ status, message, code, details }: AppError): KeptAnswer {
  return { status, value: { message, code, details } };
}

/** The header of an answer that is given once more. */
export const REPLAYED_HEADERS = { 'Idempotent-Replayed': 'true' } as const;

export interface IdempotentRequest {
  project_id: number;
  /** Who calls: the keys of one caller mean nothing to another. */
  caller: string;
  /** The header; null runs the request without any of this. */
  key: string | null;
  /** Called after a wait: throws where the caller has lost access meanwhile. */
  acceptAgain(): unknown;
}

/** Keeps the answer within the transaction of the change it reports. */
export type KeepAnswer = (tx: Tx, answer: KeptAnswer) => void;

/** What the handler of a request may do with its key. */
export interface ClaimedKey {
  keep: KeepAnswer;
  /** Refuses requests with the key until this settles: an answer may yet be kept. */
  hold(until: Promise<unknown>): void;
}

/** The Idempotency-Key of a request. Throws AppError `invalid` when it is empty or too long. */
function idempotencyKeyOf(headers: Headers): string | null {
  const key = headers.get('idempotency-key');
  if (key === null) return null;
  const length = countCodePoints(key);
  if (length === 0 || length > MAX_IDEMPOTENCY_KEY_CHARS) {
    throw invalid({
      'Idempotency-Key': [`must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters (got ${length})`],
    });
  }
  return key;
}

/** The request with its Idempotency-Key, if it has one. */
export function idempotentRequest(
  caller: { identity: string; project: { id: number } },
  headers: Headers,
  acceptAgain: () => unknown,
): IdempotentRequest {
  const key = idempotencyKeyOf(headers);
  return { project_id: caller.project.id, caller: caller.identity, key, acceptAgain };
}

/** The hash by which two requests are the same: of method, path and body. */
export function hashRequest(method: string, path: string, ...body: (string | Uint8Array)[]): string {
  const hasher = new Bun.CryptoHasher('sha256').update(`${method} ${path}`);
  for (const part of body) hasher.update(`\n${part.length}:`).update(part);
  return hasher.digest('hex');
}

export class Idempotency {
  /** Requests under way, by key: a second one waits. One server has the data directory: memory will do. */
  readonly #under_way = new Map<string, Promise<void>>();
  /** Keys of requests that were answered before their outcome was recorded. */
  readonly #held = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `work` unless the same request was answered before. Once its body is known, `work` calls `claim`.
   * That returns a kept answer, throws a kept failure, and throws AppError `conflict` for another body under
   * the same key. Requests with the same key run one after another. A refused one leaves nothing, and the
   * next has its turn unless its caller lost access meanwhile. Throws AppError `unavailable` while the key is
   * held.
   */
  async run<T>(
    request: IdempotentRequest,
    work: (claim: (request_hash: string) => ClaimedKey & { kept: KeptAnswer | null }) => Promise<T>,
  ): Promise<T> {
    const { key } = request;
    if (key === null) return work(() => ({ kept: null, keep: () => {}, hold: () => {} }));
    const slot = `${request.project_id} ${request.caller} ${key}`;
    const has_to_wait = this.#under_way.has(slot);
    for (let first = this.#under_way.get(slot); first !== undefined; first = this.#under_way.get(slot))
      await first;
    if (has_to_wait) request.acceptAgain();
    if (this.#held.has(slot)) {
      const message = 'What became of the first request with this Idempotency-Key is yet to be recorded.';
      throw new AppError('unavailable', message, { retry_after_s: DISK_RETRY_AFTER_S });
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#under_way.set(slot, promise);
    try {
      return await work((request_hash) => ({
        ...this.#claim({ ...request, key, request_hash }),
        hold: (until) => this.#hold(slot, until),
      }));
    } finally {
      this.#under_way.delete(slot);
      resolve();
    }
  }

  #hold(slot: string, until: Promise<unknown>): void {
    this.#held.add(slot);
    const release = (): boolean => this.#held.delete(slot);
    void until.then(release, release);
  }

  #claim(request: IdempotentRequest & { key: string; request_hash: string }): {
    kept: KeptAnswer | null;
    keep: KeepAnswer;
  } {
    const now = this.clock.now();
    const row = this.database.read
      .select()
      .from(idempotentAnswers)
      .where(
        and(
          eq(idempotentAnswers.project_id, request.project_id),
          eq(idempotentAnswers.caller, request.caller),
          eq(idempotentAnswers.idempotency_key, request.key),
        ),
      )
      .get();
    // An answer from the future was kept while the clock was wrong. It must not outlive the retention.
    const is_valid = row !== undefined && Math.abs(now - row.created_at) < IDEMPOTENCY_RETENTION_MS;
    if (is_valid && row.request_hash !== request.request_hash) {
      throw conflict('This Idempotency-Key was used for another request. Use a new key for a new request.');
    }
    const kept = is_valid ? { status: row.status, value: JSON.parse(row.body) as unknown } : null;
    if (kept && kept.status >= 400) throw failureOf(kept);
    const keep: KeepAnswer = (tx, answer) => {
      tx.insert(idempotentAnswers)
        .values({
          project_id: request.project_id,
          caller: request.caller,
          idempotency_key: request.key,
          request_hash: request.request_hash,
          status: answer.status,
          body: JSON.stringify(answer.value),
          created_at: this.clock.now(),
        })
        .onConflictDoUpdate({
          target: [idempotentAnswers.project_id, idempotentAnswers.caller, idempotentAnswers.idempotency_key],
          set: {
            request_hash: sql`excluded.request_hash`,
            status: sql`excluded.status`,
            body: sql`excluded.body`,
            created_at: sql`excluded.created_at`,
          },
        })
        .run();
    };
    return { kept, keep };
  }

  /** Forgets answers older than their retention. */
  async sweep(): Promise<void> {
    const now = this.clock.now();
    const [from, to] = [now - IDEMPOTENCY_RETENTION_MS, now + IDEMPOTENCY_RETENTION_MS];
    const sweepSome = (tx: Tx): number => deleteOutside(tx, from, to, SWEEP_BATCH);
    while ((await this.database.writePiece(sweepSome)) === SWEEP_BATCH) {}
  }
}

function failureOf({ value }: KeptAnswer): AppError {
  const { message, code, details } = isPlainObject(value) ? value : {};
  return new AppError('unavailable', String(message), {
    ...(typeof code === 'string' ? { code } : {}),
    ...(isPlainObject(details) ? { details } : {}),
    headers: REPLAYED_HEADERS,
  });
}

// Two looks at the index: a DELETE with both conditions would go through the whole table.
const deleteOutside = rawRun<[from: number, to: number, limit: number]>(`
  DELETE FROM idempotent_answers WHERE (project_id, caller, idempotency_key) IN (
    SELECT project_id, caller, idempotency_key FROM idempotent_answers WHERE created_at < ? OR created_at > ? LIMIT ?)`);
