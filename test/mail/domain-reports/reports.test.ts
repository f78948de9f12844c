/** What receivers reported of a domain: counted once, of our domains alone, and told by the API, the command line and doctor. */
import { beforeAll, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import {
  DOMAIN_REPORTS_DAYS,
  MAX_REPORTS_PER_DAY,
  MAX_SOURCES_PER_DAY,
} from '../../../src/mail/domain-reports/service.ts';
import { parseInbox } from '../../../src/mail/inboxes/service.ts';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { readAggregateReports } from '../../../src/platform/mail/aggregate-reports.ts';
import { dmarc, message, row } from '../../support/aggregate-samples.ts';
import { run } from '../../support/command.ts';
import { DOVECOT, startDovecot } from '../../support/dovecot.ts';
import { actor } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';
import { addDomain, rows, type Sender, startSender } from '../emails/setup.ts';

let sender: Sender;
let ours = '';
let n = 0;
beforeAll(async () => {
  sender = await startSender();
});

/** A domain of its own for each test. */
async function domain(): Promise<string> {
  n += 1;
  const name = `d${n}.example.com`;
  await addDomain(sender.app, name, null);
  ours =
    sender.app.services.sending_domains.findByName(sender.app.services.database.read, name)?.dkim_selector ??
    '';
  return name;
}

const dayAgo = (days: number): string => new Date(sender.app.clock.now() - days * DAY_MS).toISOString();

async function take(of: { rows: string[]; id?: string; org?: string; end?: string }) {
  const content = gzipSync(dmarc({ end: dayAgo(1), ...of }));
  const { reports } = await readAggregateReports(
    Buffer.from(message({ type: 'application/gzip', content }), 'latin1'),
  );
  const [report] = reports;
  if (!report) throw new Error('no report');
  const { database, domain_reports } = sender.app.services;
  return database.write((tx) => domain_reports.take(tx, report));
}

const get = (name: string, days?: number) => sender.app.services.domain_reports.get(name, days);

test('sources by whose they are; a report counts once, by organization and id, and of our domains alone', async () => {
  const [name, other] = [await domain(), await domain()];
  const selector = ours;
  const report = {
    rows: [
      row({ from: other, selector, count: 90 }),
      row({ from: other, selector, count: 10, dkim: 'fail', spf: 'fail', disposition: 'quarantine' }),
      row({
        from: other.toUpperCase(),
        ip: '2001:DB8::1',
        selector: 'mc',
        count: 40,
        dkim: 'fail',
        disposition: 'reject',
      }),
      row({ from: other, ip: '192.0.2.9', selector: 'k2', count: 5, spf: 'pass' }),
      row({ from: 'elsewhere.example', count: 1_000 }),
      row({ from: name, ip: 'no address', count: 1 }),
      row({ from: name, selector, count: 3 }),
    ],
  };
  expect(await take(report)).toEqual({ told: [{ is_new: true }, { is_new: true }] });
  expect(await take(report)).toEqual({ told: [{ is_new: false }, { is_new: false }] });
  const told = get(other);
  expect(told).toMatchObject({ organizations: ['google.com'], total: 145, aligned: 95, policy: 'none' });
  expect(told.sources).toMatchObject([
    {
      ip: '192.0.2.1',
      count: 100,
      dkim_aligned: 90,
      spf_aligned: 0,
      ours: true,
      header_from: other,
      disposition: { none: 90, quarantine: 10, reject: 0 },
    },
    { ip: '2001:db8::1', count: 40, dkim_aligned: 0, ours: false },
    { ip: '192.0.2.9', count: 5, dkim_aligned: 5, spf_aligned: 5, ours: false },
  ]);
  expect(told.sources.map(({ words }) => words)).toEqual([
    'This server, by its relays: 2 mails a week fail; what is wrong with the records: satchel domain verify.',
    'Somebody whose mail never passes: 9 mails a week fail; if it is a service of yours, add its DKIM or stop it, else receivers hold it back already.',
    'Another sender, which may use this name: all is well.',
  ]);
  expect(get(name)).toMatchObject({ total: 3 });
  expect(await take({ ...report, org: 'yahoo.com' })).toMatchObject({
    told: [{ is_new: true }, { is_new: true }],
  });
  expect(get(other, 7).organizations).toEqual(['google.com', 'yahoo.com']);
  const shell = await run(sender.app.data_dir, 'domain', 'reports', other, '--days', '7');
  expect(shell.stdout).toContain('190 of 290 mails passed DKIM or SPF in its name. Policy: none.');
  expect(shell.stdout).toContain('TLS of mail to it: 0 of 0 sessions failed.');
  expect((await run(sender.app.data_dir, 'domain', 'reports', other, '--days', '91')).exit).toBe(1);
  const doctor = await run(sender.app.data_dir, 'doctor');
  expect(doctor.stdout).toContain(`${other}: receivers report that 20 of 200 mails of the last week`);
});

test('who sends, by the other domains that pass, and what is to be done about it', async () => {
  const name = await domain();
  const fails = { from: name, dkim: 'fail' };
  const told = async (of: Parameters<typeof row>[0]) => {
    n += 1;
    const ip = `192.0.2.${n}`;
    await take({ rows: [row({ from: name, ip, selector: 'k2', ...of })], id: `sender ${n}` });
    return get(name, 7).sources.find((source) => source.ip === ip)?.words;
  };
  const stop =
    'if it is a service of yours, add its DKIM or stop it, else a policy of quarantine or reject holds it back.';
  expect(await told({ ...fails, signer: 'MCSV.net', count: 40 })).toBe(
    `Mailchimp: 40 mails a week fail; ${stop}`,
  );
  expect(await told({ ...fails, bounces_to: 'mail42.suw11.mcsv.net' })).toBe(
    `Mailchimp: 7 mails a week fail; ${stop}`,
  );
  expect(await told({ ...fails, signer: 'tenant.onmicrosoft.com' })).toStartWith('Microsoft 365: ');
  expect(await told({ ...fails, signer: 'notmcsv.net' })).toStartWith('The servers of notmcsv.net: ');
  expect(await told({ ...fails, bounces_to: `mail.${name}` })).toStartWith(
    'Somebody whose mail never passes: ',
  );
  expect(await told({ ...fails, bounces_to: 'example.com' })).toStartWith(
    'Somebody whose mail never passes: ',
  );
  expect(await told({ ...fails, signer: '&lt;b>.net' })).toStartWith('Somebody whose mail never passes: ');
  expect(await told({ bounces_to: 'bounces.sendgrid.net' })).toBe(
    'SendGrid, which may use this name: all is well.',
  );
  // What comes later adds a name, and takes none away.
  const ip = '192.0.2.250';
  const both = [
    row({ from: name, ip, selector: 'k2' }),
    row({ ...fails, ip }),
    row({ ...fails, ip, signer: 'amazonses.com' }),
  ];
  for (const [at, one] of [...both, both[0] ?? ''].entries()) await take({ rows: [one], id: `later ${at}` });
  expect(get(name, 7).sources.find((source) => source.ip === ip)?.words).toBe(
    'Amazon SES, which may use this name or passes mail on: 14 mails a week fail; have it sign with DKIM for this domain.',
  );
});

test('by the day on which it ends, for 90 days', async () => {
  const name = await domain();
  const rowsOf = [row({ from: name })];
  expect(await take({ rows: rowsOf, id: 'old', end: dayAgo(DOMAIN_REPORTS_DAYS + 2) })).toBeNull();
  expect(await take({ rows: rowsOf, id: 'ahead', end: dayAgo(-3) })).toBeNull();
  await take({ rows: rowsOf, id: 'a', end: dayAgo(40) });
  expect(get(name)).toMatchObject({ total: 0, organizations: [], policy: null, sources: [] });
  expect(get(name, 41)).toMatchObject({
    total: 7,
    from: dayAgo(40).slice(0, 10),
    to: dayAgo(0).slice(0, 10),
  });
  sender.app.clock.advance(60 * DAY_MS);
  await sender.app.services.domain_reports.sweep();
  for (const table of ['domain_reports', 'domain_sources'])
    expect(
      rows(
        sender.app,
        `SELECT 1 FROM ${table} WHERE domain_id = (SELECT id FROM sending_domains WHERE name = '${name}')`,
      ),
    ).toEqual([]);
});

test('so many reports a day, and so many sources, past which sums alone grow', async () => {
  const name = await domain();
  const many = (from: number) =>
    Array.from({ length: 900 }, (_, i) =>
      row({ from: name, ip: `10.${from}.${i >> 8}.${i & 255}`, count: 1 }),
    );
  for (const id of [1, 2, 3]) await take({ rows: many(id), id: String(id) });
  expect(get(name)).toMatchObject({ total: 2_700, aligned: 2_700 });
  expect(get(name).sources).toHaveLength(100);
  expect(rows(sender.app, `SELECT count(*) AS n FROM domain_sources WHERE ip LIKE '10.%'`)).toEqual([
    { n: MAX_SOURCES_PER_DAY },
  ]);
  for (let id = 4; id <= MAX_REPORTS_PER_DAY; id += 1)
    await take({ rows: [row({ from: name })], id: String(id) });
  expect(await take({ rows: [row({ from: name })], id: 'more' })).toBeNull();
  sender.app.clock.advance(DAY_MS);
  expect(await take({ rows: [row({ from: name })], id: 'more' })).toEqual({ told: [{ is_new: true }] });
});

test.skipIf(DOVECOT === null)(
  'one that arrives in an inbox is counted, flagged and stays unread; its address is in rua=',
  async () => {
    const name = await domain();
    const { mailboxes, sending_domains, inbox_readers } = sender.app.services;
    const dmarcOf = () =>
      sending_domains.show(name).records.find(({ purpose }) => purpose === 'dmarc')?.value;
    expect(dmarcOf()).toContain(`rua=mailto:postmaster@${name}`);
    const dovecot = await startDovecot();
    // More than other messages have read of them.
    const filler = Array.from({ length: 9_000 }, (_, i) =>
      row({
        from: name,
        ip: `10.${i >> 12}.${(i >> 6) & 63}.${i & 63}`,
        selector: `${Math.sin(i)}`,
        count: 1,
      }),
    );
    const big = message({
      type: 'application/gzip',
      content: gzipSync(dmarc({ rows: filler, end: dayAgo(1) }), { level: 1 }),
      beside: 'text/plain',
    });
    expect(big.length).toBeGreaterThan(256 * 1024);
    dovecot.deliver('rua', big);
    dovecot.deliver(
      'rua',
      message({
        type: 'application/gzip',
        content: gzipSync(dmarc({ rows: [row({ from: 'not-ours.example' })], end: dayAgo(1) })),
      }),
    );
    await mailboxes.change(actor, `hello@${name}`, {
      inbox: parseInbox(`imap://${dovecot.log_in('rua')}@127.0.0.1:${dovecot.port}`),
    });
    expect(dmarcOf()).toContain(`rua=mailto:hello@${name}`);
    inbox_readers.start();
    await until(() => rows(sender.app, 'SELECT 1 FROM inboxes WHERE last_uid = 2').length > 0);
    await until(async () => (await dovecot.flagsOf('rua')).get(1)?.includes('$Satchel') ?? false);
    expect([...(await dovecot.flagsOf('rua')).values()]).toEqual([['$Satchel'], []]);
    expect(get(name).total).toBe(9_000);
    await inbox_readers.stop();
    await dovecot.stop();
  },
);

test.skipIf(DOVECOT === null)(
  "those of unusual forms are looked into, people's mail is not, and one that cannot be read is told for a week",
  async () => {
    const name = await domain();
    const { mailboxes, inbox_readers, arrivals } = sender.app.services;
    const dovecot = await startDovecot();
    const read: string[] = [];
    const original = arrivals.read.bind(arrivals);
    arrivals.read = (mailbox_id, bytes) => {
      read.push(/^Subject: (.*)\r$/m.exec(Buffer.from(bytes).toString('latin1'))?.[1] ?? '');
      return original(mailbox_id, bytes);
    };
    const content = gzipSync(dmarc({ rows: [row({ from: name })], end: dayAgo(1) }));
    const part = `Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n${content.toString('base64')}\n`;
    const people = [
      'Subject: plain\nContent-Type: text/plain\n\nHello\n',
      'Subject: both\nContent-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nHello\n--x\nContent-Type: text/html\n\n<b>Hello\n--x--\n',
      'Subject: pictures\nContent-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\nHello\n--x\nContent-Type: image/png; name=a.png\n\nx\n--x--\n',
    ];
    const reports = [
      `From: a@b.example\nSubject: nothing\n${part}`,
      `From: a@b.example\nSubject: within\nContent-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain\n\nSee\n--x\n${part.replace(content.toString('base64'), gzipSync(dmarc({ rows: [row({ from: name })], id: '2', end: dayAgo(1) })).toString('base64'))}\n--x--\n`,
    ];
    const broken = `From: a@b.example\nSubject: Report Domain: ${name} Submitter: b.example Report-ID: 3\n${part.slice(0, 200)}\n`;
    for (const each of [...people, ...reports, broken]) dovecot.deliver('odd', each);
    await mailboxes.change(actor, `hello@${name}`, {
      inbox: parseInbox(`imap://${dovecot.log_in('odd')}@127.0.0.1:${dovecot.port}`),
    });
    inbox_readers.start();
    const count = people.length + reports.length + 1;
    await until(() => rows(sender.app, `SELECT 1 FROM inboxes WHERE last_uid = ${count}`).length > 0);
    expect(read).toEqual(['nothing', 'within', `Report Domain: ${name} Submitter: b.example Report-ID: 3`]);
    expect(get(name).total).toBe(14);
    const inbox = mailboxes.list().find(({ address }) => address === `hello@${name}`)?.inbox;
    expect(inbox).toMatchObject({
      ...{ reports: 2, unread: 1, skipped: 0 },
      last_unread: [{ at: dayAgo(0), subject: read[2], reason: 'broken' }],
    });
    const flags = [...(await dovecot.flagsOf('odd')).values()].map((one) => one.includes('$Satchel'));
    expect(flags).toEqual([...people.map(() => false), true, true, false]);
    const told = async () => (await run(sender.app.data_dir, 'doctor')).stdout;
    const { stdout } = await run(sender.app.data_dir, 'mailbox', 'list', '--json');
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ inbox: expect.objectContaining({ unread: 1 }) }),
    );
    expect(await told()).toContain(
      `1 report of DMARC or TLS in the inbox of hello@${name} could not be read`,
    );
    await inbox_readers.stop();
    arrivals.read = original;
    await dovecot.stop();
    const old = JSON.stringify([{ at: Date.now() - 8 * DAY_MS, subject: 'x', reason: 'broken' }]);
    await sender.app.services.database.write((tx) =>
      tx.$client.run('UPDATE inboxes SET last_unread = ?', [old]),
    );
    expect(await told()).not.toContain('of DMARC or TLS in the inbox');
  },
);
