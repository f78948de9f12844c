/**
 * Whatever a client sends, others wait no longer for it than a moment: each kind of HTTP entry is asked with the worst that
 * fits into its body.
 */

import { beforeAll, describe, expect, test } from 'bun:test';
import { MAX_PREVIEW_BODY_BYTES } from '../../src/console/routes.ts';
import { MAX_PASTE_CHARS, MAX_PASTED_ROWS } from '../../src/limits.ts';
import { MAX_JSON_MEMBERS, readForm } from '../../src/platform/http/body.ts';
import { GRANTABLE } from '../../src/platform/http/callers.ts';
import { startMarketingApp } from '../marketing/settings/setup.ts';
import { longestTurnMs } from '../support/event-loop.ts';
import { actor } from '../support/helpers.ts';
import { makeOneOfEach, type PathValues, pathOf } from '../support/one-of-each.ts';

/**
 * What is promised is 100 ms on two quiet cores, and the worst here takes half of that. Processor time is longer on a machine
 * that others use. Parsed before they were counted, these bodies took from 600 ms to 2.5 s.
 */
const MOST_MS = 300;
/** As much as any JSON body may have. */
const BYTES = 4_900_000;

const fill = (text: string, bytes = BYTES): string => text.repeat(Math.floor(bytes / text.length));
const members = (n: number, name = 'k'): string =>
  `{${Array.from({ length: n }, (_, at) => `"${name}${at}":${at}`).join(',')}}`;

/** Each as the whole of a body. */
const BODIES: Readonly<Record<string, string>> = {
  '100,000 members': members(100_000),
  'as many members as are allowed': members(MAX_JSON_MEMBERS),
  'as many long names as are allowed': members(MAX_JSON_MEMBERS, 'k'.repeat(450)),
  'arrays in arrays to the end': fill('['),
  'objects in objects to the end': fill('{"a":'),
  'two million items': `{"a":[${fill('1,')}1]}`,
  'one long name': `{"${fill('x')}":1}`,
  'escapes without end': `{"a":"${fill('\\u0041')}`,
  'nothing but blanks': fill(' '),
};
/** Each as the value of every field. */
const VALUES: Readonly<Record<string, string>> = {
  'escaped quotes': `"${fill('\\"')}"`,
  'escaped pairs': `"${fill('\\ud83d\\ude00')}"`,
  placeholders: JSON.stringify(fill('{{a}}')),
  braces: JSON.stringify(fill('{{', 500_000)),
  markup: JSON.stringify(fill('<a>')),
  'as many texts as are allowed': JSON.stringify(Array(MAX_JSON_MEMBERS - 50).fill('x'.repeat(400))),
  'as many members as are allowed': members(MAX_JSON_MEMBERS - 50),
  digits: fill('1'),
};

let ask: (
  path: string,
  request: { method?: string; headers?: Record<string, string>; body: string | FormData },
) => Promise<number>;
let on: Awaited<ReturnType<typeof startMarketingApp>>;
let key = '';
let token = '';
let values: PathValues = {};

beforeAll(async () => {
  on = await startMarketingApp();
  const all = { can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true };
  const permissions = { email_template: true, captcha: true };
  key = await on.project.key({ ...all, permissions, rate_limit_per_minute: 1_000_000 });
  ({ token } = await on.app.services.tokens.create(actor, {
    ...{ name: 'all', all_projects: true, projects: [], capabilities: [...GRANTABLE] },
  }));
  values = await makeOneOfEach(on.app, on.project, { key, token });
  ask = async (path, { method = 'POST', headers = {}, body }) => {
    on.app.clock.advance(100);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const { status } = await on.app.call(method, path, { key, token, headers, body: bytes });
    return status;
  };
  // Everything has been compiled once.
  await ask(pathOf(route('POST', '/emails/send'), values), { body: '{}' });
});

const route = (method: string, path: string, plane = 'data') => {
  const found = on.app.app.routes.find(
    (one) => one.method === method && one.path === path && one.plane === plane,
  );
  if (!found) throw new Error(`no ${method} ${path}`);
  return found;
};

/** In each field two of them, others in the next. */
const valuesFrom = (from: number): [string, string][] => {
  const all = Object.entries(VALUES);
  return Array.from({ length: 2 }, (_, n) => all[(from * 2 + n) % all.length] ?? ['', '']);
};

/** The longest turn for each of these bodies that takes longer than it may. */
async function tooLong(bodies: Iterable<[string, () => Promise<unknown>]>): Promise<string[]> {
  const slow: string[] = [];
  for (const [what, send] of bodies) {
    const ms = await longestTurnMs(send);
    if (ms > MOST_MS) slow.push(`${what}: ${ms.toFixed(0)} ms`);
  }
  return slow;
}

describe('a JSON body holds nobody up', () => {
  // One reader has all of them, whatever their route.
  test.each([
    ['data', 'POST', '/emails/send'],
    ['management', 'POST', '/projects'],
  ])('as a whole, of %s %s %s', async (plane, method, path) => {
    const url = pathOf(route(method, path, plane), values);
    const bodies = Object.entries(BODIES).map(([what, body]): [string, () => Promise<unknown>] => [
      what,
      () => ask(url, { method, body }),
    ]);
    expect(await tooLong(bodies)).toEqual([]);
  });

  test.each([
    ['data', 'POST', '/emails/send'],
    ['data', 'POST', '/emails/batch'],
    ['data', 'POST', '/email-lists/:list/contacts'],
    ['data', 'POST', '/email-contacts/events/batch'],
    ['data', 'POST', '/email-sequences'],
    ['data', 'POST', '/emails/templates'],
    ['data', 'POST', '/captcha/verify'],
    ['data', 'POST', '/email-lists/:list/imports'],
    ['management', 'POST', '/projects'],
    ['management', 'PUT', '/projects/:project/vault/:service'],
    ['management', 'POST', '/global-origins/check'],
    ['management', 'POST', '/mailboxes'],
  ])('in a field of %s %s %s', async (plane, method, path) => {
    const asked = route(method, path, plane);
    const send = (body: string) => () => ask(pathOf(asked, values), { method, body });
    const fields = Object.keys(asked.docs.body?.properties ?? {});
    const bodies = fields.flatMap((field, from) =>
      valuesFrom(from).map(([what, value]): [string, () => Promise<unknown>] => {
        const { [field]: _, ...others } = { ...(asked.docs.example as Record<string, unknown>) };
        const rest = JSON.stringify(others).slice(1);
        return [
          `${field}: ${what}`,
          send(`{${JSON.stringify(field)}:${value}${rest === '}' ? '' : ','}${rest}`),
        ];
      }),
    );
    expect(await tooLong(bodies)).toEqual([]);
  });

  test('of who is not signed in, nor has a key', async () => {
    const headers = { 'Content-Type': 'application/json', 'X-Satchel-Console': '1' };
    const paths = ['/console/session', '/api/v1/emails/send', '/api/public/v1/projects'];
    const bodies = paths.flatMap((path) =>
      Object.entries(BODIES).map(([what, body]): [string, () => Promise<unknown>] => [
        `${path}: ${what}`,
        () => on.app.call('POST', path, { headers, body: Buffer.from(body) }),
      ]),
    );
    expect(await tooLong(bodies)).toEqual([]);
  });
});

test('a request to the API of Resend, as large as it may be, holds nobody up', async () => {
  const from = 'shop@mail.example.com';
  const mail = { from, to: 'ann@example.org', subject: 's', text: 't' };
  const content = Buffer.alloc(18 * 1024 ** 2, 'abc').toString('base64');
  const to = Array.from({ length: 50 }, (_, at) => `a${at}@example.org`);
  const bodies: Record<string, unknown> = {
    'a large file': { ...mail, attachments: [{ filename: 'a', content }] },
    'a large text': { ...mail, text: fill('ab\n', 15_000_000) },
    'much HTML without a text': { ...mail, text: undefined, html: fill('<p>a <b>b</b>\n') },
    'one line': { ...mail, headers: { 'X-A': fill('x') } },
    'addresses without end': { ...mail, to: fill('"a" (b) ') },
    'what is no base64': { ...mail, attachments: [{ filename: 'a', content: `${fill(' ', 20_000_000)}!` }] },
  };
  const send = (path: string, body: string) => async () => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Length': String(Buffer.byteLength(body)) };
    await on.app.call('POST', `/resend${path}`, { headers, body: Buffer.from(body) });
  };
  const sent = Object.entries({ ...bodies, ...BODIES }).map(
    ([what, body]): [string, () => Promise<unknown>] => [
      what,
      send('/emails', typeof body === 'string' ? body : JSON.stringify(body)),
    ],
  );
  const crowd = JSON.stringify(Array.from({ length: 20 }, () => ({ ...mail, to })));
  expect(await tooLong([...sent, ['a crowd', send('/emails/batch', crowd)]])).toEqual([]);
});

test('a paste of as many addresses as are allowed, and of many more, holds nobody up', async () => {
  const path = pathOf(route('POST', '/email-lists/:list/imports'), values);
  const texts: Readonly<Record<string, string>> = {
    'as many as are allowed': Array.from(
      { length: MAX_PASTED_ROWS },
      (_, n) => `Ann <n${n}@example.com>`,
    ).join('\n'),
    'all of them in one line': Array.from({ length: MAX_PASTED_ROWS }, (_, n) => `m${n}@example.com`).join(
      ', ',
    ),
    ...Object.fromEntries(
      ['<a>', 'a,', '\n', 'a\n', '<', '"', 'a <b@c.de>,', '(', 'a:<'].flatMap((text) => [
        [JSON.stringify(text), fill(text, MAX_PASTE_CHARS)],
        [`${JSON.stringify(text)} past the limit`, fill(text)],
        [`${JSON.stringify(text)} below a header`, `email\n${fill(text, MAX_PASTE_CHARS - 6)}`],
      ]),
    ),
  };
  const sent = Object.entries(texts).map(([what, text]): [string, () => Promise<unknown>] => [
    what,
    () =>
      ask(path, { body: JSON.stringify({ method: 'paste', text, defaults: { consent_basis: 'consent' } }) }),
  ]);
  expect(await tooLong(sent)).toEqual([]);
});

test('a form of any size or type, an upload of many parts, a query and a path hold nobody up', async () => {
  const urlencoded = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';
  const upload = '/api/v1/objects';
  const sent: [string, () => Promise<unknown>][] = [
    ...['/unsubscribe/x', '/confirm/x'].flatMap((path): [string, () => Promise<unknown>][] => [
      [`${path}: fields`, () => ask(path, { headers: urlencoded, body: fill('a&') })],
      [`${path}: parts`, () => ask(path, { headers: multipart, body: fill(part) })],
    ]),
    ...Object.entries({ fields: [urlencoded, 'a&'], parts: [multipart, part] } as const).map(
      ([what, [headers, text]]): [string, () => Promise<unknown>] => {
        const request = new Request('http://x/', { method: 'POST', headers, body: fill(text) });
        return [
          `a mail to be shown: ${what}`,
          () => readForm(request, MAX_PREVIEW_BODY_BYTES).catch(() => {}),
        ];
      },
    ),
    ['upload: parts', () => ask(upload, { headers: multipart, body: fill(part) })],
    ['upload: a header', () => ask(upload, { headers: multipart, body: `--x\r\nX: ${fill('a')}` })],
    ['upload: boundaries', () => ask(upload, { headers: multipart, body: fill('--x\r\n') })],
    ['a query', () => on.app.call('GET', `/api/v1/emails?${fill('a&', 60_000)}`, { key })],
    ['a path', () => on.app.call('GET', `/api/v1/emails/${fill('%61', 60_000)}`, { key })],
    ['a link', () => on.app.call('GET', `/c/${fill('-', 60_000)}`, {})],
  ];
  expect(await tooLong(sent)).toEqual([]);
});
