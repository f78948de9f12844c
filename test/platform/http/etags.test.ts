/** Versions of records: whoever changes one says which they have read, and of two who read the same one exactly one wins. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { rows } from '../../mail/emails/setup.ts';
import { type Answer, addCapturingMailbox } from '../../support/helpers.ts';
import { codeOf, dataOf, type Management, startManagement } from '../../support/management.ts';

let on: Management;

beforeAll(async () => {
  on = await startManagement();
  await addCapturingMailbox(on.app);
});

const BASE = '/api/public/v1/projects/mine';
const TEMPLATE = { name: 'T', category: 'welcome', subject: 's', body_text: 'b' };
let made = 0;

/** The path of a new template. */
async function template(): Promise<string> {
  made += 1;
  const answer = await on.call('POST', '/projects/mine/email-templates', on.scoped, {
    ...TEMPLATE,
    slug: `t${made}`,
  });
  expect(answer.status).toBe(201);
  return `${BASE}/email-templates/t${made}`;
}

const get = (path: string): Promise<Answer> => on.app.call('GET', path, { token: on.scoped });
const etagOf = async (path: string): Promise<string> => (await get(path)).headers.get('etag') ?? '';
const patch = (path: string, body: unknown, if_match?: string, token = on.scoped): Promise<Answer> =>
  on.app.call('PATCH', path, {
    token,
    body,
    headers: if_match === undefined ? {} : { 'If-Match': if_match },
  });

describe('a change that names the version it was made to', () => {
  test('is made where that is the current one, and answers the next', async () => {
    const path = await template();
    const etag = await etagOf(path);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect(await etagOf(path)).toBe(etag);
    const changed = await patch(path, { subject: 'one' }, etag);
    expect([changed.status, dataOf(changed).subject]).toEqual([200, 'one']);
    const next = changed.headers.get('etag') ?? '';
    expect(next).not.toBe(etag);
    expect(await etagOf(path)).toBe(next);
    expect((await patch(path, { subject: 'two' }, next)).status).toBe(200);
  });

  test('is refused where somebody else was first, and changes nothing', async () => {
    const path = await template();
    const etag = await etagOf(path);
    await patch(path, { subject: 'theirs' });
    const before = [rows(on.app, 'SELECT * FROM email_templates'), on.snapshot()];
    for (const body of [{ subject: 'mine' }, {}]) {
      const refused = await patch(path, body, etag);
      expect([refused.status, codeOf(refused)]).toEqual([409, 'CONFLICT']);
      expect(refused.headers.get('etag')).toBeNull();
    }
    expect([rows(on.app, 'SELECT * FROM email_templates'), on.snapshot()]).toEqual(before);
    expect((await patch(path, { subject: 'mine' }, await etagOf(path))).status).toBe(200);
  });

  test('wins alone against others that are made in the same moment, into the same commit', async () => {
    const path = await template();
    const etag = await etagOf(path);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => patch(path, { subject: `editor ${n}` }, etag)),
    );
    const won = answers.filter((answer) => answer.status === 200);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array<number>(7).fill(409)]);
    const [winner] = won;
    expect(dataOf(await get(path)).subject).toBe(winner && dataOf(winner).subject);
    const slug = path.split('/').at(-1);
    const events = on.app.services.audit.listNewest({ event: 'template.changed' }, 100);
    expect(events.filter(({ target }) => target === `template:${slug}`).length).toBe(1);
  });

  test('loses against one of a key that came before it in the same commit', async () => {
    const path = await template();
    const etag = await etagOf(path);
    const slug = path.split('/').at(-1) ?? '';
    // What the data plane, or a command, does: it names no version.
    const other = on.app.services.templates.update(on.mine.id, slug, { subject: 'first' }, noNote);
    const refused = await patch(path, { subject: 'second' }, etag);
    await other;
    expect([refused.status, dataOf(await get(path)).subject]).toEqual([409, 'first']);
  });

  test('takes several versions, any, and one that a proxy has made weak', async () => {
    const path = await template();
    const etag = await etagOf(path);
    expect((await patch(path, {}, `"other", ${etag}`)).status).toBe(200);
    expect((await patch(path, { subject: 'a' }, '*')).status).toBe(200);
    expect((await patch(path, { subject: 'b' }, `W/${await etagOf(path)}`)).status).toBe(200);
    expect((await patch(path, { subject: 'c' }, '"other"')).status).toBe(409);
    expect((await patch(path, { subject: 'c' }, '')).status).toBe(409);
  });

  test('is refused for what else is wrong first', async () => {
    const path = await template();
    expect((await patch(path, { subject: '' }, '"old"')).status).toBe(422);
    expect((await patch(`${path}x`, {}, '"old"')).status).toBe(404);
    expect((await patch(path.replace('/mine/', '/other/'), {}, '"old"')).status).toBe(404);
    expect((await on.app.call('PATCH', path, { body: {}, headers: { 'If-Match': '"old"' } })).status).toBe(
      401,
    );
  });
});

test('what changes by itself is no part of a version', async () => {
  const schedule = await on.call('POST', '/projects/mine/email-schedules', on.scoped, {
    ...{ name: 'd', recipients: [{ email: 'ann@example.org' }], cron_expression: '@daily', subject: 's' },
    body_text: 'b',
  });
  const path = `${BASE}/email-schedules/${dataOf(schedule).id}`;
  const etag = await etagOf(path);
  await on.call('POST', `/projects/mine/email-schedules/${dataOf(schedule).id}/run`, on.scoped);
  await on.app.app.engine.whenIdle();
  expect(dataOf(await get(path)).last_status).toBe('completed');
  expect(await etagOf(path)).toBe(etag);
  expect((await patch(path, { name: 'e' }, etag)).status).toBe(200);
});

test('a project by any of its names has the same version, and its new keys are none', async () => {
  const names = ['mine', on.mine.public_id, String(on.mine.id)].map(
    (ref) => `/api/public/v1/projects/${ref}`,
  );
  const etags = await Promise.all(names.map(etagOf));
  expect(new Set(etags).size).toBe(1);
  await on.call('POST', '/projects/mine/api-keys', on.all, { name: 'k' });
  expect(await etagOf(names[0] ?? '')).toBe(etags[0] ?? '');
  expect((await patch(names[1] ?? '', { notes: 'n' }, etags[0])).status).toBe(200);
  expect((await patch(names[2] ?? '', { notes: 'm' }, etags[0])).status).toBe(409);
});

test('a file whose record is answered in another shape has a version too', async () => {
  const form = new FormData();
  form.set('file', new Blob(['x']), 'x.txt');
  const { public_id } = dataOf(await on.call('POST', '/projects/mine/objects', on.scoped, form));
  const path = `${BASE}/objects/${public_id}`;
  const etag = await etagOf(path);
  const changed = await patch(path, { expires_in_days: 3 }, etag);
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, null]);
  expect((await patch(path, { visibility: 'public' }, etag)).status).toBe(409);
  expect(dataOf(await get(path)).visibility).toBe('private');
});

test('every record that can be changed on the management plane has a version', () => {
  const of = (method: string): string[] =>
    on.app.app.routes
      .filter((route) => route.plane === 'management' && route.method === method)
      .map(({ path }) => path);
  const versioned = on.app.app.routes.filter(({ docs }) => docs.takes_if_match).map(({ path }) => path);
  expect(of('PATCH').filter((path) => !versioned.includes(path))).toEqual([]);
  const told = on.app.app.routes
    .filter(({ method, docs }) => method === 'GET' && docs.headers?.ETag)
    .map(({ path }) => path);
  expect(versioned.filter((path) => !told.includes(path))).toEqual([]);
});
