/** Tools of assistants: by the official client, in both generations of the protocol, and by plain requests. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { shellActor } from '../../../src/platform/cli/shell-actor.ts';
import { CAPABILITIES } from '../../../src/platform/http/callers.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { satchelCommand } from '../../support/executable.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeOneOfEach, type PathValues } from '../../support/one-of-each.ts';

const PERMISSIONS = {
  ...{ can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true },
  permissions: { email_template: true, captcha: true },
};
const LOOKING = [
  ...['find', 'projects', 'overview', 'emails', 'email_story', 'contacts', 'contact_story', 'key_verdict'],
  ...['sequence_story', 'broadcast', 'handbook_search', 'handbook_read'],
];
const CHANGING = ['send_test_mail', 'retry_email', 'pause', 'resume', 'create_template', 'create_broadcast'];

let app: TestApp;
let owner: Awaited<ReturnType<typeof makeProject>>;
let made: PathValues;
let key: string;
/** May do everything. */
let admin: string;

async function makeToken(more: Record<string, unknown> = {}): Promise<string> {
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 'assistant', all_projects: true, projects: [], capabilities: [], ...more },
  });
  return token;
}

beforeAll(async () => {
  app = await startTestApp();
  owner = await makeProject(app, 'owner');
  key = await owner.key(PERMISSIONS);
  admin = await makeToken({ capabilities: [...CAPABILITIES, 'can_administer'] });
  made = await makeOneOfEach(app, owner, { key, token: admin });
});

type Mode = 'legacy' | 'auto';

async function connect(
  token: string,
  { write = false, mode = 'legacy' as Mode, to = app } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const url = new URL(`${to.url}/mcp${write ? '?write=1' : ''}`);
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).sort();

interface Used {
  refused: boolean;
  text: string;
  json: Record<string, unknown>;
}

async function use(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Used> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first, ...more] = content;
  expect(more).toEqual([]);
  const text = first?.type === 'text' ? first.text : '';
  const json: unknown = JSON.parse(text);
  return { refused: isError === true, text, json: isPlainObject(json) ? json : {} };
}

const codeOf = ({ json }: Used): unknown => (isPlainObject(json.error) ? json.error.code : null);

/** One request as a program without a library makes it. */
function post(body: unknown, { headers = {}, path = '/mcp', method = 'POST' } = {}): Promise<Response> {
  return app.app.handle(
    new Request(`http://satchel.test${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${admin}`,
        ...headers,
      },
      ...(method === 'GET' || method === 'HEAD'
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  );
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('who gets in', () => {
  test.each(['legacy', 'auto'] as const)('by a token, in the %s generation', async (mode) => {
    const client = await connect(admin, { mode });
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy');
    expect(client.getServerVersion()?.name).toBe('satchel');
    expect(await namesOf(client)).toEqual([...LOOKING, 'findings'].sort());
    const { json, refused } = await use(client, 'projects');
    expect(refused).toBe(false);
    expect(Object.keys(json)).toEqual(['note', 'data', 'meta']);
    expect(json.meta).toMatchObject({ per_page: 20, total: 1 });
    await client.close();
  });

  test('not by a cookie, a key or nothing: 401 with WWW-Authenticate', async () => {
    for (const headers of [
      { Authorization: '' },
      { Authorization: `Bearer ${key}` },
      { Authorization: '', 'X-API-Key': key },
      { Authorization: '', Cookie: 'satchel=x', 'X-Satchel-Console': '1' },
    ]) {
      const response = await post(LIST, { headers });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
    }
  });

  test('not by another name, and not from a page of another site', async () => {
    for (const [headers, status] of [
      [{ Host: 'evil.example' }, 403],
      [{ Host: 'satchel.test.evil.example' }, 403],
      [{ Host: 'satchel.test:8080' }, 200],
      [{ Host: 'localhost:1' }, 200],
      [{ Host: '[::1]:1' }, 200],
      [{ Origin: 'http://evil.example' }, 403],
      [{ Origin: 'null' }, 403],
      [{ Origin: 'http://localhost' }, 403],
      [{ Origin: 'http://satchel.test' }, 200],
    ] as const) {
      const response = await post(LIST, { headers });
      expect({ headers, status: response.status }).toEqual({ headers, status });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('a server that listens to others has no loopback name', async () => {
    const open = await startTestApp({ env: { SATCHEL_HOST: '0.0.0.0' } });
    const response = await open.app.handle(
      new Request('http://localhost/mcp', { method: 'POST', headers: { Host: 'localhost' } }),
    );
    expect(response.status).toBe(403);
  });

  test('other methods are 405, and what is no single message is refused', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
      const response = await post(null, { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    expect((await post([LIST, LIST])).status).toBe(400);
    expect((await post('{')).status).toBe(400);
    expect((await post(LIST, { headers: { 'Content-Type': 'text/plain' } })).status).toBe(415);
    expect((await post({ ...LIST, params: { _meta: { x: 'y'.repeat(256 * 1024) } } })).status).toBe(413);
    expect((await post(LIST, { path: '/mcp/x' })).status).toBe(404);
  });

  test('subscriptions are refused, and end at once', async () => {
    const client = await connect(admin, { mode: 'auto' });
    const asked = client.request({
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true } },
    });
    expect(await asked.then(() => 'taken').catch((error: Error) => error.message)).not.toBe('taken');
    await client.close();
  });

  test('uses the rate of its token, one for each request', async () => {
    const token = await makeToken();
    const left = async (message: object): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}` };
      return Number((await post(message, { headers })).headers.get('ratelimit-remaining'));
    };
    const first = await left(LIST);
    const call = { ...LIST, method: 'tools/call', params: { name: 'projects', arguments: {} } };
    expect(await left(call)).toBe(first - 1);
    expect(await left(LIST)).toBe(first - 2);
  });

  test('is in no OpenAPI document', async () => {
    const { text } = await app.call('GET', '/docs/openapi.json');
    expect(text).not.toContain('mcp');
  });
});

describe('what is there', () => {
  test('for who may change, with write=1', async () => {
    expect(await namesOf(await connect(admin, { write: true }))).toEqual(
      [...LOOKING, 'findings', ...CHANGING].sort(),
    );
    expect(await namesOf(await connect(await makeToken({ read_only: true }), { write: true }))).toEqual(
      [...LOOKING].sort(),
    );
    const client = await connect(await makeToken());
    expect(await namesOf(client)).toEqual([...LOOKING].sort());
    for (const name of ['create_template', 'findings', 'nothing']) {
      expect(use(client, name, {})).rejects.toThrow(`no tool ${name}`);
    }
  });

  test('what its token sees: another project is not found', async () => {
    await makeProject(app, 'theirs');
    const client = await connect(await makeToken({ all_projects: false, projects: ['theirs'] }));
    expect(codeOf(await use(client, 'emails', { project: 'owner' }))).toBe('NOT_FOUND');
    expect((await use(client, 'projects')).json.meta).toMatchObject({ total: 1 });
    expect((await use(client, 'find', { q: 'ann' })).text).not.toContain('ann@example.org');
  });
});

/** Arguments with which each tool has something to tell. */
const argumentsOf = (): Record<string, Record<string, unknown>> => ({
  find: { q: 'n' },
  projects: { q: 'own' },
  overview: { days: '7' },
  emails: { project: 'owner', status: 'scheduled', page: 1 },
  email_story: { project: 'owner', id: made.id },
  contacts: { project: 'owner', list: made.list, status: 'active' },
  contact_story: { project: 'owner', address: 'ann@example.org' },
  key_verdict: { project: 'owner', key: Number(made.apiKey), origin: 'https://app.example.com' },
  sequence_story: { project: 'owner', sequence: made.sequence },
  broadcast: { project: 'owner', broadcast: made.broadcast },
  handbook_search: { q: 'restore a backup' },
  handbook_read: { name: 'marketing' },
  findings: {},
  send_test_mail: { project: 'owner', template: 'hello', to: 'ONE@example.com' },
  retry_email: { project: 'owner', id: made.id },
  pause: { project: 'owner', what: 'schedule', id: made['email-schedules/:id'] },
  resume: { project: 'owner', what: 'schedule', id: made['email-schedules/:id'] },
  create_template: {
    ...{
      project: 'owner',
      name: 'Secret',
      category: 'transactional',
      subject: 's',
      body_text: 'CANARY-BODY',
    },
  },
  create_broadcast: { project: 'owner', name: 'More', list: made.list, template: 'hello' },
});

describe('what is answered', () => {
  test('every tool answers, with nothing that opens, acts or was written in confidence', async () => {
    const client = await connect(admin, { write: true });
    const told: string[] = [];
    for (const [name, args] of Object.entries(argumentsOf())) {
      const used = await use(client, name, args);
      const refused_as = name === 'retry_email' ? 'CONFLICT' : null;
      expect({ name, code: codeOf(used), text: used.refused ? used.text : '' }).toMatchObject({
        ...{ name, code: refused_as },
      });
      told.push(used.text);
    }
    expect(Object.keys(argumentsOf()).sort()).toEqual(await namesOf(client));
    for (const [q, found] of [
      ['ann@', 'ann@example.org'],
      ['hooks', '"url":"https://hooks.example.com"'],
      [key.slice(0, 12), '"api_keys":[{'],
    ] as const) {
      const { text } = await use(client, 'find', { q });
      expect(text).toContain(found);
      told.push(text);
    }
    expect(told.filter((text) => text.includes('ann@example.org')).length).toBeGreaterThan(3);
    const { contact_token } = app.services.contacts.get(owner.id, made.contact ?? '');
    for (const secret of [
      ...[key, admin, contact_token, 'CANARY-BODY', 'sk-canary', 'sbp-canary', 'e30=', 'whsec_'],
      ...['contact_token', 'body_html', 'body_text', 'hooks.example.com/', 'token='],
    ]) {
      expect([secret, told.filter((text) => text.includes(secret) && !text.includes('"markdown"'))]).toEqual([
        secret,
        [],
      ]);
    }
  });

  test('of a newsletter neither its words nor the ways that its reader has', async () => {
    const on = await startBroadcastApp();
    await on.template('own', {
      body_html: '<p>CANARY <a href="{{view_url}}">view</a> {{contact_token}}</p>',
    });
    const list = await on.list({ archive: true });
    const contact = await on.contact(list, 'ann@example.com');
    const broadcast = await on.broadcast(list, { template: 'own' });
    await on.send(broadcast);
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'assistant', all_projects: true, projects: [], capabilities: [] },
    });
    const client = await connect(token, { to: on.app });
    const [project, address] = [on.project.slug, 'ann@example.com'];
    const emails = await use(client, 'emails', { project });
    const [email] = Array.isArray(emails.json.data) ? emails.json.data : [];
    const told = [
      emails.text,
      (await use(client, 'email_story', { project, id: email.id })).text,
      (await use(client, 'contact_story', { project, address })).text,
      (await use(client, 'contacts', { project, list })).text,
    ].join();
    expect(told.split(address).length).toBeGreaterThan(4);
    const { contact_token } = on.app.services.contacts.get(on.project.id, String(contact.id));
    for (const secret of ['CANARY', '/unsubscribe/', '/preferences/', '/view/', '/c/', contact_token])
      expect([secret, told.includes(secret)]).toEqual([secret, false]);
  });

  test('texts are cut and hold nothing that nobody sees', async () => {
    const name = `${'x'.repeat(200)}\u200b\u{e0041}\u202e\u3164\u0007y`;
    const { projects } = app.services;
    const description = `a\nb\t\u{e0041}${'é'.repeat(900)}`;
    await projects.create(actor, { name: `Cut ${name}`, slug: 'cut', description });
    const client = await connect(admin);
    const { json } = await use(client, 'projects', { q: 'Cut' });
    const [project] = Array.isArray(json.data) ? json.data : [];
    expect(project.name).toBe(`Cut ${'x'.repeat(200)}y`);
    expect(project.description).toBe(`a\nb\t${'é'.repeat(495)}…`);
    const { json: guide } = await use(client, 'handbook_read', { name: 'marketing' });
    expect(JSON.stringify(guide.data).length).toBeGreaterThan(20_000);
  });

  test('twenty rows a page, and past 64 KiB how to ask for less', async () => {
    const big = await makeProject(app, 'big');
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, 'v'.repeat(400)]));
    const { contacts, database, lists } = app.services;
    const list = await lists.create(big.id, { name: 'Big', default_consent_basis: 'consent' }, () => {});
    const passed = Array.from({ length: 30 }, (_, n) => {
      const email = `c${n}@example.org`;
      const candidate = {
        ...{ email, first_name: null, last_name: null, tags: [], custom: fields, source: null, reason: null },
        ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
        ...{ consent_origin: null, is_test: false },
      };
      return { verdict: 'passed', candidate, email, consent_basis: 'consent' } as const;
    });
    const row = lists.require(big.id, list.id);
    await database.write((tx) =>
      contacts.admit(tx, big, row, passed, { status: 'active', update_existing: false }),
    );
    const client = await connect(admin);
    const asked = { project: 'big', list: list.id };
    const refused = await use(client, 'contacts', asked);
    expect([refused.refused, codeOf(refused)]).toEqual([true, 'TOO_LARGE']);
    expect(refused.text).toContain('per_page');
    const { json } = await use(client, 'contacts', { ...asked, per_page: 3, page: 2 });
    expect(json.meta).toMatchObject({ per_page: 3, current_page: 2, total: 30 });
    expect(
      (await use(client, 'contacts', { ...asked, per_page: 3, custom: { f0: 'no' } })).json.data,
    ).toEqual([]);
    const capped = await use(client, 'projects', { per_page: 50 });
    expect(capped.json.meta).toMatchObject({ per_page: 20 });
  });

  test('a refusal has the code and the sentence of the API', async () => {
    const client = await connect(admin, { write: true });
    for (const [name, args, code, words] of [
      ['find', {}, 'VALIDATION_FAILED', 'q: is required'],
      [
        'emails',
        { project: 'owner', stauts: 'sent' },
        'VALIDATION_FAILED',
        'stauts: is no argument of this tool',
      ],
      ['emails', { project: 'owner', status: 'lost' }, 'VALIDATION_FAILED', 'status: must be one of'],
      ['emails', { project: 'nobody' }, 'NOT_FOUND', 'Project not found'],
      ['emails', { project: {} }, 'VALIDATION_FAILED', 'project: must be'],
      ['email_story', { project: 'owner', id: '../../../tokens' }, 'NOT_FOUND', 'not found'],
      ['handbook_read', { name: '__proto__' }, 'NOT_FOUND', 'Guide not found'],
      ['pause', { project: 'owner', what: 'server', id: 'x' }, 'VALIDATION_FAILED', 'what: must be one of'],
      ['pause', { project: 'owner', what: 'broadcast', id: made.broadcast }, 'CONFLICT', ''],
      ['create_template', { project: 'owner', name: 'x' }, 'VALIDATION_FAILED', 'is required'],
    ] as const) {
      const used = await use(client, name, args);
      expect({ name, refused: used.refused, text: used.text }).toMatchObject({ name, refused: true });
      expect(used.text).toContain(words);
      expect([name, args, codeOf(used)]).toEqual([
        name,
        args,
        expect.stringMatching(new RegExp(`^${code}|^[a-z_]+$`)),
      ]);
    }
  });

  test('what nobody foresaw says internal and no more; the log has the rest', async () => {
    const { search } = app.services;
    const find = search.find;
    search.find = () => {
      throw new Error('SELECT canary FROM api_keys');
    };
    const used = await use(await connect(admin), 'find', { q: 'x' });
    search.find = find;
    expect(used.text).toBe('{"error":{"code":"internal","message":"internal"}}');
    expect(app.logs()).toContain('SELECT canary');
  });
});

describe('what is changed', () => {
  test('a test mail goes to an active person who sees the project alone', async () => {
    const client = await connect(admin, { write: true });
    await makeProject(app, 'apart');
    const apart = { email: 'apart@example.com', projects: ['apart'] };
    expect((await app.call('POST', '/api/public/v1/people', { token: admin, body: apart })).status).toBe(201);
    const send = (to: string) => use(client, 'send_test_mail', { project: 'owner', template: 'hello', to });
    for (const to of ['thief@example.org', 'apart@example.com'])
      expect((await send(to)).text).toContain('must be the address of somebody');
    expect((await send('one@example.com')).refused).toBe(false);
    await app.call('PATCH', '/api/public/v1/people/one@example.com', {
      token: admin,
      body: { is_active: false },
    });
    expect(codeOf(await send('one@example.com'))).toBe('VALIDATION_FAILED');
  });

  test('stands on the audit trail as of the token', async () => {
    const token = await makeToken({ name: 'helper' });
    const client = await connect(token, { write: true });
    await use(client, 'create_template', {
      ...{ project: 'owner', name: 'Audited', category: 'other', subject: 's', body_text: 'b' },
    });
    const [event] = app.services.audit.listNewest({}, 1);
    expect(event).toMatchObject({
      event: 'template.created',
      actor_kind: 'token',
      actor_name: 'helper',
    });
  });

  test('by nobody whose token ended in between', async () => {
    const token = await makeToken({ name: 'ended' });
    const client = await connect(token, { write: true });
    const { body } = await app.call('GET', '/api/public/v1/tokens', { token: admin });
    const [newest] = Array.isArray(body.data) ? body.data : [];
    expect(newest.name).toBe('ended');
    await app.services.tokens.revoke(actor, newest.id);
    expect(client.listTools()).rejects.toThrow();
  });
});

describe('satchel mcp', () => {
  async function start(mode: Mode, args: string[] = []): Promise<Client> {
    const [command = '', ...rest] = satchelCommand();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...rest, 'mcp', '--data-dir', app.data_dir, ...args],
        env: { PATH: process.env.PATH ?? '' },
      }),
    );
    return client;
  }

  test.each(['legacy', 'auto'] as const)('serves a program in the %s generation, to look', async (mode) => {
    const client = await start(mode);
    expect(await namesOf(client)).toEqual([...LOOKING, 'findings'].sort());
    expect((await use(client, 'email_story', { project: 'owner', id: made.id })).text).toContain('scheduled');
    expect((await use(client, 'findings')).refused).toBe(false);
    expect(codeOf(await use(client, 'emails', { project: 'nobody' }))).toBe('NOT_FOUND');
    await client.close();
  });

  test('changes with --write, as the account of the shell', async () => {
    const client = await start('legacy', ['--write']);
    expect(await namesOf(client)).toEqual([...LOOKING, 'findings', ...CHANGING].sort());
    const { refused } = await use(client, 'create_broadcast', {
      ...{ project: 'owner', name: 'By shell', list: made.list, template: 'hello' },
    });
    expect(refused).toBe(false);
    const events = app.services.audit.listNewest({}, 1_000);
    expect(events.find(({ actor_name }) => actor_name === shellActor().name) ?? events).toMatchObject({
      ...{ event: 'broadcast.created', actor_kind: 'shell', ip: null, metadata: { name: 'By shell' } },
    });
    await client.close();
  });
});
