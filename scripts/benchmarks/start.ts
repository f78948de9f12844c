/** What a verb, a start and a minute at rest cost, against the least program: SQLite opened and a listener by Bun. */
import { join } from 'node:path';
import {
  BINARY,
  compare,
  memoryMib,
  ms,
  processorMs,
  type Row,
  reported,
  row,
  runCli,
  scratchDir,
  spawnListening,
} from './harness.ts';

const LEAST = join(import.meta.dir, 'baseline.ts');
/** By then what a start leaves for later is done. */
const SETTLED_MS = 3_000;
const REST_S = 30;
const MINUTE_MS = 60_000;

export async function measureStart(): Promise<Row[]> {
  const dir = scratchDir();
  const serve = () =>
    spawnListening([BINARY, 'serve', '--port', '0'], { SATCHEL_DATA_DIR: dir, SATCHEL_LOG_LEVEL: 'warn' });
  const least = () => spawnListening([process.execPath, LEAST, 'upload', scratchDir()]);
  await (await serve()).stop();
  await runCli(dir, ['project', 'create', '--name', 'shop']);
  const empty = () => processorOf([process.execPath, '-e', '']);
  const rows: Row[] = [];
  for (const [args, target_ms] of [
    [['--help'], 30],
    [['key', 'list', '--project', 'shop', '--data-dir', dir], 130],
  ] as const) {
    const taken = await compare(() => processorOf([BINARY, ...args]), empty, { warm_up: true });
    const is_met = taken.ours <= target_ms;
    rows.push({
      work: `processor time of satchel ${args.slice(0, 2).join(' ')}, against a Bun that does nothing`,
      ours: ms(taken.ours),
      baseline: ms(taken.baseline),
      ratio: taken.ours / taken.baseline,
      target: `<= ${target_ms} ms`,
      is_met,
    });
  }
  const wall = await compare(
    () => timeOf(serve),
    () => timeOf(least),
    { warm_up: true },
  );
  const cost = await compare(
    () => costOf(serve),
    () => costOf(least),
  );
  const rest = await restOf(serve);
  return [
    ...rows,
    row('from the start to listening, against the least program', {
      ours: ms(wall.ours),
      baseline: ms(wall.baseline),
      ratio: wall.ours / wall.baseline,
    }),
    row('processor time of a start and 3 s, against the least program', {
      ours: ms(cost.ours),
      baseline: ms(cost.baseline),
      ratio: cost.ours / cost.baseline,
    }),
    reported(
      'processor time of a minute at rest',
      ms(rest.processor_ms),
      '<= 30 ms',
      rest.processor_ms <= 30,
    ),
    reported('memory at rest', `${rest.memory_mib.toFixed(0)} MiB`, '<= 92 MiB', rest.memory_mib <= 92),
  ];
}

type Start = () => ReturnType<typeof spawnListening>;

async function processorOf(command: string[]): Promise<number> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
  await child.exited;
  return Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1_000;
}

async function timeOf(start: Start): Promise<number> {
  const began = performance.now();
  const { stop } = await start();
  const taken = performance.now() - began;
  await stop();
  return taken;
}

async function costOf(start: Start): Promise<number> {
  const { child, stop } = await start();
  await Bun.sleep(SETTLED_MS);
  const taken = processorMs(child.pid);
  await stop();
  return taken;
}

async function restOf(start: Start): Promise<{ processor_ms: number; memory_mib: number }> {
  const { child, stop } = await start();
  await Bun.sleep(4 * SETTLED_MS);
  const before = processorMs(child.pid);
  await Bun.sleep(REST_S * 1_000);
  const processor_ms = ((processorMs(child.pid) - before) * MINUTE_MS) / (REST_S * 1_000);
  const memory_mib = memoryMib(child.pid, 'VmRSS');
  await stop();
  return { processor_ms, memory_mib };
}
