/** The search: what finds what, and within whose projects. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { actor, addCapturingMailbox, makeProject } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let stage: Management;

async function fill(slug: string, file: string): Promise<void> {
  const { app } = stage;
  const { keys, lists, contacts, database, projects } = app.services;
  const project = projects.require(slug);
  const { plaintext_key: key } = await keys.create(actor, project, {
    ...{ name: `Web of ${slug}`, can_read: true, can_write: true, can_send_emails: true },
  });
  const form = new FormData();
  form.set('file', new Blob(['x']), file);
  expect((await app.call('POST', '/api/v1/objects', { key, body: form })).status).toBe(201);
  const body = { to: 'Ann@example.org', subject: `Hello from ${slug}`, body_text: 'b' };
  expect((await app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(202);
  const list = await lists.create(project.id, { name: `News of ${slug}` }, noNote);
  const candidate = {
    ...{ email: 'ann@example.org', first_name: 'Ann', last_name: null, tags: [], custom: {}, source: null },
    ...{ reason: null, source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
    consent_origin: null,
    is_test: false,
  };
  const passed = { verdict: 'passed', candidate, email: candidate.email, consent_basis: 'consent' } as const;
  const row = lists.require(project.id, list.id);
  await database.write((tx) => {
    contacts.admit(tx, project, row, [passed], { status: 'active', update_existing: false });
  });
}

beforeAll(async () => {
  stage = await startManagement();
  await addCapturingMailbox(stage.app);
  await fill('mine', 'Report-2030.pdf');
  await fill('other', 'report-other.pdf');
});

async function search(q: string, token = stage.all): Promise<Record<string, unknown[]>> {
  const answer = await stage.call('GET', `/search?q=${encodeURIComponent(q)}`, token);
  expect([answer.status, answer.text]).toMatchObject([200, expect.any(String)]);
  const found = dataOf(answer);
  return Object.fromEntries(
    Object.entries(found).map(([kind, rows]) => [kind, Array.isArray(rows) ? rows : []]),
  );
}

/** How many of each kind. */
async function counts(q: string, token = stage.all): Promise<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(await search(q, token)).map(([kind, rows]) => [kind, rows.length]),
  );
}

const NOTHING = { projects: 0, api_keys: 0, objects: 0, emails: 0, contacts: 0 };

describe('what is found', () => {
  test('a project by part of its name, and a key by part of its name, in any case', async () => {
    expect(await counts('THE')).toEqual({ ...NOTHING, projects: 1, api_keys: 1 });
    expect(await search('of MINE')).toMatchObject({
      projects: [],
      api_keys: [{ name: 'Web of mine', is_active: true, project: { slug: 'mine', name: 'Mine' } }],
    });
  });

  test('a key by the beginning of its secret and by the whole of it, never by its middle', async () => {
    const project = stage.app.services.projects.require('mine');
    const { keys } = stage.app.services;
    const made = await keys.create(actor, project, { name: 'pasted' });
    for (const q of [made.key_prefix, made.plaintext_key])
      expect((await search(q)).api_keys).toMatchObject([{ name: 'pasted', key_prefix: made.key_prefix }]);
    expect((await search(made.plaintext_key.slice(9))).api_keys).toEqual([]);
    await keys.remove(actor, keys.get(project, String(made.id)));
  });

  test('a file by the beginning of its name, in any case, and not by its middle', async () => {
    expect((await search('REPORT')).objects).toMatchObject([
      { original_filename: 'report-other.pdf', project: { slug: 'other' } },
      { original_filename: 'Report-2030.pdf', size_bytes: 1, project: { slug: 'mine' } },
    ]);
    expect((await search('report-2')).objects).toHaveLength(1);
    expect(await counts('2030')).toEqual(NOTHING);
  });

  test('mails and contacts by the beginning of an address, and a mail by its id', async () => {
    const found = await search('ann@EX');
    expect(found.emails).toMatchObject([
      { to: 'Ann@example.org', subject: 'Hello from other', status: expect.any(String) },
      { subject: 'Hello from mine', project: { public_id: stage.mine.public_id } },
    ]);
    expect(found.contacts).toMatchObject([
      { email: 'ann@example.org', first_name: 'Ann', status: 'active', list: { name: 'News of other' } },
      { list: { name: 'News of mine' }, project: { slug: 'mine' } },
    ]);
    const [mail] = found.emails ?? [];
    const id = isPlainObject(mail) ? String(mail.id) : '';
    expect(await counts(id.toLowerCase())).toEqual({ ...NOTHING, emails: 1 });
    expect((await search(id)).emails).toMatchObject([{ id }]);
  });

  test('the mails to that very address first, ten at most and none twice', async () => {
    const project = await makeProject(stage.app, 'busy');
    const key = await project.key({ can_send_emails: true });
    const send = (to: string) =>
      stage.app.call('POST', '/api/v1/emails/send', { key, body: { to, subject: 's', body_text: 'b' } });
    for (let n = 0; n < 8; n += 1) await send(`bob@example.orga${n}`);
    for (let n = 0; n < 4; n += 1) await send('bob@example.org');
    const { emails = [] } = await search('bob@example.org');
    const addresses = emails.map((mail) => (isPlainObject(mail) ? mail.to : null));
    expect(addresses).toHaveLength(10);
    expect(addresses.slice(0, 4)).toEqual(Array(4).fill('bob@example.org'));
    expect(new Set(emails.map((mail) => (isPlainObject(mail) ? mail.id : null))).size).toBe(10);
  });

  test('an expired file is not found', async () => {
    const { clock, call } = stage.app;
    const key = await makeProject(stage.app, 'short').then((project) => project.key());
    const form = new FormData();
    form.set('file', new Blob(['x']), 'fleeting.txt');
    form.set('expires_in_days', '1');
    await call('POST', '/api/v1/objects', { key, body: form });
    expect(await counts('fleeting')).toEqual({ ...NOTHING, objects: 1 });
    clock.advance(86_400_001);
    expect(await counts('fleeting')).toEqual(NOTHING);
  });

  test('wildcards and quotes are letters like any other', async () => {
    for (const q of ['%', '_', "'", '"', '*', 'ann%']) expect([q, await counts(q)]).toEqual([q, NOTHING]);
  });
});

describe('who finds it', () => {
  test('a scoped token finds nothing of another project', async () => {
    for (const q of ['o', 'report', 'ann@', 'Web'])
      expect(JSON.stringify(await search(q, stage.scoped))).not.toContain('ther');
    expect(await counts('ann@', stage.scoped)).toEqual({ ...NOTHING, emails: 1, contacts: 1 });
    const [foreign] = (await search('ann@')).emails ?? [];
    const id = isPlainObject(foreign) ? String(foreign.id) : '';
    expect(await counts(id, stage.scoped)).toEqual(NOTHING);
  });

  test('without a token it is 401, and without anything to look for 422', async () => {
    expect(codeOf(await stage.call('GET', '/search?q=a', null))).toBe('MISSING_ACCESS_TOKEN');
    for (const query of ['', '?q=', `?q=${'x'.repeat(321)}`]) {
      const answer = await stage.call('GET', `/search${query}`, stage.all);
      expect([query.length, answer.status, invalidFieldsOf(answer)]).toEqual([query.length, 422, ['q']]);
    }
  });
});
