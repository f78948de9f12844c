/**
 * What doctor asks of backups (whether the last one failed, what restores left behind, on purpose or cut off),
 * and of objects: rows without bytes, bytes without a row, bytes that others may read.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Projects } from '../../access/projects/service.ts';
import { SWEEP_BATCH } from '../../limits.ts';
import { blobPathOf, listBlobFiles } from '../../platform/files/store.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import {
  act,
  aside,
  type CheckedDirectory,
  type Finding,
  type HealthCheck,
  isOpenToOthers,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import type { Alerts } from '../alerts/service.ts';
import { readHistory } from './history.ts';
import { REPLACED, RESTORE_SCRATCH } from './restore.ts';
import { findUnnamed, listContentSizes, listNamedBlobs } from './store.ts';
import { describeIds } from './unpacking.ts';

const BACKUP = 'backup';

export function backupChecks(on: CheckedDirectory): HealthCheck[] {
  return [...leftoverChecks(on), lastBackupCheck(on.data_dir)];
}

/** Whether the last one failed. */
export function lastBackupCheck(data_dir: string): HealthCheck {
  return { check: BACKUP, run: () => checkLast(data_dir) };
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
      const kept = `${name} keeps what a restore replaced. Once you don't need it, remove it.`;
      if (name.startsWith(REPLACED)) return [aside(name, ok(check, kept, remedy))];
      // Without a server it may be a restore that runs now.
      if (!name.startsWith(RESTORE_SCRATCH) || !is_served) return [];
      return [aside(name, warning(check, `${name} is left of a restore that was cut off.`, remedy))];
    });
  return [{ check, run }];
}

const OBJECTS = 'objects';

export function objectChecks(on: CheckedDirectory): HealthCheck[] {
  return [{ check: OBJECTS, run: () => [...checkRows(on), ...countOrphans(on)] }];
}

/** Looks every row up, on disk or in the database. A look costs microseconds; a sample would miss things. */
function checkRows({ sqlite, data_dir }: CheckedDirectory): Finding[] {
  const missing: string[] = [];
  const resized: string[] = [];
  let total = 0;
  let open_to_others = 0;
  for (const { public_id, size_bytes } of listNamedBlobs(sqlite)) {
    total += 1;
    const stat = lstatSync(blobPathOf(data_dir, public_id), { throwIfNoEntry: false });
    if (!stat) missing.push(public_id);
    else if (size_bytes !== null && stat.size !== size_bytes) resized.push(public_id);
    if (stat && isOpenToOthers(stat)) open_to_others += 1;
  }
  for (const { public_id, size_bytes, held_bytes } of listContentSizes(sqlite)) {
    total += 1;
    if (held_bytes === null) missing.push(public_id);
    else if (held_bytes !== size_bytes) resized.push(public_id);
  }
  const lose = (what: string, messages: readonly string[]): Finding[] =>
    messages.map((message) =>
      aside(what, problem(OBJECTS, message, 'satchel restore FILE --yes, or delete the objects')),
    );
  const findings = [
    ...lose('lost', describeIds(missing, 'has lost its bytes', 'have lost their bytes')),
    ...lose(
      'resized',
      describeIds(
        resized,
        'has bytes of another size than its row tells of',
        'have bytes of another size than their rows tell of',
      ),
    ),
  ];
  if (open_to_others > 0) {
    const message = `Objects whose bytes other users of this machine may read: ${open_to_others}.`;
    const remedy = `chmod -R go-rwx ${shellWord(join(data_dir, 'objects'))}`;
    findings.push(aside('open to others', problem(OBJECTS, message, remedy)));
  }
  return findings.length > 0 ? findings : [ok(OBJECTS, `Stored: ${total}, each with its bytes.`)];
}

function countOrphans({ sqlite, data_dir }: CheckedDirectory): Finding[] {
  let count = 0;
  let batch: string[] = [];
  for (const { id } of listBlobFiles(data_dir)) {
    batch.push(id);
    if (batch.length < SWEEP_BATCH) continue;
    count += findUnnamed(sqlite, batch).length;
    batch = [];
  }
  count += findUnnamed(sqlite, batch).length;
  if (count === 0) return [];
  const message = `Files of no row: ${count}. They are uploads under way, or what the next start sweeps up.`;
  return [aside('no row', ok(OBJECTS, message))];
}

const OVERDUE = 'backup_overdue';
const WARN_AFTER_MS = 2 * DAY_MS;
const OVERDUE_MS = 7 * DAY_MS;

interface OverdueDeps {
  alerts: Pick<Alerts, 'show'>;
  projects: Pick<Projects, 'listAll'>;
  clock: Clock;
  config: { data_dir: string };
}

/** Whether there is a backup at all: of one that nobody makes otherwise nobody would hear. */
export function overdueChecks(on: OverdueDeps): HealthCheck[] {
  return [{ check: OVERDUE, run: () => checkOverdue(on) }];
}

/** Where there is nothing to lose, or somebody else sees to it, none is missed. */
function checkOverdue({ alerts, projects, clock, config }: OverdueDeps): ReturnType<HealthCheck['run']> {
  const first = projects.listAll({}).reduce((least, { created_at }) => Math.min(least, created_at), Infinity);
  if (!alerts.show().backups_here || first === Infinity) return [];
  const { made_ms, verified_ms } = readHistory(config.data_dir);
  const last = Math.max(made_ms ?? 0, verified_ms ?? 0);
  const age_ms = clock.now() - (last || first);
  if (age_ms < WARN_AFTER_MS) return [];
  const days = Math.floor(age_ms / DAY_MS);
  const message =
    last === 0
      ? `No backup was ever made or verified here, and there are projects since ${toIso(first)}.`
      : `The last backup that was made or verified here is of ${toIso(last)}, ${days} days ago.`;
  const remedy =
    'satchel backup schedule --at 03:30; or, where somebody else keeps them, satchel alert set --no-backups-here';
  const tell = age_ms < OVERDUE_MS ? warning : problem;
  return [tell(OVERDUE, message, remedy, [act('make_backup')])];
}
