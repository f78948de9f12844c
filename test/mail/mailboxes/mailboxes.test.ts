/** Mailboxes: relays as they are written, secrets that stay sealed, and a test message through a real relay. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { takeMailbox } from '../../../src/mail/mailboxes/choosing.ts';
import { parseRelay, type RelayParts, relayOf } from '../../../src/mail/mailboxes/relay.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  await app.services.sending_domains.add(actor, { name: 'mail.example.com', is_trusted: true });
});
afterAll(() => app.stop());

describe('a relay', () => {
  const GOOD: [string, object][] = [
    ['smtp://relay.example.com', { host: 'relay.example.com', port: 587, security: 'opportunistic' }],
    ['smtps://relay.example.com', { host: 'relay.example.com', port: 465, security: 'tls' }],
    ['smtp://localhost:25', { host: 'localhost', port: 25, username: null, password: null }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525 }],
    ['smtp://10.0.0.5', { host: '10.0.0.5' }],
    ['smtp://[fec0::1]', { host: 'fec0::1' }],
    ['smtp://127.0.0.1:2525/', { host: '127.0.0.1', security: 'opportunistic', signs: false }],
    ['smtp://relay.example.com?tls=required', { port: 587, security: 'starttls', signs: false }],
    ['smtps://relay.example.com/?tls=required', { port: 465, security: 'tls' }],
    ['smtp://relay.example.com:25?dkim=off&tls=required', { port: 25, security: 'starttls', signs: true }],
    ['smtp://relay.example.com:25?tls=none', { port: 25, security: 'none', username: null }],
    ['smtp://relay.example.com?tls=starttls', { port: 587, security: 'opportunistic' }],
    ["smtp://me:p:-._~!$&'()*+,;=%25@relay.example.com", { password: "p:-._~!$&'()*+,;=%" }],
    ['smtp://me@example.com:p%40w@relay.example.com', { username: 'me@example.com', password: 'p@w' }],
    [
      'smtps://me%40example.com:p%3Aw%2Fd@relay.example.com',
      { username: 'me@example.com', password: 'p:w/d' },
    ],
  ];
  for (const [text, relay] of GOOD) {
    test(`${text.replace(/:[^:@]*@/, ':...@')} is read`, () => expect(parseRelay(text)).toMatchObject(relay));
  }

  const BAD = [
    'relay.example.com',
    'http://relay.example.com',
    'smtp://',
    'smtp://relay.example.com:0',
    'smtp://relay.example.com:99999',
    'smtp://relay.example.com/path',
    'smtp://relay.example.com?tls=no',
    'smtp://relay.example.com?tls',
    'smtp://relay.example.com?dkim=on',
    'smtp://relay.example.com?tls=required&verify=no',
    'smtp://relay.example.com?tls=required&tls=none',
    'smtps://relay.example.com?tls=none',
    'smtp://:secret@relay.example.com',
    'smtp://user:%zz@relay.example.com',
    'smtp://relay_host..example.com',
    'smtp://169.254.169.254:25',
    'smtps://[fe80::1]',
    'smtp://[febf::1]',
    'smtp://[::ffff:169.254.169.254]',
    'smtp://[::ffff:a9fe:a9fe]',
    // What the system reads as the same address.
    'smtp://2852039166',
    'smtp://0xa9fea9fe',
  ];
  for (const text of BAD) {
    test(`${text} is refused without being repeated`, () => {
      expect(() => parseRelay(text)).toThrow(expect.objectContaining({ kind: 'invalid' }));
      expect(() => parseRelay(text)).not.toThrow(
        expect.objectContaining({ message: expect.stringContaining(text) }),
      );
    });
  }
});

for (const password of ['p@ss', 'p%ss', '50%', 'p/ss', 'p#ss', 'p?ss', 'p ss', 'pä', 'p[ss]', 'p\\ss', '%ff'])
  test(`an URL with the password ${password} is refused with how to write it`, () => {
    const parse = () => parseRelay(`smtps://user:${password}@relay.example.com:465`);
    expect(parse).toThrow('write %40 for @');
    expect(parse).toThrow('--smtp-password');
    expect(parse).not.toThrow(expect.objectContaining({ message: expect.stringContaining(password) }));
  });

describe('parts of a relay', () => {
  const GOOD: [RelayParts, object][] = [
    [{ host: 'relay.example.com' }, { port: 587, security: 'opportunistic', username: null, password: null }],
    [
      { host: 'relay.example.com', port: 465 },
      { port: 465, security: 'tls' },
    ],
    [
      { host: 'relay.example.com', tls: 'tls' },
      { port: 465, security: 'tls' },
    ],
    [
      { host: 'relay.example.com', port: 25, tls: 'required' },
      { port: 25, security: 'starttls' },
    ],
    [
      { host: '[::1]', port: 25, tls: 'none' },
      { host: '::1', port: 25, security: 'none' },
    ],
    [
      { host: 'relay.example.com', user: 'me', password: 'p@%/' },
      { username: 'me', password: 'p@%/' },
    ],
  ];
  for (const [parts, relay] of GOOD)
    test(`${JSON.stringify(parts)} make one`, () => expect(relayOf(parts)).toMatchObject(relay));

  const BAD: [RelayParts, string[]][] = [
    [{}, ['relay.host']],
    [{ host: 'relay..example.com' }, ['relay.host']],
    [{ host: 'smtp://relay.example.com' }, ['relay.host']],
    [{ host: '169.254.169.254' }, ['relay.host']],
    [{ host: 'relay.example.com', port: 65_536 }, ['relay.port']],
    [{ host: 'relay.example.com', password: 'canary' }, ['relay.user']],
    [{ host: 'relay.example.com', user: 'me', password: '***' }, ['relay.password']],
    [{ user: 'a\nb', password: 'canary\0' }, ['relay.host', 'relay.user', 'relay.password']],
  ];
  for (const [parts, fields] of BAD)
    test(`${JSON.stringify(parts)} are refused for their ${fields.join(', ')}`, () => {
      try {
        relayOf(parts);
        expect.unreachable();
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        expect(Object.keys(error.errors ?? {}).toSorted()).toEqual(fields.toSorted());
        expect(JSON.stringify(error.errors)).not.toContain('canary');
      }
    });
});

describe('a mailbox', () => {
  test('keeps its password sealed, and masked wherever it is shown', async () => {
    const { mailboxes } = app.services;
    const relay = parseRelay('smtps://user:canary-password@relay.example.com');
    const added = await mailboxes.add(actor, { address: 'Sealed@mail.example.com', relay, daily_limit: 9 });
    expect(added).toMatchObject({
      address: 'Sealed@mail.example.com',
      kind: 'smtp',
      relay: 'smtps://user:***@relay.example.com:465',
      for: ['transactional'],
      daily_limit: 9,
      state: 'active',
    });
    expect(JSON.stringify(mailboxes.list())).not.toContain('canary-password');
    const rows = app.services.database.read.$client.query('SELECT * FROM mailboxes').all();
    expect(JSON.stringify(rows)).not.toContain('canary-password');
    const { id, revision } = mailboxes.require('Sealed@mail.example.com');
    expect(mailboxes.outlets.of({ mailbox_id: id, revision })?.route?.password).toBe('canary-password');
  });

  test('needs an address of a known domain, once, and something to be for', async () => {
    const { mailboxes } = app.services;
    const add = (address: string, extra = {}) => mailboxes.add(actor, { address, relay: null, ...extra });
    await add('once@mail.example.com');
    for (const same of ['once@MAIL.example.com', 'Once@mail.example.com'])
      expect(await add(same).catch((error: unknown) => error)).toMatchObject({ kind: 'conflict' });
    expect(mailboxes.require('ONCE@mail.example.com').address).toBe('once@mail.example.com');
    expect(await add('a@unknown.example.com').catch((error: unknown) => error)).toMatchObject({
      kind: 'invalid',
    });
    expect(await add('no address').catch((error: unknown) => error)).toMatchObject({ kind: 'invalid' });
    expect(
      await add('b@mail.example.com', { for_transactional: false }).catch((error: unknown) => error),
    ).toMatchObject({
      kind: 'invalid',
    });
  });

  test('is found by its number as well, and one that is there already is changed, not added', async () => {
    const { mailboxes } = app.services;
    const { id } = await mailboxes.add(actor, { address: 'numbered@mail.example.com', relay: null });
    expect(mailboxes.require(String(id)).address).toBe('numbered@mail.example.com');
    const again = mailboxes.add(actor, { address: 'Numbered@mail.example.com', relay: null });
    expect(await again.catch((error: unknown) => error)).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('satchel mailbox change Numbered@mail.example.com'),
    });
    expect(() => mailboxes.require('999999')).toThrow('not found');
  });

  test('that is for marketing only sends no transactional mail', async () => {
    const { sending_domains, mailboxes } = app.services;
    await sending_domains.add(actor, { name: 'news.example.com', is_trusted: true });
    await mailboxes.add(actor, {
      address: 'news@news.example.com',
      relay: null,
      for_transactional: false,
      for_marketing: true,
    });
    const ask = (purpose: 'transactional' | 'marketing') =>
      app.services.database.write((tx) =>
        takeMailbox(tx, {
          project_id: 1,
          domain: 'news.example.com',
          purpose,
          day: '2030-01-15',
          now_ms: app.clock.now(),
          is_test: false,
        }),
      );
    expect(await ask('transactional')).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    expect(await ask('marketing')).toMatchObject({ ok: true, address: 'news@news.example.com' });
  });

  test('is tested with a message through its relay, from its return path, and tells the answer', async () => {
    const sink = await startSmtpSink({ users: { user: 'right' }, offers_plain_auth: true });
    const { mailboxes } = app.services;
    const relay = (password: string) => parseRelay(`smtp://user:${password}@127.0.0.1:${sink.port}`);
    await mailboxes.add(actor, {
      address: 'test@mail.example.com',
      relay: relay('right'),
      return_path: 'bounces@mail.example.com',
    });
    await mailboxes.add(actor, { address: 'wrong@mail.example.com', relay: relay('wrong') });
    const taken = await mailboxes.test('test@mail.example.com', 'ada@example.org');
    expect(taken).toMatchObject({ outcome: 'sent', smtp_code: 250, to: 'ada@example.org' });
    expect(sink.mails[0]?.envelope).toEqual({ from: 'bounces@mail.example.com', to: ['ada@example.org'] });
    const refused = await mailboxes.test('wrong@mail.example.com', 'ada@example.org');
    expect(refused).toMatchObject({ outcome: 'unreachable', smtp_code: 535 });
    await sink.stop();
  });

  test('that works again when it is tested is in use again, and nothing is held against it', async () => {
    const sink = await startSmtpSink();
    const { database, mailboxes } = app.services;
    const address = 'mended@mail.example.com';
    const now_ms = app.clock.now();
    const { id } = await mailboxes.add(actor, {
      address,
      relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    });
    await database.write((tx) => {
      for (let started_at = now_ms - 10; started_at < now_ms; started_at += 1)
        mailboxes.health.recordFailure(tx, id, { started_at, now_ms: started_at, reason: 'Nobody there' });
      mailboxes.health.recordRefusal(tx, id, { words: '554 5.7.1 Blocked', now_ms });
    });
    const recordOf = () => mailboxes.list().find((mailbox) => mailbox.address === address);
    expect(recordOf()).toMatchObject({ state: 'resting', failures: 10, refusal: '554 5.7.1 Blocked' });
    sink.behavior.mail = { code: 554, message: '5.7.1 Blocked' };
    expect((await mailboxes.test(address, 'ada@example.org')).outcome).toBe('refused');
    expect(recordOf()).toMatchObject({ state: 'resting', refusal: '554 5.7.1 Blocked' });
    delete sink.behavior.mail;
    expect((await mailboxes.test(address, 'ada@example.org')).outcome).toBe('sent');
    expect(recordOf()).toMatchObject({ state: 'active', failures: 0, refusal: null });
    await sink.stop();
  });

  test('whose success could not be stored is told of the next one', async () => {
    const { database, mailboxes } = app.services;
    const address = 'unstored@mail.example.com';
    const relay = parseRelay('smtp://127.0.0.1:9');
    const { id } = await mailboxes.add(actor, { address, relay });
    const now_ms = app.clock.now();
    const failure = { started_at: now_ms, now_ms, reason: 'Nobody there' };
    await database.write((tx) => mailboxes.health.recordFailure(tx, id, failure));
    const unstored = database.write((tx) => {
      mailboxes.health.recordSuccess(tx, id, now_ms);
      throw new Error('not stored');
    });
    await expect(unstored).rejects.toThrow('not stored');
    const recordOf = () => mailboxes.list().find((mailbox) => mailbox.address === address);
    expect(recordOf()?.failures).toBe(1);
    await database.write((tx) => mailboxes.health.recordSuccess(tx, id, now_ms));
    expect(recordOf()?.failures).toBe(0);
  });

  test('whose relay signs sends without a signature of ours, and says so in the list', async () => {
    const sink = await startSmtpSink();
    const { mailboxes } = app.services;
    const address = 'unsigned@mail.example.com';
    const url = `smtp://127.0.0.1:${sink.port}`;
    expect(await mailboxes.add(actor, { address, relay: parseRelay(`${url}?dkim=off`) })).toMatchObject({
      relay: `${url}?dkim=off`,
    });
    await mailboxes.test(address, 'ada@example.org');
    expect(await mailboxes.change(actor, address, { relay: parseRelay(url) })).toMatchObject({ relay: url });
    await mailboxes.test(address, 'ada@example.org');
    const signed = sink.mails.map((mail) => mail.raw.includes('DKIM-Signature:'));
    expect(signed).toEqual([false, true]);
    await sink.stop();
  });

  test('that requires TLS hands nothing to a relay without it', async () => {
    const sink = await startSmtpSink();
    const { mailboxes } = app.services;
    const url = `smtp://127.0.0.1:${sink.port}?tls=required`;
    const address = 'secured@mail.example.com';
    expect(await mailboxes.add(actor, { address, relay: parseRelay(url) })).toMatchObject({ relay: url });
    const outcome = await mailboxes.test(address, 'ada@example.org');
    expect([outcome.outcome, outcome.response]).toEqual(['unreachable', expect.stringMatching(/TLS/)]);
    expect(sink.mails).toEqual([]);
    await sink.stop();
  });
});
