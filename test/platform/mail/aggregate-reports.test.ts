/** Reports about domains, made by hand in the forms of large receivers; and hostile ones, which come to nothing. */
import { afterAll, expect, test } from 'bun:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import {
  MAX_SOURCES_PER_REPORT,
  mayBeAggregate,
  readAggregateReport,
} from '../../../src/platform/mail/aggregate-reports.ts';
import { createReportReader, UnreadableReport } from '../../../src/platform/mail/report-reader.ts';
import { dmarc, message, row, zip } from '../../support/aggregate-samples.ts';
import { longestTurnMs } from '../../support/event-loop.ts';

const read = (text: string) => readAggregateReport(Buffer.from(text, 'latin1'));
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
  expect(mayBeAggregate(text.split('\r\n\r\n')[0] ?? '')).toBe(true);
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

const gz = (content: string | Buffer) => message({ type: 'application/gzip', content: gzipSync(content) });
const HOSTILE: Record<string, string> = {
  'a bomb by gzip': gz(Buffer.alloc(64 * 1024 * 1024, 32)),
  'a bomb in a zip': message({ type: 'application/zip', content: zip([' '.repeat(64 * 1024 * 1024)]) }),
  'a DOCTYPE': gz(dmarc().replace('<feedback>', '<!DOCTYPE feedback [<!ENTITY a "b">]><feedback>')),
  'an entity': gz(dmarc().replace('google.com', '&a;')),
  'two texts in two members of gzip': message({
    type: 'application/gzip',
    content: Buffer.concat([gzipSync(dmarc()), gzipSync(dmarc())]),
  }),
  'junk behind gzip': message({
    type: 'application/gzip',
    content: Buffer.concat([gzipSync(dmarc()), Buffer.from('junk')]),
  }),
  'a zip of two files': message({ type: 'application/zip', content: zip([dmarc(), dmarc()]) }),
  'half a zip': message({ type: 'application/zip', content: zip([dmarc()]).subarray(0, 200) }),
  'no UTF-8': gz(Buffer.from(dmarc().replace('google.com', 'g\xf6ogle'), 'latin1')),
  'another encoding': gz(dmarc().replace('UTF-8', 'UTF-16')),
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
};
const reader = createReportReader();
afterAll(() => reader.stop());
test.each(Object.entries(HOSTILE))('nothing comes of %s, and nobody waits for it', async (_, text) => {
  let outcome: unknown;
  const bytes = Buffer.from(text, 'latin1');
  const turn_ms = await longestTurnMs(async () => {
    outcome = await reader.readAggregate(bytes).catch((error: unknown) => error);
  });
  expect(turn_ms).toBeLessThan(100);
  if (outcome instanceof UnreadableReport) return;
  expect((outcome as { sources: unknown[] } | null)?.sources ?? []).toEqual([]);
});

test('a zip is packed as it should be', () => {
  expect(zip(['a']).includes(deflateRawSync('a'))).toBe(true);
});
