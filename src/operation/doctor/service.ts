/**
 * `satchel doctor`: looks at a whole deployment, changes nothing, and names the command that mends each thing it finds.
 * It works beside a running server and without one, and it makes nothing where there is nothing. Here the findings are
 * collected; what is checked of a noun is in the noun's own checks.ts.
 */
import { existsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { databasePathOf, hasDatabase } from '../../platform/host/data-directory.ts';
import { isServed, serverProcessOf } from '../../platform/host/directory-lock.ts';
import {
  type CheckedDirectory,
  type Finding,
  type FindingStatus,
  type HealthCheck,
  ok,
  problem,
} from '../../platform/host/health-check.ts';
import { KeyRing } from '../../platform/secrets/key-ring.ts';
import { masterKeySourceOf } from '../../platform/secrets/master-key-source.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';
import { checkClock, checkSchema, checkSoundness } from './database-checks.ts';
import { checkDisk, checkModes } from './directory-checks.ts';
import { openReadOnly } from './read-only-database.ts';
import { checkDataKeys, checkMasterKey } from './secret-checks.ts';

export interface DoctorDeps {
  clock: Clock;
  createDirectoryChecks(on: CheckedDirectory): HealthCheck[];
  /** The checks that ask services, on a database that can't be changed. */
  createServiceChecks(
    config: Config,
    deps: { database: Database; key_ring: KeyRing },
  ): { checks: HealthCheck[]; close(): Promise<void> };
}

/** Every finding, those that are fine included. */
export async function examine(config: Config, deps: DoctorDeps): Promise<Finding[]> {
  const { data_dir } = config;
  const nothing = await guard('data directory', () =>
    hasDatabase(data_dir) ? [] : [nothingThere(data_dir)],
  );
  if (nothing.length > 0) return nothing;
  const is_served = isServed(data_dir);
  const findings = [
    describeServer(data_dir, is_served),
    ...(await guard('file modes', () => checkModes(data_dir))),
    ...(await guard('disk space', () => [checkDisk(data_dir)])),
  ];
  const schema = checkSchema(databasePathOf(data_dir));
  findings.push(schema);
  if (schema.status === 'problem') return findings;
  const sqlite = connect(databasePathOf(data_dir), { query_only: true });
  try {
    const now_ms = deps.clock.now();
    findings.push(
      ...(await guard('database', () => checkSoundness(sqlite))),
      ...(await guard('clock', () => [checkClock(sqlite, now_ms)])),
      ...(await runAll(deps.createDirectoryChecks({ data_dir, sqlite, is_served, now_ms }))),
    );
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
  return problem(
    'data directory',
    `${what}. If this is the right place, the first start of the server fills it.`,
    'satchel serve, or name the right directory with --data-dir or SATCHEL_DATA_DIR',
  );
}

/** What a check throws is a finding as well: one broken thing must not hide the others. */
async function guard(check: string, run: HealthCheck['run']): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const message = `This could not be checked: ${messageOf(error)}`;
    return [problem(check, message, 'run satchel doctor as the user whose the data directory is')];
  }
}

async function runAll(checks: readonly HealthCheck[]): Promise<Finding[]> {
  const findings = await Promise.all(checks.map(({ check, run }) => guard(check, run)));
  return findings.flat();
}

function describeServer(data_dir: string, is_served: boolean): Finding {
  if (!is_served) return ok('server', 'It does not run.', 'satchel serve');
  const pid = serverProcessOf(data_dir);
  return ok('server', `It runs${pid === null ? '' : `, as process ${pid}`}.`);
}

async function checkServices(config: Config, deps: DoctorDeps, key: MasterKey): Promise<Finding[]> {
  const database = openReadOnly(databasePathOf(config.data_dir));
  try {
    const key_ring = new KeyRing({ database, source: masterKeySourceOf(config), clock: deps.clock }, key);
    const { checks, close } = deps.createServiceChecks(config, { database, key_ring });
    try {
      return await runAll(checks);
    } finally {
      await close();
    }
  } finally {
    await database.close();
  }
}

/** The doctor of a server, whose examination runs beside it. */
export class Doctor {
  readonly #examineNow: (now_ms: number) => Promise<Finding[]>;
  readonly #clock: Clock;
  #running: Promise<Finding[]> | null = null;

  constructor(deps: { clock: Clock; examine(now_ms: number): Promise<Finding[]> }) {
    this.#clock = deps.clock;
    this.#examineNow = deps.examine;
  }

  /** Every finding; who asks while an examination runs gets what that one finds. */
  async examine(): Promise<{ status: FindingStatus; findings: Finding[] }> {
    this.#running ??= this.#examineNow(this.#clock.now()).finally(() => {
      this.#running = null;
    });
    const findings = await this.#running;
    return { status: worstOf(findings), findings };
  }
}
