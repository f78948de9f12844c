/** A project whose bytes are in an object store: they come along, are copied from the bucket, or stay where both reach them. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { runWith } from '../../support/command.ts';
import { dumpBlobs, upload } from '../../support/deployment.ts';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startS3Server, VERSITYGW } from '../../support/s3-server.ts';
import { makeTempDir } from '../../support/temp.ts';
import { exported, imported, PASSPHRASE } from './setup.ts';

describe.skipIf(VERSITYGW === null)('bytes in an object store', async () => {
  // Bun reads what is skipped, too.
  if (VERSITYGW === null) return;
  const s3 = await startS3Server();
  const env = (prefix: string): Record<string, string> => s3.env(prefix);
  const from = await startTestApp({ env: env('from') });
  const project = await makeProject(from);
  const key = await project.key();
  const ids = [await upload(from, key, 'one'), await upload(from, key, 'x'.repeat(2_000_000))].sort();
  const brought = await exported(from, { is_copy: true, with_store: true });
  const listed = await exported(from, { is_copy: true });

  const wholeIn = async (app: TestApp): Promise<boolean> => {
    const answers = await Promise.all(ids.map((id) => app.call('GET', `/api/v1/objects/${id}`, { key })));
    return (
      answers
        .map(({ text }) => text.length)
        .sort((a, b) => a - b)
        .join() === '3,2000000'
    );
  };
  const stores = (app: TestApp): string[] =>
    app.services.database.read.$client
      .query<{ store: string }, []>('SELECT DISTINCT store FROM objects')
      .all()
      .map(({ store }) => store);
  const removals = (app: TestApp): unknown[] =>
    app.services.database.read.$client.query('SELECT * FROM store_removals').all();

  test('they come along where that was asked for, into the data directory where no store is set', async () => {
    const app = await startTestApp();
    await imported(app, brought);
    expect(await wholeIn(app)).toBe(true);
    expect(stores(app)).toEqual(['local']);
    expect(Object.keys(dumpBlobs(app.data_dir)).length).toBe(2);
  });

  test('or into the store that is set', async () => {
    const app = await startTestApp({ env: env('own') });
    await imported(app, brought);
    expect(await wholeIn(app)).toBe(true);
    expect(s3.idsIn('own').sort()).toEqual(ids);
  });

  test('they are copied from another place of the same bucket, and stay there', async () => {
    const app = await startTestApp({ env: env('beside') });
    await imported(app, listed);
    expect(await wholeIn(app)).toBe(true);
    expect(s3.idsIn('beside').sort()).toEqual(ids);
    expect(s3.idsIn('from').sort()).toEqual(ids);
  });

  test('they stay where both Satchels have their place', async () => {
    const app = await startTestApp({ env: env('from') });
    await imported(app, listed);
    expect(await wholeIn(app)).toBe(true);
    expect(s3.idsIn('from').sort()).toEqual(ids);
  });

  test('an import that breaks off there notes nothing of theirs as to be removed', async () => {
    const app = await startTestApp({ env: env('from') });
    const { services } = app;
    const { database } = services;
    const write = database.write.bind(database);
    // The import's next after that of the rows of objects: what else writes meanwhile is let be.
    let is_cut = false;
    Reflect.set(database, 'write', (change: Parameters<typeof write>[0]) => {
      const is_of_import = new Error().stack?.includes('/src/operation/transfers/') === true;
      if (is_cut || !is_of_import || stores(app).length === 0) return write(change);
      is_cut = true;
      return Promise.reject(new Error('cut off'));
    });
    const failed = await imported(app, listed).catch(String);
    expect(failed).toContain('cut off. Nothing was left of it.');
    Reflect.set(database, 'write', write);
    expect(removals(app)).toEqual([]);
    expect(s3.idsIn('from').sort()).toEqual(ids);
  });

  test('where the bucket is not reached, the import is refused before anything is written', async () => {
    const app = await startTestApp();
    await expect(imported(app, listed)).rejects.toThrow('where this Satchel does not find them');
    expect(app.services.projects.listAll({})).toEqual([]);
  });

  test('without the settings of the store, a project with bytes in it is not exported, and goes on', async () => {
    const env = { SATCHEL_DATA_DIR: from.data_dir, PASS: PASSPHRASE };
    const file = join(makeTempDir(), 'x');
    const refused = await runWith(env, 'project', 'export', 'shop', file, '--passphrase', 'env:PASS');
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('Set SATCHEL_OBJECT_STORE')]);
    expect(from.services.projects.require('shop').status).toBe('active');
  });

  test('--with-store without a store is refused', async () => {
    const app = await startTestApp();
    await makeProject(app);
    await expect(exported(app, { with_store: true })).rejects.toThrow('No object store is set');
    expect(app.services.projects.require('shop').status).toBe('active');
  });
});
