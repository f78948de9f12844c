/** `satchel email send`: what it takes, prints and refuses. */
import { beforeAll, expect, test } from 'bun:test';
import { run, runRecord, satchel } from '../../support/command.ts';
import { addCapturingMailbox, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';

let app: TestApp;
let dir = '';

beforeAll(async () => {
  app = await startTestApp();
  dir = app.data_dir;
  await makeProject(app, 'shop');
  await addCapturingMailbox(app);
});

const ANN = ['--project', 'shop', '--to', 'ann@example.org'];

test('a raw mail is queued, from the shell on the audit trail, and told in three lines', async () => {
  const { exit, stdout, stderr } = await run(
    dir,
    ...[
      'email',
      'send',
      ...ANN,
      '--subject',
      'Hello',
      '--text',
      'Hi!',
      '--cc',
      'b@example.org,c@example.org',
    ],
  );
  const [id = '', what, next] = stdout.trimEnd().split('\n');
  expect([exit, what]).toEqual([0, 'To ann@example.org, from shop@mail.example.com: queued.']);
  expect(next).toBe(`What becomes of it: satchel email why ${id}`);
  expect(stderr).toContain('it is sent once satchel serve does');
  app.app.engine.wake();
  await app.app.engine.whenIdle();
  const [captured] = app.services.deliveries.listCaptured({ per_page: 1 }).data;
  expect(captured?.to.toSorted()).toEqual(['ann@example.org', 'b@example.org', 'c@example.org']);
  const [newest] = app.services.audit.list(null, { page: 1, per_page: 1 }).data;
  expect(newest).toMatchObject({ event: 'email.accepted', target: `email:${id}`, actor_kind: 'shell' });
});

test('a template with its values, a stored file and standard input go into one; a time has it wait', async () => {
  const file = await satchel(['object', 'put', '-', '--project', 'shop', '--name', 'a.txt', '--json'], {
    env: { SATCHEL_DATA_DIR: dir },
    input: 'hello',
  });
  const { public_id } = JSON.parse(file.stdout);
  const later = ['--attach', public_id, '--at', '2100-01-01T00:00:00Z', '--json'];
  const { stdout } = await satchel(['email', 'send', ...ANN, '--subject', 'File', '--html', '-', ...later], {
    env: { SATCHEL_DATA_DIR: dir },
    input: '<p>See there</p>',
  });
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'scheduled',
    attachments: [{ public_id, filename: 'a.txt' }],
  });
  await app.services.templates.create(
    1,
    {
      ...{ name: 'Hi', slug: 'hi', category: 'other', subject: 'Hi {{ name }}', body_text: 'Hi {{ name }}' },
      variables: [{ name: 'name', required: true }],
    },
    () => {},
  );
  const templated = await runRecord(dir, 'email', 'send', ...ANN, '--template', 'hi', '--set', 'name=Ann=1');
  expect(templated).toMatchObject({ subject: 'Hi Ann=1', template: 'hi' });
});

test('everything that is wrong is told at once, by the names of the options, and nothing is queued', async () => {
  const { exit, stderr } = await run(
    dir,
    ...['email', 'send', '--project', 'shop', '--to', 'ann', '--subject', 'x', '--text', 'x', '--at', 'soon'],
    ...['--from', 'nobody@mail.example.com', '--attach', 'x', '--reply-to', 'y'],
  );
  expect(exit).toBe(1);
  for (const option of ['to', 'at', 'attach', 'reply-to', 'from']) expect(stderr).toContain(`--${option}`);
  expect(stderr).not.toMatch(/scheduled_at|attachments|reply_to/);
  const bare = await run(dir, 'email', 'send', ...ANN);
  expect(bare.stderr).toMatch(/--subject is/);
  expect(bare.stderr).toMatch(/--(html|text)/);
  expect(bare.stderr).not.toMatch(/body_/);
  const untold = await run(dir, 'email', 'send', ...ANN, '--template', 'hi');
  expect(untold.stderr).toContain('--set name is needed');
});

test('nobody waits for a mail that no server sends', async () => {
  const { exit, stderr } = await run(dir, 'email', 'send', ...ANN, '--subject', 'x', '--text', 'x', '--wait');
  expect([exit, stderr]).toEqual([1, expect.stringContaining('Leave out --wait to queue it')]);
});
