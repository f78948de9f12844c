/** A thread of maintenance.ts: does one piece of work and answers. */

import { AppError, messageOf } from '../errors.ts';
import { backUpWithin } from '../operation/backups/making.ts';
import { verifyBackup } from '../operation/backups/verification.ts';
import { examine } from '../operation/doctor/service.ts';
import { hashFile } from '../platform/files/hashing.ts';
import { doctorDeps } from './checks.ts';
import type { MaintenanceReply, MaintenanceRequest } from './maintenance.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<MaintenanceRequest>) => {
  carryOut(data)
    .then((value): MaintenanceReply => ({ ok: true, value }))
    .catch((error: unknown): MaintenanceReply => {
      const kind = error instanceof AppError ? error.kind : 'internal';
      return { ok: false, kind, message: messageOf(error) };
    })
    .then((reply) => self.postMessage(reply));
};

async function carryOut(request: MaintenanceRequest): Promise<unknown> {
  const { config, now_ms } = request;
  const clock = { now: () => now_ms };
  if (request.op === 'examine') return examine(config, doctorDeps(clock), request.known);
  if (request.op === 'hash') return hashFile(request.file);
  if (request.op === 'back up') return backUpWithin(config.data_dir, { file: request.file, clock });
  const { object_store: settings, data_dir } = config;
  const stored = settings && { settings, data_dir, is_deep: false };
  return verifyBackup({ file: request.file, scratch_dir: null, stored });
}
