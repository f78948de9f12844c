/** A real Prometheus reads the metrics, and answers what the dashboard asks it. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { addDomain, type Sender, startSender } from '../../mail/emails/setup.ts';
import { atEnd } from '../../support/cleanup.ts';
import { blocksOf, guide } from '../../support/documents.ts';
import { actor } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { readMetrics } from './setup.ts';

const promtool = part('promtool');
const prometheus = part('prometheus');

/** With a sample of every metric. */
async function startFull(): Promise<Sender> {
  const on = await startSender();
  await addDomain(on.app, 'mail.example.com', null, { is_default: true });
  await on.send({ to: 'ann@example.org' });
  await on.get('/nowhere');
  await on.settle();
  await on.app.services.database.write((tx) => {
    tx.run(sql`INSERT INTO inboxes (mailbox_id, version, host, port, security, username, sealed_password, folder, last_uid, unflagged,
        reports, skipped, last_skipped, last_look_at) SELECT id, 'v', 'h', 1, 'tls', 'u', 's', 'INBOX', 0, '[]', 0, 0, '[]', 1 FROM mailboxes`);
    tx.run(sql`INSERT INTO mailbox_paces (mailbox_id, turn_at, sent, allowed, speed_at, waits, waits_until, is_probing, probed_at,
        ended_at, refused_at) SELECT id, 0, '[]', 0.5, 0, 1, 0, 0, 0, 0, ${on.app.clock.now()} FROM mailboxes`);
  });
  await on.app.services.backups.make(actor);
  await on.settle();
  return on;
}

/** Every question of the dashboard, with its variables filled in as Grafana does. */
async function questionsOf({ app }: Sender): Promise<string[]> {
  const { status, body } = await app.call('GET', '/docs/grafana.json');
  expect(status).toBe(200);
  const panels: unknown[] = Array.isArray(body.panels) ? body.panels : [];
  const targets = panels.flatMap((panel) =>
    isPlainObject(panel) && Array.isArray(panel.targets) ? panel.targets : [],
  );
  return targets.map(({ expr }) =>
    String(expr).replaceAll('$job', 'satchel').replaceAll('$__rate_interval', '2s'),
  );
}

test('the dashboard asks for metrics that there are, and for all of them', async () => {
  const on = await startFull();
  const { names } = await readMetrics(on.app);
  const questions = await questionsOf(on);
  expect(questions.length).toBeGreaterThan(15);
  const asked = questions.flatMap((question) => question.match(/satchel_\w+/g) ?? []);
  const metricOf = (name: string) => (names.includes(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));
  expect([...new Set(asked.map(metricOf))].toSorted()).toEqual(names.toSorted());
});

test.skipIf(promtool === null)('promtool finds nothing to complain of', async () => {
  const on = await startFull();
  const { text } = await readMetrics(on.app);
  const check = Bun.spawnSync([promtool ?? '', 'check', 'metrics'], { stdin: Buffer.from(text) });
  expect({ said: `${check.stdout}${check.stderr}`, exit: check.exitCode }).toEqual({ said: '', exit: 0 });
});

test.skipIf(prometheus === null)(
  'Prometheus scrapes them, and answers every question of the dashboard',
  async () => {
    const on = await startFull();
    const dir = makeTempDir();
    const config = join(dir, 'prometheus.yml');
    const [block = ''] = blocksOf(guide('configuration'), 'yaml');
    const scrape = block.replace('8420', new URL(on.app.url).port);
    writeFileSync(config, `global: {scrape_interval: 250ms}\n${scrape}`);
    const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { port } = free;
    free.stop(true);
    const child = Bun.spawn(
      [
        ...[prometheus ?? '', `--config.file=${config}`, `--storage.tsdb.path=${join(dir, 'data')}`],
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    );
    atEnd(async () => {
      child.kill();
      await child.exited;
    });
    const ask = async (query: string): Promise<unknown[]> => {
      const url = `http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams({ query })}`;
      // Until it is ready it answers otherwise, or not at all.
      const answer: unknown = await fetch(url)
        .then((response) => response.json())
        .catch(() => null);
      if (!isPlainObject(answer)) return [];
      if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
      return isPlainObject(answer.data) && Array.isArray(answer.data.result) ? answer.data.result : [];
    };
    // A rate needs two samples.
    await until(async () => (await ask('count_over_time(up{job="satchel"}[1m]) > 2')).length === 1);
    expect(await ask('up{job="satchel"} == 1')).toHaveLength(1);
    const silent: string[] = [];
    for (const question of await questionsOf(on))
      if ((await ask(question)).length === 0) silent.push(question);
    // Nothing failed, of which there is nothing to tell.
    expect(silent).toEqual([expect.stringContaining('status=~"5.."')]);
  },
  60_000,
);
