/** A clock that is set forward or back while the server runs: rates and idempotency keys go by it, and must recover. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../../src/platform/host/clock.ts';
import { RateLimiter } from '../../../src/platform/http/rate-limit.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { TestClock } from '../../support/temp.ts';

describe('rates', () => {
  test.each([
    ['back', -DAY_MS],
    ['forward', DAY_MS],
  ])('a clock set %s begins a new window, and no wait is longer than a minute', (_name, jump_ms) => {
    const clock = new TestClock();
    const limiter = new RateLimiter(clock);
    const rate = { limit: 2, per: 'minute', what: 'Requests' } as const;
    limiter.take('key:1', rate);
    limiter.take('key:1', rate);
    expect(() => limiter.take('key:1', rate)).toThrow('at most 2 a minute');
    clock.advance(jump_ms);
    expect(limiter.peek('key:1', rate)).toEqual({ limit: 2, remaining: 2, reset_s: 60 });
    expect(limiter.take('key:1', rate)).toEqual({ limit: 2, remaining: 1, reset_s: 60 });
  });
});

describe('idempotency keys', () => {
  test('outlive a small step back, and are free a day after a clock that was far ahead is set right', async () => {
    const clock = new TestClock();
    const app = await startTestApp({ clock });
    const key = await (await makeProject(app, 'shop')).key();
    const upload = (idempotency_key: string) => {
      const body = new FormData();
      body.set('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
      return app.call('POST', '/api/v1/objects', {
        key,
        body,
        headers: { 'Idempotency-Key': idempotency_key },
      });
    };
    const first = await upload('a');
    clock.advance(-HOUR_MS);
    expect((await upload('a')).body.public_id).toBe(first.body.public_id);
    clock.advance(400 * DAY_MS);
    const ahead = await upload('b');
    clock.advance(-400 * DAY_MS);
    const again = await upload('b');
    expect([ahead.status, again.status]).toEqual([201, 201]);
    expect(again.body.public_id).not.toBe(ahead.body.public_id);
    clock.advance(400 * DAY_MS);
    await upload('c');
    clock.advance(-400 * DAY_MS);
    await app.services.idempotency.sweep();
    const kept = app.services.database.read.values(
      sql`SELECT idempotency_key FROM idempotent_answers ORDER BY idempotency_key`,
    );
    expect(kept).toEqual([['a'], ['b']]);
  });
});
