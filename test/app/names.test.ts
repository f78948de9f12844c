/** Names at the shell: lists, sequences, broadcasts, templates and schedules by id, slug or name, and a second one of a name. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { resolveNamed } from '../../src/platform/cli/project-option.ts';
import { type MarketingApp, startMarketingApp } from '../marketing/settings/setup.ts';
import { run, runJson, runRecord } from '../support/command.ts';
import { actor, addCapturingMailbox } from '../support/helpers.ts';

let on: MarketingApp;
let dir = '';
let other = '';
beforeAll(async () => {
  on = await startMarketingApp();
  await addCapturingMailbox(on.app);
  dir = on.app.data_dir;
  other = (await on.app.services.projects.create(actor, { name: 'Other', slug: 'other' })).slug;
});

const IN_SHOP = ['--project', 'shop'];
const show = (...args: string[]) => runRecord(dir, ...args, ...IN_SHOP);

test('a list is found by its id, or by its name beside its project', async () => {
  const id = await on.list({ name: 'By name' });
  expect(await runRecord(dir, 'list', 'show', id)).toMatchObject({ id, name: 'By name' });
  expect(await runRecord(dir, 'list', 'show', id.toLowerCase())).toMatchObject({ id });
  expect(await show('list', 'show', id)).toMatchObject({ id });
  expect(await show('list', 'show', 'By name')).toMatchObject({ id });
  expect(await show('list', 'change', 'By name', '--description', 'x')).toMatchObject({
    id,
    description: 'x',
  });
  expect((await run(dir, 'contact', 'list', '--list', 'By name', ...IN_SHOP)).exit).toBe(0);
  for (const [args, exit, words] of [
    [['list', 'show', 'By name'], 2, 'with --project by its name'],
    [['list', 'show', 'by name', ...IN_SHOP], 1, 'List not found'],
    [['list', 'show', id, '--project', other], 1, 'List not found'],
    [['list', 'show', 'By name', '--project', other], 1, 'List not found'],
    [['list', 'show', 'By name', '--project', 'nobody'], 1, 'not found'],
    [['list', 'show', '01J00000000000000000000000'], 1, 'List not found'],
    [['contact', 'list', '--list', 'By name'], 2, 'with --project by its name'],
  ] as const) {
    const ran = await run(dir, ...args);
    expect([args, ran.exit, ran.stderr]).toEqual([args, exit, expect.stringContaining(words)]);
  }
});

test('an archived one is meant only where no other fits, and of several their ids are told', async () => {
  const old = await on.list({ name: 'News' });
  await on.app.services.lists.update(on.project.id, old, { archived: true }, () => {});
  expect(await show('list', 'show', 'News')).toMatchObject({ id: old });
  const current = await on.list({ name: 'News' });
  expect(await show('list', 'show', 'News')).toMatchObject({ id: current });
  const second = await on.list({ name: 'News' });
  const ran = await run(dir, 'list', 'show', 'News', ...IN_SHOP);
  expect([ran.exit, ran.stderr]).toEqual([1, expect.stringContaining(`${second}, ${current}`)]);
  expect(ran.stderr).not.toContain(old);
});

test('an id goes before a slug, and a slug before a name', () => {
  const alike = (id: string, slug: string) => ({ key: slug, id, slug, project_id: 1, is_over: false });
  const place = {
    what: 'template',
    projects: { require: () => ({ id: 1 }) },
    byId: () => null,
    called: () => [alike('1', 'hello'), alike('2', 'Hello')],
  };
  expect(resolveNamed(place, 'hello', { project: 'shop' })).toBe('hello');
  expect(resolveNamed(place, 'Hello', { project: 'shop' })).toBe('Hello');
  expect(() => resolveNamed(place, 'HELLO', { project: 'shop' })).toThrow('1, 2');
});

test('sequences, broadcasts, templates and schedules are found alike', async () => {
  const { templates } = on.app.services;
  const made = await templates.create(
    on.project.id,
    { name: 'Good day', slug: 'hello', category: 'other', subject: 'Hi', body_text: 'Hi' },
    () => {},
  );
  for (const ref of ['hello', 'Good day', String(made.id)])
    expect(await show('template', 'show', ref)).toMatchObject({ slug: 'hello' });
  const list = await on.list({ name: 'For campaigns' });
  const sequence = await on.call('POST', '/email-sequences', {
    name: 'Welcome',
    list,
    max_recipients: 9,
    steps: [],
  });
  expect(await show('sequence', 'show', 'Welcome')).toEqual(
    expect.objectContaining({ id: Object(sequence.body.data).id }),
  );
  const broadcast = await show('broadcast', 'create', '--name', 'June', '--list', 'For campaigns');
  expect(broadcast).toMatchObject({ list });
  expect(await show('broadcast', 'show', 'June')).toMatchObject({ id: broadcast.id });
  const key = await on.project.key({ can_send_emails: true, can_read: true, can_write: true });
  const schedule = await on.app.call('POST', '/api/v1/email-schedules', {
    key,
    body: {
      ...{ name: 'Weekly', cron_expression: '0 9 * * 1', subject: 's', body_text: 'b' },
      recipients: [{ email: 'ann@example.com' }],
    },
  });
  expect(await show('schedule', 'pause', 'Weekly')).toMatchObject({ id: schedule.body.id, is_active: false });
});

test('a template is named likewise where another thing asks for one', async () => {
  const { templates } = on.app.services;
  const body_text = '{{confirm_url}} {{first_name}}';
  await templates.create(
    on.project.id,
    { name: 'Press here', slug: 'press', category: 'opt_in', subject: 'Hi', body_text },
    () => {},
  );
  const template = ['--template', 'Press here', '--set', 'first_name=Ann', '--set', 'confirm_url=x'];
  const mail = await show('email', 'send', '--to', 'ann@example.org', ...template);
  expect(mail).toMatchObject({ template: 'press' });
  const listed = await runJson(dir, 'email', 'list', '--template', 'Press here', ...IN_SHOP);
  expect(listed).toMatchObject([{ id: mail.id }]);
  const of_schedule = ['--name', 'Named', '--to', 'ann@example.org', '--cron', '@daily', ...template];
  expect(await show('schedule', 'create', ...of_schedule)).toMatchObject({ template: 'press' });
  const made = await show('list', 'create', '--name', 'Confirmed', '--confirmation-template', 'Press here');
  expect(made).toMatchObject({ confirmation_template: 'press' });
  const change = ['list', 'change', 'Confirmed', ...IN_SHOP, '--confirmation-template'];
  expect(await runRecord(dir, ...change, '')).toMatchObject({ confirmation_template: null });
  expect(await runRecord(dir, ...change, 'Press here')).toMatchObject({ confirmation_template: 'press' });
  const { exit, stderr } = await run(dir, ...change, 'Press');
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/^satchel: --confirmation-template must be/)]);
});

describe('a second one of a name', () => {
  const WARNING = 'has this name';
  const warningOf = (answer: { headers: Headers }): string => answer.headers.get('warning') ?? '';

  test('of lists and sequences draws a warning over HTTP, beside that of ignored fields', async () => {
    const make = (fields = {}) => on.call('POST', '/email-lists', { name: 'Twice', ...fields });
    const [first, second] = [await make(), await make({ nonsense: 1 })];
    expect([first.status, warningOf(first)]).toEqual([201, '']);
    expect(warningOf(second)).toContain(WARNING);
    expect(warningOf(second)).toContain('ignored fields: nonsense');
    for (const each of [first, second])
      await on.app.services.lists.update(
        on.project.id,
        String(Object(each.body.data).id),
        { archived: true },
        () => {},
      );
    expect(warningOf(await make())).toBe('');
    const list = await on.list({ name: 'Of sequences' });
    const draft = () =>
      on.call('POST', '/email-sequences', { name: 'Both', list, max_recipients: 9, steps: [] });
    expect([warningOf(await draft()), warningOf(await draft())]).toEqual([
      '',
      expect.stringContaining(WARNING),
    ]);
  });

  test('of a copy of a broadcast', async () => {
    const list = await on.list({ name: 'Of copies' });
    await show('broadcast', 'create', '--name', 'Once', '--list', list);
    const copy = () => run(dir, 'broadcast', 'copy', 'Once', ...IN_SHOP);
    expect((await copy()).stderr).toBe('');
    expect((await copy()).stderr).toContain('another broadcast that is called Once (copy)');
  });

  test('of keys, on the management plane and at the shell', async () => {
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'all', all_projects: true, projects: [], capabilities: [] },
    });
    const make = () =>
      on.app.call('POST', '/api/public/v1/projects/shop/api-keys', { token, body: { name: 'site' } });
    const [first, second] = [await make(), await make()];
    expect([warningOf(first), warningOf(second)]).toEqual(['', expect.stringContaining(WARNING)]);
    const create = ['key', 'create', '--name', 'site', '--can', 'read', ...IN_SHOP];
    expect((await run(dir, ...create)).stderr).toContain('another key that is called site');
    const list = ['list', 'create', '--name', 'Shell', ...IN_SHOP];
    expect((await run(dir, ...list)).stderr).toBe('');
    const again = await run(dir, ...list);
    expect([again.exit, again.stderr]).toEqual([
      0,
      expect.stringContaining('another list that is called Shell'),
    ]);
  });
});
