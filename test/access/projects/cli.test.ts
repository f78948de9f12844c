/** `satchel project`: what its verbs print, refuse and change. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { run, runJson, runRecord } from '../../support/command.ts';
import { makeDataDir } from '../../support/temp.ts';

// Every step starts a process, and a busy machine takes its time for that.
setDefaultTimeout(60_000);

test('a project is made, listed, shown and deleted, each as the API shows it', async () => {
  const dir = makeDataDir();
  const made = await runRecord(dir, 'project', 'create', '--name', 'Corner Shop', '--slug', 'shop');
  expect(made).toMatchObject({ id: 1, name: 'Corner Shop', slug: 'shop', status: 'active', api_keys: [] });
  await runRecord(dir, 'key', 'create', '--project', 'shop', '--name', 'web');
  expect(await runJson(dir, 'project', 'list')).toEqual([
    expect.objectContaining({ id: 1, slug: 'shop', api_keys_count: 1 }),
  ]);
  const shown = await runRecord(dir, 'project', 'show', String(made.public_id));
  expect(shown).toMatchObject({ id: 1, api_keys: [{ id: 1, name: 'web' }] });
  const refused = await run(dir, 'project', 'delete', 'shop');
  expect(refused.exit).toBe(1);
  expect(refused.stderr).toContain('--yes');
  expect(await runRecord(dir, 'project', 'delete', 'shop', '--yes')).toMatchObject({
    deleted: true,
    cascade: { api_keys: 1, stored_objects: 0 },
  });
  const gone = await run(dir, 'project', 'show', 'shop');
  expect(gone).toMatchObject({ exit: 1, stdout: '' });
  expect(gone.stderr).toContain('satchel project list');
});

test('an empty list says how to make a project, and is an empty array as JSON', async () => {
  const dir = makeDataDir();
  expect((await run(dir, 'project', 'list')).stdout).toContain('satchel project create');
  expect(await runJson(dir, 'project', 'list')).toEqual([]);
  await run(dir, 'project', 'create', '--name', 'Shop');
  const { stdout } = await run(dir, 'project', 'list', '--search', 'none');
  expect(stdout).toBe('No project matches.\n');
});

test.each([
  [2, ['project', 'show']],
  [2, ['project', 'list', '--bogus']],
  [2, ['project']],
  [1, ['project', 'create', '--name', ' ']],
  [1, ['project', 'create', '--name', 'A', '--slug', '123']],
  [2, ['project', 'list', '--status', 'gone']],
])('exit %i: satchel %j', async (exit, args) => {
  const ran = await run(makeDataDir(), ...args);
  expect(ran).toMatchObject({ exit, stdout: '' });
  expect(ran.stderr).not.toBe('');
});

test('change touches what is given and nothing else, and clears what is given empty', async () => {
  const dir = makeDataDir();
  const more = ['--description', 'Orders', '--notes', 'Ask Ann', '--status', 'inactive'];
  expect(await runRecord(dir, 'project', 'create', '--name', 'Shop', ...more)).toMatchObject({
    ...{ description: 'Orders', notes: 'Ask Ann', status: 'inactive', primary_url: null, platforms: [] },
  });
  const renamed = await runRecord(
    dir,
    'project',
    'change',
    'shop',
    '--slug',
    'store',
    '--primary-url',
    'https://a.example',
  );
  expect(renamed).toMatchObject({
    slug: 'store',
    name: 'Shop',
    description: 'Orders',
    primary_url: 'https://a.example',
  });
  const cleared = await runRecord(
    dir,
    'project',
    'change',
    'store',
    '--description',
    '',
    '--status',
    'active',
  );
  expect(cleared).toEqual({ ...renamed, description: null, status: 'active' });
  expect((await run(dir, 'project', 'change', 'store', '--name', '')).exit).toBe(1);
});

test('beside several domains it is said what a project sends from, and that is changed', async () => {
  const dir = makeDataDir();
  const create = (...more: string[]) => run(dir, 'project', 'create', '--name', 'Shop', ...more);
  expect((await create()).stderr).toBe('');
  for (const name of ['a', 'b']) await run(dir, 'domain', 'add', `${name}.example.com`, '--trust');
  expect((await create()).stderr).toBe(
    'satchel: shop-2 sends from a.example.com. For another domain: satchel project change shop-2 --sending-domain NAME\n',
  );
  const own = await create('--slug', 'own', '--sending-domains', 'b.example.com');
  expect(own.stderr).toContain('own sends from b.example.com');
  const gone = await create('--sending-domain', 'gone.example.com');
  expect([gone.exit, gone.stderr]).toEqual([
    1,
    expect.stringContaining('--sending-domain must be a sending'),
  ]);
  const change = (...given: string[]) => runRecord(dir, 'project', 'change', 'own', ...given);
  expect(
    await change('--sending-domain', 'a.example.com', '--sending-domains', 'b.example.com,a.example.com'),
  ).toMatchObject({
    sending_domain: 'a.example.com',
    sending_domains: ['b.example.com', 'a.example.com'],
  });
  const refused = await run(dir, 'domain', 'remove', 'b.example.com', '--yes');
  expect([refused.exit, refused.stderr]).toEqual([
    1,
    expect.stringContaining('own sends from b.example.com. First change that: satchel project change own'),
  ]);
  expect(await change('--sending-domain', '', '--sending-domains', 'all')).toMatchObject({
    sending_domain: null,
    sending_domains: null,
  });
  expect((await run(dir, 'project', 'show', 'own')).stdout).toMatch(/sending_domains\s+all/);
});
