/** Why a key accepts or refuses a request from somewhere, asked over HTTP: what the command line prints, for who may see the key. */
import { beforeAll, expect, test } from 'bun:test';
import { run } from '../../support/command.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let on: Management;
let id = '';
let foreign = '';
let rule = 0;

beforeAll(async () => {
  on = await startManagement();
  const make = async (project: string) =>
    String(
      dataOf(await on.call('POST', `/projects/${project}/api-keys`, on.all, { name: 'k', restricted: true }))
        .id,
    );
  id = await make('mine');
  foreign = await make('other');
  const added = await on.call('POST', `/projects/mine/api-keys/${id}/origins`, on.all, {
    ...{ type: 'domain', value: 'https://app.example.com' },
  });
  rule = Number(dataOf(added).id);
});

const why = (body: unknown, token: string | null = on.scoped, of = id, project = 'mine') =>
  on.call('POST', `/projects/${project}/api-keys/${of}/why`, token, body);

test('tells what the command line tells, the rule that accepts included, and changes nothing', async () => {
  const before = on.snapshot();
  const asked: [Record<string, string>, string[]][] = [
    [{ origin: 'https://app.example.com' }, ['--origin', 'https://app.example.com']],
    [{ origin: 'https://evil.example' }, ['--origin', 'https://evil.example']],
    [
      { app_id: 'com.example.app', cert_fingerprint: 'AB:CD' },
      ['--app-id', 'com.example.app', '--cert', 'AB:CD'],
    ],
    [{}, []],
  ];
  for (const [body, options] of asked) {
    const answer = await why(body);
    const { stdout } = await run(on.app.data_dir, 'key', 'why', id, ...options, '--json');
    expect([answer.status, dataOf(answer)]).toEqual([200, JSON.parse(stdout)]);
  }
  expect(dataOf(await why({ origin: 'https://app.example.com' }))).toEqual({
    ...{ accepted: true, code: null, why: expect.any(String) },
    rule: { id: rule, type: 'domain', value: 'https://app.example.com', scope: 'own' },
  });
  expect(dataOf(await why({ origin: 'https://evil.example' }))).toMatchObject({
    ...{ accepted: false, code: 'ORIGIN_NOT_ALLOWED', rule: null },
  });
  expect(on.snapshot()).toBe(before);
});

test('is for who may see the key', async () => {
  expect((await why({}, null)).status).toBe(401);
  const outside = await why({}, on.scoped, foreign, 'other');
  expect([outside.status, codeOf(outside)]).toEqual([404, 'NOT_FOUND']);
  expect((await why({}, on.scoped, foreign)).text).toBe((await why({}, on.scoped, '999')).text);
  const bad = await why({ origin: 1, app_id: [] });
  expect([bad.status, invalidFieldsOf(bad).toSorted()]).toEqual([422, ['app_id', 'origin']]);
});
