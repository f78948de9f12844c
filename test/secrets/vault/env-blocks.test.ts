/** Env blocks: which fields stand in which, under which names, and what client blocks must not hold. */
import { describe, expect, test } from 'bun:test';
import { buildEnvBlock, ENV_TARGETS, type EnvEntry } from '../../../src/secrets/vault/env-blocks.ts';
import { VAULT_SERVICES } from '../../../src/secrets/vault/registry.ts';

const fixed = (env_key: string, value: string | null, client_safe = false): EnvEntry => ({
  ...{ service: 'fixed', field: env_key.toLowerCase(), free_form: false },
  ...{ env_key, value, client_safe },
});
const own = (name: string, value: string | null, client_safe = false): EnvEntry => ({
  ...{ service: 'env', field: name, free_form: true },
  ...{ env_key: name, value, client_safe },
});
const blocksOf = (...entries: EnvEntry[]) =>
  Object.fromEntries(ENV_TARGETS.map((target) => [target, buildEnvBlock(entries, target).text]));

describe('blocks', () => {
  test('for clients hold client-safe fields alone, each under the prefix of its build tool', () => {
    expect(blocksOf(fixed('SITE_KEY', 'site', true), fixed('SECRET_KEY', 'secret'))).toEqual({
      server: "SITE_KEY='site'\nSECRET_KEY='secret'\n",
      nextjs: "NEXT_PUBLIC_SITE_KEY='site'\n",
      vite: "VITE_SITE_KEY='site'\n",
      expo: "EXPO_PUBLIC_SITE_KEY='site'\n",
    });
  });

  test('are dropped when they would be empty', () => {
    const nothing = { server: null, nextjs: null, vite: null, expo: null };
    expect(blocksOf(fixed('SECRET_KEY', 'secret'))).toEqual({ ...nothing, server: "SECRET_KEY='secret'\n" });
    expect(blocksOf()).toEqual(nothing);
  });

  test('hold names of env as they are: all on the server, plain ones at the client whose prefix they have', () => {
    const entries = [
      own('VITE_A', 'a', true),
      own('VITE_B', 'b'),
      own('NEXT_PUBLIC_C', '', true),
      own('D', 'd', true),
    ];
    expect(blocksOf(...entries)).toEqual({
      server: "VITE_A='a'\nVITE_B='b'\nNEXT_PUBLIC_C=''\nD='d'\n",
      nextjs: "NEXT_PUBLIC_C=''\n",
      vite: "VITE_A='a'\n",
      expo: null,
    });
  });

  test('give a name to env where another service has it too, in each block by itself', () => {
    const entries = [
      fixed('SITE_KEY', 'site', true),
      own('SITE_KEY', 'mine'),
      own('VITE_SITE_KEY', 'public', true),
    ];
    const shadow = (name: string) => [{ service: 'fixed', field: 'site_key', name }];
    expect(buildEnvBlock(entries, 'server')).toEqual({
      text: "SITE_KEY='mine'\nVITE_SITE_KEY='public'\n",
      shadowed: shadow('SITE_KEY'),
      unquotable: [],
    });
    expect(buildEnvBlock(entries, 'vite')).toEqual({
      text: "VITE_SITE_KEY='public'\n",
      shadowed: shadow('VITE_SITE_KEY'),
      unquotable: [],
    });
    expect(buildEnvBlock(entries, 'expo')).toEqual({
      text: "EXPO_PUBLIC_SITE_KEY='site'\n",
      shadowed: [],
      unquotable: [],
    });
  });

  test('never fall back to another value where the one of env does not decrypt', () => {
    const { text, shadowed } = buildEnvBlock(
      [fixed('DATABASE_URL', 'other'), own('DATABASE_URL', null)],
      'server',
    );
    expect([text, shadowed.length]).toEqual([null, 1]);
    expect(buildEnvBlock([fixed('DATABASE_URL', null), own('DATABASE_URL', 'x')], 'server').shadowed).toEqual(
      [],
    );
  });

  test('name what they cannot hold in a comment, and list it', () => {
    const impossible = '\' " ` #';
    const block = buildEnvBlock([own('A', 'a'), own('B', impossible), own('__proto__', 'c')], 'server');
    expect(block.text).toStartWith("A='a'\n# B: this file can't hold its value");
    expect(block.text).not.toContain(impossible);
    expect(block.unquotable).toEqual([
      { target: 'server', name: 'B' },
      { target: 'server', name: '__proto__' },
    ]);
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
    env: '',
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

  test('has env alone take any name', () => {
    expect(VAULT_SERVICES.filter((each) => each.free_form).map((each) => each.service)).toEqual(['env']);
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
