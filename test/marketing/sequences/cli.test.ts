/** `satchel sequence`: what each verb prints, as text and as JSON, what it changes, and how it refuses. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ran, runWith } from '../../support/command.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const ABSENT = '01J00000000000000000000000';
const STEPS = [
  { key: 'a', template: 'hello' },
  {
    ...{ key: 'b', template: 'bye', delay_hours: 24, is_final: true },
    condition: { type: 'not_clicked', else: 'exit' },
  },
];

let on: SequenceApp;
let list = '';
let id = '';
beforeAll(async () => {
  on = await startSequenceApp();
  for (const slug of ['hello', 'bye']) await on.template(slug);
});
beforeEach(async () => {
  list = await on.list();
  id = await on.draft(list, STEPS, { exit_events: ['paid', 'left'] });
});

async function sequence(...args: string[]): Promise<Ran> {
  const env = { SATCHEL_DATA_DIR: on.app.data_dir, SATCHEL_DNS_SERVERS: on.dns.address };
  const ran = await runWith(env, 'sequence', ...args);
  // What a turn of the server reads is of one moment; a process of its own would have ended in another turn.
  await Bun.sleep(0);
  return ran;
}
/** The one document on stdout, which ends so. */
async function json(exit: number, ...args: string[]): Promise<unknown> {
  const ran = await sequence(...args, '--json');
  expect([ran.exit, exit === 0 ? ran.stderr : '']).toEqual([exit, '']);
  return JSON.parse(ran.stdout);
}
const get = async (path = '') => (await on.call('GET', `/email-sequences/${id}${path}`)).body.data;
const activated = async () => dataOf(await on.call('POST', `/email-sequences/${id}/activate`));

test('list shows the newest first and of one project, page by page', async () => {
  const listed = (await json(0, 'list', '--project', 'shop')) as { id: string }[];
  expect(listed[0]).toEqual((await get()) as never);
  const { stdout } = await sequence('list', '--project', 'shop', '--limit', '1');
  expect(stdout).toMatch(new RegExp(`${id} +Welcome +draft +0 +0`));
  const other = await on.draft(list, []);
  const page = await sequence('list', '--project', 'shop', '--limit', '1', '--page', '2');
  expect(page.stdout).toContain(id);
  expect(page.stdout).not.toContain(other);
  expect(page.stdout).toMatch(/2 to 2 of \d+\. Next: --page 3\.|2 to 2 of 2\./);
  await on.app.services.projects.create(
    { kind: 'shell', id: '0', name: 'test', ip: null },
    { name: 'Other', slug: `other-${list.toLowerCase()}` },
  );
  const none = await sequence('list', '--project', `other-${list.toLowerCase()}`);
  expect([none.exit, none.stdout]).toEqual([0, 'There are no sequences.\n']);
});

test('show tells all of one, in whatever case its id is written', async () => {
  expect(await json(0, 'show', id.toLowerCase())).toEqual((await get()) as never);
  const { stdout } = await sequence('show', id);
  expect(stdout).toMatch(/exit_events +paid, left/);
  expect(stdout).toMatch(/^a +main +hello +0 +0 +0 +0 +0 +0$/m);
  expect(stdout).toEndWith(
    '\n\nb: sent if no link of the last message was clicked; otherwise the contact leaves the sequence\n',
  );
});

test('check prints every problem and ends with 1, or says that it is ready', async () => {
  expect(await json(0, 'check', id)).toEqual({ ready: true, captured: true, problems: [] });
  const captured = 'All mailboxes of its marketing capture: nobody gets its mail.\n';
  expect((await sequence('check', id)).stdout).toBe(`It is ready.\n${captured}`);
  await on.call('PATCH', `/email-sequences/${id}`, { steps: [{ key: 'x', template: 'nowhere' }] });
  expect(await json(1, 'check', id)).toEqual((await get('/check')) as never);
  const refused = await sequence('check', id);
  expect([refused.exit, refused.stdout]).toEqual([
    1,
    `x: The template nowhere does not exist in this project.\nx: The track main has no final step: its last one must be is_final.\n${captured}`,
  ]);
});

test('preview walks through it for a contact or a sample, with clicks, and sends nothing', async () => {
  await on.contact(list, 'ann@example.com', { first_name: 'Ann' });
  const seen = await json(0, 'preview', id, '--contact', 'Ann@example.com');
  expect(seen).toMatchObject({
    timeline: [
      { key: 'a', track: 'main', result: 'send', subject: 'hello for Ann', condition: 'always' },
      { key: 'b', result: 'send', subject: 'bye for Ann' },
    ],
    end: { reason: 'completed' },
  });
  const text = (await sequence('preview', id, '--clicks', 'a')).stdout;
  expect(text).toMatch(/ a +main +send +hello for there$/m);
  expect(text).toMatch(/ b +main +exit /);
  expect(text).toContain('\nb: sent if no link of the last message was clicked;');
  expect(text).toMatch(/\nEnds \S+Z: condition\.\n$/);
  expect((await sequence('preview', id, '--clicks', 'nowhere')).exit).toBe(1);
  // Whoever left, or is kept away, would see nothing.
  const ben = await on.contact(list, 'ben@example.com');
  await on.call('POST', `/email-contacts/${ben.id}/unsubscribe`);
  await on.contact(list, 'eve@example.com');
  await on.call('POST', '/email-suppressions', { email: 'eve@example.com' });
  for (const [email, reason] of [
    ['ben@example.com', 'unsubscribed'],
    ['eve@example.com', 'suppressed'],
  ] as const)
    expect(await json(0, 'preview', id, '--contact', email)).toMatchObject({ timeline: [], end: { reason } });
  expect((await sequence('preview', id, '--contact', 'ben@example.com')).stdout).toContain(': unsubscribed.');
  expect((await sequence('preview', id, '--contact', 'nobody@example.com')).exit).toBe(1);
  expect(on.app.services.database.read.$client.query('SELECT count(*) AS n FROM enrollments').get()).toEqual({
    n: 0,
  });
});

describe('the transitions', () => {
  test('go from one status to the next, with an audit event each, and finish asks first', async () => {
    for (const [verb, status] of [
      ['activate', 'active'],
      ['pause', 'paused'],
      ['resume', 'active'],
    ] as const)
      expect(await json(0, verb, id)).toMatchObject({ id, status });
    await on.contact(list, 'waits@example.com');
    await on.enroll(id);
    const asked = await sequence('finish', id);
    expect([asked.exit, asked.stdout]).toEqual([1, '']);
    expect(asked.stderr).toContain('ends the sequence Welcome for good: 1 enrollments exit');
    expect(await get()).toMatchObject({ status: 'active' });
    const finished = await sequence('finish', id, '--yes');
    expect([finished.exit, finished.stdout]).toEqual([0, 'The sequence Welcome is finished.\n']);
    expect(await get()).toMatchObject({ status: 'finished', stats: { exited: 1 } });
    const audit = on.app.services.database.read.$client
      .query<{ event: string; actor_kind: string }, [string]>(
        'SELECT event, actor_kind FROM audit_events WHERE target = ? ORDER BY id',
      )
      .all(`sequence:${id}`);
    expect(audit.map(({ event }) => event)).toEqual(
      ['activated', 'paused', 'resumed', 'finished'].map((what) => `sequence.${what}`),
    );
  });

  test('are refused from the wrong status, and change nothing', async () => {
    for (const verb of ['pause', 'resume', 'finish']) {
      const refused = await sequence(verb, id, ...(verb === 'finish' ? ['--yes'] : []), '--json');
      expect([refused.exit, JSON.parse(refused.stdout)]).toEqual([
        1,
        { error: { code: 'conflict', message: expect.stringContaining('The sequence is draft') } },
      ]);
      expect(refused.stderr).toContain('The sequence is draft');
    }
    expect(await get()).toMatchObject({ status: 'draft', pause_reason: null });
  });

  test('activate of one that is not ready names every problem', async () => {
    await on.call('PATCH', `/email-sequences/${id}`, { steps: [{ key: 'x', template: 'nowhere' }] });
    const refused = await sequence('activate', id);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain('x: The template nowhere does not exist in this project.');
    expect(refused.stderr).toContain('x: The track main has no final step');
    const answered = JSON.parse((await sequence('activate', id, '--json')).stdout);
    expect(answered).toMatchObject({ error: { code: 'activation_refused' } });
    expect(await get()).toMatchObject({ status: 'draft' });
  });
});

describe('enroll', () => {
  const BEFORE = { already: 0, refused_suppressed: 0, refused_status: 0 };

  test('takes all, those with tags, or those of a file, and says how many', async () => {
    await activated();
    const ann = await on.contact(list, 'enroll1@example.com', { tags: ['vip'] });
    const ben = await on.contact(list, 'enroll2@example.com');
    await on.contact(list, 'enroll3@example.com');
    expect(await json(0, 'enroll', id, '--tags', 'vip,other')).toEqual({ ...BEFORE, enrolled: 1 });
    const file = join(on.app.data_dir, 'ids.txt');
    writeFileSync(file, `${ann.id}\r\n\n${ben.id}\n`);
    expect(await json(0, 'enroll', id, '--contacts', file)).toEqual({ ...BEFORE, enrolled: 1, already: 1 });
    const all = await sequence('enroll', id, '--all');
    expect([all.exit, all.stdout]).toEqual([
      0,
      '1 enrolled, 2 were before, 0 are suppressed, 0 are not active.\n',
    ]);
    expect(await get()).toMatchObject({ stats: { enrolled: 3 } });
  });

  test('without one selection, or with two, is wrong usage; a draft and foreign ids are refused', async () => {
    await on.contact(list, 'nobody@example.com');
    expect((await sequence('enroll', id)).exit).toBe(2);
    expect((await sequence('enroll', id, '--all', '--tags', 'vip')).exit).toBe(2);
    const draft = await sequence('enroll', id, '--all', '--json');
    expect([draft.exit, JSON.parse(draft.stdout)]).toMatchObject([1, { error: { code: 'conflict' } }]);
    await activated();
    const foreign = await on.contact(await on.list(), 'foreign@example.com');
    const file = join(on.app.data_dir, 'ids.txt');
    for (const content of [String(foreign.id), ABSENT, 'no id']) {
      writeFileSync(file, content);
      expect((await sequence('enroll', id, '--contacts', file)).exit).toBe(1);
    }
    const missing = await sequence('enroll', id, '--contacts', join(on.app.data_dir, 'nowhere.txt'));
    expect([missing.exit, missing.stderr]).toEqual([1, expect.stringContaining('The file cannot be read')]);
    expect(await get()).toMatchObject({ stats: { enrolled: 0 } });
  });
});

test('why prints its sentences as JSON too, and knows addresses of the list alone', async () => {
  expect(await json(0, 'why', id)).toEqual({
    id,
    why: ['It is a draft: nothing is sent before it is activated.', 'Nobody waits in it.'],
  });
  const stranger = await sequence('why', id, '--contact', 'stranger@example.com');
  expect([stranger.exit, stranger.stderr]).toEqual([1, expect.stringContaining('Contact not found')]);
});

test('an id that is none is refused by every verb, and none at all, or a name without its project, is wrong usage', async () => {
  for (const verb of ['show', 'check', 'preview', 'activate', 'pause', 'resume', 'finish', 'enroll', 'why']) {
    const more = verb === 'enroll' ? ['--all'] : verb === 'finish' ? ['--yes'] : [];
    const refused = await sequence(verb, ABSENT, ...more, '--json');
    expect([verb, refused.exit, JSON.parse(refused.stdout)]).toEqual([
      ...[verb, 1],
      { error: { code: 'not_found', message: expect.stringContaining('satchel sequence list') } },
    ]);
    for (const named of [[], ['Welcome']])
      expect([verb, (await sequence(verb, ...named, ...more)).exit]).toEqual([verb, 2]);
  }
  expect((await sequence('list')).exit).toBe(2);
  expect((await sequence('list', '--project', 'nowhere')).exit).toBe(1);
});

test('copy makes a draft, and is on the audit trail', async () => {
  expect(await json(0, 'copy', id)).toMatchObject({ name: 'Welcome (copy)', stats: { enrolled: 0 } });
  const [entry] = on.app.services.database.read.$client
    .query<{ metadata: string }, []>(
      "SELECT metadata FROM audit_events WHERE event = 'sequence.created' ORDER BY id DESC",
    )
    .all();
  expect(JSON.parse(entry?.metadata ?? '{}')).toEqual({ name: 'Welcome (copy)', copy_of: id });
});

describe('a file', () => {
  const push = async (file: unknown, ...more: string[]) => {
    const path = join(on.app.data_dir, 'sequence.json');
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
    return sequence('push', path, '--project', 'shop', ...more);
  };
  const pull = async (ref: string) => (await sequence('pull', ref, '--project', 'shop')).stdout;

  test('makes a draft of the list that it names, and then changes the one of its name', async () => {
    const name = `Of a file ${id}`;
    const list_name = `Readers ${id}`;
    await on.call('PATCH', `/email-lists/${list}`, { name: list_name });
    const file = { name, list: list_name, max_recipients: 9, steps: STEPS };
    const made = await push(file);
    const [made_id = '', what] = made.stdout.split('\n');
    expect([made.exit, what]).toEqual([
      0,
      `The draft ${name} is made, with 2 steps. Next: satchel sequence check ${made_id}`,
    ]);
    expect((await push(file)).stdout).toBe(
      `${made_id}\nThe sequence ${name} is as the file has it: nothing was changed.\n`,
    );
    const steps = [
      { ...STEPS[0], delay_hours: 3 },
      { key: 'c', template: 'bye', is_final: true },
    ];
    const changed = await push({ name, max_recipients: 10, steps });
    expect(changed.stdout).toBe(
      `${made_id}\nThe sequence ${name} is changed: max_recipients, steps (a: delay_hours; c is new; b is gone).\n`,
    );
    expect(await json(0, 'show', made_id)).toMatchObject({ name, list, max_recipients: 10 });
  });

  test('that was pulled changes nothing when it is pushed, under another name it renames', async () => {
    const file = await pull(id);
    expect(JSON.parse(file)).toMatchObject({ id, name: 'Welcome', exit_events: ['paid', 'left'] });
    const before = await json(0, 'show', id);
    expect((await push(file)).stdout).toContain('nothing was changed');
    expect(await json(0, 'show', id)).toEqual(before);
    // A draft may wait for its template, and a file may name those that there are.
    const waiting = { ...STEPS[0], template: 'to-come' };
    await on.call('PATCH', `/email-sequences/${id}`, { steps: [waiting] });
    await on.setTemplate('bye', { name: 'to-come' });
    expect((await push(await pull(id))).stdout).toContain('nothing was changed');
    await on.setTemplate('bye', { name: 'Good bye' });
    const named = { ...JSON.parse(await pull(id)), steps: [waiting, { ...STEPS[1], template: 'Good bye' }] };
    expect((await push(named)).stdout).toContain('is changed: steps (b is new)');
    expect(JSON.parse(await pull(id)).steps).toMatchObject([waiting, { template: 'bye' }]);
    await on.setTemplate('bye', { name: 'bye' });
    const renamed = await push({ ...JSON.parse(await pull(id)), name: 'Hello' });
    expect(renamed.stdout).toBe(`${id}\nThe sequence Hello is changed: name.\n`);
  });

  test.each([
    ['what is not JSON', '{', 'The file is not JSON'],
    [
      'a misspelt member',
      { name: 'X', list: 'x', steps: [{ key: 'a', template: 'b', dely: 1 }] },
      'steps.0.dely is unknown',
    ],
    [
      'a misspelt member of a condition',
      { name: 'X', steps: [{ key: 'a', template: 'hello', condition: { type: 'clicked', els: 'exit' } }] },
      'steps.0.condition has an unknown member: there are type, event, of, else',
    ],
    ['no object', '[]', 'The file must hold a JSON object'],
    [
      'much that is wrong at once',
      {
        ...{ name: '', max_recipients: 'x', lst: 'x' },
        steps: [
          { key: 'a', template: 'hello' },
          { key: 'a', template: 'hello', delay_hours: -1 },
        ],
      },
      /steps\.1\.key must.*steps\.1\.delay_hours must.*name must.*max_recipients must.*lst is unknown/s,
    ],
    [
      'a template that is not there',
      { name: 'X', list: 'x', max_recipients: 1, steps: [{ key: 'a', template: 'nowhere' }] },
      'steps.0.template names no template of this project',
    ],
    ['no name', { list: 'x' }, 'name is required'],
    ['an id of no sequence', { id: ABSENT, name: 'X' }, 'leave the id out to make one'],
    ['a list that is not there', { name: 'No such', list: 'nowhere', max_recipients: 1 }, 'List not found'],
    ['too little for a new one', { name: 'No such' }, 'list is required'],
  ])('with %s is refused', async (_what, file, message) => {
    const { exit, stderr } = await push(file);
    expect([exit, stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  test('may not change who gets a sequence that runs', async () => {
    await sequence('activate', id);
    const { exit, stderr } = await push({ ...JSON.parse(await pull(id)), exit_events: [] });
    expect([exit, stderr]).toEqual([1, expect.stringContaining('Change them in a copy')]);
  });
});
