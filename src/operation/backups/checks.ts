/** What doctor asks of backups: whether the last one failed, and what restores left behind, on purpose or cut off. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toIso } from '../../platform/host/clock.ts';
import {
  act,
  type CheckedDirectory,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { readHistory } from './history.ts';
import { REPLACED, RESTORE_SCRATCH } from './restore.ts';

const BACKUP = 'backup';

export function backupChecks(on: CheckedDirectory): HealthCheck[] {
  return [...leftoverChecks(on), { check: BACKUP, run: () => checkLast(on.data_dir) }];
}

/** Nothing is said before the first one. */
function checkLast(data_dir: string): Finding[] {
  const { made_ms, failure } = readHistory(data_dir);
  const last =
    made_ms === null ? 'None was made before.' : `The last one that was made is of ${toIso(made_ms)}.`;
  if (failure)
    return [
      problem(
        BACKUP,
        `One failed at ${toIso(failure.at_ms)}: ${failure.message} ${last}`,
        'satchel backup --keep 7 /var/backups, once that is mended',
        [act('make_backup')],
      ),
    ];
  return made_ms === null ? [] : [ok(BACKUP, last)];
}

function leftoverChecks({ data_dir, is_served }: CheckedDirectory): HealthCheck[] {
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
