/** The scheduler: which entries a look at the clock runs, and what it does when they fail, hang or the clock jumps. */
import { afterEach, describe, expect, test } from 'bun:test';
import { MINUTE_MS } from '../../../src/platform/host/clock.ts';
import { silentLogger } from '../../../src/platform/host/logger.ts';
import { type CronEntry, createScheduler, type Scheduler } from '../../../src/platform/jobs/scheduler.ts';
import { captureLog } from '../../support/captured-log.ts';
import { TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const started: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of started.splice(0)) await scheduler.stop(1_000);
});

function setUp(expression: string, options: Partial<CronEntry> = {}, at = '2030-01-15T12:00:30Z') {
  const clock = new TestClock(at);
  const runs: string[] = [];
  const entry: CronEntry = {
    name: 'entry',
    expression,
    run: async () => void runs.push(new Date(clock.now()).toISOString().slice(11, 19)),
    ...options,
  };
  const scheduler = createScheduler({ entries: [entry], clock, logger: silentLogger });
  started.push(scheduler);
  return { clock, runs, scheduler };
}

describe('the scheduler', () => {
  test('runs an entry in the minutes of its expression and in no other', async () => {
    const { clock, runs, scheduler } = setUp('*/2 * * * *');
    for (let minute = 0; minute < 4; minute += 1) {
      clock.advance(MINUTE_MS);
      await scheduler.tick();
    }
    expect(runs).toEqual(['12:02:30', '12:04:30']);
  });

  test('reads expressions in UTC', async () => {
    const { clock, runs, scheduler } = setUp('0 13 * * *', {}, '2030-07-15T12:59:00Z');
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(runs).toEqual(['13:00:00']);
  });

  test('runs an entry once for a tick, however often it looks', async () => {
    const { clock, runs, scheduler } = setUp('* * * * *');
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    await scheduler.tick();
    clock.advance(5_000);
    await scheduler.tick();
    expect(runs).toHaveLength(1);
  });

  test('runs an entry once for several ticks that a sleeping machine slept through', async () => {
    const { clock, runs, scheduler } = setUp('* * * * *');
    clock.advance(60 * MINUTE_MS);
    await scheduler.tick();
    expect(runs).toHaveLength(1);
  });

  test('goes on with a clock that was set back', async () => {
    const { clock, runs, scheduler } = setUp('* * * * *');
    clock.advance(-120 * MINUTE_MS);
    await scheduler.tick();
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(runs).toEqual(['10:01:30']);
  });

  test('does not start an entry beside itself, and starts it again once it has ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const { clock, scheduler } = setUp('* * * * *', {
      run: () => {
        begun += 1;
        return promise;
      },
    });
    clock.advance(MINUTE_MS);
    const first = scheduler.tick();
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(begun).toBe(1);
    resolve();
    await first;
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(begun).toBe(2);
  });

  test('logs an entry that fails and runs it again at its next tick', async () => {
    const clock = new TestClock();
    const log = captureLog(clock);
    let begun = 0;
    const run = async () => {
      begun += 1;
      throw new Error('no luck');
    };
    const scheduler = createScheduler({
      entries: [{ name: 'unlucky', expression: '* * * * *', run }],
      clock,
      logger: log.logger,
    });
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(begun).toBe(2);
    expect(log.text()).toContain('"entry":"unlucky","error":"no luck"');
  });

  test('runs at the start what is to run then, and only that, as late as it is told', async () => {
    const eager = setUp('0 3 * * *', { at_start: true });
    const patient = setUp('0 3 * * *');
    eager.scheduler.start();
    patient.scheduler.start();
    const late = setUp('0 3 * * *', { at_start: true });
    late.scheduler.start(50);
    expect([eager.runs.length, late.runs.length]).toEqual([1, 0]);
    await until(() => late.runs.length > 0);
    expect(patient.runs).toHaveLength(0);
  });

  test('says nothing of an entry that began at the start and meets its first tick', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const clock = new TestClock('2030-01-15T12:00:59Z');
    const { logger, linesWith } = captureLog(clock);
    let begun = 0;
    const run = () => {
      begun += 1;
      return promise;
    };
    const entry = { name: 'slow', expression: '* * * * *', at_start: true, run };
    const scheduler = createScheduler({ entries: [entry], clock, logger });
    started.push(scheduler);
    scheduler.start();
    await until(() => begun > 0);
    clock.advance(1_000);
    await scheduler.tick();
    expect([begun, linesWith('still runs')]).toEqual([1, []]);
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(linesWith('still runs')).toHaveLength(1);
    resolve();
  });

  test('waits at a stop for an entry that runs, and begins none afterwards', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let has_ended = false;
    const { clock, scheduler } = setUp('* * * * *', {
      run: async () => {
        await promise;
        has_ended = true;
      },
    });
    clock.advance(MINUTE_MS);
    void scheduler.tick();
    const stopped = scheduler.stop(10_000);
    resolve();
    await stopped;
    expect(has_ended).toBe(true);
    has_ended = false;
    clock.advance(MINUTE_MS);
    await scheduler.tick();
    expect(has_ended).toBe(false);
  });

  test('refuses an entry whose expression is none', async () => {
    await expect(setUp('every day').scheduler.tick()).rejects.toThrow('no valid cron expression');
  });
});
