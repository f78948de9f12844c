/**
 * What doctor asks of the database: its schema, its soundness, and whether the clock went back. It is opened in a
 * way that changes nothing.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import { AppError, messageOf } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { listPendingMigrations, MIGRATIONS } from '../../platform/database/migrate.ts';
import { connect, listDefects } from '../../platform/database/plain-connection.ts';
import { toIso } from '../../platform/host/clock.ts';
import { aside, type Finding, ok, problem, warning } from '../../platform/host/health-check.ts';
import { Histogram, Tally } from '../../platform/host/measures.ts';
import { formatBytes } from '../../platform/words/phrases.ts';
import { newestMoment, sizeOf } from './store.ts';

/** Clocks are corrected in smaller steps than this. Rows from further ahead mean that the clock is wrong. */
const CLOCK_TOLERANCE_MS = 60_000;

export function checkSchema(path: string): Finding {
  const check = 'schema';
  try {
    const pending = listPendingMigrations(path);
    if (pending.length === 0)
      return ok(check, `It is up to date, at migration ${MIGRATIONS.at(-1)?.version ?? 0}.`);
    const names = pending.map(({ version, name }) => `${version} (${name})`).join(', ');
    const message = `Migrations are pending: ${names}. Make a backup first; services are not checked until then.`;
    return warning(check, message, 'satchel migrate');
  } catch (error) {
    const remedy =
      'satchel restore FILE --yes, with a backup that satchel verify calls sound, or the newer Satchel';
    return problem(check, messageOf(error), remedy);
  }
}

export function checkSoundness(sqlite: Sqlite): Finding[] {
  const check = 'database';
  const defects = listDefects(sqlite);
  if (defects.length === 0) {
    const { bytes, free_bytes } = sizeOf(sqlite);
    const size = `It has ${formatBytes(bytes)}, and ${formatBytes(free_bytes)} of that are free for new rows`;
    return [ok(check, `SQLite finds it sound. ${size}.`)];
  }
  const remedy = 'stop the server, then satchel restore FILE --yes';
  return defects.map((defect) => aside(defect, problem(check, `It is damaged: ${defect}.`, remedy)));
}

export function checkClock(sqlite: Sqlite, now_ms: number): Finding {
  const check = 'clock';
  const newest_ms = newestMoment(sqlite);
  if (now_ms >= newest_ms - CLOCK_TOLERANCE_MS) return ok(check, `It says ${toIso(now_ms)}.`);
  const message = `It says ${toIso(now_ms)}, but something was stored at ${toIso(newest_ms)}. Schedules and expiry go by it.`;
  return problem(check, message, 'timedatectl set-ntp true');
}

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
