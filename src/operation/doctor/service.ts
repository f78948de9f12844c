/**
 * `satchel doctor` looks at a whole deployment, and changes and makes nothing. For each problem it names the
 * command that mends it. It works with and without a running server. This file collects the findings; the
 * checks of a noun are in its own checks.ts.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { messageOf } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { databasePathOf, hasDatabase } from '../../platform/host/database-file.ts';
import { isServed, serverProcessOf } from '../../platform/host/directory-lock.ts';
import {
  ACT_KINDS,
  aside,
  type CheckedDirectory,
  type Finding,
  type FindingStatus,
  type HealthCheck,
  joinSealed,
  ok,
  problem,
} from '../../platform/host/health-check.ts';
import { named, nullable, oneOf, t } from '../../platform/http/schema.ts';
import { KeyRing } from '../../platform/secrets/key-ring.ts';
import { masterKeySourceOf } from '../../platform/secrets/master-key-source.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';
import { checkClock, checkSchema, checkSoundness, openReadOnly } from './database-checks.ts';
import { checkModes, diskCheck } from './directory-checks.ts';
import { checkDataKeys, checkMasterKey } from './secret-checks.ts';

/** How old the finding of stored data's soundness may be. */
const SOUNDNESS_KEPT_MS = 24 * 3_600_000;

/** A finding as it is answered. */
export const finding = named(
  'Finding',
  t.Object({
    id: t.String({
      description: 'The same for the same thing (a check and what it is about), whatever its message says.',
    }),
    check: t.String(),
    status: oneOf(['ok', 'warning', 'problem']),
    message: t.String(),
    remedy: nullable(t.String()),
    acts: t.Array(
      t.Object({
        kind: oneOf(ACT_KINDS),
        project: nullable(t.String({ description: 'The slug of the project that it is in.' })),
        of: nullable(t.String({ description: 'The name, address or id of the one that is meant.' })),
      }),
      { description: 'What mends it by one request, where some does.' },
    ),
    about: nullable(
      t.Object(
        {
          code: t.String({ description: 'A noun in the singular, as in the `remedy` of a failure.' }),
          ref: nullable(t.String({ description: 'The name, address or id of the one that is meant.' })),
        },
        { description: 'What it is about, where a page can show that.' },
      ),
    ),
  }),
);

export interface DoctorDeps {
  clock: Clock;
  createDirectoryChecks(on: CheckedDirectory): HealthCheck[];
  /** The checks that ask services, on a database that can't be changed. */
  createServiceChecks(
    config: Config,
    deps: { database: Database; key_ring: KeyRing; is_deep: boolean },
  ): { checks: HealthCheck[]; close(): Promise<void> };
}

/** Checks that read all that is stored, as no other does: seconds of a processor where that is much. */
const READING_ALL: readonly string[] = ['database', 'objects'];

/**
 * Returns every finding, good ones too. `known` has recent findings of the checks that read everything; they
 * are not run again. `is_deep` looks for each object in the object store.
 */
export async function examine(
  config: Config,
  deps: DoctorDeps,
  known: readonly Finding[] = [],
  is_deep = false,
): Promise<Finding[]> {
  const { data_dir } = config;
  const nothing = await guard('data directory', () =>
    hasDatabase(data_dir) ? [] : [nothingThere(data_dir)],
  );
  if (nothing.length > 0) return nothing;
  const is_served = isServed(data_dir);
  const findings = [
    describeServer(config, is_served),
    ...(await guard('file modes', () => checkModes(data_dir))),
    ...(await runAll([diskCheck(data_dir)])),
  ];
  const schema = checkSchema(databasePathOf(data_dir));
  findings.push(schema);
  if (schema.status === 'problem') return findings;
  const sqlite = connect(databasePathOf(data_dir), { query_only: true });
  try {
    const now_ms = deps.clock.now();
    const checks: HealthCheck[] = [
      { check: 'database', run: () => checkSoundness(sqlite) },
      { check: 'clock', run: () => [checkClock(sqlite, now_ms)] },
      ...deps.createDirectoryChecks({ data_dir, sqlite, is_served, now_ms }),
    ];
    const isKnown = ({ check }: { check: string }): boolean => known.some((each) => each.check === check);
    findings.push(...known, ...(await runAll(checks.filter((each) => !isKnown(each)))));
    const { finding, key } = await checkMasterKey(sqlite, config);
    findings.push(...finding);
    if (!key) return findings;
    findings.push(...(await guard('data keys', () => checkDataKeys(sqlite, key))));
    if (schema.status === 'ok') {
      findings.push(...(await guard('services', () => checkServices(config, { ...deps, is_deep }, key))));
    }
    return findings;
  } finally {
    sqlite.close();
  }
}

/** The worst status among findings. */
export function worstOf(findings: readonly { status: string }[]): FindingStatus {
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

/** Of a finding in place of those of a check. */
export const UNCHECKED = 'unchecked';

/** A check that throws makes a finding as well: one broken thing must not hide the others. */
export async function guard(check: string, run: HealthCheck['run']): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const message = `This could not be checked: ${messageOf(error)}`;
    const remedy = 'run satchel doctor as the user whose the data directory is';
    return [aside(UNCHECKED, problem(check, message, remedy))];
  }
}

/** Runs checks side by side; see `guard`. */
export async function runAll(checks: readonly HealthCheck[]): Promise<Finding[]> {
  const findings = await Promise.all(checks.map(({ check, run }) => guard(check, run)));
  return findings.flat();
}

/** The check that says whether one serves the directory, and where. */
export const SERVER = 'server';

export function describeServer({ data_dir, served_at, public_url }: Config, is_served: boolean): Finding {
  if (!is_served) return ok(SERVER, 'It does not run.', 'satchel serve');
  const pid = serverProcessOf(data_dir);
  const where = served_at === null ? '' : ` at ${served_at}; links begin with ${public_url}`;
  return ok(SERVER, `It runs${pid === null ? '' : `, as process ${pid}`}${where}.`);
}

async function checkServices(
  config: Config,
  deps: DoctorDeps & { is_deep: boolean },
  key: MasterKey,
): Promise<Finding[]> {
  const database = openReadOnly(databasePathOf(config.data_dir));
  try {
    const key_ring = new KeyRing({ database, source: masterKeySourceOf(config), clock: deps.clock }, key);
    const { checks, close } = deps.createServiceChecks(config, { database, key_ring, is_deep: deps.is_deep });
    try {
      return joinSealed(await runAll(checks));
    } finally {
      await close();
    }
  } finally {
    await database.close();
  }
}

interface Examination {
  findings: readonly Finding[];
  /** When it began. */
  at_ms: number;
  is_deep: boolean;
}

interface Running {
  promise: Promise<Examination>;
  reads_all: boolean;
  is_deep: boolean;
}

/** The doctor of a server, whose examination runs beside it. */
export class Doctor {
  /** For verbs beside the server, by its note: who has it may ask for findings, and for nothing else. */
  readonly key = randomBytes(32).toString('base64url');
  readonly #listeners: ((findings: readonly Finding[], at_ms: number) => void)[] = [];
  #running: Running | null = null;
  #last: Examination | null = null;
  /** The last examination that read everything, without problems: those are looked at each time. */
  #read_all: Pick<Examination, 'findings' | 'at_ms'> | null = null;

  constructor(
    private readonly deps: {
      clock: Clock;
      examine(now_ms: number, known: readonly Finding[], is_deep: boolean): Promise<Finding[]>;
    },
  ) {}

  /** Has somebody told of each whole look, but for deep ones, which find what others do not. */
  listen(listener: (findings: readonly Finding[], at_ms: number) => void): void {
    this.#listeners.push(listener);
  }

  /** Every finding; see `look`. */
  async examine(max_age_ms = 0): Promise<readonly Finding[]> {
    return (await this.look({ max_age_ms, is_deep: false })).findings;
  }

  /**
   * Every finding, at most `max_age_ms` old, and where `is_deep` of each object in the object store. A caller
   * joins an examination that is running. With a `max_age_ms` the checks that read everything may be a day
   * old, since they take seconds where much is stored.
   */
  async look({ max_age_ms, is_deep }: { max_age_ms: number; is_deep: boolean }): Promise<Examination> {
    const last = this.#last;
    if (last && (last.is_deep || !is_deep) && this.#isWithin(last, max_age_ms)) return last;
    const known =
      max_age_ms > 0 && this.#read_all && this.#isWithin(this.#read_all, SOUNDNESS_KEPT_MS)
        ? this.#read_all.findings
        : [];
    const reads_all = known.length === 0;
    const running = this.#running;
    const will_do = running && (running.reads_all || !reads_all) && (running.is_deep || !is_deep);
    return will_do ? running.promise : this.#start(known, { reads_all, is_deep });
  }

  /**
   * The last findings, of any age; none before the first. Where they are too old it starts an examination,
   * and does not wait for it.
   */
  latest(max_age_ms: number): readonly Finding[] {
    if (!this.#running && !(this.#last && this.#isWithin(this.#last, max_age_ms)))
      // Why it failed is told to who asks for findings.
      this.examine(max_age_ms).catch(() => {});
    return this.#last?.findings ?? [];
  }

  #isWithin({ at_ms }: Pick<Examination, 'at_ms'>, age_ms: number): boolean {
    const age = this.deps.clock.now() - at_ms;
    return age >= 0 && age < age_ms;
  }

  #start(known: readonly Finding[], of: Omit<Running, 'promise'>): Promise<Examination> {
    const running: Running = { promise: this.#run(known, of), ...of };
    this.#running = running;
    const end = (): void => {
      if (this.#running === running) this.#running = null;
    };
    running.promise.then(end, end);
    return running.promise;
  }

  async #run(
    known: readonly Finding[],
    { reads_all, is_deep }: Omit<Running, 'promise'>,
  ): Promise<Examination> {
    const at_ms = this.deps.clock.now();
    const findings = await this.deps.examine(at_ms, known, is_deep);
    this.#last = { findings, at_ms, is_deep };
    if (reads_all) {
      const sound = findings.filter(({ check, status }) => READING_ALL.includes(check) && status === 'ok');
      this.#read_all = { findings: sound, at_ms };
    }
    if (!is_deep) for (const listener of this.#listeners) listener(findings, at_ms);
    return this.#last;
  }
}
