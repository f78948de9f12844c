/** Env blocks: what dotenv reads back of them, and what client blocks must not hold. */
import { describe, expect, test } from 'bun:test';
import { parse } from 'dotenv';
import { buildEnvBlocks, type EnvEntry, quoteForDotenv } from '../../src/vault/env-blocks.ts';
import { VAULT_SERVICES } from '../../src/vault/registry.ts';

const entry = (env_key: string, value: string, client_safe = false): EnvEntry => ({
  env_key,
  value,
  client_safe,
});

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('a server block', () => {
  for (const value of [
    'plain',
    ' edges stay ',
    'line one\nline two\n',
    'carriage\r\nreturn\r',
    `it's`,
    `it's "both"`,
    'three \' " ` kinds',
    '$HOME and $' + '{HOME}',
    '# no comment',
    'a=b=c',
    'back\\slash',
    'not a line break: \\n',
    'C:\\new\\run',
    'ends in a backslash\\',
    'export FOO=bar',
    '-----BEGIN PRIVATE KEY-----\nMIIE+/=\n-----END PRIVATE KEY-----\n',
    'ünïcödé 🙂 \u2028 separators',
  ]) {
    test(`gives dotenv ${JSON.stringify(value)} back unchanged, and its neighbours too`, () => {
      const block = buildEnvBlocks([entry('BEFORE', "it's"), entry('KEY', value), entry('AFTER', 'x#y')]);
      expect(parse(block.server ?? '')).toEqual({ BEFORE: "it's", KEY: value, AFTER: 'x#y' });
    });
  }

  test('names a value that no .env file can hold in a comment, and leaves it out', () => {
    const impossible = '\' " ` #';
    expect(quoteForDotenv(impossible)).toBeNull();
    const block = buildEnvBlocks([
      entry('BEFORE', 'a'),
      entry('KEY', impossible),
      entry('AFTER', 'b'),
    ]).server;
    expect(parse(block ?? '')).toEqual({ BEFORE: 'a', AFTER: 'b' });
    expect(block).toContain('# KEY: no .env file can hold its value');
    expect(block).not.toContain(impossible);
  });

  test('never gives dotenv another value than the one stored, whatever it is made of', () => {
    const parts = [
      "'",
      '"',
      '`',
      '\\',
      'n',
      'r',
      '\n',
      '\r',
      '#',
      ' ',
      '$',
      'a',
      'B=',
      '\u2028',
      '\\n',
      '\t',
    ];
    const random = createRandom(7);
    const pick = (): string =>
      Array.from(
        { length: 1 + Math.floor(random() * 6) },
        () => parts[Math.floor(random() * parts.length)] ?? '',
      ).join('');
    let holdable = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const entries = ['K0', 'K1', 'K2', 'K3'].map((name) => entry(name, pick()));
      const expected = Object.fromEntries(
        entries
          .filter(({ value }) => quoteForDotenv(value) !== null)
          .map(({ env_key, value }) => [env_key, value]),
      );
      holdable += Object.keys(expected).length;
      expect({ entries, read: parse(buildEnvBlocks(entries).server ?? '') }).toEqual({
        entries,
        read: expected,
      });
    }
    expect(holdable).toBeGreaterThan(65_000);
  });
});

describe('client blocks', () => {
  test('hold client-safe fields alone, each under the prefix of its build tool', () => {
    const blocks = buildEnvBlocks([entry('SITE_KEY', 'site', true), entry('SECRET_KEY', 'secret')]);
    expect(blocks).toEqual({
      server: "SITE_KEY='site'\nSECRET_KEY='secret'\n",
      nextjs: "NEXT_PUBLIC_SITE_KEY='site'\n",
      vite: "VITE_SITE_KEY='site'\n",
      expo: "EXPO_PUBLIC_SITE_KEY='site'\n",
    });
  });

  test('are dropped when they would be empty', () => {
    expect(Object.keys(buildEnvBlocks([entry('SECRET_KEY', 'secret')]))).toEqual(['server']);
    expect(buildEnvBlocks([])).toEqual({});
  });
});

describe('the registry', () => {
  /** Decision: the services and their fields; `c` client-safe, `s` secret, `f` file. */
  const DECIDED: Record<string, string> = {
    captcha: 'site_key c, secret_key s, widget_name, widget_mode, hostnames, expected_action',
    database: 'url c, publishable_key c, secret_key s, db_url s',
    firebase:
      'api_key c, auth_domain c, project_id c, app_id c, messaging_sender_id c, storage_bucket c, ' +
      'service_account f, google_services_json f, google_service_info_plist f',
    app_store_connect: 'key_id, issuer_id, private_key_p8 f',
    google_play: 'service_account f',
    android_signing: 'keystore f, store_password s, key_alias, key_password s',
    google_oauth: 'web_client_id c, ios_client_id c, android_client_id c, client_secret s',
    stripe: 'publishable_key c, secret_key s, webhook_secret s',
    revenuecat: 'ios_public_key c, android_public_key c, secret_key s',
    sentry: 'dsn c, auth_token s, org, project',
    smtp: 'host, port, username, password s',
    s3: 'endpoint, region, bucket, access_key_id, secret_access_key s',
  };

  test('has exactly the services and fields that were decided', () => {
    const mark = (field: { file: boolean; secret: boolean; client_safe: boolean }): string =>
      field.file ? ' f' : field.secret ? ' s' : field.client_safe ? ' c' : '';
    const actual = Object.fromEntries(
      VAULT_SERVICES.map(({ service, fields }) => [
        service,
        fields.map((field) => `${field.field}${mark(field)}`).join(', '),
      ]),
    );
    expect(actual).toEqual(DECIDED);
  });

  test('calls no field both secret and client-safe', () => {
    const fields = VAULT_SERVICES.flatMap((service) => service.fields);
    expect(fields.filter((field) => field.secret && field.client_safe)).toEqual([]);
  });

  test('gives every field a variable of its own over all services, and words that explain it', () => {
    const fields = VAULT_SERVICES.flatMap((service) => service.fields);
    const names = fields.map((field) => field.env_key);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[A-Z][A-Z0-9_]*$/.test(name))).toEqual([]);
    expect(fields.filter((field) => !field.label || !field.help_text)).toEqual([]);
  });
});
