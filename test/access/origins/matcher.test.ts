/** Origins as tables: their canonical forms, which request a key accepts and why, and the check of candidates. */
import { describe, expect, test } from 'bun:test';
import {
  canonicalizeFingerprint,
  canonicalizeOrigin,
  checkCandidate,
  type KeyOrigins,
  matchRequest,
  type OriginRule,
  type OriginType,
  type RequestOrigin,
} from '../../../src/access/origins/matcher.ts';

const SHA256 = 'AB'.repeat(32);
const OTHER_SHA256 = 'CD'.repeat(32);
const SHA1 = '12'.repeat(20);
const EXTENSION_ID = 'abcdefghijklmnopabcdefghijklmnop';

function withColons(hex: string): string {
  return hex.match(/../g)?.join(':') ?? '';
}

function rule(id: number, type: OriginType, value: string, more: Partial<OriginRule> = {}): OriginRule {
  return { id, type, value, sha256_fingerprints: [], sha1_fingerprints: [], ...more };
}

function domainRules(...values: string[]): OriginRule[] {
  return values.map((value, index) => rule(index + 1, 'domain', value));
}

function request(parts: Partial<RequestOrigin>): RequestOrigin {
  return { origin: null, app_id: null, android_package: null, cert: null, ...parts };
}

function restricted(parts: Partial<KeyOrigins>): KeyOrigins {
  return { restricted: true, allow_no_origin: false, own: [], global: [], ...parts };
}

describe('a domain value is stored in one form', () => {
  test.each([
    ['app.example.com', 'https://app.example.com'],
    ['APP.Example.COM', 'https://app.example.com'],
    ['app.example.com/', 'https://app.example.com'],
    ['app.example.com:8443', 'https://app.example.com:8443'],
    ['app.example.com:443', 'https://app.example.com'],
    ['https://app.example.com', 'https://app.example.com'],
    ['https://app.example.com/', 'https://app.example.com'],
    ['https://app.example.com:443/', 'https://app.example.com'],
    ['https://app.example.com:8443', 'https://app.example.com:8443'],
    ['https://app.example.com:80', 'https://app.example.com:80'],
    ['HTTPS://app.example.com', 'https://app.example.com'],
    ['https://Bücher.example', 'https://xn--bcher-kva.example'],
    ['bücher.example', 'https://xn--bcher-kva.example'],
    ['https://xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
    ['https://ｅxample.com', 'https://example.com'],
    ['https://my_app.example.com', 'https://my_app.example.com'],
    ['https://intranet', 'https://intranet'],
    ['https://203.0.113.9:8443', 'https://203.0.113.9:8443'],
    ['https://[2001:DB8:0:0::1]', 'https://[2001:db8::1]'],
    ['localhost', 'https://localhost'],
    ['http://localhost', 'http://localhost'],
    ['http://localhost:80', 'http://localhost'],
    ['http://localhost:3000/', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['http://10.1.2.3', 'http://10.1.2.3'],
    ['http://172.16.0.1', 'http://172.16.0.1'],
    ['http://192.168.1.20:8080', 'http://192.168.1.20:8080'],
    ['http://169.254.1.1', 'http://169.254.1.1'],
    ['http://100.64.0.7', 'http://100.64.0.7'],
    ['http://[fd00::1]', 'http://[fd00::1]'],
    ['http://[fe80::1]', 'http://[fe80::1]'],
    ['http://[::ffff:127.0.0.1]', 'http://[::ffff:7f00:1]'],
    ['http://app.localhost:5173', 'http://app.localhost:5173'],
    ['http://printer.local', 'http://printer.local'],
    ['http://app.test', 'http://app.test'],
    ['http://wiki.internal', 'http://wiki.internal'],
    ['http://nas.lan', 'http://nas.lan'],
    ['*.example.com', 'https://*.example.com'],
    ['*.Example.com/', 'https://*.example.com'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.example.com:443', 'https://*.example.com'],
    ['*.a.b.example.com', 'https://*.a.b.example.com'],
    ['*.bücher.example', 'https://*.xn--bcher-kva.example'],
    ['*.localhost', 'https://*.localhost'],
    ['http://localhost:*', 'http://localhost:*'],
    ['HTTP://LocalHost:*/', 'http://localhost:*'],
    [`chrome-extension://${EXTENSION_ID}`, `chrome-extension://${EXTENSION_ID}`],
    [`chrome-extension://${EXTENSION_ID}/`, `chrome-extension://${EXTENSION_ID}`],
    [
      'moz-extension://0A1B2C3D-1111-2222-3333-444455556666',
      'moz-extension://0a1b2c3d-1111-2222-3333-444455556666',
    ],
    [
      'safari-web-extension://0A1B2C3D-1111-2222-3333-444455556666',
      'safari-web-extension://0a1b2c3d-1111-2222-3333-444455556666',
    ],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['Capacitor://LocalHost/', 'capacitor://localhost'],
    ['capacitor://my_app.example', 'capacitor://my_app.example'],
    ['ionic://localhost', 'ionic://localhost'],
    ['tauri://localhost/', 'tauri://localhost'],
    ['app://bundle', 'app://bundle'],
    ['app://-', 'app://-'],
    ['app://./', 'app://.'],
    ['https://tauri.localhost', 'https://tauri.localhost'],
    ['http://tauri.localhost', 'http://tauri.localhost'],
  ])('%s becomes %s', (value, canonical) => {
    expect(canonicalizeOrigin('domain', value)).toEqual({ ok: true, value: canonical });
    expect(canonicalizeOrigin('domain', canonical)).toEqual({ ok: true, value: canonical });
  });
});

describe('a value that can never be an origin is refused', () => {
  test.each([
    ['', /needs a host/],
    ['https://', /needs a host/],
    ['https:///example.com', /needs a host/],
    ['//example.com', /needs a host/],
    ['/', /needs a host/],
    ['null', /sandboxed/],
    ['NULL', /sandboxed/],
    ['https://example.com/path', /leave out the path/],
    ['https://example.com//', /leave out the path/],
    ['https://example.com?', /leave out the path/],
    ['https://example.com?q=1', /leave out the path/],
    ['https://example.com#top', /leave out the path/],
    ['example.com/path', /leave out the path/],
    ['https://a@b', /user name/],
    ['https://a:b@example.com', /user name/],
    ['https://:@example.com', /user name/],
    ['a@example.com', /user name/],
    ['https://example.com:99999', /port/],
    ['https://example.com:0', /port/],
    ['https://example.com:x', /port/],
    ['https://example.com:-1', /port/],
    ['https:example.com', /port/],
    ['javascript:alert(1)', /port/],
    ['https://exa mple.com', /spaces/],
    [' https://example.com', /spaces/],
    ['https://example.com\n', /spaces/],
    ['https://exa\tmple.com', /spaces/],
    ['https://exa\u0000mple.com', /control/],
    ['https://exa\u00admple.com', /control/],
    ['https://exa\u200bmple.com', /control/],
    ['https://example.com\\@evil.example', /backslash/],
    ['https:\\\\example.com', /backslash/],
    ['https://ex%61mple.com', /percent/],
    ['https://example.com https://other.example', /spaces/],
    ['https://example.com,https://other.example', /leave out the path/],
    ['https://a.example,b.example', /valid/],
    ['https://example.com.', /dot at the end/],
    ['https://example.com.:8443', /dot at the end/],
    ['example.com./', /dot at the end/],
    ['https://.example.com', /not a valid name/],
    ['https://a..example.com', /not a valid name/],
    ['https://-a.example.com', /not a valid name/],
    ['https://a-.example.com', /not a valid name/],
    [`https://${'a'.repeat(64)}.example.com`, /not a valid name/],
    [`https://${'a.'.repeat(130)}com`, /not a valid name/],
    [`https://${'a.'.repeat(200)}com`, /at most 300/],
    ['https://xn--a', /valid/],
    ['https://127.1', /four decimal/],
    ['http://127.1', /four decimal/],
    ['http://0x7f.0.0.1', /four decimal/],
    ['http://2130706433:80', /four decimal/],
    ['https://0300.0.2.1', /four decimal/],
    ['https://256.1.1.1', /valid/],
    ['https://[::1', /valid/],
    ['https://[fe80::1%25eth0]', /percent/],
    ['https://::1', /valid/],
    ['http://example.com', /needs https/],
    ['http://example.com:8080', /needs https/],
    ['http://8.8.8.8', /needs https/],
    ['http://172.32.0.1', /needs https/],
    ['http://[2606:4700::1]', /needs https/],
    ['http://[::ffff:8.8.8.8]', /needs https/],
    ['http://intranet', /needs https/],
    ['http://local', /needs https/],
    ['http://localhost.example.com', /needs https/],
    ['http://examplelocalhost', /needs https/],
    ['http://test.com', /needs https/],
    ['ftp://example.com', /starts with https/],
    ['file:///etc/passwd', /needs a host/],
    ['ws://example.com', /starts with https/],
    ['*', /wildcard/],
    ['*.', /not valid/],
    ['https://*', /wildcard/],
    ['*.*', /wildcard/],
    ['*.*.example.com', /wildcard/],
    ['*.com', /at least two parts/],
    ['https://*.com', /at least two parts/],
    ['*example.com', /wildcard/],
    ['app.*.example.com', /wildcard/],
    ['app.example.*', /wildcard/],
    ['https://example.com:*', /wildcard/],
    ['https://*.example.com:*', /wildcard/],
    ['https://*.example.com:8443', /no port/],
    ['http://*.example.com', /wildcard/],
    ['http://*.localhost', /wildcard/],
    ['http://*', /wildcard/],
    ['localhost:*', /wildcard/],
    ['https://localhost:*', /wildcard/],
    ['http://127.0.0.1:*', /wildcard/],
    ['http://app.localhost:*', /wildcard/],
    ['*.10.0.0.1', /no subdomains/],
    ['*.[::1]', /valid|no subdomains/],
    ['chrome-extension://', /needs a host/],
    ['chrome-extension://*', /extension/],
    [`chrome-extension://${EXTENSION_ID}:80`, /extension/],
    [`chrome-extension://${EXTENSION_ID}/page.html`, /path/],
    ['moz-extension://*.abc', /extension/],
    [`opera-extension://${EXTENSION_ID}`, /starts with https.*capacitor:.*app:/],
    ['capacitor://', /needs a host/],
    ['file://', /needs a host/],
    ['file://localhost', /starts with https/],
    ['capacitor://localhost:80', /Capacitor app.*without a port/],
    ['capacitor://localhost:', /without a port/],
    ['capacitor://*', /wildcard/],
    ['capacitor://*.example.com', /wildcard/],
    ['ionic://localhost/path', /leave out the path/],
    ['ionic://me@localhost', /user name/],
    ['tauri://bücher.example', /ASCII host name/],
    ['tauri://localhost.', /ASCII host name/],
    ['tauri://[::1]', /ASCII host name/],
    [`tauri://${'a'.repeat(64)}`, /ASCII host name/],
    ['tauri://-', /ASCII host name/],
    ['tauri://.', /ASCII host name/],
    ['app://..', /Electron app/],
    ['app://--', /Electron app/],
  ])('%j', (value, message) => {
    expect(canonicalizeOrigin('domain', value)).toEqual({
      ok: false,
      code: 'INVALID_ORIGIN',
      message: expect.stringMatching(message),
    });
  });

  test('and the message does not repeat it', () => {
    const result = canonicalizeOrigin('domain', 'https://hunter2@example.com');
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});

describe('an app id', () => {
  test.each([
    ['android', 'com.example.app'],
    ['android', 'Com.Example.App_2'],
    ['android', 'a.b'],
    ['ios', 'com.example.app'],
    ['ios', 'com.example-team.App2'],
    ['ios', '1password.2'],
  ] as const)('of %s may be %s, and keeps its case', (type, value) => {
    expect(canonicalizeOrigin(type, value)).toEqual({ ok: true, value });
  });

  test.each([
    ['android', ''],
    ['android', 'app'],
    ['android', 'com.example-team.app'],
    ['android', 'com.1example.app'],
    ['android', 'com._example.app'],
    ['android', 'com..app'],
    ['android', '.com.app'],
    ['android', 'com.app.'],
    ['android', 'com.example.*'],
    ['android', 'com.exämple.app'],
    ['android', 'com.example.app\n'],
    ['android', `com.${'a'.repeat(260)}`],
    ['android', 'https://example.com'],
    ['ios', ''],
    ['ios', 'app'],
    ['ios', 'com.example_team.app'],
    ['ios', 'com..app'],
    ['ios', 'com.example.*'],
    ['ios', 'com.example.app '],
    ['ios', `com.${'a'.repeat(260)}`],
  ] as const)('of %s may not be %j', (type, value) => {
    expect(canonicalizeOrigin(type, value)).toMatchObject({ ok: false, code: 'INVALID_ORIGIN' });
  });
});

describe('a fingerprint', () => {
  test.each([
    ['sha256', SHA256.toLowerCase(), SHA256],
    ['sha256', withColons(SHA256), SHA256],
    ['sha256', withColons(SHA256).toLowerCase(), SHA256],
    ['sha1', SHA1, SHA1],
    ['sha1', withColons(SHA1), SHA1],
  ] as const)('%s %s is kept as upper-case hex', (kind, text, value) => {
    expect(canonicalizeFingerprint(kind, text)).toEqual({ ok: true, value });
  });

  test.each([
    ['sha256', ''],
    ['sha256', SHA1],
    ['sha256', SHA256.slice(2)],
    ['sha256', `${SHA256}AB`],
    ['sha256', `${SHA256.slice(1)}G`],
    ['sha256', ` ${SHA256}`],
    ['sha256', `${withColons(SHA256)}:`],
    ['sha256', `:${withColons(SHA256)}`],
    ['sha256', withColons(SHA256).replace(':', '::')],
    ['sha256', `A:B${SHA256.slice(2)}`],
    ['sha1', SHA256],
    ['sha1', SHA1.slice(1)],
  ] as const)('%s %j is refused', (kind, text) => {
    expect(canonicalizeFingerprint(kind, text)).toMatchObject({ ok: false });
  });
});

describe('an Origin against one domain rule', () => {
  const WILDCARD = 'https://*.example.com';
  const LOCALHOST = 'http://localhost:*';
  test.each([
    ['https://example.com', 'https://example.com', true],
    ['https://example.com', 'https://EXAMPLE.com', true],
    ['https://example.com', 'https://example.com:443', true],
    ['https://example.com', 'https://example.com:8443', false],
    ['https://example.com', 'http://example.com', false],
    ['https://example.com', 'https://app.example.com', false],
    ['https://example.com', 'https://example.com.evil.example', false],
    ['https://example.com', 'https://evilexample.com', false],
    ['https://example.com', 'https://example.com.', false],
    ['https://example.com', 'https://example.com@evil.example', false],
    ['https://example.com', 'example.com', false],
    ['https://example.com', 'https://example.com https://evil.example', false],
    ['https://example.com', '', false],
    ['https://example.com', 'null', false],
    ['https://example.com:8443', 'https://example.com:8443', true],
    ['https://example.com:8443', 'https://example.com', false],
    [WILDCARD, 'https://example.com', true],
    [WILDCARD, 'https://app.example.com', true],
    [WILDCARD, 'https://a.b.c.example.com', true],
    [WILDCARD, 'https://App.Example.Com', true],
    [WILDCARD, 'https://app.example.com:443', true],
    [WILDCARD, 'https://app.example.com:8443', false],
    [WILDCARD, 'http://app.example.com', false],
    [WILDCARD, 'https://evilexample.com', false],
    [WILDCARD, 'https://app.example.com.evil.example', false],
    [WILDCARD, 'https://*.example.com', false],
    [WILDCARD, 'https://.example.com', false],
    ['https://*.xn--bcher-kva.example', 'https://app.bücher.example', true],
    ['https://*.app.test', 'http://x.app.test', false],
    [LOCALHOST, 'http://localhost', true],
    [LOCALHOST, 'http://localhost:80', true],
    [LOCALHOST, 'http://localhost:3000', true],
    [LOCALHOST, 'http://localhost:65535', true],
    [LOCALHOST, 'https://localhost:3000', false],
    [LOCALHOST, 'http://127.0.0.1:3000', false],
    [LOCALHOST, 'http://app.localhost:3000', false],
    [LOCALHOST, 'http://localhost:*', false],
    [LOCALHOST, 'http://localhost.evil.example', false],
    [LOCALHOST, 'http://localhost:3000@evil.example', false],
    ['http://localhost:3000', 'http://localhost:3001', false],
    ['http://[::1]:3000', 'http://[0:0:0:0:0:0:0:1]:3000', true],
    [LOCALHOST, 'capacitor://localhost', false],
    ['https://localhost', 'capacitor://localhost', false],
    ['https://*.example.com', 'capacitor://a.example.com', false],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['capacitor://localhost', 'CAPACITOR://localhost', true],
    ['capacitor://localhost', 'ionic://localhost', false],
    ['capacitor://localhost', 'http://localhost', false],
    ['capacitor://localhost', 'capacitor://localhost:80', false],
    ['capacitor://localhost', 'capacitor://a.localhost', false],
    ['app://-', 'app://-', true],
    ['app://-', 'app://.', false],
    ['app://.', 'app://.', true],
    ['app://.', 'app://a.', false],
    [`chrome-extension://${EXTENSION_ID}`, `chrome-extension://${EXTENSION_ID}`, true],
    [`chrome-extension://${EXTENSION_ID}`, `moz-extension://${EXTENSION_ID}`, false],
    [`chrome-extension://${EXTENSION_ID}`, `chrome-extension://b${EXTENSION_ID.slice(1)}`, false],
  ])('%s takes %j: %p', (value, origin, accepted) => {
    for (const scope of ['own', 'global'] as const) {
      const decision = matchRequest(request({ origin }), restricted({ [scope]: domainRules(value) }));
      expect(decision).toMatchObject(
        accepted ? { accepted, scope, rule: { id: 1 } } : { accepted, code: 'ORIGIN_NOT_ALLOWED' },
      );
    }
  });

  test('Origin null never matches, not even a rule of that text', () => {
    const key = restricted({ own: domainRules('null', 'https://null') });
    expect(matchRequest(request({ origin: 'null' }), key)).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
  });

  test('what any app of a tool may send is said where it is accepted', () => {
    const key = restricted({ own: domainRules('tauri://localhost', 'https://a.example') });
    expect(matchRequest(request({ origin: 'tauri://localhost' }), key).why).toBe(
      'The Origin matches own rule 1 (tauri://localhost). Every app that is made with Tauri may send tauri://localhost: it keeps web pages out, and no such app.',
    );
    expect(matchRequest(request({ origin: 'https://a.example' }), key).why).toMatch(/example\)\.$/);
  });

  test('an app rule is no domain rule', () => {
    const key = restricted({ own: [rule(1, 'ios', 'https://example.com')] });
    expect(matchRequest(request({ origin: 'https://example.com' }), key).accepted).toBe(false);
  });
});

describe('a key', () => {
  const own = domainRules('https://own.example');
  const global = domainRules('https://global.example');
  const SENT = 'https://own.example';

  test.each([
    ['unrestricted takes anything', { restricted: false }, { origin: 'null' }, 'none-needed'],
    ['unrestricted takes nothing at all', { restricted: false }, {}, 'none-needed'],
    ['takes its own rule', { own, global }, { origin: SENT }, 'own'],
    ['takes a global rule', { own, global }, { origin: 'https://global.example' }, 'global'],
    [
      'takes a global rule without one of its own',
      { global },
      { origin: 'https://global.example' },
      'global',
    ],
    ['prefers its own rule', { own: global, global }, { origin: 'https://global.example' }, 'own'],
    ['with no rules denies an Origin', {}, { origin: SENT }, 'NO_ORIGINS'],
    ['with no rules denies an app', {}, { app_id: 'com.example.app' }, 'NO_ORIGINS'],
    ['with no rules denies a bare request', {}, {}, 'NO_ORIGINS'],
    ['denies a bare request', { own }, {}, 'ORIGIN_REQUIRED'],
    ['with allow_no_origin takes a bare request', { own, allow_no_origin: true }, {}, 'none-needed'],
    ['with allow_no_origin and no rules takes a bare request', { allow_no_origin: true }, {}, 'none-needed'],
    [
      'with allow_no_origin still checks an Origin',
      { own, allow_no_origin: true },
      { origin: 'https://evil.example' },
      'ORIGIN_NOT_ALLOWED',
    ],
    [
      'with allow_no_origin still refuses Origin null',
      { own, allow_no_origin: true },
      { origin: 'null' },
      'ORIGIN_NOT_ALLOWED',
    ],
    [
      'with allow_no_origin counts an empty Origin as sent',
      { own, allow_no_origin: true },
      { origin: '' },
      'ORIGIN_NOT_ALLOWED',
    ],
    [
      'with allow_no_origin still checks an app id',
      { own, allow_no_origin: true },
      { app_id: 'com.evil.app' },
      'APP_NOT_ALLOWED',
    ],
    [
      'with allow_no_origin still checks an android package',
      { own, allow_no_origin: true },
      { android_package: 'com.evil.app' },
      'APP_NOT_ALLOWED',
    ],
    [
      'with allow_no_origin and no rules refuses an Origin',
      { allow_no_origin: true },
      { origin: SENT },
      'NO_ORIGINS',
    ],
    [
      'does not let an app id save a foreign Origin',
      { own: [...own, rule(2, 'ios', 'com.example.app')] },
      { origin: 'https://evil.example', app_id: 'com.example.app' },
      'ORIGIN_NOT_ALLOWED',
    ],
    [
      'does not let a foreign app id spoil its Origin',
      { own },
      { origin: SENT, app_id: 'com.evil.app' },
      'own',
    ],
  ] as const)('%s', (_, key, sent, expected) => {
    const decision = matchRequest(request(sent), restricted(key));
    expect(decision.accepted ? decision.scope : decision.code).toBe(expected);
  });
});

describe('an app', () => {
  const APP = 'com.example.app';
  const android = rule(1, 'android', APP);
  const ios = rule(2, 'ios', APP);
  const pinned = rule(3, 'android', APP, { sha256_fingerprints: [SHA256] });
  const pinned_sha1 = rule(4, 'android', APP, { sha1_fingerprints: [SHA1] });
  const required = 'CERT_FINGERPRINT_REQUIRED';
  const not_allowed = 'CERT_FINGERPRINT_NOT_ALLOWED';

  test.each([
    ['X-App-Id matches android', [android], [], { app_id: APP }, 1],
    ['X-App-Id matches ios', [ios], [], { app_id: APP }, 2],
    ['X-App-Id matches a global rule', [], [ios], { app_id: APP }, 2],
    ['X-Android-Package matches android', [android], [], { android_package: APP }, 1],
    ['X-Android-Package does not match ios', [ios], [], { android_package: APP }, 'APP_NOT_ALLOWED'],
    ['X-Android-Package skips ios', [ios, android], [], { android_package: APP }, 1],
    ['both headers, the same app', [ios, android], [], { app_id: APP, android_package: APP }, 1],
    [
      'both headers, different apps',
      [ios, android],
      [],
      { app_id: 'com.other', android_package: APP },
      'APP_NOT_ALLOWED',
    ],
    ['another id', [android], [], { app_id: 'com.example.other' }, 'APP_NOT_ALLOWED'],
    ['a longer id', [android], [], { app_id: `${APP}.debug` }, 'APP_NOT_ALLOWED'],
    ['another case', [android], [], { app_id: 'com.example.App' }, 'APP_NOT_ALLOWED'],
    ['an empty id', [android], [], { app_id: '' }, 'APP_NOT_ALLOWED'],
    ['a domain rule is no app rule', [rule(1, 'domain', APP)], [], { app_id: APP }, 'APP_NOT_ALLOWED'],
    ['a certificate nobody pins', [android], [], { app_id: APP, cert: 'whatever' }, 1],
    ['pinned, none sent', [pinned], [], { app_id: APP }, required],
    ['pinned, an empty one sent', [pinned], [], { app_id: APP, cert: '' }, not_allowed],
    ['pinned, the right one', [pinned], [], { app_id: APP, cert: SHA256 }, 3],
    [
      'pinned, the right one with colons',
      [pinned],
      [],
      { app_id: APP, cert: withColons(SHA256).toLowerCase() },
      3,
    ],
    ['pinned, by X-Android-Package', [pinned], [], { android_package: APP, cert: SHA256 }, 3],
    ['pinned, X-Android-Package without one', [pinned], [], { android_package: APP }, required],
    ['pinned, another one', [pinned], [], { app_id: APP, cert: OTHER_SHA256 }, not_allowed],
    ['pinned, part of it', [pinned], [], { app_id: APP, cert: SHA256.slice(0, 40) }, not_allowed],
    ['pinned, no fingerprint at all', [pinned], [], { app_id: APP, cert: 'hello' }, not_allowed],
    ['pinned by SHA-1', [pinned_sha1], [], { app_id: APP, cert: withColons(SHA1) }, 4],
    ['pinned by SHA-1, SHA-256 sent', [pinned_sha1], [], { app_id: APP, cert: SHA256 }, not_allowed],
    ['one rule pins, another does not: none sent', [android, pinned], [], { app_id: APP }, required],
    [
      'one rule pins, another does not: wrong',
      [android, pinned],
      [],
      { app_id: APP, cert: SHA1 },
      not_allowed,
    ],
    ['one rule pins, another does not: right', [android, pinned], [], { app_id: APP, cert: SHA256 }, 3],
    ['a global pin binds the own rule', [android], [pinned], { app_id: APP }, required],
    ['an own pin binds the global rule', [pinned], [android], { app_id: APP }, required],
    ['a pin binds the ios rule of that id', [ios], [pinned], { app_id: APP }, required],
    ['any of several pins will do', [pinned], [pinned_sha1], { app_id: APP, cert: SHA1 }, 4],
    [
      'a pin of another app does not bind',
      [android],
      [{ ...pinned, value: 'com.other.app' }],
      { app_id: APP },
      1,
    ],
  ] as const)('%s', (_, own, global, sent, expected) => {
    const decision = matchRequest(request(sent), restricted({ own, global }));
    expect(decision.accepted ? decision.rule?.id : decision.code).toBe(expected);
  });
});

describe('why', () => {
  const key = restricted({
    own: [
      ...domainRules('https://example.com', 'https://app.other.example:8443', 'http://localhost:3000'),
      rule(7, 'ios', 'com.example.app'),
      rule(8, 'android', 'com.pinned.app', { sha256_fingerprints: [SHA256] }),
    ],
    global: [rule(1, 'domain', 'https://*.team.example')],
  });

  test.each([
    [{ origin: 'https://example.com' }, 'own rule 1 (https://example.com)'],
    [{ origin: 'https://x.team.example' }, 'global rule 1 (https://*.team.example)'],
    [
      { origin: 'https://app.example.com' },
      'own rule 1 (https://example.com) covers no subdomains; https://*.example.com would',
    ],
    [
      { origin: 'https://app.other.example' },
      'own rule 2 (https://app.other.example:8443) has the same host',
    ],
    [{ origin: 'http://localhost:3001' }, 'own rule 3 (http://localhost:3000) has the same host'],
    [{ origin: 'https://x.team.example:8443' }, 'covers subdomains, but only over https on the default port'],
    [{ origin: 'http://example.com' }, 'A public host needs https'],
    [{ origin: 'https://unrelated.example' }, 'None of the 6 rules, own and global, matches this Origin.'],
    [{ origin: 'null' }, 'never matches'],
    [{ app_id: 'com.example.app' }, 'own rule 7 (com.example.app)'],
    [{ app_id: 'com.nobody.app' }, 'None of the 6 rules, own and global, names this app'],
    [{ android_package: 'com.example.app' }, 'X-Android-Package matches android rules only'],
    [{ app_id: 'com.pinned.app' }, 'pinned by own rule 8 (com.pinned.app), and no certificate'],
    [{ app_id: 'com.pinned.app', cert: SHA1 }, 'none of those pinned by own rule 8'],
    [{ app_id: 'com.pinned.app', cert: 'x' }, 'neither a SHA-256 nor a SHA-1'],
    [{}, 'allow_no_origin'],
  ] as const)('%j is told: %s', (sent, why) => {
    expect(matchRequest(request(sent), key).why).toContain(why);
  });

  test('one rule alone is spoken of as one', () => {
    const with_one = restricted({ own: domainRules('https://example.com') });
    expect(matchRequest(request({ origin: 'https://unrelated.example' }), with_one).why).toBe(
      'The only rule, own or global, does not match this Origin.',
    );
    expect(matchRequest(request({ app_id: 'com.nobody.app' }), with_one).why).toStartWith(
      'The only rule, own or global, does not name this app;',
    );
  });

  test('the message for the caller names no rule and repeats nothing that was sent', () => {
    const sent = [
      { origin: 'https://app.example.com' },
      { app_id: 'com.pinned.app' },
      { app_id: 'com.pinned.app', cert: SHA1 },
      { app_id: 'com.nobody.app' },
      {},
    ];
    for (const each of sent) {
      const decision = matchRequest(request(each), key);
      expect(decision.accepted ? '' : decision.message).toMatch(/^[A-Z][^0-9/]*\.$/);
      expect(decision.accepted ? '' : decision.message).not.toContain('com.');
    }
  });
});

describe('the check of a candidate', () => {
  const rules = [
    rule(1, 'domain', 'https://*.example.com', { note: 'the team' }),
    rule(2, 'domain', 'https://apex.example'),
    rule(3, 'domain', 'http://localhost:*'),
    rule(4, 'android', 'com.example.free'),
    rule(5, 'android', 'com.example.pinned', { sha256_fingerprints: [SHA256], sha1_fingerprints: [SHA1] }),
    rule(6, 'ios', 'com.example.phone', { note: null }),
    rule(7, 'domain', 'http://dev.test:3000'),
  ];

  test.each([
    ['domain', 'App.example.com/', 'https://app.example.com', 1],
    ['domain', 'example.com', 'https://example.com', 1],
    ['domain', '*.example.com', 'https://*.example.com', 1],
    ['domain', '*.sub.example.com', 'https://*.sub.example.com', 1],
    ['domain', 'app.example.com:8443', 'https://app.example.com:8443', null],
    ['domain', 'apex.example', 'https://apex.example', 2],
    ['domain', 'www.apex.example', 'https://www.apex.example', null],
    ['domain', '*.apex.example', 'https://*.apex.example', null],
    ['domain', 'http://localhost', 'http://localhost', 3],
    ['domain', 'http://localhost:5173', 'http://localhost:5173', 3],
    ['domain', 'http://localhost:*', 'http://localhost:*', 3],
    ['domain', 'localhost:5173', 'https://localhost:5173', null],
    ['domain', 'http://dev.test:3000', 'http://dev.test:3000', 7],
    ['domain', 'notexample.com', 'https://notexample.com', null],
    ['android', 'com.example.free', 'com.example.free', 4],
    ['android', 'com.example.phone', 'com.example.phone', null],
    ['ios', 'com.example.phone', 'com.example.phone', 6],
    ['ios', 'com.example.free', 'com.example.free', null],
  ] as const)('%s %s', (type, value, canonical_value, id) => {
    const verdict = checkCandidate({ type, value }, rules);
    const matched = rules.find((each) => each.id === id);
    expect(verdict).toEqual({
      type,
      value,
      canonical_value,
      covered: id !== null,
      matched_by: matched ? { id: matched.id, value: matched.value, note: matched.note ?? null } : null,
    });
    expect('reason' in verdict).toBe(false);
  });

  test.each([
    ['domain', 'http://example.com'],
    ['domain', 'https://example.com/path'],
    ['domain', '*'],
    ['domain', 'null'],
    ['android', 'example'],
    ['ios', 'com.example.*'],
  ] as const)('%s %s is INVALID_ORIGIN', (type, value) => {
    expect(checkCandidate({ type, value }, rules)).toEqual({
      type,
      value,
      canonical_value: null,
      covered: false,
      matched_by: null,
      reason: { code: 'INVALID_ORIGIN', message: expect.stringMatching(/.{20}/) },
    });
  });

  test.each([
    [undefined, 'CERT_FINGERPRINT_REQUIRED'],
    [null, 'CERT_FINGERPRINT_REQUIRED'],
    [OTHER_SHA256, 'CERT_FINGERPRINT_NOT_ALLOWED'],
    ['nonsense', 'CERT_FINGERPRINT_NOT_ALLOWED'],
    [withColons(SHA256), null],
    [SHA1.toLowerCase(), null],
  ] as const)('a pinned app with fingerprint %s', (cert, code) => {
    const candidate = { type: 'android', value: 'com.example.pinned' } as const;
    const verdict = checkCandidate(
      cert === undefined ? candidate : { ...candidate, cert_fingerprint: cert },
      rules,
    );
    expect(verdict.covered).toBe(code === null);
    expect(verdict.matched_by?.id ?? null).toBe(code === null ? 5 : null);
    expect(verdict.canonical_value).toBe('com.example.pinned');
    expect(verdict.reason?.code ?? null).toBe(code);
  });

  test('an unpinned rule beside a pinned one still asks for a certificate', () => {
    const both = [
      rule(1, 'android', 'com.example.app'),
      rule(2, 'android', 'com.example.app', { sha1_fingerprints: [SHA1] }),
    ];
    const candidate = { type: 'android', value: 'com.example.app' } as const;
    expect(checkCandidate(candidate, both).reason?.code).toBe('CERT_FINGERPRINT_REQUIRED');
    expect(checkCandidate({ ...candidate, cert_fingerprint: SHA1 }, both).matched_by?.id).toBe(2);
  });

  test('no rules cover nothing', () => {
    expect(checkCandidate({ type: 'domain', value: 'example.com' }, []).covered).toBe(false);
  });
});
