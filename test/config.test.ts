/** Settings and flags: which values are refused, and what a complaint calls them. */
import { expect, test } from 'bun:test';
import { loadConfig } from '../src/config.ts';
import { SETTINGS, VARIABLES, variableOf } from '../src/settings.ts';
import { makeTempDir } from './support/temp.ts';

const STORE = 's3://bucket/a/b?endpoint=https%3A%2F%2Fs3.test%2F&region=eu-1&public=https%3A%2F%2Fcdn.test';

test.each([
  [{ SATCHEL_PORT: '99999' }, {}, 'SATCHEL_PORT'],
  [{ SATCHEL_PORT: '8080' }, { port: '99999' }, '--port'],
  [{}, { host: 'a b' }, '--host'],
  [{ SATCHEL_MAX_UPLOAD_BYTES: '10MB' }, {}, 'SATCHEL_MAX_UPLOAD_BYTES'],
  [{ SATCHEL_PUBLIC_URL: 'files.example.com/' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_PUBLIC_URL: 'files.example.com:https' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_PUBLIC_URL: 'files.example.com:99999' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_PUBLIC_URL: 'ann@files.example.com' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_PUBLIC_URL: 'ftp://files.example.com' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_PUBLIC_URL: '8420' }, {}, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_WELCOME_TOKEN: 'a'.repeat(31) }, {}, 'SATCHEL_WELCOME_TOKEN'],
  [{ SATCHEL_WELCOME_TOKEN: 'a'.repeat(129) }, {}, 'SATCHEL_WELCOME_TOKEN'],
  [{ SATCHEL_WELCOME_TOKEN: `${'a'.repeat(32)}/` }, {}, 'SATCHEL_WELCOME_TOKEN'],
  [{ SATCHEL_EMAIL_RETRY_DELAYS: '15' }, {}, 'SATCHEL_EMAIL_RETRY_DELAYS'],
  [{ SATCHEL_MARKETING_PATIENCE_HOURS: '0' }, {}, 'SATCHEL_MARKETING_PATIENCE_HOURS'],
  [{ SATCHEL_MARKETING_PATIENCE_HOURS: '169' }, {}, 'SATCHEL_MARKETING_PATIENCE_HOURS'],
  [{ SATCHEL_DNS_SERVERS: 'dns.example' }, {}, 'SATCHEL_DNS_SERVERS'],
  [{ SATCHEL_TRUSTED_PROXIES: '10.0.0.0/99' }, {}, 'SATCHEL_TRUSTED_PROXIES'],
  [{ SATCHEL_LOG_LEVEL: 'loud' }, {}, 'SATCHEL_LOG_LEVEL'],
  [{ SATCHEL_ALLOWED_MIME_TYPES: 'images' }, {}, 'SATCHEL_ALLOWED_MIME_TYPES'],
  [{}, { public_url: '//files.example.com' }, '--public-url'],
  [{}, { public_url: 'https://files.example.com/?a' }, '--public-url'],
  [{ SATCHEL_OBJECT_STORE: 'https://s3.example.com/bucket' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: 's3://bucket' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: 's3://UPPER?endpoint=https%3A%2F%2Fs3.test' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: 's3://bucket/a//b?endpoint=https%3A%2F%2Fs3.test' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: 's3://bucket?endpoint=s3.test' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: 's3://bucket?endpoint=http%3A%2F%2F127.0.0.1%3A9' }, {}, 'SATCHEL_OBJECT_STORE'],
  [{ SATCHEL_OBJECT_STORE: STORE }, {}, 'SATCHEL_S3_ACCESS_KEY_ID'],
  [{ SATCHEL_OBJECT_STORE: STORE, SATCHEL_S3_ACCESS_KEY_ID: 'k' }, {}, 'SATCHEL_S3_SECRET_ACCESS_KEY'],
  [{ SATCHEL_OBJECT_REDIRECT: 'large' }, {}, 'SATCHEL_OBJECT_REDIRECT'],
  [{ SATCHEL_VARIANTS_MAX_BYTES: '1 GiB' }, {}, 'SATCHEL_VARIANTS_MAX_BYTES'],
  [{ SATCHEL_TLS: 'https://example.com' }, {}, 'SATCHEL_TLS'],
  [{ SATCHEL_TLS: '*.example.com' }, {}, 'SATCHEL_TLS'],
  [{}, { tls: 'localhost' }, '--tls'],
  [{}, { tls: '192.0.2.1' }, '--tls'],
  [{}, { tls: ',' }, '--tls'],
  [{}, { tls: Array.from({ length: 101 }, (_, at) => `${at}.example.com`).join() }, '--tls'],
  [{ SATCHEL_PUBLIC_URL: 'http://example.com' }, { tls: 'example.com' }, 'SATCHEL_PUBLIC_URL'],
  [{ SATCHEL_ACME_DIRECTORY: 'http://acme.test' }, { tls: 'example.com' }, 'SATCHEL_ACME_DIRECTORY'],
  [{}, { tls: 'example.com', acme_email: 'a@example.com,b@example.com' }, '--acme-email'],
  [{}, { tls: 'example.com', tls_http_port: '443' }, '--tls-http-port \\(SATCHEL_TLS_HTTP_PORT\\)'],
])('%j with the flags %j is refused by the name of what was given', (env, flags, named) => {
  expect(() => loadConfig(env, flags)).toThrow(new RegExp(`^${named} must`));
});

test('threads get all of them: what a setting comes to can be cloned', () => {
  const config = loadConfig({ SATCHEL_HEARTBEAT_URL: 'https://hc.example.com/ping/secret' });
  expect(structuredClone(config)).toEqual(config);
  expect(() => loadConfig({ SATCHEL_HEARTBEAT_URL: 'hc.example.com' })).toThrow(
    /^SATCHEL_HEARTBEAT_URL must/,
  );
});

test.each([
  ['SATCHEL_SERVICE_HOST', '10.0.0.1', true],
  ['SATCHEL_API_V2_SERVICE_HOST', '10.0.0.1', true],
  ['SATCHEL_SERVICE_PORT', '80', true],
  ['SATCHEL_SERVICE_PORT_HTTP_ALT', '80', true],
  ['SATCHEL_PORT_80_TCP', 'tcp://10.0.0.1:80', true],
  ['SATCHEL_A_PORT_80_UDP_PROTO', 'udp', true],
  ['SATCHEL_PORT_80_SCTP_PORT', '80', true],
  ['SATCHEL_PORT', 'sctp://10.0.0.1:80', true],
  ['SATCHEL_A_B_PORT', 'udp://10.0.0.1:80', true],
  ['SATCHEL_A_PORT', '80', false],
  ['SATCHEL_PORT', 'http://10.0.0.1', false],
  ['SATCHEL_PORT_TCP_80', 'x', false],
  ['SATCHEL_PORT_80_ICMP', 'x', false],
  ['SATCHEL_SERVICE', 'x', false],
  ['SATCHEL_SERVICE_HOSTS', 'x', false],
])('%s=%s of Kubernetes counts as not there: %j', (name, value, is_link) => {
  const load = () => loadConfig({ [name]: value });
  if (is_link) expect(load()).toEqual(loadConfig({}));
  else expect(load).toThrow(name);
});

test.each(['https://example.com/files', 'https://example.com/files/', 'http://example.com//x'])(
  'a public URL with a path is refused by its name: %s',
  (url) => {
    expect(() => loadConfig({ SATCHEL_PUBLIC_URL: url })).toThrow(
      /^SATCHEL_PUBLIC_URL must have no path: .*a host name of its own/,
    );
    expect(() => loadConfig({}, { public_url: url })).toThrow(
      /^--public-url must have no path.*SATCHEL_PUBLIC_URL/,
    );
    expect(loadConfig({ SATCHEL_PUBLIC_URL: 'https://example.com//' }).public_url).toBe(
      'https://example.com',
    );
  },
);

test.each([
  ['files.example.com', 'https://files.example.com'],
  ['Files.example.com:8443', 'https://files.example.com:8443'],
  ['files.example.com:443', 'https://files.example.com'],
  ['localhost:8420', 'https://localhost:8420'],
  ['192.0.2.1', 'https://192.0.2.1'],
  ['http://files.example.com', 'http://files.example.com'],
])('the public URL %s is %s: a host alone is served by https', (given, public_url) => {
  expect(loadConfig({ SATCHEL_PUBLIC_URL: given }).public_url).toBe(public_url);
  expect(loadConfig({}, { public_url: given, tls: undefined }).public_url).toBe(public_url);
});

test('a token that welcomes may be as templates make one', () => {
  for (const token of ['aZ0_-'.repeat(7), 'a'.repeat(32), 'a'.repeat(128)])
    expect(loadConfig({ SATCHEL_WELCOME_TOKEN: token }).welcome_token).toBe(token);
  expect(() => loadConfig({ SATCHEL_WELCOME_TOKEN: 'hush' })).toThrow(/^(?!.*hush)/);
});

test('two sources of the master key exclude each other', () => {
  const both = { SATCHEL_MASTER_KEY: 'a', SATCHEL_PASSPHRASE: 'b' };
  expect(() => loadConfig(both)).toThrow('SATCHEL_MASTER_KEY and SATCHEL_PASSPHRASE');
});

test('a store is read whole, its keys from files too; an unknown parameter is named, and no key is repeated', async () => {
  const file = `${makeTempDir()}/secret`;
  await Bun.write(file, ' from a file\n');
  const keys = { SATCHEL_S3_ACCESS_KEY_ID: 'id', SATCHEL_S3_SECRET_ACCESS_KEY_FILE: file };
  expect(loadConfig({ SATCHEL_OBJECT_STORE: STORE, ...keys }).object_store).toEqual({
    ...{ bucket: 'bucket', prefix: 'a/b/', region: 'eu-1', is_path_style: false },
    ...{ endpoint: 'https://s3.test', public_endpoint: 'https://cdn.test' },
    ...{ access_key_id: 'id', secret_access_key: 'from a file' },
  });
  expect(loadConfig({}).object_store).toBeNull();
  const load = (env: Record<string, string>) => () =>
    loadConfig({ SATCHEL_OBJECT_STORE: STORE, ...keys, ...env });
  expect(load({ SATCHEL_OBJECT_STORE: `${STORE}&acl=public` })).toThrow('unknown parameter "acl"');
  expect(load({ SATCHEL_S3_SECRET_ACCESS_KEY: 'hush' })).toThrow(/exclude each other(?!.*hush)/);
  expect(load({ SATCHEL_S3_SECRET_ACCESS_KEY_FILE: '/no/such' })).toThrow("names a file that can't be read");
  expect(load({ SATCHEL_MAX_UPLOAD_BYTES: '83886080001' })).toThrow(
    'SATCHEL_MAX_UPLOAD_BYTES must be at most',
  );
});

test('TLS by itself is for names in the form of the DNS, on all addresses and the usual ports, links start with the first', () => {
  const { tls, host, port, public_url } = loadConfig(
    {},
    { tls: 'Bücher.Example.com, www.example.com,www.example.com' },
  );
  expect(tls).toEqual({
    names: ['xn--bcher-kva.example.com', 'www.example.com'],
    acme_directory: 'https://acme-v02.api.letsencrypt.org/directory',
    acme_email: null,
    http_port: 80,
  });
  expect(['::', '0.0.0.0']).toContain(host);
  expect([port, public_url]).toEqual([443, 'https://xn--bcher-kva.example.com']);
  const other = loadConfig({ SATCHEL_HOST: '192.0.2.1', SATCHEL_PORT: '8443' }, { tls: 'example.com' });
  expect([other.host, other.public_url]).toEqual(['192.0.2.1', 'https://example.com:8443']);
  expect(loadConfig({ SATCHEL_ACME_EMAIL: 'a@example.com' }).tls).toBeNull();
  expect(() => loadConfig({}, { acme_email: 'a@example.com' })).toThrow('--acme-email goes with --tls');
});

const SMTP = { SATCHEL_SMTP_PORT: '2525' };
const SMTP_PAIR = { SATCHEL_SMTP_TLS_CERT: '/cert.pem', SATCHEL_SMTP_TLS_KEY: '/key.pem' };

test.each([
  [{ SATCHEL_SMTP_PORT: 'smtp' }, 'SATCHEL_SMTP_PORT must be a whole number'],
  [{ SATCHEL_SMTPS_PORT: '70000', ...SMTP_PAIR }, 'SATCHEL_SMTPS_PORT must be a whole number'],
  [
    { SATCHEL_SMTPS_PORT: '465' },
    'SATCHEL_SMTPS_PORT needs a certificate: SATCHEL_TLS (serve --tls), or SATCHEL_SMTP_TLS_CERT and',
  ],
  [
    { ...SMTP, SATCHEL_SMTPS_PORT: '2525', ...SMTP_PAIR },
    'SATCHEL_SMTP_PORT and SATCHEL_SMTPS_PORT must each be',
  ],
  [
    { SATCHEL_SMTP_PORT: '8420' },
    'SATCHEL_SMTP_PORT and SATCHEL_SMTPS_PORT must each be a port that nothing else here uses',
  ],
  [
    { SATCHEL_SMTP_PORT: '80', SATCHEL_TLS: 'example.com' },
    'SATCHEL_SMTP_PORT and SATCHEL_SMTPS_PORT must each be',
  ],
  [
    { ...SMTP, SATCHEL_SMTP_TLS_CERT: '/cert.pem' },
    'SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY go together',
  ],
  [
    { ...SMTP, SATCHEL_SMTP_TLS_KEY: '/key.pem' },
    'SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY go together',
  ],
  [{ ...SMTP, SATCHEL_SMTP_HOST: 'a b' }, 'SATCHEL_SMTP_HOST must be an IP address or a host name'],
  [
    { ...SMTP, SATCHEL_SMTP_PLAIN_FROM: '10.0.0.0/33' },
    'SATCHEL_SMTP_PLAIN_FROM must be a comma-separated list',
  ],
  [{ ...SMTP, SATCHEL_SMTP_PLAIN_FROM: 'all' }, 'SATCHEL_SMTP_PLAIN_FROM must be a comma-separated list'],
  [
    { ...SMTP, SATCHEL_SMTP_MAX_BYTES: '65535' },
    'SATCHEL_SMTP_MAX_BYTES must be a whole number from 65536 to',
  ],
  [{ ...SMTP, SATCHEL_SMTP_MAX_BYTES: '25 MiB' }, 'SATCHEL_SMTP_MAX_BYTES must be a whole number'],
  [{ SATCHEL_SMTP_HOST: '0.0.0.0' }, 'SATCHEL_SMTP_HOST goes with SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT'],
  [SMTP_PAIR, 'SATCHEL_SMTP_TLS_CERT goes with SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT'],
  [{ SATCHEL_SMTP_PLAIN_FROM: '10.0.0.0/8' }, 'SATCHEL_SMTP_PLAIN_FROM goes with SATCHEL_SMTP_PORT'],
])('%j for mail by SMTP is refused: %s', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message);
});

test('nobody hands mail in by SMTP unless a port is set; then this machine alone, with 25 MiB at most', () => {
  expect(loadConfig({}).smtp).toBeNull();
  const alone = { host: '127.0.0.1', plain_from: [], certificate: null };
  expect(loadConfig({}).max_message_bytes).toBe(26_214_400);
  expect(loadConfig({ SATCHEL_SMTP_MAX_BYTES: '65536' }).max_message_bytes).toBe(65_536);
  expect(loadConfig(SMTP).smtp).toEqual({ ...alone, port: 2525, tls_port: null });
  // The certificate of SATCHEL_TLS is theirs too.
  expect(loadConfig({ SATCHEL_SMTPS_PORT: '465', SATCHEL_TLS: 'example.com' }).smtp).toEqual({
    ...{ ...alone, port: null, tls_port: 465 },
  });
});

test('single sign-on is read whole, and names what is missing of what goes together', async () => {
  const file = `${makeTempDir()}/secret`;
  await Bun.write(file, 'hush\n');
  const three = {
    SATCHEL_OIDC_ISSUER: 'https://id.example.com/realms/a',
    SATCHEL_OIDC_CLIENT_ID: 'satchel',
    SATCHEL_OIDC_CLIENT_SECRET_FILE: file,
  };
  expect(loadConfig({}).oidc).toBeNull();
  expect(loadConfig(three).oidc).toEqual({
    ...{ issuer: three.SATCHEL_OIDC_ISSUER, client_id: 'satchel', client_secret: 'hush' },
    ...{ label: 'Single sign-on', invites: [], only: false },
  });
  const more = { SATCHEL_OIDC_INVITES: 'Example.com, bücher.example', SATCHEL_OIDC_ONLY: 'true' };
  expect(loadConfig({ ...three, ...more }).oidc).toMatchObject({
    ...{ invites: ['example.com', 'xn--bcher-kva.example'], only: true },
  });
  const [ISSUER, ID, SECRET] = [
    'SATCHEL_OIDC_ISSUER',
    'SATCHEL_OIDC_CLIENT_ID',
    'SATCHEL_OIDC_CLIENT_SECRET',
  ];
  for (const [left_out, missing] of [
    [[ISSUER], ISSUER],
    [[ID], ID],
    [[`${SECRET}_FILE`], SECRET],
    [[ID, `${SECRET}_FILE`], `${ID} and ${SECRET}`],
  ] as const) {
    const env = Object.fromEntries(
      Object.entries(three).filter(([name]) => !left_out.includes(name as never)),
    );
    expect(() => loadConfig(env)).toThrow(new RegExp(`^${missing} must be set too`));
  }
  for (const [env, complaint] of [
    [{ SATCHEL_OIDC_ONLY: 'true' }, `SATCHEL_OIDC_ONLY goes with ${ISSUER}, ${ID}, ${SECRET}`],
    [{ ...three, SATCHEL_OIDC_ONLY: 'yes' }, 'SATCHEL_OIDC_ONLY must be one of true, false'],
    [
      { ...three, SATCHEL_OIDC_INVITES: '@example.com' },
      'SATCHEL_OIDC_INVITES must be a comma-separated list',
    ],
    [{ ...three, SATCHEL_OIDC_LABEL: 'x'.repeat(61) }, 'SATCHEL_OIDC_LABEL must be one line'],
    [{ ...three, SATCHEL_OIDC_ISSUER: 'id.example.com' }, 'SATCHEL_OIDC_ISSUER must be a full http'],
    [{ ...three, SATCHEL_OIDC_ISSUER: 'https://id.example.com/?a' }, 'SATCHEL_OIDC_ISSUER must have no user'],
    [{ ...three, SATCHEL_OIDC_CLIENT_SECRET: 'other' }, 'exclude each other'],
  ] as const)
    expect(() => loadConfig(env)).toThrow(complaint);
});

test("the handbook's table has every setting once, with its number where none is given, and nothing else", async () => {
  const text = await Bun.file(`${import.meta.dir}/../handbook/configuration.md`).text();
  const rows = text.split('\n').flatMap((line) => {
    const [, names = '', unset = '', meaning = ''] = line.split('|').map((cell) => cell.trim());
    const listed = names.split(', ').filter((name) => name.startsWith('SATCHEL_'));
    return listed.flatMap((name) => [
      [name, unset],
      ...(meaning.includes('..._FILE') ? [[`${name}_FILE`]] : []),
    ]);
  });
  expect(rows.map(([name]) => name).sort()).toEqual(VARIABLES.toSorted());
  const numbers = Object.entries(SETTINGS).filter(([, { fallback }]) => typeof fallback === 'number');
  expect(rows).toEqual(
    expect.arrayContaining(numbers.map(([name, { fallback }]) => [variableOf(name), String(fallback)])),
  );
});
