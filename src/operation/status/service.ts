/** How the server is: whether the database answers and whether there is room to write. */
import { statfsSync } from 'node:fs';
import { MIN_FREE_DISK_BYTES } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
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
