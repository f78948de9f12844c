/** Pages far behind in a list of files: they hold what stands there, and hold nobody up. */
import { expect, test } from 'bun:test';
import { insertObject } from '../../../src/files/objects/store.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';

const COUNT = 25_000;

test('as pages at the front do, expired files and other visibilities left out, with turns for others', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const { database } = app.services;
  await database.write((tx) => {
    for (let n = 0; n < COUNT; n += 1)
      insertObject(tx, {
        ...{ public_id: newId(app.clock.now()), project_id: project.id, original_filename: `f${n}` },
        ...{ mime_type: 'text/plain', size_bytes: 1, sha256: 'x', store: 'local', created_at: 1 },
        is_utf8: false,
        visibility: n % 5 === 0 ? 'public' : 'private',
        expires_at: n % 7 === 0 ? 2 : null,
      });
  });
  const key = await project.key();
  const names = async (query: string): Promise<string[]> => {
    const { body } = await app.call('GET', `/api/v1/objects?per_page=50&${query}`, { key });
    return (body.data as { original_filename: string }[]).map((one) => one.original_filename);
  };
  const kept = Array.from({ length: COUNT }, (_, at) => COUNT - 1 - at).filter((n) => n % 7 !== 0);
  const at = (all: readonly number[], page: number) =>
    all.slice((page - 1) * 50, page * 50).map((n) => `f${n}`);
  for (const page of [1, 200, 201, 202, 400, 401, 402, 428, 429, 430])
    expect(await names(`page=${page}`)).toEqual(at(kept, page));
  const hidden = kept.filter((n) => n % 5 !== 0);
  for (const page of [1, 200, 201, 202, 342, 343, 344])
    expect(await names(`visibility=private&page=${page}`)).toEqual(at(hidden, page));

  let is_over = false;
  const far = app.services.objects.list(project.id, { page: 420, per_page: 50 }).finally(() => {
    is_over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(is_over).toBe(false);
  await far;
});

test('and a page behind the end is empty', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const { data, meta } = await app.services.objects.list(project.id, { page: 1_000_000, per_page: 100 });
  expect(data).toEqual([]);
  expect(meta).toMatchObject({ total: 0, last_page: 1 });
});
