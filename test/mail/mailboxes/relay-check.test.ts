/** Trying a relay before a mailbox is made of it: how far it gets, in whose words, and that no secret is in them. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import type { SmtpRoute } from '../../../src/platform/mail/types.ts';
import { atEnd } from '../../support/cleanup.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { type Answer, actor, startTestApp } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  type Management,
  startManagement,
} from '../../support/management.ts';
import { type OddRelay, startOddRelay } from '../../support/odd-relay.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, addMailbox } from '../emails/setup.ts';

let stage: Management;
let admin = '';

beforeAll(async () => {
  stage = await startManagement();
  admin = await stage.makeToken({ capabilities: ['can_administer'] });
});

const check = (relay: unknown, more: object = {}, token = admin): Promise<Answer> =>
  stage.call('POST', '/mailboxes/check', token, { address: 'hello@new.example.com', relay, ...more });
const tried = async (relay: unknown) => dataOf(await check(relay));

async function odd(sayings: Parameters<typeof startOddRelay>[0]): Promise<OddRelay> {
  const relay = await startOddRelay(sayings);
  atEnd(async () => relay.stop());
  return relay;
}
const at = ({ host, port }: { host: string; port: number }, more: object = {}) => ({ host, port, ...more });
const AUTH = { EHLO: '250-odd.test\r\n250 AUTH PLAIN LOGIN' };
const LOGIN = { user: 'me', password: 'hunter2&x' };

test('a relay that would take mail is ok in its own words; nothing is sent or saved, and it is on the audit trail', async () => {
  const sink = await startSmtpSink({ users: { me: LOGIN.password }, offers_plain_auth: true });
  atEnd(() => sink.stop());
  const tables = ['mailboxes', 'sending_domains', 'inboxes'];
  const stored = () =>
    tables.map((name) =>
      stage.app.services.database.read.$client.query(`SELECT count(*) FROM ${name}`).values(),
    );
  const before = stored();
  expect(await tried(at(sink, LOGIN))).toEqual({
    ...{ ok: true, stage: null, hint: null },
    words: expect.stringMatching(/^250 /),
  });
  expect([sink.mails, sink.log_ins]).toEqual([[], ['me']]);
  expect(stored()).toEqual(before);
  expect(stage.lastEvent()).toMatchObject({
    ...{ event: 'mailbox.checked', target: 'mailbox:hello@new.example.com' },
    metadata: { relay: `127.0.0.1:${sink.port}` },
  });
  await sink.until(() => sink.connections_open === 0);
});

describe('where it ends', () => {
  test('at the connection', async () => {
    const gone = await odd({});
    gone.stop();
    expect(await tried(at(gone))).toMatchObject({
      ok: false,
      stage: 'connect',
      hint: expect.stringContaining('587'),
    });
    expect(await tried({ host: 'no-such-host.invalid' })).toMatchObject({
      ...{ stage: 'connect', words: 'There is no server named no-such-host.invalid.' },
    });
  });

  test('at TLS', async () => {
    const sink = await startSmtpSink({ tls: 'starttls' });
    atEnd(() => sink.stop());
    const untrusted = await tried(at(sink, { tls: 'required' }));
    expect(untrusted).toMatchObject({
      ok: false,
      stage: 'tls',
      hint: expect.stringContaining('certificate'),
    });
    expect(await tried(at(await odd({ STARTTLS: '454 not now' }), { tls: 'required' }))).toMatchObject({
      ok: false,
      stage: 'tls',
    });
  });

  for (const greeting of [
    '554 no service for 10.0.0.7',
    'HTTP/1.1 400 Bad Request',
    '-ERR s3cret',
    '550-a\r\n550 b',
  ])
    test(`at the greeting, of which nothing is shown: ${greeting}`, async () => {
      const answer = await check(at(await odd({ greeting })));
      expect(dataOf(answer)).toEqual({
        ...{ ok: false, stage: 'greeting', hint: expect.stringContaining('mail server') },
        words: 'What answers there does not greet as a mail server that takes mail.',
      });
    });

  test('at the greeting, where something closes with words of its own', async () => {
    const relay = await odd({ greeting: (socket) => socket.end('500 s3cret') });
    const answer = await check(at(relay));
    expect(dataOf(answer)).toMatchObject({ ok: false, stage: 'greeting' });
    expect(answer.text).not.toContain('s3cret');
  });

  test('at the log-in, with no password in the words, whatever form it has', async () => {
    const forms = [
      LOGIN.password,
      Buffer.from(LOGIN.password).toString('base64'),
      Buffer.from(`\0me\0${LOGIN.password}`).toString('base64'),
      encodeURIComponent(LOGIN.password),
    ];
    const relay = await odd({ ...AUTH, AUTH: `535 5.7.8 no: ${forms.join(' ')}` });
    expect(await tried(at(relay, LOGIN))).toEqual({
      ...{ ok: false, stage: 'login', hint: expect.stringContaining('user and password') },
      words: '535 5.7.8 no: *** *** *** ***',
    });
  });

  test('at the sender, and it is the return path where there is one', async () => {
    const relay = await odd({ MAIL: '550 5.7.1 not' });
    expect(await tried(at(relay))).toMatchObject({
      ...{
        ok: false,
        stage: 'sender',
        words: '550 5.7.1 not',
        hint: expect.stringContaining('this address'),
      },
    });
    const sink = await startSmtpSink({
      sender: { like: /^bounces@/, reply: { code: 553, message: 'no such sender' }, at: 'mail' },
    });
    atEnd(() => sink.stop());
    expect(await tried(at(sink))).toMatchObject({ ok: true });
    const return_path = 'bounces@new.example.com';
    expect(dataOf(await check(at(sink), { return_path }))).toMatchObject({ stage: 'sender' });
  });
});

test('a silent relay is given up as a whole, at whatever stage it is silent', async () => {
  const mailer = createMailer({ deadlines: { check_ms: 300 } });
  atEnd(() => mailer.stop(0));
  const route = (relay: OddRelay): SmtpRoute => ({
    ...at(relay),
    ...{ key: 'check', security: 'opportunistic', username: 'me', password: 'x', return_path: null },
    client_name: 'new.example.com',
  });
  const quiet = { greeting: '', EHLO: '', AUTH: '', MAIL: '' };
  const stages = [];
  for (const moment of ['greeting', 'EHLO', 'AUTH', 'MAIL'] as const) {
    const relay = await odd({ ...AUTH, [moment]: quiet[moment] });
    const found = await mailer.check(route(relay), 'hello@new.example.com');
    stages.push(found.stage);
    expect(found.words).toMatch(/[Nn]o answer/);
  }
  expect(stages).toEqual(['greeting', 'greeting', 'login', 'sender']);
});

test('it connects to where its name leads, under the name that the certificate has', async () => {
  const sink = await startSmtpSink({ tls: 'tls', certificate: 'elsewhere' });
  const here = { a: ['127.0.0.1'] };
  const dns = await startDnsServer({ 'relay.elsewhere.test': here, 'other.elsewhere.test': here });
  atEnd(() => Promise.all([sink.stop(), dns.stop()]));
  const mailer = createMailer({ dns_servers: [dns.address] });
  atEnd(() => mailer.stop(0));
  const route: SmtpRoute = {
    ...{ key: 'k', host: 'relay.elsewhere.test', port: sink.port, security: 'tls', ca_pem: sink.ca_pem },
    ...{ username: null, password: null, return_path: null, client_name: 'new.example.com' },
  };
  expect((await mailer.check(route, 'a@new.example.com')).stage).toBeNull();
  const other = await mailer.check({ ...route, host: 'other.elsewhere.test' }, 'a@new.example.com');
  expect(other.stage).toBe('tls');
});

test('a mailbox is not tested at a link-local address, and nothing is told of what is no mail server', async () => {
  const dns = await startDnsServer({ 'relay.example': { a: ['169.254.169.254'] } });
  const app = await startTestApp({ env: { SATCHEL_DNS_SERVERS: `255.255.255.255,${dns.address}` } });
  atEnd(async () => {
    await app.stop();
    await dns.stop();
  });
  const test = async (relay: string) => {
    const address = await addMailbox(app, `m${Math.random()}@mail.example.com`.replace('0.', ''), 9);
    await app.services.mailboxes.change(actor, address, { relay: parseRelay(relay) });
    return app.services.mailboxes.test(address, 'ada@example.org');
  };
  await addDomain(app, 'mail.example.com', null);
  expect(await test('smtp://relay.example')).toMatchObject({
    ...{ outcome: 'unreachable', response: expect.stringContaining('is at a link-local address') },
  });
  for (const greeting of ['554 s3cret', 'SSH-2.0-s3cret'])
    expect(await test(`smtp://127.0.0.1:${(await odd({ greeting })).port}`)).toMatchObject({
      ...{ outcome: 'unreachable', smtp_code: null },
      response: 'What answers there does not greet as a mail server that takes mail.',
    });
});

test('two run at once, and a third is told to wait', async () => {
  const silent = await odd({ greeting: '' });
  const running = [check(at(silent)), check(at(silent))];
  while (silent.connections_total < 2) await Bun.sleep(5);
  const third = await check(at(silent));
  expect([third.status, codeOf(third)]).toEqual([429, 'RATE_LIMITED']);
  silent.stop();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await check(at(await odd({})))).status).toBe(200);
});

test('what is no relay is refused, and so is who may not administer', async () => {
  const fields = async (body: object) =>
    invalidFieldsOf(await stage.call('POST', '/mailboxes/check', admin, { address: 'a@b.example', ...body }));
  expect(await fields({ capture: true })).toEqual(['relay']);
  expect(await fields({})).toEqual(['relay']);
  expect(await fields({ relay: { host: '169.254.169.254' } })).toEqual(['relay.host']);
  expect(await fields({ address: 'none', relay: { host: 'localhost' } })).toEqual(['address']);
  expect((await check({ host: 'localhost' }, {}, stage.all)).status).toBe(403);
});
