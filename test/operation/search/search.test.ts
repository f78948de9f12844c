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

const NOTHING = {
  ...{ projects: 0, api_keys: 0, objects: 0, emails: 0, contacts: 0, lists: 0, segments: 0, templates: 0 },
  ...{ sequences: 0, broadcasts: 0, schedules: 0, webhooks: 0 },
};

describe('what is found', () => {
  test('a project by part of its name, and a key by part of its name, in any case', async () => {
    expect(await counts('THE')).toEqual({ ...NOTHING, projects: 1, api_keys: 1, lists: 1 });
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

  test('a file by the beginning of its name in any script, composed or not', async () => {
    const mac = 'Ölbild.pdf'.normalize('NFD');
    const form = new FormData();
    form.set('file', new Blob(['x']), mac);
    expect((await stage.call('POST', '/projects/mine/objects', stage.all, form)).status).toBe(201);
    for (const q of ['ÖLB', 'ölb'.normalize('NFD'), 'Ölbild.pdf'])
      expect((await search(q)).objects).toMatchObject([{ original_filename: mac }]);
    expect((await search('Olb')).objects).toEqual([]);
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

  test('whatever has a name by any part of it, in any case of any script', async () => {
    const { lists, segments, templates, sequences, broadcasts, webhooks, projects } = stage.app.services;
    const project = await projects.create(actor, { name: 'Nouns', slug: 'nouns' });
    const { id } = project;
    const list = await lists.create(id, { name: 'Über-Kunden' }, noNote);
    await lists.update(id, list.id, { archived: true }, noNote);
    const readers = await lists.create(id, { name: 'Łódź readers' }, noNote);
    const segment = { name: 'Ωmega', list: readers.id, filter: { tag: 'x' } };
    const { id: segment_id } = await segments.create(id, segment, noNote);
    const words = { category: 'transactional' as const, body_text: 'b' };
    await templates.create(
      id,
      { ...words, slug: 'order-shipped', name: 'Shipped', subject: 'On its WAY' },
      noNote,
    );
    await templates.create(
      id,
      {
        ...words,
        category: 'marketing',
        name: 'Mine',
        subject: 'Own words',
        is_own: true,
        is_marketing: true,
      },
      noNote,
    );
    const sequence = await sequences.create(
      id,
      { name: 'Wëlcome', list: readers.id, max_recipients: 9 },
      noNote,
    );
    const broadcast = { name: 'May', list: readers.id, template: 'order-shipped' };
    const { id: broadcast_id } = await broadcasts.create(id, broadcast, noNote);
    const blank = await broadcasts.create(id, { name: 'Blank', list: readers.id }, noNote);
    const { id: hook } = await webhooks.create(
      project,
      { url: 'https://hooks.example.org/In', description: 'The [shop]' },
      noNote,
    );
    const found = async (q: string) =>
      Object.fromEntries(Object.entries(await search(q)).filter(([, rows]) => rows.length > 0));
    const of = { public_id: project.public_id, name: 'Nouns', slug: 'nouns' };
    expect(await found('ÜBER')).toEqual({
      lists: [{ id: list.id, name: 'Über-Kunden', archived: true, project: of }],
    });
    expect(await found('ωME')).toEqual({
      segments: [
        { id: segment_id, name: 'Ωmega', list: { id: readers.id, name: 'Łódź readers' }, project: of },
      ],
    });
    expect(await found('łÓDŹ')).toMatchObject({
      lists: [{ id: readers.id }],
      segments: [{ id: segment_id }],
    });
    const shipped = { slug: 'order-shipped', name: 'Shipped', subject: 'On its WAY', project: of };
    expect(await found('ER-SHIP')).toEqual({ templates: [shipped] });
    expect(await found('its way')).toEqual({
      templates: [shipped],
      broadcasts: [{ id: broadcast_id, name: 'May', subject: 'On its WAY', status: 'draft', project: of }],
    });
    expect(await found('own WORDS')).toEqual({});
    expect(await found('WËL')).toEqual({
      sequences: [{ id: sequence.id, name: 'Wëlcome', status: 'draft', project: of }],
    });
    expect(await found('lank')).toMatchObject({ broadcasts: [{ id: blank.id, subject: null }] });
    expect(await found('raft')).toMatchObject({
      sequences: [{}],
      broadcasts: [{ id: blank.id }, { id: broadcast_id }],
    });
    const webhook = { id: hook, url: 'https://hooks.example.org/In', description: 'The [shop]', project: of };
    for (const q of ['s.EXAMPLE.org/in', 'e [SHOP]']) expect(await found(q)).toEqual({ webhooks: [webhook] });
    expect(await found('[shop')).toEqual({ webhooks: [webhook] });
    expect(await found('?hop')).toEqual({});
    const every_day = {
      ...{ name: 'Éach day', recipients: [{ email: 'a@example.org' }], cron_expression: '0 9 * * *' },
      ...{ subject: 's', body_text: 'b' },
    };
    const made = await stage.call('POST', '/projects/nouns/email-schedules', stage.all, every_day);
    expect([made.status, made.text]).toMatchObject([201, expect.any(String)]);
    expect(await found('éACH')).toEqual({
      schedules: [{ id: dataOf(made).id, name: 'Éach day', is_active: true, project: of }],
    });
    // By what it is called alone, and not by its id.
    expect(await found(list.id)).toEqual({});
    for (const q of ['ÜBER', 'ωME', 'its way', 'WËL', 'éACH', 'hooks.ex'])
      expect(await counts(q, stage.scoped)).toEqual(NOTHING);
  });

  test('what is of no project, by whoever may administer', async () => {
    const { people } = stage.app.services;
    const admin = await stage.makeToken({ capabilities: ['can_administer'] });
    const person = await people.add(actor, null, {
      email: 'zoe@example.org',
      name: 'Zoë Müller',
      all_projects: true,
    });
    const none = { ...NOTHING, sending_domains: 0, mailboxes: 0, people: 0, tokens: 0 };
    expect(await search('MÜLL', admin)).toMatchObject({
      people: [{ id: person.id, email: 'zoe@example.org', name: 'Zoë Müller' }],
    });
    expect(await counts('ZOE@', admin)).toEqual({ ...none, people: 1 });
    expect((await search('test TOK', admin)).tokens).toContainEqual({
      id: expect.any(Number),
      name: 'test token',
    });
    const found = await search('mail.EX', admin);
    expect(found.sending_domains).toEqual([{ name: 'mail.example.com' }]);
    expect(found.mailboxes).toEqual([{ address: 'shop@mail.example.com' }]);
    expect(await counts('MÜLL')).toEqual(NOTHING);
    expect(await counts('mail.EX', stage.all)).toEqual(NOTHING);
  });

  test('ten of each at most, the newest first', async () => {
    const { lists, projects } = stage.app.services;
    const { id } = await projects.create(actor, { name: 'Many', slug: 'many' });
    for (let n = 0; n < 12; n += 1) await lists.create(id, { name: `Crowd ${n}` }, noNote);
    const names = (await search('crowd')).lists?.map((list) => (isPlainObject(list) ? list.name : null));
    expect(names).toEqual(Array.from({ length: 10 }, (_, n) => `Crowd ${11 - n}`));
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
