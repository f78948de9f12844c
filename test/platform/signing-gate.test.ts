import { describe, expect, test } from 'bun:test';
import { QUIET_AFTER_MS } from '../../src/limits.ts';
import { type RequestCount, request_count, SigningGate } from '../../src/platform/signing-gate.ts';
import { startTestApp } from '../helpers.ts';

function makeGate(processors: number) {
  const requests: RequestCount = new Int32Array(new SharedArrayBuffer(4));
  const clock = { now_ms: 0 };
  const gate = new SigningGate(requests, { processors, monotonicMs: () => clock.now_ms });
  const ends: (() => void)[] = [];
  let running = 0;
  const sign = () =>
    gate.pass(async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    });
  return {
    request: () => Atomics.add(requests, 0, 1),
    clock,
    sign,
    running: () => running,
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

  test('leaves one processor to requests while they come, and none waits for ever', async () => {
    const gate = makeGate(4);
    gate.request();
    const all = Array.from({ length: 10 }, () => gate.sign());
    await Bun.sleep(0);
    for (let left = 10; left > 0; left -= 1) {
      expect(gate.running()).toBe(Math.min(left, 3));
      await gate.endOne();
    }
    await Promise.all(all);
  });

  test('with one processor still makes one at a time', async () => {
    const gate = makeGate(1);
    gate.request();
    void gate.sign();
    void gate.sign();
    await Bun.sleep(0);
    expect(gate.running()).toBe(1);
    await gate.endOne();
    expect(gate.running()).toBe(1);
  });

  test('opens again once it has been quiet for a while', async () => {
    const gate = makeGate(2);
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
    const gate = new SigningGate(requests, { processors: 1, monotonicMs: () => 0 });
    Atomics.add(requests, 0, 1);
    const failing = gate.pass(() => Promise.reject(new Error('no key')));
    const next = gate.pass(() => Promise.resolve('signed'));
    expect(await failing.catch((error: unknown) => error)).toMatchObject({ message: 'no key' });
    expect(await next).toBe('signed');
  });
});
