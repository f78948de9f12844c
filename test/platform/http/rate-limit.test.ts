import { describe, expect, test } from 'bun:test';
import { SWEEP_BATCH } from '../../../src/limits.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { rateWindows } from '../../../src/platform/database/tables.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/host/clock.ts';
import { DurableRates, type Rate } from '../../../src/platform/http/rate-limit.ts';
import { makeDatabase, TestClock } from '../../support/temp.ts';

const hourly: Rate = { limit: 2, per: 'hour', what: 'Sign-ups of this address' };

function makeRates() {
  const { database, path } = makeDatabase();
  const clock = new TestClock();
  const rates = new DurableRates({ database, clock });
  const take = (caller = 'a', rate = hourly) => database.write((tx) => rates.take(tx, caller, rate));
  const rows = () => database.read.select().from(rateWindows).all();
  return { database, path, clock, rates, take, rows };
}

describe('a durable rate', () => {
  test('counts each caller in its own window, which ends by itself', async () => {
    const { clock, take, database } = makeRates();
    expect(await take()).toEqual({ limit: 2, remaining: 1, reset_s: 3_600 });
    clock.advance(HOUR_MS - 1_500);
    expect(await take()).toEqual({ limit: 2, remaining: 0, reset_s: 2 });
    await expect(take()).rejects.toMatchObject({
      kind: 'rate_limited',
      retry_after_s: 2,
      message: 'Sign-ups of this address: at most 2 an hour. Try again in 2 s.',
    });
    expect(await take('b')).toMatchObject({ remaining: 1 });
    expect(await take('a', { ...hourly, per: 'day' })).toEqual({ limit: 2, remaining: 1, reset_s: 86_400 });
    clock.advance(1_500);
    expect(await take()).toEqual({ limit: 2, remaining: 1, reset_s: 3_600 });
    await database.close();
  });

  test('of a UTC day ends at midnight', async () => {
    const { database, clock, take } = makeRates();
    const daily: Rate = { ...hourly, per: 'utc_day' };
    clock.advance(DAY_MS - (clock.now() % DAY_MS) - 1_000);
    expect(await take('a', daily)).toEqual({ limit: 2, remaining: 1, reset_s: 1 });
    clock.advance(1_000);
    expect(await take('a', daily)).toEqual({ limit: 2, remaining: 1, reset_s: 86_400 });
    await database.close();
  });

  test('survives a restart', async () => {
    const { database, path, clock, take } = makeRates();
    await take();
    await take();
    await database.close();
    const reopened = openDatabase(path);
    const rates = new DurableRates({ database: reopened, clock });
    await expect(reopened.write((tx) => rates.take(tx, 'a', hourly))).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    await reopened.close();
  });

  test('is not used up by what was undone, nor by what it refused, and names nobody', async () => {
    const { database, rates, take, rows } = makeRates();
    const undone = database.write((tx) => {
      rates.take(tx, 'ann@example.com', hourly);
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    expect(rows()).toEqual([]);
    for (let n = 0; n < 2; n += 1) await take('ann@example.com');
    const before = rows();
    await expect(take('ann@example.com')).rejects.toThrow('at most 2');
    expect(rows()).toEqual(before);
    expect(before).toMatchObject([{ used: 2 }]);
    expect(JSON.stringify(before)).not.toContain('ann');
    await database.close();
  });

  test.each([
    ['back', -DAY_MS],
    ['forward', DAY_MS],
  ])('begins a new window when the clock is set %s by a day', async (_name, jump_ms) => {
    const { database, clock, take } = makeRates();
    await take();
    await take();
    clock.advance(jump_ms);
    expect(await take()).toEqual({ limit: 2, remaining: 1, reset_s: 3_600 });
    await database.close();
  });

  test('is forgotten once its window is over, and where it lies too far ahead', async () => {
    const { database, clock, rates, take, rows } = makeRates();
    for (let n = 0; n <= SWEEP_BATCH; n += 1) void take(`caller ${n}`);
    await take('lasting', { ...hourly, per: 'day' });
    clock.advance(HOUR_MS);
    await rates.sweep();
    expect(rows()).toMatchObject([{ used: 1, ends_at: clock.now() + 23 * HOUR_MS }]);
    clock.advance(-2 * DAY_MS);
    await rates.sweep();
    expect(rows()).toEqual([]);
    await database.close();
  });
});
