/** Reports that arrive in an inbox of a real IMAP server: each takes effect once, whatever the connection does. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InboxReader, type ReaderDeps } from '../../src/inboxes/reader.ts';
import { parseInbox } from '../../src/inboxes/service.ts';
import { MAX_IMAP_STEP_BYTES, MAX_REPORT_BYTES } from '../../src/limits.ts';
import { run, runJson } from '../command.ts';
import { DOVECOT, type Dovecot, startDovecot } from '../dovecot.ts';
import { addDomain, addMailbox, rows, type Sender, startSender } from '../emails/setup.ts';
import { actor } from '../helpers.ts';
import { readSample, reportOn } from '../mail-reports.ts';
import { type SmtpSink, startSmtpSink } from '../smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { until } from '../until.ts';

const HELLO = 'hello@shop.example.com';
const ANN = 'ann@example.org';
const HANDLED = ['$Satchel'];

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
function read(waits: ReaderDeps['waits'] = {}): void {
  const { services } = sender.app;
  for (const row of services.inboxes.listRows()) {
    const reader = new InboxReader(row, {
      ...services,
      takeReport(tx, report) {
        const taken = services.deliveries.takeReport(tx, report);
        return taken && { is_new: taken.told.some(({ is_new }) => is_new) };
      },
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
  sender.app.services.deliveries.listen((_tx, event) => {
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
    proxy.hold = /BODY\.PEEK\[\]/;
    read({ step_ms: 400 });
    await until(() => isHandled(1, `${user}b`));
    await until(() => proxy.held > 1);
    expect((await sender.send()).status).toBe(202);
    await until(() => stateOf()?.last_error === 'The server gave no full answer within 0.4 s.');
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

imapTest('a server that announces more than was asked for is left, and tried again', async () => {
  const { id, report } = await bounced();
  dovecot.deliver(user, report);
  await setInbox();
  proxy.hold = /BODY\.PEEK\[\]/;
  for (const answer of [
    `* 1 FETCH (UID 1 BODY[]<0> {${MAX_REPORT_BYTES + 1}}\r\n`,
    `* ${'x'.repeat(5 * 1024 * 1024)}`,
    '\r\n)))(((\0{99999999999999999999}\r\n',
  ]) {
    const held = proxy.held;
    proxy.answer = Buffer.from(answer);
    read({ step_ms: 2_000 });
    await until(() => proxy.held > held + 1);
    await stopReaders();
    expect(stateOf()?.last_error).not.toBeNull();
    expect(reportsOn(id)).toEqual([]);
  }
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
    expect(changed.stdout).toContain(`imap://${user}:***@127.0.0.1:${dovecot.port}, not read yet`);
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
