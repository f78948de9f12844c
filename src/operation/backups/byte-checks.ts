/** What doctor asks of objects: rows without bytes, bytes without a row, bytes that others may read. */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { SWEEP_BATCH } from '../../limits.ts';
import { blobPathOf, listBlobFiles } from '../../platform/files/store.ts';
import {
  type CheckedDirectory,
  type Finding,
  type HealthCheck,
  isOpenToOthers,
  ok,
  problem,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { findUnnamed, listContentSizes, listNamedBlobs } from './store.ts';
import { describeIds } from './unpacking.ts';

const CHECK = 'objects';

export function objectChecks(on: CheckedDirectory): HealthCheck[] {
  return [{ check: CHECK, run: () => [...checkRows(on), ...countOrphans(on)] }];
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
  const lost = [
    ...describeIds(missing, 'has lost its bytes', 'have lost their bytes'),
    ...describeIds(
      resized,
      'has bytes of another size than its row tells of',
      'have bytes of another size than their rows tell of',
    ),
  ];
  const findings = lost.map((message) =>
    problem(CHECK, message, 'satchel restore FILE --yes, or delete the objects'),
  );
  if (open_to_others > 0) {
    const message = `Objects whose bytes other users of this machine may read: ${open_to_others}.`;
    findings.push(problem(CHECK, message, `chmod -R go-rwx ${shellWord(join(data_dir, 'objects'))}`));
  }
  return findings.length > 0 ? findings : [ok(CHECK, `Stored: ${total}, each with its bytes.`)];
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
  return [
    ok(CHECK, `Files of no row: ${count}. They are uploads under way, or what the next start sweeps up.`),
  ];
}
