/** A refused body is told everything that is wrong with it at once: what breaks its shape, and what breaks a rule past it. */
import { beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import {
  actor,
  addCapturingMailbox,
  makeProject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';

let app: TestApp;
let key = '';
let token = '';
const half = '\ud83d';

beforeAll(async () => {
  app = await startTestApp();
  const shop = await makeProject(app, 'shop');
  key = await shop.key({
    ...{ can_read: true, can_write: true, can_send_emails: true },
    permissions: { email_template: true, captcha: true },
  });
  await addCapturingMailbox(app);
  ({ token } = await app.services.tokens.create(actor, {
    ...{
      name: 't',
      all_projects: true,
      projects: [],
      capabilities: ['can_manage_database', 'can_read_vault', 'can_write_vault', 'can_read_ai_accounts'],
      expires_in_days: 1,
    },
  }));
  await app.call('POST', '/api/v1/emails/templates', {
    key,
    body: {
      name: 'Hello',
      category: 'transactional',
      subject: 's',
      body_text: '{{ name }}',
      variables: [{ name: 'name', required: true }],
    },
  });
});

/** Fields that a refusal names. */
async function refused(method: string, path: string, body: unknown): Promise<string[]> {
  const on_data_plane = path.startsWith('/api/v1/');
  const answer = await app.call(method, path, { ...(on_data_plane ? { key } : { token }), body });
  expect(answer.status).toBe(422);
  const error = isPlainObject(answer.body.error) ? answer.body.error : {};
  const errors = on_data_plane
    ? answer.body.errors
    : isPlainObject(error.details)
      ? error.details.errors
      : null;
  return Object.keys(isPlainObject(errors) ? errors : {}).toSorted();
}

const rows = () =>
  [
    ...['email_schedules', 'emails', 'email_templates', 'projects', 'api_keys', 'key_origins'],
    ...['vault_values', 'ai_accounts', 'database_projects', 'objects'],
  ].map((table) => app.services.database.read.values(sql.raw(`SELECT count(*) FROM ${table}`))[0]?.[0]);

test('a schedule: a bad cron, a bad zone, empty recipients, an unknown domain and template are as many entries', async () => {
  const before = rows();
  const wrong = {
    name: 'n',
    recipients: [],
    cron_expression: '99 * * * *',
    timezone: 'Mars/Olympus',
    template: 'absent',
    domain: 'other.example.com',
  };
  expect(await refused('POST', '/api/v1/email-schedules', wrong)).toEqual([
    'cron_expression',
    'domain',
    'recipients',
    'template',
    'timezone',
  ]);
  // The same without anything wrong in its shape.
  const recipients = [{ email: 'ann@example.org' }];
  expect(await refused('POST', '/api/v1/email-schedules', { ...wrong, recipients })).toEqual([
    'cron_expression',
    'domain',
    'template',
    'timezone',
  ]);
  expect(
    await refused('POST', '/api/v1/email-schedules', {
      name: half,
      recipients,
      cron_expression: '0 0 31 2 *',
    }),
  ).toEqual(['body_html', 'cron_expression', 'name', 'subject']);
  expect(rows()).toEqual(before);
});

test('what is required only without a broken field is not asked for', async () => {
  const recipients = [{ email: 'ann@example.org' }];
  const schedule = { name: 'n', recipients, cron_expression: '@daily' };
  expect(await refused('POST', '/api/v1/email-schedules', { ...schedule, template: 5 })).toEqual([
    'template',
  ]);
  expect(
    await refused('POST', '/api/v1/emails/send', { to: 'ann@example.org', subject: 's', body_text: 5 }),
  ).toEqual(['body_text']);
  expect(
    await refused('POST', '/api/v1/emails/templates', {
      name: 'n',
      category: 'other',
      subject: 's',
      body_text: 5,
    }),
  ).toEqual(['body_text']);
});

test('a send: addresses, template, variables, attachments, domain and time', async () => {
  const before = rows();
  expect(
    await refused('POST', '/api/v1/emails/send', {
      ...{
        to: 'nobody',
        cc: ['x'],
        template: 'absent',
        domain: 'other.example.com',
        scheduled_at: '2001-01-01',
      },
      ...{ attachments: ['01ARZ3NDEKTSV4RRFFQ69G5FAV'], from_name: 'a\nb' },
    }),
  ).toEqual(['attachments', 'cc.0', 'domain', 'from_name', 'scheduled_at', 'template', 'to']);
  const body = { to: 'ann@example.org', template: 'hello', attachments: ['01ARZ3NDEKTSV4RRFFQ69G5FAV'] };
  expect(await refused('POST', '/api/v1/emails/send', body)).toEqual(['attachments', 'variables.name']);
  expect(
    await refused('POST', '/api/v1/emails/send', { to: 'ann@example.org', domain: 'other.example.com' }),
  ).toEqual(['body_html', 'domain', 'subject']);
  expect(rows()).toEqual(before);
});

test('a template: its shape, its slug, its bodies and its variables', async () => {
  const before = rows();
  expect(
    await refused('POST', '/api/v1/emails/templates', {
      ...{ name: '', category: 'other', subject: 'a\nb', slug: 'no spaces' },
      variables: [{ name: '__proto__' }],
    }),
  ).toEqual(['body_html', 'name', 'slug', 'subject', 'variables.0.name']);
  expect(
    await refused('POST', '/api/v1/emails/templates', {
      category: 'other',
      subject: 's',
      body_text: 'b',
      slug: 'hello',
    }),
  ).toEqual(['name', 'slug']);
  expect(await refused('PATCH', '/api/v1/emails/templates/hello', { name: null, body_text: null })).toEqual([
    'body_html',
    'name',
  ]);
  expect(rows()).toEqual(before);
});

test('projects and keys', async () => {
  const before = rows();
  const projects = '/api/public/v1/projects';
  expect(await refused('POST', projects, { slug: 'No Slug', primary_url: 'ftp://x' })).toEqual([
    'name',
    'primary_url',
    'slug',
  ]);
  expect(
    await refused('PATCH', `${projects}/shop`, { name: null, slug: '123', database_project_id: 99 }),
  ).toEqual(['database_project_id', 'name', 'slug']);
  const permissions = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, true]));
  expect(
    await refused('POST', `${projects}/shop/api-keys`, { permissions, rate_limit_per_minute: 0 }),
  ).toEqual(['name', 'permissions', 'rate_limit_per_minute']);
  expect(rows()).toEqual(before);
});

test('an origin: its value, its fingerprints and its type', async () => {
  const before = rows();
  const origins = '/api/public/v1/projects/shop/api-keys/1/origins';
  const wrong = { value: 'no app id', sha256_fingerprints: ['zz'], sha1_fingerprints: 5 };
  expect(await refused('POST', origins, { ...wrong, type: 'android' })).toEqual([
    'sha1_fingerprints',
    'sha256_fingerprints.0',
    'value',
  ]);
  // Of what type it is meant to be decides what its value may be.
  expect(await refused('POST', origins, { ...wrong, type: 'web' })).toEqual([
    'sha1_fingerprints',
    'sha256_fingerprints.0',
    'type',
  ]);
  const { body } = await app.call('POST', origins, {
    token,
    body: { type: 'domain', value: 'shop.example' },
  });
  const id = isPlainObject(body.data) ? String(body.data.id) : '';
  const changes = { type: 'ios', value: 'http://shop.example', sha1_fingerprints: 5 };
  expect(await refused('PATCH', `${origins}/${id}`, changes)).toEqual(['sha1_fingerprints', 'type', 'value']);
  await app.call('DELETE', `${origins}/${id}`, { token });
  expect(rows()).toEqual(before);
});

test('the vault: names, values and what is to be plain', async () => {
  const before = rows();
  const path = '/api/public/v1/projects/shop/vault/env';
  const values = { '1A': 'x', B: 3 };
  expect(await refused('PUT', path, { values, plain: ['ABSENT'] })).toEqual(['1A', 'B', 'plain']);
  // A name whose value is wrong was sent all the same.
  expect(await refused('PUT', path, { values, plain: ['B'] })).toEqual(['1A', 'B']);
  // Of values that are none, nobody knows which names they were to have.
  expect(await refused('PUT', path, { values: 5, plain: ['B'] })).toEqual(['values']);
  expect(rows()).toEqual(before);
});

test('accounts: what a provider needs, and what the token can see', async () => {
  const before = rows();
  const mgmt = '/api/public/v1';
  expect(await refused('POST', `${mgmt}/ai-accounts`, { provider: 'openai', base_url: 'ftp://x' })).toEqual([
    'api_key',
    'base_url',
    'name',
  ]);
  expect(await refused('POST', `${mgmt}/ai-accounts`, { provider: 'openai', api_key: 5 })).toEqual([
    'api_key',
    'name',
  ]);
  expect(await refused('POST', `${mgmt}/database-projects`, { account_id: 99, name: half })).toEqual([
    'account_id',
    'name',
    'ref',
  ]);
  expect(rows()).toEqual(before);
});

test('a captcha token that is missing is told beside the rest', async () => {
  expect(await refused('POST', '/api/v1/captcha/verify', { action: 5 })).toEqual(['action', 'token']);
});

test('an upload: its fields and its file', async () => {
  const before = rows();
  const form = new FormData();
  form.set('visibility', 'secret');
  form.set('expires_in_days', '0');
  expect(await refused('POST', '/api/v1/objects', form)).toEqual(['expires_in_days', 'file', 'visibility']);
  expect(rows()).toEqual(before);
});

test('a request that is answered again for its Idempotency-Key is not judged anew', async () => {
  const body = { to: 'ann@example.org', template: 'hello', variables: { name: 'Ann' } };
  const headers = { 'Idempotency-Key': 'once' };
  const first = await app.call('POST', '/api/v1/emails/send', { key, body, headers });
  await app.call('DELETE', '/api/v1/emails/templates/hello', { key });
  const again = await app.call('POST', '/api/v1/emails/send', { key, body, headers });
  expect([first.status, again.status, again.text]).toEqual([202, 202, first.text]);
});
