/** What a key is for, in words, and when it was last used, as the API tells it. */
import { expect, test } from 'bun:test';
import { purposeOf } from '../../../src/access/keys/purpose.ts';
import type { Permission } from '../../../src/platform/http/callers.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';

const told = (may: Permission[], key: object = {}, named: string[] = [], count = named.length) =>
  purposeOf({ restricted: false, allow_no_origin: false, ...key }, new Set(may), { named, count });

test('it says what the key may do and where from', () => {
  const restricted = { restricted: true };
  const shop = ['https://shop.example'];
  expect([
    told([]),
    told(['read', 'write', 'upload', 'delete'], restricted, shop),
    told(['write', 'upload']),
    told(['read', 'email', 'email_template', 'captcha']),
    told(['email_template']),
    told(['email_marketing']),
    told(['email_marketing'], restricted, shop),
    told(['upload', 'captcha', 'email_marketing'], restricted, ['https://a.example', 'com.example.shop'], 5),
    told(['upload'], { restricted: true, allow_no_origin: true }),
    told(['upload'], restricted),
  ]).toEqual([
    'May do nothing',
    'Reads and writes files from shop.example',
    'Writes files but deletes none',
    'Reads files, sends mail and checks captchas',
    'Sends mail from templates',
    'Manages email marketing',
    'Public: sign-ups only from shop.example',
    'Public: uploads files, takes sign-ups and checks captchas from a.example, com.example.shop and 3 more',
    'Public: uploads files from servers',
    'Public: uploads files from the global origins only',
  ]);
});

test('the API tells it of each key, with its last use', async () => {
  const app = await startTestApp();
  const shop = await makeProject(app, 'shop');
  const key = await shop.key({ can_read: true, restricted: true });
  const [row] = app.services.keys.list(app.services.projects.require('shop'), { page: 1, per_page: 5 }).data;
  const { keys, origins } = app.services;
  const of = keys.require(String(row?.id));
  for (const value of ['https://one.example', 'https://two.example', 'https://three.example'])
    await origins.add({ kind: 'shell', id: null, name: 't', ip: null }, of, { type: 'domain', value });
  const read = () => keys.present(keys.require(String(row?.id)));
  expect(read()).toMatchObject({
    purpose: 'Reads files from one.example, two.example and 1 more',
    last_used_at: null,
  });
  const headers = { Origin: 'https://one.example' };
  expect((await app.call('GET', '/api/v1/objects', { key, headers })).status).toBe(200);
  // Nobody's request waits for the note.
  await until(() => read().last_used_at !== null);
  expect(read().last_used_at).toBe(new Date(app.clock.now()).toISOString());
});
