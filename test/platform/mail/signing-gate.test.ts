import { describe, expect, test } from 'bun:test';
import { QUIET_AFTER_MS } from '../../../src/limits.ts';
import { type RequestCount, request_count, SigningGate } from '../../../src/platform/mail/signing-gate.ts';
import { startTestApp } from '../../helpers.ts';

function makeGate(processors: number) {
  const requests: RequestCount = new Int32Array(new SharedArrayBuffer(4));
  const clock = { now_ms: 0 };
  const gate = new SigningGate(requests, { processors, monotonicMs: () => clock.now_ms });
  const ends: (() => void)[] = [];
  let running = 0;
  let here = 0;
  const sign = () =>
    gate.pass(
      async () => {
        running += 1;
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
      },
      () => {
        here += 1;
      },
    );
  return {
    request: () => Atomics.add(requests, 0, 1),
    clock,
    sign,
    running: () => running,
    /** Made on the thread that asked. */
    here: () => here,
    async endOne() {
      ends.shift()?.();
      await Bun.sleep(0);
    },
  };
}

test('every request that a route answers is counted', async () => {
  const app = await startTestApp();
  const before = Atomics.load(request_count, 0);
  await app.call('GET', '/api/version');
  expect(Atomics.load(request_count, 0)).toBeGreaterThan(before);
});

describe('the gate of signatures', () => {
  test('lets all pass where no request came', async () => {
    const gate = makeGate(2);
    for (let n = 0; n < 10; n += 1) void gate.sign();
    await Bun.sleep(0);
    expect(gate.running()).toBe(10);
  });

  test('leaves one processor to requests while they come, one to the thread that asks, and none waits for ever', async () => {
    const gate = makeGate(4);
    gate.request();
    const all = Array.from({ length: 10 }, () => gate.sign());
    await Bun.sleep(0);
    for (let left = 10; left > 0; left -= 1) {
      expect(gate.running()).toBe(Math.min(left, 2));
      await gate.endOne();
    }
    await Promise.all(all);
    expect(gate.here()).toBe(0);
  });

  test.each([1, 2])(
    'with %i processors none is left for the pool while requests come',
    async (processors) => {
      const gate = makeGate(processors);
      gate.request();
      for (let n = 1; n <= 3; n += 1) {
        await gate.sign();
        expect([gate.here(), gate.running()]).toEqual([n, 0]);
      }
      gate.clock.now_ms += QUIET_AFTER_MS;
      for (let n = 0; n < 3; n += 1) void gate.sign();
      await Bun.sleep(0);
      expect([gate.here(), gate.running()]).toEqual([3, 3]);
    },
  );

  test('makes one a turn on the thread that asks, so that the rest of its work goes on between', async () => {
    const gate = makeGate(2);
    gate.request();
    const turns: number[] = [];
    const all = Array.from({ length: 5 }, () => gate.sign());
    while (gate.here() < 5) {
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(gate.here());
    }
    await Promise.all(all);
    expect(turns.length).toBeGreaterThan(3);
    expect(turns.every((here, index) => here - (turns[index - 1] ?? 0) <= 1)).toBe(true);
  });

  test('opens again once it has been quiet for a while', async () => {
    const gate = makeGate(3);
    gate.request();
    for (let n = 0; n < 5; n += 1) void gate.sign();
    await Bun.sleep(0);
    expect(gate.running()).toBe(1);
    gate.clock.now_ms += QUIET_AFTER_MS - 1;
    await gate.endOne();
    expect(gate.running()).toBe(1);
    gate.clock.now_ms += 1;
    await gate.endOne();
    expect(gate.running()).toBe(3);
  });

  test('a signature that fails makes room too', async () => {
    const requests: RequestCount = new Int32Array(new SharedArrayBuffer(4));
    const gate = new SigningGate(requests, { processors: 3, monotonicMs: () => 0 });
    Atomics.add(requests, 0, 1);
    const never = () => 'here';
    const failing = gate.pass(() => Promise.reject(new Error('no key')), never);
    const next = gate.pass(() => Promise.resolve('signed'), never);
    expect(await failing.catch((error: unknown) => error)).toMatchObject({ message: 'no key' });
    expect(await next).toBe('signed');
  });
});
