/** Email: accepting, draining the queue to a local sink, and what a backlog does to everybody else. */
import { resolve } from 'node:path';
import {
  compare,
  latencies,
  load,
  makeKey,
  median,
  ms,
  percentile,
  type Row,
  rate,
  request,
  row,
  type Satchel,
  scratchDir,
  spawnListening,
  startSatchel,
  within,
} from './harness.ts';

const ACCEPTED = 3_000;
const BATCH = 100;
const DRAINED = 5_000;
const BACKLOG = 50_000;
const RESETS = 10;
/** Lists timed for a p99: of fewer, it is the noise of a handful. */
const LISTS = 1_500;
/** A p99 is the median of this many, at rest and under load alike: one of them swings by half. */
const P99_REPEATS = 3;
/** A drain that has not ended by then has stalled. */
const DRAIN_LIMIT_MS = 90_000;
const HTML = '<p>Hello there, your order 1234567 is on its way.</p>'.repeat(10);
const TEXT = 'Hello there, your order 1234567 is on its way.\n'.repeat(10);

interface SinkState {
  count: number;
  first_ms: number;
  last_ms: number;
  marked: Record<string, number>;
  /** The tokens of the first link of the newest mails. */
  links: string[];
}

export interface Sink {
  port: string;
  state(): Promise<SinkState>;
  reset(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
  const child = Bun.spawn(['bun', resolve(import.meta.dir, 'sink.ts')], { stdout: 'pipe' });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const [, url = '', port = ''] = /(\S+) smtp (\d+)/.exec(new TextDecoder().decode(value)) ?? [];
  return {
    port,
    state: async () => (await (await request(url)).json()) as SinkState,
    reset: () => request(url, { method: 'DELETE' }),
    async stop() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** A bare nodemailer pool in a process of its own, which ends once it has sent that many mails. */
export function startPool(sink: Sink, count: number, is_signed: boolean) {
  const options = is_signed ? ['dkim'] : [];
  return Bun.spawn(['bun', resolve(import.meta.dir, 'pool.ts'), sink.port, String(count), ...options]);
}

export async function measureEmails(): Promise<Row[]> {
  return [...(await measureAcceptance()), ...(await measureDrain()), ...(await measureBacklog())];
}

export async function addMailbox(satchel: Satchel, port: number | string): Promise<void> {
  await satchel.cli('domain', 'add', 'bench.example.com', '--default', '--trust');
  await satchel.cli('mailbox', 'add', 'shop@bench.example.com', '--smtp', `smtp://127.0.0.1:${port}`);
}

export function send(
  satchel: Satchel,
  key: string,
  body: Record<string, unknown>,
  how: 'send' | 'batch' = 'send',
): Promise<Response> {
  return request(`${satchel.url}/api/v1/emails/${how}`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

export const orderMail = (n: number) => ({
  to: `user${n}@example.org`,
  subject: `Order ${n}`,
  body_html: HTML,
  body_text: TEXT,
});

/** The relay takes connections and says nothing, so that what is measured is accepting alone. */
async function measureAcceptance(): Promise<Row[]> {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const satchel = await startSatchel();
  const key = await makeKey(satchel);
  await addMailbox(satchel, silent.port);
  const template = {
    name: 'Order',
    category: 'transactional',
    subject: 'Order {{ n }}',
    body_html: HTML.replace('1234567', '{{ n }}'),
    body_text: TEXT.replace('1234567', '{{ n }}'),
  };
  const made = await request(`${satchel.url}/api/v1/emails/templates`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
    body: JSON.stringify(template),
  });
  if (made.status !== 201) throw new Error(`the template was not made: ${await made.text()}`);
  const baseline = await spawnListening([
    'bun',
    resolve(import.meta.dir, 'baseline.ts'),
    'insert',
    scratchDir(),
  ]);
  const raw = () => load(ACCEPTED, 202, (n) => send(satchel, key, orderMail(n)));
  const bare = () =>
    load(ACCEPTED, 202, (n) => request(baseline.url, { method: 'POST', body: JSON.stringify(orderMail(n)) }));
  const templated = () =>
    load(ACCEPTED, 202, (n) =>
      send(satchel, key, { to: `user${n}@example.org`, template: 'order', variables: { n } }),
    );
  const speed = await compare(raw, bare, { warm_up: true });
  const templates = await compare(templated, raw, { warm_up: true });
  const batch = Array.from({ length: BATCH }, (_, n) => orderMail(n));
  const batches = await compare(
    async () =>
      BATCH * (await load(ACCEPTED / BATCH, 202, () => send(satchel, key, { emails: batch }, 'batch'))),
    raw,
    { warm_up: true },
  );
  await Promise.all([satchel.stop(), baseline.stop()]);
  silent.stop(true);
  return [
    row('POST /emails/send 202, 32 at once, durable', {
      ours: rate(speed.ours),
      baseline: rate(speed.baseline),
      ratio: speed.ours / speed.baseline,
      at_least: 1,
    }),
    row('template sends against raw ones', {
      ours: rate(templates.ours),
      baseline: rate(templates.baseline),
      ratio: templates.ours / templates.baseline,
      at_least: 0.8,
    }),
    row('mails in batches of 100 against one by one', {
      ours: rate(batches.ours),
      baseline: rate(batches.baseline),
      ratio: batches.ours / batches.baseline,
      at_least: 2,
    }),
  ];
}

/** Accepts `count` mails that are all due at one moment, and returns that moment. */
async function scheduleMails(satchel: Satchel, key: string, count: number, in_ms: number): Promise<number> {
  const due = Date.now() + in_ms;
  const scheduled_at = new Date(due).toISOString();
  await load(count, 201, (n) => send(satchel, key, { ...orderMail(n), scheduled_at }));
  if (Date.now() > due) throw new Error('accepting took longer than the mails were to wait');
  return due;
}

export async function waitFor(sink: Sink, count: number): Promise<SinkState> {
  const give_up_at = Date.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const state = await sink.state();
    if (state.count >= count) return state;
    if (Date.now() > give_up_at) throw new Error(`the sink got ${state.count} of ${count} mails and no more`);
    await Bun.sleep(100);
  }
}

async function measureDrain(): Promise<Row[]> {
  const sink = await startSink();
  const satchel = await startSatchel();
  const key = await makeKey(satchel);
  await addMailbox(satchel, sink.port);
  const list = () => request(`${satchel.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  await latencies(300, list);
  const idle = await medianP99(() => latencies(LISTS, list, 2));
  const speedOf = (state: SinkState): number => DRAINED / ((state.last_ms - state.first_ms) / 1000);
  /** How long the mails are to wait: all of them must be accepted before the first is due, on a slow machine too. */
  let wait_ms = 20_000;
  /** Drains once more; `meanwhile` is what is done to the server until all mails are through. */
  const drain = async (meanwhile: () => Promise<unknown>): Promise<SinkState> => {
    await sink.reset();
    const begun = Date.now();
    const due = await scheduleMails(satchel, key, DRAINED, wait_ms);
    wait_ms = Math.max(5_000, 3 * (Date.now() - begun));
    await Bun.sleep(Math.max(0, due - Date.now()));
    const give_up_at = Date.now() + DRAIN_LIMIT_MS;
    let state = await sink.state();
    while (state.count < DRAINED) {
      if (Date.now() > give_up_at) throw new Error(`the queue stalled after ${state.count} mails`);
      await meanwhile();
      state = await sink.state();
    }
    return state;
  };
  const ours = async (): Promise<number> => speedOf(await drain(() => Bun.sleep(100)));
  const watch = async (): Promise<number[]> => {
    const watched: number[] = [];
    await drain(async () => watched.push(...(await latencies(20, list, 2))));
    return watched;
  };
  const bare = (is_signed: boolean) => async (): Promise<number> => {
    await sink.reset();
    await within(DRAIN_LIMIT_MS, 'the bare pool', startPool(sink, DRAINED, is_signed).exited);
    return speedOf(await waitFor(sink, DRAINED));
  };
  /** What the machine makes of it when another process sends as much and Satchel only answers. */
  const watchPool = async (): Promise<number[]> => {
    const watched: number[] = [];
    const child = startPool(sink, DRAINED, true);
    while (child.exitCode === null) watched.push(...(await latencies(20, list, 2)));
    return watched;
  };
  const plain = await compare(ours, bare(false));
  const signed = await compare(ours, bare(true));
  const p99 = await medianP99(watch);
  const beside_pool = await medianP99(watchPool);
  await Promise.all([satchel.stop(), sink.stop()]);
  return [
    row('queue to a local sink, 5,000 mails with DKIM, against a bare nodemailer pool without', {
      ours: rate(plain.ours),
      baseline: rate(plain.baseline),
      ratio: plain.ours / plain.baseline,
    }),
    row('the same against a bare nodemailer pool with DKIM', {
      ours: rate(signed.ours),
      baseline: rate(signed.baseline),
      ratio: signed.ours / signed.baseline,
      at_least: 1,
    }),
    row('p99 of a list during such a drain against idle', {
      ours: ms(p99),
      baseline: ms(idle),
      ratio: p99 / idle,
      // Below 10 ms where it is below 1 at rest.
      at_most: 10,
    }),
    row('p99 of a list while the bare pool with DKIM sends, and Satchel nothing', {
      ours: ms(beside_pool),
      baseline: ms(idle),
      ratio: beside_pool / idle,
    }),
  ];
}

async function medianP99(watch: () => Promise<number[]>): Promise<number> {
  const p99s: number[] = [];
  for (let n = 0; n < P99_REPEATS; n += 1) p99s.push(percentile(await watch(), 0.99));
  return median(p99s);
}

/** A backlog of one project, and password resets of another in the middle of it. */
async function measureBacklog(): Promise<Row[]> {
  const sink = await startSink();
  const satchel = await startSatchel();
  const key = await makeKey(satchel, 'bulk');
  const other = await makeKey(satchel, 'other');
  await addMailbox(satchel, sink.port);
  const list = () => request(`${satchel.url}/api/v1/objects`, { headers: { 'X-API-Key': other } });
  await latencies(300, list);
  const idle = await medianP99(() => latencies(LISTS, list, 2));
  const due = await scheduleMails(satchel, key, BACKLOG, 45_000);
  const waiting = await medianP99(() => latencies(LISTS, list, 2));
  if (Date.now() > due) throw new Error('the lists took longer than the mails were to wait');
  await Bun.sleep(Math.max(0, due - Date.now()) + 500);
  const sent = new Map<string, number>();
  const resetAndList = async (): Promise<number[]> => {
    const watched: number[] = [];
    for (let n = 0; n < RESETS; n += 1) {
      const mark = `mark-${sent.size}`;
      sent.set(mark, Date.now());
      const mail = { to: 'someone@example.org', subject: mark, body_text: 'Reset your password.' };
      await (await send(satchel, other, mail)).arrayBuffer();
      watched.push(...(await latencies(LISTS / RESETS, list, 2)));
    }
    return watched;
  };
  const p99 = await medianP99(resetAndList);
  await Bun.sleep(1_500);
  const state = await sink.state();
  const delays = [...sent].map(([mark, at]) => (state.marked[mark] ?? Number.POSITIVE_INFINITY) - at);
  const backlog_left = BACKLOG - state.count;
  await Promise.all([satchel.stop(), sink.stop()]);
  if (backlog_left <= 0) throw new Error('the backlog was gone before the password resets were through');
  const slowest = Math.max(...delays);
  return [
    row('p99 of a list while 50,000 mails wait for their time against idle', {
      ours: ms(waiting),
      baseline: ms(idle),
      ratio: waiting / idle,
      at_most: 3,
    }),
    row('slowest password reset behind 50,000 mails of another project, against 1 s', {
      ours: ms(slowest),
      baseline: '1000 ms',
      ratio: slowest / 1000,
      at_most: 1,
    }),
    row('p99 of a list while those go out, against idle', {
      ours: ms(p99),
      baseline: ms(idle),
      ratio: p99 / idle,
      at_most: 3,
    }),
  ];
}
