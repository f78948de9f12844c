/**
 * `satchel doctor`: looks at a whole deployment, changes nothing, and names the command that mends each thing it finds.
 * It works beside a running server and without one, and it makes nothing where there is nothing.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { judgeMasterKey } from '../backups/master-key-fit.ts';
import { openReadOnly } from '../backups/read-only-database.ts';
import { describeIds } from '../backups/unpacking.ts';
import type { Config } from '../config.ts';
import { messageOf } from '../errors.ts';
import { CLOCK_TOLERANCE_MS, DOCTOR_FAILURES_MS } from '../limits.ts';
import {
  connect,
  countFailedEmails,
  countLeftOutEmails,
  findUnnamed,
  listDefects,
  listNamedBlobs,
  listSealedColumns,
  listSealedValues,
  newestMoment,
  readMetaValue,
} from '../operations/store.ts';
import { shellWord } from '../platform/cli/shell-words.ts';
import type { Database } from '../platform/database/database.ts';
import { listPendingMigrations, MIGRATIONS } from '../platform/database/migrate.ts';
import { blobPathOf, listBlobFiles } from '../platform/files/store.ts';
import { type Clock, toIso } from '../platform/host/clock.ts';
import { databasePathOf, hasDatabase } from '../platform/host/data-directory.ts';
import { isServed, serverProcessOf } from '../platform/host/directory-lock.ts';
import type { Finding, FindingStatus, HealthCheck } from '../platform/host/health-check.ts';
import { KeyRing } from '../platform/secrets/key-ring.ts';
import { masterKeySourceOf, warnOfKeyFileMode } from '../platform/secrets/master-key-source.ts';
import { dataKeyIdOf, type MasterKey, unwrapDataKey } from '../platform/secrets/sealing.ts';
import { checkDisk, checkLeftovers, checkModes, isOpenToOthers } from './directory-checks.ts';

export interface DoctorDeps {
  clock: Clock;
  /** The checks of the capabilities, on a database that can't be changed. */
  createChecks(deps: { database: Database; key_ring: KeyRing }): {
    checks: HealthCheck[];
    close(): Promise<void>;
  };
}

/** Every finding, those that are fine included. */
export async function examine(config: Config, deps: DoctorDeps): Promise<Finding[]> {
  const { data_dir } = config;
  const path = databasePathOf(data_dir);
  const nothing = await guard('data directory', () =>
    hasDatabase(data_dir) ? [] : [nothingThere(data_dir)],
  );
  if (nothing.length > 0) return nothing;
  const is_served = existsSync(join(data_dir, 'server.lock')) && isServed(data_dir);
  const findings = [
    describeServer(data_dir, is_served),
    ...(await guard('file modes', () => checkModes(data_dir))),
    ...(await guard('disk space', () => [checkDisk(data_dir)])),
    ...checkLeftovers(data_dir, is_served),
  ];
  const schema = checkSchema(path);
  findings.push(schema);
  if (schema.status === 'problem') return findings;
  const sqlite = connect(path, { query_only: true });
  try {
    findings.push(...(await checkDatabase(sqlite, data_dir, deps.clock)));
    const { finding, key } = await checkMasterKey(sqlite, config);
    findings.push(...finding);
    if (!key) return findings;
    findings.push(...(await guard('data keys', () => checkDataKeys(sqlite, key))));
    if (schema.status === 'ok') {
      findings.push(...(await guard('services', () => checkServices(config, deps, key))));
    }
    return findings;
  } finally {
    sqlite.close();
  }
}

/** The worst status among findings. */
export function worstOf(findings: readonly Finding[]): FindingStatus {
  const statuses = findings.map(({ status }) => status);
  if (statuses.includes('problem')) return 'problem';
  return statuses.includes('warning') ? 'warning' : 'ok';
}

function nothingThere(data_dir: string): Finding {
  const what = existsSync(data_dir) ? `${data_dir} holds no database` : `There is no directory ${data_dir}`;
  return {
    check: 'data directory',
    status: 'problem',
    message: `${what}. If this is the right place, the first start of the server fills it.`,
    remedy: 'satchel serve, or name the right directory with --data-dir or SATCHEL_DATA_DIR',
  };
}

/** What a check throws is a finding as well: one broken thing must not hide the others. */
async function guard(check: string, run: HealthCheck['run']): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const remedy = 'run satchel doctor as the user whose the data directory is';
    return [{ check, status: 'problem', message: `This could not be checked: ${messageOf(error)}`, remedy }];
  }
}

function describeServer(data_dir: string, is_served: boolean): Finding {
  const pid = serverProcessOf(data_dir);
  const message = is_served ? `It runs${pid === null ? '' : `, as process ${pid}`}.` : 'It does not run.';
  return { check: 'server', status: 'ok', message, remedy: is_served ? null : 'satchel serve' };
}

function checkSchema(path: string): Finding {
  const check = 'schema';
  try {
    const pending = listPendingMigrations(path);
    if (pending.length === 0) {
      const message = `It is up to date, at migration ${MIGRATIONS.at(-1)?.version ?? 0}.`;
      return { check, status: 'ok', message, remedy: null };
    }
    const names = pending.map(({ version, name }) => `${version} (${name})`).join(', ');
    const message = `Migrations are pending: ${names}. Make a backup first; services are not checked until then.`;
    return { check, status: 'warning', message, remedy: 'satchel migrate' };
  } catch (error) {
    const remedy =
      'satchel restore FILE --yes, with a backup that satchel verify calls sound, or the newer Satchel';
    return { check, status: 'problem', message: messageOf(error), remedy };
  }
}

/* --- The database --------------------------------------------------------------------------------------------- */

async function checkDatabase(sqlite: Sqlite, data_dir: string, clock: Clock): Promise<Finding[]> {
  return [
    ...(await guard('database', () => checkSoundness(sqlite))),
    ...(await guard('objects', () => checkObjects(sqlite, data_dir))),
    ...(await guard('clock', () => [checkClock(sqlite, clock.now())])),
    ...(await guard('failed emails', () => [checkFailedEmails(sqlite, clock.now())])),
  ];
}

function checkSoundness(sqlite: Sqlite): Finding[] {
  const check = 'database';
  const defects = listDefects(sqlite, { thorough: false });
  if (defects.length === 0) return [{ check, status: 'ok', message: 'SQLite finds it sound.', remedy: null }];
  const remedy = 'stop the server, then satchel restore FILE --yes';
  return defects.map((defect) => ({
    check,
    status: 'problem',
    message: `It is damaged: ${defect}.`,
    remedy,
  }));
}

/** Every row is looked up on the disk: a look costs microseconds, and a sample would miss what it is for. */
function checkObjects(sqlite: Sqlite, data_dir: string): Finding[] {
  const check = 'objects';
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
  const lost = [
    ...describeIds(missing, 'has lost its bytes', 'have lost their bytes'),
    ...describeIds(
      resized,
      'has bytes of another size than its row tells of',
      'have bytes of another size than their rows tell of',
    ),
  ];
  const remedy = 'satchel restore FILE --yes, or delete the objects';
  const findings: Finding[] = lost.map((message) => ({ check, status: 'problem', message, remedy }));
  if (open_to_others > 0) {
    const message = `Objects whose bytes other users of this machine may read: ${open_to_others}.`;
    findings.push({
      check,
      status: 'problem',
      message,
      remedy: `chmod -R go-rwx ${shellWord(join(data_dir, 'objects'))}`,
    });
  }
  if (findings.length === 0) {
    findings.push({
      check,
      status: 'ok',
      message: `Stored: ${total}, each with its bytes.`,
      remedy: null,
    });
  }
  const orphans = countOrphans(sqlite, data_dir);
  if (orphans > 0) {
    const message = `Files of no row: ${orphans}. They are uploads under way, or what the next start sweeps up.`;
    findings.push({ check, status: 'ok', message, remedy: null });
  }
  return findings;
}

const ORPHAN_BATCH = 500;

function countOrphans(sqlite: Sqlite, data_dir: string): number {
  let count = 0;
  let batch: string[] = [];
  for (const { id } of listBlobFiles(data_dir)) {
    batch.push(id);
    if (batch.length < ORPHAN_BATCH) continue;
    count += findUnnamed(sqlite, batch).length;
    batch = [];
  }
  return count + findUnnamed(sqlite, batch).length;
}

function checkClock(sqlite: Sqlite, now_ms: number): Finding {
  const check = 'clock';
  const newest_ms = newestMoment(sqlite);
  if (now_ms >= newest_ms - CLOCK_TOLERANCE_MS) {
    return { check, status: 'ok', message: `It says ${toIso(now_ms)}.`, remedy: null };
  }
  return {
    check,
    status: 'problem',
    message: `It says ${toIso(now_ms)}, but something was stored at ${toIso(newest_ms)}. Schedules and expiry go by it.`,
    remedy: 'timedatectl set-ntp true',
  };
}

function checkFailedEmails(sqlite: Sqlite, now_ms: number): Finding {
  const check = 'failed emails';
  const since_ms = now_ms - DOCTOR_FAILURES_MS;
  const count = countFailedEmails(sqlite, since_ms);
  if (count === 0) return { check, status: 'ok', message: 'None failed in the last 24 hours.', remedy: null };
  const left_out = countLeftOutEmails(sqlite, since_ms);
  const all_but =
    left_out === 0
      ? ''
      : `, ${left_out} of them refused for good or sent while their client waited: those are queued again by name only`;
  return {
    check,
    status: 'warning',
    message: `${count} failed in the last 24 hours${all_but}. Look at one with: satchel email why ID`,
    remedy:
      left_out === count
        ? 'satchel email retry ID'
        : `satchel email retry --failed --since ${toIso(since_ms)}`,
  };
}

/* --- Secrets and services ------------------------------------------------------------------------------------- */

async function checkMasterKey(
  sqlite: Sqlite,
  config: Config,
): Promise<{ finding: Finding[]; key: MasterKey | null }> {
  const check = 'master key';
  const master_key_id = readMetaValue(sqlite, 'master_key_id');
  if (master_key_id === null) {
    const message = 'The database is bound to none yet; the next start takes one.';
    return { finding: [{ check, status: 'ok', message, remedy: null }], key: null };
  }
  const judged = await judgeMasterKey(config, {
    master_key_id,
    passphrase_salt: readMetaValue(sqlite, 'passphrase_salt'),
  });
  if (judged.fit !== 'fits') {
    const remedy =
      'set SATCHEL_MASTER_KEY_FILE, SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE as the server has it';
    return { finding: [{ check, status: 'problem', message: judged.message, remedy }], key: null };
  }
  const finding: Finding[] = [
    {
      check,
      status: 'ok',
      message: `${master_key_id} fits. Keep a copy elsewhere: backups leave it out.`,
      remedy: null,
    },
  ];
  const source = masterKeySourceOf(config);
  const warning = source.kind === 'file' ? warnOfKeyFileMode(source) : null;
  if (source.kind === 'file' && warning !== null) {
    finding.push({
      check,
      status: 'problem',
      message: warning,
      remedy: `chmod 600 ${shellWord(source.path)}`,
    });
  }
  return { finding, key: judged.key };
}

/** Data keys that do not open, and how many values were sealed under a key that is not there or does not open. */
function checkDataKeys(sqlite: Sqlite, master: MasterKey): Finding[] {
  const check = 'data keys';
  const rows = sqlite
    .query<{ id: number; scope: string; wrapped: string }, []>('SELECT id, scope, wrapped FROM data_keys')
    .all();
  const opened = new Set(rows.filter((row) => unwrapDataKey(master, row)).map(({ id }) => id));
  const needed = new Set<number | null>();
  const lost_values: Finding[] = [];
  for (const { table, column } of listSealedColumns(sqlite)) {
    let lost = 0;
    for (const sealed of listSealedValues(sqlite, { table, column })) {
      const id = dataKeyIdOf(sealed);
      needed.add(id);
      if (id === null || !opened.has(id)) lost += 1;
    }
    if (lost === 0) continue;
    const message = `Values of ${table}.${column} that are sealed under no data key that opens: ${lost}.`;
    lost_values.push({
      check,
      status: 'problem',
      message,
      remedy: 'satchel restore FILE --yes, or store them again',
    });
  }
  // One that seals nothing any more was replaced when its secrets were stored again.
  const lost_keys = rows.filter(({ id }) => !opened.has(id) && needed.has(id));
  const findings: Finding[] = [
    ...lost_keys.map(({ scope }) => ({
      check,
      status: 'problem' as const,
      message: `The data key of ${scope} does not open: what it seals can't be decrypted.`,
      remedy: 'satchel restore FILE --yes, or store its secrets again',
    })),
    ...lost_values,
  ];
  if (findings.length > 0) return findings;
  return [
    { check, status: 'ok', message: `Each opens under the master key, ${opened.size} in all.`, remedy: null },
  ];
}

async function checkServices(config: Config, deps: DoctorDeps, key: MasterKey): Promise<Finding[]> {
  const database = openReadOnly(databasePathOf(config.data_dir));
  try {
    const key_ring = new KeyRing({ database, source: masterKeySourceOf(config), clock: deps.clock }, key);
    const { checks, close } = deps.createChecks({ database, key_ring });
    try {
      const findings = await Promise.all(checks.map(({ check, run }) => guard(check, run)));
      return findings.flat();
    } finally {
      await close();
    }
  } finally {
    await database.close();
  }
}
