/** Templates and schedules on the management plane: made, changed and run without a key, and named on the audit trail. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, addCapturingMailbox } from '../../support/helpers.ts';
import {
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';
import { rows } from '../emails/setup.ts';

let on: Management;

beforeAll(async () => {
  on = await startManagement();
  await addCapturingMailbox(on.app);
});

const TEMPLATES = '/projects/mine/email-templates';
const SCHEDULES = '/projects/mine/email-schedules';
const TEMPLATE = {
  name: 'Hello',
  category: 'welcome',
  subject: 'Hi {{ name }}',
  body_text: 'Dear {{ name }}',
};
const SCHEDULE = {
  ...{ name: 'daily', recipients: [{ email: 'ann@example.org' }], cron_expression: '0 9 * * *' },
  ...{ timezone: 'Europe/Berlin', subject: 's', body_text: 'b' },
};
const call = (
  method: string,
  path: string,
  body?: unknown,
  token: string | null = on.scoped,
): Promise<Answer> => on.call(method, path, token, body);

describe('a template', () => {
  test('is made, listed beside the categories, previewed, changed and deleted', async () => {
    const made = await call('POST', TEMPLATES, TEMPLATE);
    expect([made.status, dataOf(made)]).toMatchObject([201, { slug: 'hello', body_text: 'Dear {{ name }}' }]);
    expect(on.lastEvent()).toMatchObject({
      ...{ event: 'template.created', target: 'template:hello', actor_name: 'test token' },
    });
    const list = await call('GET', TEMPLATES);
    expect(Object.keys(list.body).toSorted()).toEqual(['categories', 'data']);
    expect([listOf(list), list.body.categories]).toMatchObject([
      [{ slug: 'hello' }],
      expect.arrayContaining(['welcome']),
    ]);
    const preview = await call('POST', `${TEMPLATES}/hello/preview`, { variables: { name: 'Ann' } });
    expect([preview.status, dataOf(preview)]).toMatchObject([
      200,
      { subject: 'Hi Ann', body_text: 'Dear Ann' },
    ]);
    const changes = { subject: 'Servus {{ name }}', body_html: '<b>{{ name }}</b>' };
    const draft = await call('POST', `${TEMPLATES}/hello/preview`, { variables: { name: '<A>' }, changes });
    expect([draft.status, dataOf(draft)]).toMatchObject([
      200,
      { subject: 'Servus <A>', body_html: '<b>&lt;A&gt;</b>', body_text: 'Dear <A>', missing: [] },
    ]);
    const bad = await call('POST', `${TEMPLATES}/hello/preview`, { changes: { body_text: null } });
    expect([bad.status, invalidFieldsOf(bad)]).toEqual([422, ['body_html']]);
    expect(rows(on.app, 'SELECT subject, body_html, body_text FROM email_templates')).toEqual([
      { subject: 'Hi {{ name }}', body_html: null, body_text: 'Dear {{ name }}' },
    ]);
    const changed = await call('PATCH', `${TEMPLATES}/hello`, { subject: 'Hello {{ name }}' });
    expect([changed.status, dataOf(changed).subject]).toEqual([200, 'Hello {{ name }}']);
    expect(on.lastEvent()).toMatchObject({
      event: 'template.changed',
      changes: { subject: { from: expect.any(String), to: expect.any(String) } },
    });
    expect(dataOf(await call('GET', `${TEMPLATES}/hello`)).subject).toBe('Hello {{ name }}');
    const deleted = await call('DELETE', `${TEMPLATES}/hello`);
    expect([deleted.status, dataOf(deleted).success]).toEqual([200, true]);
    expect(on.lastEvent()).toMatchObject({ event: 'template.deleted', target: 'template:hello' });
    expect(rows(on.app, 'SELECT id FROM email_templates')).toEqual([]);
  });

  test('of marketing needs nothing further of whoever manages the project', async () => {
    const made = await call('POST', TEMPLATES, { ...TEMPLATE, slug: 'news', is_marketing: true });
    expect([made.status, dataOf(made).is_marketing]).toEqual([201, true]);
    expect((await call('PATCH', `${TEMPLATES}/news`, { name: 'News' })).status).toBe(200);
    expect((await call('DELETE', `${TEMPLATES}/news`)).status).toBe(200);
  });
});

describe('a schedule', () => {
  test('tells its next five runs, over the change of the clocks, and none while it is paused', async () => {
    on.app.clock.advance(Date.parse('2030-03-29T12:00:00Z') - on.app.clock.now());
    const token = await on.makeToken({ projects: ['mine'] });
    const made = await call('POST', SCHEDULES, SCHEDULE, token);
    expect(made.status).toBe(201);
    const id = String(dataOf(made).id);
    expect(rows(on.app, 'SELECT api_key_id, is_test FROM email_schedules')).toEqual([
      { api_key_id: null, is_test: 0 },
    ]);
    expect(on.lastEvent()).toMatchObject({
      ...{ event: 'schedule.created', target: `schedule:${id}`, metadata: { name: 'daily' } },
    });
    const shown = dataOf(await call('GET', `${SCHEDULES}/${id}`, undefined, token));
    expect(shown.next_runs).toEqual([
      '2030-03-30T08:00:00.000Z',
      '2030-03-31T07:00:00.000Z',
      '2030-04-01T07:00:00.000Z',
      '2030-04-02T07:00:00.000Z',
      '2030-04-03T07:00:00.000Z',
    ]);
    expect(shown).toMatchObject({ ...dataOf(made), next_run_at: '2030-03-30T08:00:00.000Z' });
    const foresee = (query: string) =>
      call('GET', `/projects/mine/email-schedule-runs?${query}`, undefined, token);
    const foreseen = await foresee('cron_expression=0+9+*+*+*&timezone=Europe/Berlin');
    expect(dataOf(foreseen).next_runs).toEqual(shown.next_runs);
    const refused = await foresee('cron_expression=0+10+*+*&timezone=Mars');
    expect([refused.status, invalidFieldsOf(refused)]).toEqual([422, ['timezone', 'cron_expression']]);
    expect((await foresee('')).status).toBe(422);
    const paused = await call('PATCH', `${SCHEDULES}/${id}`, { is_active: false }, token);
    expect(paused.status).toBe(200);
    expect(on.lastEvent()).toMatchObject({
      event: 'schedule.changed',
      changes: { is_active: { from: true, to: false } },
    });
    expect(dataOf(await call('GET', `${SCHEDULES}/${id}`, undefined, token)).next_runs).toEqual([]);
    expect(listOf(await call('GET', SCHEDULES, undefined, token))).toMatchObject([{ id, is_active: false }]);
  });

  test('runs at once, with a job to poll on this plane, and real mail', async () => {
    const token = await on.makeToken({ projects: ['mine'] });
    const [{ id }] = listOf(await call('GET', SCHEDULES, undefined, token)) as [{ id: string }];
    const ran = await call('POST', `${SCHEDULES}/${id}/run`, undefined, token);
    const { job_id, status_url } = dataOf(ran);
    expect(ran.status).toBe(202);
    expect(status_url).toBe(`http://satchel.test/api/public/v1/projects/${on.mine.public_id}/jobs/${job_id}`);
    expect(on.lastEvent()).toMatchObject({ event: 'schedule.run', metadata: { job_id } });
    await on.app.app.engine.whenIdle();
    expect(rows(on.app, 'SELECT to_email, api_key_id, is_test, source FROM emails')).toEqual([
      { to_email: 'ann@example.org', api_key_id: null, is_test: 0, source: 'schedule' },
    ]);
    expect((await call('DELETE', `${SCHEDULES}/${id}`, undefined, token)).status).toBe(200);
    expect(on.lastEvent()).toMatchObject({ event: 'schedule.deleted', target: `schedule:${id}` });
    expect(rows(on.app, 'SELECT id FROM email_schedules')).toEqual([]);
  });
});

test('the list of schedules can be that of one template', async () => {
  const token = await on.makeToken({ projects: ['mine'] });
  await call('POST', TEMPLATES, { ...TEMPLATE, slug: 'weekly' }, token);
  const { subject: _subject, body_text: _text, ...rest } = SCHEDULE;
  const variables = { name: 'Ann' };
  const made = await call('POST', SCHEDULES, { ...rest, template: 'weekly', variables }, token);
  const other = await call('POST', SCHEDULES, SCHEDULE, token);
  const found = await call('GET', `${SCHEDULES}?template=weekly`, undefined, token);
  expect([listOf(found).map(({ id }) => id), found.body.meta]).toMatchObject([
    [dataOf(made).id],
    { total: 1 },
  ]);
  for (const { id } of [dataOf(made), dataOf(other)])
    expect((await call('DELETE', `${SCHEDULES}/${id}`, undefined, token)).status).toBe(200);
});
