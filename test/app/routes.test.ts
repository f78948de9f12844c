/** Every route, walked: which answer without a credential, and what each plane refuses whatever the route. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { NewKeyInput } from '../../src/access/keys/schemas.ts';
import { DAY_MS } from '../../src/platform/host/clock.ts';
import {
  CAPABILITIES,
  type Capability,
  GRANTABLE,
  type Permission,
} from '../../src/platform/http/callers.ts';
import { PLANE_PREFIX, type Route } from '../../src/platform/http/routes.ts';
import { createToken } from '../../src/platform/secrets/token-format.ts';
import { ORIGIN, startConsole } from '../access/people/setup.ts';
import { guide } from '../support/documents.ts';
import { actor, type CallOptions, makeProject, type TestApp } from '../support/helpers.ts';
import { codeOf } from '../support/management.ts';
import { makeOneOfEach, type PathValues, pathOf } from '../support/one-of-each.ts';
import { OPEN_ROUTES } from './open-routes.ts';

let app: TestApp;
let owner: Awaited<ReturnType<typeof makeProject>>;
let stranger: Awaited<ReturnType<typeof makeProject>>;
let all_token = '';
let foreign_token = '';
let owner_key = '';
let foreign_key = '';
let powerless_key = '';
/** What a path parameter is filled with: things that exist, of the owner. */
let existing: PathValues = {};
/** Of a person who may do everything. */
let cookie = '';
/** Tokens that were good once. */
let expired_token = '';
let revoked_token = '';

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
  'DELETE /email-broadcasts/:broadcast',
  'DELETE /email-segments/:segment',
  'GET /email-broadcasts',
  'GET /email-broadcasts/:broadcast',
  'GET /email-broadcasts/:broadcast/check',
  'GET /email-broadcasts/:broadcast/preview',
  'GET /email-broadcasts/:broadcast/recipients',
  'GET /email-broadcasts/:broadcast/timeline',
  'GET /email-contacts/:contact',
  'GET /email-imports/:import',
  'GET /email-imports/:import/rejected',
  'GET /email-lists',
  'GET /email-lists/:list',
  'GET /email-lists/:list/facets',
  'GET /email-lists/:list/contacts',
  'GET /email-lists/:list/contacts.csv',
  'GET /email-lists/:list/imports',
  'GET /email-marketing/settings',
  'GET /email-segments',
  'GET /email-segments/:segment',
  'GET /email-sequences',
  'GET /email-sequences/:sequence',
  'GET /email-sequences/:sequence/check',
  'GET /email-sequences/:sequence/enrollments',
  'GET /email-suppressions',
  'PATCH /email-broadcasts/:broadcast',
  'PATCH /email-contacts/:contact',
  'PATCH /email-lists/:list',
  'PATCH /email-marketing/settings',
  'PATCH /email-segments/:segment',
  'PATCH /email-sequences/:sequence',
  'POST /email-broadcasts',
  'POST /email-broadcasts/:broadcast/cancel',
  'POST /email-broadcasts/:broadcast/copy',
  'POST /email-broadcasts/:broadcast/decide',
  'POST /email-broadcasts/:broadcast/pause',
  'POST /email-broadcasts/:broadcast/resume',
  'POST /email-broadcasts/:broadcast/send',
  'POST /email-broadcasts/:broadcast/test',
  'POST /email-contacts/:contact/unsubscribe',
  'POST /email-contacts/events',
  'POST /email-contacts/events/batch',
  'POST /email-imports/:import/cancel',
  'POST /email-imports/:import/resume',
  'POST /email-lists',
  'POST /email-lists/:list/contacts',
  'POST /email-lists/:list/contacts/bulk-tag',
  'POST /email-lists/:list/matching',
  'POST /email-lists/:list/imports',
  'POST /email-lists/:list/imports/columns',
  'POST /email-lists/:list/subscribe',
  'POST /email-segments',
  'POST /email-sequences',
  'POST /email-sequences/:sequence/activate',
  'POST /email-sequences/:sequence/copy',
  'POST /email-sequences/:sequence/enroll',
  'POST /email-sequences/:sequence/finish',
  'POST /email-sequences/:sequence/pause',
  'POST /email-sequences/:sequence/preview',
  'POST /email-sequences/:sequence/resume',
  'POST /email-sequences/:sequence/steps/:key/test',
  'POST /email-suppressions',
];
/** What is asked for there has to be said. */
const NEEDED_QUERIES: Readonly<Record<string, string>> = {
  '/search': '?q=owner',
  '/projects/:project/vault/diff': '?from=production&to=staging',
  '/projects/:project/email-schedule-runs': '?cron_expression=@daily',
};
/** Files and mail of a project on the management plane. */
const OF_PROJECTS = [
  'DELETE /projects/:project/email-schedules/:id',
  'DELETE /projects/:project/email-suppressions/:suppression',
  'DELETE /projects/:project/email-templates/:slug',
  'DELETE /projects/:project/emails/:id/schedule',
  'DELETE /projects/:project/objects/:public_id',
  'DELETE /projects/:project/webhooks/:webhook',
  'GET /projects/:project/email-contacts',
  'GET /projects/:project/email-contacts/:contact/why',
  'GET /projects/:project/email-schedule-runs',
  'GET /projects/:project/email-schedules',
  'GET /projects/:project/email-schedules/:id',
  'GET /projects/:project/email-sequences/:sequence/why',
  'GET /projects/:project/email-templates',
  'GET /projects/:project/email-templates/:slug',
  'GET /projects/:project/emails',
  'GET /projects/:project/emails.csv',
  'GET /projects/:project/emails/:id',
  'GET /projects/:project/emails/:id/content',
  'GET /projects/:project/emails/:id/message',
  'GET /projects/:project/emails/:id/replies',
  'GET /projects/:project/emails/:id/story',
  'GET /projects/:project/objects',
  'GET /projects/:project/objects/:public_id',
  'GET /projects/:project/objects/:public_id/variant',
  'GET /projects/:project/webhooks',
  'GET /projects/:project/webhooks/:webhook',
  'GET /projects/:project/webhooks/:webhook/deliveries',
  'GET /projects/:project/webhooks/:webhook/deliveries/:delivery',
  'PATCH /projects/:project/email-schedules/:id',
  'PATCH /projects/:project/email-templates/:slug',
  'PATCH /projects/:project/objects/:public_id',
  'PATCH /projects/:project/webhooks/:webhook',
  'POST /projects/:project/api-keys/:apiKey/why',
  'POST /projects/:project/email-addresses/forget',
  'POST /projects/:project/email-addresses/held',
  'POST /projects/:project/email-schedules',
  'POST /projects/:project/email-schedules/:id/run',
  'POST /projects/:project/email-templates',
  'POST /projects/:project/email-templates/:slug/preview',
  'POST /projects/:project/email-templates/preview',
  'POST /projects/:project/email-marketing/pages/preview',
  'POST /projects/:project/email-templates/test',
  'POST /projects/:project/emails/:id/retry',
  'POST /projects/:project/emails/batch',
  'POST /projects/:project/emails/retry',
  'POST /projects/:project/emails/send',
  'POST /projects/:project/webhooks',
  'POST /projects/:project/webhooks/:webhook/deliveries/:delivery/replay',
  'POST /projects/:project/webhooks/:webhook/rotate',
  'POST /projects/:project/webhooks/:webhook/test',
  'POST /projects/:project/object-links/revoke',
  'POST /projects/:project/objects',
  'POST /projects/:project/objects/:public_id/links',
];
/** What each route needs, by plane: the list that a reviewer reads. A new route is not walked before it stands here. */
const GUARDS: Readonly<Record<string, string[]>> = {
  'data: captcha read': ['POST /captcha/verify'],
  'data: email': ['DELETE /emails/:id/schedule', 'POST /emails/batch', 'POST /emails/send'],
  'machine: can_administer': ['GET /metrics'],
  'foreign: can_reveal_vault': [
    ...['GET /v1/:mount/data/:project', 'GET /v1/:mount/data/:project/:environment'],
    ...['GET /v1/:mount/metadata', 'GET /v1/:mount/metadata/:project'],
  ],
  'foreign: email': [
    ...['GET /resend/domains', 'PATCH /resend/emails/:id', 'POST /resend/emails'],
    ...['POST /resend/emails/:id/cancel', 'POST /resend/emails/batch'],
    ...['POST /v3/:domain/messages', 'POST /v3/:domain/messages.mime'],
  ],
  'foreign: email_marketing': ['bounces', 'complaints', 'unsubscribes'].map(
    (list) => `DELETE /v3/:domain/${list}/:address`,
  ),
  'foreign: read': ['GET /resend/emails/:id', 'GET /v3/:domain/events', 'GET /v3/:domain/events/:page'],
  'foreign: nothing': [
    'GET /v1/auth/token/lookup-self',
    ...['GET /v1/sys/internal/ui/mounts/:mount', 'GET /v1/sys/internal/ui/mounts/:mount/*'],
    'POST /mcp',
  ],
  'data: read': [
    ...['GET /email-schedules', 'GET /email-schedules/:id', 'GET /emails', 'GET /emails.csv'],
    ...['GET /emails/:id', 'GET /emails/templates', 'GET /emails/templates/:slug'],
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
  'data: upload': [
    'DELETE /uploads/:upload',
    'HEAD /uploads/:upload',
    'PATCH /uploads/:upload',
    'POST /objects',
    'POST /uploads',
    'POST /uploads/:upload',
  ],
  'data: write delete': ['DELETE /objects/:public_id'],
  'data: write email_template': [
    'DELETE /emails/templates/:slug',
    'PATCH /emails/templates/:slug',
    'POST /emails/templates',
  ],
  'console: nothing': [
    'DELETE /passkeys/:passkey',
    'DELETE /session',
    'DELETE /sessions/:session',
    'DELETE /totp',
    'GET /passkeys',
    'GET /session',
    'GET /sessions',
    'POST /passkeys',
    'POST /passkeys/options',
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
    'GET /projects/:project/activity',
    'GET /projects/:project/api-keys',
    'GET /projects/:project/api-keys/:apiKey',
    'GET /projects/:project/api-keys/:apiKey/smtp',
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
    'DELETE /token-trusts/:trust',
    'DELETE /tokens/:token',
    'GET /people',
    'GET /people/:person',
    'GET /token-trusts',
    'GET /tokens',
    'PATCH /people/:person',
    'POST /people',
    'POST /people/:person/reset',
    'POST /token-trusts',
    'POST /tokens',
    'DELETE /global-origins/:origin',
    'DELETE /mailboxes/:address',
    'DELETE /sending-domains/:name',
    'DELETE /backups/:backup',
    'DELETE /project-files/:project_file',
    'GET /audit',
    'GET /backups',
    'GET /backups/:backup',
    'GET /backups/schedule',
    'PUT /backups/schedule',
    'GET /alerts',
    'PUT /alerts',
    'POST /alerts/test',
    'GET /project-files',
    'GET /project-files/:project_file',
    'POST /project-files',
    'POST /project-files/:project_file/check',
    'POST /project-files/:project_file/import',
    'POST /projects/:project/let-go',
    'POST /release',
    'GET /findings',
    'GET /jobs/:job',
    'POST /backups',
    'POST /backups/:backup/verify',
    'GET /mailboxes',
    'GET /relay-providers',
    'GET /mailboxes/:address',
    'PATCH /mailboxes/:address',
    'POST /global-origins',
    'POST /mailboxes',
    'POST /mailboxes/check',
    'POST /mailboxes/:address/events/rotate',
    'POST /mailboxes/:address/test',
    'GET /sending-domains',
    'GET /sending-domains/:name',
    'GET /sending-domains/:name/reports',
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
    ...[
      'GET /projects/:project/environments',
      'GET /projects/:project/environments/:environment',
      'GET /projects/:project/vault',
      'GET /vault/projects',
    ],
    ...['GET /projects/:project/vault/:service', 'GET /projects/:project/vault/:service/versions'],
  ],
  'management: can_administer can_reveal_vault': ['POST /projects/:project/export'],
  'management: can_reveal_vault': [
    ...['GET /projects/:project/vault-files/:file', 'GET /projects/:project/vault/diff'],
    'POST /projects/:project/vault/:service/reveal',
    'POST /projects/:project/vault/:service/versions/:version/reveal',
    'POST /projects/:project/vault/reveal',
  ],
  'management: can_write_vault': [
    ...['DELETE /ai-accounts/:account', 'PATCH /ai-accounts/:account', 'POST /ai-accounts'],
    ...['PUT /ai-accounts/:account/projects', 'PUT /projects/:project/ai-accounts'],
    ...['DELETE /projects/:project/vault/:service', 'DELETE /projects/:project/vault/:service/versions'],
    'DELETE /projects/:project/environments/:environment',
    ...['PATCH /projects/:project/environments/:environment', 'POST /projects/:project/environments'],
    'POST /projects/:project/vault/:service/versions/:version/restore',
    ...['POST /projects/:project/vault/env/import', 'PUT /projects/:project/vault/:service'],
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
    expires_in_days: 2,
  });
  return created.token;
}

beforeAll(async () => {
  const on = await startConsole();
  app = on.app;
  const once = { name: 'once', all_projects: true, projects: [], capabilities: [...GRANTABLE] };
  expired_token = (await app.services.tokens.create(actor, { ...once, expires_in_days: 1 })).token;
  app.clock.advance(DAY_MS);
  const { token, record } = await app.services.tokens.create(actor, once);
  revoked_token = token;
  await app.services.tokens.revoke(actor, record.id);
  owner = await makeProject(app, 'owner');
  stranger = await makeProject(app, 'stranger');
  owner_key = await owner.key(PERMISSIONS);
  foreign_key = await stranger.key(PERMISSIONS);
  powerless_key = await owner.key({});
  all_token = await makeToken({ all: true, can: GRANTABLE });
  foreign_token = await makeToken({ all: false, can: CAPABILITIES, projects: ['stranger'] });
  existing = await makeOneOfEach(app, owner, { key: owner_key, token: all_token });
  const everything = Object.fromEntries(GRANTABLE.map((each) => [each, true]));
  await on.addPerson({ email: 'chief@example.com', ...everything });
  cookie = await on.enter('chief@example.com');
});

const of = (plane: Route['plane']): Route[] => app.app.routes.filter((route) => route.plane === plane);
/** Every row there is, which a refused request must leave as it is, but for when somebody was last there. */
function snapshot(): unknown[] {
  const { read } = app.services.database;
  const tables = read.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table'`);
  return tables.map(({ name }) => [
    name,
    read.all<Record<string, unknown>>(sql.raw(`SELECT * FROM ${name}`)).map((row) => {
      const { last_used_at: _at, last_used_ip: _ip, last_seen_at: _seen, ...rest } = row;
      return rest;
    }),
  ]);
}

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

test('the guide to people tells of every part of the management plane that only who may administer is let into', () => {
  const line =
    guide('people')
      .split('\n')
      .find((each) => each.startsWith('| `can_administer` |')) ?? '';
  const told = [...line.matchAll(/`(\/[\w-]+)`/g)].map(([, path]) => path ?? '');
  const guarded = GUARDS['management: can_administer']?.map((route) => /\/[\w-]+/.exec(route)?.[0] ?? '');
  expect(told.toSorted()).toEqual([...new Set(guarded)].toSorted());
});

describe('without a credential', () => {
  test('exactly these routes answer', () => {
    const open = app.app.routes
      .filter((route) => route.needs === null)
      .map((route) => `${route.method} ${PLANE_PREFIX[route.plane]}${route.path}`)
      .toSorted();
    expect(open).toEqual(OPEN_ROUTES);
  });

  test('every other route is 401, and changes nothing', async () => {
    const before = snapshot();
    for (const route of app.app.routes) {
      if (route.needs === null) continue;
      const answer = await app.call(route.method, pathOf(route, existing));
      // Vault itself knows no 401.
      const refused = route.path.startsWith('/v1/') ? 403 : 401;
      expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, refused]);
      if (route.family !== 'management' && !route.dialect)
        expect(answer.body).toMatchObject({ success: false, message: expect.any(String) });
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
      const wrong = await app.call(route.method, pathOf(route, existing), { key: wrong_key });
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
    // A link is its own credential, and what is offered is no secret: no key is looked at.
    const keyless = ({ method, path }: Route) => method === 'OPTIONS' || path.startsWith('/object-links/');
    for (const route of of('data').filter((each) => !keyless(each))) {
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
      const options = { key: foreign_key, ...(['GET', 'HEAD'].includes(route.method) ? {} : { body: {} }) };
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
  /** Whoever is let in nowhere: what they send, and how they are refused. */
  const strangers = (): [CallOptions, string][] => {
    const page = { 'X-Satchel-Console': '1', Origin: ORIGIN };
    const secret = cookie.split('=')[1] ?? '';
    return [
      [{}, 'MISSING_ACCESS_TOKEN'],
      [{ token: foreign_token.slice(0, 10) }, 'INVALID_ACCESS_TOKEN_FORMAT'],
      [{ token: owner_key }, 'INVALID_ACCESS_TOKEN_FORMAT'],
      [{ key: owner_key }, 'MISSING_ACCESS_TOKEN'],
      [{ token: createToken('management').plaintext }, 'INVALID_ACCESS_TOKEN'],
      [{ token: expired_token }, 'TOKEN_EXPIRED'],
      [{ token: revoked_token }, 'TOKEN_REVOKED'],
      // The cookie is good, but anybody's page could have had it sent.
      [{ headers: { Cookie: cookie } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { Cookie: cookie, Origin: ORIGIN } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: cookie, 'X-Satchel-Console': 'true' } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: cookie, Origin: 'https://evil.example' } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: cookie, Origin: `${ORIGIN}.evil.example` } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: cookie, Origin: 'http://localhost' } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: cookie, Origin: 'null' } }, 'MISSING_ACCESS_TOKEN'],
      // Any page of the host could have set one without the prefix.
      [{ headers: { ...page, Cookie: `satchel=${secret}` } }, 'MISSING_ACCESS_TOKEN'],
      [{ headers: { ...page, Cookie: `${cookie}x` } }, 'MISSING_ACCESS_TOKEN'],
    ];
  };
  /** With a body that works, so that a route which let it in would do something. */
  const ask = (route: Route, options: CallOptions) =>
    app.call(route.method, pathOf(route, existing), {
      ...options,
      ...(route.method === 'GET' ? {} : { body: route.docs.example ?? {} }),
    });

  test('the document of the API has the routes of the list, and no others', async () => {
    const { paths } = (await app.call('GET', '/docs/openapi.json')).body;
    const prefix = PLANE_PREFIX.management;
    const documented = Object.entries(Object(paths)).flatMap(([path, operations]) =>
      path.startsWith(`${prefix}/`)
        ? Object.keys(Object(operations)).map(
            (method) => `${method.toUpperCase()} ${path.slice(prefix.length).replace(/\{(\w+)\}/g, ':$1')}`,
          )
        : [],
    );
    const listed = Object.entries(GUARDS).flatMap(([guard, routes]) =>
      guard.startsWith('management: ') ? routes : [],
    );
    expect(documented.toSorted()).toEqual([...listed, 'POST /token/exchange'].toSorted());
  });

  test('whoever may do everything finds each thing that the others are refused', async () => {
    for (const headers of [
      { Authorization: `Bearer ${all_token}` },
      { Cookie: cookie, 'X-Satchel-Console': '1', Origin: ORIGIN },
    ]) {
      for (const route of of('management').filter(({ method }) => method === 'GET')) {
        const query = NEEDED_QUERIES[route.path] ?? '';
        const answer = await app.call('GET', `${pathOf(route, existing)}${query}`, { headers });
        // The mail that there is came by the API: test/mail/submission has one that came by SMTP.
        // Nobody has exported a project: test/operation/transfers/files does.
        const is_absent = /\/emails\/:id\/message$|:project_file$/.test(route.path);
        const status = is_absent ? 404 : 200;
        expect([route.path, answer.status]).toEqual([route.path, status]);
      }
    }
  });

  test('no stranger is let in anywhere, by a token, a key or a cookie that another page had sent', async () => {
    const before = snapshot();
    for (const route of of('management').filter(({ needs }) => needs !== null)) {
      for (const [options, code] of strangers()) {
        const answer = await ask(route, options);
        const name = `${route.method} ${route.path} ${JSON.stringify(options)}`;
        expect([name, answer.status, codeOf(answer)]).toEqual([name, 401, code]);
      }
    }
    expect(snapshot()).toEqual(before);
  });

  test('what changes something of a person takes their cookie from a page of ours only', async () => {
    const before = snapshot();
    for (const route of of('console').filter(({ method, needs }) => method !== 'GET' && needs !== null)) {
      for (const [options] of strangers()) {
        const answer = await ask(route, options);
        const is_known = options.headers?.Cookie === cookie;
        expect([route.path, options, answer.status]).toEqual([route.path, options, is_known ? 403 : 401]);
      }
    }
    expect(snapshot()).toEqual(before);
  });

  test('a token of all projects that may do nothing more is refused by name what needs more', async () => {
    const powerless = await makeToken({ all: true, can: [] });
    const before = snapshot();
    for (const route of of('management').filter(({ needs }) => needs?.length)) {
      const answer = await ask(route, { token: powerless });
      expect([route.method, route.path, answer.status, answer.body]).toMatchObject([
        ...[route.method, route.path, 403],
        { error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: route.needs?.[0] } } },
      ]);
    }
    expect(snapshot()).toEqual(before);
  });

  test('another project’s token is shown nothing of this project by what belongs to none', async () => {
    const secrets = [owner.public_id, 'owner', 'ann@example.org', 'sk-canary', 'canary', 'a.txt'];
    const before = snapshot();
    for (const route of of('management').filter(({ path }) => !path.includes(':project'))) {
      // What is made is the token's own.
      if (route.method === 'POST' && !route.path.includes(':') && route.path !== '/api-keys/lookup') continue;
      for (const query of route.path === '/search' ? ['?q=owner', '?q=ann', '?q=a', '?q=sat_'] : ['']) {
        const body = route.path === '/api-keys/lookup' ? { api_key: owner_key } : route.docs.example;
        const answer = await app.call(route.method, `${pathOf(route, existing)}${query}`, {
          ...{ token: foreign_token },
          ...(route.method === 'GET' ? {} : { body: body ?? {} }),
        });
        const refused = route.needs?.includes('can_administer') ? 403 : 404;
        const is_list = route.method === 'GET' && !route.path.includes(':');
        const wanted = is_list && refused === 404 ? 200 : refused;
        expect([route.method, route.path, answer.status]).toEqual([route.method, route.path, wanted]);
        expect(secrets.filter((secret) => answer.text.includes(secret))).toEqual([]);
      }
    }
    expect(snapshot()).toEqual(before);
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
      if (!route.path.includes('/:project/')) continue;
      // What a token may do comes before what it may see.
      if (route.needs?.includes('can_administer')) continue;
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
      // A PUT may be wrong besides.
      expect([409, 422]).toContain(answer.status);
      if (answer.status === 409) refused.push(route.path);
    }
    expect(refused.toSorted()).toEqual(
      `/ai-accounts/:account /alerts /database-accounts/:account /database-projects/:database
      /mailboxes/:address /people/:person /projects/:project /projects/:project/api-keys/:apiKey
      /projects/:project/api-keys/:apiKey/origins/:origin
      /projects/:project/email-broadcasts/:broadcast /projects/:project/email-contacts/:contact
      /projects/:project/email-lists/:list /projects/:project/email-marketing/settings
      /projects/:project/email-schedules/:id /projects/:project/email-segments/:segment
      /projects/:project/email-sequences/:sequence /projects/:project/email-templates/:slug
      /projects/:project/environments/:environment /projects/:project/objects/:public_id /projects/:project/webhooks/:webhook
      /sending-domains/:name`.split(/\s+/),
    );
    expect(snapshot()).toEqual(before);
  });
});
