/** Every route, walked: which answer without a credential, and what each plane refuses whatever the route. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { NewKeyInput } from '../src/keys/schemas.ts';
import { CAPABILITIES, type Capability, GRANTABLE, type Permission } from '../src/platform/http/callers.ts';
import { PLANE_PREFIX, type Route } from '../src/platform/http/routes.ts';
import { actor, addCapturingMailbox, makeProject, startTestApp, type TestApp } from './helpers.ts';

let app: TestApp;
let owner: Awaited<ReturnType<typeof makeProject>>;
let stranger: Awaited<ReturnType<typeof makeProject>>;
let all_token = '';
let foreign_token = '';
let owner_key = '';
let foreign_key = '';
let powerless_key = '';
/** What a path parameter is filled with: things that exist, of the owner. */
let existing: Record<string, string> = {};

type NewKeyFields = Omit<Partial<NewKeyInput>, 'name'>;

const PERMISSIONS = {
  can_read: true,
  can_write: true,
  can_send_emails: true,
  can_manage_email_marketing: true,
  permissions: { email_template: true, captcha: true },
};
/** Email marketing: the same below /projects/:project of the management plane. */
const MARKETING = [
  'GET /email-contacts/:contact',
  'GET /email-imports/:import',
  'GET /email-imports/:import/rejected',
  'GET /email-lists',
  'GET /email-lists/:list',
  'GET /email-lists/:list/contacts',
  'GET /email-lists/:list/imports',
  'GET /email-marketing/settings',
  'GET /email-sequences',
  'GET /email-sequences/:sequence',
  'GET /email-sequences/:sequence/check',
  'GET /email-sequences/:sequence/enrollments',
  'GET /email-suppressions',
  'PATCH /email-contacts/:contact',
  'PATCH /email-lists/:list',
  'PATCH /email-marketing/settings',
  'PATCH /email-sequences/:sequence',
  'POST /email-contacts/:contact/unsubscribe',
  'POST /email-contacts/events',
  'POST /email-contacts/events/batch',
  'POST /email-imports/:import/resume',
  'POST /email-lists',
  'POST /email-lists/:list/contacts',
  'POST /email-lists/:list/contacts/bulk-tag',
  'POST /email-lists/:list/imports',
  'POST /email-lists/:list/subscribe',
  'POST /email-sequences',
  'POST /email-sequences/:sequence/activate',
  'POST /email-sequences/:sequence/enroll',
  'POST /email-sequences/:sequence/finish',
  'POST /email-sequences/:sequence/pause',
  'POST /email-sequences/:sequence/preview',
  'POST /email-sequences/:sequence/resume',
  'POST /email-sequences/:sequence/steps/:key/test',
  'POST /email-suppressions',
];
/** Files and mail of a project on the management plane. */
const OF_PROJECTS = [
  'DELETE /projects/:project/email-schedules/:id',
  'DELETE /projects/:project/email-suppressions/:suppression',
  'DELETE /projects/:project/email-templates/:slug',
  'DELETE /projects/:project/emails/:id/schedule',
  'DELETE /projects/:project/objects/:public_id',
  'GET /projects/:project/email-contacts/:contact/why',
  'GET /projects/:project/email-schedules',
  'GET /projects/:project/email-schedules/:id',
  'GET /projects/:project/email-sequences/:sequence/why',
  'GET /projects/:project/email-templates',
  'GET /projects/:project/email-templates/:slug',
  'GET /projects/:project/emails',
  'GET /projects/:project/emails/:id',
  'GET /projects/:project/emails/:id/content',
  'GET /projects/:project/emails/:id/story',
  'GET /projects/:project/objects',
  'GET /projects/:project/objects/:public_id',
  'PATCH /projects/:project/email-schedules/:id',
  'PATCH /projects/:project/email-templates/:slug',
  'PATCH /projects/:project/objects/:public_id',
  'POST /projects/:project/api-keys/:apiKey/why',
  'POST /projects/:project/email-schedules',
  'POST /projects/:project/email-schedules/:id/run',
  'POST /projects/:project/email-templates',
  'POST /projects/:project/email-templates/:slug/preview',
  'POST /projects/:project/emails/:id/retry',
  'POST /projects/:project/emails/send',
  'POST /projects/:project/object-links/revoke',
  'POST /projects/:project/objects',
  'POST /projects/:project/objects/:public_id/links',
];
/** What each route needs, by plane: the list that a reviewer reads. A new route is not walked before it stands here. */
const GUARDS: Readonly<Record<string, string[]>> = {
  'data: captcha read': ['POST /captcha/verify'],
  'data: email': ['DELETE /emails/:id/schedule', 'POST /emails/send'],
  'data: read': [
    'GET /email-schedules',
    'GET /email-schedules/:id',
    'GET /emails',
    'GET /emails/:id',
    'GET /emails/templates',
    'GET /emails/templates/:slug',
    'GET /jobs',
    'GET /jobs/:job_id',
    'GET /objects',
    'POST /emails/templates/:slug/preview',
    'POST /objects/:public_id/links',
  ],
  'data: write': [
    'DELETE /email-schedules/:id',
    'PATCH /email-schedules/:id',
    'PATCH /objects/:public_id',
    'POST /email-schedules',
    'POST /email-schedules/:id/run',
  ],
  'data: email_marketing': MARKETING,
  'data: upload': ['POST /objects'],
  'data: write delete': ['DELETE /objects/:public_id'],
  'data: write email_template': [
    'DELETE /emails/templates/:slug',
    'PATCH /emails/templates/:slug',
    'POST /emails/templates',
  ],
  'console: nothing': [
    'DELETE /session',
    'DELETE /sessions/:session',
    'DELETE /totp',
    'GET /session',
    'GET /sessions',
    'POST /password',
    'POST /totp',
    'PUT /totp',
  ],
  'management: nothing': [
    'DELETE /projects/:project',
    'DELETE /projects/:project/api-keys/:apiKey',
    'DELETE /projects/:project/api-keys/:apiKey/origins/:origin',
    'GET /global-origins',
    'GET /projects',
    'GET /projects/:project',
    'GET /projects/:project/api-keys',
    'GET /projects/:project/api-keys/:apiKey',
    'GET /projects/:project/api-keys/:apiKey/origins',
    'GET /projects/:project/api-keys/:apiKey/origins/:origin',
    'GET /projects/:project/audit',
    'GET /projects/:project/jobs',
    'GET /projects/:project/jobs/:job_id',
    'GET /overview',
    'GET /search',
    'GET /token',
    'GET /vault/services',
    ...OF_PROJECTS,
    ...MARKETING.map((route) => route.replace(' ', ' /projects/:project')),
    'PATCH /projects/:project',
    'PATCH /projects/:project/api-keys/:apiKey',
    'PATCH /projects/:project/api-keys/:apiKey/origins/:origin',
    'POST /api-keys/lookup',
    'POST /global-origins/check',
    'POST /projects',
    'POST /projects/:project/api-keys',
    'POST /projects/:project/api-keys/:apiKey/origins',
    'POST /projects/:project/api-keys/:apiKey/reveal',
    'POST /projects/:project/api-keys/:apiKey/rotate',
  ],
  'management: can_administer': [
    'DELETE /people/:person',
    'DELETE /tokens/:token',
    'GET /people',
    'GET /people/:person',
    'GET /tokens',
    'PATCH /people/:person',
    'POST /people',
    'POST /people/:person/reset',
    'POST /tokens',
    'DELETE /global-origins/:origin',
    'DELETE /mailboxes/:address',
    'DELETE /sending-domains/:name',
    'DELETE /backups/:backup',
    'GET /audit',
    'GET /backups',
    'GET /backups/:backup',
    'GET /findings',
    'GET /jobs/:job',
    'POST /backups',
    'POST /backups/:backup/verify',
    'GET /mailboxes',
    'GET /mailboxes/:address',
    'PATCH /mailboxes/:address',
    'POST /global-origins',
    'POST /mailboxes',
    'POST /mailboxes/:address/test',
    'GET /sending-domains',
    'GET /sending-domains/:name',
    'PATCH /sending-domains/:name',
    'POST /sending-domains',
    'POST /sending-domains/:name/dkim/rotate',
    'POST /sending-domains/:name/verify',
  ],
  'management: can_manage_database': [
    'DELETE /database-accounts/:account',
    'DELETE /database-projects/:database',
    'GET /database-accounts',
    'GET /database-accounts/:account',
    'GET /database-projects',
    'GET /database-projects/:database',
    'PATCH /database-accounts/:account',
    'PATCH /database-projects/:database',
    'POST /database-accounts',
    'POST /database-projects',
  ],
  'management: can_read_ai_accounts': [
    'GET /ai-accounts',
    'GET /ai-accounts/:account',
    'GET /ai-accounts/:account/projects',
    'GET /projects/:project/ai-accounts',
    'POST /ai-accounts/:account/reveal',
  ],
  'management: can_read_database_tokens': [
    'POST /database-accounts/:account/reveal',
    'POST /database-projects/:database/reveal',
  ],
  'management: can_read_vault': [
    'GET /projects/:project/vault',
    'GET /projects/:project/vault/:service',
    'GET /vault/projects',
  ],
  'management: can_reveal_vault': [
    'GET /projects/:project/vault-files/:file',
    'POST /projects/:project/vault/:service/reveal',
    'POST /projects/:project/vault/reveal',
  ],
  'management: can_write_vault': [
    'DELETE /ai-accounts/:account',
    'DELETE /projects/:project/vault/:service',
    'PATCH /ai-accounts/:account',
    'POST /ai-accounts',
    'PUT /ai-accounts/:account/projects',
    'PUT /projects/:project/ai-accounts',
    'PUT /projects/:project/vault/:service',
  ],
};

const EXTRA = { email_template: true, captcha: true, upload: true };
/** What a key is made with to lack one permission and hold every other that it can hold without it. */
const LACKING: Readonly<Record<Permission, NewKeyFields>> = {
  read: { can_read: false },
  write: { can_write: false },
  upload: { can_write: false, permissions: { ...EXTRA, upload: false } },
  delete: { permissions: { ...EXTRA, delete: false } },
  email: { can_send_emails: false },
  email_marketing: { can_manage_email_marketing: false },
  email_template: { permissions: { ...EXTRA, email_template: false } },
  captcha: { permissions: { ...EXTRA, captcha: false } },
};
/** Where a refusal names the field of the key. */
const NAMES: Partial<Record<Permission, string>> = { email_marketing: "'can_manage_email_marketing'" };
const isPermission = (need: string): need is Permission => Object.hasOwn(LACKING, need);

const ABSENT_ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

async function makeToken(input: {
  all: boolean;
  can: readonly Capability[];
  projects?: string[];
}): Promise<string> {
  const created = await app.services.tokens.create(actor, {
    name: 't',
    all_projects: input.all,
    projects: input.projects ?? [],
    capabilities: [...input.can],
    expires_in_days: 1,
  });
  return created.token;
}

beforeAll(async () => {
  app = await startTestApp();
  owner = await makeProject(app, 'owner');
  stranger = await makeProject(app, 'stranger');
  owner_key = await owner.key(PERMISSIONS);
  foreign_key = await stranger.key(PERMISSIONS);
  powerless_key = await owner.key({});
  all_token = await makeToken({ all: true, can: GRANTABLE });
  foreign_token = await makeToken({ all: false, can: CAPABILITIES, projects: ['stranger'] });
  existing = await makeThings();
});

/** One of each thing that a path can name, all the owner's. */
async function makeThings(): Promise<Record<string, string>> {
  const form = new FormData();
  form.set('file', new Blob(['secret']), 'a.txt');
  const object = await app.call('POST', '/api/v1/objects', { key: owner_key, body: form });
  const template = await app.call('POST', '/api/v1/emails/templates', {
    key: owner_key,
    body: { name: 'Hello', category: 'transactional', subject: 's', body_text: 'b' },
  });
  await addCapturingMailbox(app);
  const email = await app.call('POST', '/api/v1/emails/send', {
    key: owner_key,
    body: { to: 'ann@example.org', subject: 's', body_text: 'b', scheduled_at: '2031-01-01T00:00:00Z' },
  });
  const schedule = await app.call('POST', '/api/v1/email-schedules', {
    key: owner_key,
    body: {
      name: 'daily',
      recipients: [{ email: 'ann@example.org' }],
      cron_expression: '@daily',
      subject: 's',
      body_text: 'b',
    },
  });
  const origin = await app.call('POST', '/api/public/v1/projects/owner/api-keys/1/origins', {
    token: all_token,
    body: { type: 'domain', value: 'https://app.example.com' },
  });
  const account = await app.call('POST', '/api/public/v1/ai-accounts', {
    token: all_token,
    body: { name: 'ai', provider: 'openai', api_key: 'sk-canary' },
  });
  const idOf = (answer: { body: Record<string, unknown> }): string => {
    const { data } = answer.body;
    return String(typeof data === 'object' && data !== null && 'id' in data ? data.id : '');
  };
  const list = await app.call('POST', '/api/v1/email-lists', { key: owner_key, body: { name: 'News' } });
  const pasted = await app.call('POST', `/api/v1/email-lists/${idOf(list)}/imports`, {
    ...{ key: owner_key, body: { method: 'paste', text: 'nobody' } },
  });
  const suppression = await app.call('POST', '/api/v1/email-suppressions', {
    ...{ key: owner_key, body: { email: 'left@example.org' } },
  });
  const sequence = await app.call('POST', '/api/v1/email-sequences', {
    key: owner_key,
    body: { name: 'Welcome', list: idOf(list), max_recipients: 1, steps: [{ key: 'a', template: 'hello' }] },
  });
  const secret = await app.call('PUT', '/api/public/v1/projects/owner/vault/captcha', {
    ...{ token: all_token, body: { values: { site_key: 'site-1' } } },
  });
  const mailing = [template, email, schedule, list, pasted, suppression, sequence];
  for (const answer of [secret, object, origin, account, ...mailing]) expect(answer.status).toBeLessThan(300);
  return {
    public_id: String(object.body.public_id),
    slug: 'hello',
    id: String(email.body.id),
    job_id: String(email.body.job_id),
    schedule: String(schedule.body.id),
    project: 'owner',
    apiKey: '1',
    origin: idOf(origin),
    account: idOf(account),
    service: 'captcha',
    name: 'mail.example.com',
    address: 'shop@mail.example.com',
    list: idOf(list),
    import: idOf(pasted),
    sequence: idOf(sequence),
    suppression: idOf(suppression),
    key: 'a',
    contact: await makeContact(idOf(list)),
  };
}

/** A contact whose domain nobody looks up. */
async function makeContact(list_id: string): Promise<string> {
  const { contacts, lists, database } = app.services;
  const list = lists.find(owner.id, list_id);
  const email = 'ann@example.org';
  const candidate = {
    ...{ email, first_name: null, last_name: null, tags: [], custom: {}, source: null, reason: null },
    ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
    consent_origin: null,
  };
  const passed = { verdict: 'passed', candidate, email, consent_basis: 'consent' } as const;
  const [admitted] = await database.write((tx) =>
    contacts.admit(tx, owner, list, [passed], { status: 'active', update_existing: false }),
  );
  return admitted && 'contact' in admitted ? admitted.contact.public_id : '';
}

function pathOf(route: Route, values: Record<string, string>): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'id' && route.path.includes('/email-schedules')) return values.schedule ?? ABSENT_ULID;
    if (name === 'id' && route.path.startsWith('/jobs')) return values.job_id ?? ABSENT_ULID;
    return values[name] ?? ABSENT_ULID;
  });
  return `${PLANE_PREFIX[route.plane]}${path}`;
}

const of = (plane: Route['plane']): Route[] => app.app.routes.filter((route) => route.plane === plane);
/** Every row that a refused request must leave as it is. */
const snapshot = (): unknown[] =>
  TABLES.map((table) => [table, app.services.database.read.values(sql.raw(`SELECT * FROM ${table}`))]);
const TABLES = [
  ...['projects', 'api_keys', 'key_origins', 'global_origins', 'objects', 'emails', 'jobs', 'audit_events'],
  ...['email_templates', 'email_schedules', 'vault_values', 'vault_reveals'],
  ...['contact_lists', 'contacts', 'contact_tags', 'contact_imports', 'suppressions', 'marketing_settings'],
  ...['sequences', 'enrollments', 'sequence_mails', 'contact_events'],
  ...['sending_domains', 'mailboxes'],
  ...['database_accounts', 'database_projects', 'ai_accounts', 'ai_account_projects'],
];

test('every route needs what stands in the list, and the list names no other', () => {
  const found: Record<string, string[]> = {};
  for (const { plane, needs, method, path } of app.app.routes) {
    if (needs === null) continue;
    const guard = `${plane}: ${needs.length === 0 ? 'nothing' : needs.join(' ')}`;
    found[guard] = [...(found[guard] ?? []), `${method} ${path}`].toSorted();
  }
  const listed = Object.entries(GUARDS).map(([guard, routes]) => [guard, routes.toSorted()]);
  expect(found).toEqual(Object.fromEntries(listed));
});

describe('without a credential', () => {
  test('exactly these routes answer', () => {
    const open = app.app.routes
      .filter((route) => route.needs === null)
      .map((route) => `${route.method} ${PLANE_PREFIX[route.plane]}${route.path}`)
      .toSorted();
    expect(open).toEqual([
      'GET /',
      'GET /api/health',
      'GET /api/v1/object-links/:link',
      'GET /api/v1/objects/:public_id',
      'GET /api/version',
      'GET /c/:token',
      'GET /confirm/:token',
      'GET /console',
      'GET /console/*',
      'GET /console/assets/:name',
      'GET /docs',
      'GET /docs/openapi.json',
      'GET /docs/start.js',
      'GET /docs/swagger-ui.css',
      'GET /docs/swagger-ui.js',
      'GET /o/:token',
      'GET /unsubscribe/:token',
      'POST /confirm/:token',
      'POST /console/preview-frame',
      'POST /console/session',
      'POST /console/welcome/:token',
      'POST /unsubscribe/:token',
    ]);
  });

  test('every other route is 401, and changes nothing', async () => {
    const before = snapshot();
    for (const route of app.app.routes) {
      if (route.needs === null) continue;
      const answer = await app.call(route.method, pathOf(route, existing));
      expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, 401]);
      if (route.plane === 'management')
        expect(answer.body).toMatchObject({ error: { code: 'MISSING_ACCESS_TOKEN' } });
      else expect(answer.body).toMatchObject({ success: false, message: expect.any(String) });
    }
    expect(snapshot()).toEqual(before);
  });
});

describe('the data plane', () => {
  test('a wrong key is 401 and a key without any permission is 403 on every route', async () => {
    const before = snapshot();
    const wrong_key = owner_key.slice(0, -1) + (owner_key.endsWith('x') ? 'y' : 'x');
    for (const route of of('data')) {
      if (route.needs === null) continue;
      const wrong = await app.call(route.method, pathOf(route, existing), {
        key: wrong_key,
      });
      expect([route.method, route.path, wrong.status]).toEqual([route.method, route.path, 401]);
      if (route.needs.length === 0) continue;
      const powerless = await app.call(route.method, pathOf(route, existing), { key: powerless_key });
      expect([route.method, route.path, powerless.status]).toEqual([route.method, route.path, 403]);
    }
    expect(snapshot()).toEqual(before);
  });

  test('each permission a route needs is missed by a key that has every other one', async () => {
    const keys = new Map<string, string>();
    for (const [need, lacking] of Object.entries(LACKING))
      keys.set(need, await owner.key({ ...PERMISSIONS, permissions: EXTRA, ...lacking }));
    const before = snapshot();
    for (const route of of('data')) {
      for (const need of (route.needs ?? []).filter(isPermission)) {
        const key = keys.get(need) ?? '';
        const answer = await app.call(route.method, pathOf(route, existing), { key });
        expect([route.method, route.path, need, answer.status, answer.body]).toMatchObject([
          ...[route.method, route.path, need, 403],
          { success: false, message: expect.stringContaining(NAMES[need] ?? `'${need}'`) },
        ]);
      }
    }
    expect(snapshot()).toEqual(before);
  });

  test('a restricted key from another origin is 403 on every route, also where files are open to all', async () => {
    const restricted = await owner.key({ ...PERMISSIONS, restricted: true });
    const { body } = await app.call('POST', '/api/public/v1/api-keys/lookup', {
      ...{ token: all_token, body: { api_key: restricted } },
    });
    const { api_key } = Object(body.data);
    await app.call('POST', `/api/public/v1/projects/owner/api-keys/${api_key.id}/origins`, {
      ...{ token: all_token, body: { type: 'domain', value: 'https://app.example.com' } },
    });
    const before = snapshot();
    // A link is its own credential: no key is looked at.
    for (const route of of('data').filter(({ path }) => !path.startsWith('/object-links/'))) {
      for (const headers of [{ Origin: 'https://evil.example' }, { 'X-App-Id': 'com.evil' }, {}]) {
        const answer = await app.call(route.method, pathOf(route, existing), { key: restricted, headers });
        expect([route.method, route.path, headers, answer.status]).toEqual([
          route.method,
          route.path,
          headers,
          403,
        ]);
      }
    }
    // It is the origin that was refused: from its own, the key is let in.
    const headers = { Origin: 'https://app.example.com' };
    expect((await app.call('GET', '/api/v1/objects', { key: restricted, headers })).status).toBe(200);
    expect(snapshot()).toEqual(before);
  });

  test('another project’s things and things that do not exist answer the very same 404', async () => {
    const before = snapshot();
    let walked = 0;
    for (const route of of('data')) {
      // Signing up needs a restricted key; its own tests have one.
      if (!route.path.includes(':') || route.path.endsWith('/subscribe')) continue;
      const options = { key: foreign_key, ...(route.method === 'GET' ? {} : { body: {} }) };
      const foreign = await app.call(route.method, pathOf(route, existing), options);
      const absent = await app.call(route.method, pathOf(route, { slug: 'absent' }), options);
      expect([route.method, route.path, foreign.status]).toEqual([route.method, route.path, 404]);
      expect([foreign.status, foreign.text]).toEqual([absent.status, absent.text]);
      walked += 1;
    }
    expect(walked).toBeGreaterThan(10);
    expect(snapshot()).toEqual(before);
  });
});

describe('the management plane', () => {
  test('a malformed or unknown token is 401 with its code on every route', async () => {
    const unknown = `${foreign_token.slice(0, 10)}`;
    for (const route of of('management')) {
      const malformed = await app.call(route.method, pathOf(route, existing), { token: unknown });
      expect([route.path, malformed.status, malformed.body]).toMatchObject([
        route.path,
        401,
        { error: { code: 'INVALID_ACCESS_TOKEN_FORMAT' } },
      ]);
    }
  });

  test('each capability a route needs is named to a token that has every other one', async () => {
    const tokens = new Map<string, string>();
    for (const lacking of GRANTABLE) {
      const can = GRANTABLE.filter((each) => each !== lacking);
      tokens.set(lacking, await makeToken({ all: true, can }));
    }
    const before = snapshot();
    for (const route of of('management')) {
      for (const needed of route.needs ?? []) {
        const token = tokens.get(needed) ?? '';
        const answer = await app.call(route.method, pathOf(route, existing), {
          token,
          ...(route.method === 'GET' ? {} : { body: {} }),
        });
        expect([route.method, route.path, answer.status, answer.body]).toMatchObject([
          ...[route.method, route.path, 403],
          { error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: needed } } },
        ]);
      }
    }
    expect(snapshot()).toEqual(before);
  });

  test('another project’s token gets 404 for everything of this project, as for what does not exist', async () => {
    const before = snapshot();
    let walked = 0;
    for (const route of of('management')) {
      if (!route.path.includes(':project')) continue;
      const options = { token: foreign_token, ...(route.method === 'GET' ? {} : { body: {} }) };
      const foreign = await app.call(route.method, pathOf(route, existing), options);
      const absent = await app.call(route.method, pathOf(route, { ...existing, project: 'absent' }), options);
      expect([route.method, route.path, foreign.status, foreign.body]).toMatchObject([
        route.method,
        route.path,
        404,
        { error: { code: 'NOT_FOUND' } },
      ]);
      expect(foreign.text).toBe(absent.text);
      walked += 1;
    }
    expect(walked).toBeGreaterThan(15);
    expect(snapshot()).toEqual(before);
  });

  test('a change that names an old version is refused wherever a record has one, and changes nothing', async () => {
    const before = snapshot();
    const refused: string[] = [];
    for (const route of of('management').filter(({ docs }) => docs.takes_if_match)) {
      const headers = { 'If-Match': '"old"' };
      const answer = await app.call(route.method, pathOf(route, existing), {
        token: all_token,
        body: {},
        headers,
      });
      // What stands in no list of this file does not exist, and a PUT may be wrong besides.
      expect([404, 409, 422]).toContain(answer.status);
      if (answer.status === 409) refused.push(route.path);
    }
    expect(refused.toSorted()).toEqual([
      '/ai-accounts/:account',
      '/mailboxes/:address',
      '/projects/:project',
      '/projects/:project/api-keys/:apiKey',
      '/projects/:project/api-keys/:apiKey/origins/:origin',
      '/projects/:project/email-contacts/:contact',
      '/projects/:project/email-lists/:list',
      '/projects/:project/email-marketing/settings',
      '/projects/:project/email-schedules/:id',
      '/projects/:project/email-sequences/:sequence',
      '/projects/:project/email-templates/:slug',
      '/projects/:project/objects/:public_id',
      '/sending-domains/:name',
    ]);
    expect(snapshot()).toEqual(before);
  });
});
