/** The endpoints of schedules: who may do what, what is stored, and when a schedule runs next. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { actor } from '../../support/helpers.ts';
import { PATH, type ScheduleApp, startScheduleApp, VALID } from './setup.ts';

let app: ScheduleApp;
const TEMPLATE = {
  name: 'Report',
  slug: 'report',
  category: 'notification' as const,
  subject: 'Report',
  body_text: '{{ sum }}',
};

beforeAll(async () => {
  app = await startScheduleApp();
  await app.services.sending_domains.add(actor, { name: 'new.test', is_default: false, is_trusted: false });
  await app.services.sending_domains.add(actor, { name: 'off.test', is_default: false, is_trusted: true });
  await app.services.sending_domains.change(actor, 'off.test', { is_active: false });
  const { templates } = app.services;
  await templates.create(app.project_id, TEMPLATE, noNote);
  await templates.create(app.project_id, { ...TEMPLATE, slug: 'off', is_active: false }, noNote);
  await templates.create(app.project_id, { ...TEMPLATE, slug: 'promo', is_marketing: true }, noNote);
});

const call = (method: string, path: string, key: string | null, body?: unknown) =>
  app.call(method, `${PATH}${path}`, {
    ...(key === null ? {} : { key: app.keys[key] ?? '' }),
    ...(body === undefined ? {} : { body }),
  });

async function create(fields: Record<string, unknown> = {}, key = 'full'): Promise<Record<string, unknown>> {
  const answer = await call('POST', '', key, { ...VALID, ...fields });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('who may do what', () => {
  test('a key needs no permission to send emails, write is enough', async () => {
    expect((await call('POST', '', 'write', VALID)).status).toBe(201);
  });
});

describe('POST /email-schedules', () => {
  test('answers the whole schedule, flat, with its next run', async () => {
    const body = await create({
      timezone: 'Europe/Berlin',
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      reply_to: 'reply@example.com',
      from_name: 'Reports',
      domain: 'MAIL.test',
      description: 'For the team',
      missed_runs: 'run_once',
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      public_id: body.id,
      name: 'Weekly report',
      recipients: [
        { email: 'ann@example.com', name: 'Ann' },
        { email: 'ben@example.com', name: null },
      ],
      cron_expression: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      template: null,
      variables: {},
      subject: 'The week',
      body_html: null,
      body_text: 'All is well.',
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      reply_to: 'reply@example.com',
      from_name: 'Reports',
      domain: 'mail.test',
      description: 'For the team',
      missed_runs: 'run_once',
      is_active: true,
      next_run_at: '2030-01-21T08:00:00.000Z',
      last_run_at: null,
      last_status: null,
      created_at: '2030-01-15T12:00:00.000Z',
      updated_at: '2030-01-15T12:00:00.000Z',
    });
    expect((await call('GET', `/${body.id}`, 'read')).body).toEqual(body);
    expect((await call('GET', `/${String(body.id).toLowerCase()}`, 'read')).status).toBe(200);
  });

  test('is in UTC and active unless told otherwise', async () => {
    expect(await create()).toMatchObject({ timezone: 'UTC', next_run_at: '2030-01-21T09:00:00.000Z' });
    expect(await create({ is_active: false })).toMatchObject({ is_active: false, next_run_at: null });
  });

  const CRONS: [expression: string, timezone: string, next: string][] = [
    ['@hourly', 'UTC', '2030-01-15T13:00:00.000Z'],
    ['@daily', 'Asia/Kolkata', '2030-01-15T18:30:00.000Z'],
    ['@weekly', 'UTC', '2030-01-20T00:00:00.000Z'],
    ['@monthly', 'America/New_York', '2030-02-01T05:00:00.000Z'],
    ['*/15 8-18 * JAN MON-FRI', 'UTC', '2030-01-15T12:15:00.000Z'],
    ['0 0 13 * 5', 'UTC', '2030-01-18T00:00:00.000Z'],
    ['0 0 * * 7', 'UTC', '2030-01-20T00:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2032-02-29T00:00:00.000Z'],
  ];

  test.each(CRONS)('%s in %s runs next at %s', async (cron_expression, timezone, next_run_at) => {
    expect(await create({ cron_expression, timezone })).toMatchObject({ cron_expression, next_run_at });
  });

  const many = (count: number) => Array.from({ length: count }, (_, n) => ({ email: `r${n}@example.com` }));
  const REFUSED: [what: string, fields: Record<string, unknown>, field: string][] = [
    ['no name', { name: undefined }, 'name'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name'],
    ['no recipients', { recipients: undefined }, 'recipients'],
    ['an empty list of recipients', { recipients: [] }, 'recipients'],
    ['51 recipients', { recipients: many(51) }, 'recipients'],
    ['recipients that are no list', { recipients: 'ann@example.com' }, 'recipients'],
    ['a recipient without an address', { recipients: [{ name: 'Ann' }] }, 'recipients.0.email'],
    ['a recipient whose address is none', { recipients: [{ email: 'ann' }] }, 'recipients.0.email'],
    [
      'a recipient named on two lines',
      { recipients: [{ email: 'a@example.com', name: 'A\nBcc: b@example.com' }] },
      'recipients.0.name',
    ],
    [
      'one address twice',
      { recipients: [{ email: 'ann@example.com' }, { email: 'Ann@Example.com' }] },
      'recipients.1.email',
    ],
    ['no cron', { cron_expression: undefined }, 'cron_expression'],
    ['a cron of six fields', { cron_expression: '0 0 9 * * 1' }, 'cron_expression'],
    ['a cron of four fields', { cron_expression: '0 9 * *' }, 'cron_expression'],
    ['minute 60', { cron_expression: '60 * * * *' }, 'cron_expression'],
    ['an unknown preset', { cron_expression: '@yearly' }, 'cron_expression'],
    ['a cron with L', { cron_expression: '0 9 L * *' }, 'cron_expression'],
    ['a cron that never comes due', { cron_expression: '0 9 31 2 *' }, 'cron_expression'],
    ['an unknown time zone', { timezone: 'Mars/Olympus' }, 'timezone'],
    ['no content', { subject: undefined, body_text: undefined }, 'subject,body_html'],
    ['no body', { body_text: undefined }, 'body_html'],
    ['empty bodies', { body_text: '', body_html: '' }, 'body_html'],
    ['a body past the limit', { body_html: 'é'.repeat(256_001) }, 'body_html'],
    ['a subject of 501 characters', { subject: 'x'.repeat(501) }, 'subject'],
    ['a subject of two lines', { subject: 'a\r\nBcc: x@example.com' }, 'subject'],
    ['an unknown template', { template: 'no-such' }, 'template'],
    ['an inactive template', { template: 'off', variables: { sum: 1 } }, 'template'],
    ['a marketing template', { template: 'promo', variables: { sum: 1 } }, 'template'],
    ['a template without its values', { template: 'report' }, 'variables.sum'],
    ['variables that are no object', { template: 'report', variables: [1] }, 'variables'],
    ['11 copies', { cc: many(11).map(({ email }) => email) }, 'cc'],
    ['a blind copy to no address', { bcc: ['x'] }, 'bcc.0'],
    ['a reply address that is none', { reply_to: 'x' }, 'reply_to'],
    ['a from name of two lines', { from_name: 'a\nb' }, 'from_name'],
    ['an unknown domain', { domain: 'other.test' }, 'domain'],
    ['a domain that is not verified', { domain: 'new.test' }, 'domain'],
    ['a domain that is not active', { domain: 'off.test' }, 'domain'],
    ['a description of 2001 characters', { description: 'x'.repeat(2001) }, 'description'],
    ['an unknown way with missed runs', { missed_runs: 'all' }, 'missed_runs'],
    ['a flag that is none', { is_active: 1 }, 'is_active'],
  ];

  test.each(REFUSED)('refuses %s', async (_what, fields, field) => {
    const before = (await call('GET', '', 'read')).body;
    const answer = await call('POST', '', 'full', { ...VALID, ...fields });
    expect([answer.status, Object.keys(Object(answer.body.errors)).join()]).toEqual([422, field]);
    expect((await call('GET', '', 'read')).body).toEqual(before);
  });

  test('takes a template instead of content, and both', async () => {
    const template = { template: 'report', variables: { sum: 7 } };
    expect(await create({ ...template, subject: undefined, body_text: undefined })).toMatchObject(template);
    expect(await create(template)).toMatchObject({ ...template, subject: 'The week' });
  });

  test('takes 50 recipients', async () => {
    expect((await create({ recipients: many(50) })).recipients).toHaveLength(50);
  });
});

describe('PATCH /email-schedules/{id}', () => {
  test('changes what is sent and nothing else, leaving the next run where it was', async () => {
    const before = await create();
    const changes = { name: 'Renamed', recipients: [{ email: 'new@example.com' }] };
    const { status, body } = await call('PATCH', `/${before.id}`, 'full', changes);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      name: 'Renamed',
      recipients: [{ email: 'new@example.com', name: null }],
    });
    expect((await call('PATCH', `/${before.id}`, 'full', {})).body).toEqual(body);
  });

  test('counts the next run afresh when the cron or its time zone changes', async () => {
    const { id } = await create();
    const hourly = await call('PATCH', `/${id}`, 'full', { cron_expression: '@hourly' });
    expect(hourly.body.next_run_at).toBe('2030-01-15T13:00:00.000Z');
    const moved = await call('PATCH', `/${id}`, 'full', { timezone: 'Asia/Kolkata' });
    expect(moved.body.next_run_at).toBe('2030-01-15T12:30:00.000Z');
  });

  test('pauses, and resumes from now', async () => {
    const { id } = await create({ cron_expression: '0 13 * * *' });
    const paused = await call('PATCH', `/${id}`, 'full', { is_active: false });
    expect(paused.body).toMatchObject({ is_active: false, next_run_at: null });
    const changed = await call('PATCH', `/${id}`, 'full', { cron_expression: '0 14 * * *' });
    expect(changed.body.next_run_at).toBeNull();
    const resumed = await call('PATCH', `/${id}`, 'full', { is_active: true });
    expect(resumed.body).toMatchObject({ is_active: true, next_run_at: '2030-01-15T14:00:00.000Z' });
  });

  test('clears optional fields with null', async () => {
    const { id } = await create({
      timezone: 'Europe/Berlin',
      body_html: '<p>x</p>',
      cc: ['cc@example.com'],
      reply_to: 'r@example.com',
      from_name: 'x',
      domain: 'mail.test',
      description: 'x',
      missed_runs: 'run_once',
    });
    const cleared = {
      timezone: null,
      body_text: null,
      cc: null,
      reply_to: null,
      from_name: null,
      domain: null,
      description: null,
      missed_runs: null,
    };
    expect((await call('PATCH', `/${id}`, 'full', cleared)).body).toMatchObject({
      ...cleared,
      timezone: 'UTC',
      cc: [],
      missed_runs: 'skip',
      body_html: '<p>x</p>',
      next_run_at: '2030-01-21T09:00:00.000Z',
    });
  });

  test.each([
    [{ name: null }, 'name'],
    [{ recipients: null }, 'recipients'],
    [{ cron_expression: null }, 'cron_expression'],
    [{ cron_expression: 'x' }, 'cron_expression'],
    [{ timezone: 'x' }, 'timezone'],
    [{ subject: null }, 'subject'],
    [{ body_text: null }, 'body_html'],
    [{ template: 'no-such' }, 'template'],
    [{ domain: 'other.test' }, 'domain'],
  ])('refuses %j', async (changes, field) => {
    const before = await create();
    const answer = await call('PATCH', `/${before.id}`, 'full', changes);
    expect([answer.status, Object.keys(Object(answer.body.errors)).join()]).toEqual([422, field]);
    expect((await call('GET', `/${before.id}`, 'read')).body).toEqual(before);
  });

  test('falls back on raw content when the template is cleared', async () => {
    const template = { template: 'report', variables: { sum: 7 } };
    const with_both = await create(template);
    expect((await call('PATCH', `/${with_both.id}`, 'full', { template: null })).body.template).toBeNull();
    const without = await create({ ...template, subject: undefined, body_text: undefined });
    expect((await call('PATCH', `/${without.id}`, 'full', { template: null })).status).toBe(422);
  });

  test('pauses and renames a schedule whose template is gone', async () => {
    await app.services.templates.create(app.project_id, { ...TEMPLATE, slug: 'doomed' }, noNote);
    const { id } = await create({ template: 'doomed', variables: { sum: 1 } });
    await app.services.templates.remove(app.project_id, 'doomed', noNote);
    expect((await call('PATCH', `/${id}`, 'full', { is_active: false, name: 'x' })).status).toBe(200);
    expect((await call('PATCH', `/${id}`, 'full', { variables: { sum: 2 } })).status).toBe(422);
  });

  test('pauses and renames a schedule whose domain is gone', async () => {
    const { sending_domains } = app.services;
    await sending_domains.add(actor, { name: 'doomed.test', is_trusted: true });
    const { id } = await create({ domain: 'doomed.test' });
    await sending_domains.remove(actor, 'doomed.test');
    expect((await call('PATCH', `/${id}`, 'full', { is_active: false, name: 'x' })).status).toBe(200);
    expect((await call('PATCH', `/${id}`, 'full', { domain: 'doomed.test' })).status).toBe(422);
  });
});

describe('DELETE /email-schedules/{id}', () => {
  test('deletes once', async () => {
    const { id } = await create();
    expect((await call('DELETE', `/${id}`, 'full')).body).toEqual({
      success: true,
      message: 'Schedule deleted.',
    });
    expect((await call('DELETE', `/${id}`, 'full')).status).toBe(404);
    expect((await call('GET', `/${id}`, 'read')).status).toBe(404);
  });
});
