/** How the server is: whether the database answers and whether there is room to write. */
import { statfsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { errorCodeOf } from '../../errors.ts';
import { MIN_FREE_DISK_BYTES } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { type Clock, SECOND_MS, toIso } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { dateTime, named, oneOf, type Static, t } from '../../platform/http/schema.ts';
import { BACKEND_VERSION, VERSION } from '../../version.ts';
import type { Ownership } from '../ownership/service.ts';

const anything = rawGet<{ n: number }>('SELECT 1 AS n');

export const health = named(
  'Health',
  t.Object({
    status: oneOf(['ok', 'degraded']),
    app: t.String(),
    version: t.String(),
    backend_version: t.String(),
    database: oneOf(['ok', 'error']),
    timestamp: dateTime(),
    /** Another Satchel has taken over. */
    fenced: t.Boolean(),
  }),
);
export type Health = Static<typeof health>;

export class Status {
  constructor(
    private readonly deps: {
      database: Database;
      clock: Clock;
      data_dir: string;
      object_store: { readonly trouble: unknown } | null;
      ownership: Pick<Ownership, 'state'>;
    },
  ) {}

  /**
   * `degraded` while the database does not answer, while the disk is too full to commit, while the store is
   * away or another's, and once another Satchel has taken over.
   */
  health(): Health {
    const database = this.#canRead() ? 'ok' : 'error';
    const { state } = this.deps.ownership;
    const is_fenced = state === 'fenced';
    const has_store = !this.deps.object_store?.trouble && state !== 'foreign' && !is_fenced;
    const is_ok = database === 'ok' && this.#hasRoom() && has_store;
    return {
      status: is_ok ? 'ok' : 'degraded',
      app: 'satchel',
      version: VERSION,
      backend_version: BACKEND_VERSION,
      database,
      timestamp: toIso(this.deps.clock.now()),
      fenced: is_fenced,
    };
  }

  #canRead(): boolean {
    try {
      return anything(this.deps.database.read) !== null;
    } catch {
      return false;
    }
  }

  /** The disk is asked each time, so the answer turns as soon as room is made, not at the next write. */
  #hasRoom(): boolean {
    try {
      const { bavail, bsize } = statfsSync(this.deps.data_dir);
      return bavail * bsize >= MIN_FREE_DISK_BYTES;
    } catch {
      return false;
    }
  }
}

/** Decision: an answer later than this is none. */
const HEARTBEAT_TIMEOUT_MS = 10 * SECOND_MS;

/** Asks the URL of a monitor while all is well: it is told by what it misses that nobody here could tell it. */
export class Heartbeat {
  constructor(
    private readonly deps: {
      config: Pick<Config, 'heartbeat_url'>;
      status: Pick<Status, 'health'>;
      logger: Logger;
    },
  ) {}

  /** Never rejects: a monitor that is away has no more to tell than its host. */
  async beat(): Promise<void> {
    const { config, status, logger } = this.deps;
    const url = config.heartbeat_url;
    if (url === null || status.health().status !== 'ok') return;
    const { host } = new URL(url);
    try {
      const answer = await fetch(url, {
        headers: { 'User-Agent': `Satchel/${VERSION}` },
        signal: AbortSignal.timeout(HEARTBEAT_TIMEOUT_MS),
      });
      await answer.body?.cancel();
      if (!answer.ok) logger.warn('the heartbeat was refused', { host, status: answer.status });
    } catch (error) {
      logger.warn('the heartbeat did not arrive', {
        host,
        reason: errorCodeOf(error) ?? 'no answer in time',
      });
    }
  }
}
