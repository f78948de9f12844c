/** Sending domains over the management plane: adding, changing, verifying, rotating, removing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { type Answer, actor } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let dns: DnsServer;
let stage: Management;
let admin = '';

beforeAll(async () => {
  dns = await startDnsServer();
  stage = await startManagement({ env: { SATCHEL_DNS_SERVERS: dns.address } });
  admin = await stage.makeToken({ capabilities: ['can_administer'] });
  await stage.app.services.sending_domains.add(actor, { name: 'first.example.com', is_trusted: true });
});
afterAll(() => dns.stop());

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  stage.call(method, `/sending-domains${path}`, admin, body);

let count = 0;
async function add(): Promise<string> {
  const name = `d${++count}.example.com`;
  expect((await call('POST', '', { name })).status).toBe(201);
  return name;
}

/** The answer, having changed nothing. */
async function refused(method: string, path: string, body?: unknown): Promise<Answer> {
  const before = stage.snapshot();
  const answer = await call(method, path, body);
  expect(stage.snapshot()).toBe(before);
  return answer;
}

describe('adding', () => {
  test('answers the records to publish, and stands in the trail under the token’s name', async () => {
    const answer = await call('POST', '', { name: 'Mail.Example.COM' });
    expect(answer.status).toBe(201);
    expect(dataOf(answer)).toMatchObject({
      ...{ name: 'mail.example.com', is_default: false, is_active: true, is_trusted: false, mailboxes: 0 },
      records: [
        { purpose: 'ownership', type: 'TXT', name: '_satchel.mail.example.com' },
        { purpose: 'spf' },
        { purpose: 'dkim', value: expect.stringContaining('v=DKIM1') },
        { purpose: 'dmarc' },
      ],
      advised: [{ purpose: 'mta_sts' }, { purpose: 'tls_rpt' }],
    });
    expect(answer.text).not.toContain('PRIVATE KEY');
    expect(stage.lastEvent()).toMatchObject({
      ...{
        event: 'sending_domain.added',
        target: 'sending_domain:mail.example.com',
        actor_name: 'test token',
      },
    });
    expect(listOf(await call('GET', '')).map(({ name }) => name)).toEqual([
      'first.example.com',
      'mail.example.com',
    ]);
  });

  test('takes over as the default, and is trusted, where asked', async () => {
    const name = `d${++count}.example.com`;
    const added = dataOf(await call('POST', '', { name, is_default: true, is_trusted: true }));
    expect(added).toMatchObject({ is_default: true, is_trusted: true, is_verified: false });
    expect(dataOf(await call('GET', '/first.example.com'))).toMatchObject({ is_default: false });
  });

  test('refuses what is no domain, and one that is known', async () => {
    for (const name of ['', 'not a domain', 7])
      expect([name, invalidFieldsOf(await refused('POST', '', { name }))]).toEqual([name, ['name']]);
    const known = await refused('POST', '', { name: 'first.example.com' });
    expect([known.status, codeOf(known)]).toEqual([409, 'CONFLICT']);
  });
});

describe('changing', () => {
  test('makes each change that is given, each with its event', async () => {
    const name = await add();
    const changes = { is_default: true, is_active: false, is_trusted: true };
    expect(dataOf(await call('PATCH', `/${name}`, changes))).toMatchObject({ name, ...changes });
    const events = stage.app.services.audit.listNewest({}, 3).map(({ event }) => event);
    expect(events.toSorted()).toEqual([
      'sending_domain.deactivated',
      'sending_domain.made_default',
      'sending_domain.trusted',
    ]);
    const back = { is_active: true, is_trusted: false };
    expect(dataOf(await call('PATCH', `/${name}`, back))).toMatchObject({ ...back, is_default: true });
    const defaults = listOf(await call('GET', '')).filter(({ is_default }) => is_default);
    expect(defaults.map((domain) => domain.name)).toEqual([name]);
  });

  test('leaves no time without a default', async () => {
    const name = await add();
    await call('PATCH', `/${name}`, { is_default: true });
    const answer = await refused('PATCH', `/${name}`, { is_default: false, is_active: false });
    expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, ['is_default']]);
    const other = await add();
    expect((await call('PATCH', `/${other}`, { is_default: false })).status).toBe(200);
  });

  test('refuses null and what is no boolean', async () => {
    const name = await add();
    for (const is_active of [null, 'yes'])
      expect(invalidFieldsOf(await refused('PATCH', `/${name}`, { is_active }))).toEqual(['is_active']);
  });
});

describe('the DNS', () => {
  test('a domain is verified once its records are found, and reading it looks nothing up', async () => {
    const name = await add();
    const missing = dataOf(await call('POST', `/${name}/verify`));
    expect(missing).toMatchObject({ is_verified: false, bounces: [], dkim_rotation: null });
    expect(missing.records).toMatchObject([{ status: 'missing', problem: expect.any(String) }, {}, {}, {}]);
    const asked = dns.queries.length;
    const { records } = dataOf(await call('GET', `/${name}`));
    expect(dns.queries.length).toBe(asked);
    for (const record of Array.isArray(records) ? records : []) dns.set(record.name, { txt: [record.value] });
    expect(dataOf(await call('POST', `/${name}/verify`))).toMatchObject({ is_verified: true });
    expect(stage.lastEvent()).toMatchObject({ event: 'sending_domain.verified' });
  });

  test('a new DKIM key waits for its record, and a second call makes no third one', async () => {
    const name = await add();
    const rotation = dataOf(await call('POST', `/${name}/dkim/rotate`));
    expect(rotation).toMatchObject({ state: 'waiting', record: { name: `satchel2._domainkey.${name}` } });
    expect(dataOf(await call('POST', `/${name}/dkim/rotate`))).toEqual(rotation);
    expect(dataOf(await call('GET', `/${name}`))).toMatchObject({
      ...{ dkim_selector: 'satchel', dkim_rotation: rotation },
    });
  });
});

test('what is not there is neither verified nor given a new key', async () => {
  for (const path of ['/verify', '/dkim/rotate'])
    expect((await refused('POST', `/absent.example.com${path}`)).status).toBe(404);
});

describe('deleting', () => {
  test('takes mailboxes along, and says in counts what goes and what waits', async () => {
    const name = await add();
    await call('PATCH', `/${name}`, { is_trusted: true });
    const { services } = stage.app;
    await services.mailboxes.add(actor, { address: `shop@${name}`, relay: null });
    const { plaintext_key: key } = await services.keys.create(actor, stage.mine, {
      ...{ name: 'k', can_send_emails: true },
    });
    const body = { to: 'ann@example.org', subject: 's', body_text: 'b', domain: name };
    const later = { ...body, scheduled_at: '2031-01-01T00:00:00Z' };
    expect((await stage.app.call('POST', '/api/v1/emails/send', { key, body: later })).status).toBe(201);
    expect((await stage.app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(202);
    await stage.app.app.engine.whenIdle();
    expect(dataOf(await call('GET', `/${name}`))).toMatchObject({ mailboxes: 1, waiting_emails: 1 });
    expect(dataOf(await call('DELETE', `/${name.toUpperCase()}`))).toEqual({
      ...{ deleted: true, cascade: { mailboxes: 1, waiting_emails: 1 } },
    });
    expect(services.mailboxes.list().filter(({ domain }) => domain === name)).toEqual([]);
    expect((await call('GET', `/${name}`)).status).toBe(404);
  });
});
