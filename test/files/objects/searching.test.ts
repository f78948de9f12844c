/** A search of file names costs about the same for whatever is sought in whatever names. */
import { expect, test } from 'bun:test';
import { insertObject } from '../../../src/files/objects/store.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';

test('also for a long text that every name all but holds', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const { database } = app.services;
  await database.write((tx) => {
    for (let n = 0; n < 3_000; n += 1)
      insertObject(tx, {
        ...{ public_id: newId(app.clock.now()), project_id: project.id, original_filename: 'a'.repeat(255) },
        ...{ mime_type: 'text/plain', size_bytes: 1, sha256: 'x', visibility: 'private', store: 'local' },
        ...{ is_utf8: false, expires_at: null, created_at: 1 },
      });
  });
  const costOf = async (q: string): Promise<number> => {
    const before = process.cpuUsage();
    expect((await app.services.objects.list(project.id, { q })).meta.total).toBe(0);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  await costOf('zz');
  const [short, long] = [await costOf('zz'), await costOf(`${'a'.repeat(127)}b`)];
  // With LIKE it is some two hundred times as much.
  expect(long).toBeLessThan(20 * short);
});

test('in pieces, and each file once: pages follow each other over their ends', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const COUNT = 10_210;
  await app.services.database.write((tx) => {
    for (let n = 0; n < COUNT; n += 1)
      insertObject(tx, {
        ...{ public_id: newId(app.clock.now()), project_id: project.id, original_filename: `f${n}.${n % 2}` },
        ...{ mime_type: 'text/plain', size_bytes: 1, sha256: 'x', visibility: 'private', store: 'local' },
        ...{ is_utf8: false, expires_at: null, created_at: 1 },
      });
  });
  const key = await project.key();
  const page = async (query: string) => {
    const { body } = await app.call('GET', `/api/v1/objects?per_page=50&${query}`, { key });
    return {
      meta: body.meta,
      names: (body.data as { original_filename: string }[]).map((one) => one.original_filename),
    };
  };
  const halves = Array.from({ length: COUNT / 2 }, (_, at) => `f${COUNT - 1 - 2 * at}.1`);
  const found: string[] = [];
  for (let n = 1; n <= 103; n += 1) found.push(...(await page(`q=.1&page=${n}`)).names);
  expect(found).toEqual(halves);
  expect((await page('q=.1&page=103')).meta).toMatchObject({
    total: COUNT / 2,
    last_page: 103,
    has_more: false,
  });
  expect((await page('q=f')).meta).toMatchObject({ total: 10_000, total_capped: true, has_more: true });
  expect(await page('q=f&page=205')).toMatchObject({
    ...{
      meta: { total: COUNT, has_more: false },
      names: Array.from({ length: 10 }, (_, at) => `f${9 - at}.${(9 - at) % 2}`),
    },
  });
});
