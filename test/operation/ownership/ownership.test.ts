/** Of all Satchels that use one object store, one owns it: starts that race, crashes, copies, a store that is away, clocks. */

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'drizzle-orm';
import { doctorDeps } from '../../../src/app/checks.ts';
import { loadConfig } from '../../../src/config.ts';
import { STORE_SETTLE_MS } from '../../../src/files/objects/bytes.ts';
import { hasObjectIn } from '../../../src/files/objects/service.ts';
import { OWNER_GONE_MS } from '../../../src/limits.ts';
import { examine } from '../../../src/operation/doctor/service.ts';
import { readInstance, requireInstance } from '../../../src/operation/ownership/instance.ts';
import { Ownership } from '../../../src/operation/ownership/service.ts';
import { readMeta } from '../../../src/platform/database/store.ts';
import { S3Requests } from '../../../src/platform/files/s3-requests.ts';
import { S3Store } from '../../../src/platform/files/s3-store.ts';
import { STORE_HOLD, STORE_OWNED } from '../../../src/platform/files/store-hold.ts';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { portOf, RawClient, signedIn } from '../../mail/submission/setup.ts';
import { captureLog } from '../../support/captured-log.ts';
import { runWith } from '../../support/command.ts';
import {
  addCapturingMailbox,
  makeProject,
  parseObject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { refusal, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { makeDatabase, makeTempDir, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const skip = part('versitygw') === null;
const NOW = { take_over: true, now: true, new_owner: false };
const TAKE_OVER = { ...NOW, now: false };
const NEW_OWNER = { take_over: false, now: false, new_owner: true };
/** No renewal comes by itself within a test. */
const NEVER_MS = 2 ** 30;

let server: S3Server;
let prefix = '';
let count = 0;

beforeAll(async () => {
  if (!skip) server = await startS3Server();
});
beforeEach(() => {
  count += 1;
  prefix = `place-${count}`;
  if (!skip) server.proxy.hold = null;
});

interface Satchel {
  dir: string;
  ownership: Ownership;
  /** Until when nothing is removed from the store; null where nothing is held. */
  held: () => string | null;
  logs: () => string;
}

/** A Satchel on the store: in a new data directory, or on one that is there. `ahead_ms`: how wrong its clock is. */
function satchel({
  dir = makeTempDir(),
  beat_ms = NEVER_MS,
  ahead_ms = 0,
  env = server.env(prefix),
} = {}): Satchel {
  const { database } = makeDatabase(makeTempDir());
  const clock = new TestClock(new Date(Date.now() + ahead_ms).toISOString());
  const config = loadConfig({ ...env, SATCHEL_DATA_DIR: dir });
  const log = captureLog(clock);
  const object_store = config.object_store && new S3Store(config.object_store, clock);
  return {
    dir,
    ownership: new Ownership(
      { database, clock, logger: log.logger, object_store, config, hasObjectIn },
      beat_ms,
    ),
    held: () => readMeta(database.read, STORE_HOLD),
    logs: log.text,
  };
}

/** A file of the store that no row names, stored long ago. */
function putFile(in_prefix = prefix): string {
  const file = join(server.folderOf(in_prefix), 'objects', newId(0));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'of the other one');
  utimesSync(file, new Date(), new Date(Date.now() - 2 * STORE_SETTLE_MS));
  return file;
}

const ownerFile = () => join(server.folderOf(prefix), 'owner');
const markNow = () => parseObject(readFileSync(ownerFile(), 'utf8'));
/** Has the mark be this old, by the store's clock. */
const age = (ms: number) => utimesSync(ownerFile(), new Date(), new Date(Date.now() - ms));
/** The ownership of an app's database, as after a start of it. */
const satchelOf = ({ services }: TestApp) => new Ownership({ ...services, hasObjectIn }, NEVER_MS);
/** The message of a claim that is refused. */
const refused = async (claim: Promise<void>) => {
  const error: unknown = await claim.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error.message : '';
};

describe.skipIf(skip)('of two Satchels on one store', () => {
  test('the second is refused, with whose it is, since when, and what takes it over; after a clean stop it starts at once', async () => {
    const [first, second] = [satchel(), satchel()];
    await first.ownership.claim();
    const { since, ...mark } = markNow();
    expect(mark).toMatchObject({ generation: 1, data_dir: first.dir, ended: false });
    const message = await refused(second.ownership.claim());
    for (const part of [first.dir, `since ${since}`, 'satchel serve --take-over --now'])
      expect(message).toContain(part);
    expect([second.ownership.state, second.held()]).toEqual(['off', null]);

    await first.ownership.release();
    expect(markNow()).toMatchObject({ generation: 1, ended: true });
    await second.ownership.claim();
    expect(markNow()).toMatchObject({ generation: 2, data_dir: second.dir, ended: false });
    expect([second.ownership.state, first.held() === null, second.held() === null]).toEqual([
      'owner',
      true,
      false,
    ]);
  });

  test('one that was killed starts again at once, as the same', async () => {
    const first = satchel();
    await first.ownership.claim();
    const again = satchel({ dir: first.dir });
    await again.ownership.claim();
    expect([again.ownership.state, markNow().generation, again.held()]).toEqual(['owner', 1, null]);
  });

  test('a copy of a data directory is another one, and so is the same file on another machine', async () => {
    const first = satchel();
    await first.ownership.claim();
    const copy = makeTempDir();
    cpSync(first.dir, copy, { recursive: true });
    expect(await refused(satchel({ dir: copy }).ownership.claim())).toContain(first.dir);
    expect(readInstance(first.dir, 'another machine')).toBeNull();
    const id = requireInstance(first.dir);
    expect([requireInstance(first.dir) === id, requireInstance(first.dir, 'another machine') === id]).toEqual(
      [true, false],
    );
  });

  test('of starts that race one wins, and the others say who', async () => {
    const all = Array.from({ length: 5 }, () => satchel());
    const ends = await Promise.allSettled(all.map(({ ownership }) => ownership.claim()));
    const winner = all[ends.findIndex(({ status }) => status === 'fulfilled')];
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends)
      if (end.status === 'rejected') expect(String(end.reason)).toContain(winner?.dir ?? 'nobody');
  });

  test('one that has been silent for 90 s by the store counts as gone, whatever our clocks say', async () => {
    const first = satchel();
    await first.ownership.claim();
    age(OWNER_GONE_MS - 10_000);
    expect(await refused(satchel({ ahead_ms: 600_000 }).ownership.claim())).not.toBe('');
    age(OWNER_GONE_MS + 1_000);
    const second = satchel({ ahead_ms: -600_000 });
    await second.ownership.claim();
    expect([second.ownership.state, markNow().generation]).toEqual(['owner', 2]);
  });

  test('one that is taken over from is fenced at its next renewal, for good, and leaves the mark alone', async () => {
    const [first, second] = [satchel(), satchel()];
    let told = 0;
    first.ownership.onFenced(() => {
      told += 1;
    });
    await first.ownership.claim();
    await second.ownership.claim(NOW);
    expect(() => first.ownership.refuseChanges()).not.toThrow();
    await first.ownership.beat();
    expect(() => first.ownership.refuseChanges()).toThrow('Another Satchel has taken over');
    expect([first.ownership.state, first.ownership.may_remove, told]).toEqual(['fenced', false, 1]);
    expect(first.logs()).toContain(second.dir);
    const mark = markNow();
    await second.ownership.release();
    await first.ownership.beat();
    await first.ownership.release();
    expect(markNow()).toMatchObject({ run: mark.run, generation: 2, ended: true });
    expect([first.ownership.state, told]).toEqual(['fenced', 1]);
  });

  test('renewals come by themselves, and so does the end of them', async () => {
    const first = satchel({ beat_ms: 5 });
    await first.ownership.claim();
    await until(() => Number(markNow().beat) > 3);
    const second = satchel();
    await second.ownership.claim(NOW);
    await until(() => first.ownership.state === 'fenced');
  });

  test('--take-over waits until the other has been silent for long enough, and gives up where it is not', async () => {
    const first = satchel();
    await first.ownership.claim();
    age(OWNER_GONE_MS + 2_000);
    const second = satchel();
    await second.ownership.claim(TAKE_OVER);
    expect([second.ownership.state, markNow().generation]).toEqual(['owner', 2]);

    const third = satchel();
    age(OWNER_GONE_MS - 1_000);
    const waiting = refused(third.ownership.claim(TAKE_OVER));
    await until(() => third.logs().includes('waiting'));
    await second.ownership.beat();
    expect(await waiting).toContain('It has renewed its mark meanwhile');
  });

  test('a store that is away stops nobody; when it answers one claims it, and the other is fenced', async () => {
    const [first, second] = [satchel(), satchel()];
    server.proxy.hold = /^(GET|PUT|DELETE)/;
    server.proxy.answer = refusal(403, 'AccessDenied');
    await Promise.all([first.ownership.claim(), second.ownership.claim()]);
    for (const { ownership, logs } of [first, second]) {
      expect([ownership.state, ownership.may_remove]).toEqual(['unclear', false]);
      expect(() => ownership.refuseChanges()).not.toThrow();
      expect(logs()).toContain('two Satchels may send');
    }
    server.proxy.hold = null;
    await first.ownership.beat();
    await second.ownership.beat();
    expect([first.ownership.state, second.ownership.state]).toEqual(['owner', 'fenced']);
  });

  test('a mark that was deleted by hand is made anew, with a higher generation', async () => {
    const { ownership } = satchel();
    await ownership.claim();
    const { object_store } = loadConfig(server.env(prefix));
    if (!object_store) throw new Error('there is no store');
    const requests = new S3Requests(object_store, () => Date.now());
    await (await requests.send({ method: 'DELETE', key: `${prefix}/owner` })).text();
    await ownership.beat();
    expect([ownership.state, markNow().generation]).toEqual(['owner', 2]);
  });

  test('a renewal whose answer was lost is known as ours', async () => {
    const { ownership, dir } = satchel();
    await ownership.claim();
    const { object_store } = loadConfig({ ...server.env(prefix), SATCHEL_DATA_DIR: dir });
    if (!object_store) throw new Error('there is no store');
    const keys = new S3Store(object_store).conditional;
    const seen = (await keys.read('owner')).state;
    const mark = { ...parseObject(seen?.text ?? ''), beat: 7 };
    expect(await keys.write('owner', JSON.stringify(mark), seen?.etag ?? null)).toBeString();
    await ownership.beat();
    await ownership.beat();
    expect([ownership.state, markNow().generation]).toEqual(['owner', 1]);
  });
});

test('flags that mean nothing together are wrong usage', async () => {
  const settings = { SATCHEL_DATA_DIR: makeTempDir() };
  for (const [flags, wrong] of [
    [['--now'], '--now goes with --take-over'],
    [['--take-over'], '--take-over needs SATCHEL_OBJECT_STORE'],
    [['--new-store-owner'], '--new-store-owner needs SATCHEL_OBJECT_STORE'],
  ] as const)
    expect(await runWith(settings, 'serve', ...flags)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(wrong),
    });
});

describe.skipIf(skip)('a store with files that the database does not know', () => {
  /** What there is below the prefix. */
  const everything = () => readdirSync(server.folderOf(prefix), { recursive: true }).map(String).sort();
  const settings = (dir: string) => ({ ...server.env(prefix), SATCHEL_DATA_DIR: dir, SATCHEL_PORT: '0' });

  test.each([
    ['that is served', [], false],
    ['that is served, whatever flags say', ['--take-over', '--now'], false],
    ['whose owner was stopped', [], true],
  ])(
    '%s gets no database that is new, nor one that is there: nothing is made, marked or removed',
    async (_, flags, is_stopped) => {
      const owner = satchel();
      await owner.ownership.claim();
      putFile();
      if (is_stopped) await owner.ownership.release();
      const [before, mark] = [everything(), markNow()];
      const dir = join(makeTempDir(), 'data');
      const { exit, stderr } = await runWith(settings(dir), 'serve', ...flags);
      expect([exit, existsSync(dir), everything(), markNow()]).toEqual([1, false, before, mark]);
      for (const line of [
        owner.dir,
        `litestream restore -config /etc/satchel/litestream.yml -o ${dir}/satchel.db ${owner.dir}/satchel.db`,
        `satchel restore BACKUP.tar --data-dir ${dir}`,
        'name another prefix in SATCHEL_OBJECT_STORE',
        'satchel serve --new-store-owner',
      ])
        expect(stderr).toContain(line);

      const { data_dir, stop } = await startTestApp();
      await stop();
      expect(await runWith(settings(data_dir), 'serve', ...flags)).toMatchObject({
        exit: 1,
        stderr: expect.stringContaining('names none of them and never owned it'),
      });
      expect([readInstance(data_dir), everything(), markNow()]).toEqual([null, before, mark]);
    },
  );

  test('is taken by --new-store-owner, which leaves them for a week; a living owner is waited for even so', async () => {
    const owner = satchel();
    await owner.ownership.claim();
    const file = putFile();
    expect(await refused(satchel().ownership.claim(NEW_OWNER))).toContain('Another Satchel owns');
    await owner.ownership.release();
    const clock = new TestClock(new Date().toISOString());
    const app = await startTestApp({ env: server.env(prefix), clock });
    const { ownership, bytes } = app.services;
    await ownership.claim(NEW_OWNER);
    expect([ownership.state, markNow().generation]).toEqual(['owner', 2]);
    expect(await bytes.sweepStore()).toBe(0);
    const found = await examine(app.config, doctorDeps(clock));
    expect(found).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('since the store has a new owner: 1') }),
    );
    clock.advance(8 * DAY_MS);
    // Who has nothing there knows nothing of what is.
    expect(await bytes.sweepStore()).toBe(0);
    const key = await (await makeProject(app)).key({ can_write: true });
    const form = new FormData();
    form.set('file', new Blob(['mine']), 'a.txt');
    const stored = await app.call('POST', '/api/v1/objects', { key, body: form });
    expect([stored.status, await bytes.sweepStore()]).toEqual([201, 1]);
    await until(() => !existsSync(file));
    // From now on it is known by its own database, whatever is there.
    await ownership.release();
    putFile();
    await satchelOf(app).claim();
    expect(server.idsIn(prefix)).toContain(String(stored.body.public_id));
    await app.stop();
  });

  test('is known by one object of them, and by having been owned before', async () => {
    const app = await startTestApp({ env: server.env(prefix) });
    const key = await (await makeProject(app)).key({ can_write: true });
    const form = new FormData();
    form.set('file', new Blob(['mine']), 'a.txt');
    const { body } = await app.call('POST', '/api/v1/objects', { key, body: form });
    putFile();
    const { database, ownership } = app.services;
    const forget = () => database.write((tx) => tx.run(sql`DELETE FROM meta WHERE name = ${STORE_OWNED}`));
    await forget();
    await ownership.claim();
    expect(ownership.state).toBe('owner');
    await ownership.release();
    // A row alone is none: of another store, for all that is known.
    await rm(join(server.folderOf(prefix), 'objects', String(body.public_id)));
    await satchelOf(app).claim();
    await forget();
    expect(await refused(satchelOf(app).claim())).toContain('--new-store-owner');
    await app.stop();
  });

  test('but was away as the server started, is left alone once it shows them, until they are gone', async () => {
    const owner = satchel();
    await owner.ownership.claim();
    const file = putFile();
    const [before, mark] = [everything(), markNow()];
    server.proxy.hold = /^(GET|PUT|DELETE)/;
    server.proxy.answer = refusal(503, 'SlowDown');
    const app = await startTestApp({ env: server.env(prefix) });
    const { ownership, bytes } = app.services;
    await ownership.claim(NOW);
    expect(ownership.state).toBe('unclear');
    server.proxy.hold = null;
    const key = await (await makeProject(app)).key({ can_write: true });
    const send = () => {
      const form = new FormData();
      form.set('file', new Blob(['mine']), 'a.txt');
      return app.call('POST', '/api/v1/objects', { key, body: form });
    };
    const is503 = { status: 503, body: { code: 'foreign_store' } };
    // Before it was looked at again, and after.
    expect(await send()).toMatchObject(is503);
    await ownership.beat();
    expect(await send()).toMatchObject(is503);
    expect([ownership.state, ownership.may_remove]).toEqual(['foreign', false]);
    await bytes.tend();
    await bytes.sweepStore();
    expect((await app.call('GET', '/api/health')).body.status).toBe('degraded');
    const found = await examine(app.config, doctorDeps(app.clock));
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'store owner',
        status: 'problem',
        message: expect.stringContaining('--new-store-owner'),
      }),
    );
    expect(
      await runWith(
        { ...server.env(prefix), SATCHEL_DATA_DIR: app.data_dir },
        'object',
        'move',
        '--to',
        's3',
      ),
    ).toMatchObject({ exit: 1 });
    expect([everything(), markNow(), app.logs()]).toEqual([
      before,
      mark,
      expect.stringContaining('is left alone'),
    ]);
    await rm(file);
    await owner.ownership.release();
    await ownership.beat();
    expect([ownership.state, (await send()).status]).toEqual(['owner', 201]);
    await app.stop();
  });
});

describe('a store that heeds no conditions', () => {
  test.each([
    ['ignores them', 200, ''],
    ['refuses them', 400, '<Error><Code>InvalidArgument</Code><Message>If-None-Match</Message></Error>'],
  ])(
    'and %s is used by whoever is set to and knows its files, and doctor says so',
    async (_, status, body) => {
      let listed = '';
      const store = Bun.serve({
        port: 0,
        fetch({ method, url }) {
          if (url.includes('list-type'))
            return new Response(`<ListBucketResult>${listed}</ListBucketResult>`);
          if (method === 'GET') return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 });
          return new Response(body, { status, headers: { ETag: '"1"' } });
        },
      });
      try {
        const endpoint = encodeURIComponent(`http://127.0.0.1:${store.port}`);
        const env = {
          SATCHEL_OBJECT_STORE: `s3://bucket?endpoint=${endpoint}&style=path`,
          SATCHEL_S3_ACCESS_KEY_ID: 'a',
          SATCHEL_S3_SECRET_ACCESS_KEY: 'b',
        };
        const { dir, ownership, logs } = satchel({ dir: (await startTestApp()).data_dir, env });
        listed = '<Contents><Key>objects/00000000000000000000000001</Key><Size>1</Size></Contents>';
        expect(await refused(satchel({ env }).ownership.claim(NOW))).toContain('--new-store-owner');
        listed = '';
        await ownership.claim(NOW);
        expect([ownership.state, ownership.may_remove]).toEqual(['off', true]);
        expect(logs()).toContain('ignores conditional writes');
        const config = loadConfig({ ...env, SATCHEL_DATA_DIR: dir });
        expect(await examine(config, doctorDeps(new TestClock()))).toContainEqual(
          expect.objectContaining({ check: 'store owner', status: 'warning' }),
        );
      } finally {
        await store.stop(true);
      }
    },
  );
});

test.skipIf(skip)(
  'one that is fenced answers whoever reads, refuses what changes anything, and sends nothing',
  async () => {
    const app = await startTestApp({
      env: { ...server.env(prefix), SATCHEL_SMTP_PORT: '0' },
      clock: new TestClock(new Date().toISOString()),
    });
    const { ownership, engine, status } = app.services;
    const key = await (await makeProject(app)).key({
      can_read: true,
      can_write: true,
      can_send_emails: true,
    });
    await addCapturingMailbox(app);
    const owner = async () =>
      (await examine(app.config, doctorDeps(app.clock))).find(({ check }) => check === 'store owner');
    await ownership.claim();
    expect(await owner()).toMatchObject({ status: 'ok' });
    const lock = lockDirectory(app.data_dir, process.pid);
    // A key that nobody has a row for: one of the other's, as far as this one knows.
    putFile();
    const smtp = portOf({ app });
    const client = await signedIn(smtp, key);
    await client.sayAll('MAIL FROM:<>', 'RCPT TO:<ann@example.org>', 'DATA');
    await satchel().ownership.claim({ ...NOW, new_owner: true });
    await ownership.beat();
    expect(await app.services.bytes.sweepStore()).toBe(0);
    // An app's next message goes to whoever listens there by then.
    expect(await client.reply()).toStartWith('421 4.3.2 ');
    await client.over();
    await until(async () => (await RawClient.connect(smtp)).is_over);

    const mail = { to: 'ann@example.org', subject: 'Hello', body_text: 'Hi' };
    const sent = await app.call('POST', '/api/v1/emails/send', { key, body: mail });
    expect([sent.status, sent.headers.get('retry-after'), sent.text]).toEqual([
      503,
      '30',
      expect.stringContaining('Another Satchel has taken over'),
    ]);
    expect((await app.call('DELETE', '/api/v1/objects/none', { key })).status).toBe(503);
    expect((await app.call('GET', '/api/v1/objects', { key })).status).toBe(200);
    const health = await app.call('GET', '/api/health');
    expect([health.status, health.body]).toMatchObject([200, { status: 'degraded', fenced: true }]);
    expect(status.health().database).toBe('ok');
    expect(await owner()).toMatchObject({
      status: 'problem',
      remedy: expect.stringContaining('--take-over'),
    });
    lock.release();
    // What waits in its queue is not begun.
    const { database } = app.services;
    const job = { project_id: null, type: 'none', priority: 1, payload: {}, max_attempts: 1 };
    await database.write((tx) => engine.enqueue(tx, job));
    engine.wake();
    await Bun.sleep(1);
    await database.write(() => {});
    const jobs = sql`SELECT status FROM jobs WHERE type = 'none'`;
    expect(database.read.values(jobs)).toEqual([['pending']]);
  },
);
