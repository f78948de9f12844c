/** Reports that arrive in an inbox of a real IMAP server: each takes effect once, whatever the connection does. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import { MAX_REPORT_BYTES } from '../../../src/limits.ts';
import { InboxReader, MAX_IMAP_STEP_BYTES, type ReaderDeps } from '../../../src/mail/inboxes/reader.ts';
import { parseInbox } from '../../../src/mail/inboxes/service.ts';
import { INBOX_SKIPPED_SHOWN_MS } from '../../../src/mail/mailboxes/inbox-checks.ts';
import { createResolver } from '../../../src/platform/mail/dns.ts';
import { UnreadableReport } from '../../../src/platform/mail/report-reader.ts';
import { run, runJson } from '../../support/command.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { DOVECOT, type Dovecot, startDovecot } from '../../support/dovecot.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { actor } from '../../support/helpers.ts';
import { HOSTILE } from '../../support/hostile-messages.ts';
import { readSample, reportOn } from '../../support/mail-reports.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { addDomain, addMailbox, rows, type Sender, startSender } from '../emails/setup.ts';

const HELLO = 'hello@shop.example.com';
const ANN = 'ann@example.org';
const HANDLED = ['$Satchel'];
/** What gets a message read: anybody may copy it from a mail of ours. */
const SIGNED = 'v=1; a=rsa-sha256; c=relaxed/relaxed; d=shop.example.com; s=satchel; h=to; b=AAAA';

/** Reports are written by real servers into a real one, or not at all. */
const imapTest = test.skipIf(DOVECOT === null);

let dovecot: Dovecot;
let proxy: TcpProxy;
let sink: SmtpSink;
let sender: Sender;
let user = '';
let n = 0;
let readers: { reader: InboxReader; ended: Promise<void> }[] = [];

beforeAll(async () => {
  if (DOVECOT === null) return;
  [dovecot, sink, sender] = await Promise.all([startDovecot(), startSmtpSink(), startSender()]);
  proxy = await startTcpProxy(dovecot.port);
  await addDomain(sender.app, 'shop.example.com', sink);
});
afterAll(async () => {
  if (DOVECOT === null) return;
  await Promise.all([dovecot.stop(), proxy.stop(), sink.stop()]);
});

beforeEach(() => {
  n += 1;
  user = `user${n}`;
});
afterEach(async () => {
  await stopReaders();
  if (DOVECOT === null) return;
  proxy.hold = null;
  proxy.answer = null;
  proxy.held = 0;
  await sender.app.services.mailboxes.change(actor, HELLO, { inbox: null });
});

async function stopReaders(): Promise<void> {
  for (const { reader } of readers) reader.stop();
  await Promise.all(readers.map(({ ended }) => ended));
  readers = [];
}

/** Sends a mail, and returns a report about it as a server would write it. */
async function bounced(sample = 'postfix-remote-550'): Promise<{ id: string; report: string }> {
  const { body } = await sender.send({ to: ANN });
  await sender.settle();
  const raw = sink.mails.at(-1)?.raw ?? '';
  return { id: String(body.id), report: reportOn(sample, { raw, recipients: [ANN] }) };
}

async function setInbox(port = proxy.port, address = HELLO, name = user): Promise<void> {
  const inbox = parseInbox(`imap://${dovecot.log_in(name)}@127.0.0.1:${port}`);
  await sender.app.services.mailboxes.change(actor, address, { inbox });
}

/** Reads the inboxes that are set, with waits that suit a test. */
function read(waits: ReaderDeps['waits'] = {}, deps: Partial<ReaderDeps> = {}): void {
  const { services } = sender.app;
  for (const row of services.inboxes.listRows()) {
    const reader = new InboxReader(row, {
      ...services,
      ...deps,
      waits: { retry_min_ms: 20, ...waits },
    });
    readers.push({ reader, ended: reader.run() });
  }
}

const stateOf = (address = HELLO) =>
  sender.app.services.mailboxes.list().find((mailbox) => mailbox.address === address)?.inbox;
const reportsOn = (id: string): unknown[] =>
  rows(sender.app, `SELECT kind, address FROM email_reports WHERE email_id = '${id}'`);
const BOUNCED = [{ kind: 'bounced', address: ANN }];
const isHandled = async (uid: number, name = user): Promise<boolean> =>
  (await dovecot.flagsOf(name)).get(uid)?.includes('$Satchel') ?? false;

imapTest(
  'a report takes effect as it arrives, is flagged and stays; what is none is left untouched',
  async () => {
    const first = await bounced();
    dovecot.deliver(user, readSample('not-a-bounce-auto-reply'));
    dovecot.deliver(user, first.report);
    await setInbox();
    read();
    await until(() => isHandled(2));
    expect(reportsOn(first.id)).toEqual(BOUNCED);
    const forged = readSample('postfix-unknown-user');
    const second = await bounced('arf-abuse');
    for (const message of [forged, 'garbage\xff\x00\nno header', second.report])
      dovecot.deliver(user, message);
    await until(() => isHandled(5));
    expect(reportsOn(second.id)).toEqual([{ kind: 'complained', address: ANN }]);
    expect([...(await dovecot.flagsOf(user)).values()]).toEqual([[], HANDLED, [], [], HANDLED]);
    await until(() => stateOf()?.last_look_at !== null);
    expect(stateOf()).toMatchObject({ reports: 2, last_error: null });
  },
);

imapTest('after a reconnect and after other UIDs nothing takes effect twice', async () => {
  const { id, report } = await bounced();
  dovecot.deliver(user, report);
  await setInbox();
  read();
  await until(() => isHandled(1));
  await stopReaders();
  // As if the flag had been taken off: what was read is known by its UID.
  const heard: string[] = [];
  sender.app.services.deliveries.listeners.add((_tx, event) => {
    if (event.email_id === id) heard.push(event.kind);
  });
  read();
  const next = await bounced();
  dovecot.deliver(user, next.report);
  await until(() => isHandled(2));
  await stopReaders();
  dovecot.renumber(user);
  read();
  const last = await bounced();
  dovecot.deliver(user, last.report);
  await until(() => isHandled(3));
  for (const one of [id, next.id, last.id]) expect(reportsOn(one)).toEqual(BOUNCED);
  expect(heard).toEqual([]);
  expect(rows(sender.app, 'SELECT last_uid, reports FROM inboxes')).toEqual([{ last_uid: 3, reports: 3 }]);
});

imapTest('a flag that a lost connection left out is set later', async () => {
  const { id, report } = await bounced();
  dovecot.deliver(user, report);
  await setInbox();
  proxy.hold = / STORE /;
  read({ step_ms: 300 });
  await until(() => reportsOn(id).length === 1);
  expect(await isHandled(1)).toBe(false);
  await until(() => (stateOf()?.last_error ?? '') !== '');
  proxy.hold = null;
  proxy.cut();
  await until(() => isHandled(1));
  expect(stateOf()).toMatchObject({ reports: 1 });
  expect(reportsOn(id)).toEqual(BOUNCED);
});

imapTest(
  'two mailboxes are read at once, and one whose server hangs holds up neither the other nor requests',
  async () => {
    const other = await addMailbox(sender.app, 'news@shop.example.com', sink);
    const { report } = await bounced();
    const second = await bounced();
    dovecot.deliver(user, report);
    dovecot.deliver(`${user}b`, second.report);
    await setInbox();
    await setInbox(dovecot.port, other, `${user}b`);
    // All that is fetched: a server that hangs says nothing against a message.
    proxy.hold = / FETCH /;
    read({ step_ms: 400 });
    await until(() => isHandled(1, `${user}b`));
    await until(() => proxy.held > 4);
    expect((await sender.send()).status).toBe(202);
    await until(() => stateOf()?.last_error === 'The server gave no full answer within 0.4 s.');
    expect(stateOf()).toMatchObject({ skipped: 0 });
    // A step of this one may have taken too long, too, on a busy machine.
    await until(() => stateOf(other)?.last_error === null);
    expect(stateOf(other)).toMatchObject({ reports: 1 });
    proxy.hold = null;
    await until(() => isHandled(1));
    await until(() => stateOf()?.last_error === null);
    await sender.app.services.mailboxes.remove(actor, other);
    expect(rows(sender.app, 'SELECT count(*) AS n FROM inboxes')).toEqual([{ n: 1 }]);
  },
);

imapTest('a server that announces more than was asked for is left, and tried again once', async () => {
  const { id, report } = await bounced();
  await setInbox();
  proxy.hold = /BODY\.PEEK\[\]/;
  for (const answer of [
    `* 1 FETCH (UID 1 BODY[]<0> {${MAX_REPORT_BYTES + 1}}\r\n`,
    `* ${'x'.repeat(5 * 1024 * 1024)}`,
    '\r\n)))(((\0{99999999999999999999}\r\n',
  ]) {
    const [held, skipped] = [proxy.held, stateOf()?.skipped ?? 0];
    proxy.answer = Buffer.from(answer);
    dovecot.deliver(user, report);
    read({ step_ms: 2_000 });
    await until(() => stateOf()?.skipped === skipped + 1);
    await stopReaders();
    expect(proxy.held).toBe(held + 2);
    expect(stateOf()?.last_error).not.toBeNull();
    expect(reportsOn(id)).toEqual([]);
  }
  proxy.hold = null;
  dovecot.deliver(user, report);
  read();
  await until(() => isHandled(4));
  expect(reportsOn(id)).toEqual(BOUNCED);
});

imapTest('a server that goes on and on is left, and requests are answered meanwhile', async () => {
  const { id, report } = await bounced();
  dovecot.deliver(user, report);
  await setInbox();
  proxy.hold = /BODY\.PEEK\[\]/;
  proxy.answer = Buffer.from(`* OK ${'x'.repeat(1_000)}\r\n`.repeat((2 * MAX_IMAP_STEP_BYTES) / 1_000));
  read({ retry_min_ms: 60_000 });
  await until(() => proxy.held === 1);
  expect((await sender.send()).status).toBe(202);
  await until(() => stateOf()?.last_error === 'The server sent far too much.');
  expect(reportsOn(id)).toEqual([]);
});

imapTest('of a message of 50 MB the beginning is read', async () => {
  const { id, report } = await bounced('postfix-unknown-user');
  const [head = '', end = ''] = report.split(/(\n--[^\n]+--\n*)$/);
  dovecot.deliver(user, `${head}${'x'.repeat(75)}\n`.concat('padding\n'.repeat(6_500_000), end));
  const next = await bounced();
  dovecot.deliver(user, next.report);
  await setInbox();
  read();
  await until(() => isHandled(2));
  expect(await isHandled(1)).toBe(true);
  expect(reportsOn(id)).toEqual(BOUNCED);
});

imapTest(
  'set by a command it is read by the running server at once, its password never shows, and what is wrong is told',
  async () => {
    const dir = sender.app.data_dir;
    const { id, report } = await bounced();
    dovecot.deliver(user, report);
    const file = join(dir, 'inbox-url');
    writeFileSync(file, `imap://${dovecot.log_in(user)}@127.0.0.1:${dovecot.port}/INBOX\n`);
    const changed = await run(dir, 'mailbox', 'change', HELLO, '--inbox', `@${file}`);
    expect([changed.exit, changed.stderr]).toEqual([0, '']);
    expect(changed.stdout).toContain(`imap://${user}:***@127.0.0.1:${dovecot.port}: not read yet`);
    await until(() => isHandled(1));
    expect(reportsOn(id)).toEqual(BOUNCED);
    await until(() => stateOf()?.last_look_at !== null);
    const listed = await run(dir, 'mailbox', 'list', '--json');
    expect(listed.stdout).not.toContain('p:w');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ inbox: { reports: 1, last_error: null } }]);
    const findings = async (): Promise<unknown> => {
      const { findings: all } = (await run(dir, 'doctor', '--json').then(({ stdout }) =>
        JSON.parse(stdout),
      )) as {
        findings: { check: string }[];
      };
      return all.filter(({ check }) => check === 'inboxes');
    };
    expect(await findings()).toMatchObject([{ status: 'ok' }]);
    writeFileSync(file, `imap://${user}:wrong@127.0.0.1:${dovecot.port}`);
    await run(dir, 'mailbox', 'change', HELLO, '--inbox', `@${file}`);
    await until(() => stateOf()?.last_error !== null && stateOf()?.last_error !== undefined);
    expect(stateOf()?.last_error).toContain('The log-in was refused: ');
    expect(await findings()).toMatchObject([
      { status: 'problem', remedy: `satchel mailbox change ${HELLO} --inbox -` },
    ]);
    expect(sender.app.logs()).not.toContain('wrong');
    const third = await bounced();
    const other = `${user}c`;
    dovecot.deliver(other, third.report);
    writeFileSync(file, `imap://${dovecot.log_in(other)}@127.0.0.1:${dovecot.port}`);
    await run(dir, 'mailbox', 'add', 'new@shop.example.com', '--capture', '--inbox', `@${file}`);
    await until(() => isHandled(1, other));
    expect(reportsOn(third.id)).toEqual(BOUNCED);
    await run(dir, 'mailbox', 'remove', 'new@shop.example.com', '--yes');
    expect(await runJson(dir, 'mailbox', 'change', HELLO, '--no-inbox')).toMatchObject({ inbox: null });
    await until(() => rows(sender.app, 'SELECT 1 FROM inboxes').length === 0);
  },
);

imapTest('a password does not travel without TLS to another machine', async () => {
  const { database } = sender.app.services;
  await setInbox();
  await database.write((tx) => tx.$client.run("UPDATE inboxes SET security = 'starttls'"));
  read();
  await until(() => (stateOf()?.last_error ?? '') !== '');
  expect(stateOf()).toMatchObject({ reports: 0, last_look_at: null });
  // Its certificate is of an authority that this process does not know.
  expect(stateOf()?.last_error).toMatch(/certificate/i);
});

imapTest('a header longer than anything that is fetched holds up nothing behind it', async () => {
  const [before, after] = [await bounced(), await bounced()];
  const type = `Content-Type: multipart/report; x="${'y'.repeat(2 * MAX_REPORT_BYTES)}"; boundary=b\n`;
  dovecot.deliver(user, before.report);
  dovecot.deliver(user, `${type}DKIM-Signature: ${SIGNED}\n\n--b\n\n`);
  dovecot.deliver(user, after.report);
  await setInbox();
  read();
  await until(() => isHandled(3));
  expect(await isHandled(1)).toBe(true);
  await until(() => stateOf()?.last_error === null);
  for (const { id } of [before, after]) expect(reportsOn(id)).toEqual(BOUNCED);
  expect(stateOf()).toMatchObject({ reports: 2, skipped: 0 });
});

imapTest(
  'a message that the server can’t give is passed over and named, and what comes after is read',
  async () => {
    const [before, after] = [await bounced(), await bounced()];
    dovecot.deliver(user, before.report);
    dovecot.deliver(user, before.report, 0);
    dovecot.deliver(user, after.report);
    await setInbox();
    read();
    await until(() => isHandled(3));
    expect(reportsOn(after.id)).toEqual(BOUNCED);
    await until(() => stateOf()?.last_error === null);
    expect(stateOf()).toMatchObject({ reports: 2, skipped: 1 });
    expect(rows(sender.app, 'SELECT last_uid FROM inboxes')).toEqual([{ last_uid: 3 }]);
    const dir = sender.app.data_dir;
    const listed = await run(dir, 'mailbox', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ inbox: { reports: 2, skipped: 1 } }]);
    const changed = await run(dir, 'mailbox', 'change', HELLO, '--no-daily-limit');
    expect(changed.stdout).toMatch(/read \S+, 1 skipped/);
    const doctor = await run(dir, 'doctor');
    expect(doctor.stdout).toMatch(
      /WARNING {2}inboxes: 1 message in INBOX of the inbox of hello@shop\.example\.com could not be fetched or read, .* By UID: 2\./,
    );
    expect(doctor.stdout).toContain('satchel email bounce --report FILE');
    const long_ago = Date.now() - INBOX_SKIPPED_SHOWN_MS - 1;
    await sender.app.services.database.write((tx) =>
      tx.$client.run("UPDATE inboxes SET last_skipped = json_set(last_skipped, '$[0].at', ?)", [long_ago]),
    );
    expect((await run(dir, 'doctor')).stdout).not.toContain('By UID');
  },
);

imapTest(
  'an inbox is not looked for at a link-local address, and where it is is asked each time',
  async () => {
    const dns = await startDnsServer({ 'imap.example': { a: ['169.254.169.254'] } });
    const inbox = parseInbox(`imaps://${dovecot.log_in(user)}@imap.example:${dovecot.tls_port}`);
    await sender.app.services.mailboxes.change(actor, HELLO, { inbox });
    read({}, { resolver: createResolver({ servers: [dns.address] }) });
    await until(() => stateOf()?.last_error?.includes('is at a link-local address') ?? false);
    // It is reached then, and not trusted, as its certificate is for another host.
    dns.set('imap.example', { a: ['127.0.0.1'] });
    await until(() => /certificate|altnames/i.test(stateOf()?.last_error ?? ''));
    await stopReaders();
    await dns.stop();
  },
);

imapTest(
  'one that can’t be read is tried twice, and what is our own trouble as often as it takes',
  async () => {
    const [hostile, waiting, after] = [await bounced(), await bounced(), await bounced()];
    const { deliveries } = sender.app.services;
    const original = deliveries.readReport;
    let tried = 0;
    let refusals = 5;
    deliveries.readReport = async (message) => {
      const text = Buffer.from(message).toString('latin1');
      if (text.includes(`<${hostile.id.toLowerCase()}@`)) {
        tried += 1;
        throw new UnreadableReport('The message could not be read: it took too long.');
      }
      if (text.includes(`<${waiting.id.toLowerCase()}@`) && refusals-- > 0)
        throw new AppError('unavailable', 'The server has too few file descriptors left.');
      return original.call(deliveries, message);
    };
    try {
      for (const { report } of [hostile, waiting, after]) dovecot.deliver(user, report);
      await setInbox();
      read();
      await until(() => isHandled(3));
    } finally {
      deliveries.readReport = original;
    }
    expect(tried).toBe(2);
    expect([hostile, waiting, after].map(({ id }) => reportsOn(id))).toEqual([[], BOUNCED, BOUNCED]);
    expect(stateOf()).toMatchObject({ reports: 2, skipped: 1 });
  },
);

imapTest(
  'whatever strangers send, nobody else waits for 100 ms, and a report behind it takes effect',
  async () => {
    const { id, report } = await bounced();
    const messages = Object.values(HOSTILE).map((text) => `DKIM-Signature: ${SIGNED}\n${text}`);
    // As many headers at once as are asked for at once, each as long as is taken.
    const type = `Content-Type: multipart/report; x="${'y'.repeat(MAX_REPORT_BYTES - 1_024)}"\n`;
    for (let n = 0; n < 50; n += 1) messages.push(`${type}DKIM-Signature: ${SIGNED}\n\n`);
    for (const message of messages) dovecot.deliver(user, message);
    dovecot.deliver(user, report);
    await setInbox();
    const turn_ms = await longestTurnMs(async () => {
      read();
      await until(() => isHandled(messages.length + 1));
    });
    expect(turn_ms).toBeLessThan(100);
    expect(reportsOn(id)).toEqual(BOUNCED);
    expect(stateOf()).toMatchObject({ reports: 1, skipped: 0 });
  },
);

imapTest('set again, with a new password too, an inbox is read on from where it was left', async () => {
  const { mailboxes } = sender.app.services;
  const [before, after] = [await bounced(), await bounced()];
  dovecot.deliver(user, before.report);
  await setInbox();
  read();
  await until(() => isHandled(1));
  await until(() => stateOf()?.last_look_at !== null);
  await stopReaders();
  const place = { last_uid: 1, reports: 1, uid_validity: expect.any(String), skipped: 0 };
  const placeNow = () => rows(sender.app, 'SELECT last_uid, reports, uid_validity, skipped FROM inboxes');
  const set = async (inbox: string) => mailboxes.change(actor, HELLO, { inbox: parseInbox(inbox) });
  await set(`imap://${user}:wrong@127.0.0.1:${dovecot.port}`);
  expect(placeNow()).toEqual([place]);
  const record = await set(`imaps://${dovecot.log_in(user)}@127.0.0.1:${dovecot.tls_port}/INBOX`);
  expect(record.inbox).toMatchObject({ reports: 1, last_look_at: expect.any(String), last_error: null });
  await setInbox();
  expect(placeNow()).toEqual([place]);
  dovecot.deliver(user, after.report);
  read();
  await until(() => isHandled(2));
  expect(placeNow()).toEqual([{ ...place, last_uid: 2, reports: 2 }]);
  await stopReaders();
  const unread = { last_uid: 0, reports: 0, uid_validity: null, skipped: 0 };
  for (const other of [`${user}:p@127.0.0.1/Bounces`, `${user}x:p@127.0.0.1`, `${user}:p@127.0.0.2`]) {
    await setInbox();
    read();
    await until(() => stateOf()?.last_look_at !== null);
    await stopReaders();
    await set(`imap://${other}`);
    expect(placeNow()).toEqual([unread]);
  }
});
