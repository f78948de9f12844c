/** A newsletter to 20,000: how fast it leaves, what each mail costs, and what others notice of it. */
import { startDnsServer } from '../../test/support/dns-server.ts';
import { startSink, waitFor } from './emails.ts';
import {
  latencies,
  memoryMib,
  ms,
  percentile,
  processorMs,
  type Row,
  rate,
  reported,
  request,
  row,
} from './harness.ts';
import { againstListmonk, startListmonk } from './listmonk.ts';
import {
  DOMAIN,
  HTML,
  LIMIT_MS,
  STEP_MAILS as MAILS,
  sendByPool,
  start,
  waitUntil,
  writtenBy,
} from './sequences.ts';

interface Campaign {
  speed: number;
  /** Of the process, for each mail. */
  processor_ms: number;
  written_bytes: number;
  /** Of a list of files, one request after the other while it goes out. */
  p99_ms: number;
  /** Until a mail by API that was accepted in the middle of it was at the sink. */
  reset_ms: number;
  grown_mib: number;
}

export async function measureBroadcasts(): Promise<Row[]> {
  const dns = await startDnsServer();
  try {
    const unsigned = await send(dns, false);
    const signed = await send(dns, true);
    const [pool, signing_pool] = [await sendByPool(false), await sendByPool(true)];
    const speed = (work: string, { speed: ours }: Campaign, baseline: number): Row =>
      row(work, { ours: rate(ours), baseline: rate(baseline), ratio: ours / baseline });
    const cost = (work: string, { processor_ms }: Campaign, most: number): Row =>
      reported(work, ms(processor_ms), `<= ${most} ms`, processor_ms <= most);
    const written = unsigned.written_bytes / 1024;
    return [
      speed('a newsletter to 20,000, without DKIM, against a bare nodemailer pool', unsigned, pool),
      speed('the same with DKIM, against such a pool with DKIM', signed, signing_pool),
      cost('processor for each mail of it, without DKIM', unsigned, 0.75),
      cost('the same with DKIM', signed, 1.75),
      reported('written to disk for each mail', `${written.toFixed(1)} KiB`, '<= 8 KiB', written <= 8),
      reported('p99 of a list meanwhile', ms(unsigned.p99_ms), '< 10 ms', unsigned.p99_ms < 10),
      reported('a password reset meanwhile', ms(unsigned.reset_ms), '< 1000 ms', unsigned.reset_ms < 1_000),
      reported('memory it took', `${unsigned.grown_mib.toFixed(0)} MiB`),
      ...(await sendInTurn(dns)),
    ];
  } finally {
    await dns.stop();
  }
}

async function send(dns: Awaited<ReturnType<typeof startDnsServer>>, is_signed: boolean): Promise<Campaign> {
  const sink = await startSink();
  const relay = `smtp://127.0.0.1:${sink.port}${is_signed ? '' : '?dkim=off'}`;
  const { satchel, call, key, list } = await start(dns, { relay, contacts: MAILS });
  await satchel.cli('mailbox', 'add', `app@${DOMAIN}`, '--smtp', relay, '--for', 'transactional');
  const { id } = await call('POST', '/email-broadcasts', { name: 'bench', list, template: 'hello' });
  const files = () => request(`${satchel.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  await latencies(100, files);
  const { pid } = satchel;
  const before = { memory: memoryMib(pid, 'VmRSS'), processor: processorMs(pid), written: writtenBy(pid) };
  await call('POST', `/email-broadcasts/${id}/send`);
  const started_ms = Date.now();
  const waits: number[] = [];
  let reset_ms = Number.NaN;
  let state = await sink.state();
  while (state.count < MAILS) {
    if (Date.now() > started_ms + LIMIT_MS) throw new Error(`the sink got ${state.count} mails and no more`);
    if (Number.isNaN(reset_ms) && state.count > MAILS / 4) reset_ms = await resetPassword(call, sink);
    waits.push(...(await latencies(20, files)));
    await Bun.sleep(50);
    state = await sink.state();
  }
  const speed = MAILS / ((state.last_ms - started_ms) / 1_000);
  await waitUntil(async () => (await call('GET', `/email-broadcasts/${id}`)).status === 'sent');
  const campaign = {
    speed,
    processor_ms: (processorMs(pid) - before.processor) / MAILS,
    written_bytes: (writtenBy(pid) - before.written) / MAILS,
    p99_ms: percentile(waits, 0.99),
    reset_ms,
    grown_mib: memoryMib(pid, 'VmHWM') - before.memory,
  };
  await Promise.all([satchel.stop(), sink.stop()]);
  return campaign;
}

/** The same newsletter as a campaign of listmonk, which signs nothing: its links tell of clicks, and it of having been read. */
const CAMPAIGN = {
  subject: 'Hello {{ .Subscriber.FirstName }}',
  body: HTML.replace('{{first_name}}', '{{ .Subscriber.FirstName }}').replaceAll(
    /href="([^"]+)"/g,
    'href="{{ TrackLink "$1" }}"',
  ),
  altbody: 'Look at https://shop.example.com/look',
};

/** Newsletters and campaigns to one relay, from the first mail to the last: listmonk looks for campaigns each 5 s. */
async function sendInTurn(dns: Awaited<ReturnType<typeof startDnsServer>>): Promise<Row[]> {
  const sink = await startSink();
  const listmonk = await startListmonk(sink.port);
  if (!listmonk) {
    await sink.stop();
    return [];
  }
  const { list: theirs } = await listmonk.importPeople(MAILS);
  const relay = `smtp://127.0.0.1:${sink.port}?dkim=off`;
  const { satchel, call, list } = await start(dns, { relay, contacts: MAILS });
  const through = (send: () => Promise<void>) => async (): Promise<number> => {
    await sink.reset();
    await send();
    const { first_ms, last_ms } = await waitFor(sink, MAILS);
    return MAILS / ((last_ms - first_ms) / 1_000);
  };
  const rows = await againstListmonk(
    listmonk,
    { of: 'a newsletter to 20,000, without DKIM,', each: 'mail of it', count: MAILS, pid: satchel.pid },
    through(async () => {
      const { id } = await call('POST', '/email-broadcasts', { name: 'bench', list, template: 'hello' });
      await call('POST', `/email-broadcasts/${id}/send`);
      await waitUntil(async () => (await call('GET', `/email-broadcasts/${id}`)).status === 'sent');
    }),
    through(() => listmonk.send(theirs, CAMPAIGN)),
  );
  await Promise.all([satchel.stop(), listmonk.stop(), sink.stop()]);
  return rows;
}

async function resetPassword(
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
  sink: Awaited<ReturnType<typeof startSink>>,
): Promise<number> {
  const subject = `mark-${Date.now()}`;
  const started = performance.now();
  await call('POST', '/emails/send', { to: 'reset@example.com', subject, body_text: 'Set a new password.' });
  await waitUntil(async () => subject in (await sink.state()).marked);
  return performance.now() - started;
}
