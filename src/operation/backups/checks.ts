/** What doctor asks of backups: what restores left behind, on purpose or because they were cut off. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../platform/cli/shell-words.ts';
import {
  type CheckedDirectory,
  type Finding,
  type HealthCheck,
  ok,
  warning,
} from '../../platform/host/health-check.ts';
import { REPLACED, RESTORE_SCRATCH } from './restore.ts';

export function backupChecks({ data_dir, is_served }: CheckedDirectory): HealthCheck[] {
  const check = 'leftovers';
  const run: HealthCheck['run'] = () =>
    readdirSync(data_dir).flatMap((name): Finding[] => {
      const remedy = `rm -r ${shellWord(join(data_dir, name))}`;
      if (name.startsWith(REPLACED)) {
        return [
          ok(check, `${name} keeps what a restore replaced. Once you don't need it, remove it.`, remedy),
        ];
      }
      // Without a server it may be a restore that runs now.
      if (!name.startsWith(RESTORE_SCRATCH) || !is_served) return [];
      return [warning(check, `${name} is left of a restore that was cut off.`, remedy)];
    });
  return [{ check, run }];
}
