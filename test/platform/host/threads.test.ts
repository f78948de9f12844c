/** Threads of our own: requests and answers by their numbers, failures by their kinds, and what becomes of both where one ends. */
import { afterEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askOnce, Thread, ThreadEnded } from '../../../src/platform/host/threads.ts';
import { makeTempDir } from '../../support/temp.ts';

const SRC = join(import.meta.dir, '../../../src');
/** Waits as long as it is asked to, in milliseconds; a text is thrown as an error of that kind, `null` ends it. */
const CODE = `
  import { AppError } from '${SRC}/errors.ts';
  import { serve } from '${SRC}/platform/host/threads.ts';
  const heard = [];
  const tell = serve(async (ask) => {
    if (ask === null) process.exit(1);
    if (ask === 'heard') return heard;
    if (typeof ask === 'string') throw ask === 'odd' ? new Error('odd') : new AppError(ask, 'no');
    heard.push(ask);
    tell('began ' + ask);
    await Bun.sleep(ask);
    return ask;
  });
`;
const file = join(makeTempDir(), 'thread.ts');
writeFileSync(file, CODE);
const start = (): Worker => new Worker(file);
type Ask = number | string | null;

const threads: Thread<Ask, unknown, string>[] = [];
afterEach(() => {
  for (const thread of threads.splice(0)) thread.end(new Error('over'));
});

function make(told: string[] = []): { thread: Thread<Ask, unknown, string>; log: string[] } {
  const log: string[] = [];
  const thread = new Thread<Ask, unknown, string>({
    start,
    idle_stop_ms: 60_000,
    onStart: () => log.push('start'),
    onNotice: (words) => told.push(words),
    onCrash: () => log.push('crash'),
    onEnd: () => log.push('end'),
  });
  threads.push(thread);
  return { thread, log };
}
const outcomeOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test('each request gets its own answer, in whatever order they come, and what is told unasked is heard', async () => {
  const told: string[] = [];
  const { thread } = make(told);
  expect(await Promise.all([thread.ask(40), thread.ask(1)])).toEqual([40, 1]);
  expect(told).toEqual(['began 40', 'began 1']);
  thread.tell(2);
  expect(await thread.ask('heard')).toEqual([40, 1, 2]);
});

test('what it throws arrives with its kind, and as internal where it has none', async () => {
  const { thread } = make();
  expect(await outcomeOf(thread.ask('not_found'))).toMatchObject({ kind: 'not_found', message: 'no' });
  expect(await outcomeOf(thread.ask('odd'))).toMatchObject({ kind: 'internal', message: 'odd' });
  expect(await thread.ask(1)).toBe(1);
});

test('where it ends by itself whoever waits is told, and the next request starts another', async () => {
  const { thread, log } = make();
  const waiting = outcomeOf(thread.ask(60_000));
  expect(await outcomeOf(thread.ask(null))).toBeInstanceOf(ThreadEnded);
  expect(await waiting).toBeInstanceOf(ThreadEnded);
  expect(log).toEqual(['start', 'crash', 'end']);
  expect(await thread.ask(1)).toBe(1);
  expect(log).toEqual(['start', 'crash', 'end', 'start']);
});

test('where it is ended whoever waits gets the reason, and that is no crash', async () => {
  const { thread, log } = make();
  const waiting = outcomeOf(thread.ask(60_000));
  thread.end(new Error('enough'));
  expect(await waiting).toEqual(new Error('enough'));
  expect([thread.is_running, log]).toEqual([false, ['start', 'end']]);
});

test('one that is asked once ends with its answer', async () => {
  const ended = Promise.withResolvers<unknown>();
  const startOne = (): Worker => {
    const worker = start();
    worker.addEventListener('close', ended.resolve);
    return worker;
  };
  expect(await askOnce<Ask, unknown>(startOne, 1)).toBe(1);
  await ended.promise;
});
