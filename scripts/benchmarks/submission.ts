/** Mail by SMTP: how fast it is taken, what a large message takes, and what others wait for meanwhile. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createTransport } from 'nodemailer';
import {
  compare,
  latencies,
  makeKey,
  memoryMib,
  ms,
  percentile,
  type Row,
  rate,
  reported,
  request,
  row,
  scratchDir,
  spawnListening,
  startSatchel,
  within,
} from './harness.ts';

const MESSAGES = 300;
const CONNECTIONS = 10;
const LISTS = 500;
const LOAD_LIMIT_MS = 60_000;
/** Aims: taken a second, all on disk; what a request may wait meanwhile; what the process may grow by for one of 25 MiB. */
const LEAST_A_SECOND = 300;
const MOST_LIST_MS = 20;
const MOST_GROWTH_MIB = 64;
const FROM = 'shop@bench.example.com';

function messageOf(bytes: number): Buffer {
  const header = `From: ${FROM}\r\nTo: ann@example.org\r\nSubject: Order\r\n\r\n`;
  const line = `${'x'.repeat(76)}\r\n`;
  return Buffer.from(header + line.repeat(Math.floor((bytes - header.length) / line.length)));
}

/** Hands in so many messages and returns how many a second were taken. */
async function handIn(port: number, pass: string, count: number, raw: Buffer): Promise<number> {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port, auth: { user: 'bench', pass }, ignoreTLS: true },
    ...{ pool: true, maxConnections: CONNECTIONS, maxMessages: Number.POSITIVE_INFINITY },
  });
  const envelope = { from: FROM, to: ['ann@example.org'] };
  const started = performance.now();
  const sends = Array.from({ length: count }, () => transport.sendMail({ envelope, raw }));
  await within(LOAD_LIMIT_MS, 'handing in', Promise.all(sends));
  transport.close();
  return count / ((performance.now() - started) / 1000);
}

export async function measureSubmission(): Promise<Row[]> {
  // The relay takes connections and says nothing, so that what is measured is taking alone.
  const listen = () => Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const silent = listen();
  const free = listen();
  const { port } = free;
  free.stop(true);
  const satchel = await startSatchel({ SATCHEL_SMTP_PORT: String(port) });
  const key = await makeKey(satchel);
  await satchel.cli('domain', 'add', 'bench.example.com', '--default', '--trust');
  await satchel.cli('mailbox', 'add', FROM, '--smtp', `smtp://127.0.0.1:${silent.port}`);
  const baseline = await spawnListening(['bun', resolve(import.meta.dir, 'smtp-baseline.ts'), scratchDir()]);
  const small = messageOf(10_000);
  // A process that has just started would be measured at compiling.
  await handIn(port, key, 3 * MESSAGES, small);
  const ours = () => handIn(port, key, MESSAGES, small);
  const speed = await compare(ours, () => handIn(Number(new URL(baseline.url).port), 'x', MESSAGES, small), {
    warm_up: true,
  });

  const list = () => request(`${satchel.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  await latencies(LISTS, list);
  const idle = percentile(await latencies(LISTS, list, 2), 0.99);
  let is_over = false;
  const busy = (async () => {
    while (!is_over) await ours();
  })();
  const beside = percentile(await latencies(LISTS, list, 2), 0.99);
  is_over = true;
  await busy;

  const before = memoryMib(satchel.pid, 'VmRSS');
  // The peak counts from here on (proc(5)).
  writeFileSync(`/proc/${satchel.pid}/clear_refs`, '5');
  await handIn(port, key, 1, messageOf(25 * 1024 * 1024));
  const growth = memoryMib(satchel.pid, 'VmHWM') - before;
  await Promise.all([satchel.stop(), baseline.stop()]);
  silent.stop(true);
  return [
    row('messages of 10 KB by SMTP on ten connections, each on disk, against a bare smtp-server', {
      ...{ ours: rate(speed.ours), baseline: rate(speed.baseline), ratio: speed.ours / speed.baseline },
    }),
    reported('the same, as such', rate(speed.ours), `>= ${LEAST_A_SECOND}/s`, speed.ours >= LEAST_A_SECOND),
    {
      ...row('p99 of a list meanwhile, against idle', {
        ours: ms(beside),
        baseline: ms(idle),
        ratio: beside / idle,
      }),
      ...{ target: `<= ${MOST_LIST_MS} ms`, is_met: beside <= MOST_LIST_MS },
    },
    reported(
      'what memory grows by for a message of 25 MiB by SMTP',
      `${growth.toFixed(0)} MiB`,
      `<= ${MOST_GROWTH_MIB} MiB`,
      growth <= MOST_GROWTH_MIB,
    ),
  ];
}
