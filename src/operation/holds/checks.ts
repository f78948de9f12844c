/** What doctor says of what a restore holds. */
import {
  act,
  type CheckedDirectory,
  type HealthCheck,
  ok,
  problem,
} from '../../platform/host/health-check.ts';
import { readHeldIn } from './service.ts';
import { DROP, describeHeld, RELEASE } from './words.ts';

export function holdChecks({ sqlite }: CheckedDirectory): HealthCheck[] {
  const check = 'restore';
  const run: HealthCheck['run'] = () => {
    const held = readHeldIn(sqlite);
    if (held === null) return [ok(check, 'Nothing is held since a restore.')];
    const { since, backup } = held;
    const message =
      `Held since the restore at ${since}, of the backup of ${backup.created_at}: ${describeHeld(held)}. It may have gone out since, ` +
      'and nothing of it goes on by itself. Let all go on, or have what was due before the restore count as done.';
    return [problem(check, message, `${RELEASE}, or ${DROP}`, [act('release'), act('drop')])];
  };
  return [{ check, run }];
}
