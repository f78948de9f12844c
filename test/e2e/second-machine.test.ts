/** A second machine in place of one that is lost: the database from its replica, the files from the store, and one of both at a time. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/platform/database/plain-connection.ts';
import { touchWakeFile } from '../../src/platform/host/server-note.ts';
import { sql } from '../support/deployment.ts';
import { parseObject } from '../support/helpers.ts';
import { restoreReplica, startLitestream, writeFileConfig } from '../support/litestream.ts';
import { part } from '../support/parts.ts';
import { startS3Server } from '../support/s3-server.ts';
import { startSmtpSink, waitForSubjects } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { addMailbox, makeKey, type Server, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const has_parts = part('versitygw') !== null && part('litestream') !== null;
const PREFIX = 'shop';
const FILES = 40;
const NOW = ['--take-over', '--now'];

async function call(server: Server, method: string, path: string, key: string, body?: unknown) {
  const answer = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { 'X-API-Key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const { status, headers } = answer;
  return { status, text, body: parseObject(text), retry_after: headers.get('retry-after') };
}

/** Has every job that waits be due now. */
function hasten(data_dir: string): void {
  sql(data_dir, "UPDATE jobs SET run_at = 0 WHERE status = 'pending'");
  touchWakeFile(data_dir, Date.now());
}

function statesOfMails(data_dir: string): unknown {
  const sqlite = connect(join(data_dir, 'satchel.db'), { query_only: true });
  try {
    return sqlite.query('SELECT status FROM emails').values();
  } finally {
    sqlite.close();
  }
}

test.skipIf(!has_parts)(
  'goes on with every file and mail of a lost one, whose copy is refused; and is fenced itself when that takes over',
  async () => {
    const store = await startS3Server();
    const sink = await startSmtpSink();
    const env = store.env(PREFIX);
    const home = makeTempDir();
    const lost_dir = join(home, 'lost');
    const copy_dir = join(home, 'copy');
    const second_dir = join(home, 'second');

    const lost = await startServer(lost_dir, env);
    const key = await makeKey(lost_dir);
    await addMailbox(lost_dir, sink.port);
    const replica = writeFileConfig(join(home, 'litestream'), lost_dir);
    const replication = startLitestream(replica.config, replica);
    const texts = new Map<string, string>();
    for (let n = 0; n < FILES; n += 1) {
      const text = `file ${n} `.repeat(50);
      const stored = await upload(lost.url, key, text);
      texts.set(stored?.public_id ?? '', text);
    }
    const mail = { to: 'ann@example.org', subject: 'Later', body_text: 'Hi Ann' };
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const accepted = await call(lost, 'POST', '/v1/emails/send', key, { ...mail, scheduled_at: later });
    expect(accepted.status).toBe(201);
    await replication.catchUp(lost_dir);
    await lost.end('SIGKILL');
    await replication.stop();
    cpSync(lost_dir, copy_dir, { recursive: true });
    rmSync(lost_dir, { recursive: true });

    const on_second = { data_dir: lost_dir, target: join(second_dir, 'satchel.db') };
    await restoreReplica(replica.config, on_second);
    copyFileSync(join(copy_dir, 'master.key'), join(second_dir, 'master.key'));
    // It could still be there, as far as anybody knows.
    const refused = startServer(second_dir, env);
    await expect(refused).rejects.toThrow(lost_dir);
    await expect(refused).rejects.toThrow('satchel serve --take-over --now');
    const second = await startServer(second_dir, env, [], NOW);
    expect(store.idsIn(PREFIX).sort()).toEqual([...texts.keys()].sort());
    for (const [id, text] of texts)
      expect((await call(second, 'GET', `/v1/objects/${id}`, key)).text).toBe(text);

    await expect(startServer(copy_dir, env)).rejects.toThrow(second_dir);
    const copy = await startServer(copy_dir, env, [], NOW);
    const health = () => call(second, 'GET', '/health', key);
    await until(async () => (await health()).body.fenced === true);
    expect((await health()).body.status).toBe('degraded');
    expect(await call(second, 'POST', '/v1/emails/send', key, mail)).toMatchObject({
      status: 503,
      retry_after: '30',
      text: expect.stringContaining('Another Satchel has taken over'),
    });
    expect(await upload(second.url, key, 'more')).toMatchObject({ status: 503 });
    const [id = ''] = texts.keys();
    expect((await call(second, 'GET', `/v1/objects/${id}`, key)).status).toBe(200);
    expect(second.stderr()).toContain('another Satchel has taken over the object store');
    const doctor = await satchel(['doctor'], { env: { ...env, SATCHEL_DATA_DIR: second_dir } });
    expect([doctor.exit, doctor.stdout]).toEqual([1, expect.stringContaining(copy_dir)]);

    // Both have the mail that waits; one of them sends it.
    hasten(second_dir);
    hasten(copy_dir);
    await waitForSubjects(sink, ['Later']);
    await until(() => Bun.deepEquals(statesOfMails(copy_dir), [['sent']]));
    expect([statesOfMails(second_dir), sink.mails.length]).toEqual([[['scheduled']], 1]);

    // After a clean stop nobody is waited for.
    expect(await copy.end('SIGTERM')).toBe(0);
    expect(await second.end('SIGTERM')).toBe(0);
    await (await startServer(second_dir, env)).end('SIGTERM');
    await sink.stop();
  },
);
