import { describe, expect, spyOn, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { AppError } from '../../../src/errors.ts';
import type { Database, Tx } from '../../../src/platform/database/database.ts';
import { type JobRow, jobs, meta } from '../../../src/platform/database/tables.ts';
import { silentLogger } from '../../../src/platform/host/logger.ts';
import {
  createJobEngine,
  JOB_CLAIM_BATCH,
  type JobEngine,
  type Task,
  type TaskOutcome,
} from '../../../src/platform/jobs/engine.ts';
import {
  deleteFinishedJobs,
  listPendingGroups,
  type NewJob,
  PRIORITY,
} from '../../../src/platform/jobs/store.ts';
import { makeDatabase, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const done: TaskOutcome = { status: 'completed', result: { ok: true }, error: null };

function taskOf(
  run: (job: JobRow, stopping: AbortSignal) => Promise<TaskOutcome> | TaskOutcome,
  more: Partial<Task> = {},
): Task {
  return {
    type: 'test',
    lane_concurrency: 2,
    begin: () => ({ go: true, started: null }),
    run: async (job, _started, stopping) => run(job, stopping),
    ...more,
  };
}

async function makeEngine(tasks: Task[], given?: { database: Database; clock: TestClock }) {
  const database = given?.database ?? makeDatabase().database;
  const clock = given?.clock ?? new TestClock();
  await database.write((tx) => {
    for (const id of [1, 2, 3]) {
      tx.run(sql`INSERT OR IGNORE INTO projects (id, public_id, name, slug, created_at, updated_at)
                 VALUES (${id}, ${`P${id}`}, 'p', ${`p${id}`}, 1, 1)`);
    }
  });
  const engine = createJobEngine({ database, clock, logger: silentLogger, tasks });
  return { database, clock, engine };
}

const job = (more: Partial<NewJob> = {}): NewJob => ({
  project_id: 1,
  type: 'test',
  priority: PRIORITY.transactional,
  payload: {},
  max_attempts: 3,
  ...more,
});

const rowOf = (database: Database, id: string) =>
  database.read.select().from(jobs).where(eq(jobs.id, id)).get();
const add = (database: Database, engine: JobEngine, more: Partial<NewJob> = {}) =>
  database.write((tx) => engine.enqueue(tx, job(more)));

describe('the job engine', () => {
  test('runs what is enqueued and records how it ended', async () => {
    const { database, engine, clock } = await makeEngine([taskOf(() => done)]);
    await engine.start();
    const id = await add(database, engine, { payload: { n: 1 } });
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({
      status: 'completed',
      attempts: 1,
      result: { ok: true },
      error: null,
      payload: { n: 1 },
      started_at: clock.now(),
      finished_at: clock.now(),
    });
    await engine.stop(100);
  });

  test('records the attempt before the work begins', async () => {
    let seen: unknown;
    const { database, engine } = await makeEngine([
      taskOf((row) => {
        seen = rowOf(database, row.id);
        return done;
      }),
    ]);
    await engine.start();
    await add(database, engine);
    await engine.whenIdle();
    expect(seen).toMatchObject({ status: 'processing', attempts: 1 });
    await engine.stop(100);
  });

  test('a retry waits for its time and then runs', async () => {
    const { database, engine, clock } = await makeEngine([
      taskOf((row) =>
        row.attempts < 2 ? { status: 'retry', error: 'busy', run_at: clock.now() + 15_000 } : done,
      ),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'pending', attempts: 1, error: 'busy' });
    clock.advance(14_999);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'pending', attempts: 1 });
    clock.advance(1);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 2, error: null });
    await engine.stop(100);
  });

  test('a clock that is set back does not hold a retry for as long', async () => {
    const { database, engine, clock } = await makeEngine([
      taskOf((row) =>
        row.attempts < 2 ? { status: 'retry', error: 'busy', run_at: clock.now() + 15_000 } : done,
      ),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    clock.advance(-3_600_000);
    await engine.whenIdle();
    clock.advance(16_000);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'completed' });
    await engine.stop(100);
  });

  test('nor where the database was busy when that was noticed', async () => {
    const { database, engine, clock } = await makeEngine([
      taskOf((row) =>
        row.attempts < 2 ? { status: 'retry', error: 'busy', run_at: clock.now() + 15_000 } : done,
      ),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    clock.advance(-3_600_000);
    spyOn(database, 'write').mockImplementationOnce(() =>
      Promise.reject(new AppError('unavailable', 'The database is busy.')),
    );
    await engine.whenIdle();
    clock.advance(16_000);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'completed' });
    await engine.stop(100);
  });

  test('a job enqueued before the clock is set back runs at once all the same', async () => {
    const { database, engine, clock } = await makeEngine([taskOf(() => done)]);
    const id = await add(database, engine);
    clock.advance(-86_400_000);
    await engine.start();
    await engine.whenIdle();
    expect(rowOf(database, id)?.status).toBe('completed');
    await engine.stop(100);
  });

  test('an attempt cut off by a crash counts, is run again, and never fails the job by itself', async () => {
    const { database } = makeDatabase();
    const clock = new TestClock();
    const first = await makeEngine([], { database, clock });
    const id = await add(database, first.engine);
    await database.write((tx) => tx.run(sql`UPDATE jobs SET status = 'processing', attempts = 3`));
    const recovered: string[] = [];
    const second = await makeEngine([taskOf(() => done, { recover: (_, row) => recovered.push(row.id) })], {
      database,
      clock,
    });
    await second.engine.start();
    await second.engine.whenIdle();
    expect(recovered).toEqual([id]);
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 4, interruptions: 1 });
    await second.engine.stop(100);
  });

  test('a start that finds nothing cut off commits nothing, so that requests need not wait for the disk', async () => {
    const { database } = makeDatabase();
    await createJobEngine({ database, clock: new TestClock(), logger: silentLogger, tasks: [] }).start();
    expect(database.hasWritten()).toBe(false);
  });

  test('a task that throws ends its job as failed without showing what it threw', async () => {
    const abandoned: string[] = [];
    const { database, engine } = await makeEngine([
      taskOf(
        () => {
          throw new Error('password=hunter2');
        },
        { abandon: (_, row) => abandoned.push(row.id) },
      ),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    const row = rowOf(database, id);
    expect(row?.status).toBe('failed');
    expect(row?.error).not.toContain('hunter2');
    expect(abandoned).toEqual([id]);
    await engine.stop(100);
  });

  test('one whose begin throws is ended alone, and keeps no other job from its turn', async () => {
    const ran: string[] = [];
    const abandoned: string[] = [];
    const begin = (tx: Tx, row: JobRow): { go: true; started: null } => {
      tx.insert(meta)
        .values({ name: `begun ${row.id}`, value: '' })
        .run();
      if (row.payload.is_unfit === true) throw new Error('password=hunter2');
      return { go: true, started: null };
    };
    const { database, engine } = await makeEngine([
      taskOf(
        (row) => {
          ran.push(row.id);
          return done;
        },
        { begin, abandon: (_, row) => abandoned.push(row.id) },
      ),
    ]);
    const before = await add(database, engine);
    const unfit = await add(database, engine, { payload: { is_unfit: true } });
    const after = await add(database, engine);
    await engine.start();
    await engine.whenIdle();
    expect(ran.sort()).toEqual([before, after].sort());
    expect(abandoned).toEqual([unfit]);
    expect(rowOf(database, unfit)).toMatchObject({
      status: 'failed',
      error: 'Something went wrong on the server.',
    });
    const begun = database.read.select().from(meta).all();
    expect(begun.map(({ name }) => name).sort()).toEqual([`begun ${before}`, `begun ${after}`].sort());
    await engine.stop(100);
  });

  test('what begin puts into another lane costs no attempt, what it ends does not run', async () => {
    const ran: unknown[] = [];
    const { database, engine } = await makeEngine([
      taskOf(
        (row) => {
          ran.push([row.id, row.lane, row.attempts]);
          return done;
        },
        {
          begin: (_, row) => {
            if (row.payload.end === true)
              return { go: false, end: { status: 'failed', result: null, error: 'gone' } };
            const lane = `${row.type}:free`;
            return row.lane === lane ? { go: true, started: null } : { go: false, wait: { lane } };
          },
        },
      ),
    ]);
    await engine.start();
    const ended = await add(database, engine, { payload: { end: true } });
    const moved = await add(database, engine, { resource: 'taken' });
    await engine.whenIdle();
    expect(rowOf(database, ended)).toMatchObject({ status: 'failed', error: 'gone' });
    const { type = '' } = rowOf(database, moved) ?? {};
    expect(ran).toEqual([[moved, `${type}:free`, 1]]);
    await engine.stop(100);
  });

  test('an attempt that goes on in another lane is the same one there, and keeps what it recorded', async () => {
    const ran: unknown[] = [];
    const { database, engine } = await makeEngine([
      taskOf((row) => {
        ran.push([row.lane.split(':')[1], row.attempts]);
        if (row.lane.endsWith(':one'))
          return {
            status: 'continue',
            lane: `${row.type}:two`,
            apply: (tx) => tx.$client.run("INSERT INTO meta (name, value) VALUES ('moved', 'yes')"),
          };
        return done;
      }),
    ]);
    await engine.start();
    const id = await add(database, engine, { resource: 'one' });
    await engine.whenIdle();
    expect(ran).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 1 });
    expect(database.read.$client.query("SELECT value FROM meta WHERE name = 'moved'").get()).toEqual({
      value: 'yes',
    });
    await engine.stop(100);
  });

  test('an end that could not be recorded because the database was busy is recorded later', async () => {
    const { database, engine } = await makeEngine([
      taskOf(() => {
        spyOn(database, 'write').mockImplementationOnce(() =>
          Promise.reject(new AppError('unavailable', 'The database is busy.')),
        );
        return done;
      }),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 1 });
    await engine.stop(100);
  });

  test('an unknown type fails with a reason instead of waiting for ever', async () => {
    const { database, engine } = await makeEngine([]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'failed' });
    await engine.stop(100);
  });
});

describe('a long task', () => {
  const progressOf = (database: Database) =>
    Number(database.read.select().from(meta).where(eq(meta.name, 'progress')).get()?.value ?? 0);
  const setProgress = (tx: Tx, value: number) =>
    tx
      .insert(meta)
      .values({ name: 'progress', value: String(value) })
      .onConflictDoUpdate({ target: meta.name, set: { value: String(value) } })
      .run();

  test('goes on in pieces, each recorded with what it did, and counts one attempt', async () => {
    const seen: number[] = [];
    const { database, engine } = await makeEngine([
      taskOf((row) => {
        seen.push(row.attempts);
        const next = progressOf(database) + 1;
        const apply = (tx: Tx) => void setProgress(tx, next);
        return next < 4 ? { status: 'continue', apply } : { ...done, apply };
      }),
    ]);
    await engine.start();
    const id = await add(database, engine);
    await engine.whenIdle();
    expect(seen).toEqual([1, 1, 1, 1]);
    expect(progressOf(database)).toBe(4);
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 1, interruptions: 0 });
    await engine.stop(100);
  });

  test('waits for its time between pieces, and goes into the lane it names', async () => {
    const lanes: string[] = [];
    const { database, engine, clock } = await makeEngine([
      taskOf((row) => {
        lanes.push(row.lane);
        if (lanes.length > 1) return done;
        return { status: 'continue', run_at: clock.now() + 5_000, lane: 'test:other' };
      }),
    ]);
    await engine.start();
    const id = await add(database, engine, { resource: 'one' });
    await engine.whenIdle();
    expect(rowOf(database, id)).toMatchObject({ status: 'pending', attempts: 0, lane: 'test:other' });
    clock.advance(5_000);
    await engine.whenIdle();
    expect(lanes).toEqual(['test:one', 'test:other']);
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 1 });
    await engine.stop(100);
  });

  test('that is told to stop ends its piece, and goes on after the next start', async () => {
    const { database } = makeDatabase();
    const clock = new TestClock();
    const starts: PromiseWithResolvers<void>[] = [];
    const counting = () =>
      taskOf(async (_row, stopping) => {
        starts.at(-1)?.resolve();
        const next = progressOf(database) + 1;
        const apply = (tx: Tx) => void setProgress(tx, next);
        if (next === 3) return { ...done, apply };
        if (!stopping.aborted)
          await new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }));
        return { status: 'continue', apply };
      });
    let id = '';
    for (const progress of [1, 2, 3]) {
      const { engine } = await makeEngine([counting()], { database, clock });
      const started = Promise.withResolvers<void>();
      starts.push(started);
      await engine.start();
      if (progress === 1) id = await add(database, engine);
      await started.promise;
      if (progress === 3) await engine.whenIdle();
      await engine.stop(10_000);
      expect(progressOf(database)).toBe(progress);
      expect(rowOf(database, id)?.status).toBe(progress === 3 ? 'completed' : 'pending');
    }
    expect(rowOf(database, id)).toMatchObject({ attempts: 1, interruptions: 0 });
  });

  test('that was killed goes on from its last recorded piece', async () => {
    const { database } = makeDatabase();
    const clock = new TestClock();
    const hung = Promise.withResolvers<void>();
    const first = await makeEngine(
      [
        taskOf(async () => {
          if (progressOf(database) === 0)
            return { status: 'continue', apply: (tx) => void setProgress(tx, 1) };
          hung.resolve();
          return new Promise<TaskOutcome>(() => {});
        }),
      ],
      { database, clock },
    );
    await first.engine.start();
    const id = await add(database, first.engine);
    await hung.promise;
    // Whoever is dead takes nothing up again; its attempt stays where it was.
    await first.engine.stop(0);
    const found: number[] = [];
    const second = await makeEngine(
      [
        taskOf(() => {
          found.push(progressOf(database));
          return done;
        }),
      ],
      { database, clock },
    );
    await second.engine.start();
    await second.engine.whenIdle();
    expect(found).toEqual([1]);
    expect(rowOf(database, id)).toMatchObject({ status: 'completed', attempts: 2, interruptions: 1 });
    await second.engine.stop(100);
  });
});

describe('order', () => {
  /** Runs one job at a time and tells in which order. */
  async function orderOf(added: Partial<NewJob>[]): Promise<unknown[]> {
    const order: unknown[] = [];
    const { database, engine } = await makeEngine([
      taskOf(
        (row) => {
          order.push(row.payload.n);
          return done;
        },
        { lane_concurrency: 1 },
      ),
    ]);
    await database.write((tx) => {
      for (const more of added) engine.enqueue(tx, job(more));
    });
    await engine.start();
    await engine.whenIdle();
    await engine.stop(100);
    return order;
  }

  test('urgent jobs go first, older ones before newer ones', async () => {
    const order = await orderOf([
      { payload: { n: 'm1' }, priority: PRIORITY.marketing },
      { payload: { n: 's1' }, priority: PRIORITY.scheduled },
      { payload: { n: 't1' } },
      { payload: { n: 't2' } },
    ]);
    expect(order).toEqual(['t1', 't2', 's1', 'm1']);
  });

  test('projects take turns, so that a backlog of one delays another by one job', async () => {
    const backlog = Array.from({ length: 5 }, (_, n) => ({ project_id: 1, payload: { n: `a${n}` } }));
    const order = await orderOf([
      ...backlog,
      { project_id: 2, payload: { n: 'b0' } },
      { project_id: 3, payload: { n: 'c0' } },
    ]);
    expect(order.slice(0, 3).toSorted()).toEqual(['a0', 'b0', 'c0']);
    expect(order).toHaveLength(7);
  });

  test('jobs that do not run make no room in their lane', async () => {
    const let_go: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const { database, engine } = await makeEngine([
      taskOf(
        async () => {
          running += 1;
          most = Math.max(most, running);
          await new Promise<void>((resolve) => let_go.push(resolve));
          running -= 1;
          return done;
        },
        {
          begin: (_, row) =>
            row.payload.is_over === true
              ? { go: false, end: { status: 'failed', result: null, error: 'over' } }
              : { go: true, started: null },
        },
      ),
    ]);
    await engine.start();
    await add(database, engine);
    await until(() => running === 1);
    const over: string[] = [];
    for (let n = 0; n < 4; n += 1) over.push(await add(database, engine, { payload: { is_over: true } }));
    await until(() => over.every((id) => rowOf(database, id)?.status === 'failed'));
    for (let n = 0; n < 4; n += 1) await add(database, engine);
    await until(() => let_go.length === 2);
    expect(most).toBe(2);
    for (let n = 0; n < 5; n += 1) {
      await until(() => let_go.length > 0);
      let_go.shift()?.();
    }
    await engine.whenIdle();
    expect(most).toBe(2);
    await engine.stop(100);
  });

  test('a lane whose jobs hang leaves the other lanes their own slots', async () => {
    const release = Promise.withResolvers<void>();
    const ended: unknown[] = [];
    const { database, engine } = await makeEngine([
      taskOf(async (row) => {
        if (row.lane === 'test:dead') await release.promise;
        ended.push(row.payload.n);
        return done;
      }),
    ]);
    await engine.start();
    for (let n = 0; n < 5; n += 1) await add(database, engine, { resource: 'dead', payload: { n } });
    const ok = await add(database, engine, { resource: 'alive', payload: { n: 'ok' } });
    while (rowOf(database, ok)?.status !== 'completed') await Bun.sleep(1);
    expect(ended).toEqual(['ok']);
    const under_way = database.read.select().from(jobs).where(sql`status = 'processing'`).all();
    expect(under_way).toHaveLength(2);
    release.resolve();
    await engine.whenIdle();
    expect(ended).toHaveLength(6);
    await engine.stop(100);
  });
});

describe('a claim', () => {
  test('a claim reads the jobs of no more projects than its lane has room for', async () => {
    const release = Promise.withResolvers<void>();
    let running = 0;
    const { database, engine } = await makeEngine([
      taskOf(
        async () => {
          running += 1;
          await release.promise;
          return done;
        },
        { lane_concurrency: 10 },
      ),
    ]);
    await database.write((tx) => {
      for (let id = 100; id < 200; id += 1) {
        tx.run(sql`INSERT INTO projects (id, public_id, name, slug, created_at, updated_at)
                   VALUES (${id}, ${`P${id}`}, 'p', ${`p${id}`}, 1, 1)`);
        for (let n = 0; n < 3; n += 1) engine.enqueue(tx, job({ project_id: id }));
      }
    });
    const parses = spyOn(JSON, 'parse');
    await engine.start();
    while (running < 10) await Bun.sleep(1);
    const jobs_read = parses.mock.calls.filter(([text]) => text === '{}').length;
    parses.mockRestore();
    expect(jobs_read).toBeLessThanOrEqual(30);
    release.resolve();
    await engine.whenIdle();
    expect(running).toBe(300);
    await engine.stop(100);
  });

  test('sees of a full lane no more than its first group', async () => {
    const { database, engine } = await makeEngine([]);
    await database.write((tx) => {
      for (const project_id of [1, 2, 3])
        for (const resource of ['a', 'b', 'c'])
          for (const priority of [PRIORITY.transactional, PRIORITY.marketing])
            engine.enqueue(tx, job({ project_id, resource, priority }));
    });
    const asked: string[] = [];
    const groups = listPendingGroups(database.read, (lane) => asked.push(lane) > 0 && lane === 'test:b');
    const found = (priority: number) => groups.filter((group) => group.priority === priority);
    for (const priority of [PRIORITY.transactional, PRIORITY.marketing])
      expect(found(priority).map(({ lane, project_id }) => [lane, project_id])).toEqual([
        ...[1, 2, 3].map((id) => ['test:a', id]),
        ...[1, 2, 3].map((id) => ['test:c', id]),
      ]);
    expect(asked.filter((lane) => lane === 'test:b')).toHaveLength(2);
  });

  test('takes no more than its share at once, and lanes of one priority take turns at it', async () => {
    const claims = new Map<number, string[]>();
    // All that one claim takes up begins at one moment.
    class TickingClock extends TestClock {
      override now(): number {
        return this.at_ms++;
      }
    }
    const { database } = makeDatabase();
    const tasks = [
      taskOf(() => done, {
        lane_concurrency: 2 * JOB_CLAIM_BATCH,
        begin: (_tx, row, now_ms) => {
          claims.set(now_ms, [...(claims.get(now_ms) ?? []), row.lane]);
          return { go: true, started: null };
        },
      }),
    ];
    const { engine } = await makeEngine(tasks, { database, clock: new TickingClock() });
    for (let n = 0; n < 2 * JOB_CLAIM_BATCH; n += 1) {
      await add(database, engine, { resource: 'a' });
      await add(database, engine, { resource: 'b' });
    }
    await engine.start();
    await engine.whenIdle();
    const taken = [...claims.values()];
    expect(taken.flat()).toHaveLength(4 * JOB_CLAIM_BATCH);
    expect(Math.max(...taken.map((lanes) => lanes.length))).toBe(JOB_CLAIM_BATCH);
    expect(new Set(taken[0])).toEqual(new Set(['test:a']));
    expect(new Set(taken[1])).toEqual(new Set(['test:b']));
    await engine.stop(100);
  });
});

test('urgent jobs in between take no lane its turn', async () => {
  const taken: string[] = [];
  const { database, engine } = await makeEngine([
    taskOf(() => done, {
      lane_concurrency: 10 * JOB_CLAIM_BATCH,
      begin: (tx, row) => {
        // The next claim is filled by what is urgent.
        if (taken.push(row.lane) === JOB_CLAIM_BATCH)
          for (let n = 0; n < JOB_CLAIM_BATCH; n += 1) engine.enqueue(tx, job({ resource: 'z' }));
        return { go: true, started: null };
      },
    }),
  ]);
  const priority = PRIORITY.marketing;
  for (let n = 0; n < 2 * JOB_CLAIM_BATCH; n += 1) await add(database, engine, { resource: 'a', priority });
  for (let n = 0; n < JOB_CLAIM_BATCH; n += 1) await add(database, engine, { resource: 'b', priority });
  await engine.start();
  await engine.whenIdle();
  const claims = [0, 1, 2, 3].map((n) => taken.slice(n * JOB_CLAIM_BATCH, (n + 1) * JOB_CLAIM_BATCH));
  expect(claims.map((lanes) => [...new Set(lanes)])).toEqual([
    ['test:a'],
    ['test:z'],
    ['test:b'],
    ['test:a'],
  ]);
  await engine.stop(100);
});

describe('retention and totals', () => {
  test('finished jobs are deleted by age, others never, and the totals follow', async () => {
    const { database, engine, clock } = await makeEngine([taskOf(() => done)]);
    await engine.start();
    await add(database, engine);
    await engine.whenIdle();
    await add(database, engine, { run_at: clock.now() + 1e9 });
    const totals = () =>
      database.read.all(sql`SELECT facet, n FROM row_counts WHERE list = 'jobs' AND n > 0 ORDER BY facet`);
    expect(totals()).toEqual([
      { facet: 'test:completed', n: 1 },
      { facet: 'test:pending', n: 1 },
    ]);
    expect(await database.write((tx) => deleteFinishedJobs(tx, clock.now(), 100))).toBe(0);
    expect(await database.write((tx) => deleteFinishedJobs(tx, clock.now() + 1, 100))).toBe(1);
    expect(totals()).toEqual([{ facet: 'test:pending', n: 1 }]);
    await engine.stop(100);
  });
});
