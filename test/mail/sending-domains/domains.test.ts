/** Sending domains: adding, verifying against a real DNS server, choosing the default, and the mailbox check of marketing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { quoteTxt } from '../../../src/mail/sending-domains/dns-records.ts';
import type { DomainCheck } from '../../../src/mail/sending-domains/schemas.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';

/** One that names no domains. */
const ANY_PROJECT = 1;

let dns: DnsServer;
let app: TestApp;

beforeAll(async () => {
  dns = await startDnsServer();
  app = await startTestApp({ env: { SATCHEL_DNS_SERVERS: dns.address } });
});
afterAll(() => dns.stop());

function domains() {
  return app.services.sending_domains;
}

let count = 0;
/** A new domain with the records to publish, by purpose. */
async function add(): Promise<{ name: string; publish: Record<string, { name: string; value: string }> }> {
  const name = `d${++count}.example.com`;
  const { records } = await domains().add(actor, { name });
  return { name, publish: Object.fromEntries(records.map((record) => [record.purpose, record])) };
}

function publishAll(publish: Record<string, { name: string; value: string }>): void {
  for (const { name, value } of Object.values(publish)) dns.set(name, { txt: [value] });
}

function statusesOf(check: DomainCheck): Record<string, string> {
  return Object.fromEntries(check.records.map((record) => [record.purpose, record.status]));
}

describe('adding', () => {
  test('prints the four records, and the first domain becomes the default', async () => {
    const fresh = await startTestApp();
    const { sending_domains } = fresh.services;
    const added = await sending_domains.add(actor, { name: 'Mail.Example.COM' });
    expect(added).toMatchObject({ name: 'mail.example.com', is_default: true, is_verified: false });
    expect(added.records.map((record) => [record.purpose, record.name])).toEqual([
      ['ownership', '_satchel.mail.example.com'],
      ['spf', 'mail.example.com'],
      ['dkim', 'satchel._domainkey.mail.example.com'],
      ['dmarc', '_dmarc.mail.example.com'],
    ]);
    const second = await sending_domains.add(actor, { name: 'two.example.com' });
    expect(second.is_default).toBe(false);
    await sending_domains.change(actor, 'two.example.com', { is_default: true });
    expect(sending_domains.list().map((domain) => [domain.name, domain.is_default])).toEqual([
      ['two.example.com', true],
      ['mail.example.com', false],
    ]);
  });

  test('refuses what is no domain, and one that is known', async () => {
    const { name } = await add();
    const refusal = (wanted: string) =>
      domains()
        .add(actor, { name: wanted })
        .catch((error: unknown) => error);
    expect(await refusal(name)).toMatchObject({ kind: 'conflict' });
    for (const none of ['not a domain', 'ex%61mple.com', '\uff45xample.com', 'exam\u00adple.com'])
      expect(await refusal(none)).toMatchObject({ kind: 'invalid' });
  });

  test('leaves no private key in clear text in the database', async () => {
    await add();
    const text = JSON.stringify(
      app.services.database.read.$client.query('SELECT * FROM sending_domains').all(),
    );
    expect(text).not.toContain('PRIVATE KEY');
  });
});

describe('verifying', () => {
  test('finds what is published, a DKIM key of several chunks too, and makes the domain usable', async () => {
    const { name, publish } = await add();
    publishAll(publish);
    const check = await domains().verify(actor, name);
    expect(statusesOf(check)).toEqual({ ownership: 'found', spf: 'found', dkim: 'found', dmarc: 'found' });
    expect(check.is_verified).toBe(true);
    expect(() => app.services.emails.checkDomain(ANY_PROJECT, name)).not.toThrow();
  });

  test('asks for ownership, SPF and DKIM, but not for DMARC', async () => {
    for (const purpose of ['ownership', 'spf', 'dkim', 'dmarc']) {
      const { name, publish } = await add();
      publishAll(publish);
      dns.set(publish[purpose]?.name ?? '', null);
      const check = await domains().verify(actor, name);
      expect(statusesOf(check)[purpose]).toBe('missing');
      expect(check.is_verified).toBe(purpose === 'dmarc');
    }
  });

  test('says what is wrong with a record that is there', async () => {
    const { name, publish } = await add();
    publishAll(publish);
    const other = (await add()).publish;
    const ours = publish.dkim?.value ?? '';
    const WRONG: [string, string[]][] = [
      ['ownership', ['satchel-verification=0000']],
      ['spf', ['v=spf1 a ~all', 'v=spf1 mx ~all']],
      ['spf', ['v=spf1 +all']],
      ['spf', ['v=spf1 -all']],
      ['dkim', [other.dkim?.value ?? '']],
      ['dkim', ['v=DKIM1; k=rsa; p=']],
      ['dkim', [ours, 'v=DKIM1; k=rsa; p=AAAA']],
      ['dkim', [`${ours}; t=y`]],
      ['dkim', [`${ours}; t=s:y`]],
      ['dkim', [ours.replace('k=rsa', 'k=ed25519')]],
      ['dkim', [ours.replace('k=rsa', 'h=sha1')]],
      ['dkim', [ours.replace('k=rsa', 's=tlsrpt')]],
      ['dkim', [ours.replace('DKIM1', 'DKIM2')]],
      ['dkim', [ours.replace('v=DKIM1; k=rsa;', 'k=rsa; v=DKIM1;')]],
      ['dmarc', ['v=DMARC1; rua=mailto:a@example.com']],
      ['dmarc', ['v=DMARC1; p=none', 'v=DMARC1; p=reject']],
    ];
    for (const [purpose, txt] of WRONG) {
      dns.set(publish[purpose]?.name ?? '', { txt });
      const check = await domains().verify(actor, name);
      const record = check.records.find((one) => one.purpose === purpose);
      expect([purpose, txt, record?.status]).toEqual([purpose, txt, 'wrong']);
      expect(record?.problem).not.toBeNull();
      publishAll(publish);
    }
  });

  test('tells an unanswered question from a missing record, and takes nothing away for it', async () => {
    const { name, publish } = await add();
    publishAll(publish);
    expect((await domains().verify(actor, name)).is_verified).toBe(true);
    dns.set(publish.dkim?.name ?? '', { fault: 'servfail' });
    const check = await domains().verify(actor, name);
    expect(statusesOf(check).dkim).toBe('unknown');
    expect(check.is_verified).toBe(true);
    dns.set(publish.dkim?.name ?? '', null);
    expect((await domains().verify(actor, name)).is_verified).toBe(false);
    expect(() => app.services.emails.checkDomain(ANY_PROJECT, name)).toThrow();
  });

  test('is not needed for a trusted domain', async () => {
    await domains().add(actor, { name: 'trusted.example.com', is_trusted: true });
    expect(() => app.services.emails.checkDomain(ANY_PROJECT, 'trusted.example.com')).not.toThrow();
    expect((await domains().verify(actor, 'trusted.example.com')).is_verified).toBe(false);
    expect(() => app.services.emails.checkDomain(ANY_PROJECT, 'trusted.example.com')).not.toThrow();
  });
});

test('the SPF record names the relays that the world sees, not those of this machine or its network', async () => {
  const { name } = await add();
  const relays = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    'postfix',
    'relay.example.net',
    '192.0.2.7',
    '[2001:db8::7]',
  ];
  for (const [index, host] of relays.entries())
    await app.services.mailboxes.add(actor, {
      address: `m${index}@${name}`,
      relay: parseRelay(`smtp://${host}`),
    });
  const { records } = await domains().verify(actor, name);
  expect(records.find((record) => record.purpose === 'spf')?.value).toBe(
    'v=spf1 a mx a:relay.example.net ip4:192.0.2.7 ip6:2001:db8::7 ~all',
  );
});

test('a DKIM record may leave out what has a default, and name more than mail', async () => {
  const { name, publish } = await add();
  publishAll(publish);
  const key = /p=.*/.exec(publish.dkim?.value ?? '')?.[0] ?? '';
  for (const txt of [
    key,
    `v=DKIM1; h=sha1:sha256; s=*; t=s; n=ours; ${key};`,
    `v=DKIM1; s=tlsrpt:email; ${key}`,
  ]) {
    dns.set(publish.dkim?.name ?? '', { txt: [txt] });
    const check = await domains().verify(actor, name);
    expect([txt, statusesOf(check).dkim]).toEqual([txt, 'found']);
  }
});

test('a relay of a well-known provider is answered with what that provider asks to include', async () => {
  const { name } = await add();
  const PROVIDERS = {
    'email-smtp.eu-west-1.amazonaws.com': 'amazonses.com',
    'smtp.sendgrid.net': 'sendgrid.net',
    'smtp.eu.mailgun.org': 'mailgun.org',
    'smtp.postmarkapp.com': 'spf.mtasv.net',
    'smtp-relay.brevo.com': 'spf.brevo.com',
    'in-v3.mailjet.com': 'spf.mailjet.com',
    'smtp-relay.gmail.com': '_spf.google.com',
    'smtp.office365.com': 'spf.protection.outlook.com',
    'smtp.fastmail.com': 'spf.messagingengine.com',
  };
  for (const [index, host] of Object.keys(PROVIDERS).entries())
    await app.services.mailboxes.add(actor, {
      address: `p${index}@${name}`,
      relay: parseRelay(`smtp://${host}`),
    });
  const spf = (await domains().verify(actor, name)).records.find((record) => record.purpose === 'spf');
  const includes = Object.values(PROVIDERS).map((domain) => `include:${domain}`);
  for (const include of includes) expect(spf?.value.split(' ')).toContain(include);
  expect(spf?.value).not.toContain('a:');
});

test('a sound SPF record that does not name what a relay asks for is told so, and is not in the way', async () => {
  const { name, publish } = await add();
  publishAll(publish);
  const spfOf = async () => {
    const { is_verified, records } = await domains().verify(actor, name);
    return [is_verified, ...records.filter(({ purpose }) => purpose === 'spf').map(({ problem }) => problem)];
  };
  expect(await spfOf()).toEqual([true, null]);
  await app.services.mailboxes.add(actor, {
    address: `ses@${name}`,
    relay: parseRelay('smtp://email-smtp.eu-west-1.amazonaws.com'),
  });
  expect(await spfOf()).toEqual([true, expect.stringContaining('ask for more: include:amazonses.com.')]);
  dns.set('amazonses.com', { txt: ['v=spf1 ip4:199.255.192.0/22 -all'] });
  dns.set(name, { txt: ['v=spf1 +include:AmazonSES.com ~all'] });
  expect(await spfOf()).toEqual([true, null]);
});

test('where every relay signs by itself (dkim=off) no DKIM record is needed; one that does not brings it back', async () => {
  const { name, publish } = await add();
  publishAll(publish);
  dns.set(publish.dkim?.name ?? '', null);
  const relay = (options: string) => parseRelay(`smtp://relay.example.net${options}`);
  await app.services.mailboxes.add(actor, { address: `one@${name}`, relay: relay('?dkim=off') });
  const check = await domains().verify(actor, name);
  expect([check.is_verified, statusesOf(check).dkim]).toEqual([true, 'unneeded']);
  expect(check.records.find(({ purpose }) => purpose === 'dkim')?.problem).toContain('dkim=off');
  expect((await domains().checkMailboxDns(`one@${name}`)).dkim.ok).toBe(true);
  await app.services.mailboxes.add(actor, { address: `two@${name}`, relay: relay('') });
  const again = await domains().verify(actor, name);
  expect([again.is_verified, statusesOf(again).dkim]).toEqual([false, 'missing']);
});

test('it is told whether bounces can arrive, which is never in the way; what is good to have is advised', async () => {
  const { name, publish } = await add();
  publishAll(publish);
  dns.set(`bounces.${name}`, { mx: [{ exchange: `mx.${name}`, preference: 10 }] });
  await app.services.mailboxes.add(actor, {
    address: `a@${name}`,
    relay: null,
    return_path: `b@bounces.${name}`,
  });
  await app.services.mailboxes.add(actor, {
    address: `c@${name}`,
    relay: null,
    return_path: `b@gone.${name}`,
  });
  const check = await domains().verify(actor, name);
  expect(check.bounces).toEqual([
    { domain: `bounces.${name}`, takes_mail: 'yes' },
    { domain: `gone.${name}`, takes_mail: 'no' },
  ]);
  expect(check.is_verified).toBe(true);
  expect(check.advised.map((record) => [record.purpose, record.name])).toEqual([
    ['mta_sts', `_mta-sts.${name}`],
    ['tls_rpt', `_smtp._tls.${name}`],
  ]);
});

describe('a new DKIM key', () => {
  test('is signed with once its record is seen, and not before; the old record may go a week later', async () => {
    const sink = await startSmtpSink();
    const { name, publish } = await add();
    publishAll(publish);
    await domains().verify(actor, name);
    await app.services.mailboxes.add(actor, {
      address: `a@${name}`,
      relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    });
    const selectorOf = async (): Promise<string | undefined> => {
      await app.services.mailboxes.test(`a@${name}`, 'ada@example.org');
      return / s=([a-z0-9]+);/.exec(sink.mails.at(-1)?.raw.toString() ?? '')?.[1];
    };
    expect(await selectorOf()).toBe('satchel');
    const rotation = await domains().rotateDkim(actor, name);
    expect(rotation).toMatchObject({ state: 'waiting', record: { name: `satchel2._domainkey.${name}` } });
    expect(rotation.record.value).not.toBe(publish.dkim?.value);
    // Asked for again, it is the same key that waits.
    expect(await domains().rotateDkim(actor, name)).toEqual(rotation);
    const waiting = await domains().verify(actor, name);
    expect(waiting).toMatchObject({ is_verified: true, dkim_selector: 'satchel', dkim_rotation: rotation });
    await domains().lookForNewKeys();
    expect(await selectorOf()).toBe('satchel');
    dns.set(rotation.record.name, { txt: [rotation.record.value] });
    await domains().lookForNewKeys();
    expect(await selectorOf()).toBe('satchel2');
    const done = await domains().verify(actor, name);
    expect(done).toMatchObject({ is_verified: true, dkim_selector: 'satchel2' });
    expect(done.dkim_rotation).toEqual({
      state: 'done',
      record: rotation.record,
      old_name: `satchel._domainkey.${name}`,
      old_unneeded_from: new Date(app.clock.now() + 7 * 86_400_000).toISOString(),
    });
    // Mail signed before may yet come back, and is known by the old key.
    const keyOf = (selector: string) => domains().findDkimKey(app.services.database.read, name, selector);
    expect(publish.dkim?.value).toContain(keyOf('satchel') ?? 'none');
    expect(rotation.record.value).toContain(keyOf('satchel2') ?? 'none');
    expect(keyOf('satchel3')).toBeNull();
    expect((await domains().rotateDkim(actor, name)).record.name).toBe(`satchel3._domainkey.${name}`);
    await sink.stop();
  });

  test('is looked for by the server at each full hour', async () => {
    const { name } = await add();
    const { record } = await domains().rotateDkim(actor, name);
    dns.set(record.name, { txt: [record.value] });
    app.clock.advance(3_600_000);
    await app.app.scheduler.tick();
    expect(domains().get(name).dkim_selector).toBe('satchel2');
    const event =
      "SELECT actor_kind FROM audit_events WHERE event = 'sending_domain.dkim_rotated' AND target = ?";
    expect(app.services.database.read.$client.query(event).all(`sending_domain:${name}`)).toEqual([
      { actor_kind: 'system' },
    ]);
  });
});

test('a domain is trusted after it was added, too', async () => {
  const { name } = await add();
  expect(() => app.services.emails.checkDomain(ANY_PROJECT, name)).toThrow();
  expect(await domains().change(actor, name, { is_trusted: true })).toMatchObject({
    is_trusted: true,
    is_verified: false,
  });
  expect(() => app.services.emails.checkDomain(ANY_PROJECT, name)).not.toThrow();
});

test('a TXT value is printed in quoted strings of at most 255 characters', () => {
  expect(quoteTxt('short')).toBe('"short"');
  const value = 'x'.repeat(600);
  const parts = quoteTxt(value).split(' ');
  expect(parts.map((part) => part.length - 2)).toEqual([255, 255, 90]);
  expect(parts.map((part) => part.slice(1, -1)).join('')).toBe(value);
});

test('a mailbox check gives SPF, DKIM and DMARC with what was found and what is wrong', async () => {
  const { name, publish } = await add();
  publishAll(publish);
  dns.set(`_dmarc.${name}`, null);
  dns.set('_dmarc.example.com', { txt: ['v=DMARC1; p=reject'] });
  dns.set(publish.spf?.name ?? '', { txt: ['v=spf1 +all'] });
  const check = await domains().checkMailboxDns(`news@${name}`);
  expect(check).toEqual({
    address: `news@${name}`,
    spf: { ok: false, record: 'v=spf1 +all', problem: expect.stringContaining('everybody') },
    dkim: { ok: true, record: publish.dkim?.value ?? '', problem: null },
    dmarc: { ok: true, record: 'v=DMARC1; p=reject', problem: null },
  });
  dns.set('_dmarc.example.com', null);
});

test('a removed domain takes its mailboxes along', async () => {
  const { name } = await add();
  await app.services.mailboxes.add(actor, { address: `a@${name}`, relay: null });
  expect(await domains().remove(actor, name)).toEqual({ name, removed_mailboxes: 1 });
  expect(app.services.mailboxes.list().some((mailbox) => mailbox.domain === name)).toBe(false);
  expect(
    await domains()
      .remove(actor, name)
      .catch((error: unknown) => error),
  ).toMatchObject({ kind: 'not_found' });
});

test('a domain and a mailbox that two remove at once are removed once, on the audit trail too', async () => {
  const { name } = await add();
  const { mailboxes, audit } = app.services;
  const address = `a@${name}`;
  await mailboxes.add(actor, { address, relay: null });
  for (const [event, target, remove] of [
    ['mailbox.removed', `mailbox:${address}`, () => mailboxes.remove(actor, address)],
    ['sending_domain.removed', `sending_domain:${name}`, () => domains().remove(actor, name)],
  ] as const) {
    expect(await Promise.allSettled([remove(), remove()])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { kind: 'not_found' } },
    ]);
    const told = audit.listNewest({ event }, 10).filter((each) => each.target === target);
    expect([event, told.length]).toEqual([event, 1]);
  }
});

test('what is changed is in the audit trail, with who did it', async () => {
  const { name } = await add();
  await domains().change(actor, name, { is_active: false });
  const [event] = app.services.database.read.$client
    .query('SELECT event, target, actor_name FROM audit_events ORDER BY id DESC LIMIT 1')
    .all();
  expect(event).toEqual({
    event: 'sending_domain.deactivated',
    target: `sending_domain:${name}`,
    actor_name: 'tester',
  });
});

describe('a domain of a trial', () => {
  const RELAY = parseRelay('smtp://relay.example.net:25');

  /** An app whose default is below .test and captures, and what its default is. */
  async function tried() {
    const fresh = await startTestApp({ env: { SATCHEL_DNS_SERVERS: dns.address } });
    const { sending_domains, mailboxes } = fresh.services;
    await sending_domains.add(actor, { name: 'capture.test', is_trusted: true });
    await mailboxes.add(actor, { address: 'hello@capture.test', relay: null });
    const defaultOf = (): string | undefined =>
      sending_domains.list().find(({ is_default }) => is_default)?.name;
    const given = (): number =>
      fresh.services.audit.listNewest({ event: 'sending_domain.made_default' }, 50).length;
    return { ...fresh.services, defaultOf, given };
  }

  test('gives way in the change that completes another one, whichever comes last, and is then chosen again by hand alone', async () => {
    const on = await tried();
    const { sending_domains, mailboxes } = on;
    const { name } = await sending_domains.add(actor, { name: 'mail.example.com' });
    await mailboxes.add(actor, { address: `a@${name}`, relay: RELAY, for_transactional: true });
    expect(on.defaultOf()).toBe('capture.test');
    expect(await sending_domains.change(actor, name, { is_trusted: true })).toMatchObject({
      is_default: true,
    });
    expect([on.defaultOf(), on.given()]).toEqual([name, 1]);
    await sending_domains.change(actor, 'capture.test', { is_default: true });
    await mailboxes.change(actor, `a@${name}`, { daily_limit: 10 });
    await sending_domains.change(actor, name, { is_trusted: false });
    await sending_domains.change(actor, name, { is_trusted: true });
    expect(on.defaultOf()).toBe('capture.test');
    // Another one has its own turn.
    await sending_domains.add(actor, { name: 'two.example.com', is_trusted: true });
    expect(on.defaultOf()).toBe('capture.test');
    await mailboxes.add(actor, { address: 'b@two.example.com', relay: RELAY });
    expect(on.defaultOf()).toBe('two.example.com');
  });

  test('gives way as the records are found, and as a mailbox gets a relay, is resumed or is for mail of apps', async () => {
    for (const complete of ['verify', 'relay', 'resume', 'for', 'activate'] as const) {
      const on = await tried();
      const { sending_domains, mailboxes } = on;
      const name = `${complete}.example.com`;
      const { records } = await sending_domains.add(actor, { name, is_trusted: complete !== 'verify' });
      if (complete === 'activate') await sending_domains.change(actor, name, { is_active: false });
      const address = `a@${name}`;
      const is_for = complete === 'for' ? { for_transactional: false, for_marketing: true } : {};
      await mailboxes.add(actor, { address, relay: null, ...is_for });
      if (complete === 'resume') await mailboxes.setStatus(actor, address, 'paused');
      if (complete !== 'relay') await mailboxes.change(actor, address, { relay: RELAY });
      expect(on.defaultOf()).toBe('capture.test');
      if (complete === 'relay') await mailboxes.change(actor, address, { relay: RELAY });
      if (complete === 'resume') await mailboxes.setStatus(actor, address, 'active');
      if (complete === 'for') await mailboxes.change(actor, address, { for_transactional: true });
      if (complete === 'activate') await sending_domains.change(actor, name, { is_active: true });
      if (complete === 'verify') {
        for (const record of records) dns.set(record.name, { txt: [record.value] });
        expect(await sending_domains.verify(actor, name)).toMatchObject({ is_default: true });
      }
      expect([on.defaultOf(), on.given()]).toEqual([name, 1]);
    }
  });

  test('gives way to none below .test, stays where it has a relay itself, and no other default does', async () => {
    const on = await tried();
    const { sending_domains, mailboxes } = on;
    await sending_domains.add(actor, { name: 'other.test', is_trusted: true });
    await mailboxes.add(actor, { address: 'a@other.test', relay: RELAY });
    expect(on.defaultOf()).toBe('capture.test');
    await mailboxes.add(actor, { address: 'relayed@capture.test', relay: RELAY });
    await sending_domains.add(actor, { name: 'one.example.com', is_trusted: true });
    await mailboxes.add(actor, { address: 'a@one.example.com', relay: RELAY });
    expect(on.defaultOf()).toBe('capture.test');
    await mailboxes.remove(actor, 'relayed@capture.test');
    await mailboxes.remove(actor, 'hello@capture.test');
    await mailboxes.change(actor, 'a@one.example.com', { daily_limit: 5 });
    expect(on.defaultOf()).toBe('one.example.com');
    await sending_domains.add(actor, { name: 'two.example.com', is_trusted: true });
    await mailboxes.add(actor, { address: 'a@two.example.com', relay: RELAY });
    expect([on.defaultOf(), on.given()]).toEqual(['one.example.com', 1]);
  });
});
