/** Mailboxes over the management plane: adding, changing, testing and removing them, and that no password comes out. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { type Answer, actor } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';

let sink: SmtpSink;
let stage: Management;
let admin = '';

beforeAll(async () => {
  sink = await startSmtpSink();
  stage = await startManagement();
  admin = await stage.makeToken({ capabilities: ['can_administer'] });
  const { sending_domains } = stage.app.services;
  await sending_domains.add(actor, { name: 'mail.example.com', is_trusted: true });
});
afterAll(() => sink.stop());

const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  stage.call(method, `/mailboxes${path}`, admin, body);

let count = 0;
const newAddress = (): string => `m${++count}@mail.example.com`;
async function add(fields: object = { capture: true }): Promise<string> {
  const address = newAddress();
  const answer = await call('POST', '', { address, ...fields });
  expect([answer.status, answer.text]).toMatchObject([201, expect.any(String)]);
  return address;
}

/** The answer, having changed nothing. */
async function refused(method: string, path: string, body?: unknown): Promise<Answer> {
  const before = stage.snapshot();
  const answer = await call(method, path, body);
  expect(stage.snapshot()).toBe(before);
  return answer;
}

const sealedOf = (address: string): unknown =>
  stage.app.services.database.read.values(
    sql`SELECT sealed_smtp_password FROM mailboxes WHERE address = ${address}`,
  )[0];

const RELAY = 'smtps://me:hunter2@relay.example.com?dkim=off';

describe('adding', () => {
  test('that is refused says what mends it, where it knows; what is wrong with another field has no such remedy', async () => {
    const address = await add();
    const remedyOf = async (body: object): Promise<unknown> =>
      Object(Object((await refused('POST', '', body)).body).error).remedy;
    const command = 'satchel domain add NAME';
    expect(await remedyOf({ address: 'ann@elsewhere.example', capture: true })).toEqual({
      ...{ code: 'sending', ref: null, command },
    });
    expect(await remedyOf({ address, capture: true })).toEqual({
      ...{ code: 'mailbox', ref: address, command: `satchel mailbox change ${address}` },
    });
    expect(await remedyOf({ address: 'nobody', capture: true })).toBeUndefined();
    const gone = await call('GET', '/nobody@mail.example.com');
    expect(gone.body.error).toMatchObject({
      message: 'Mailbox not found. Those there are: satchel mailbox list',
      remedy: { code: 'mailbox', ref: null, command: 'satchel mailbox list' },
    });
  });

  test('is helped by the relays of providers, whose parts a relay is made of; whoever may not administer is told none', async () => {
    const providers = await stage.call('GET', '/relay-providers', admin);
    expect(listOf(providers)).toContainEqual({
      ...{ name: 'sendgrid', label: 'SendGrid', host: 'smtp.sendgrid.net', port: 587, tls: 'required' },
      user: 'apikey',
      other_ports: [2525],
      events: { place: expect.stringContaining('Event Webhook'), ticks: expect.stringContaining('Bounced') },
    });
    expect(listOf(providers)).toContainEqual(
      expect.objectContaining({ name: 'ses', host: 'email-smtp.REGION.amazonaws.com', user: null }),
    );
    expect((await stage.call('GET', '/relay-providers', await stage.makeToken({}))).status).toBe(403);
  });

  test('takes a relay with all its settings, and shows no password of it', async () => {
    const address = newAddress();
    const inbox = 'imaps://me:sesame@imap.example.com/Bounces';
    const answer = await call('POST', '', {
      ...{ address, relay: RELAY, inbox, daily_limit: 50, for: ['marketing', 'transactional'] },
      ...{ return_path: 'Bounces@Mail.example.com', verp: false },
    });
    expect(answer.status).toBe(201);
    expect(dataOf(answer)).toMatchObject({
      ...{ address, domain: 'mail.example.com', kind: 'smtp', state: 'active', daily_limit: 50, verp: false },
      relay: 'smtps://me:***@relay.example.com:465?dkim=off',
      ...{ for: ['transactional', 'marketing'], return_path: 'Bounces@mail.example.com' },
      inbox: { address: 'imaps://me:***@imap.example.com:993/Bounces', reports: 0 },
    });
    expect(stage.lastEvent()).toMatchObject({
      ...{ event: 'mailbox.added', target: `mailbox:${address}`, actor_name: 'test token' },
    });
    const everywhere = [
      ...[answer.text, (await call('GET', '')).text, (await call('GET', `/${address}`)).text],
      ...[stage.snapshot(), stage.app.logs(), JSON.stringify(stage.app.services.audit.listNewest({}, 50))],
    ];
    for (const text of everywhere)
      for (const secret of ['hunter2', 'sesame']) expect(text).not.toContain(secret);
    expect(listOf(await call('GET', '')).map((mailbox) => mailbox.address)).toContain(address);
  });

  test('captures where asked, for transactional mail unless told', async () => {
    const address = await add();
    expect(dataOf(await call('GET', `/${encodeURIComponent(address)}`))).toMatchObject({
      ...{ kind: 'capture', relay: null, for: ['transactional'], daily_limit: null, waiting_emails: 0 },
    });
  });

  test('names everything that is wrong at once, and repeats none of it', async () => {
    const answer = await refused('POST', '', {
      ...{ address: newAddress(), relay: 'smtp://u:pw-canary@:1', inbox: 'imaps://u:pw-canary@', for: [] },
      ...{ daily_limit: 0, return_path: 'nobody' },
    });
    expect([answer.status, invalidFieldsOf(answer).toSorted()]).toEqual([
      ...[422, ['daily_limit', 'for', 'inbox', 'relay', 'return_path']],
    ]);
    expect(answer.text).not.toContain('pw-canary');
  });

  const address = 'x@mail.example.com';
  const BAD: [object, string][] = [
    [{ address }, 'relay'],
    [{ address, capture: false }, 'relay'],
    [{ address, capture: true, relay: RELAY }, 'capture'],
    [{ address, capture: true, smtp_url: RELAY }, 'capture'],
    [{ address, smtp_url: RELAY, relay: { host: 'relay.example.com' } }, 'smtp_url'],
    [{ address, smtp_url: 'smtps://me:p@ss@relay.example.com' }, 'smtp_url'],
    [{ address, relay: {} }, 'relay.host'],
    [{ address, relay: { host: 'relay.example.com', port: 0 } }, 'relay.port'],
    [{ address, relay: { host: 'relay.example.com', tls: 'maybe' } }, 'relay.tls'],
    [{ address, relay: { host: 'relay.example.com', password: 'sesame' } }, 'relay.user'],
    [{ address, relay: { host: 'fe80::1' } }, 'relay.host'],
    [{ address, relay: 25 }, 'relay'],
    [{ address, relay: 'smtps://me:***@relay.example.com' }, 'relay'],
    [{ address, relay: 'smtp://169.254.169.254:25' }, 'relay'],
    [{ address, capture: true, inbox: 'imaps://me:sesame@[fe80::1]' }, 'inbox'],
    [{ address, capture: true, inbox: 'imaps://me:***@imap.example.com' }, 'inbox'],
    [{ address, capture: true, inbox: { host: 'fe80::1', user: 'me', password: 'x' } }, 'inbox.host'],
    [
      { address, capture: true, inbox: { host: 'i.example.com', user: 'me', password: '***' } },
      'inbox.password',
    ],
    [{ address: 'nobody', capture: true }, 'address'],
    [{ address: 'x@unknown.example', capture: true }, 'address'],
    [{ address, capture: true, for: ['spam'] }, 'for.0'],
  ];
  for (const [body, field] of BAD)
    test(`${JSON.stringify(body)} is refused for its ${field}`, async () => {
      const answer = await refused('POST', '', body);
      expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [field]]);
    });

  test('an address that has a mailbox is 409', async () => {
    const known = await add();
    const answer = await refused('POST', '', { address: known.toUpperCase(), capture: true });
    expect([answer.status, codeOf(answer)]).toEqual([409, 'CONFLICT']);
  });
});

describe('changing', () => {
  test('changes what is given and leaves the rest, the password above all', async () => {
    const address = await add({ relay: RELAY, daily_limit: 50 });
    const sealed = sealedOf(address);
    const changed = dataOf(await call('PATCH', `/${address}`, { daily_limit: null, for: ['marketing'] }));
    expect(changed).toMatchObject({
      daily_limit: null,
      for: ['marketing'],
      relay: expect.stringContaining('***'),
    });
    expect(sealedOf(address)).toEqual(sealed);
    const other = await call('PATCH', `/${address}`, { relay: 'smtp://relay.example.org' });
    expect(dataOf(other)).toMatchObject({ relay: 'smtp://relay.example.org:587' });
    expect(sealedOf(address)).toEqual([null]);
    expect(stage.lastEvent()).toMatchObject({
      ...{ event: 'mailbox.changed', target: `mailbox:${address}` },
      changes: {
        smtp_host: { from: expect.any(String), to: 'relay.example.org' },
        smtp_password: { secret: true },
      },
    });
    expect(JSON.stringify(stage.lastEvent())).not.toContain('canary');
  });

  test('changes parts of a relay, whose password goes along to no other host', async () => {
    const parts = { host: 'relay.example.com', user: 'me', password: 'pw@canary%', tls: 'required' };
    const address = await add({ relay: parts });
    const shown = async (relay: object) => dataOf(await call('PATCH', `/${address}`, { relay })).relay;
    const sealed = sealedOf(address);
    expect(await shown({})).toBe('smtp://me:***@relay.example.com:587?tls=required');
    expect(await shown({ tls: 'tls' })).toBe('smtps://me:***@relay.example.com:465');
    expect(await shown({ port: 2465, user: 'you' })).toBe('smtps://you:***@relay.example.com:2465');
    expect(await shown({ tls: 'starttls' })).toBe('smtp://you:***@relay.example.com:2465');
    expect(sealedOf(address)).toEqual(sealed);
    const outlet = () => {
      const { id, revision } = stage.app.services.mailboxes.require(address);
      return stage.app.services.mailboxes.outlets.of({ mailbox_id: id, revision })?.route;
    };
    expect(outlet()).toMatchObject({ username: 'you', password: 'pw@canary%', security: 'opportunistic' });
    for (const [relay, field] of [
      [{ host: 'evil.example.com' }, 'relay.password'],
      [{ host: 'evil.example.com', tls: 'none', password: '***' }, 'relay.password'],
      [{ user: null, password: 'pw-canary' }, 'relay.user'],
    ] as const) {
      const answer = await refused('PATCH', `/${address}`, { relay });
      expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [field]]);
    }
    expect(await shown({ host: 'relay.example.org', password: 'other' })).toContain(
      'you:***@relay.example.org',
    );
    expect(outlet()?.password).toBe('other');
    expect(await shown({ user: null, tls: 'none', port: 25 })).toBe('smtp://relay.example.org:25?tls=none');
    expect(sealedOf(address)).toEqual([null]);
    const capturing = await add();
    expect(invalidFieldsOf(await refused('PATCH', `/${capturing}`, { relay: { port: 25 } }))).toEqual([
      'relay.host',
    ]);
    expect(dataOf(await call('PATCH', `/${capturing}`, { smtp_url: RELAY })).kind).toBe('smtp');
  });

  test('sets an inbox, keeps its place with a new password, and takes it away', async () => {
    const address = await add();
    const inbox = 'imap://me:sesame@127.0.0.1:1';
    expect(dataOf(await call('PATCH', `/${address}`, { inbox })).inbox).toMatchObject({
      ...{ address: 'imap://me:***@127.0.0.1:1', last_look_at: null },
    });
    await stage.app.services.database.write((tx) =>
      tx.$client.run("UPDATE inboxes SET uid_validity = '7', last_uid = 12, reports = 3"),
    );
    for (const password of ['another', 'sesame'])
      expect(
        dataOf(await call('PATCH', `/${address}`, { inbox: `imap://me:${password}@127.0.0.1:1` })).inbox,
      ).toMatchObject({ reports: 3, skipped: 0 });
    // In parts nothing is escaped; the password that is stored stays, and goes along to no other host.
    const parts = { host: '127.0.0.1', user: 'me', port: 1, tls: false, folder: 'Bounces & more' };
    expect(dataOf(await call('PATCH', `/${address}`, { inbox: parts })).inbox).toMatchObject({
      address: 'imap://me:***@127.0.0.1:1/Bounces%20%26%20more',
      reports: 0,
    });
    const given = { ...parts, password: 'p@ss/word' };
    expect((await call('PATCH', `/${address}`, { inbox: given })).status).toBe(200);
    const { inboxes } = stage.app.services;
    const { id } = stage.app.services.mailboxes.require(address);
    const password = () =>
      inboxes
        .listRows()
        .filter(({ mailbox_id }) => mailbox_id === id)
        .map((row) => inboxes.passwordOf(row));
    expect(password()).toEqual(['p@ss/word']);
    const elsewhere = await call('PATCH', `/${address}`, { inbox: { ...parts, host: 'imap.example.com' } });
    expect([elsewhere.status, invalidFieldsOf(elsewhere)]).toEqual([422, ['inbox.password']]);
    expect(password()).toEqual(['p@ss/word']);
    expect(dataOf(await call('PATCH', `/${address}`, { inbox: null })).inbox).toBeNull();
    const first = await call('PATCH', `/${address}`, { inbox: parts });
    expect([first.status, invalidFieldsOf(first)]).toEqual([422, ['inbox.password']]);
  });

  test('pauses and resumes, which ends its rest, with the event of each', async () => {
    const address = await add();
    await stage.app.services.database.write((tx) => {
      tx.run(
        sql`UPDATE mailboxes SET failures = 4, last_error = 'down', resting_until = 4000000000000 WHERE address = ${address}`,
      );
    });
    expect(dataOf(await call('GET', `/${address}`))).toMatchObject({ state: 'resting', failures: 4 });
    expect(dataOf(await call('PATCH', `/${address}`, { state: 'paused' }))).toMatchObject({
      state: 'paused',
    });
    expect(stage.lastEvent()).toMatchObject({ event: 'mailbox.paused' });
    const resumed = dataOf(await call('PATCH', `/${address}`, { state: 'active', daily_limit: 7 }));
    expect(resumed).toMatchObject({ state: 'active', failures: 0, last_error: null, daily_limit: 7 });
    const events = stage.app.services.audit.listNewest({}, 2).map(({ event }) => event);
    expect(events.toSorted()).toEqual(['mailbox.changed', 'mailbox.resumed']);
  });

  test('is another version, and mail that goes out is none', async () => {
    const address = await add();
    const read = async () => (await call('GET', `/${address}`)).headers.get('etag');
    const before = await read();
    expect((await call('POST', `/${address}/test`, { to: 'me@example.org' })).status).toBe(200);
    expect(await read()).toBe(before);
    expect((await call('PATCH', `/${address}`, { daily_limit: 5 })).headers.get('etag')).not.toBe(before);
  });

  test('nothing is no change', async () => {
    const address = await add();
    expect((await refused('PATCH', `/${address}`, {})).status).toBe(200);
  });

  test('refuses what would make it useless, and clearing what has no empty value', async () => {
    const address = await add({ relay: RELAY });
    for (const [body, field] of [
      ...[
        [{ for: [] }, 'for'],
        [{ relay: null }, 'relay'],
        [{ capture: false }, 'relay'],
      ],
      ...[
        [{ relay: RELAY, capture: true }, 'capture'],
        [{ state: 'resting' }, 'state'],
      ],
      // What was shown, sent back.
      [{ relay: 'smtps://me:***@relay.example.com:465?dkim=off' }, 'relay'],
    ])
      expect(invalidFieldsOf(await refused('PATCH', `/${address}`, body))).toEqual([String(field)]);
  });
});

describe('a test message', () => {
  test('goes out through the relay, and what it said is the answer', async () => {
    const address = await add({ relay: `smtp://127.0.0.1:${sink.port}` });
    const answer = await call('POST', `/${address}/test`, { to: 'me@example.org' });
    expect(dataOf(answer)).toMatchObject({ address, to: 'me@example.org', outcome: 'sent', smtp_code: 250 });
    expect(sink.mails.at(-1)?.envelope.to).toEqual(['me@example.org']);
  });

  test('that the relay refuses is an answer as well', async () => {
    const address = await add({ relay: `smtp://127.0.0.1:${sink.port}` });
    sink.behavior = { rcpt: { 'no@example.org': { code: 550, message: 'no such user' } } };
    const answer = await call('POST', `/${address}/test`, { to: 'no@example.org' });
    expect([answer.status, dataOf(answer)]).toMatchObject([200, { smtp_code: 550 }]);
    sink.behavior = {};
    expect(invalidFieldsOf(await refused('POST', `/${address}/test`, { to: 'nobody' }))).toEqual(['to']);
  });
});

test('removing says how many mails wait for it', async () => {
  const address = await add();
  const { services } = stage.app;
  for (const mailbox of services.mailboxes.list())
    if (mailbox.address !== address) await services.mailboxes.remove(actor, mailbox.address);
  const { plaintext_key: key } = await services.keys.create(actor, stage.mine, {
    ...{ name: 'k', can_send_emails: true },
  });
  const body = { to: 'a@example.org', subject: 's', body_text: 'b', scheduled_at: '2031-01-01T00:00:00Z' };
  expect((await stage.app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(201);
  expect(dataOf(await call('GET', `/${address}`))).toMatchObject({ waiting_emails: 1 });
  expect(dataOf(await call('DELETE', `/${address}`))).toEqual({
    deleted: true,
    cascade: { waiting_emails: 1 },
  });
  expect(services.mailboxes.list()).toEqual([]);
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ])
    expect(
      (await refused(method ?? '', `/${address}${path}`, method === 'GET' ? undefined : {})).status,
    ).toBe(404);
});
