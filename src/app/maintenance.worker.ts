/** A thread of maintenance.ts: does one piece of work and answers. */
import { backUpWithin } from '../operation/backups/making.ts';
import { verifyBackup } from '../operation/backups/verification.ts';
import { examine } from '../operation/doctor/service.ts';
import { factsOfFile } from '../platform/files/content-facts.ts';
import { serve } from '../platform/host/threads.ts';
import { doctorDeps } from './checks.ts';
import type { MaintenanceRequest } from './maintenance.ts';

serve(async (request: MaintenanceRequest): Promise<unknown> => {
  const { config, now_ms } = request;
  const clock = { now: () => now_ms };
  if (request.op === 'examine') return examine(config, doctorDeps(clock), request.known, request.is_deep);
  if (request.op === 'facts') return factsOfFile(request.file);
  if (request.op === 'back up') return backUpWithin(config.data_dir, { file: request.file, clock });
  const { object_store: settings, data_dir } = config;
  const stored = settings && { settings, data_dir, is_deep: false };
  return verifyBackup({ file: request.file, scratch_dir: null, stored });
});
