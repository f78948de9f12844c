/** The routes of a record, for every noun that has them: statuses, pages, versions, who may, and that a refusal changes nothing. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { GRANTABLE } from '../src/platform/http/callers.ts';
import { type Answer, addCapturingMailbox } from './support/helpers.ts';
import {
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from './support/management.ts';

interface Noun {
  /** Of all of them; `PROJECT/` begins those of a project. */
  path: string;
  /** The body of the n-th. */
  make(n: number): object;
  /** What its path names it by; `id` unless given. */
  named_by?: string;
  /** A change that any may have, with the field that shows it. Without one there is none. */
  change?: object;
  /** Too little or too much of one field. */
  wrong: Record<string, unknown>;
  is_unreadable?: true;
  /** `never`: there is no DELETE. `again`: it stays where it is, and may be asked to go again. */
  removed?: 'never' | 'again';
  is_unpaged?: true;
  /** Not newest first. */
  is_ordered_otherwise?: true;
  /** A change answers less than reading does, and so no version. */
  is_answered_otherwise?: true;
}

/** Of the project `mine`. */
let list = '';
let key = '';

const MAIL = { subject: 's', body_text: 'b' };
const PROVIDERS = { change: { name: 'changed' }, wrong: { name: '' } };
const NOUNS: Record<string, Noun> = {
  list: {
    path: 'PROJECT/email-lists',
    make: (n) => ({ name: `l${n}` }),
    change: { description: 'changed' },
    wrong: { name: '' },
    removed: 'never',
  },
  segment: {
    path: 'PROJECT/email-segments',
    make: (n) => ({ name: `s${n}`, list, filter: {} }),
    change: { name: 'changed' },
    wrong: { name: '' },
  },
  sequence: {
    path: 'PROJECT/email-sequences',
    make: (n) => ({ name: `q${n}`, list, max_recipients: 1 }),
    change: { name: 'changed' },
    wrong: { name: '' },
    removed: 'never',
  },
  broadcast: {
    path: 'PROJECT/email-broadcasts',
    make: (n) => ({ name: `b${n}`, list }),
    change: { name: 'changed' },
    wrong: { name: '' },
  },
  suppression: {
    path: 'PROJECT/email-suppressions',
    make: (n) => ({ email: `left${n}@example.com` }),
    wrong: { email: 'nobody' },
    is_unreadable: true,
  },
  template: {
    path: 'PROJECT/email-templates',
    make: (n) => ({ name: `t${n}`, category: 'welcome', ...MAIL }),
    named_by: 'slug',
    change: { subject: 'changed' },
    wrong: { subject: '' },
    is_unpaged: true,
  },
  schedule: {
    path: 'PROJECT/email-schedules',
    make: (n) => ({
      ...{ name: `d${n}`, recipients: [{ email: 'ann@example.org' }], cron_expression: '@daily' },
      ...MAIL,
    }),
    named_by: 'public_id',
    change: { name: 'changed' },
    wrong: { cron_expression: 'never' },
    is_answered_otherwise: true,
  },
  webhook: {
    path: 'PROJECT/webhooks',
    make: (n) => ({ url: `https://hooks.example.com/${n}` }),
    change: { description: 'changed' },
    wrong: { url: 'http://127.0.0.1/' },
  },
  key: {
    path: 'PROJECT/api-keys',
    make: (n) => ({ name: `k${n}` }),
    change: { name: 'changed' },
    wrong: { name: '' },
  },
  origin: {
    path: 'PROJECT/api-keys/KEY/origins',
    make: (n) => ({ type: 'domain', value: `https://o${n}.example.com` }),
    change: { value: 'https://changed.example.com' },
    wrong: { value: 'nowhere at all' },
    is_unpaged: true,
  },
  'global origin': {
    path: '/global-origins',
    make: (n) => ({ type: 'domain', value: `https://g${n}.example.com` }),
    wrong: { value: 'nowhere at all' },
    is_unreadable: true,
    is_unpaged: true,
  },
  token: {
    path: '/tokens',
    make: (n) => ({ name: `a${n}`, all_projects: true }),
    wrong: { expires_in_days: 0 },
    is_unreadable: true,
    removed: 'again',
  },
  person: {
    path: '/people',
    make: (n) => ({ email: `p${n}@example.com`, all_projects: true }),
    change: { name: 'changed' },
    wrong: { email: 'nobody' },
  },
  mailbox: {
    path: '/mailboxes',
    make: (n) => ({ address: `m${n}@mail.example.com`, capture: true }),
    named_by: 'address',
    change: { daily_limit: 7 },
    wrong: { daily_limit: -1 },
    is_ordered_otherwise: true,
  },
  'sending domain': {
    path: '/sending-domains',
    make: (n) => ({ name: `d${n}.example.com` }),
    named_by: 'name',
    change: { is_active: false },
    wrong: { is_trusted: 'yes' },
    is_ordered_otherwise: true,
  },
  project: {
    path: '/projects',
    make: (n) => ({ name: `j${n}` }),
    change: { description: 'changed' },
    wrong: { name: '' },
  },
  'AI account': {
    path: '/ai-accounts',
    make: (n) => ({ name: `i${n}`, provider: 'openai', api_key: 'sk-canary' }),
    ...PROVIDERS,
  },
  'database account': {
    path: '/database-accounts',
    make: (n) => ({ name: `c${n}`, access_token: 'sbp-canary' }),
    ...PROVIDERS,
  },
  'database project': {
    path: '/database-projects',
    make: (n) => ({ ref: `r${n}`, name: 'x' }),
    ...PROVIDERS,
  },
};
/** What whoever may see every project still may not see, with what tells them. */
const OF_ADMINISTRATORS = ['/tokens', '/people', '/mailboxes', '/sending-domains'];

let on: Management;
let admin = '';
let reader = '';
/** Of the other project alone. */
let foreign = '';
let made = 0;

beforeAll(async () => {
  on = await startManagement();
  await addCapturingMailbox(on.app);
  admin = await on.makeToken({ capabilities: [...GRANTABLE] });
  const { token } = await on.app.services.tokens.create(
    { kind: 'system', id: null, name: 'test', ip: null },
    {
      name: 'reader',
      all_projects: true,
      projects: [],
      capabilities: ['can_read_ai_accounts'],
      read_only: true,
    },
  );
  reader = token;
  foreign = await on.makeToken({ projects: ['other'] });
  list = String(dataOf(await on.call('POST', '/projects/mine/email-lists', admin, { name: 'L' })).id);
  key = String(dataOf(await on.call('POST', '/projects/mine/api-keys', admin, { name: 'K' })).id);
  // The first use of each is noted.
  for (const each of [reader, foreign, on.all]) await on.call('GET', '/token', each);
  await on.app.services.database.write(() => {});
});

/** Another one after each commit. */
function version(): unknown {
  return on.app.services.database.read.get(sql`PRAGMA data_version`);
}

interface Asked {
  body?: object;
  token?: string | null;
  if_match?: string;
  project?: string;
}

function ask(noun: Noun, method: string, one = '', asked: Asked = {}): Promise<Answer> {
  const { body, token = admin, if_match, project = 'mine' } = asked;
  const path = noun.path.replace('PROJECT', `/projects/${project}`).replace('KEY', key) + one;
  return on.app.call(method, `/api/public/v1${path}`, {
    ...(token === null ? {} : { token }),
    ...(body === undefined ? {} : { body }),
    ...(if_match === undefined ? {} : { headers: { 'If-Match': if_match } }),
  });
}

/** Makes one, and returns what its path ends with. */
async function make(noun: Noun): Promise<string> {
  made += 1;
  const before = version();
  const answer = await ask(noun, 'POST', '', { body: noun.make(made) });
  expect([noun.path, answer.status, answer.status === 201 ? '' : answer.text]).toEqual([noun.path, 201, '']);
  expect(version()).not.toEqual(before);
  return pathOf(noun)(dataOf(answer));
}

const pathOf =
  ({ named_by = 'id' }: Noun) =>
  (record: Record<string, unknown>): string =>
    `/${record[named_by]}`;

/** The answer, having changed nothing. */
async function refused(noun: Noun, method: string, one: string, asked?: Asked): Promise<Answer> {
  const before = version();
  const answer = await ask(noun, method, one, asked);
  expect([method, one, version()]).toEqual([method, one, before]);
  return answer;
}

/** What may be asked of one. */
function methodsOf({ is_unreadable, change, removed }: Noun): [string, Asked][] {
  return [
    ...(is_unreadable ? [] : [['GET', {}] as const]),
    ...(change ? [['PATCH', { body: change }] as const] : []),
    ...(removed === 'never' ? [] : [['DELETE', { body: {} }] as const]),
  ].map(([method, asked]) => [method, asked]);
}

describe.each(Object.entries(NOUNS))('a %s', (_what, noun) => {
  test('is made, listed in pages, read, changed and deleted', async () => {
    const one = await make(noun);
    const newest = await make(noun);
    const listed = await ask(noun, 'GET', '');
    expect([listed.status, listOf(listed).length >= 2]).toEqual([200, true]);
    if (!noun.is_ordered_otherwise)
      expect(listOf(listed).slice(0, 2).map(pathOf(noun))).toEqual([newest, one]);
    if (!noun.is_unpaged) {
      const total = listOf(listed).length;
      const page = await ask(noun, 'GET', '?per_page=1&page=2');
      expect(listOf(page)).toEqual(listOf(listed).slice(1, 2));
      expect(page.body.meta).toMatchObject({ current_page: 2, per_page: 1, total, last_page: total });
      expect((await ask(noun, 'GET', '?per_page=0')).status).toBe(422);
    }
    if (!noun.is_unreadable) expect((await ask(noun, 'GET', one)).status).toBe(200);
    if (noun.change) {
      const changed = await ask(noun, 'PATCH', one, { body: noun.change });
      expect([changed.status, dataOf(changed)]).toMatchObject([200, noun.change]);
      expect(dataOf(await ask(noun, 'GET', one))).toMatchObject(noun.change);
    }
    if (noun.removed === 'never') {
      expect((await refused(noun, 'DELETE', one)).status).toBe(404);
      return;
    }
    expect((await ask(noun, 'DELETE', one, { body: {} })).status).toBe(200);
    const left = listOf(await ask(noun, 'GET', '')).length;
    expect(left).toBe(listOf(listed).length - (noun.removed === 'again' ? 0 : 1));
    if (noun.removed !== 'again') expect((await refused(noun, 'DELETE', one, { body: {} })).status).toBe(404);
  });

  test('has a version where it can be changed, and a change that names another one is refused', async () => {
    if (!noun.change) return;
    const one = await make(noun);
    const read = (await ask(noun, 'GET', one)).headers.get('etag') ?? '';
    expect(read).toMatch(/^"[\w-]{22}"$/);
    const changed = await ask(noun, 'PATCH', one, { body: noun.change, if_match: read });
    expect(changed.status).toBe(200);
    const now = (await ask(noun, 'GET', one)).headers.get('etag');
    expect(now).not.toBe(read);
    expect(changed.headers.get('etag')).toBe(noun.is_answered_otherwise ? null : now);
    const late = await refused(noun, 'PATCH', one, { body: noun.change, if_match: read });
    expect([late.status, codeOf(late), late.headers.get('etag')]).toEqual([409, 'CONFLICT', null]);
  });

  test('names the field that does not fit, new or changed', async () => {
    const fields = Object.keys(noun.wrong);
    const created = await refused(noun, 'POST', '', { body: { ...noun.make(++made), ...noun.wrong } });
    expect([created.status, invalidFieldsOf(created)]).toEqual([422, fields]);
    if (!noun.change) return;
    const one = await make(noun);
    const changed = await refused(noun, 'PATCH', one, { body: { ...noun.change, ...noun.wrong } });
    expect([changed.status, invalidFieldsOf(changed)]).toEqual([422, fields]);
  });

  test('is 404 where it is not, is of another project, or has no such id, before its body is judged', async () => {
    const one = await make(noun);
    const wrong = { body: noun.wrong };
    const nowhere = ['/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/nonsense', '/999999999'];
    for (const [method, asked] of methodsOf(noun)) {
      const body = method === 'PATCH' ? wrong : asked;
      for (const absent of nowhere) {
        const answer = await refused(noun, method, absent, body);
        expect([method, absent, answer.status]).toEqual([method, absent, 404]);
      }
      if (!noun.path.startsWith('PROJECT')) continue;
      expect((await refused(noun, method, one, { ...body, project: 'other' })).status).toBe(404);
      expect((await refused(noun, method, one, { ...body, token: foreign })).status).toBe(404);
    }
  });

  test('is for whoever may: nobody without a credential, and none changes it who is read-only or lacks a capability', async () => {
    const one = await make(noun);
    const all: [string, string, Asked][] = [
      ['GET', '', {}],
      ['POST', '', { body: noun.make(++made) }],
      ...methodsOf(noun).map(([method, asked]): [string, string, Asked] => [method, one, asked]),
    ];
    for (const [method, path, asked] of all) {
      const status = async (token: string | null) =>
        (await refused(noun, method, path, { ...asked, token })).status;
      expect([method, await status(null)]).toEqual([method, 401]);
      if (method !== 'GET') expect([method, await status(reader)]).toEqual([method, 403]);
      if (!OF_ADMINISTRATORS.includes(noun.path)) continue;
      const answer = await refused(noun, method, path, { ...asked, token: on.all });
      expect([method, answer.status, codeOf(answer), detailsOf(answer)]).toEqual([
        ...[method, 403, 'TOKEN_PERMISSION_DENIED', { required_scope: 'can_administer' }],
      ]);
    }
  });
});
