/** Work that holds a processor for seconds, done in a thread of its own, so that no request waits behind it. */

import type { Config } from '../config.ts';
import { AppError, type ErrorKind } from '../errors.ts';
import type { BackupResult } from '../operation/backups/making.ts';
import type { VerifyResult } from '../operation/backups/verification.ts';
import { requireThreadDescriptors } from '../platform/host/descriptors.ts';
import type { Finding } from '../platform/host/health-check.ts';
import type { Maintenance } from './app.ts';

/** What a thread is asked for; `now_ms` is its time. */
export type MaintenanceRequest = { config: Config; now_ms: number } & (
  | { op: 'examine'; known: readonly Finding[] }
  | { op: 'back up'; file: string }
  | { op: 'verify'; file: string }
  | { op: 'hash'; file: string }
);

export type MaintenanceReply = { ok: true; value: unknown } | { ok: false; kind: ErrorKind; message: string };

type Ask = MaintenanceRequest extends infer R ? (R extends unknown ? Omit<R, 'config'> : never) : never;

/** Starts nothing yet: each piece of work gets a thread, which ends with it. */
export function createMaintenance(config: Config): Maintenance {
  const running = new Set<(error: AppError) => void>();

  // A thread of ours answers what it was asked for.
  async function ask<T>(request: Ask): Promise<T> {
    requireThreadDescriptors();
    const worker = new Worker(new URL('./maintenance.worker.ts', import.meta.url));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    running.add(reject);
    worker.onmessage = ({ data }: MessageEvent<MaintenanceReply>) => {
      if (data.ok) resolve(data.value as T);
      else reject(new AppError(data.kind, data.message));
    };
    worker.onerror = ({ message }) => reject(new AppError('internal', message));
    worker.postMessage({ ...request, config } satisfies MaintenanceRequest);
    try {
      return await promise;
    } finally {
      running.delete(reject);
      worker.terminate();
    }
  }

  return {
    examine: (now_ms, known) => ask<Finding[]>({ op: 'examine', now_ms, known }),
    backUp: (file, now_ms) => ask<BackupResult>({ op: 'back up', file, now_ms }),
    verify: (file, now_ms) => ask<VerifyResult>({ op: 'verify', file, now_ms }),
    hash: (file) => ask<string>({ op: 'hash', file, now_ms: 0 }),
    stop() {
      for (const reject of running) reject(new AppError('unavailable', 'The server is stopping.'));
    },
  };
}
