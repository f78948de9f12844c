/** The sending domains of a project: all of its mail goes by them, and any other domain is to it as one not there. */
import { beforeAll, expect, test } from 'bun:test';
import { MINUTE_MS } from '../../../src/platform/host/clock.ts';
import { actor } from '../../support/helpers.ts';
import { invalidFieldsOf } from '../../support/management.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, errorsOf, RELAY_DOWN_PORT, type Sender, startSender } from './setup.ts';

const SHOP = 'hello@shop.example.com';
const NEWS = 'hello@news.example.com';
const OTHER = 'hello@other.example.com';

let sender: Sender;
let sink: SmtpSink;

beforeAll(async () => {
  sender = await startSender();
  sink = await startSmtpSink();
  for (const name of ['other', 'shop', 'news']) await addDomain(sender.app, `${name}.example.com`, sink);
});

const sendFrom = (sending_domain: string | null, sending_domains: string[] | null) => {
  const { projects } = sender.app.services;
  return projects.update(actor, projects.require(sender.project.slug), { sending_domain, sending_domains });
};
const domains = (...names: string[]) => names.map((name) => `${name}.example.com`);

/** What a mail that names no domain goes out from. */
async function sentFrom(fields: object = {}): Promise<unknown> {
  const { body } = await sender.send({ queue: false, ...fields });
  expect(body).toMatchObject({ status: 'sent' });
  return body.from_email;
}

test('mail that names no domain goes out from the one that its project names, else the default, else its first', async () => {
  expect(await sentFrom()).toBe(OTHER);
  await sendFrom('shop.example.com', null);
  expect(await sentFrom()).toBe(SHOP);
  // The others are there, too.
  expect(await sentFrom({ domain: 'news.example.com' })).toBe(NEWS);
  await sendFrom(null, domains('news', 'other'));
  expect(await sentFrom()).toBe(OTHER);
  await sendFrom(null, domains('shop', 'news'));
  expect(await sentFrom()).toBe(SHOP);
  await sendFrom('news.example.com', domains('shop', 'news'));
  expect(await sentFrom()).toBe(NEWS);
});

test('a domain that the project may not send from is refused as one that is not there', async () => {
  await sendFrom(null, domains('shop', 'news'));
  const asks = ['other', 'nowhere'].map((name) => `${name}.example.com`);
  const of_domains = await Promise.all(asks.map((domain) => sender.send({ domain })));
  expect(of_domains.map((answer) => [answer.status, errorsOf(answer)])).toEqual([
    [422, ['domain']],
    [422, ['domain']],
  ]);
  expect(of_domains[0]?.text).toBe(of_domains[1]?.text ?? '');
  const froms = await Promise.all(asks.map((domain) => sender.send({ from: `hello@${domain}` })));
  expect(froms.map((answer) => [answer.status, errorsOf(answer)])).toEqual([
    [422, ['from']],
    [422, ['from']],
  ]);
  expect(froms[0]?.text).toBe(froms[1]?.text ?? '');
  const manage = await sender.project.key({
    can_write: true,
    can_read: true,
    permissions: { email_schedule: true },
  });
  const schedule = { name: 'Weekly', cron_expression: '0 9 * * 1', recipients: [{ email: 'a@example.org' }] };
  for (const [domain, status] of [
    ['other.example.com', 422],
    ['news.example.com', 201],
  ] as const) {
    const body = { ...schedule, subject: 'Hi', body_text: 'Hi', domain };
    const made = await sender.app.call('POST', '/api/v1/email-schedules', { key: manage, body });
    expect([domain, made.status]).toEqual([domain, status]);
  }
});

test('mail that waits goes by what the project may send from as it is tried, and no story of it names another domain', async () => {
  await sendFrom(null, null);
  const { mailboxes, deliveries } = sender.app.services;
  const waiting = await sender.send({ scheduled_at: '2030-06-01T00:00:00Z' });
  const bound = await sender.send({ scheduled_at: '2030-06-01T00:00:00Z', from: OTHER });
  expect([waiting.body.from_email, bound.body.from_email]).toEqual([OTHER, OTHER]);
  await sendFrom(null, domains('shop', 'news'));
  await sender.pass(200 * 24 * 60 * MINUTE_MS);
  expect(await sender.log(waiting.body.id)).toMatchObject({ status: 'sent', from_email: SHOP });
  const failing = await sender.log(bound.body.id);
  expect(failing).toMatchObject({ status: 'queued', attempts: 1 });
  expect(String(failing.error)).not.toContain('other');

  // Where the first one's relay is down the next of its own is taken, never another's.
  await mailboxes.setStatus(actor, NEWS, 'paused');
  const down = await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT);
  await sendFrom('down.example.com', domains('down', 'news'));
  const kept = await sender.send();
  await sender.settle();
  expect(await sender.log(kept.body.id)).toMatchObject({ status: 'queued', from_email: down });
  await mailboxes.setStatus(actor, NEWS, 'active');
  const passed = await sender.send();
  await sender.settle();
  expect(await sender.log(passed.body.id)).toMatchObject({ status: 'sent', from_email: NEWS });
  const { read } = sender.app.services.database;
  const told = read.$client
    .query('SELECT choice FROM email_attempts WHERE email_id IN (?, ?)')
    .values(String(kept.body.id), String(passed.body.id))
    .flat()
    .join(' ');
  expect(told).toContain('down.example.com');
  expect(told).not.toMatch(/other\.example|shop\.example/);

  // An operator's retry, too, is refused without a word of the other domain.
  await sender.pass(24 * 60 * MINUTE_MS);
  await sender.pass(24 * 60 * MINUTE_MS);
  expect(await sender.log(bound.body.id)).toMatchObject({ status: 'failed' });
  const retried = await deliveries.requeueOne(actor, String(bound.body.id)).catch(String);
  expect(retried).toStartWith('AppError');
  expect(retried).not.toContain('other');
});

test('a domain that a project names is not removed, and the refusal names the projects', async () => {
  const { sending_domains } = sender.app.services;
  await sendFrom('shop.example.com', domains('shop', 'news'));
  const admin = (
    await sender.app.services.tokens.create(actor, {
      ...{ name: 'admin', all_projects: true, projects: [], capabilities: ['can_administer'] },
    })
  ).token;
  const remove = (name: string) =>
    sender.app.call('DELETE', `/api/public/v1/sending-domains/${name}`, { token: admin });
  for (const name of domains('shop', 'news')) {
    const answer = await remove(name);
    expect([answer.status, answer.body.error]).toEqual([
      409,
      expect.objectContaining({
        message: expect.stringContaining(`${sender.project.slug} sends from ${name}`),
      }),
    ]);
  }
  await sendFrom(null, domains('shop'));
  expect((await remove('news.example.com')).status).toBe(200);
  expect(sending_domains.listNames()).toEqual(domains('other', 'shop', 'down'));
  await addDomain(sender.app, 'news.example.com', sink);
});

test('who administers sets them over the API, whatever the case; nobody else, and nothing that is not there or fits', async () => {
  const { tokens, projects } = sender.app.services;
  const tokenOf = async (...capabilities: ('can_administer' | 'can_read_vault')[]) =>
    (await tokens.create(actor, { name: 't', all_projects: true, projects: [], capabilities })).token;
  const admin = await tokenOf('can_administer');
  const other = await tokenOf('can_read_vault');
  const path = `/api/public/v1/projects/${sender.project.slug}`;
  const change = (body: object, token = admin) => sender.app.call('PATCH', path, { token, body });
  const shown = await change({
    sending_domain: 'Shop.Example.COM',
    sending_domains: domains('news', 'SHOP', 'shop'),
  });
  expect(shown.body.data).toMatchObject({
    sending_domain: 'shop.example.com',
    sending_domains: domains('news', 'shop'),
  });
  const before = projects.require(sender.project.slug);
  for (const body of [{ sending_domain: null }, { sending_domains: null }]) {
    expect((await change(body, other)).status).toBe(403);
    const made = await sender.app.call('POST', '/api/public/v1/projects', {
      token: other,
      body: { name: 'New', ...body },
    });
    expect(made.status).toBe(403);
  }
  const REFUSED: [object, string[]][] = [
    [{ sending_domain: 'gone.example.com' }, ['sending_domain']],
    [{ sending_domains: domains('shop', 'gone') }, ['sending_domains.1']],
    [{ sending_domains: [] }, ['sending_domains']],
    [{ sending_domain: 'other.example.com' }, ['sending_domain']],
    [{ sending_domains: domains('news') }, ['sending_domain']],
  ];
  for (const [body, fields] of REFUSED) {
    const answer = await change(body);
    expect([body, answer.status, invalidFieldsOf(answer)]).toEqual([body, 422, fields]);
  }
  expect(projects.require(sender.project.slug)).toEqual(before);

  // What lists choices for it has its own alone.
  const choices = async (what: string) => {
    const answer = await sender.app.call('GET', `/api/public/v1/${what}?project=${sender.project.slug}`, {
      token: admin,
    });
    return (answer.body.data as Record<string, unknown>[]).map(({ name, address }) => name ?? address);
  };
  expect(await choices('sending-domains')).toEqual(domains('news', 'shop'));
  expect(await choices('mailboxes')).toEqual([NEWS, SHOP]);
  expect((await change({ sending_domain: null, sending_domains: null })).body.data).toMatchObject({
    sending_domain: null,
    sending_domains: null,
  });
});

test('a project says what becomes of its mail now, whatever the day has room for', async () => {
  const on = await startSender();
  const { mailboxes, projects, sending_domains, tokens } = on.app.services;
  const { token } = await tokens.create(actor, {
    name: 't',
    all_projects: true,
    projects: [],
    capabilities: [],
  });
  const path = `/api/public/v1/projects/${on.project.slug}`;
  const read = async () => (await on.app.call('GET', path, { token })).body.data;
  const change = (changes: Parameters<typeof projects.update>[2]) =>
    projects.update(actor, projects.require(on.project.slug), changes);
  expect(await read()).toMatchObject({ mail: 'refused' });
  const etag = (await on.app.call('GET', path, { token })).headers.get('etag');
  await addDomain(on.app, 'one.test', null);
  expect(await read()).toMatchObject({ mail: 'captured' });
  expect((await on.app.call('GET', path, { token })).headers.get('etag')).toBe(etag);
  await change({ status: 'inactive' });
  expect(await read()).toMatchObject({ mail: 'refused' });
  await change({ status: 'active' });
  // One that its mail does not go out from unless it is named.
  await addDomain(on.app, 'two.test', sink, { daily_limit: 1 });
  expect(await read()).toMatchObject({ mail: 'captured' });
  await change({ sending_domain: 'two.test', sending_domains: ['two.test', 'one.test'] });
  expect((await on.send({ queue: false })).status).toBe(201);
  expect((await on.send({ queue: false })).status).toBe(429);
  expect(await read()).toMatchObject({ mail: 'relayed' });
  await mailboxes.setStatus(actor, 'hello@two.test', 'paused');
  expect(await read()).toMatchObject({ mail: 'refused' });
  await mailboxes.setStatus(actor, 'hello@two.test', 'active');
  await mailboxes.change(actor, 'hello@two.test', { for_transactional: false, for_marketing: true });
  expect(await read()).toMatchObject({ mail: 'refused' });
  await sending_domains.change(actor, 'one.test', { is_trusted: false });
  await change({ sending_domain: null, sending_domains: null });
  expect(await read()).toMatchObject({ mail: 'refused' });
});
