/** A database that can be looked at and not changed: what health checks hand to the services of nouns. */
import { drizzle } from 'drizzle-orm/bun-sqlite';
import { AppError } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import { Histogram, Tally } from '../../platform/host/measures.ts';

/** Opens the database without migrating it or changing its file's mode. Refuses every `write`. */
export function openReadOnly(path: string): Database {
  const sqlite = connect(path, { query_only: true });
  return {
    read: drizzle({ client: sqlite }),
    write: refuse,
    writePiece: refuse,
    guarded: (_check, work) => work(),
    settled: () => null,
    tidyLog: async () => {},
    measures: { counts: new Tally(['commits', 'changes']), syncs: new Histogram([]) },
    hasWritten: () => false,
    close() {
      sqlite.close();
      return Promise.resolve();
    },
  };
}

function refuse(): Promise<never> {
  return Promise.reject(new AppError('internal', 'A health check changes nothing.'));
}
