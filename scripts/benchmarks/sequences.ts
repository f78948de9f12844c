/** Sequences: enrolling, planning what is due, sending a step, and what a million who wait cost. */
import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DnsServer, startDnsServer } from '../../test/support/dns-server.ts';
import { fillQuickly } from './contacts.ts';
import { startPool, startSink } from './emails.ts';
import {
  latencies,
  makeKey,
  median,
  ms,
  percentile,
  processorMs,
  type Row,
  rate,
  reported,
  request,
  row,
  type Satchel,
  scratchDir,
  startSatchel,
  within,
} from './harness.ts';

export const STEP_MAILS = 20_000;
const ENROLLED = 100_000;
const WAITING = 1_000_000;
const STEP_REPEATS = 3;
/** How long an idle server's processor is watched. */
const IDLE_MS = 20_000;
/** What a step of 20,000 mails, or planning 100,000, may take at worst. */
export const LIMIT_MS = 180_000;
export const DOMAIN = 'news.example.com';
export const HTML = `<h1>Hello {{first_name}}</h1>${'<p>Ten things that you did not know about your order.</p>'.repeat(20)}
  <p><a href="https://shop.example.com/look">Look</a> or <a href="https://shop.example.com/more">read on</a>.</p>`;

export interface Bench {
  satchel: Satchel;
  list: string;
  key: string;
  sequence: string;
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Its numbers. */
  stats(): Promise<Record<string, number>>;
}

export async function measureSequences(): Promise<Row[]> {
  const dns = await startDnsServer();
  try {
    return [
      ...(await measureSteps(dns)),
      ...(await measureEnrolling(dns)),
      ...(await measurePlanning(dns)),
      ...(await measureWaiting(dns)),
    ];
  } finally {
    await dns.stop();
  }
}

/**
 * A server with an active sequence of one step, which is due `delay_hours` after the enrollment, and a list of contacts.
 * `relay` is where its mail goes.
 */
export async function start(
  dns: DnsServer,
  of: { relay: string; contacts: number; delay_hours?: number; condition?: Record<string, unknown> },
): Promise<Bench> {
  const data_dir = scratchDir();
  const env = { SATCHEL_DNS_SERVERS: dns.address };
  let satchel = await startSatchel(env, data_dir);
  const key = await makeKey(satchel);
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${satchel.url}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key },
      signal: AbortSignal.timeout(LIMIT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const answer = (await response.json()) as Record<string, unknown>;
    return (answer.data ?? answer) as Record<string, unknown>;
  };
  const { records } = await satchel.cli('domain', 'add', DOMAIN, '--default', '--trust');
  await satchel.cli('mailbox', 'add', `hello@${DOMAIN}`, '--smtp', of.relay, '--for', 'marketing');
  for (const { name, value } of records as { name: string; value: string }[]) dns.set(name, { txt: [value] });
  await call('PATCH', '/email-marketing/settings', {
    ...{ enabled: true, from_name: 'Shop', postal_address: '1 High Street, Springfield' },
  });
  await call('POST', '/emails/templates', {
    ...{ name: 'hello', slug: 'hello', category: 'marketing', is_marketing: true, layout: 'marketing' },
    ...{
      subject: 'Hello {{first_name}}',
      body_html: HTML,
      body_text: 'Look at https://shop.example.com/look',
    },
  });
  const list = String(
    (await call('POST', '/email-lists', { name: 'l', default_consent_basis: 'consent' })).id,
  );
  const { delay_hours = 0, condition = { type: 'always' } } = of;
  const step = { key: 'hello', template: 'hello', delay_hours, condition, is_final: true };
  const draft = { name: 'bench', list, max_recipients: 10_000_000, steps: [step] };
  const sequence = String((await call('POST', '/email-sequences', draft)).id);
  await call('POST', `/email-sequences/${sequence}/activate`);
  await satchel.stop();
  const db = new Database(join(data_dir, 'satchel.db'), { strict: true });
  fillQuickly(db, [{ list: 1, count: of.contacts, prefix: 'p' }]);
  db.close();
  satchel = await startSatchel(env, data_dir);
  const stats = async () =>
    (await call('GET', `/email-sequences/${sequence}`)).stats as Record<string, number>;
  return { satchel, list, key, sequence, call, stats };
}

const databaseOf = ({ satchel }: Bench): string => join(satchel.data_dir, 'satchel.db');

/** A relay that takes connections and says nothing, so that what is measured ends with the accepted mail. */
function startSilentRelay() {
  const socket = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  return { url: `smtp://127.0.0.1:${socket.port}`, stop: () => socket.stop(true) };
}

/* --- A step ------------------------------------------------------------------------------------------------------- */

async function measureSteps(dns: DnsServer): Promise<Row[]> {
  const unsigned = await repeatStep(dns, false);
  const signed = await repeatStep(dns, true);
  const speed = (work: string, steps: Steps, least: number): Row => {
    const [ours, baseline] = [median(steps.speeds), median(steps.baselines)];
    const parts = { ours: rate(ours), baseline: rate(baseline), ratio: ours / baseline };
    return { ...row(work, parts), target: `>= ${least}/s`, is_met: ours >= least };
  };
  return [
    speed(
      'a step of 20,000 mails to a local sink, without DKIM, against a bare nodemailer pool',
      unsigned,
      2_500,
    ),
    speed('the same with DKIM, against such a pool with DKIM', signed, 1_300),
    reported('bytes that each of them leaves in the database', `${median(signed.left).toFixed(0)} B`),
    reported('bytes written to disk for each, log and database', `${median(signed.written).toFixed(0)} B`),
  ];
}

interface Steps {
  speeds: number[];
  /** Of a pool that sends as many, and keeps nothing. */
  baselines: number[];
  left: number[];
  written: number[];
}

async function repeatStep(dns: DnsServer, is_signed: boolean): Promise<Steps> {
  const steps: Steps = { speeds: [], baselines: [], left: [], written: [] };
  for (let n = 0; n < STEP_REPEATS; n += 1) {
    const { speed, left, written } = await sendStep(dns, is_signed);
    steps.baselines.push(await sendByPool(is_signed));
    steps.speeds.push(speed);
    steps.left.push(left);
    steps.written.push(written);
  }
  return steps;
}

/** From the moment in which all fall due to the last mail at the sink: planning, accepting and sending them. */
async function sendStep(dns: DnsServer, is_signed: boolean) {
  const sink = await startSink();
  const options = is_signed ? '' : '?dkim=off';
  const bench = await start(dns, { relay: `smtp://127.0.0.1:${sink.port}${options}`, contacts: STEP_MAILS });
  await bench.call('POST', `/email-sequences/${bench.sequence}/pause`);
  await bench.call('POST', `/email-sequences/${bench.sequence}/enroll`, { all: true });
  const before = { bytes: sizeOf(bench), written: writtenBy(bench.satchel.pid) };
  const started_ms = Date.now();
  await bench.call('POST', `/email-sequences/${bench.sequence}/resume`);
  let state = await sink.state();
  while (state.count < STEP_MAILS) {
    if (Date.now() > started_ms + LIMIT_MS) throw new Error(`the sink got ${state.count} mails and no more`);
    await Bun.sleep(100);
    state = await sink.state();
  }
  const speed = STEP_MAILS / ((state.last_ms - started_ms) / 1_000);
  await waitUntil(async () => (await bench.stats()).sent === STEP_MAILS);
  const written = (writtenBy(bench.satchel.pid) - before.written) / STEP_MAILS;
  const left = (sizeOf(bench) - before.bytes) / STEP_MAILS;
  await Promise.all([bench.satchel.stop(), sink.stop()]);
  return { speed, left, written };
}

/** Mails a second of a nodemailer pool that keeps nothing. */
export async function sendByPool(is_signed: boolean): Promise<number> {
  const sink = await startSink();
  const pool = startPool(sink, STEP_MAILS, is_signed);
  await within(LIMIT_MS, 'the bare pool', pool.exited);
  const { first_ms, last_ms } = await sink.state();
  await sink.stop();
  return STEP_MAILS / ((last_ms - first_ms) / 1_000);
}

/** Bytes of the pages in use, those in the log too. */
function sizeOf(bench: Bench): number {
  const db = new Database(databaseOf(bench), { readonly: true });
  const pragma = (name: string) => Number(db.query(`PRAGMA ${name}`).values()[0]?.[0]);
  const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
  db.close();
  return bytes;
}

/** Bytes that a process had the kernel write to disk: nothing else of it writes files here. */
export function writtenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

export async function waitUntil(is_so: () => Promise<boolean>, every_ms = 50): Promise<void> {
  const give_up_ms = Date.now() + LIMIT_MS;
  while (!(await is_so())) {
    if (Date.now() > give_up_ms) throw new Error('what was waited for did not come');
    await Bun.sleep(every_ms);
  }
}

/* --- Enrolling ---------------------------------------------------------------------------------------------------- */

async function measureEnrolling(dns: DnsServer): Promise<Row[]> {
  const speeds = { ours: [] as number[], baseline: [] as number[] };
  const relay = startSilentRelay();
  for (let n = 0; n < STEP_REPEATS; n += 1) {
    const bench = await start(dns, { relay: relay.url, contacts: ENROLLED, delay_hours: 1 });
    speeds.baseline.push(insertAll(bench));
    const started = performance.now();
    const { enrolled } = await bench.call('POST', `/email-sequences/${bench.sequence}/enroll`, { all: true });
    if (enrolled !== ENROLLED) throw new Error(`${enrolled} contacts were enrolled`);
    speeds.ours.push(ENROLLED / ((performance.now() - started) / 1_000));
    await bench.satchel.stop();
  }
  relay.stop();
  const [ours, baseline] = [median(speeds.ours), median(speeds.baseline)];
  return [
    row('enrolling 100,000 contacts against one INSERT SELECT', {
      ...{ ours: rate(ours), baseline: rate(baseline), ratio: ours / baseline, at_least: 0.3 },
    }),
  ];
}

const INSERT_ALL = `INSERT INTO enrollments (public_id, sequence_id, contact_id, state, track, step, counts_from, next_at, enrolled_at)
  SELECT printf('0ENROLL%019d', id), 1, id, 'active', 'main', 'hello', :now, :now + :delay_ms, :now FROM contacts`;

/** Contacts a second of one statement on a copy of the database. */
function insertAll(bench: Bench): number {
  const copy = join(scratchDir(), 'baseline.db');
  const original = new Database(databaseOf(bench));
  original.run(`VACUUM INTO '${copy}'`);
  original.close();
  const db = new Database(copy, { strict: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  const started = performance.now();
  db.query(INSERT_ALL).run({ now: Date.now(), delay_ms: 3_600_000 });
  const taken = performance.now() - started;
  db.close();
  return ENROLLED / (taken / 1_000);
}

/* --- Planning ----------------------------------------------------------------------------------------------------- */

/** What is due is decided only: a step of mails is measured above, and goes as fast as its relay. */
async function measurePlanning(dns: DnsServer): Promise<Row[]> {
  const relay = startSilentRelay();
  const condition = { type: 'event', event: 'bought' };
  const bench = await start(dns, { relay: relay.url, contacts: ENROLLED, condition });
  const list = () => request(`${bench.satchel.url}/api/v1/objects`, { headers: { 'X-API-Key': bench.key } });
  await bench.call('POST', `/email-sequences/${bench.sequence}/pause`);
  await bench.call('POST', `/email-sequences/${bench.sequence}/enroll`, { all: true });
  await latencies(300, list);
  const idle = percentile(await latencies(1_000, list, 2), 0.99);
  const started = performance.now();
  await bench.call('POST', `/email-sequences/${bench.sequence}/resume`);
  const watched: number[] = [];
  await within(LIMIT_MS, 'planning', watch());
  const speed = ENROLLED / ((performance.now() - started) / 1_000);
  await bench.satchel.stop();
  relay.stop();
  const p99 = percentile(watched, 0.99);
  return [
    reported('enrollments due at once that are planned', rate(speed), '>= 3000/s', speed >= 3_000),
    reported('p99 of a list meanwhile', `${ms(p99)} (idle ${ms(idle)})`, '< 10 ms', p99 < 10),
  ];

  async function watch(): Promise<void> {
    while ((await bench.stats()).completed !== ENROLLED) watched.push(...(await latencies(100, list, 2)));
  }
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

async function measureWaiting(dns: DnsServer): Promise<Row[]> {
  const relay = startSilentRelay();
  const bench = await start(dns, { relay: relay.url, contacts: WAITING, delay_hours: 8_760 });
  const empty = await startSatchel();
  const db = new Database(databaseOf(bench), { strict: true });
  db.run('PRAGMA synchronous = OFF');
  await bench.satchel.stop();
  db.query(INSERT_ALL).run({ now: Date.now(), delay_ms: 8_760 * 3_600_000 });
  db.close();
  const satchel = await startSatchel({ SATCHEL_DNS_SERVERS: dns.address }, bench.satchel.data_dir);
  // Past what is done once after a start.
  await Bun.sleep(15_000);
  const before = [satchel, empty].map(({ pid }) => processorMs(pid));
  await Bun.sleep(IDLE_MS);
  const [ours = 0, baseline = 0] = [satchel, empty].map(({ pid }, n) => processorMs(pid) - (before[n] ?? 0));
  await Promise.all([satchel.stop(), empty.stop()]);
  relay.stop();
  const share = (taken: number): string => `${((100 * taken) / IDLE_MS).toFixed(2)} %`;
  return [
    reported(
      'processor of an idle server with 1,000,000 waiting enrollments',
      `${share(ours)} (an empty one ${share(baseline)})`,
      'as an empty one',
      // Two ticks of the kernel's clock.
      ours <= baseline + 20,
    ),
  ];
}
