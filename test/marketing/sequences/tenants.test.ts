/** Whose sequences and events anybody reaches: on both planes, nobody's but those of the caller's own project. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, actor, makeProject } from '../../support/helpers.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

/** Every endpoint of sequences and events, with a body that would be fine; SEQ, LIST, TOKEN and CONTACT are the owner's. */
const ENDPOINTS: [method: string, path: string, body?: unknown][] = [
  ['GET', '/email-sequences/SEQ'],
  ['PATCH', '/email-sequences/SEQ', { name: 'Taken' }],
  ['GET', '/email-sequences/SEQ/check'],
  ['POST', '/email-sequences/SEQ/activate'],
  ['POST', '/email-sequences/SEQ/pause'],
  ['POST', '/email-sequences/SEQ/resume'],
  ['POST', '/email-sequences/SEQ/finish'],
  ['POST', '/email-sequences/SEQ/enroll', { all: true }],
  ['GET', '/email-sequences/SEQ/enrollments'],
  ['POST', '/email-sequences/SEQ/preview', {}],
  ['POST', '/email-sequences/SEQ/steps/a/test', { to: 'thief@example.com' }],
  ['POST', '/email-contacts/events', { contact_token: 'TOKEN', event: 'paid' }],
  ['POST', '/email-contacts/events', { email: 'ann@example.com', list: 'LIST', event: 'paid' }],
];
/** Those that name nothing of anybody's. */
const OWN: [method: string, path: string, body?: unknown][] = [
  ['GET', '/email-sequences'],
  ['POST', '/email-sequences', { name: 'Made', list: 'LIST', max_recipients: 5 }],
  ['POST', '/email-contacts/events/batch', { events: [{ contact_token: 'TOKEN', event: 'paid' }] }],
];
const MARKETING = { can_read: true, can_write: true, can_manage_email_marketing: true };

let on: SequenceApp;
let stranger: Awaited<ReturnType<typeof makeProject>>;
let foreign_key = '';
let foreign_token = '';
/** A sequence of the stranger. */
let theirs = '';
let named: Record<string, string> = {};

beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'bye']) await on.template(slug);
  const list = await on.list();
  const contact = await on.contact(list, 'ann@example.com');
  const sequence = await on.active(
    list,
    [
      { key: 'a', template: 'hello', delay_hours: 5 },
      { key: 'b', template: 'bye', delay_hours: 5, is_final: true },
    ],
    { exit_events: ['paid'] },
  );
  await on.enroll(sequence);
  named = { SEQ: sequence, LIST: list, TOKEN: String(contact.contact_token), CONTACT: String(contact.id) };
  stranger = await makeProject(on.app, 'stranger');
  foreign_key = await stranger.key(MARKETING);
  const made = await on.app.services.tokens.create(actor, {
    ...{ name: 'foreign', all_projects: false, projects: [stranger.slug], capabilities: [] },
  });
  foreign_token = made.token;
  const post = async (path: string, body: unknown) =>
    dataOf(await on.app.call('POST', `/api/v1${path}`, { key: foreign_key, body }), 201);
  const { id } = await post('/email-lists', { name: 'Theirs' });
  theirs = String((await post('/email-sequences', { name: 'Theirs', list: id, max_recipients: 5 })).id);
});

function fill(text: string): string {
  return text.replace(/SEQ|LIST|TOKEN|CONTACT/g, (name) => named[name] ?? '');
}
const filled = (body: unknown): { body?: unknown } =>
  body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) };
/** Everything that a refused request must leave as it is. */
const rows = (): unknown =>
  [
    'sequences',
    'enrollments',
    'sequence_mails',
    'contact_events',
    'emails',
    'contacts',
    'sequence_counts',
  ].map((table) => on.app.services.database.read.$client.query(`SELECT * FROM ${table}`).all());

async function expectUntouched(ask: () => Promise<void>): Promise<void> {
  const before = rows();
  await ask();
  expect(rows()).toEqual(before);
}

type Caller = (method: string, path: string, options: { body?: unknown }) => Promise<Answer>;
const CALLERS: Record<string, Caller> = {
  'a key of another project': (method, path, options) =>
    on.app.call(method, `/api/v1${path}`, { key: foreign_key, ...options }),
  'a token of another project, in its own': (method, path, options) =>
    on.app.call(method, `/api/public/v1/projects/${stranger.slug}${path}`, {
      token: foreign_token,
      ...options,
    }),
  'a token of another project': (method, path, options) =>
    on.app.call(method, `/api/public/v1/projects/${on.project.slug}${path}`, {
      token: foreign_token,
      ...options,
    }),
};

for (const [who, call] of Object.entries(CALLERS))
  test(`${who} gets 404 for everything, as for what does not exist, and changes nothing`, () =>
    expectUntouched(async () => {
      for (const [method, path, body] of ENDPOINTS) {
        const answer = await call(method, fill(path), filled(body));
        expect([method, path, answer.status]).toEqual([method, path, 404]);
        const absent = path.replace('SEQ', '01J00000000000000000000000');
        const nobodys = JSON.parse(
          JSON.stringify(body ?? {}).replace(/TOKEN|LIST/, (name) =>
            name === 'LIST' ? '01J00000000000000000000000' : 'x'.repeat(20),
          ),
        );
        const nothing = await call(method, absent, method === 'GET' ? {} : { body: nobodys });
        expect([method, path, nothing.text]).toEqual([method, path, answer.text]);
      }
    }));

test('what a stranger asks of their own project never reaches another one', () =>
  expectUntouched(async () => {
    for (const who of ['a key of another project', 'a token of another project, in its own']) {
      const [list, create, batch] = OWN.map(([method, path, body]) =>
        CALLERS[who]?.(method, path, filled(body)),
      );
      expect((await list)?.body.data).toMatchObject([{ id: theirs }]);
      const refused = await create;
      expect(refused?.status).toBe(422);
      expect(refused?.text).toContain('must be the id of a list of this project');
      expect((await batch)?.body.data).toEqual([{ status: 404, message: 'Contact not found.' }]);
    }
    const of_other = await on.app.call('POST', `/api/v1/email-sequences/${theirs}/preview`, {
      ...{ key: foreign_key, body: { contact: named.CONTACT } },
    });
    expect(of_other.status).toBe(404);
  }));

describe('of the project itself', () => {
  const all = [...ENDPOINTS, ...OWN];
  const REFUSED: [who: string, key: () => Promise<string>, headers: Record<string, string>][] = [
    ['a browser', () => ownKey(MARKETING), { Origin: 'https://shop.example.com' }],
    [
      'a key without can_manage_email_marketing',
      () => ownKey({ can_read: true, can_write: true, can_send_emails: true }),
      {},
    ],
    ['a restricted key without an origin', () => ownKey({ ...MARKETING, restricted: true }), {}],
    [
      'a restricted key from its own origin',
      async () => {
        const key = await ownKey({ ...MARKETING, restricted: true });
        const { database } = on.app.services;
        const [row] = database.read.$client
          .query<{ id: number }, []>('SELECT max(id) AS id FROM api_keys')
          .all();
        const made = await on.app.call(
          'POST',
          `/api/public/v1/projects/${on.project.slug}/api-keys/${row?.id}/origins`,
          { token: await all_token(), body: { type: 'domain', value: 'https://shop.example.com' } },
        );
        expect(made.status).toBe(201);
        return key;
      },
      { Origin: 'https://shop.example.com' },
    ],
  ];
  const ownKey = (permissions: Record<string, boolean>): Promise<string> => on.project.key(permissions);
  const all_token = async (): Promise<string> => {
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'all', all_projects: true, projects: [], capabilities: [] },
    });
    return token;
  };

  for (const [who, makeKey, headers] of REFUSED)
    test(`${who} gets 403 everywhere, and changes nothing`, async () => {
      const key = await makeKey();
      await expectUntouched(async () => {
        for (const [method, path, body] of all) {
          const answer = await on.app.call(method, `/api/v1${fill(path)}`, { key, headers, ...filled(body) });
          expect([method, path, answer.status]).toEqual([method, path, 403]);
        }
      });
    });

  test('its own key and token reach each', async () => {
    // Last, as it ends the sequence.
    for (const [method, path, body] of all) {
      const by_key = await on.call(method, fill(path), filled(body).body);
      const by_token = await on.mirror(method, fill(path), filled(body).body);
      for (const { status } of [by_key, by_token])
        expect([method, path, [200, 201, 202, 409].includes(status)]).toEqual([method, path, true]);
    }
  });
});
