/** `satchel broadcast`: what each verb prints, what it asks for before it sends, and how it refuses. */
import { beforeAll, expect, test } from 'bun:test';
import { run } from '../../support/command.ts';
import { type BroadcastApp, startBroadcastApp } from './setup.ts';

let on: BroadcastApp;
let list: string;
const satchel = (...args: string[]) => run(on.app.data_dir, 'broadcast', ...args);

beforeAll(async () => {
  on = await startBroadcastApp();
  list = await on.list();
  await on.contact(list, 'ann@example.com', { tags: ['vip'] });
  await on.contact(list, 'bob@example.com');
});

/** The id that `create` prints first. */
async function create(name: string, ...args: string[]): Promise<string> {
  const made = await satchel('create', '--project', 'shop', '--name', name, '--list', list, ...args);
  expect([made.exit, made.stderr]).toEqual([0, '']);
  return made.stdout.split('\n')[0] ?? '';
}

test('a draft is made, checked, changed, and sent once somebody says yes to the number', async () => {
  const id = await create(
    'June',
    '--filter',
    'tags_any=vip',
    '--set',
    'month=June',
    '--track-opens',
    '--preheader',
    'Hot',
    '--utm',
    'source=news',
    '--utm',
    'campaign=June sale',
  );
  expect((await on.show(id)).utm).toEqual({ source: 'news', campaign: 'June sale' });
  expect((await satchel('show', id)).stdout).toMatch(/preheader +Hot/);
  const unready = await satchel('check', id);
  expect([unready.exit, unready.stdout]).toEqual([
    1,
    expect.stringContaining('The broadcast has no template.'),
  ]);
  expect(unready.stdout).toContain('1 would get it, 1 would not: 1 filter.');
  const refused = await satchel('send', id, '--yes', '--json');
  expect([refused.exit, JSON.parse(refused.stdout)]).toMatchObject([1, { error: { code: 'send_refused' } }]);
  expect((await satchel('change', id, '--template', 'news')).exit).toBe(0);
  expect((await satchel('check', id)).exit).toBe(0);
  const asked = await satchel('send', id);
  expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining('This sends June to 1 person.')]);
  expect((await on.show(id)).status).toBe('draft');
  const everybody = await satchel(
    'change',
    'June',
    '--project',
    'shop',
    '--everybody',
    '--no-track-opens',
    '--preheader',
    '',
    '--utm',
    '',
  );
  expect((await on.show(id)).utm).toBeNull();
  const misspelt = await satchel('change', id, '--utm', 'sorce=news');
  expect([misspelt.exit === 0, misspelt.stderr]).toEqual([
    false,
    expect.stringContaining('there are source, medium'),
  ]);
  expect([everybody.exit, everybody.stdout]).toEqual([0, expect.stringContaining('it is a draft')]);
  expect(await on.show(id)).toMatchObject({
    filter: null,
    preheader: null,
    track_opens: false,
    variables: { month: 'June' },
  });
  const tested = await satchel('test', id, '--to', 'me@example.com', '--json');
  expect(JSON.parse(tested.stdout)).toMatchObject({ email_id: expect.any(String) });
  const sent = await satchel('send', id, '--yes');
  expect([sent.exit, sent.stdout]).toEqual([0, expect.stringContaining('is sending to 2 people')]);
  await on.pass();
  expect((await satchel('show', id)).stdout).toMatch(/status +sent/);
  const { stdout } = await satchel('recipients', id);
  expect(stdout).toMatch(/bob@example.com +sent/);
  expect((await satchel('list', '--project', 'shop')).stdout).toMatch(/June +sent +2/);
});

test('scheduling, and taking that back', async () => {
  const id = await create('July', '--template', 'news');
  expect((await satchel('send', id, '--at', 'soon')).stderr).toContain('--at must be an ISO 8601 date-time');
  expect((await satchel('send', id, '--at', '2020-01-01T00:00:00Z', '--yes')).stderr).toContain(
    '--at must be in',
  );
  const at = '2031-06-01T09:00:00Z';
  expect((await satchel('send', id, '--at', at)).stderr).toContain('to 2 people at 2031-06-01T09:00:00Z');
  const scheduled = await satchel('send', id, '--at', at, '--yes');
  expect(scheduled.stdout).toContain('is scheduled for 2031-06-01T09:00:00.000Z');
  expect((await satchel('change', id, '--at', 'none')).stdout).toContain('it is a draft');
  expect((await satchel('cancel', id, '--yes')).stderr).toContain('only one that is scheduled');
  expect((await satchel('delete', id)).stderr).toContain('This deletes the broadcast July');
  expect((await satchel('delete', id, '--yes')).exit).toBe(0);
  expect((await satchel('show', id)).exit).toBe(1);
});

test.each([
  [1, ['create', '--project', 'shop', '--name', 'a', '--list', 'LIST', '--filter', 'tag_any=a']],
  [1, ['create', '--project', 'shop', '--name', ' ', '--list', 'LIST']],
  [1, ['create', '--project', 'shop', '--name', 'a', '--list', '01J00000000000000000000000']],
  [1, ['send', '01J00000000000000000000000', '--yes']],
])('exit %i: satchel broadcast %j', async (exit, args) => {
  const ran = await satchel(...args.map((arg) => (arg === 'LIST' ? list : arg)));
  expect(ran).toMatchObject({ exit, stdout: '', stderr: expect.stringMatching(/\w/) });
});

test('a list gets its archive by the shell, which tells where it is, and takes a broadcast into it long after', async () => {
  const shell = (...args: string[]) => run(on.app.data_dir, ...args);
  const id = await create('Filtered', '--template', 'news', '--filter', 'tags_any=vip');
  await on.send(id);
  const changed = await shell('list', 'change', list, '--archive-page');
  expect([changed.exit, changed.stdout]).toEqual([
    0,
    expect.stringContaining(`can be read at http://localhost:8420/archive/${list}`),
  ]);
  expect((await on.show(id)).in_archive).toBe(false);
  const taken = await satchel('change', id, '--in-archive');
  expect([taken.exit, taken.stderr]).toEqual([0, '']);
  expect((await satchel('show', id)).stdout).toMatch(/in_archive +yes/);
  const more = await satchel('change', id, '--in-archive', '--name', 'Other');
  expect([more.exit, more.stderr]).toEqual([1, expect.stringContaining('The broadcast is sent')]);
  expect((await satchel('change', id, '--no-in-archive')).exit).toBe(0);
  expect((await on.show(id)).in_archive).toBe(false);
  const off = await shell('list', 'change', list, '--no-archive-page');
  expect([off.exit, off.stdout.includes('archive/')]).toEqual([0, false]);
  const link = await shell('marketing', 'change', '--project', 'shop', '--no-view-link');
  expect([link.exit, link.stdout]).toEqual([0, expect.stringContaining('view_link')]);
});
