/** Which reports take effect: those about our mail that carry what only that mail had. A forged one does nothing. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_VERP_LOCAL_PART_CHARS } from '../../../src/mail/mailboxes/outlets.ts';
import { readMailReport } from '../../../src/platform/mail/mail-reports.ts';
import { run, runRecord } from '../../support/command.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { readSample, reportOn } from '../../support/mail-reports.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, rows, type Sender, startSender } from '../emails/setup.ts';

const ANN = 'ann@example.org';
const BOB = 'bob@example.org';

let sink: SmtpSink;
let sender: Sender;
let id = '';
let raw = '';

beforeAll(async () => {
  sink = await startSmtpSink();
  sender = await startSender();
  await addDomain(sender.app, 'shop.example.com', sink);
});
afterAll(() => sink.stop());

beforeEach(async () => {
  ({ id, raw } = await send());
});

async function send(fields: Record<string, unknown> = {}): Promise<{ id: string; raw: string }> {
  const { body } = await sender.send({ to: ANN, cc: [BOB], subject: 'Ihre Größe', ...fields });
  await sender.settle();
  return { id: String(body.id), raw: sink.mails.at(-1)?.raw.toString('latin1') ?? '' };
}

async function take(report: string) {
  const read = await readMailReport(Buffer.from(report, 'latin1'));
  if (!read) throw new Error('the test made no report');
  const { database, deliveries } = sender.app.services;
  return database.write((tx) => deliveries.takeReport(tx, read));
}

const reports = (): unknown[] =>
  rows(sender.app, `SELECT kind, address FROM email_reports WHERE email_id = '${id}'`);

describe('samples of real servers, about a mail of ours', () => {
  const told: [sample: string, status: string, kind: string | null][] = [
    ['postfix-unknown-user', 'bounced', 'bounced'],
    ['postfix-headers-only', 'bounced', 'bounced'],
    ['postfix-remote-550', 'bounced', 'bounced'],
    ['postfix-envid', 'bounced', 'bounced'],
    ['exim-unknown-user', 'bounced', 'bounced'],
    ['postfix-success', 'delivered', 'delivered'],
    ['postfix-delayed', 'sent', null],
    ['arf-abuse', 'complained', 'complained'],
    ['ironport', 'bounced', 'bounced'],
  ];
  for (const [sample, status, kind] of told)
    test(`${sample} makes it ${status}`, async () => {
      const taken = await take(reportOn(sample, { raw, recipients: [ANN] }));
      expect(taken).toEqual({
        email_id: id,
        told: kind === null ? [] : ([{ recipient: ANN, kind, is_new: true }] as never),
      });
      expect(await sender.log(id)).toMatchObject({ status });
      expect(reports()).toEqual(kind === null ? [] : [{ kind, address: ANN }]);
      const again = await take(reportOn(sample, { raw, recipients: [ANN] }));
      expect(again?.told.map(({ is_new }) => is_new)).toEqual(kind === null ? [] : [false]);
      expect(reports()).toHaveLength(kind === null ? 0 : 1);
    });

  test('a complaint is read whose parts are in base64, however long the mail is that it returns', async () => {
    const { deliveries, database } = sender.app.services;
    for (const [to, body_text] of [
      ['cat@example.org', 'Short'],
      ['dan@example.org', 'Long. '.repeat(50_000)],
    ]) {
      const mail = await send({ to, cc: [], body_text });
      const message = Buffer.from(reportOn('arf-base64', { raw: mail.raw, recipients: [] }), 'latin1');
      const read = await deliveries.readReport(message);
      if (!read) throw new Error('it was not read');
      await database.write((tx) => deliveries.takeReport(tx, read));
      expect(await sender.log(mail.id)).toMatchObject({ status: 'complained' });
    }
    const foreign = readSample('arf-base64');
    expect(await deliveries.readReport(Buffer.from(foreign, 'latin1'))).toBeNull();
  });

  test('of two recipients each has its own, and who never got the mail is left out', async () => {
    const taken = await take(
      reportOn('postfix-two-recipients', { raw, recipients: [BOB.toUpperCase(), 'eve@example.org'] }),
    );
    expect(taken?.told).toEqual([{ recipient: BOB, kind: 'bounced', is_new: true }]);
    expect(await sender.log(id)).toMatchObject({ status: 'sent', bounced_at: null });
  });

  test('a complaint that names nobody is of the only recipient, and of several nobody', async () => {
    const unnamed = (mail: string): string =>
      reportOn('arf-abuse', { raw: mail, recipients: [ANN] }).replace(/^Original-Rcpt-To:.*\n/m, '');
    expect((await take(unnamed(raw)))?.told).toEqual([]);
    ({ id, raw } = await send({ cc: [] }));
    expect((await take(unnamed(raw)))?.told).toMatchObject([{ recipient: ANN, kind: 'complained' }]);
  });
});

describe('what is not believed', () => {
  const report = (mail: string): string => reportOn('postfix-unknown-user', { raw: mail, recipients: [ANN] });

  async function expectDisbelief(text: string): Promise<void> {
    expect(await take(text)).toBeNull();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', bounced_at: null });
    expect(reports()).toEqual([]);
  }

  test('the Message-ID of our mail alone', async () => {
    await expectDisbelief(report(raw.replace(/^DKIM-Signature:[\s\S]*?\r\n(?=[A-Z])/m, '')));
  });

  test('a signature of ours on another Message-ID', async () => {
    const other = await send();
    const message_id = /^Message-ID: (.*)$/m.exec(raw)?.[1] ?? '';
    expect(message_id).toContain(id.toLowerCase());
    await expectDisbelief(report(other.raw.replace(/^Message-ID: .*$/m, `Message-ID: ${message_id}`)));
    // A verifier takes the last of a header: one put before it, or behind, deceives neither.
    await expectDisbelief(
      report(`Message-ID: ${message_id}\r\n${other.raw}`.replace(other.id.toLowerCase(), 'x')),
    );
    const both = other.raw.replace(/^Message-ID: .*\r\n/m, (line) => `${line}Message-ID: ${message_id}\r\n`);
    await expectDisbelief(report(both));
  });

  test('a changed header that was signed', async () => {
    await expectDisbelief(report(raw.replace(/^To: .*$/m, 'To: eve@example.org')));
  });

  test('a signature of a key that is not ours', async () => {
    for (const tag of [/ d=[^;]+;/, / s=[^;]+;/])
      await expectDisbelief(report(raw.replace(tag, (text) => text.replace('=', '=x'))));
    await expectDisbelief(report(raw.replace('a=rsa-sha256', 'a=rsa-sha1')));
    await expectDisbelief(report(raw.replace(/^ b=[\s\S]*?\r\n(?=[A-Z])/m, ' b=AAAA\r\n')));
    await expectDisbelief(readSample('postfix-unknown-user'));
  });

  test('a mail of ours that the log does not have', async () => {
    const mailbox = 'hello@shop.example.com';
    await sender.app.services.mailboxes.test(mailbox, ANN);
    await expectDisbelief(report(sink.mails.at(-1)?.raw.toString('latin1') ?? ''));
  });
});

test('mail that was signed before the key was changed is still known', async () => {
  const { database } = sender.app.services;
  const before = rows(sender.app, 'SELECT dkim_selector, dkim_public_key FROM sending_domains');
  await database.write((tx) =>
    tx.$client.run(
      "UPDATE sending_domains SET old_dkim_selector = dkim_selector, old_dkim_public_key = dkim_public_key, dkim_selector = 'satchel2', dkim_public_key = 'AAAA'",
    ),
  );
  const taken = await take(reportOn('postfix-headers-only', { raw, recipients: [ANN] }));
  expect(taken?.told).toMatchObject([{ kind: 'bounced' }]);
  const { dkim_selector, dkim_public_key } = before[0] as Record<string, string>;
  await database.write((tx) =>
    tx.$client.run(
      'UPDATE sending_domains SET dkim_selector = ?, dkim_public_key = ?, old_dkim_selector = NULL',
      [dkim_selector ?? '', dkim_public_key ?? ''],
    ),
  );
});

describe('a return path of one mail', () => {
  const bare = (address: string): string =>
    readSample('exim-unknown-user')
      .replace(/^To: .*$/m, `To: <${address}>`)
      .replace('nobody.here@exim.example', ANN)
      .replace(/^(Final-Recipient: rfc822;).*$/m, `$1${ANN}`);
  const make = (email_id: string, base = 'bounces@shop.example.com'): Promise<string | null> => {
    const { database, deliveries } = sender.app.services;
    return deliveries.return_paths.addressFor(database, base, email_id);
  };

  test('is believed whatever its case, without any header of the mail', async () => {
    const address = (await make(id)) ?? '';
    expect(address).toMatch(/^bounces\+[0-9a-z]{26}\.[0-9a-f]{20}@shop\.example\.com$/);
    expect(await make(id)).toBe(address);
    expect(await take(bare(address.toUpperCase()))).toMatchObject({
      email_id: id,
      told: [{ kind: 'bounced' }],
    });
    expect(await sender.log(id)).toMatchObject({ status: 'bounced' });
  });

  test('with another code, or that of another mail, is not', async () => {
    const address = (await make(id)) ?? '';
    const forged = address.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
    expect(await take(bare(forged))).toBeNull();
    const other = await send();
    expect(await take(bare(address.replace(id.toLowerCase(), other.id.toLowerCase())))).toBeNull();
    expect(reports()).toEqual([]);
  });

  test('fits into a local part with the longest base that may have one', async () => {
    const address = (await make(id, `${'b'.repeat(MAX_VERP_LOCAL_PART_CHARS)}@shop.example.com`)) ?? '';
    expect(address.indexOf('@')).toBe(64);
    expect(await take(bare(address))).toMatchObject({ email_id: id });
  });
});

describe('before its MIME is read, a message', () => {
  let asked = 0;
  beforeAll(() => {
    const { report_reader } = sender.app.services;
    const reads = report_reader.read.bind(report_reader);
    report_reader.read = (message) => {
      asked += 1;
      return reads(message);
    };
  });
  beforeEach(() => {
    asked = 0;
  });
  const read = (message: string) => sender.app.services.deliveries.readReport(Buffer.from(message, 'latin1'));
  const make = async (email_id: string): Promise<string> => {
    const { database, deliveries } = sender.app.services;
    return (await deliveries.return_paths.addressFor(database, 'bounces@shop.example.com', email_id)) ?? '';
  };
  const about = (sample: string): string => reportOn(sample, { raw, recipients: [ANN] });
  const withTo = (message: string, to: string): string => message.replace(/^To: .*$/m, `To: ${to}`);

  test('that has a signature of ours is read on, be it quoted-printable', async () => {
    for (const sample of ['postfix-unknown-user', 'exim-unknown-user', 'arf-abuse'])
      expect(await read(about(sample))).toMatchObject({ recipients: [{ addresses: [ANN] }] });
    const encoded = about('postfix-headers-only').replace(
      /^DKIM-Signature: .*\n(?:[ \t].*\n)*/m,
      (signature) => signature.replaceAll('=', '=3D').replace('d=3Dshop.exa', 'd=3Dshop.=\nexa'),
    );
    expect(encoded).toContain('d=3Dshop.=\n');
    await read(encoded);
    expect(asked).toBe(4);
  });

  test('that has none, or names the domain or the selector of another, is not', async () => {
    const report = about('postfix-unknown-user');
    const others = [
      report.replace(/^DKIM-Signature:/m, 'X-DKIM-Signature:'),
      report.replace(/d=shop\.example\.com/, 'd=shop.example.org'),
      report.replace(/ s=\w+/, ' s=another'),
      readSample('not-a-bounce-auto-reply'),
      ...['', '\n', 'DKIM-Signature:', `DKIM-Signature: ${'d=;s=;'.repeat(40_000)}`],
    ];
    for (const other of others) expect(await read(other)).toBeNull();
    expect(asked).toBe(0);
  });

  test('that came to a return path of one mail has to have come to ours, whatever is signed in it', async () => {
    const ours = await make(id);
    const forged = ours.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
    const report = about('postfix-unknown-user');
    expect(await read(withTo(report, `"Bounces"\n <${forged}>`))).toBeNull();
    expect(await read(`Delivered-To: ${forged}\n${report}`)).toBeNull();
    expect(asked).toBe(0);
    const bare = readSample('exim-unknown-user');
    expect(await read(withTo(bare, `"Bounces"\n <${ours.toUpperCase()}>`))).not.toBeNull();
    expect(await read(withTo(`Delivered-To: ${forged}\n${bare}`, ours))).not.toBeNull();
    // It came to where complaints go, and returns the return path.
    expect(
      await read(bare.replace(/^Content-type: message\/rfc822\n\n/im, `$&Return-Path: <${ours}>\n`)),
    ).toMatchObject({ addresses: expect.arrayContaining([ours]) });
    expect(asked).toBe(3);
  });

  test('costs little, however many addresses and signatures it names', async () => {
    const ours = await make(id);
    const [signature = ''] = /^DKIM-Signature: (?:.*\n[ \t])*.*\n/m.exec(raw.replace(/\r\n/g, '\n')) ?? [];
    const hostile = [
      `To: ${ours.replace(/.@/, '!@')}, `.repeat(5_000),
      `To: ${'+'.repeat(60_000)}\n\n${ours.replace(/.@/, 'g@')} `.repeat(4),
      ours
        .replace(/[0-9a-f]@/, (end) => (end === '0@' ? '1@' : '0@'))
        .concat(' ')
        .repeat(4_000),
      'dkim-signature: d=shop.example.com; s=none\n'.repeat(6_000),
      `dkim-signature${' '.repeat(200_000)}`,
    ];
    for (const message of hostile) {
      const turn_ms = await longestTurnMs(() => read(message));
      expect(turn_ms).toBeLessThan(100);
    }
    expect(asked).toBe(0);
    // Signed over as many fields as fit, by whom it does not hold for.
    const many = signature.replace(/h=[^;]*/, `h=${'to:'.repeat(9_000)}to`) + 'To: x\n'.repeat(5_000);
    const report = reportOn('postfix-unknown-user', { raw: `${many}\n`, recipients: [ANN] });
    const parsed = await readMailReport(Buffer.from(report, 'latin1'));
    if (!parsed) throw new Error('the test made no report');
    const { database, deliveries } = sender.app.services;
    const turn_ms = await longestTurnMs(() => database.write((tx) => deliveries.takeReport(tx, parsed)));
    expect(turn_ms).toBeLessThan(100);
  });
});

describe('satchel email bounce --report', () => {
  const file = (text: string): string => {
    const path = join(sender.app.data_dir, 'report.eml');
    writeFileSync(path, text, 'latin1');
    return path;
  };

  test('takes a report that is believed, once, with an audit event', async () => {
    const path = file(reportOn('postfix-remote-550', { raw, recipients: [ANN] }));
    expect(await runRecord(sender.app.data_dir, 'email', 'bounce', '--report', path)).toEqual({
      email_id: id,
      told: [{ recipient: ANN, kind: 'bounced', is_new: true }],
    });
    expect((await run(sender.app.data_dir, 'email', 'bounce', '--report', path)).stdout).toContain(
      'as was known',
    );
    expect(rows(sender.app, `SELECT metadata FROM audit_events WHERE target = 'email:${id}'`)).toEqual([
      { metadata: '{"by":"report","kinds":["bounced"]}' },
    ]);
    expect((await run(sender.app.data_dir, 'email', 'why', id)).stdout).toContain(
      '550 5.1.1 <refuse.me@remote.example>',
    );
  });

  test('refuses what is forged, what is no report and what names both', async () => {
    const bounce = (...args: string[]) => run(sender.app.data_dir, 'email', 'bounce', ...args);
    const forged = await bounce('--report', file(readSample('postfix-remote-550')));
    expect([forged.exit, forged.stderr]).toEqual([1, expect.stringContaining('anybody can write')]);
    const { database, deliveries } = sender.app.services;
    const to = await deliveries.return_paths.addressFor(database, 'bounces@shop.example.com', id);
    const reply = readSample('not-a-bounce-auto-reply');
    const none = await bounce('--report', file(reply.replace(/^To: .*$/m, `To: ${to}`)));
    expect([none.exit, none.stderr]).toEqual([1, expect.stringContaining('no report')]);
    const theirs = await bounce('--report', file(reply));
    expect([theirs.exit, theirs.stderr]).toEqual([1, expect.stringContaining('anybody can write')]);
    expect((await bounce('--report', file('x'), '--soft')).exit).toBe(2);
    expect((await bounce('--report', file('x'), id)).exit).toBe(2);
    expect((await bounce()).exit).toBe(2);
    expect(await sender.log(id)).toMatchObject({ status: 'sent' });
  });
});
