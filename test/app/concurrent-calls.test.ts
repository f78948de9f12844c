/** Five of the same call at once: what a call decides is decided in its own transaction, so one wins and the others hear why. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import type { Tx } from '../../src/platform/database/database.ts';
import { GRANTABLE } from '../../src/platform/http/callers.ts';
import type { Route } from '../../src/platform/http/routes.ts';
import { type SequenceApp, startSequenceApp } from '../marketing/sequences/setup.ts';
import {
  type Answer,
  actor,
  type CallOptions,
  makeProject,
  startTestApp,
  type TestApp,
} from '../support/helpers.ts';
import { dataOf } from '../support/management.ts';
import { makeOneOfEach, pathOf } from '../support/one-of-each.ts';

const CALLS = 5;
const EVERYTHING = {
  ...{ can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true },
  permissions: { email_template: true },
};

const STEPS = [{ key: 'a', template: 'hello', is_final: true }];

/** Statuses of as many calls at once, lowest first. */
async function statusesOf(call: (nth: number) => Promise<Answer>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: CALLS }, (_, nth) => call(nth)));
  return answers.map(({ status }) => status).toSorted();
}

const oneWins = (won: number, lost: number): number[] => [won, lost, lost, lost, lost];

/** What may be said of a thing any number of times: its end stands, and so does the vault's that holds nothing more. */
const REPEATABLE = [
  '/tokens/:token',
  '/projects/:project/vault/:service',
  '/projects/:project/vault/:service/versions',
];

async function startWithEverything() {
  const app = await startTestApp();
  const owner = await makeProject(app, 'owner');
  const key = await owner.key(EVERYTHING);
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 'all', all_projects: true, projects: [], capabilities: [...GRANTABLE] },
  });
  const copy = { passphrase: 'correct horse battery staple', is_copy: true, with_store: false, actor };
  const project_file = await app.services.transfers.files.export(
    app.services.projects.require('owner'),
    copy,
  );
  const existing = { ...(await makeOneOfEach(app, owner, { key, token })), project_file: project_file.id };
  const credentials = (route: Route): CallOptions =>
    route.plane === 'data' ? { key, headers: { 'Tus-Resumable': '1.0.0' } } : { token };
  const routes = app.app.routes.filter(({ plane }) => plane === 'data' || plane === 'management');
  return { app, routes, existing, credentials };
}

/** Deleted after what they hold, or what is made with them. */
const LAST = [
  '/api-keys/:apiKey',
  '/database-accounts/:account',
  '/sending-domains/:name',
  '/projects/:project',
];
const rankOf = ({ path }: Route): number => LAST.findIndex((each) => path.endsWith(each));

describe('deleting one thing five times at once deletes it once, and for the others it is gone', () => {
  test.each(['data', 'management'] as const)('on the %s plane', async (plane) => {
    const { app, routes, existing, credentials } = await startWithEverything();
    const deletions = routes
      .filter((route) => route.plane === plane && route.method === 'DELETE')
      .filter(({ path }) => !REPEATABLE.includes(path))
      .toSorted((a, b) => rankOf(a) - rankOf(b));
    expect(deletions.length).toBeGreaterThan(2);
    // What is canceled is still there.
    const lostOf = ({ path }: Route): number => (path.endsWith('/schedule') ? 409 : 404);
    for (const route of deletions) {
      const path = pathOf(route, existing);
      const statuses = await statusesOf(() => app.call('DELETE', path, credentials(route)));
      expect([route.path, ...statuses]).toEqual([route.path, ...oneWins(route.status, lostOf(route))]);
    }
  });
});

describe('of five at once', () => {
  let on: SequenceApp;
  let token = '';

  beforeAll(async () => {
    on = await startSequenceApp();
    const made = await on.app.services.tokens.create(actor, {
      ...{ name: 'all', all_projects: true, projects: [], capabilities: [...GRANTABLE] },
    });
    token = made.token;
    await on.template('hello');
  });

  const manage = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
    on.app.call(method, `/api/public/v1${path}`, { token, headers, ...(body === undefined ? {} : { body }) });

  test.each([
    ['project', '/projects', { name: 'Twice', slug: 'twice' }, 409],
    ['person', '/people', { email: 'twice@example.com', all_projects: true }, 409],
    ['sending domain', '/sending-domains', { name: 'twice.example.com' }, 409],
    ['global origin', '/global-origins', { type: 'domain', value: 'https://twice.example.com' }, 409],
    [
      'template',
      '/projects/shop/email-templates',
      { name: 'Twice', slug: 'twice', category: 'other', subject: 's', body_text: 'b' },
      422,
    ],
    ['backup', '/backups', {}, 409],
  ])('that make the same %s one does', async (_what, path, body, lost) => {
    const before = await manage('GET', path);
    const answers = await Promise.all(Array.from({ length: CALLS }, () => manage('POST', path, body)));
    const [won = 0, ...others] = answers.map(({ status }) => status).toSorted();
    expect([won < 300, ...others]).toEqual([true, lost, lost, lost, lost]);
    await on.app.services.engine.whenIdle();
    const count = (answer: Answer): number => Object(answer.body.data).length;
    expect(count(await manage('GET', path))).toBe(count(before) + 1);
  });

  test('that add the same mailbox, or the same origin to a key, one does', async () => {
    const mailbox = { address: 'again@news.example.com', capture: true };
    expect(await statusesOf(() => manage('POST', '/mailboxes', mailbox))).toEqual(oneWins(201, 409));
    const key = dataOf(await manage('POST', '/projects/shop/api-keys', { name: 'k' }));
    const path = `/projects/shop/api-keys/${key.id}/origins`;
    const origin = { type: 'domain', value: 'https://app.example.com' };
    expect(await statusesOf(() => manage('POST', path, origin))).toEqual(oneWins(201, 409));
  });

  test('that change what all of them read as it was, one does, by If-Match', async () => {
    const read = await manage('GET', '/projects/shop');
    const headers = { 'If-Match': read.headers.get('etag') ?? '' };
    const change = (nth: number) => manage('PATCH', '/projects/shop', { notes: `by ${nth}` }, headers);
    expect(await statusesOf(change)).toEqual(oneWins(200, 409));
  });

  test('that make a schedule of a template while it is deleted, those behind the deletion are told', async () => {
    const template = { name: 'Gone', slug: 'gone', category: 'other', subject: 's', body_text: 'b' };
    await manage('POST', '/projects/shop/email-templates', template);
    const schedule = {
      ...{ name: 'daily', recipients: [{ email: 'ann@example.org' }], cron_expression: '@daily' },
      template: 'gone',
    };
    const { schedules, templates } = on.app.services;
    const caller = { project: on.project, key: null, note: () => {} };
    const [, refused] = await Promise.allSettled([
      templates.remove(on.project.id, 'gone', noNote),
      schedules.create(caller, schedule),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { kind: 'invalid' } });
  });

  test('that change different things of an origin, none takes back what another changed', async () => {
    const { origins, keys } = on.app.services;
    const key = keys.require(
      String(dataOf(await manage('POST', '/projects/shop/api-keys', { name: 'k' })).id),
    );
    const [sha256, sha1] = ['AB'.repeat(32), 'CD'.repeat(20)];
    const added = await origins.add(actor, key, { type: 'android', value: 'com.example.app' });
    const row = origins.require(key, String(added.id));
    await Promise.all([
      origins.update(actor, key, row, { sha256_fingerprints: [sha256] }),
      origins.update(actor, key, row, { value: 'com.example.other' }),
      origins.update(actor, key, row, { sha1_fingerprints: [sha1] }),
    ]);
    expect(origins.require(key, String(added.id))).toMatchObject({
      ...{ value: 'com.example.other', sha256_fingerprints: [sha256], sha1_fingerprints: [sha1] },
    });
  });

  test('that make a link to a file which is deleted first, none opens anything: they are told that it is gone', async () => {
    const form = new FormData();
    form.set('file', new Blob(['x']), 'a.txt');
    const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
    const path = `/objects/${body.public_id}`;
    const [gone, ...links] = await Promise.all([
      on.call('DELETE', path),
      ...[1, 2].map(() => on.call('POST', `${path}/links`, { expires_in_seconds: 60 })),
    ]);
    expect([gone?.status, ...links.map(({ status }) => status)]).toEqual([200, 404, 404]);
  });

  test('that reveal an account which is deleted first, none leaves a trace of a secret', async () => {
    const account = dataOf(
      await manage('POST', '/ai-accounts', { name: 'ai', provider: 'openai', api_key: 'sk-1' }),
    );
    const path = `/ai-accounts/${account.id}`;
    const [gone, ...reveals] = await Promise.all([
      manage('DELETE', path),
      ...[1, 2].map(() => manage('POST', `${path}/reveal`)),
    ]);
    expect([gone?.status, ...reveals.map(({ status }) => status)]).toEqual([200, 404, 404]);
    expect(reveals.map(({ text }) => text).join()).not.toContain('sk-1');
  });

  test('that activate, pause, resume or finish a sequence one does each', async () => {
    const list = await on.list();
    const sequence = await on.draft(list, STEPS);
    for (const verb of ['activate', 'pause', 'resume', 'finish']) {
      const statuses = await statusesOf(() => on.call('POST', `/email-sequences/${sequence}/${verb}`));
      expect([verb, ...statuses]).toEqual([verb, ...oneWins(200, 409)]);
    }
  });

  test('that activate a draft while its steps are taken away never start one without steps', async () => {
    const list = await on.list();
    const sequence = await on.draft(list, STEPS);
    const [changed, ...activated] = await Promise.all([
      on.call('PATCH', `/email-sequences/${sequence}`, { steps: [] }),
      ...[1, 2].map(() => on.call('POST', `/email-sequences/${sequence}/activate`)),
    ]);
    const statuses = [changed?.status, ...activated.map(({ status }) => status).toSorted()];
    expect([
      [200, 422, 422],
      [422, 200, 409],
    ]).toContainEqual(statuses);
    const { status, steps } = dataOf(await on.call('GET', `/email-sequences/${sequence}`));
    expect([status, steps]).toEqual(
      changed?.status === 200 ? ['draft', []] : ['active', [expect.anything()]],
    );
  });

  test('that enroll somebody where one has room, one does', async () => {
    const list = await on.list();
    const contacts = [await on.contact(list, 'c@example.com')];
    const sequence = await on.active(list, STEPS, { max_recipients: 1 });
    while (contacts.length < CALLS) contacts.push(await on.contact(list, `c${contacts.length}@example.com`));
    const enroll = (nth: number) =>
      on.call('POST', `/email-sequences/${sequence}/enroll`, { contact_ids: [contacts[nth]?.id] });
    expect(await statusesOf(enroll)).toEqual(oneWins(200, 422));
  });

  test('that add the same contact one does; to the others it is a duplicate', async () => {
    const list = await on.list();
    const add = () => on.call('POST', `/email-lists/${list}/contacts`, { email: 'one@example.com' });
    expect(await statusesOf(add)).toEqual([200, 200, 200, 200, 201]);
  });

  test('that suppress the same address one is new', async () => {
    const add = () => on.call('POST', '/email-suppressions', { email: 'one@example.com' });
    expect(await statusesOf(add)).toEqual([200, 200, 200, 200, 201]);
  });

  test('that send with a quota for one, one is sent', async () => {
    const key = await on.project.key({ can_send_emails: true, email_daily_limit: 1 });
    const body = { to: 'ann@example.com', subject: 's', body_text: 'b' };
    const send = () => on.app.call('POST', '/api/v1/emails/send', { key, body });
    expect(await statusesOf(send)).toEqual(oneWins(202, 429));
  });

  test('that upload under one Idempotency-Key one object comes', async () => {
    const upload = () => {
      const form = new FormData();
      form.set('file', new Blob(['same']), 'a.txt');
      const headers = { 'Idempotency-Key': 'same' };
      return on.app.call('POST', '/api/v1/objects', { key: on.key, body: form, headers });
    };
    const answers = await Promise.all(Array.from({ length: CALLS }, upload));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.public_id}`)).size).toBe(1);
  });
});

test('of five changes of one version of anything one is made', async () => {
  const { app, routes, existing, credentials } = await startWithEverything();
  // Their examples change nothing of these.
  const bodies: Readonly<Record<string, unknown>> = {
    '/projects/:project/webhooks/:webhook': { description: 'Another' },
    '/sending-domains/:name': { is_active: false },
  };
  const versioned = routes.filter(({ docs }) => docs.takes_if_match);
  expect(versioned.length).toBeGreaterThan(15);
  for (const route of versioned) {
    const [path, credential] = [pathOf(route, existing), credentials(route)];
    const headers = { 'If-Match': (await app.call('GET', path, credential)).headers.get('etag') ?? '' };
    const body = bodies[route.path] ?? route.docs.example;
    const statuses = await statusesOf(() => app.call(route.method, path, { ...credential, headers, body }));
    expect([route.path, ...statuses]).toEqual([route.path, ...oneWins(200, 409)]);
  }
});

/** Has something change between the acceptance of each call and its own change. */
function meanwhile({ database }: TestApp['services'], change: (tx: Tx) => void): void {
  const guarded = database.guarded.bind(database);
  database.guarded = async (check, work) => {
    await database.write(change);
    return guarded(check, work);
  };
}

/** What changes no row: it looks, tries, or removes a file; a batch answers for each of its events, with 401. */
const NO_CHANGE_OF_ROWS = [
  'POST /projects/:project/vault/env/import', // its example is a dry run
  'POST /projects/:project/emails/retry', // none has failed
  'POST /email-lists/:list/imports/columns',
  'POST /projects/:project/email-lists/:list/imports/columns',
  'POST /email-contacts/events/batch',
  'POST /projects/:project/email-contacts/events/batch',
  'POST /mailboxes/:address/test',
  'POST /backups/:backup/verify',
  'DELETE /project-files/:project_file',
];

test('who lost access once their call was accepted changes nothing, whatever it is', async () => {
  const { app, routes, existing, credentials } = await startWithEverything();
  const setAccess = (tx: Tx, has: boolean): void => {
    tx.$client.run('UPDATE access_tokens SET revoked_at = ?', [has ? null : 1]);
    tx.$client.run('UPDATE api_keys SET is_active = ?', [has]);
  };
  meanwhile(app.services, (tx) => setAccess(tx, false));
  const answers = new Map<string, number>();
  for (const route of routes.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))) {
    const { example, only_reads } = route.docs;
    const body = example === undefined ? {} : { body: example };
    const { status } = await app.call(route.method, pathOf(route, existing), {
      ...credentials(route),
      ...body,
    });
    await app.services.database.write((tx) => setAccess(tx, true));
    if (!only_reads) answers.set(`${route.method} ${route.path}`, status);
  }
  const withStatus = (fits: (status: number) => boolean) => [...answers].filter(([, status]) => fits(status));
  expect(withStatus((status) => status < 300).map(([name]) => name)).toEqual(NO_CHANGE_OF_ROWS);
  // The rest lacks what it needs and is refused for that.
  expect(withStatus((status) => status === 401).length).toBeGreaterThan(100);
});

test('who lost a power once their call was accepted makes no use of it', async () => {
  const { app } = await startWithEverything();
  const { token } = await app.services.tokens.create(actor, {
    ...{
      name: 'writes',
      all_projects: true,
      projects: [],
      capabilities: ['can_read_vault', 'can_write_vault'],
    },
  });
  const put = () =>
    app.call('PUT', '/api/public/v1/projects/owner/vault/stripe', {
      token,
      body: { values: { secret_key: 'new' } },
    });
  expect((await put()).status).toBe(200);
  meanwhile(app.services, (tx) =>
    tx.$client.run("UPDATE access_tokens SET can_write_vault = 0 WHERE name = 'writes'"),
  );
  expect((await put()).status).toBe(403);
});
