/** Which certificate is served, when one is ordered, and how long a failed order waits. The real authority is in e2e/tls.test.ts. */
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { certificateChecks } from '../../../src/operation/certificates/checks.ts';
import { Certificates, waitToLook } from '../../../src/operation/certificates/service.ts';
import type { TlsIdentity } from '../../../src/platform/http/listener.ts';
import type { Lookup } from '../../../src/platform/mail/dns.ts';
import { captureLog } from '../../support/captured-log.ts';
import { parseObject } from '../../support/helpers.ts';
import { DUE } from '../../support/pebble.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const NAMES = ['satchel.example.com', 'www.satchel.example.com'];
/** Nobody is there. */
const AWAY = 'https://127.0.0.1:1/dir';
const MINUTE_MS = 60_000;
const kept = { ...DUE, acme_directory: AWAY, names: NAMES };

interface Given {
  at?: string;
  files?: Record<string, unknown>;
  names?: readonly string[];
  dir?: string;
}

function makeCertificates({
  at = '2030-01-15T12:00:00Z',
  files = {},
  names = NAMES,
  dir = makeTempDir(),
}: Given) {
  mkdirSync(join(dir, 'tls'), { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(dir, 'tls', name), typeof content === 'string' ? content : JSON.stringify(content));
  const clock = new TestClock(at);
  const log = captureLog(clock);
  const config = loadConfig({
    SATCHEL_DATA_DIR: dir,
    SATCHEL_TLS: names.join(),
    SATCHEL_ACME_DIRECTORY: AWAY,
  });
  if (!config.tls) throw new Error('no TLS');
  const served: TlsIdentity[] = [];
  const certificates = new Certificates({
    config,
    tls: config.tls,
    clock,
    logger: log.logger,
    serve: (identity) => served.push(identity),
  });
  const path = join(dir, 'tls/failed-order.json');
  return {
    dir,
    config,
    clock,
    log,
    certificates,
    served,
    failed: () => (existsSync(path) ? parseObject(readFileSync(path, 'utf8')) : null),
    /** How many orders were begun so far. */
    orders: () => log.linesWith('certificate ordered').length,
  };
}

/** Starts one, and waits until its first look is over. */
async function start(given: Given) {
  const made = makeCertificates(given);
  made.certificates.start();
  await until(() => made.orders() === made.log.linesWith('no certificate was given').length);
  return made;
}

test('a failed order waits a minute, twice as long each time up to a day, also over restarts', async () => {
  const first = await start({});
  for (const minutes of [1, 2, 4]) {
    const { at_ms, next_ms } = first.failed() ?? {};
    expect(Number(next_ms) - Number(at_ms)).toBe(minutes * MINUTE_MS);
    first.clock.advance(minutes * MINUTE_MS - 1);
    await first.certificates.look();
    expect(first.failed()?.next_ms).toEqual(next_ms);
    first.clock.advance(1);
    await first.certificates.look();
  }
  expect([first.orders(), first.failed()?.failures]).toEqual([4, 4]);
  expect(String(first.failed()?.reason)).toContain('ECONNREFUSED');
  first.certificates.stop();

  const at = first.clock.at_ms;
  const again = await start({ dir: first.dir, at: new Date(at).toISOString() });
  expect(again.orders()).toBe(0);
  expect(again.certificates.explainWaiting()).toContain('ECONNREFUSED');
  again.certificates.stop();

  const failures = { acme_directory: AWAY, names: NAMES, failures: 12, at_ms: 1, next_ms: 2, reason: 'r' };
  const late = await start({ files: { 'failed-order.json': failures } });
  expect(Number(late.failed()?.next_ms) - late.clock.at_ms).toBe(86_400_000);
  late.certificates.stop();
});

test('other names wait for nothing, nor does one that a wrong clock has put off for longer than any waits', async () => {
  const now = Date.parse('2030-01-15T12:00:00Z');
  const failed = {
    acme_directory: AWAY,
    names: NAMES,
    failures: 3,
    at_ms: now,
    next_ms: now + MINUTE_MS,
    reason: 'r',
  };
  const other = await start({ files: { 'failed-order.json': failed }, names: ['other.example.com'] });
  expect([other.orders(), other.failed()?.failures]).toEqual([1, 1]);
  other.certificates.stop();
  const far = { ...failed, next_ms: now + 10 * 86_400_000 };
  const wrong = await start({ files: { 'failed-order.json': far } });
  expect([wrong.orders(), wrong.failed()?.failures]).toEqual([1, 4]);
  wrong.certificates.stop();
});

// Of its 90 years, 30 are left from the last day of 2019 on.
test('a kept certificate is served at once, and ordered anew from a third of its life on', async () => {
  const early = await start({ at: '2019-12-31T11:00:00Z', files: { 'certificate.json': kept } });
  expect([early.served.length, early.orders(), early.certificates.explainWaiting()]).toEqual([1, 0, null]);
  early.clock.advance(2 * 86_400_000);
  await early.certificates.look();
  expect([early.served.length, early.orders()]).toEqual([1, 1]);
  early.certificates.stop();
});

test.each([
  ['has ended', { at: '2050-01-15T12:00:00Z', files: { 'certificate.json': kept } }],
  ['is for other names', { files: { 'certificate.json': kept }, names: ['other.example.com'] }],
  [
    'is of another key',
    { files: { 'certificate.json': { ...kept, private_key: SERVER_CERTIFICATES.localhost.key } } },
  ],
  [
    'is not for what it was ordered for',
    {
      files: {
        'certificate.json': {
          ...kept,
          private_key: SERVER_CERTIFICATES.localhost.key,
          chain: SERVER_CERTIFICATES.localhost.cert,
        },
      },
    },
  ],
  ['is damaged', { files: { 'certificate.json': '{"chain":' } }],
  ['is not there', {}],
])('one that %s is not served, and another ordered', async (_, given: Given) => {
  const { served, orders, certificates } = await start(given);
  expect([served, orders()]).toEqual([[], 1]);
  expect(certificates.explainWaiting()).toContain('failed');
  certificates.stop();
});

test('one of another authority, or for some of the names, does until there is a new one', async () => {
  for (const given of [
    { files: { 'certificate.json': { ...kept, acme_directory: 'https://other.test/dir' } } },
    { files: { 'certificate.json': kept }, names: [...NAMES, 'new.example.com'] },
  ]) {
    const { served, orders, certificates } = await start({ at: '2000-01-01T00:00:00Z', ...given });
    expect([served.length, orders()]).toEqual([1, 1]);
    certificates.stop();
  }
});

test.each([
  ['each hour', { from_ms: 0, to_ms: 90 * 86_400_000 }, null, 60 * MINUTE_MS],
  ['each tenth of a shorter life', { from_ms: 0, to_ms: 5 * 60 * MINUTE_MS }, null, 30 * MINUTE_MS],
  ['each hour without one', null, null, 60 * MINUTE_MS],
  ['when an order may be tried again', null, { next_ms: 1_000_000 + MINUTE_MS }, MINUTE_MS],
  ['each hour while an order waits for longer', null, { next_ms: 86_400_000 }, 60 * MINUTE_MS],
  ['after a second at the earliest', null, { next_ms: 1_000_000 }, 1_000],
])('it is looked at %s', (_, certificate, failed_order, wait_ms) => {
  expect(waitToLook(certificate, failed_order, 1_000_000)).toBe(wait_ms);
});

test('stopped, it orders nothing any more', async () => {
  const { certificates, orders, clock } = await start({});
  certificates.stop();
  clock.advance(MINUTE_MS);
  await certificates.look();
  expect(orders()).toBe(1);
});

test('doctor goes by what is kept where only serve was told of TLS, and asks nothing where nobody was', async () => {
  const lookupAddresses = async (): Promise<Lookup<string>> => ({ status: 'absent' });
  const look = async (dir: string) => {
    const config = loadConfig({ SATCHEL_DATA_DIR: dir });
    const checks = certificateChecks({
      config,
      clock: new TestClock('2000-01-01'),
      resolver: { lookupAddresses },
    });
    return (await Promise.all(checks.map((check) => check.run()))).flat().map(({ message }) => message);
  };
  const { dir } = makeCertificates({ files: { 'certificate.json': kept } });
  expect((await look(dir)).slice(1)).toEqual(
    NAMES.map((name) => expect.stringContaining(`${name} has no address`)),
  );
  expect(await look(makeTempDir())).toEqual([]);
});

test('doctor tells of an end that is near or past, of failed orders and of names that lead nowhere', async () => {
  const look = async (given: Given, found: Lookup<string> = { status: 'found', records: ['192.0.2.1'] }) => {
    const { config, clock } = makeCertificates(given);
    const checks = certificateChecks({ config, clock, resolver: { lookupAddresses: async () => found } });
    const findings = await Promise.all(checks.map((check) => check.run()));
    return findings.flat().map(({ status, message }) => `${status}: ${message}`);
  };
  const files = { 'certificate.json': kept };
  const failed = { acme_directory: AWAY, names: NAMES, failures: 2, at_ms: 1, next_ms: 2, reason: 'refused' };
  const [first = ''] = await look({ at: '2000-01-01T00:00:00Z', files });
  expect(first).toStartWith(
    'ok: The certificate for satchel.example.com, www.satchel.example.com is good until 2049',
  );
  expect((await look({ files }))[0]).toStartWith('warning: The certificate for');
  expect((await look({ at: '2050-01-01T00:00:00Z', files }))[0]).toContain('problem: The certificate');
  const failing = { ...files, 'failed-order.json': failed };
  expect((await look({ at: '2000-01-01T00:00:00Z', files: failing }))[1]).toMatch(
    /^warning: The order of .* failed, as 1 before it: refused The next is at/,
  );
  // It was to be renewed a day ago: the next order does not mend it by itself any more.
  expect((await look({ files: failing }))[1]).toStartWith('problem: The order of');
  expect((await look({ files: { 'failed-order.json': failed } }))[0]).toStartWith('problem: The order of');
  expect((await look({ files: { 'certificate.json': '{' } }))[0]).toContain('certificate.json is damaged');
  expect((await look({}, { status: 'absent' })).at(-1)).toStartWith(
    'problem: www.satchel.example.com has no address',
  );
  expect((await look({}, { status: 'unknown', reason: 'timeout' })).at(-1)).toStartWith('warning: Whether');
});
