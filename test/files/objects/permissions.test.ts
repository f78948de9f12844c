/** The two halves of `write`: adding files without reading or deleting any, and writing without deleting. */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeProject, startTestApp } from '../../support/helpers.ts';

const app = await startTestApp();
const project = await makeProject(app, 'permissions');
const full = await project.key({ can_read: true, can_write: true });

function form(): FormData {
  const data = new FormData();
  data.set('file', new Blob(['hello'], { type: 'text/plain' }), 'note.txt');
  return data;
}

const upload = (key: string) => app.call('POST', '/api/v1/objects', { key, body: form() });

async function stored(): Promise<string> {
  return `/api/v1/objects/${String((await upload(full)).body.public_id)}`;
}

const countObjects = async () => (await app.call('GET', '/api/v1/objects', { key: full })).body.meta;
const filesOnDisk = () =>
  readdirSync(join(app.data_dir, 'objects'), { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  ).length;

/** Statuses of an upload, a list, a private download, a change and a deletion, in this order. */
async function statusesOf(key: string): Promise<number[]> {
  const url = await stored();
  const answers = [
    await upload(key),
    await app.call('GET', '/api/v1/objects', { key }),
    await app.call('GET', url, { key }),
    await app.call('PATCH', url, { key, body: { visibility: 'private' } }),
    await app.call('DELETE', url, { key }),
  ];
  return answers.map((answer) => answer.status);
}

test.each([
  [{ permissions: { upload: true } }, [201, 403, 403, 403, 403]],
  [{ can_read: true, permissions: { upload: true } }, [201, 200, 200, 403, 403]],
  [{ can_read: true, permissions: { upload: false, delete: true } }, [403, 200, 200, 403, 403]],
  [{ permissions: {} }, [403, 403, 403, 403, 403]],
  [{ can_write: true }, [201, 403, 403, 200, 200]],
  [{ can_write: true, permissions: { delete: true, upload: false } }, [201, 403, 403, 200, 200]],
  [{ can_write: true, permissions: { delete: false } }, [201, 403, 403, 200, 403]],
  [{ permissions: { upload: true, delete: true } }, [201, 403, 403, 403, 403]],
])('a key of %j gets %p', async (fields, statuses) => {
  expect(await statusesOf(await project.key(fields))).toEqual(statuses);
});

test('a refusal names what is lacking and changes nothing', async () => {
  const url = await stored();
  const no_delete = await project.key({ can_write: true, permissions: { delete: false } });
  const reader = await project.key({ can_read: true });
  const before = [await countObjects(), filesOnDisk()];
  const removal = await app.call('DELETE', url, { key: no_delete });
  expect(removal.body.message).toContain("lacks the permission 'delete'");
  expect((await app.call('DELETE', url, { key: reader })).body.message).toContain("'write'");
  expect((await upload(reader)).body.message).toContain("lacks the permission 'write', or 'upload'");
  expect([await countObjects(), filesOnDisk()]).toEqual(before);
  expect((await app.call('GET', url, { key: full })).text).toBe('hello');
});
