/** `satchel person`: what its verbs print, refuse and change beside a running server. */
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CAPABILITIES } from '../../../src/platform/http/callers.ts';
import { run, runJson, runRecord, runWith } from '../../support/command.ts';
import { dumpRows } from '../../support/deployment.ts';
import { makeDataDir, TestClock } from '../../support/temp.ts';
import { type Console, PASSWORD, startConsole } from './setup.ts';

setDefaultTimeout(60_000);

const ANN = 'ann@example.com';
let on: Console;
let dir = '';
beforeAll(async () => {
  // Commands go by the real clock.
  on = await startConsole({ clock: new TestClock(new Date().toISOString()) });
  dir = on.app.data_dir;
  await run(dir, 'project', 'create', '--name', 'One');
  await run(dir, 'project', 'create', '--name', 'Two');
});

/** The path of a link, which starts with the address that the command knows. */
const pathOf = (link: unknown) => new URL(String(link)).pathname;
const setPassword = (link: unknown, password = PASSWORD) =>
  on.ask('POST', pathOf(link), { body: { password } });

test('a person is added, signs in, is changed, reset and removed, each from the next request on', async () => {
  const added = await runRecord(dir, 'person', 'add', ANN, '--project', 'one', '--can', 'read_vault');
  const link_of_added = String(added.link);
  expect(link_of_added).toMatch(/^http:\/\/localhost:8420\/console\/welcome\/[\w-]{43}$/);
  expect(added).toMatchObject({
    ...{ id: 1, email: ANN, name: ANN, all_projects: false, can_read_vault: true, can_write_vault: false },
    projects: [{ slug: 'one' }],
  });
  expect((await setPassword(link_of_added)).status).toBe(204);
  const cookie = await on.enter(ANN);
  const slugs = async () => {
    const { body } = await on.ask('GET', '/api/public/v1/projects', { cookie });
    return Array.isArray(body.data) ? body.data.map(({ slug }) => slug) : body;
  };
  expect(await slugs()).toEqual(['one']);
  expect(
    await runRecord(dir, 'person', 'change', ANN, '--project', '2', '--name', 'Ann', '--can', 'none'),
  ).toMatchObject({
    ...{ name: 'Ann', projects: [{ slug: 'two' }], can_read_vault: false },
  });
  expect(await slugs()).toEqual(['two']);
  await run(dir, 'person', 'change', '1', '--all-projects', '--can', 'all,administer', '--name', '');
  expect(await runJson(dir, 'person', 'list')).toMatchObject([
    {
      name: ANN,
      all_projects: true,
      can_administer: true,
      ...Object.fromEntries(CAPABILITIES.map((c) => [c, true])),
    },
  ]);
  const reset = await run(dir, 'person', 'reset', ANN);
  const [link = ''] = reset.stdout.split('\n');
  expect([reset.exit, link]).toEqual([0, expect.stringContaining('/console/welcome/')]);
  expect((await on.ask('GET', '/console/session', { cookie })).status).toBe(401);
  expect((await setPassword(link, 'another horse battery')).status).toBe(204);
  await run(dir, 'person', 'change', ANN, '--inactive');
  expect((await on.signIn(ANN, { password: 'another horse battery' })).status).toBe(401);
  await run(dir, 'person', 'change', ANN, '--active', '--email', 'anna@example.com');
  expect((await on.signIn('anna@example.com', { password: 'another horse battery' })).status).toBe(204);
  const refused = await run(dir, 'person', 'remove', 'anna@example.com');
  expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('ends 1 session')]);
  expect(await runRecord(dir, 'person', 'remove', 'anna@example.com', '--yes')).toMatchObject({
    deleted: true,
  });
  expect(await runJson(dir, 'person', 'list')).toEqual([]);
  const events = on.app.services.audit.listNewest({ event: 'person.reset' }, 1);
  expect(events).toMatchObject([{ actor_kind: 'shell', target: 'person:1' }]);
});

test('the first link is made while there is nobody, and each voids the one before', async () => {
  const first = await startConsole({ clock: new TestClock(new Date().toISOString()) });
  const make = () => runRecord(first.app.data_dir, 'person', 'add', '--first');
  const [{ link: old }, { link }] = [await make(), await make()];
  const body = { password: PASSWORD, email: ANN };
  expect((await first.ask('POST', pathOf(old), { body })).status).toBe(404);
  expect((await first.ask('POST', pathOf(link), { body })).status).toBe(204);
  expect(await runJson(first.app.data_dir, 'person', 'list')).toMatchObject([
    { email: ANN, can_administer: true },
  ]);
  const late = await run(first.app.data_dir, 'person', 'add', '--first');
  expect([late.exit, late.stderr]).toEqual([
    1,
    expect.stringMatching(/There is somebody already.*dead: satchel person reset EMAIL/),
  ]);
});

test('a link that nobody could use is given with a word of warning', async () => {
  const data_dir = makeDataDir();
  const add = (SATCHEL_PUBLIC_URL: string, email: string) =>
    runWith({ SATCHEL_DATA_DIR: data_dir, SATCHEL_PUBLIC_URL }, 'person', 'add', email, '--all-projects');
  expect((await add('http://files.example.com', 'a@example.com')).stderr).toContain('need https');
  expect(await add('https://files.example.com', 'b@example.com')).toMatchObject({
    ...{ stderr: '', stdout: expect.stringMatching(/^https:\/\/files\.example\.com\/console\/welcome\//) },
  });
});

test.each([
  [2, ['person', 'add', '--all-projects']],
  [2, ['person', 'add', 'new@example.com', '--all-projects', '--can', 'fly']],
  [2, ['person', 'add', '--first', '--can', 'all']],
  [2, ['person', 'add', 'new@example.com', '--first']],
  [2, ['person', 'add', 'new@example.com']],
  [2, ['person', 'add', 'new@example.com', '--project', 'one', '--all-projects']],
  [2, ['person', 'change', 'there@example.com']],
  [2, ['person', 'change', 'there@example.com', '--active', '--inactive']],
  [1, ['person', 'add', 'nobody', '--all-projects']],
  [1, ['person', 'add', 'THERE@example.com', '--all-projects']],
  [1, ['person', 'add', 'new@example.com', '--project', 'nowhere']],
  [1, ['person', 'add', 'new@example.com', '--project', 'one', '--can', 'administer']],
  [1, ['person', 'change', 'there@example.com', '--project', 'one', '--can', 'administer']],
  [1, ['person', 'change', 'absent@example.com', '--inactive']],
  [1, ['person', 'reset', 'absent@example.com']],
  [1, ['person', 'remove', 'there@example.com']],
])('exit %i: satchel %j', async (exit, args) => {
  const data_dir = makeDataDir();
  await run(data_dir, 'project', 'create', '--name', 'One');
  await run(data_dir, 'person', 'add', 'there@example.com', '--all-projects');
  const before = dumpRows(data_dir);
  const ran = await run(data_dir, ...args);
  expect(ran).toMatchObject({ exit, stdout: '' });
  expect(ran.stderr).not.toBe('');
  expect(dumpRows(data_dir)).toEqual(before);
});

test('a person without a scope is refused in words of the options', async () => {
  const { stderr } = await run(makeDataDir(), 'person', 'add', 'new@example.com');
  expect(stderr).toContain(
    'Say what the person is for: either --all-projects, or --project REF once or more often.',
  );
});
