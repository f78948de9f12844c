/** A search of file names costs about the same for whatever is sought in whatever names. */
import { expect, test } from 'bun:test';
import { countMatches, insertObject } from '../../../src/files/objects/store.ts';
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
        ...{ mime_type: 'text/plain', size_bytes: 1, sha256: 'x', visibility: 'private' },
        ...{ expires_at: null, created_at: 1 },
      });
  });
  const costOf = (q: string): number => {
    const before = process.cpuUsage();
    expect(countMatches(database.read, { project_id: project.id, q }, 1)).toBe(0);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  costOf('zz');
  const [short, long] = [costOf('zz'), costOf(`${'a'.repeat(127)}b`)];
  // With LIKE it is some two hundred times as much.
  expect(long).toBeLessThan(20 * short);
});
