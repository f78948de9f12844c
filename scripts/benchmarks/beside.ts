/** Beside bulk mail: what a send by API and a click take while newsletters go out, against what they take alone. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { startDnsServer } from '../../test/support/dns-server.ts';
import { startSink } from './emails.ts';
import { latencies, ms, percentile, type Row, reported, request, row } from './harness.ts';
import { type Bench, DOMAIN, start, waitUntil } from './sequences.ts';

const CONTACTS = 20_000;
const SENDS = 300;
const CLICKS = 60;
/** Decision: while a newsletter goes out, a send takes at most twice what it takes alone and this. */
const ALLOWANCE_MS = 20;
/** Decision: from a click's answer to the disk. */
const CLICK_LIMIT_MS = 200;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0';

export async function measureBeside(): Promise<Row[]> {
  const dns = await startDnsServer();
  const sink = await startSink();
  try {
    const relay = `smtp://127.0.0.1:${sink.port}?dkim=off`;
    const bench = await start(dns, { relay, contacts: CONTACTS });
    await bench.satchel.cli('mailbox', 'add', `app@${DOMAIN}`, '--smtp', relay, '--for', 'transactional');
    const send = () =>
      request(`${bench.satchel.url}/api/v1/emails/send`, {
        method: 'POST',
        headers: { 'X-API-Key': bench.key },
        body: JSON.stringify({ to: 'reset@example.com', subject: 'Reset', body_text: 'Set a new password.' }),
      });
    await latencies(SENDS, send, 2);
    const alone = percentile(await latencies(SENDS, send, 10), 0.95);
    const rows: Row[] = [];
    for (const count of [1, 4]) {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        const made = await bench.call('POST', '/email-broadcasts', {
          ...{ name: `bench ${count} ${n}`, list: bench.list, template: 'hello' },
        });
        ids.push(String(made.id));
      }
      const { count: before } = await sink.state();
      await Promise.all(ids.map((id) => bench.call('POST', `/email-broadcasts/${id}/send`)));
      await waitUntil(async () => (await sink.state()).count > before + CLICKS);
      const beside = percentile(await latencies(SENDS, send, 10), 0.95);
      const clicks = await measureClicks(bench, (await sink.state()).links);
      for (const id of ids)
        if ((await bench.call('GET', `/email-broadcasts/${id}`)).status !== 'sending')
          throw new Error('a newsletter was out before all was measured');
      await Promise.all(ids.map((id) => bench.call('POST', `/email-broadcasts/${id}/cancel`)));
      // What it had accepted ahead goes out, so that it is not measured with the next.
      for (let last = -1, now = 0; now !== last; await Bun.sleep(500)) {
        last = now;
        now = (await sink.state()).count;
      }
      const newsletters = count === 1 ? 'a newsletter goes' : `${count} newsletters go`;
      rows.push(
        {
          ...row(`p95 of POST /emails/send while ${newsletters} out, against alone`, {
            ...{ ours: ms(beside), baseline: ms(alone), ratio: beside / alone },
          }),
          ...{ target: '<= 2, and 20 ms', is_met: beside <= 2 * alone + ALLOWANCE_MS },
        },
        reported(
          `slowest click on its way to the disk while ${newsletters} out`,
          `${ms(percentile(clicks, 1))} (p50 ${ms(percentile(clicks, 0.5))})`,
          `<= ${CLICK_LIMIT_MS} ms`,
          percentile(clicks, 1) <= CLICK_LIMIT_MS,
        ),
      );
    }
    await bench.satchel.stop();
    return rows;
  } finally {
    await Promise.all([dns.stop(), sink.stop()]);
  }
}

/** Milliseconds from each click's answer until another connection sees its row: a commit is flushed at once. */
async function measureClicks(bench: Bench, links: readonly string[]): Promise<number[]> {
  const db = new Database(join(bench.satchel.data_dir, 'satchel.db'), { readonly: true });
  const kept = db.query<{ n: number }, []>('SELECT count(*) AS n FROM email_clicks');
  const taken: number[] = [];
  for (const token of links.slice(-CLICKS)) {
    const before = kept.get()?.n ?? 0;
    const url = `${bench.satchel.url}/c/${token}`;
    const response = await request(url, { headers: { 'User-Agent': BROWSER }, redirect: 'manual' });
    if (response.status !== 302) throw new Error(`a click was answered ${response.status}`);
    const answered = performance.now();
    await waitUntil(async () => (kept.get()?.n ?? 0) > before, 2);
    taken.push(performance.now() - answered);
  }
  db.close();
  return taken;
}
