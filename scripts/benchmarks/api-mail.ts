/** Mail by API from its request to the relay: accepted, begun, sent and settled, each step on disk. */
import { resolve } from 'node:path';
import { addMailbox, orderMail, send, startSink, waitFor } from './emails.ts';
import {
  compare,
  leftOut,
  load,
  makeKey,
  ms,
  processorMs,
  type Row,
  rate,
  reported,
  request,
  row,
  spawnListening,
  startSatchel,
} from './harness.ts';
import { writtenBy } from './sequences.ts';

const MAILS = 8_000;
/** What a mail of listmonk's takes of the processor, and its share that is aimed at by the clock. */
const MOST_PROCESSOR_MS = 1.3;
const LEAST_RATIO = 0.8;
/** What was answered last settles after its answer. */
const SETTLED_MS = 500;

export async function measureApiMail(): Promise<Row[]> {
  leftOut("listmonk's /api/tx", 'the newest release of listmonk that Go can name, v1.1.0, has none');
  const sink = await startSink();
  const satchel = await startSatchel();
  const key = await makeKey(satchel);
  await addMailbox(satchel, `${sink.port}?dkim=off`);
  const baseline = await spawnListening(['bun', resolve(import.meta.dir, 'mail-baseline.ts'), sink.port]);
  const processor = new Map([
    [satchel.pid, [] as number[]],
    [baseline.child.pid, [] as number[]],
  ]);
  const written: number[] = [];
  /** Mails a second, from the first request until the relay has all. */
  const through = async (pid: number, ask: (n: number) => Promise<Response>): Promise<number> => {
    await sink.reset();
    const before = { processor: processorMs(pid), written: writtenBy(satchel.pid) };
    const started_ms = Date.now();
    await load(MAILS, 202, ask);
    const { last_ms } = await waitFor(sink, MAILS);
    await Bun.sleep(SETTLED_MS);
    processor.get(pid)?.push((processorMs(pid) - before.processor) / MAILS);
    if (pid === satchel.pid) written.push((writtenBy(pid) - before.written) / MAILS / 1024);
    return MAILS / ((last_ms - started_ms) / 1_000);
  };
  const speed = await compare(
    () => through(satchel.pid, (n) => send(satchel, key, orderMail(n))),
    () =>
      through(baseline.child.pid, (n) =>
        request(baseline.url, { method: 'POST', body: JSON.stringify(orderMail(n)) }),
      ),
    { warm_up: true },
  );
  await Promise.all([satchel.stop(), baseline.stop(), sink.stop()]);
  const [ours = 0, bare = 0] = [...processor.values()].map((each) => Math.min(...each));
  return [
    row('mail by API, 32 at once, to the relay, against a bare program that keeps nothing', {
      ours: rate(speed.ours),
      baseline: rate(speed.baseline),
      ratio: speed.ours / speed.baseline,
      at_least: LEAST_RATIO,
    }),
    reported(
      'processor for each mail by API (the bare program)',
      `${ms(ours)} (${ms(bare)})`,
      `<= ${MOST_PROCESSOR_MS} ms`,
      ours <= MOST_PROCESSOR_MS,
    ),
    reported('written to disk for each mail by API', `${Math.min(...written).toFixed(1)} KiB`),
  ];
}
