/** One declaration, two routes: what a key sees on the data plane and a token on its mirror, and who is kept out of both. */
import { beforeAll, expect, test } from 'bun:test';
import {
  actor,
  addCapturingMailbox,
  makeProject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';

let app: TestApp;
let key = '';
let job_id = '';
const tokens: Record<string, string> = {};

beforeAll(async () => {
  app = await startTestApp();
  const shop = await makeProject(app, 'shop');
  await makeProject(app, 'other');
  key = await shop.key({ can_read: true, can_send_emails: true });
  await addCapturingMailbox(app);
  const body = { to: 'ann@example.org', subject: 's', body_text: 'b' };
  job_id = String((await app.call('POST', '/api/v1/emails/send', { key, body })).body.job_id);
  for (const project of ['shop', 'other']) {
    const made = await app.services.tokens.create(actor, {
      ...{ name: 't', all_projects: false, projects: [project], capabilities: [], expires_in_days: 1 },
    });
    tokens[project] = made.token;
  }
});

const onDataPlane = (path: string) => app.call('GET', `/api/v1${path}`, { key });
const onMirror = (path: string, token = tokens.shop) =>
  app.call('GET', `/api/public/v1/projects/shop${path}`, token === undefined ? {} : { token });

test('both answer the same, each in the envelope of its plane', async () => {
  const data = await onDataPlane(`/jobs/${job_id}`);
  const mirrored = await onMirror(`/jobs/${job_id}`);
  expect([data.status, mirrored.status]).toEqual([200, 200]);
  expect(data.body).toMatchObject({ success: true, data: { id: job_id } });
  expect(mirrored.body).toEqual({ data: data.body.data });
});

test('lists have the same rows; the next call that the message names is on the plane that was asked', async () => {
  const data = await onDataPlane('/jobs?page=2');
  const mirrored = await onMirror('/jobs?page=2');
  const { success, message, ...rest } = data.body;
  expect(success).toBe(true);
  expect(message).toContain('GET /api/v1/jobs?page=1');
  expect(mirrored.body).toEqual({
    ...rest,
    message: expect.stringContaining('GET /api/public/v1/projects/shop/jobs?page=1'),
  });
});

test('refusals are in the envelope of the plane, and another project’s token finds nothing', async () => {
  expect((await onDataPlane('/jobs?page=0')).body).toMatchObject({
    success: false,
    errors: { page: [expect.any(String)] },
  });
  expect((await onMirror('/jobs?page=0')).body).toMatchObject({
    error: { code: 'VALIDATION_FAILED', details: { errors: { page: [expect.any(String)] } } },
  });
  expect((await onMirror(`/jobs/${job_id}`, '')).status).toBe(401);
  const foreign = await onMirror(`/jobs/${job_id}`, tokens.other);
  expect([foreign.status, foreign.body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  // A key is no credential of the mirror, nor a token one of the data plane.
  expect((await app.call('GET', '/api/public/v1/projects/shop/jobs', { key })).status).toBe(401);
  expect((await app.call('GET', '/api/v1/jobs', { token: tokens.shop ?? '' })).status).toBe(401);
});

test('a request of the mirror counts once against its token, found or not', async () => {
  const left = async (path: string) => Number((await onMirror(path)).headers.get('ratelimit-remaining'));
  const before = await left('/jobs');
  expect(await left('/jobs')).toBe(before - 1);
  expect(await left('/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe(before - 2);
});
