/** Work of seconds on the processor, done in a thread so that no request waits for it. */

import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import type { BackupResult } from '../operation/backups/making.ts';
import type { VerifyResult } from '../operation/backups/verification.ts';
import type { Finding } from '../platform/host/health-check.ts';
import { Thread } from '../platform/host/threads.ts';
import type { Maintenance } from './app.ts';

/** What a thread is asked for; `now_ms` is its time. */
export type MaintenanceRequest = { config: Config; now_ms: number } & (
  | { op: 'examine'; known: readonly Finding[]; is_deep: boolean }
  | { op: 'back up'; file: string }
  | { op: 'verify'; file: string }
  | { op: 'facts'; file: string }
);

type Ask = MaintenanceRequest extends infer R ? (R extends unknown ? Omit<R, 'config'> : never) : never;

/** Starts nothing yet: each piece of work gets a thread, which ends with it. */
export function createMaintenance(config: Config): Maintenance {
  const running = new Set<Thread<MaintenanceRequest, unknown>>();

  // A thread of ours answers what it was asked for.
  async function ask<T>(request: Ask): Promise<T> {
    const thread = new Thread<MaintenanceRequest, unknown>({
      start: () => new Worker(new URL('./maintenance.worker.ts', import.meta.url)),
      idle_stop_ms: 0,
    });
    running.add(thread);
    return (await thread.ask({ ...request, config }).finally(() => running.delete(thread))) as T;
  }

  return {
    examine: (now_ms, known, is_deep) => ask<Finding[]>({ op: 'examine', now_ms, known, is_deep }),
    backUp: (file, now_ms) => ask<BackupResult>({ op: 'back up', file, now_ms }),
    verify: (file, now_ms) => ask<VerifyResult>({ op: 'verify', file, now_ms }),
    factsOfFile: (file) =>
      ask<Awaited<ReturnType<Maintenance['factsOfFile']>>>({ op: 'facts', file, now_ms: 0 }),
    stop() {
      for (const thread of running) thread.end(new AppError('unavailable', 'The server is stopping.'));
    },
  };
}
