/** Where the bytes of a message are kept, and until when: on the disk and in an object store, in backups and exports. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { decodeTime } from 'ulid';
import { EMAIL_BODY_RETENTION_MS } from '../../../src/limits.ts';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { exported, imported } from '../../operation/transfers/setup.ts';
import { run, runRecord, runWith } from '../../support/command.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startS3Server, VERSITYGW } from '../../support/s3-server.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { addDomain } from '../emails/setup.ts';
import { handIn, messageFrom, portOf, signedIn, startTaking, storedFiles } from './setup.ts';

const FROM = 'hello@shop.example.com';
const TO = ['ada@example.org', 'bob@example.org', 'cy@example.org'];
const MESSAGE = messageFrom(FROM, {
  fields: ['Date: Fri, 27 Nov 2026 10:00:00 +0000', 'Message-ID: <1@client.example>', 'MIME-Version: 1.0'],
  body: `${'x'.repeat(900)}\r\n`.repeat(2_000),
});

/** What the management plane gives of a message; its status where that is not 200. */
async function messageOf(app: TestApp, id: string): Promise<string | number> {
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: [] },
  });
  const { status, text } = await app.call('GET', `/api/public/v1/projects/shop/emails/${id}/message`, {
    token,
  });
  return status === 200 ? text : status;
}

describe.each(['the disk', 'an object store'])('a message that is kept on %s', async (place) => {
  const s3 = place === 'the disk' ? null : VERSITYGW === null ? undefined : await startS3Server();
  if (s3 === undefined) {
    test.skip('versitygw is not there', () => {});
    return;
  }
  const on = await startTaking({ env: s3?.env('from') ?? {} });
  const { app } = on;
  const sink = await startSmtpSink();
  await addDomain(app, 'shop.example.com', sink, { is_default: true });
  const kept = (): string[] =>
    s3 ? [...s3.idsIn('from'), ...storedFiles(app.data_dir)] : storedFiles(app.data_dir);
  const client = await signedIn(portOf(on), on.key);
  let ids: string[] = [];

  test('is there once, and goes to each recipient', async () => {
    // Ids never go back within a process: those of the other place are from a later day.
    if (s3) app.clock.advance(2 * EMAIL_BODY_RETENTION_MS);
    expect(await handIn(client, MESSAGE, TO)).toStartWith('250 2.0.0 ');
    const mails = await sink.waitForMails(3);
    expect(mails.map(({ envelope }) => envelope.to).sort()).toEqual(TO.map((to) => [to]));
    for (const { raw } of mails) expect(raw.toString('latin1')).toEndWith(MESSAGE);
    await on.settle();
    expect(kept()).toHaveLength(1);
    ids = app.services.database.read.$client
      .query<{ id: string }, []>('SELECT id FROM emails ORDER BY id')
      .all()
      .map(({ id }) => id);
    for (const id of ids) expect(await messageOf(app, id)).toBe(MESSAGE);
  });

  test.skipIf(!s3)('is put off with 451 4.3.0 while the store is away, and nothing of it stays', async () => {
    if (!s3) return;
    s3.proxy.hold = /PUT /;
    s3.proxy.answer = Buffer.from('HTTP/1.1 503 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    expect(await handIn(client, MESSAGE)).toStartWith('451 4.3.0 ');
    s3.proxy.hold = null;
    expect(kept()).toHaveLength(1);
    expect(app.services.database.read.$client.query('SELECT count(*) AS n FROM emails').get()).toEqual({
      n: 3,
    });
    expect(await handIn(client, MESSAGE, ['dora@example.org'])).toStartWith('250 2.0.0 ');
    await on.settle();
    const { privacy, projects } = app.services;
    await privacy.forget(actor, projects.require(on.project.slug), 'dora@example.org');
    await until(() => kept().length === 1);
  });

  test('goes along in an export of its project', async () => {
    const file = await exported(app, { is_copy: true, with_store: s3 !== null });
    const other = await startTestApp();
    await imported(other, file);
    for (const id of ids) expect(await messageOf(other, id)).toBe(MESSAGE);
    expect(storedFiles(other.data_dir)).toHaveLength(1);
  });

  test('is in a backup', async () => {
    const file = join(makeTempDir(), 'a.backup');
    if (s3) {
      const env = { ...s3.env('from'), SATCHEL_DATA_DIR: app.data_dir };
      const { stdout, exit } = await runWith(env, 'backup', file, '--with-store', '--json');
      expect([exit, JSON.parse(stdout)]).toMatchObject([0, { stored_objects: 1 }]);
      return;
    }
    expect(await runRecord(app.data_dir, 'backup', file)).toMatchObject({ objects: 1 });
    const data_dir = join(makeTempDir(), 'restored');
    expect((await run(data_dir, 'restore', file)).exit).toBe(0);
    expect(storedFiles(data_dir)).toEqual(storedFiles(app.data_dir));
  });

  test('goes when one of its recipients is forgotten; the others have their mail in the log, and what waits is canceled', async () => {
    sink.behavior.rcpt = { 'eve@example.org': { code: 450, message: '4.2.1 busy' } };
    expect(await handIn(client, MESSAGE, ['dan@example.org', 'eve@example.org'])).toStartWith('250 2.0.0 ');
    await on.settle();
    expect(kept()).toHaveLength(2);
    const forgotten = await run(
      app.data_dir,
      'contact',
      'forget',
      'dan@example.org',
      '--project',
      'shop',
      '--yes',
    );
    expect(forgotten).toMatchObject({ exit: 0 });
    if (!s3) expect(kept()).toHaveLength(1);
    await until(() => kept().length === 1);
    const mails = app.services.database.read.$client
      .query<{ id: string; to_email: string; status: string; error: string }, []>(
        "SELECT id, to_email, status, error FROM emails WHERE to_email IN ('', 'eve@example.org') ORDER BY id DESC LIMIT 2",
      )
      .all();
    expect(mails).toMatchObject([
      { to_email: 'eve@example.org', status: 'canceled', error: expect.stringContaining('was forgotten') },
      { to_email: '', status: 'sent' },
    ]);
    for (const { id } of mails) expect(await messageOf(app, id)).toBe(404);
    const sent = sink.mails.length;
    sink.behavior.rcpt = {};
    app.clock.advance(86_400_000);
    await on.settle();
    expect(sink.mails).toHaveLength(sent);
  });

  test('goes when it is old', async () => {
    // Ids never go back: other tests of this process may have been at a later time.
    const ahead_ms = decodeTime(ids[1] ?? '') - app.clock.now();
    app.clock.advance(ahead_ms + EMAIL_BODY_RETENTION_MS - DAY_MS);
    await app.services.emails.sweep();
    expect(kept()).toHaveLength(1);
    app.clock.advance(2 * DAY_MS);
    await app.services.emails.sweep();
    await until(() => kept().length === 0);
    for (const id of ids) expect(await messageOf(app, id)).toBe(404);
    client.close();
    await sink.stop();
  });
});
