/** `satchel audit list`: what its filters pick and how a bad one is refused. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { run, runJson } from '../../support/command.ts';
import { actor, startTestApp } from '../../support/helpers.ts';

// Every step starts a process, and a busy machine takes its time for that.
setDefaultTimeout(60_000);

let dir: string;
beforeAll(async () => {
  const app = await startTestApp();
  const { projects, keys } = app.services;
  const one = await projects.create(actor, { name: 'One' });
  await projects.create(actor, { name: 'Two' });
  const { id } = await keys.create(actor, one, { name: 'k' });
  await keys.reveal(actor, keys.require(String(id)));
  await app.stop();
  dir = app.data_dir;
});

describe('audit list', () => {
  test('prints who did what, newest first, and no secret', async () => {
    const { stdout } = await run(dir, 'audit', 'list');
    const events = [...stdout.matchAll(/(?:project|api_key)\.\w+/g)].map(([event]) => event);
    expect(events).toEqual(['api_key.revealed', 'api_key.created', 'project.created', 'project.created']);
    expect(stdout).not.toMatch(/sat_live_\w{20}/);
  });

  test.each([
    [[], 4],
    [['--project', 'one'], 3],
    [['--event', 'project.created'], 2],
    [['--event', 'project.created', '--project', 'two'], 1],
    [['--actor', 'nobody at all'], 0],
    [['--since', '2100-01-01'], 0],
    [['--until', '2100-01-01'], 4],
    [['--limit', '1'], 1],
  ])('%j picks %i', async (args, n) => {
    expect(await runJson(dir, 'audit', 'list', ...args)).toHaveLength(n);
  });

  test.each([
    [2, ['--since', 'yesterday']],
    [1, ['--project', 'nowhere']],
    [2, ['--limit', '0']],
  ])('exit %i: %j', async (exit, args) => {
    const ran = await run(dir, 'audit', 'list', ...args);
    expect(ran).toMatchObject({ exit, stdout: '' });
  });
});
