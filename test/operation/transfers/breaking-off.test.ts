/** What is refused, and what breaks off, leaves nothing: no rows, no bytes, no half of a file. */
import { afterEach, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import { examine } from '../../../src/operation/transfers/examining.ts';
import { openAbout, PROJECT_FILE, type ProjectFile } from '../../../src/operation/transfers/format.ts';
import { Import } from '../../../src/operation/transfers/importing.ts';
import { lockImports } from '../../../src/platform/host/directory-lock.ts';
import { deriveMasterKey } from '../../../src/platform/secrets/master-key-source.ts';
import { run, runWith, spawnVerb } from '../../support/command.ts';
import { dumpBlobs, dumpRows, sql } from '../../support/deployment.ts';
import { actor, makeProject, startTestApp } from '../../support/helpers.ts';
import { makeDataDir, makeTempDir } from '../../support/temp.ts';
import { exported, imported, PASSPHRASE, startFilled } from './setup.ts';

const from = await startFilled();
const file = await exported(from.app, { is_copy: true });
const app = await startTestApp();
await makeProject(app, 'own');

/** Numbers that are kept free stay so, and a count of none is none. */
const rows = (): Record<string, string[]> => {
  const { sqlite_sequence: _numbers, row_counts = [], ...tables } = dumpRows(app.data_dir);
  return { ...tables, row_counts: row_counts.filter((row) => !row.endsWith(',0]')) };
};
const before = { rows: rows(), blobs: dumpBlobs(app.data_dir) };

afterEach(() => {
  expect({ rows: rows(), blobs: dumpBlobs(app.data_dir) }).toEqual(before);
});

const changed = (name: string, change: (bytes: Buffer) => void): string => {
  const path = join(makeTempDir(), name);
  const bytes = readFileSync(file);
  change(bytes);
  writeFileSync(path, bytes);
  return path;
};
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error) => (error instanceof AppError ? `${error.kind}: ${error.message}` : String(error)),
  );

describe('refused before anything is written', () => {
  test('a wrong passphrase', async () => {
    expect(await messageOf(imported(app, file, 'another passphrase'))).toMatch(
      /^invalid: The passphrase is not/,
    );
  });

  test('a file in which any byte was changed', async () => {
    const { length } = readFileSync(file);
    for (let at = 700; at < length; at += Math.ceil(length / 12)) {
      const path = changed('changed', (bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at));
      expect(await messageOf(imported(app, path)), `byte ${at}`).toMatch(/^invalid: /);
    }
  });

  test('a file whose rows were changed together with their hashes: only the passphrase makes its seal', async () => {
    const path = changed('changed', (bytes) => {
      const at = bytes.indexOf('"shop"');
      bytes.write('"shup"', at);
    });
    expect(await messageOf(imported(app, path))).toContain('its seal does not fit');
  });

  test('a file that was cut off', async () => {
    const path = changed('cut', () => {});
    truncateSync(path, readFileSync(file).length - 2048);
    expect(await messageOf(imported(app, path))).toContain('cut off');
  });

  test('a file of another format, an older or a newer one', async () => {
    for (const [format, which] of [
      [0, 'an older'],
      [9, 'a newer'],
    ] as const) {
      const path = changed('format', (bytes) => bytes.write(String(format), bytes.indexOf('"format":') + 9));
      expect(await messageOf(imported(app, path))).toContain(`made by ${which} build of Satchel`);
    }
  });

  test('a backup, and what is no archive', async () => {
    const path = join(makeTempDir(), 'backup.tar');
    expect((await run(app.data_dir, 'backup', path)).exit).toBe(0);
    expect(await messageOf(imported(app, path))).toContain('is not a project file of Satchel');
    expect(await messageOf(imported(app, import.meta.path))).toContain('is not a project file of Satchel');
    expect(await messageOf(imported(app, join(dirname(path), 'missing')))).toContain("can't be read");
  });

  test('while another import is under way', async () => {
    const lock = lockImports(app.data_dir);
    expect(await messageOf(imported(app, file))).toContain('Another project is being imported');
    lock?.release();
  });
});

describe('an import that breaks off', () => {
  test('by an error as bytes are stored is undone, and says so', async () => {
    const { blobs } = app.services;
    const open = blobs.openUpload.bind(blobs);
    let left = 1;
    blobs.openUpload = (id) => {
      if (left-- === 0) throw new AppError('unavailable', 'The disk is full.');
      return open(id);
    };
    try {
      const message = await messageOf(imported(app, file));
      expect(message).toBe('unavailable: shop was not imported: The disk is full. Nothing was left of it.');
    } finally {
      blobs.openUpload = open;
    }
  });

  /** Takes the file in as an import does, with what it stands on changed once it has begun. */
  const begunWith = async (change: (services: typeof app.services) => object): Promise<Import> => {
    const { about: said, size_bytes } = openAbout(file);
    const about = said as ProjectFile;
    const key = await deriveMasterKey(PASSPHRASE, about.salt);
    const of = { path: file, name: file, size_bytes, key, about };
    const job = { ...of, actor, is_served: false, onProgress: () => {} };
    const deps = { ...app.services };
    const begun = await Import.begin(deps, job, await examine(deps, job));
    Object.assign(deps, change(app.services));
    return begun;
  };
  /** A database that takes nothing more from a change on. */
  const cutAt = (is_last: (change: string, n: number) => boolean) =>
    begunWith(({ database }) => {
      let n = 0;
      const write = (change: Parameters<typeof database.write>[0]): Promise<unknown> =>
        is_last(String(change), n++) ? Promise.reject(new Error('cut off')) : database.write(change);
      return {
        database: Object.create(database, { write: { value: write }, read: { get: () => database.read } }),
      };
    });
  const CUT_OFF = [
    { when: 'in the middle', begin: () => cutAt((_, n) => n === 7), message: 'cut off' },
    { when: 'at its last commit', begin: () => cutAt((text) => text.includes('#show')), message: 'cut off' },
    {
      when: 'by a disk with too little room to go on',
      begin: () => begunWith(({ config }) => ({ config: { ...config, data_dir: '/proc' } })),
      message: 'There is no room',
    },
  ];

  for (const { when, begin, message } of CUT_OFF)
    test(`${when}, as by kill -9, is seen by nobody and gone with the next start`, async () => {
      const { services } = app;
      expect(await messageOf((await begin()).run())).toContain(message);
      expect(services.projects.find(from.project.public_id)).toBeNull();
      expect(services.projects.listAll({}).map(({ slug }) => slug)).toEqual(['own']);
      expect((await app.call('GET', '/api/v1/objects', { key: from.plain_key })).status).toBe(401);
      await services.transfers.sweep();
    });

  test('leaves the way free for the next one', async () => {
    const result = await imported(app, file);
    expect(result.slug).toBe('shop');
    const { projects, contacts, database } = app.services;
    const left = (): unknown[] =>
      ['contacts', 'contact_events', 'contact_tags', 'enrollments'].flatMap((table) =>
        database.read.$client.query(`SELECT count(*) FROM ${table}`).values(),
      );
    expect(left()).not.toContainEqual([0]);
    await projects.remove(actor, 'shop');
    expect(left()).toEqual([[0], [0], [0], [0]]);
    expect((await imported(app, file)).slug).toBe('shop');
    // A crash behind the commit leaves them to the next start, or to whoever brings them back before.
    const { sweep } = contacts;
    contacts.sweep = () => Promise.reject(new Error('killed'));
    await projects.remove(actor, 'shop');
    contacts.sweep = sweep;
    expect(left()[0]).not.toEqual([0]);
    expect((await imported(app, file)).slug).toBe('shop');
    await projects.remove(actor, 'shop');
    // The trail outlives the project: what it says is taken out for the comparison.
    sql(app.data_dir, 'DROP TRIGGER IF EXISTS audit_is_kept');
    sql(app.data_dir, 'DELETE FROM audit_events WHERE project_public_id = ?', result.public_id);
    sql(app.data_dir, 'DELETE FROM access_tokens');
    // What a mail kept that went with its project, the next start removes.
    await app.services.blobs.remove(String(from.ids.pinned));
  });
});

describe('an export', () => {
  const files = (folder: string): string[] => readdirSync(folder).sort();

  test('overwrites nothing, and wants a folder and a passphrase that is not soon guessed', async () => {
    const project = from.app.services.projects.require('shop');
    const how = { is_copy: true, with_store: false, actor, onProgress: () => {} };
    const write = (path: string, passphrase = PASSPHRASE): Promise<string> =>
      messageOf(from.app.services.transfers.export(project, { ...how, file: path, passphrase }));
    const taken = join(makeTempDir(), 'taken');
    copyFileSync(file, taken);
    expect(await write(taken)).toContain('exists already');
    expect(await write(join(makeTempDir(), 'no', 'folder'))).toContain('does not exist');
    expect(await write(join(makeTempDir(), 'x'), 'too short')).toContain('at least 12 characters');
    expect(await write(join(makeTempDir(), 'x'), PASSPHRASE)).toBe('done');
    expect(from.app.services.projects.require('shop').status).toBe('active');
  });

  test('that is told to stop leaves no part of its file', async () => {
    const folder = makeTempDir();
    const child = spawnVerb(
      ['project', 'export', 'shop', join(folder, 'x'), '--copy', '--passphrase', 'env:PASS'],
      { env: { SATCHEL_DATA_DIR: from.app.data_dir, PASS: PASSPHRASE } },
    );
    while (files(folder).length === 0 && child.exitCode === null) await Bun.sleep(1);
    child.kill('SIGTERM');
    await child.exited;
    expect(files(folder).filter((name) => name !== 'x')).toEqual([]);
  });
});

describe('on the command line', () => {
  const env = { SATCHEL_DATA_DIR: app.data_dir, PASS: PASSPHRASE };

  test('a passphrase is not taken as a plain argument, and a file wants one', async () => {
    expect((await runWith(env, 'project', 'import', file, '--passphrase', 'plain')).exit).toBe(2);
    const without = await runWith(env, 'project', 'import', file);
    expect([without.exit, without.stderr]).toEqual([2, expect.stringContaining('--passphrase')]);
    expect((await runWith(env, 'project', 'export', 'own', '/tmp/x')).exit).toBe(2);
  });

  test('domains and mailboxes that are missing are listed, not made, and without them --go waits', async () => {
    const on = { SATCHEL_DATA_DIR: makeDataDir(), PASS: PASSPHRASE };
    const came = await runWith(on, 'project', 'import', file, '--passphrase', 'env:PASS', '--go', '--json');
    expect([came.exit, came.stderr]).toEqual([
      0,
      expect.stringContaining('mailboxes hello@news.example.com'),
    ]);
    const { missing, went_on } = JSON.parse(came.stdout);
    expect([missing.domains, missing.mailboxes, went_on]).toEqual([
      ['news.example.com', 'spare.example.com'],
      ['hello@news.example.com'],
      null,
    ]);
    expect((await runWith(on, 'mailbox', 'list', '--json')).stdout).not.toContain('hello@');
    // It goes on naming them: once they are there it sends from them.
    const { stdout } = await runWith(on, 'project', 'show', 'shop', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      sending_domain: 'news.example.com',
      sending_domains: ['spare.example.com', 'news.example.com'],
    });
    // What is of a file wants its passphrase, what is here does not.
    expect((await runWith(on, 'project', 'import', file, '--go')).exit).toBe(2);
    const went = await runWith(on, 'project', 'import', '--go', 'shop');
    expect([went.exit, went.stdout]).toEqual([0, expect.stringContaining('It goes on: 1 schedule')]);
  });

  test('a refusal is a document with --json', async () => {
    const refused = await runWith(
      { ...env, PASS: 'wrong' },
      'project',
      'import',
      file,
      '--passphrase',
      'env:PASS',
      '--json',
    );
    expect(refused.exit).toBe(1);
    expect(JSON.parse(refused.stdout).error.code).toBe('invalid');
  });

  test('a project that never moved has nothing to let go', async () => {
    const { services } = app;
    const project = services.projects.require('own');
    const went = await services.transfers.letGo(project, actor);
    expect(went).toEqual({ schedules: 0, sequences: 0, broadcasts: 0, jobs: 0, stayed: [] });
    sql(app.data_dir, 'DROP TRIGGER IF EXISTS audit_is_kept');
    sql(app.data_dir, 'DELETE FROM audit_events WHERE event = ?', 'project.let_go');
    sql(app.data_dir, 'DELETE FROM row_counts WHERE facet = ?', 'project.let_go');
  });
});

test('the name of a file says what it is', () => {
  expect(existsSync(file) && readFileSync(file).toString('latin1', 0, 20)).toContain(
    PROJECT_FILE.about.slice(0, 20),
  );
});
