/** One of each thing that the path of a route can name, made over the API, and the paths of routes that name them. */

import { PLANE_PREFIX, type Route } from '../../src/platform/http/routes.ts';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { type Answer, addCapturingMailbox, type makeProject, type TestApp } from './helpers.ts';
import { png, quarters } from './images.ts';

type Owner = Awaited<ReturnType<typeof makeProject>>;

/** What the parameters of paths are filled with: `project`, or `email-schedules/:id` where a name alone is not clear. */
export type PathValues = Readonly<Record<string, string>>;

const ABSENT_ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** The path of a route; what has no value names nothing that exists. */
export function pathOf(route: Route, values: PathValues): string {
  const path = route.path.replace(
    /([\w-]+)\/:(\w+)/g,
    (named, segment: string, name: string) => `${segment}/${values[named] ?? values[name] ?? ABSENT_ULID}`,
  );
  return `${PLANE_PREFIX[route.plane]}${path}`;
}

/** Makes them, of the owner where they are of a project, with the owner's key and a token that may do everything. */
export async function makeOneOfEach(
  app: TestApp,
  owner: Owner,
  { key, token }: { key: string; token: string },
): Promise<PathValues> {
  const made = async (answer: Promise<Answer>): Promise<Record<string, unknown>> => {
    const { status, body, text } = await answer;
    if (status >= 300) throw new Error(text);
    return isPlainObject(body.data) ? body.data : body;
  };
  const post = (path: string, body: unknown) => made(app.call('POST', `/api/v1${path}`, { key, body }));
  const manage = (path: string, body: unknown = {}, method = 'POST') =>
    made(app.call(method, `/api/public/v1${path}`, { token, body }));
  const project = `/projects/${owner.slug}`;

  await addCapturingMailbox(app);
  const form = new FormData();
  form.set('file', new Blob([png(64, 48, quarters)]), 'a.png');
  const object = await post('/objects', form);
  const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' };
  const upload = await app.call('POST', '/api/v1/uploads', { key, headers: tus });
  await post('/emails/templates', {
    ...{ name: 'Hello', category: 'transactional', subject: 's', body_text: 'b' },
  });
  const mail = { subject: 's', body_text: 'b' };
  const email = await post('/emails/send', {
    ...{ to: 'ann@example.org', ...mail, scheduled_at: '2031-01-01T00:00:00Z' },
  });
  const schedule = await post('/email-schedules', {
    ...{ name: 'daily', recipients: [{ email: 'ann@example.org' }], cron_expression: '@daily', ...mail },
  });
  const list = String((await post('/email-lists', { name: 'News' })).id);
  const pasted = await post(`/email-lists/${list}/imports`, { method: 'paste', text: 'nobody' });
  const suppression = await post('/email-suppressions', { email: 'left@example.org' });
  const sequence = await post('/email-sequences', {
    ...{ name: 'Welcome', list, max_recipients: 1, steps: [{ key: 'a', template: 'hello' }] },
  });
  const segment = await post('/email-segments', { name: 'All', list, filter: {} });
  const broadcast = await post('/email-broadcasts', { name: 'News', list, template: 'hello' });
  const { api_key } = await manage('/api-keys/lookup', { api_key: key });
  const apiKey = String(isPlainObject(api_key) ? api_key.id : '');
  const origin = await manage(`${project}/api-keys/${apiKey}/origins`, {
    ...{ type: 'domain', value: 'https://app.example.com' },
  });
  await manage(`${project}/vault/captcha`, { values: { site_key: 'site-1' } }, 'PUT');
  const config_file = { filename: 'sa.json', content_base64: 'e30=' };
  await manage(`${project}/vault/firebase`, { values: { service_account: config_file } }, 'PUT');
  const { name: environment } = await manage(`${project}/environments`, { name: 'staging', inherits: true });
  const [version] = app.services.vault_versions.list(
    owner,
    { service: requireVaultService('captcha') },
    {},
  ).data;
  const account = await manage('/ai-accounts', { name: 'ai', provider: 'openai', api_key: 'sk-canary' });
  const database_account = await manage('/database-accounts', { name: 'db', access_token: 'sbp-canary' });
  const database = await manage('/database-projects', {
    ...{ ref: 'ref-canary', name: 'db', account_id: database_account.id },
  });
  const webhook = await manage(`${project}/webhooks`, {
    url: 'https://hooks.example.com/',
    types: ['email.sent'],
  });
  const { id: delivery } = await manage(`${project}/webhooks/${webhook.id}/test`);
  const global_origin = await manage('/global-origins', { type: 'domain', value: 'https://all.example.com' });
  const person = await manage('/people', { email: 'one@example.com', all_projects: true });
  const other_token = await manage('/tokens', { name: 'one', all_projects: true });
  const backup = await manage('/backups');
  await app.services.engine.whenIdle();

  const named = {
    public_id: object.public_id,
    upload: upload.headers.get('location')?.split('/').at(-1),
    apiKey,
    list,
    import: pasted.id,
    sequence: sequence.id,
    broadcast: broadcast.id,
    segment: segment.id,
  };
  const mailed = { id: email.id, job_id: email.job_id, 'email-schedules/:id': schedule.id };
  const accounts = { account: account.id, 'database-accounts/:account': database_account.id };
  const trust = await manage('/token-trusts', {
    name: 'ci',
    issuer: 'https://issuer.example.com',
    subject: 'repo:acme/shop',
    projects: [owner.slug],
  });
  const platform = {
    trust: trust.id,
    person: person.id,
    token: other_token.id,
    backup: backup.name,
    job: backup.job_id,
  };
  const origins = { origin: origin.id, 'global-origins/:origin': global_origin.id };
  const values = {
    ...{ ...named, ...mailed, ...accounts, ...platform, ...origins, database: database.id },
    ...{ project: owner.slug, slug: 'hello', service: 'captcha', file: 'firebase.service_account', key: 'a' },
    ...{ webhook: webhook.id, delivery, environment, version: version?.version },
    ...{ name: 'mail.example.com', address: 'shop@mail.example.com', suppression: suppression.id },
    contact: await makeContact(app, owner, list),
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** A contact whose domain nobody looks up. */
async function makeContact({ services }: TestApp, owner: Owner, list_id: string): Promise<string> {
  const { contacts, lists, database } = services;
  const list = lists.require(owner.id, list_id);
  const email = 'ann@example.org';
  const candidate = {
    ...{ email, first_name: null, last_name: null, tags: [], custom: {}, source: null, reason: null },
    ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
    consent_origin: null,
    is_test: false,
  };
  const passed = { verdict: 'passed', candidate, email, consent_basis: 'consent' } as const;
  const [admitted] = await database.write((tx) =>
    contacts.admit(tx, owner, list, [passed], { status: 'active', update_existing: false }),
  );
  return admitted && 'contact' in admitted ? admitted.contact.public_id : '';
}
