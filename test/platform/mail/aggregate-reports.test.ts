/** Reports about domains, made by hand in the forms of large receivers; and hostile ones, which come to nothing. */
import { afterAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import {
  MAX_AGGREGATE_MESSAGE_BYTES,
  mayBeAggregate,
  readAggregateReports,
  textOf,
} from '../../../src/platform/mail/aggregate-reports.ts';
import { MAX_SOURCES_PER_REPORT } from '../../../src/platform/mail/dmarc-report.ts';
import { createReportReader, UnreadableReport } from '../../../src/platform/mail/report-reader.ts';
import { dmarc, message, row, zip } from '../../support/aggregate-samples.ts';
import { longestTurnMs } from '../../support/event-loop.ts';

const readAll = (text: string) => readAggregateReports(Buffer.from(text, 'latin1'));
const read = async (text: string) => (await readAll(text)).reports[0] ?? null;
const END = Date.parse('2026-11-26T23:59:59Z');

test.each([
  ['Google: a zip alone', message({ type: 'application/zip', content: zip([dmarc()]) })],
  [
    'Microsoft: gzip beside a text',
    message({ type: 'application/gzip', content: gzipSync(dmarc()), beside: 'text/html' }),
  ],
  ['Yahoo: gzip', message({ type: 'application/x-gzip', content: gzipSync(dmarc()), beside: 'text/plain' })],
  [
    'mail.ru: a zip of an unknown type',
    message({
      type: 'application/octet-stream',
      content: zip([dmarc()], { is_stored: true }),
      beside: 'text/plain',
    }),
  ],
  ['XML as it is', message({ type: 'text/xml', content: Buffer.from(dmarc()) })],
  [
    'two members of gzip that are one text',
    message({
      type: 'application/gzip',
      content: Buffer.concat([gzipSync(dmarc().slice(0, 300)), gzipSync(dmarc().slice(300))]),
    }),
  ],
])('in the form of %s', async (_, text) => {
  expect(mayBeAggregate(text.split('\r\n\r\n')[0] ?? '', '', text.length)).toBe(true);
  expect(await read(text)).toEqual({
    kind: 'dmarc',
    organization: 'google.com',
    report_id: '1234',
    ends_at: END,
    policy: { domain: 'shop.example.com', p: 'none' },
    tls: [],
    sources: [
      {
        ...{
          header_from: 'shop.example.com',
          ip: '192.0.2.1',
          count: 7,
          dkim_aligned: 7,
          spf_aligned: 0,
          aligned: 7,
        },
        ...{
          none: 7,
          quarantine: 0,
          reject: 0,
          signers: [{ domain: 'shop.example.com', selector: 'satchel', count: 7 }],
          sender: '',
        },
      },
    ],
  });
});

test('a report of TLS', async () => {
  const report = {
    'organization-name': 'Google Inc.',
    'date-range': { 'start-datetime': '2026-11-26T00:00:00Z', 'end-datetime': '2026-11-26T23:59:59Z' },
    'report-id': 'a@google.com',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': 'Shop.example.com' },
        summary: { 'total-successful-session-count': 90, 'total-failure-session-count': 10 },
        'failure-details': [
          { 'result-type': 'certificate-expired', 'failed-session-count': 6 },
          { 'result-type': 'made up', 'failed-session-count': 1 },
        ],
      },
    ],
  };
  const domain = 'shop.example.com';
  const content = gzipSync(JSON.stringify(report));
  expect(await read(message({ type: 'application/tlsrpt+gzip', content, beside: 'text/plain' }))).toEqual({
    ...{
      kind: 'tls',
      organization: 'Google Inc.',
      report_id: 'a@google.com',
      ends_at: END,
      sources: [],
      policy: null,
    },
    tls: [
      { domain, reason: 'success', sessions: 90 },
      { domain, reason: 'certificate-expired', sessions: 6 },
      { domain, reason: 'other', sessions: 1 },
      { domain, reason: 'other', sessions: 3 },
    ],
  });
});

test('10,000 rows, of which a thousand sources are told apart, and no row more', async () => {
  const rows = (n: number): string[] =>
    Array.from({ length: n }, (_, i) => row({ ip: `10.0.${i >> 8}.${i & 255}`, count: i < 5 ? 9 : 1 }));
  const content = (n: number): Buffer => gzipSync(dmarc({ rows: rows(n) }));
  const report = await read(message({ type: 'application/gzip', content: content(10_000) }));
  expect(report?.sources).toHaveLength(MAX_SOURCES_PER_REPORT + 1);
  expect(report?.sources.reduce((sum, { count }) => sum + count, 0)).toBe(10_040);
  expect(report?.sources.at(-1)).toMatchObject({ ip: '', count: 9_000 });
  expect(await read(message({ type: 'application/gzip', content: content(10_001) }))).toBeNull();
});

/* --- As receivers pack them ----------------------------------------------------------------------------------------- */

const SAMPLES = join(import.meta.dir, '../../support/domain-reports');
const sample = (name: string): Buffer => readFileSync(join(SAMPLES, name));

test.each(readdirSync(SAMPLES).filter((name) => name !== 'doctype.eml'))(
  '%s is looked into, and read',
  async (name) => {
    const message = sample(name);
    const [head = ''] = message.toString('latin1').split('\n\n');
    expect(mayBeAggregate(head, textOf(message), message.length)).toBe(true);
    const { reports, unread } = await readAggregateReports(message);
    expect(unread).toBeNull();
    const domain = `${name.replace('.eml', '')}.example`;
    expect(reports.map(({ organization }) => organization)).toHaveLength(
      name === 'two.eml' || name === 'zip2.eml' ? 2 : 1,
    );
    expect(reports[0]).toMatchObject({
      organization: domain,
      sources: [{ header_from: 'shop.example', ip: '192.0.2.55', count: 3 }],
    });
  },
);

test('a DOCTYPE is refused, and told', async () => {
  expect(await readAggregateReports(sample('doctype.eml'))).toEqual({
    reports: [],
    unread: {
      subject: 'Report Domain: shop.example Submitter: doctype.example Report-ID: <id-doctype.example>',
      reason: 'doctype',
    },
  });
});

const gz = (content: string | Buffer) => message({ type: 'application/gzip', content: gzipSync(content) });
const inZip = (files: readonly (string | Buffer)[]) =>
  message({ type: 'application/zip', content: zip(files) });

test.each<[string, string, number]>([
  ['gzip in a zip', inZip([gzipSync(dmarc())]), 1],
  ['a zip by gzip', gz(zip([dmarc(), dmarc({ id: '2' })])), 2],
  ['a zip with what is no report beside it', inZip([dmarc(), 'words', '<html></html>', '{"a":1}']), 1],
  ['UTF-16 with a mark', gz(Buffer.from(`\ufeff${dmarc()}`, 'utf16le')), 1],
  ['UTF-16 without one', gz(Buffer.from(dmarc(), 'utf16le')), 1],
  ['UTF-16 the other way round', gz(Buffer.from(`\ufeff${dmarc()}`, 'utf16le').swap16()), 1],
  ['another encoding than it says', gz(dmarc().replace('UTF-8', 'UTF-16')), 1],
  [
    'letters as Windows writes them',
    gz(Buffer.from(dmarc().replace('google.com', 'g\xf6ogle'), 'latin1')),
    1,
  ],
  ['blanks before it', gz(`\n  ${dmarc()}`), 1],
  ['no declaration', gz(dmarc().replace(/^<\?xml.*\n/, '')), 1],
  [
    'elements that nobody knows',
    gz(dmarc().replace('<report_metadata>', '<version>1</version><x a="b"><y>z</y></x><report_metadata>')),
    1,
  ],
  ['a text as it is', `Subject: x\r\nContent-Type: text/plain\r\n\r\n${dmarc()}`, 1],
  [
    'two members of gzip, and junk',
    message({
      type: 'application/gzip',
      content: Buffer.concat([
        gzipSync(dmarc().slice(0, 300)),
        gzipSync(dmarc().slice(300)),
        Buffer.from('\r\n--x--'),
      ]),
    }),
    1,
  ],
  ['one of two broken', inZip([gzipSync(dmarc()), gzipSync(dmarc({ id: '2' })).subarray(0, 100)]), 1],
])('in the form of %s', async (_, text, count) => {
  const { reports, unread } = await readAll(text);
  expect([reports.length, unread]).toEqual([count, null]);
  expect(reports[0]?.sources).toMatchObject([{ count: 7 }]);
});

test("an empty name is that of whom it is from, and a part's name is decoded", async () => {
  expect(await read(gz(dmarc({ org: '' })))).toMatchObject({ organization: 'google.com' });
  expect(
    (await read(gz(Buffer.from(dmarc().replace('google.com', 'caf\xe9'), 'latin1'))))?.organization,
  ).toBe('café');
});

test('what could not be read is told with its reason, where the message says that it is such a report', async () => {
  const report = dmarc();
  const encrypted = zip([report]);
  for (const at of [6, encrypted.lastIndexOf('PK\x01\x02', encrypted.length, 'latin1') + 8])
    encrypted[at] = 1;
  const reasons = async (text: string) => (await readAll(text)).unread?.reason ?? null;
  const sent = (content: Buffer) => message({ type: 'application/zip', content });
  expect(await reasons(sent(encrypted))).toBe('encrypted');
  expect(await reasons(sent(zip([report]).subarray(0, 200)))).toBe('broken');
  expect(
    await reasons(message({ type: 'application/gzip', content: gzipSync(report).subarray(0, 200) })),
  ).toBe('broken');
  expect(await reasons(gz(gzipSync(gzipSync(report))))).toBe('broken');
  expect(await reasons(inZip([report.replace('<feedback>', '<!DOCTYPE a><feedback>'), 'junk']))).toBe(
    'doctype',
  );
  expect(await reasons(gz('nothing'))).toBe('broken');
  expect(await reasons(gz(Buffer.alloc(20 * 1024 * 1024, 32)))).toBe('too_large');
  // A person's mail about reports, and a report that is passed on in words, are none.
  for (const subject of ['Our DMARC reports', 'Re: Report Domain: a.example Submitter: b Report-ID: 1'])
    expect(await reasons(`Subject: ${subject}\r\nContent-Type: text/plain\r\n\r\nHello`)).toBeNull();
  expect(await reasons('Subject: x\r\nTLS-Report-Domain: a.example\r\n\r\nHello')).toBe('broken');
  const by_name =
    'Subject: x\r\nContent-Type: application/octet-stream; name="a!b.example!1!2.xml.gz"\r\n\r\nHello';
  expect(await reasons(by_name)).toBe('broken');
  const long = `Subject: Report Domain: ${'x'.repeat(300)} Submitter: b\r\n\r\nHello`;
  expect((await readAll(long)).unread?.subject).toHaveLength(200);
});

test('past a bound of the whole message nothing of it counts', async () => {
  const rows = (n: number) =>
    Array.from({ length: n }, (_, i) => row({ ip: `10.0.${i >> 8}.${i & 255}`, count: 1 }));
  const outcome = async (text: string) => {
    const { reports, unread } = await readAll(text);
    return [reports.length, unread?.reason ?? null];
  };
  const many = (n: number) => Array.from({ length: n }, (_, id) => dmarc({ id: String(id) }));
  expect(await outcome(inZip(many(50)))).toEqual([50, null]);
  expect(await outcome(inZip(many(51)))).toEqual([0, 'too_large']);
  expect(await outcome(inZip([dmarc({ rows: rows(5_000) }), dmarc({ rows: rows(5_000), id: '2' })]))).toEqual(
    [2, null],
  );
  expect(await outcome(inZip([dmarc({ rows: rows(5_000) }), dmarc({ rows: rows(5_001), id: '2' })]))).toEqual(
    [0, 'too_large'],
  );
  const blank = Buffer.alloc(4 * 1024 * 1024, 32);
  expect(await outcome(inZip([dmarc(), blank, blank]))).toEqual([1, null]);
  expect(await outcome(inZip([dmarc(), blank, blank, blank]))).toEqual([0, 'too_large']);
  const bytes = (n: number) => {
    const text = gz(dmarc());
    return `${text}${'\n'.repeat(n - text.length)}`;
  };
  expect(await outcome(bytes(MAX_AGGREGATE_MESSAGE_BYTES))).toEqual([1, null]);
  expect(await outcome(bytes(MAX_AGGREGATE_MESSAGE_BYTES + 1))).toEqual([0, 'too_large']);
});

test("people's mail is not looked into", () => {
  const may = (subject: string, parts: string, size = 1_000) =>
    mayBeAggregate(`Subject: ${subject}\r\n`, parts, size);
  expect(may('Hello', 'Content-Type: text/plain')).toBe(false);
  expect(may('Hello', 'Content-Type: multipart/mixed\nContent-Type: application/pdf; name="a.pdf"')).toBe(
    false,
  );
  expect(may('Hello', 'Content-Type: image/png; name="zip.png"')).toBe(false);
  expect(may('Hello', 'Content-Type:\n application/octet-stream; name=a.bin')).toBe(true);
  expect(may('Hello', 'ContentType: application/gzip')).toBe(true);
  expect(may('Hello', "Content-Disposition: attachment; filename*0=report; filename*1*=utf-8''.xml.gz")).toBe(
    true,
  );
  expect(may('Hello', 'Content-Type: message/rfc822')).toBe(true);
  // Far more than is read, unless it says what it is.
  const large = ['Content-Type: application/octet-stream', 30_000_000] as const;
  expect(may('Hello', ...large)).toBe(false);
  expect(may('Report Domain: a.example Submitter: b.example Report-ID: 1', ...large)).toBe(true);
  expect(may('=?UTF-8?Q?Report_Domain=3A_a_Submitter=3A_b?=', ...large)).toBe(true);
});

const HOSTILE: Record<string, string> = {
  'a bomb by gzip': gz(Buffer.alloc(64 * 1024 * 1024, 32)),
  'a bomb in a zip': message({ type: 'application/zip', content: zip([' '.repeat(64 * 1024 * 1024)]) }),
  'a bomb within a bomb': gz(gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))),
  'a DOCTYPE': gz(dmarc().replace('<feedback>', '<!DOCTYPE feedback [<!ENTITY a "b">]><feedback>')),
  'an entity': gz(dmarc().replace('google.com', '&a;')),
  'two texts in two members of gzip': message({
    type: 'application/gzip',
    content: Buffer.concat([gzipSync(dmarc()), gzipSync(dmarc())]),
  }),
  'half a zip': message({ type: 'application/zip', content: zip([dmarc()]).subarray(0, 200) }),
  'a zip that names itself as its only file, ever again': message({
    type: 'application/zip',
    content: selfish(),
  }),
  'schema tags without end': gz(`<feedback>${'<xs:schema '.repeat(900_000)}`),
  'ampersands without end': gz(`<feedback>${'&a'.repeat(5_000_000)}`),
  'elements ever deeper': gz(`<feedback>${'<a>'.repeat(100_000)}`),
  'two million elements': gz(`<feedback>${'<a/>'.repeat(2_000_000)}</feedback>`),
  'a text without end': gz(dmarc().replace('google.com', 'x'.repeat(9_000_000))),
  'attributes without end': gz(
    `<feedback ${Array.from({ length: 400_000 }, (_, i) => `a${i}="b"`).join(' ')}/>`,
  ),
  'no report': gz('<html></html>'),
  'JSON ever deeper': gz(`{"a":${'['.repeat(5_000_000)}`),
  'a negative count': gz(dmarc({ rows: [row({ count: -5 })] })),
  nothing: message({ type: 'application/zip', content: Buffer.alloc(0) }),
  'a subject of prefixes': `Subject: ${'re: '.repeat(15_000)}\r\nContent-Type: application/zip\r\n\r\nx`,
};

/** Thousands of entries that are all the same file. */
function selfish(): Buffer {
  const one = zip(['x'.repeat(1_000)]);
  const at = one.lastIndexOf('PK\x01\x02', one.length, 'latin1');
  const end = one.lastIndexOf('PK\x05\x06', one.length, 'latin1');
  const entry = one.subarray(at, end);
  const last = Buffer.from(one.subarray(end));
  last.writeUInt16LE(10_000, 8);
  last.writeUInt16LE(10_000, 10);
  return Buffer.concat([one.subarray(0, at), ...Array.from({ length: 10_000 }, () => entry), last]);
}

const reader = createReportReader();
afterAll(() => reader.stop());
test.each(Object.entries(HOSTILE))('nothing comes of %s, and nobody waits for it', async (_, text) => {
  let outcome: unknown;
  const bytes = Buffer.from(text, 'latin1');
  const turn_ms = await longestTurnMs(async () => {
    outcome = await reader.readAggregates(bytes).catch((error: unknown) => error);
  });
  expect(turn_ms).toBeLessThan(100);
  if (outcome instanceof UnreadableReport) return;
  const { reports } = outcome as Awaited<ReturnType<typeof readAll>>;
  expect(reports.flatMap(({ sources }) => sources)).toEqual([]);
});

test('a zip is packed as it should be', () => {
  expect(zip(['a']).includes(deflateRawSync('a'))).toBe(true);
});
