/** What happens to what is at work as a project leaves, to mail that waits, and to a project that comes back. */
import { expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { connect } from '../../../src/platform/database/plain-connection.ts';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { addDomain, type Sender, senderOf, startSender } from '../../mail/emails/setup.ts';
import { startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { startSequenceApp } from '../../marketing/sequences/setup.ts';
import { blobPath, sql, upload, uploadFile } from '../../support/deployment.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir } from '../../support/temp.ts';
import { contentsOf, exported, imported, PASSPHRASE } from './setup.ts';

const HOUR = 3_600_000;
const BUSY = { code: 451, message: 'Try again later' };

/** Satchels with the same mailbox, each with a relay of its own. */
async function startPair() {
  const [sink, other] = [await startSmtpSink(), await startSmtpSink()];
  const on = await startSender();
  const app = await startTestApp();
  await addDomain(on.app, 'mail.example.com', sink);
  await addDomain(app, 'mail.example.com', other);
  return { sink, other, on, there: senderOf(app, on.project, on.key) };
}

const letGo = ({ app }: Sender, ref = 'shop') =>
  app.services.transfers.letGo(app.services.projects.require(ref), actor);

test('an export waits for the attempt that is under way, and withholds what follows from it', async () => {
  const { sink, on } = await startPair();
  sink.behavior.hang = 'data';
  const { body } = await on.send();
  await sink.until(() => sink.unanswered.length === 1);
  const { body: next } = await on.send({ subject: 'Second', scheduled_at: '2030-01-16T00:00:00Z' });

  const lock = lockDirectory(on.app.data_dir, process.pid);
  const file = join(makeTempDir(), 'shop.satchel');
  const how = { passphrase: PASSPHRASE, is_copy: false, with_store: false, actor, onProgress: () => {} };
  const project = on.app.services.projects.require('shop');
  const done = on.app.services.transfers.export(project, { ...how, file });
  while (on.app.services.projects.require('shop').status === 'active') await Bun.sleep(1);
  // Time enough to write it, were it not for the mail.
  await Bun.sleep(300);
  expect(existsSync(file)).toBe(false);
  delete sink.behavior.hang;
  for (const answer of sink.unanswered) answer();
  await done;
  lock.release();

  const rows = (await contentsOf(file)).emails ?? [];
  const statusOf = (id: unknown): string | undefined =>
    /"status","(\w+)"/.exec(rows.find((row) => row.includes(String(id))) ?? '')?.[1];
  expect([statusOf(body.id), statusOf(next.id)]).toEqual(['sent', 'scheduled']);
  await on.pass(48 * HOUR);
  // The sink keeps none that it answered late.
  expect(sink.mails.length).toBe(0);
});

test('text that was stored before its charset was looked for tells it as its bytes arrive', async () => {
  const on = await startSender();
  const app = await startTestApp();
  const id = await upload(on.app, on.key, 'Grüße');
  sql(on.app.data_dir, "UPDATE objects SET is_utf8 = 0, mime_type = 'text/plain' WHERE public_id = ?", id);
  const there = await imported(app, await exported(on.app));
  const key = await app.services.keys.create(actor, app.services.projects.require(there.slug), {
    name: 'k',
    can_read: true,
  });
  const answer = await app.call('GET', `/api/v1/objects/${id}`, { key: key.plaintext_key });
  expect([answer.text, answer.headers.get('content-type')]).toEqual(['Grüße', 'text/plain; charset=utf-8']);
});

test('a mail that waits to be tried again goes out once: where its project is, after that one was let go', async () => {
  const { sink, other, on, there } = await startPair();
  sink.behavior.data = BUSY;
  const { body } = await on.send();
  await on.settle();
  delete sink.behavior.data;
  await imported(there.app, await exported(on.app));
  await on.pass(HOUR);
  await there.pass(HOUR);
  expect([sink.mails.length, other.mails.length]).toEqual([0, 0]);
  expect((await there.log(body.id)).status).toBe('queued');
  expect(await letGo(there)).toMatchObject({ jobs: 1 });
  await there.settle();
  await on.pass(HOUR);
  expect([sink.mails.length, other.mails.length]).toEqual([0, 1]);
  expect((await there.log(body.id)).status).toBe('sent');
  expect((await there.job(body.job_id)).status).toBe('completed');
});

test('what was being sent as its server was killed is told as cut off, and tried again where it arrives', async () => {
  const { sink, other, on, there } = await startPair();
  sink.behavior.hang = 'data';
  const { body } = await on.send();
  await sink.until(() => sink.unanswered.length === 1);
  // Nothing serves this directory, by its lock: nobody is at work on it.
  await imported(there.app, await exported(on.app));
  const told = there.app.services.deliveries.explain(String(body.id));
  expect(JSON.stringify(told)).toContain('interrupted');
  await letGo(there);
  await there.settle();
  expect(other.mails.length).toBe(1);
});

test('a copy sends its mail on both sides, each once, here at once and there when it is let go', async () => {
  const { sink, other, on, there } = await startPair();
  await on.send({ scheduled_at: '2030-01-16T00:00:00Z' });
  await imported(there.app, await exported(on.app, { is_copy: true }));
  await on.pass(24 * HOUR);
  await there.pass(24 * HOUR);
  expect([sink.mails.length, other.mails.length]).toEqual([1, 0]);
  await letGo(there);
  await there.settle();
  expect([sink.mails.length, other.mails.length]).toEqual([1, 1]);
});

test('a move that is called off goes on where it was', async () => {
  const { sink, on } = await startPair();
  await on.send({ scheduled_at: '2030-01-16T00:00:00Z' });
  await exported(on.app);
  expect((await on.send()).status).toBe(401);
  await on.pass(1);
  expect(await letGo(on)).toMatchObject({ stayed: [] });
  expect(on.app.services.projects.require('shop').status).toBe('active');
  await on.settle();
  expect(sink.mails.length).toBe(0);
  await on.pass(24 * HOUR);
  expect(sink.mails.length).toBe(1);
});

test('one that was inactive before arrives so, and stays so', async () => {
  const { on, there } = await startPair();
  const project = on.app.services.projects.require('shop');
  await on.app.services.projects.update(actor, project, { status: 'inactive' });
  await imported(there.app, await exported(on.app));
  await letGo(there);
  expect(there.app.services.projects.require('shop').status).toBe('inactive');
});

test('a project comes back to where it was, once it is deleted there', async () => {
  const { on, there } = await startPair();
  const id = await upload(on.app, on.key, 'travels');
  const file = await exported(on.app);
  await imported(there.app, file);
  const back = await exported(there.app);
  await expect(imported(on.app, back)).rejects.toThrow('is here already');
  await on.app.services.projects.remove(actor, 'shop');
  const { slug } = await imported(on.app, back);
  const project = on.app.services.projects.require(slug);
  expect((await on.get(`/objects/${id}`)).text).toBe('travels');
  expect(on.app.services.objects.requireAny(id).store).toBe('database');
  // Its trail is told in full, beside that of the time before.
  const events = on.app.services.audit.list(project, { per_page: 50 }).data.map(({ event }) => event);
  expect(events.filter((event) => event === 'project.imported')).toHaveLength(2);
  expect(events).toContain('project.created');
});

test('mail of a broadcast that waits for its relay goes out where its project is, to each once', async () => {
  const sink = await startSmtpSink({ data: BUSY });
  const from = await startBroadcastApp();
  const { mailboxes } = from.app.services;
  await mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  const list = await from.list();
  for (const name of ['ann', 'bob']) await from.contact(list, `${name}@example.com`);
  const id = await from.broadcast(list);
  await from.send(id);
  const there = await startSequenceApp();
  await there.app.services.projects.remove(actor, 'shop');
  await imported(there.app, await exported(from.app));
  delete sink.behavior.data;
  await from.pass(1);
  await there.pass(1);
  const { services } = there.app;
  const statuses = (): unknown[] =>
    services.database.read.$client
      .query("SELECT status, from_email FROM emails WHERE source = 'broadcast' ORDER BY to_email")
      .values();
  expect(statuses().map((row) => String(row).split(',')[0])).toEqual(['queued', 'queued']);
  const went = await services.transfers.letGo(services.projects.require('shop'), actor);
  expect(went).toMatchObject({ broadcasts: 1, stayed: [] });
  await there.pass(1);
  expect(statuses()).toEqual([
    ['sent', 'hello@news.example.com'],
    ['sent', 'hello@news.example.com'],
  ]);
  expect(services.broadcasts.require(services.projects.require('shop').id, id).status).toBe('sent');
  expect(sink.mails).toEqual([]);
});

test('no read of the database is held while bytes are written, and what is deleted meanwhile is named as left out', async () => {
  const { on, there } = await startPair();
  const { app, key } = on;
  const kept = await uploadFile(app, key, 'x'.repeat(2_000_000));
  const deleted = await uploadFile(app, key, 'deleted meanwhile');
  const attached = await uploadFile(app, key, 'attached');
  const later = { scheduled_at: '2030-01-16T00:00:00Z', attachments: [attached] };
  expect((await on.send(later)).status).toBe(201);

  let checkpoint: unknown[] | undefined;
  const onProgress = (done: number): void => {
    if (checkpoint || done < 2_000_000) return;
    sql(app.data_dir, 'DELETE FROM objects WHERE public_id IN (?, ?)', deleted, attached);
    rmSync(blobPath(app.data_dir, deleted));
    const sqlite = connect(join(app.data_dir, 'satchel.db'), { query_only: false });
    // `busy` first: whether some reader needs what is in the log still.
    checkpoint = sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').values()[0];
    sqlite.close();
  };
  const file = join(makeTempDir(), 'shop.satchel');
  const how = { passphrase: PASSPHRASE, is_copy: false, with_store: false, actor, onProgress };
  const left = await app.services.transfers.export(app.services.projects.require('shop'), { ...how, file });
  expect(checkpoint).toEqual([0, 0, 0]);
  expect(left).toMatchObject({ objects: 2, left_out: [deleted] });

  const arrived = await imported(there.app, file);
  expect(arrived).toMatchObject({ objects: 2 });
  const statusOf = async (id: string): Promise<number> =>
    (await there.app.call('GET', `/api/v1/objects/${id}`, { key })).status;
  // The rows are as of one moment; a waiting mail kept the bytes of the last one.
  expect([await statusOf(kept), await statusOf(deleted), await statusOf(attached)]).toEqual([200, 404, 200]);
});
